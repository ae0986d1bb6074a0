//! Generated programs, built plainly and with `rompcc`: both must print the
//! same, with every number of threads, and the profile must not contradict
//! itself.
//!
//! `tests/generated FIRST COUNT` runs more of them; a failure names its seed.

use std::path::PathBuf;

use tests::Outcome;
use tests::fixture::{Fixture, Header};
use tests::generate::fortran::{self, Layout};
use tests::generate::{Dialect, program};
use tests::invariants;
use tests::run::{Build, build, run};
use tests::toolchain::{Compiler, romp_bin_dir};

/// First seed and number of programs: from the environment, or a few.
fn seeds() -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    let first = number("ROMP_TEST_SEED").unwrap_or(1);
    first..first + number("ROMP_TEST_PROGRAMS").unwrap_or(4)
}

/// A generated program: its text, and the extension that says what it is.
type Generated = (String, &'static str);

fn compare(seed: u64, (text, extension): Generated, compiler: &Compiler, std: &str) -> Outcome<()> {
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let path: PathBuf = folder.path().join(format!("seed_{seed}.{extension}"));
    std::fs::write(&path, &text).map_err(|e| e.to_string())?;
    // Remarks on code as nobody would write it.
    let flags: &[&str] = match compiler.name.as_str() {
        "gfortran" => &[],
        _ => &["-Wno-pass-failed", "-Wno-dangling-else"],
    };
    let header = Header {
        flags: flags.iter().map(|flag| (*flag).to_owned()).collect(),
        ..Header::default()
    };
    let fixture = Fixture { path, text, header };
    let bin = romp_bin_dir()?;
    let plain = build(&fixture, compiler, std, Build::Plain)?;
    let measured = build(&fixture, compiler, std, Build::Instrumented(&bin))?;
    for threads in ["1", "2", "3", "4"] {
        let threads = ("OMP_NUM_THREADS", threads);
        let plain = run(&fixture, &plain, &[threads])?;
        plain.must_be_right()?;
        let measured = run(&fixture, &measured, &[threads, ("ROMP_QUIET", "1")])?;
        measured.must_be_right()?;
        if plain.stdout() != measured.stdout() || plain.stderr() != measured.stderr() {
            return Err(format!(
                "with {threads:?}\nplain:\n{}\nmeasured:\n{}{}",
                plain.stdout(),
                measured.stdout(),
                measured.stderr()
            ));
        }
        let problems = invariants::contradictions(&measured.profile()?);
        if !problems.is_empty() {
            return Err(problems.join("\n    "));
        }
    }
    Ok(())
}

fn all(generate: impl Fn(u64) -> Generated, compilers: &[&str], std: &str) {
    let mut failures = Vec::new();
    for name in compilers {
        let compiler = Compiler::find(name).unwrap_or_else(|message| panic!("{message}"));
        for seed in seeds() {
            if let Err(message) = compare(seed, generate(seed), &compiler, std) {
                failures.push(format!("seed {seed} with {name}: {message}"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
fn c() {
    all(
        |seed| (program(seed, Dialect::C), "c"),
        &["gcc", "clang"],
        "gnu17",
    );
}

#[test]
fn cxx() {
    all(
        |seed| (program(seed, Dialect::Cxx), "cpp"),
        &["g++", "clang++"],
        "gnu++17",
    );
}

/// Each seed in another layout.
#[test]
fn fortran() {
    let generate = |seed: u64| {
        let layout = Layout::ALL[(seed % 4) as usize];
        (fortran::program(seed, layout), layout.extension())
    };
    all(generate, &["gfortran"], "legacy");
}
