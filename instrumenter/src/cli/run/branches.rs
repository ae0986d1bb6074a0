//! The branches of a source's conditionals, and which of them the preprocessor kept.

use std::collections::BTreeSet;

use profile::descriptor::Descriptor;

/// The lines between two conditionals of the preprocessor.
#[derive(Clone, Debug)]
pub(super) struct Branch {
    lines: [u32; 2],
    /// The line of the `#if`. Of the branches of one `#if`, only one is compiled.
    of: u32,
    /// The condition that must hold, and those in front of it that must not.
    condition: Condition,
    others: Vec<Condition>,
}

/// The kind and the operands of a conditional.
type Condition = (String, String);

/// What the machine code tells of a file.
#[derive(Clone, Debug, Default)]
pub(super) struct Compiled {
    /// The lines for which the compiler made code.
    pub(super) lines: BTreeSet<u32>,
    /// Whether GNU's compilers made the code. None if that is not known.
    pub(super) is_gnu: Option<bool>,
}

impl Branch {
    pub(super) fn holds(&self, line: u32) -> bool {
        (self.lines[0]..=self.lines[1]).contains(&line)
    }

    fn has_code(&self, compiled: &Compiled) -> bool {
        let [first, last] = self.lines;
        compiled.lines.range(first..=last).next().is_some()
    }

    /// Whether its condition holds, if its words tell.
    fn is_kept(&self, compiled: &Compiled) -> Option<bool> {
        let value = |(kind, operands): &Condition| value(kind, operands, compiled.is_gnu);
        let others = self.others.iter().map(value);
        let others = others.fold(Some(false), either_holds);
        both_hold(others.map(|other| !other), value(&self.condition))
    }
}

/// Whether the preprocessor kept a construct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    Yes,
    No,
    /// Nothing shows it.
    Unknown,
}

/// Whether the preprocessor kept a construct. Branches whose condition is not known, and without code,
/// were left out. If a branch has only a directive without a body, and no other branch of the same `#if`
/// has code, nothing shows it.
pub(super) fn is_kept(construct: &Descriptor, branches: &[Branch], compiled: &Compiled) -> Kept {
    let [line, end] = [construct.begin.first, construct.end.last];
    let around = branches.iter().filter(|branch| branch.holds(line));
    let known = |branch: &&Branch| branch.is_kept(compiled);
    if around.clone().any(|branch| known(&branch) == Some(false)) {
        return Kept::No;
    }
    let unknown = around.filter(|branch| known(branch).is_none());
    let Some(own) = unknown.max_by_key(|branch| branch.lines[0]) else {
        return Kept::Yes;
    };
    if own.has_code(compiled) {
        return Kept::Yes;
    }
    let mut others = branches
        .iter()
        .filter(|other| other.of == own.of && other.lines != own.lines);
    let is_left_out = others.any(|other| other.has_code(compiled));
    let is_whole = construct.begin.last < end && end <= own.lines[1];
    match is_left_out || is_whole {
        true => Kept::No,
        false => Kept::Unknown,
    }
}

/// A source without the conditionals of which the words tell what the preprocessor keeps, such as `#ifdef
/// _OPENMP`: they, and the lines that are left out, are blank. None if there are none. A construct may begin in
/// one such conditional and end in another one.
pub(super) fn without_known_conditionals(source: &str) -> Option<String> {
    let all = all_branches(source).into_iter();
    let all: Vec<(Branch, Option<bool>)> = all
        .map(|branch| {
            let is_kept = branch.is_kept(&Compiled::default());
            (branch, is_kept)
        })
        .collect();
    let unknown = all.iter().filter(|(_, is_kept)| is_kept.is_none());
    let unknown: BTreeSet<u32> = unknown.map(|(branch, _)| branch.of).collect();
    let mut blank = BTreeSet::new();
    for (branch, is_kept) in &all {
        let [first, last] = branch.lines;
        match is_kept {
            _ if unknown.contains(&branch.of) => {}
            Some(true) => blank.extend([first, last]),
            _ => blank.extend(first..=last),
        }
    }
    let line = |(number, line): (u32, &str)| match blank.contains(&number) {
        true if line.ends_with('\n') => "\n".to_owned(),
        true => String::new(),
        false => line.to_owned(),
    };
    (!blank.is_empty()).then(|| (1..).zip(source.split_inclusive('\n')).map(line).collect())
}

