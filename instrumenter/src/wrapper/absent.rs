//! Macros that are known not to be defined: what only they would have compiled needs
//! no look, least of all a preprocessor's.
//!
//! A macro can come from the command, from the compiler, from the user's files or from
//! a system header. Names that may be the compiler's own are left out ([`deciding`]),
//! and the text of every file is searched that the source may include, system headers
//! among them. If a file is not found, a compiler other than the system's may know
//! better: nothing is known to be absent then. For the system's it has to stand in a
//! branch that is not compiled.

use std::collections::BTreeSet;

use super::classify::CommandLine;
use super::compilers::Compiler;
use super::hidden::{Search, Text};
use super::system_headers;
use crate::find::c::conditions::{deciding, defined, guards, without_dead};
use crate::source::Absent;

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

/// Those of the macros that decide conditionals of the user's files which are absent.
pub(crate) fn macros(
    compiler: &Compiler,
    line: &CommandLine,
    search: &Search,
    texts: &[Text],
) -> Absent {
    let words = line.words();
    let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    let elsewhere = |word: &str| ELSEWHERE.iter().any(|flag| word.starts_with(flag));
    if search.computed || words.iter().any(|word| elsewhere(word)) {
        return Absent::new();
    }
    let mut asked: BTreeSet<String> = texts.iter().flat_map(|text| deciding(&text.text)).collect();
    asked.retain(|name| !words.iter().any(|word| word.contains(name.as_str())));
    for text in texts {
        for guard in guards(&text.text) {
            asked.remove(guard);
        }
    }
    let absent = in_user_files(texts, asked);
    if absent.is_empty() {
        return absent;
    }
    match system_headers::defined_in(&search.elsewhere, &absent, compiler.is_system_s()) {
        Some(defined) => {
            // With these in doubt, others may be.
            let asked = absent.difference(&defined).cloned().collect();
            in_user_files(texts, asked)
        }
        None => Absent::new(),
    }
}

/// Those of some names that the user's files don't define, but in branches that need
/// one of them.
fn in_user_files(texts: &[Text], asked: BTreeSet<String>) -> Absent {
    let define = |text: &[u8]| defined(text, &asked);
    let mut defining: Vec<(&Text, BTreeSet<String>)> = texts
        .iter()
        .map(|text| (text, define(&text.text)))
        .filter(|(_, names)| !names.is_empty())
        .collect();
    loop {
        let present: BTreeSet<&String> = defining.iter().flat_map(|(_, names)| names).collect();
        let absent: Absent = asked
            .iter()
            .filter(|name| !present.contains(name))
            .cloned()
            .collect();
        let before = present.len();
        for (text, names) in &mut defining {
            *names = define(&without_dead(&text.text, text.language, &absent));
        }
        let after: BTreeSet<&String> = defining.iter().flat_map(|(_, names)| names).collect();
        if after.len() == before {
            return absent;
        }
    }
}
