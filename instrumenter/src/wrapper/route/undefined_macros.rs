//! Macros that are known to be undefined. Branches that need such a macro are not compiled, so
//! they need neither a scan nor the preprocessor.
//!
//! A macro can come from the command, from the compiler, from the user's files or from a system
//! header. Names that may be the compiler's own are never looked up ([`deciding`]). The others
//! are searched for in every file that the source may include, system headers too. If a file is
//! not found, another compiler than the system's may still find it, so no macro is known to be
//! undefined. With the system's compiler such a file is in a branch that is not compiled.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;

use crate::find::c::conditions::{deciding, definitions};
use crate::find::c::file::File;
use crate::source::UndefinedMacros;
use crate::wrapper::command::classify::CommandLine;
use crate::wrapper::compilers::Compiler;
use crate::wrapper::route::choose::Headers;
use crate::wrapper::route::system_headers::SystemHeaders;

/// Flags after which the compiler looks elsewhere, or defines what is not searched.
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

/// Where macros are named.
type Places<'a> = HashMap<&'a [u8], Vec<(&'a File, usize)>>;

/// What is known of the macros of a source; each is looked up when it is asked for.
pub(crate) struct Macros<'a> {
    compiler: &'a Compiler,
    headers: &'a Headers,
    /// Whether anything can be known.
    knowable: bool,
    /// Of the command.
    words: Vec<String>,
    /// Those that the user's files may define, and where.
    defined: OnceCell<Places<'a>>,
    /// None if they can't all be read.
    system: OnceCell<Option<SystemHeaders>>,
    /// Those that were asked for; while one is looked up it counts as defined.
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

    /// Those that decide conditionals of a text and are undefined.
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

    /// Whether one of the user's files defines a macro, but in branches that need undefined
    /// ones.
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
