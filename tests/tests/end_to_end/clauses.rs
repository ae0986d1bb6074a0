//! A directive that the compiler refuses as written is also refused when instrumented: every
//! combined directive with every clause, with two of a kind, and with a variable in two.
//!
//! If the compiler accepts a directive, it must accept the instrumented text too: otherwise the
//! source is not measured.
//!
//! `ROMP_TEST_COMPILERS="gcc-11 clang++ flang-19" cargo test -p tests --test end_to_end clauses:: -- --ignored`
//! tries far more: every clause of OpenMP, every pair, on every directive, and every sequence of
//! names.

use std::collections::BTreeSet;

use instrumenter::openmp::Language;
use instrumenter::openmp::clauses::{CLAUSES, OF_WHOLE};
use instrumenter::openmp::directives::DIRECTIVES;
use instrumenter::source::{Layout, UndefinedMacros};
use instrumenter::{Options, Source, instrument};
use tests::refused::{Case, refused, source};

/// The names of directives in the specification that may be split, as C spells them.
const SPLIT: &[&str] = &[
    "parallel for",
    "parallel for simd",
    "parallel sections",
    "parallel workshare",
    "parallel loop",
    "parallel master",
    "parallel masked",
    "parallel master taskloop",
    "parallel master taskloop simd",
    "parallel masked taskloop",
    "parallel masked taskloop simd",
    "master taskloop",
    "master taskloop simd",
    "masked taskloop",
    "masked taskloop simd",
];

/// The names of directives that are not split.
const WHOLE: &[&str] = &[
    "parallel",
    "for",
    "sections",
    "single",
    "workshare",
    "scope",
    "loop",
    "master",
    "masked",
    "taskloop",
    "simd",
    "for simd",
    "taskloop simd",
    "task",
    "distribute",
    "distribute simd",
    "distribute parallel for",
    "distribute parallel for simd",
    "teams",
    "teams loop",
    "teams distribute",
    "teams distribute simd",
    "teams distribute parallel for",
    "teams distribute parallel for simd",
    "target",
    "target parallel",
    "target parallel for",
    "target parallel for simd",
    "target parallel loop",
    "target simd",
    "target teams",
    "target teams loop",
    "target teams distribute",
    "target teams distribute simd",
    "target teams distribute parallel for",
    "target teams distribute parallel for simd",
];

