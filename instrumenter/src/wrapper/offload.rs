//! Whether the compiler makes code for a device of what `target` governs. Where
//! it does not, that code runs on the host and can be measured like any other.
//!
//! The compiler says itself what it is: the names `cc` and `mpicc` don't. For
//! one that is not understood, there may be a device.

use std::cell::OnceCell;
use std::ffi::OsString;

use super::classify::CommandLine;
use super::run::{Output, Runner};

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

    /// Whether a text is compiled for the host alone; false without asking for
    /// one that has no device code.
    pub(crate) fn is_host_only(&self, text: &[u8]) -> bool {
        let mentions = |word: &[u8]| text.windows(word.len()).any(|part| part == word);
        mentions(b"target") && *self.host_only.get_or_init(|| self.ask().unwrap_or(false))
    }

    fn ask(&self) -> Option<bool> {
        let said = self.answer(&["-v"])?;
        let says = |text: &str| said.contains(text);
        // A configuration file may hold any flag.
        if says("clang version ") && !says("Intel") {
            return Some(!says("Configuration file") && !self.has_flag(CLANG_FLAGS));
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
            let flag = format!("-print-prog-name=accel/{target}/mkoffload");
            // What it does not find, it names as it was asked for.
            self.answer(&[&flag])
                .is_none_or(|path| path.trim_start().starts_with('/'))
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

    fn has_flag(&self, flags: &[&str]) -> bool {
        self.line.words().iter().any(|word| {
            let word = word.to_string_lossy();
            flags.iter().any(|flag| word.starts_with(flag))
        })
    }

    /// What the compiler says about itself; `-B` tells it where its parts are.
    fn answer(&self, flags: &[&str]) -> Option<String> {
        let places = self.line.words().into_iter();
        let places = places.filter(|word| word.to_string_lossy().starts_with("-B"));
        let words: Vec<OsString> = places.chain(flags.iter().map(Into::into)).collect();
        let outcome = self.runner.run(&words, Some(b""), Output::HeldBack).ok()?;
        let said = [outcome.stdout, outcome.stderr].concat();
        Some(String::from_utf8_lossy(&said).into_owned())
    }
}

/// Begins of Clang's flags that make device code or may bring such flags.
const CLANG_FLAGS: &[&str] = &[
    "-fopenmp-targets",
    "--offload",
    "-foffload",
    "-Xopenmp-target",
    "-Xarch_device",
    "--config",
    "@",
];
