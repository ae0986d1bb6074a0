//! Whether the compiler makes code for a device of what `target` governs. Where
//! it does not, that code runs on the host and can be measured like any other.
//!
//! The compiler says itself what it is: the names `cc` and `mpicc` don't. For
//! one that is not understood, there may be a device.

use std::cell::OnceCell;
use std::ffi::OsString;

use crate::wrapper::command::classify::CommandLine;
use crate::wrapper::run::{Output, Runner};

/// The answer for one command, asked for at most once.
#[derive(Debug)]
pub(crate) struct Offload<'a> {
    runner: Runner<'a>,
    line: &'a CommandLine,
    host_only: OnceCell<bool>,
}

impl<'a> Offload<'a> {
    pub(crate) fn new(runner: Runner<'a>, line: &'a CommandLine) -> Self {
        Self {
            runner,
            line,
            host_only: OnceCell::new(),
        }
    }

    /// Whether the command's sources are compiled for the host alone.
    pub(crate) fn is_host_only(&self) -> bool {
        *self.host_only.get_or_init(|| self.ask().unwrap_or(false))
    }

    fn ask(&self) -> Option<bool> {
        let said = self.answer(self.places(), "-v")?;
        let says = |text: &str| said.contains(text);
        if says("clang version ") && !says("Intel") {
            return self.clang_has_device().map(|device| !device);
        }
        if !says("gcc version ") {
            return None;
        }
        match self.last_gcc_flag() {
            Some(flag) => Some(flag == "-foffload=disable"),
            None => Some(!self.gcc_has_device(&said)),
        }
    }

    /// GCC makes device code when it links, if it was built for devices and
    /// their compilers are installed, which they need not be.
    fn gcc_has_device(&self, said: &str) -> bool {
        let targets = said
            .lines()
            .find_map(|line| line.strip_prefix("OFFLOAD_TARGET_NAMES="))
            .unwrap_or_default();
        let is_there = |target: &str| {
            let name = format!("accel/{target}/mkoffload");
            // What it does not find, it names as it was asked for.
            self.answer(self.places(), &format!("-print-prog-name={name}"))
                .is_none_or(|path| path.trim() != name)
        };
        targets
            .split([':', ','])
            .filter(|target| !target.is_empty())
            .any(is_there)
    }

    fn last_gcc_flag(&self) -> Option<String> {
        let words = self.line.words();
        let mut words = words.iter().rev().map(|word| word.to_string_lossy());
        words
            .find(|word| word.starts_with("-foffload="))
            .map(std::borrow::Cow::into_owned)
    }

    /// Clang shows what it would do: flags for devices come from the command, from
    /// files with arguments, configuration files and the environment.
    fn clang_has_device(&self) -> Option<bool> {
        let jobs = self.answer(self.line.words(), "-###")?;
        jobs.contains("\"-cc1\"")
            .then(|| DEVICE_JOBS.iter().any(|flag| jobs.contains(flag)))
    }

    /// `-B` tells a compiler where its parts are.
    fn places(&self) -> Vec<OsString> {
        let mut words: Vec<OsString> = Vec::new();
        for word in self.line.words() {
            let is_value = words.last().is_some_and(|last| last == "-B");
            if is_value || word.to_string_lossy().starts_with("-B") {
                words.push(word);
            }
        }
        words
    }

    /// What the compiler says to a command.
    fn answer(&self, mut words: Vec<OsString>, flag: &str) -> Option<String> {
        words.push(flag.into());
        let outcome = self.runner.run(&words, Some(b""), Output::HeldBack).ok()?;
        let said = [outcome.stdout, outcome.stderr].concat();
        Some(String::from_utf8_lossy(&said).into_owned())
    }
}

/// What jobs of Clang's have where code for a device is made, or is to be put
/// into the host's.
const DEVICE_JOBS: &[&str] = &[
    "\"-fopenmp-targets=",
    "\"-fopenmp-is-target-device\"",
    "\"-fopenmp-is-device\"",
];