/// The branches of all conditionals of the preprocessor.
fn all_branches(source: &str) -> Vec<Branch> {
    let mut found: Vec<Branch> = Vec::new();
    let mut open: Vec<Branch> = Vec::new();
    for (number, line) in (1..).zip(source.lines()) {
        let Some(text) = line.trim_start().strip_prefix('#') else {
            continue;
        };
        let text = text.trim_start();
        let length = text.find(|c: char| !c.is_alphanumeric());
        let (kind, operands) = text.split_at(length.unwrap_or(text.len()));
        let mut of = number;
        let mut others = Vec::new();
        if (kind.starts_with("el") || kind == "endif")
            && let Some(mut branch) = open.pop()
        {
            of = branch.of;
            branch.lines[1] = number;
            others.clone_from(&branch.others);
            others.push(branch.condition.clone());
            found.push(branch);
        }
        if kind.starts_with("el") || kind.starts_with("if") {
            open.push(Branch {
                lines: [number, number],
                of,
                condition: (kind.to_owned(), operands.to_owned()),
                others,
            });
        }
    }
    found
}

/// The branches of those conditionals of the preprocessor in which there are constructs.
pub(super) fn branches(source: &str, constructs: &[Descriptor]) -> Vec<Branch> {
    let mut found = all_branches(source);
    let has_construct = |branch: &&Branch| {
        let mut constructs = constructs.iter();
        constructs.any(|one| branch.holds(one.begin.first))
    };
    let wanted: BTreeSet<u32> = found
        .iter()
        .filter(has_construct)
        .map(|branch| branch.of)
        .collect();
    found.retain(|branch| wanted.contains(&branch.of));
    found
}

/// Where a macro of the compiler is defined.
#[derive(Clone, Copy)]
enum Defined {
    /// Everywhere: code that calls a runtime was compiled with OpenMP, for Linux.
    Always,
    Never,
    /// Not where GNU's compilers made the code, but where others did.
    ByOthers,
    /// Not where GNU's compilers made the code; of others it is not known.
    NotByGnu,
}

/// Macros of which it is known whether they are defined.
const MACROS: &[(&str, Defined)] = &[
    ("_OPENMP", Defined::Always),
    ("__GNUC__", Defined::Always),
    ("__linux__", Defined::Always),
    ("__unix__", Defined::Always),
    ("_MSC_VER", Defined::Never),
    ("_WIN32", Defined::Never),
    ("_WIN64", Defined::Never),
    ("__APPLE__", Defined::Never),
    ("__CYGWIN__", Defined::Never),
    ("__MINGW32__", Defined::Never),
    ("__clang__", Defined::ByOthers),
    ("__INTEL_COMPILER", Defined::NotByGnu),
    ("__INTEL_LLVM_COMPILER", Defined::NotByGnu),
    ("__NVCOMPILER", Defined::NotByGnu),
    ("__PGI", Defined::NotByGnu),
];

/// Whether a condition holds, if its words tell.
fn value(kind: &str, operands: &str, is_gnu: Option<bool>) -> Option<bool> {
    let words = words(operands)?;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match (kind, &words[..]) {
        ("ifdef" | "elifdef", [name]) => is_defined(name, is_gnu),
        ("ifndef" | "elifndef", [name]) => is_defined(name, is_gnu).map(|is| !is),
        ("if" | "elif", words) => {
            let mut at = 0;
            let value = either(words, &mut at, is_gnu);
            value.filter(|_| at == words.len())
        }
        ("else", []) => Some(true),
        _ => None,
    }
}