/// The arguments that clauses are tried with; every other clause is tried with none and
/// with a variable.
#[rustfmt::skip]
const ARGUMENTS: &[(&str, &[&str])] = &[
    ("affinity", &["(x)"]),
    ("aligned", &["(p)", "(p: 8)", "(p, i)"]),
    ("allocate", &["(x) firstprivate(x)", "(x) private(x)", "(x)", "(x) reduction(+: x)"]),
    ("bind", &["(parallel)", "(thread)", "(teams)", "(x)"]),
    ("collapse", &["(1)", "(2)", "(3)", "(n)", ""]),
    ("copyin", &["(tp)", "(x)"]),
    ("copyprivate", &["(x)", "(tp)"]),
    ("default", &["(shared)", "(none)", "(private)", "(firstprivate)", "(x)"]),
    ("defaultmap", &["(tofrom: scalar)"]),
    ("depend", &["(inout: x)", "(source)"]),
    ("detach", &["(x)"]),
    ("device", &["(0)"]),
    ("dist_schedule", &["(static)", "(static, 4)"]),
    ("doacross", &["(source:)"]),
    ("filter", &["(0)", "(x)"]),
    ("final", &["(n > 1)", "(taskloop: n > 1)"]),
    ("firstprivate", &["(x)", "(p)", "(i)", "(tp)", "(n)"]),
    ("grainsize", &["(4)", "(strict: 4)", "(n)"]),
    ("hint", &["(0)"]),
    ("if", &["(n > 1)", "(parallel: n > 1)", "(simd: n > 1)", "(taskloop: n > 1)", "(target: n > 1)",
             "(for: n > 1)", "(task: n > 1)", "(masked: n > 1)",
             "(parallel: n > 1) if(taskloop: n > 1)", "(parallel: n > 1) if(simd: n > 1)",
             "(parallel: n > 1) if(n > 2)"]),
    ("in_reduction", &["(+: x)"]),
    ("is_device_ptr", &["(p)"]),
    ("lastprivate", &["(x)", "(conditional: x)", "(i)", "(tp)", "(n)"]),
    ("linear", &["(x)", "(x: 2)", "(x: y)", "(val(x))", "(x: val)", "(i)", "(p)", "(tp)"]),
    ("map", &["(tofrom: x)"]),
    ("mergeable", &[""]),
    ("nogroup", &[""]),
    ("nontemporal", &["(p)", "(i)"]),
    ("nowait", &[""]),
    ("num_tasks", &["(4)", "(strict: 4)", "(n) grainsize(4)"]),
    ("num_teams", &["(2)"]),
    ("num_threads", &["(2)", "(n)", "(0)", "(x, y)", ""]),
    ("order", &["(concurrent)", "(reproducible: concurrent)", "(x)", "(concurrent) ordered"]),
    ("ordered", &["", "(1)", "(2)", "(n)", "(1) collapse(2)", " schedule(nonmonotonic: dynamic)", "(1) linear(x)"]),
    ("priority", &["(1)"]),
    ("private", &["(x)", "(p)", "(i)", "(j)", "(tp)", "(n)", ""]),
    ("proc_bind", &["(close)", "(spread)", "(primary)", "(master)", "(x)"]),
    ("reduction", &["(+: x)", "(+: n)", "(task, +: x)", "(inscan, +: x)", "(default, +: x)",
                    "(+: i)", "(-: x)", "(z: x)", "(+: tp)", "(+: p)", "(task, +: x) nogroup"]),
    ("safelen", &["(4)", "(n)"]),
    ("schedule", &["(static)", "(static, 4)", "(dynamic)", "(guided, n)", "(auto)", "(runtime)",
                   "(runtime, 4)", "(x)", "(simd: static)", "(monotonic: dynamic, 2)",
                   "(monotonic, nonmonotonic: dynamic)", "(nonmonotonic: static)"]),
    ("shared", &["(x)", "(i)", "(tp)", "(n)", "(p)"]),
    ("simdlen", &["(4)", "(8) safelen(4)"]),
    ("task_reduction", &["(+: x)"]),
    ("thread_limit", &["(4)"]),
    ("threads", &[""]),
    ("untied", &[""]),
    ("uses_allocators", &["(omp_default_mem_alloc)"]),
];

/// Clauses with lists, of one variable.
const LISTS: &[&str] = &[
    "private(x)",
    "firstprivate(x)",
    "lastprivate(x)",
    "shared(x)",
    "reduction(+: x)",
    "in_reduction(+: x)",
    "linear(x)",
    "copyin(x)",
    "nontemporal(x)",
    "aligned(x)",
    "allocate(x)",
];

fn arguments(clause: &str) -> &'static [&'static str] {
    let known = ARGUMENTS.iter().find(|(name, _)| *name == clause);
    known.map_or(&["", "(x)"], |(_, arguments)| arguments)
}

/// Clauses with every argument.
fn clauses(names: impl Iterator<Item = &'static str>) -> Vec<String> {
    let with = |name: &'static str| {
        arguments(name)
            .iter()
            .map(move |argument| format!("{name}{argument}"))
    };
    names.flat_map(with).collect()
}

/// Every pair of the first form of each, and each twice.
fn pairs(of: &[String]) -> Vec<String> {
    let pairs = of.iter().enumerate();
    pairs
        .flat_map(|(at, one)| of[at..].iter().map(move |other| format!("{one} {other}")))
        .collect()
}

/// A name as a language spells it, if it has it.
fn spelled(name: &str, language: Language) -> Option<String> {
    let words = name.split(' ').map(|word| match (word, language) {
        ("for", Language::Fortran) => "do",
        _ => word,
    });
    let has = |word: &&str| {
        let mut rows = DIRECTIVES.iter();
        rows.any(|row| row.name == *word && row.languages.contain(language))
    };
    let words: Vec<&str> = words.collect();
    words.iter().all(has).then(|| words.join(" "))
}

