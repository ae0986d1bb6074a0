//! Whether the compiler makes code for a device from `target` constructs. If it does not, their
//! code runs on the host and can be measured like any other code.
//!
//! The compiler itself is asked for its kind, since the names `cc` and `mpicc` don't tell. If
//! the answer is not understood, there may be a device.

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

    /// Whether GCC has compilers for devices. It makes device code when it links, if it was
    /// built for devices and their compilers are installed. They may be missing.
    fn gcc_has_device(&self, said: &str) -> bool {
        let targets = said
            .lines()
            .find_map(|line| line.strip_prefix("OFFLOAD_TARGET_NAMES="))
            .unwrap_or_default();
        let is_there = |target: &str| {
            let name = format!("accel/{target}/mkoffload");
            // GCC answers with the unchanged name if it does not find the program.
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

    /// Whether Clang makes code for a device. Clang is asked to show its jobs, because flags
    /// for devices may come from the command, response files, configuration files and the
    /// environment.
    fn clang_has_device(&self) -> Option<bool> {
        let jobs = self.answer(self.line.words(), "-###")?;
        jobs.contains("\"-cc1\"")
            .then(|| DEVICE_JOBS.iter().any(|flag| jobs.contains(flag)))
    }

    /// The words `-B`, which tell a compiler where its parts are.
    fn places(&self) -> Vec<OsString> {
        self.line.words_of(|argument| argument.begins_with(&["-B"]))
    }

    /// The compiler's output for a command.
    fn answer(&self, mut words: Vec<OsString>, flag: &str) -> Option<String> {
        words.push(flag.into());
        let outcome = self.runner.run(&words, Some(b""), Output::HeldBack).ok()?;
        let said = [outcome.stdout, outcome.stderr].concat();
        Some(String::from_utf8_lossy(&said).into_owned())
    }
}

/// Parts of Clang's jobs that make code for a device, or that embed it in the host's code.
const DEVICE_JOBS: &[&str] = &[
    "\"-fopenmp-targets=",
    "\"-fopenmp-is-target-device\"",
    "\"-fopenmp-is-device\"",
];
