//! Which directives the compiler knows. A combined directive is split into several directives.
//! A compiler may know those and not the combination, or ignore a word that it does not know.
//! Then the instrumented program would differ from the one that the compiler makes of the
//! source.
//!
//! The compiler itself is asked: it is given a small program for each directive that not every
//! compiler knows.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;

use crate::openmp::Language;
use crate::plan::Asked;
use crate::wrapper::command::classify::{CommandLine, Role};
use crate::wrapper::compilers::flags::Meaning;
use crate::wrapper::run::{Output, Runner};

/// The answers for one command, each asked for at most once.
#[derive(Debug)]
pub(crate) struct KnownDirectives<'a> {
    runner: Runner<'a>,
    line: &'a CommandLine,
    answers: RefCell<BTreeMap<(&'static str, Asked), bool>>,
}

impl<'a> KnownDirectives<'a> {
    pub(crate) fn new(runner: Runner<'a>, line: &'a CommandLine) -> Self {
        Self {
            runner,
            line,
            answers: RefCell::default(),
        }
    }

    /// The names of the directives that the compiler does not know.
    pub(crate) fn unknown(&self, language: Language, asked: &BTreeSet<Asked>) -> BTreeSet<String> {
        if asked.is_empty() || asked.len() > 1 && self.accepts(language, asked) {
            return BTreeSet::new();
        }
        let unknown = asked.iter().filter(|asked| !self.knows(language, asked));
        unknown.map(|asked| asked.name.clone()).collect()
    }

    fn knows(&self, language: Language, asked: &Asked) -> bool {
        let key = (value_of_x(language), asked.clone());
        let known = self.answers.borrow().get(&key).copied();
        known.unwrap_or_else(|| {
            let control = Asked {
                name: "parallel".to_owned(),
                is_loop: false,
            };
            // If the compiler refuses even a plain `parallel`, its answer tells nothing.
            let knows = self.accepts(language, [asked]) || !self.accepts(language, [&control]);
            self.answers.borrow_mut().insert(key, knows);
            knows
        })
    }

    fn accepts<'d>(&self, language: Language, asked: impl IntoIterator<Item = &'d Asked>) -> bool {
        let spell = match language {
            Language::Fortran => in_fortran,
            _ => in_c,
        };
        let programs = asked.into_iter().enumerate();
        let program: String = programs
            .map(|(number, asked)| spell(number, asked))
            .collect();
        let mut words = self.words();
        if language != Language::Fortran {
            // GCC ignores directives that it does not know, and Clang ignores words.
            words.extend(["-Wunknown-pragmas", "-Werror"].map(OsString::from));
        }
        let source = ["-fsyntax-only", "-x", value_of_x(language), "-"];
        words.extend(source.map(OsString::from));
        let outcome = self
            .runner
            .run(&words, Some(program.as_bytes()), Output::HeldBack);
        // Only a clean compilation shows that the directives are known.
        outcome.is_ok_and(|outcome| outcome.success())
    }

    /// The words of the command that decide which directives the compiler knows.
    fn words(&self) -> Vec<OsString> {
        const BEGINS: &[&str] = &["-fopenmp", "-std=", "-ansi", "-B", "--target=", "--gcc-"];
        self.line.words_of(|argument| {
            let is_known = matches!(
                argument.role,
                Role::Known(Meaning::OpenMp(_) | Meaning::FrontEnd, _)
            );
            is_known || argument.begins_with(BEGINS)
        })
    }
}

fn value_of_x(language: Language) -> &'static str {
    match language {
        Language::C => "c",
        Language::Cxx => "c++",
        Language::Fortran => "f95",
    }
}

fn in_c(number: usize, asked: &Asked) -> String {
    let body = match asked.is_loop {
        true => "for (i = 0; i < 1; i++) ;",
        false => "{ }",
    };
    let name = &asked.name;
    format!("void f{number}(void) {{ int i = 0; (void)i;\n#pragma omp {name}\n{body}\n}}\n")
}

fn in_fortran(number: usize, asked: &Asked) -> String {
    let body = match asked.is_loop {
        true => "do i = 1, 1\nend do\n",
        false => "",
    };
    let name = &asked.name;
    format!(
        "subroutine f{number}\ninteger :: i\n!$omp {name}\n{body}!$omp end {name}\n\
         end subroutine\n"
    )
}