fn names<'n>(names: &'n [&str], language: Language) -> impl Iterator<Item = String> + 'n {
    names.iter().filter_map(move |name| spelled(name, language))
}

/// Every sequence of up to three of the names that combine.
fn sequences(language: Language) -> Vec<Case> {
    let rows = || {
        DIRECTIVES
            .iter()
            .filter(move |row| row.languages.contain(language))
    };
    let heads: Vec<&str> = rows()
        .filter(|row| row.combination.leads())
        .map(|row| row.name)
        .collect();
    let tails: Vec<&str> = rows()
        .filter(|row| row.combination.follows())
        .map(|row| row.name)
        .collect();
    let mut all = Vec::new();
    for head in &heads {
        for tail in &tails {
            all.push(format!("{head} {tail}"));
            if heads.contains(tail) {
                all.extend(tails.iter().map(|last| format!("{head} {tail} {last}")));
            }
        }
    }
    all.iter().map(|name| Case::new(name, "")).collect()
}

/// Each of the clauses on each of the directives.
fn single(language: Language, on: &[&str], clauses: &[String]) -> Vec<Case> {
    let with = |name: String| {
        let cases: Vec<Case> = clauses
            .iter()
            .map(|clause| Case::new(&name, clause))
            .collect();
        cases
    };
    names(on, language).flat_map(with).collect()
}

/// Each pair of the clauses on each directive that may be split.
fn pairs_on(language: Language, clauses: &[String]) -> Vec<Case> {
    let pairs = pairs(clauses);
    let with = |name: String| {
        let cases: Vec<Case> = pairs.iter().map(|pair| Case::new(&name, pair)).collect();
        cases
    };
    names(SPLIT, language).flat_map(with).collect()
}

/// Clauses of the directive that ends a construct, where Fortran has them.
fn at_the_end() -> Vec<Case> {
    let clauses = ["nowait", "copyprivate(x)", "private(x)", "nowait nowait"];
    let with = |name: String| {
        clauses.map(|clause| Case {
            end: Some(clause.to_owned()),
            ..Case::new(&name, "")
        })
    };
    let all = names(SPLIT, Language::Fortran).chain(names(WHOLE, Language::Fortran));
    all.flat_map(with).collect()
}

fn instrumented(language: Language, text: String, unknown: &BTreeSet<String>) -> Vec<u8> {
    let name = match language {
        Language::C => "cases.c",
        Language::Cxx => "cases.cpp",
        Language::Fortran => "cases.f90",
    };
    let source = Source {
        name: name.into(),
        text: text.into_bytes(),
        language,
        // As `rompfc` does it: Flang knows no line markers within a statement.
        layout: Layout {
            line_length: None,
            ..Source::layout_of(name.as_ref())
        },
        undefined: UndefinedMacros::new(),
    };
    let options = Options {
        unique: "u".into(),
        host_only: true,
        whole_statements: true,
        unknown: unknown.clone(),
        ..Options::default()
    };
    instrument(&source, &options).applied.text
}

/// The names that a compiler does not know.
fn unknown(compiler: &str, language: Language, cases: &[Case]) -> BTreeSet<String> {
    let names: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    let bare: Vec<Case> = names.iter().map(|name| Case::new(name, "")).collect();
    let text = |chosen: &BTreeSet<usize>| source(language, &bare, chosen).into_bytes();
    let unknown = refused(compiler, language, bare.len(), text).unwrap();
    unknown
        .iter()
        .map(|number| bare[*number].name.clone())
        .collect()
}

/// The cases whose directives are written anew. The others need no check: the compiler sees
/// the same directive as in the source.
fn anew(language: Language, cases: &[Case], unknown: &BTreeSet<String>) -> Vec<Case> {
    let all = (0..cases.len()).collect();
    let text = instrumented(language, source(language, cases, &all), unknown);
    let text = String::from_utf8(text).unwrap();
    let lines: BTreeSet<&str> = text.lines().map(str::trim_end).collect();
    let is_anew = |case: &&Case| {
        case.lines(language)
            .iter()
            .any(|line| !lines.contains(line.trim_end()))
    };
    cases.iter().filter(is_anew).cloned().collect()
}

