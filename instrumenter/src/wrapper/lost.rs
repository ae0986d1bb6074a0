//! Warnings that compilers give of the user's source, and of a new text no longer.

use std::collections::HashMap;

use super::attempt::Job;
use super::classify::CommandLine;
use super::hidden;
use super::preprocessed::check;
use super::run::Outcome;
use super::unit::Unit;
use crate::openmp::Language;

/// Warnings that compilers give of a source and not of what its preprocessor makes of
/// it: the flags that ask for them, and whether they are about what conditions and
/// loops without braces govern. Once a text has `#line` in it, GCC says nothing of
/// how such statements are indented, and Clang nothing of those that are empty.
const LOST: &[(&str, bool)] = &[
    ("-Wall", true),
    ("-Wmisleading-indentation", true),
    ("-Wmultistatement-macros", true),
    ("-Wdocumentation", false),
    ("-Wtraditional", false),
    ("-Weverything", false),
];

/// What asks GCC to warn of an `else` that dangles. Clang sees none behind a directive.
const OF_ELSE: &[&str] = &["-Wall", "-Wparentheses", "-Wdangling-else"];

/// What asks gfortran to warn of tabs, and of what stands behind the last column.
const OF_LINES: &[&str] = &[
    "-Wall",
    "-Wtabs",
    "-Wline-truncation",
    "-Wpedantic",
    "-pedantic",
    "-std=f",
];

/// Whether a line that such a warning may be about is written anew, as directives of
/// Fortran are.
fn rewrites_lines(unit: &Unit) -> bool {
    let limit = unit.layout.line_length.unwrap_or(usize::MAX);
    let concerned = |line: &&[u8]| line.contains(&b'\t') || line.len() > limit;
    let made = unit.preprocessed.as_ref();
    let made = made.map_or(&unit.text, |made| &made.text);
    let mut kept: HashMap<&[u8], usize> = HashMap::new();
    for line in made.split(|byte| *byte == b'\n').filter(concerned) {
        *kept.entry(line).or_default() += 1;
    }
    let mut lines = unit.original.split(|byte| *byte == b'\n').filter(concerned);
    lines.any(|line| match kept.get_mut(line) {
        Some(left) if *left > 0 => {
            *left -= 1;
            false
        }
        _ => true,
    })
}

/// Whether the compiler's front end has nothing to say about the users' sources that
/// it did not say.
pub(crate) fn nothing_is_lost(
    job: &Job<'_>,
    line: &CommandLine,
    units: &[&Unit],
    said: &Outcome,
) -> bool {
    let words = line.words();
    if words.iter().any(|word| word == "-w") {
        return true;
    }
    let asked = |flag: &str| {
        let mut words = words.iter();
        words.any(|word| word.to_string_lossy().starts_with(flag))
    };
    let lost: Vec<bool> = LOST
        .iter()
        .filter(|(flag, _)| asked(flag))
        .map(|(_, about_governed)| *about_governed)
        .collect();
    let (in_fortran, in_c): (Vec<&Unit>, Vec<&Unit>) = units
        .iter()
        .partition(|unit| unit.language == Language::Fortran);
    if OF_LINES.iter().any(|flag| asked(flag)) && in_fortran.iter().any(|unit| rewrites_lines(unit))
    {
        return false;
    }
    let family = job.runner.compiler.family;
    // Clang warns of empty statements though no flag asks for it.
    let of_empty = !family.shows_file;
    let of_else = family.shows_file && OF_ELSE.iter().any(|flag| asked(flag));
    let concerned = |unit: &&&Unit| match unit.preprocessed {
        _ if of_else && hidden::hides_dangling_else(line, unit) => true,
        _ if of_empty && hidden::governs_nothing(line, unit) => true,
        Some(_) => {
            lost.contains(&false) || (!lost.is_empty() && hidden::governs_oddly(line, unit, true))
        }
        None => lost.contains(&true) && hidden::governs_oddly(line, unit, false),
    };
    in_c.iter().filter(concerned).all(|unit| {
        let outcome = check(&job.runner, line, unit);
        outcome.is_ok_and(|outcome| outcome.success() && job.runner.says_all_of(said, &outcome))
    })
}
