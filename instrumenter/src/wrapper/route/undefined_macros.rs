//! Macros that are known to be undefined. Branches that need such a macro are not compiled, so
//! they need neither a scan nor the preprocessor.
//!
//! A macro can come from the command, from the compiler, from the user's files or from a system
//! header. Names that the compiler itself may define are never looked up ([`deciding`]). The
//! other names are searched for in every file that the source may include, system headers too.
//! If a file is not found, and the compiler is not the system's, the compiler may still find
//! the file; then no macro is known to be undefined. If the system's compiler does not find a
//! file, the `#include` is in a branch that is not compiled.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;

use crate::find::c::conditions::{deciding, definitions};
use crate::find::c::file::File;
use crate::source::UndefinedMacros;
use crate::wrapper::command::classify::CommandLine;
use crate::wrapper::compilers::Compiler;
use crate::wrapper::included::Headers;
use crate::wrapper::route::system_headers::SystemHeaders;

/// Flags that make the compiler search other directories, or that define macros in files that
/// are not read here.
const ELSEWHERE: &[&str] = &[
    "--sysroot",
    "-isysroot",
    "-nostdinc",
    "-imacros",
    "-include-pch",
    "-fmodules",
    "-target",
    "--target",
    "-Xpreprocessor",
    "-Wp,",
    "-B",
    "-isystem",
    "-idirafter",
    "-iprefix",
    "-iwithprefix",
];

/// The places where macros are defined, by the macro's name.
type Places<'a> = HashMap<&'a [u8], Vec<(&'a File, usize)>>;

/// Knowledge of the macros of a source. Each macro is looked up when it is first asked for.
pub(crate) struct Macros<'a> {
    compiler: &'a Compiler,
    headers: &'a Headers,
    /// Whether any macro can be known to be undefined.
    knowable: bool,
    /// The words of the command.
    words: Vec<String>,
    /// The places where the user's files may define macros.
    defined: OnceCell<Places<'a>>,
    /// None if not all system headers can be read.
    system: OnceCell<Option<SystemHeaders>>,
    /// The results so far. A macro counts as defined while it is looked up.
    undefined: RefCell<HashMap<String, bool>>,
}

impl<'a> Macros<'a> {
    pub(crate) fn new(compiler: &'a Compiler, line: &CommandLine, headers: &'a Headers) -> Self {
        let words = line.words();
        let words = words.iter().map(|word| word.to_string_lossy().into_owned());
        let words: Vec<String> = words.collect();
        let elsewhere = |word: &String| ELSEWHERE.iter().any(|flag| word.starts_with(flag));
        Self {
            compiler,
            headers,
            knowable: !headers.computed && !words.iter().any(elsewhere),
            words,
            defined: OnceCell::new(),
            system: OnceCell::new(),
            undefined: RefCell::default(),
        }
    }

    /// The undefined macros among those that decide conditionals of a text.
    pub(crate) fn undefined_in(&self, text: &[u8]) -> UndefinedMacros {
        let mut undefined = deciding(text);
        undefined.retain(|name| self.is_undefined(name));
        undefined
    }

    /// Whether a macro that decides a conditional is undefined.
    pub(crate) fn is_undefined(&self, name: &str) -> bool {
        if let Some(undefined) = self.undefined.borrow().get(name) {
            return *undefined;
        }
        let set = |undefined| {
            self.undefined
                .borrow_mut()
                .insert(name.to_owned(), undefined)
        };
        set(false);
        let undefined = self.knowable
            && !self.words.iter().any(|word| word.contains(name))
            && !self.users_define(name)
            && self.system().is_some_and(|system| !system.define(name));
        set(undefined);
        undefined
    }

    /// Whether one of the user's files defines a macro outside branches that need undefined
    /// macros.
    fn users_define(&self, name: &str) -> bool {
        let defined = self.defined.get_or_init(|| self.definitions());
        let is_undefined = |name: &str| self.is_undefined(name);
        let compiled = |(file, at): &(&File, usize)| file.compiles(*at, &is_undefined);
        let places = defined.get(name.as_bytes());
        places.is_some_and(|places| places.iter().any(compiled))
    }

    fn definitions(&self) -> Places<'a> {
        let mut defined = Places::new();
        for file in self.headers.files() {
            for (name, at) in definitions(file.text()) {
                defined.entry(name).or_default().push((file, at));
            }
        }
        defined
    }

    fn system(&self) -> Option<&SystemHeaders> {
        let read = || {
            SystemHeaders::read(
                &self.headers.elsewhere,
                self.headers.language,
                self.compiler.is_system_s(),
            )
        };
        self.system.get_or_init(read).as_ref()
    }
}