/// How many cases share a text. If an error has no place, the cases are halved to find it.
const CASES: usize = 500;

/// The cases that the compiler accepts only as written or only instrumented.
fn differences(compiler: &str, language: Language, cases: &[Case]) -> Vec<String> {
    let unknown = unknown(compiler, language, cases);
    let cases = anew(language, cases, &unknown);
    let mut wrong = Vec::new();
    let mut number_refused = 0;
    for cases in cases.chunks(CASES) {
        let text = |chosen: &BTreeSet<usize>| source(language, cases, chosen).into_bytes();
        let plain = refused(compiler, language, cases.len(), text).unwrap();
        let text = |chosen: &BTreeSet<usize>| {
            instrumented(language, source(language, cases, chosen), &unknown)
        };
        let ours = refused(compiler, language, cases.len(), text).unwrap();
        number_refused += plain.len();
        let say = |what: &str, number: &usize| format!("{what}: {}", cases[*number].text());
        // `rompfc` has Flang check the source itself (`wrapper::compile`).
        if !compiler.contains("flang") {
            wrong.extend(plain.difference(&ours).map(|number| say("masked", number)));
        }
        wrong.extend(ours.difference(&plain).map(|number| say("lost", number)));
    }
    println!(
        "{compiler}: {} cases, {number_refused} refused",
        cases.len()
    );
    wrong
}

/// The language that a compiler is for, by its name.
fn language_of(compiler: &str) -> Language {
    match () {
        () if compiler.contains("++") => Language::Cxx,
        () if compiler.contains("fortran") || compiler.contains("flang") => Language::Fortran,
        () => Language::C,
    }
}

fn compare(compiler: &str, cases: impl Fn(Language) -> Vec<Case>) {
    let language = language_of(compiler);
    let differences = differences(compiler, language, &cases(language));
    let all = differences.join("\n");
    assert!(differences.is_empty(), "{compiler}:\n{all}");
}

/// The directives that are split, with clauses that may get to the wrong part.
fn likely(language: Language) -> Vec<Case> {
    let of_parts = clauses(CLAUSES.iter().map(|row| row.name));
    let lists: Vec<String> = LISTS.iter().map(|&clause| clause.to_owned()).collect();
    let mut cases = single(language, SPLIT, &of_parts);
    cases.extend(pairs_on(language, &lists));
    if language == Language::Fortran {
        cases.extend(at_the_end());
    }
    cases
}

/// Every clause of OpenMP, every pair of the clauses that a split directive may have, and
/// every sequence of names.
fn possible(language: Language) -> Vec<Case> {
    let of_parts = || CLAUSES.iter().map(|row| row.name);
    let all = clauses(of_parts().chain(OF_WHOLE.iter().copied()));
    let first = of_parts().map(|name| format!("{name}{}", arguments(name)[0]));
    let first: Vec<String> = first.collect();
    let mut cases = single(language, WHOLE, &all);
    cases.extend(single(language, SPLIT, &all));
    cases.extend(pairs_on(language, &first));
    cases.extend(sequences(language));
    cases
}

#[test]
fn gcc() {
    compare("gcc", likely);
}

#[test]
fn clang() {
    compare("clang", likely);
}

#[test]
fn gxx() {
    compare("g++", likely);
}

#[test]
fn clangxx() {
    compare("clang++", likely);
}

#[test]
fn gfortran() {
    compare("gfortran", likely);
}

#[test]
#[ignore = "takes minutes for each of the compilers that ROMP_TEST_COMPILERS names"]
fn everything() {
    let compilers = std::env::var("ROMP_TEST_COMPILERS");
    let compilers = compilers.unwrap_or_else(|_| "gcc clang g++ clang++ gfortran".to_owned());
    for compiler in compilers.split_whitespace() {
        compare(compiler, likely);
        compare(compiler, possible);
    }
}
