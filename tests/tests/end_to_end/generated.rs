//! Generated programs, built plainly and with `rompcc`: both must print the
//! same, with every number of threads, and the profile must not contradict
//! itself.
//!
//! `tests/generated FIRST COUNT` tries more of them, with every level of optimisation.

use tests::generate::Dialect;
use tests::generate::comparison::{Language, Verdict, compare};
use tests::toolchain::Compiler;

/// First seed and number of programs: from the environment, or a few.
fn seeds() -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    let first = number("ROMP_TEST_SEED").unwrap_or(1);
    first..first + number("ROMP_TEST_PROGRAMS").unwrap_or(4)
}

fn all(language: Language) {
    let mut failures = Vec::new();
    for name in language.compilers() {
        let compiler = Compiler::find(name).unwrap_or_else(|message| panic!("{message}"));
        for seed in seeds() {
            match compare(seed, language, &compiler, "-O1", &["1", "2", "3", "4"]) {
                Ok(Verdict::Same) => {}
                Ok(Verdict::NotPlainly(message) | Verdict::Different(message)) | Err(message) => {
                    failures.push(format!("seed {seed} with {name}: {message}"));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
fn c() {
    all(Language::Dialect(Dialect::C));
}

#[test]
fn cxx() {
    all(Language::Dialect(Dialect::Cxx));
}

#[test]
fn fortran() {
    all(Language::Fortran);
}