fn is_defined(name: &str, is_gnu: Option<bool>) -> Option<bool> {
    let (_, defined) = MACROS.iter().find(|(known, _)| *known == name)?;
    match defined {
        Defined::Always => Some(true),
        Defined::Never => Some(false),
        Defined::ByOthers => is_gnu.map(|is_gnu| !is_gnu),
        Defined::NotByGnu => is_gnu.filter(|is_gnu| *is_gnu).map(|_| false),
    }
}

/// More words and marks than a condition has that is read.
const MOST_WORDS: usize = 200;

/// The words and marks of a condition. None if it has a comment, goes on in the next line or is very long.
fn words(operands: &str) -> Option<Vec<String>> {
    if operands.contains("/*") || operands.trim_end().ends_with('\\') {
        return None;
    }
    let operands = operands.split("//").next()?;
    let mut words: Vec<String> = Vec::new();
    let mut goes_on = false;
    for c in operands.chars() {
        let is_name = c.is_alphanumeric() || c == '_';
        let is_pair = matches!(c, '&' | '|' | '=');
        let last = words.last_mut().filter(|last| {
            let before = last.chars().last().unwrap_or(' ');
            goes_on
                && (is_name && (before.is_alphanumeric() || before == '_')
                    || is_pair && (before == c || "<>!".contains(before) && c == '='))
        });
        match last {
            _ if c.is_whitespace() => {}
            Some(last) => last.push(c),
            None => words.push(c.to_string()),
        }
        goes_on = !c.is_whitespace();
    }
    (words.len() <= MOST_WORDS).then_some(words)
}

/// One of several, of which each may be all of several: `a || b && c`.
fn either(words: &[&str], at: &mut usize, is_gnu: Option<bool>) -> Option<bool> {
    let mut value = both(words, at, is_gnu);
    while words.get(*at) == Some(&"||") {
        *at += 1;
        value = either_holds(value, both(words, at, is_gnu));
    }
    value
}

fn both(words: &[&str], at: &mut usize, is_gnu: Option<bool>) -> Option<bool> {
    let mut value = term(words, at, is_gnu);
    while words.get(*at) == Some(&"&&") {
        *at += 1;
        value = both_hold(value, term(words, at, is_gnu));
    }
    value
}

/// What stands between `&&` and `||`. None if it is more than the name of a macro or a number.
fn term(words: &[&str], at: &mut usize, is_gnu: Option<bool>) -> Option<bool> {
    let begin = *at;
    let is_end = |word: &&str| matches!(*word, "&&" | "||" | ")");
    let value = match &words[begin..] {
        ["!", ..] => {
            *at += 1;
            return term(words, at, is_gnu).map(|value| !value);
        }
        ["defined", "(", name, ")", ..] => {
            *at += 4;
            is_defined(name, is_gnu)
        }
        ["defined", name, ..] => {
            *at += 2;
            is_defined(name, is_gnu)
        }
        ["(", ..] => {
            *at += 1;
            let value = either(words, at, is_gnu);
            *at += 1;
            value
        }
        [word, ..] => {
            *at += 1;
            match word.parse::<u64>() {
                Ok(number) => Some(number > 0),
                Err(_) => is_defined(word, is_gnu),
            }
        }
        [] => None,
    };
    if words.get(*at).is_none_or(is_end) {
        return value;
    }
    // A comparison.
    let mut depth = 0_u32;
    while let Some(word) = words.get(*at).filter(|word| depth > 0 || !is_end(word)) {
        match *word {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        *at += 1;
    }
    None
}

/// Three-valued "and": false if one of the two is false, even if the other is unknown.
fn both_hold(one: Option<bool>, other: Option<bool>) -> Option<bool> {
    match (one, other) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

fn either_holds(one: Option<bool>, other: Option<bool>) -> Option<bool> {
    both_hold(one.map(|it| !it), other.map(|it| !it)).map(|neither| !neither)
}

#[cfg(test)]
mod tests;
