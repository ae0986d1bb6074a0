//! Every program in `fixtures/c`, `fixtures/cxx` and `fixtures/fortran`, with every compiler and standard that its
//! header names: built plainly and with `rompcc`, both run; the same output and
//! status, and a profile that is complete and doesn't contradict itself.
//!
//! `ROMP_TEST_ONLY=name` restricts the run to programs of that name.

use std::io::Write as _;
use std::path::Path;

use profile::model::Profile;
use tests::Outcome;
use tests::fixture::Fixture;
use tests::run::{Build, Program, build, run};
use tests::toolchain::{Compiler, romp_bin_dir};
use tests::{fixture, invariants};

#[test]
fn gcc() {
    all_with("c", "gcc").unwrap_or_else(|message| panic!("{message}"));
}

#[test]
fn clang() {
    all_with("c", "clang").unwrap_or_else(|message| panic!("{message}"));
}

#[test]
fn gxx() {
    all_with("cxx", "g++").unwrap_or_else(|message| panic!("{message}"));
}

#[test]
fn clangxx() {
    all_with("cxx", "clang++").unwrap_or_else(|message| panic!("{message}"));
}

#[test]
fn gfortran() {
    all_with("fortran", "gfortran").unwrap_or_else(|message| panic!("{message}"));
}

/// What flang can build without us, in the form that it is written in. Flang lacks
/// a good part of OpenMP still.
#[test]
fn flang() {
    let compiler = match Compiler::flang() {
        Ok(compiler) => compiler,
        Err(why) => {
            // Past the harness, which keeps what is printed to itself.
            let message = format!("constructs::flang: NOT TESTED: {why}\n");
            return std::io::stderr().write_all(message.as_bytes()).unwrap();
        }
    };
    let bin = romp_bin_dir().unwrap();
    let fixtures = Fixture::all_in("fortran").unwrap().into_iter();
    let built: Vec<Fixture> = fixtures
        // There these are functions of C, whose calls nothing of ours sees.
        .filter(|fixture| !fixture.text.contains("omp_test_"))
        .filter(|fixture| build(fixture, &compiler, "", Build::Plain).is_ok())
        .collect();
    let failures: Vec<String> = built
        .iter()
        .filter_map(|fixture| {
            let message = compare(fixture, &compiler, "", &bin).err()?;
            Some(format!("{}: {message}", fixture.name()))
        })
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    assert!(built.len() >= 10, "only {} build without us", built.len());
}

#[test]
fn every_program_says_what_is_measured() {
    let folders = ["c", "cxx", "fortran"].map(|folder| Fixture::all_in(folder).unwrap());
    for fixture in folders.iter().flatten() {
        assert!(
            fixture.header.says_regions,
            "{} lacks 'romp-test: regions='",
            fixture.name()
        );
    }
}

/// A program with a wrong result must be noticed, or no other test here counts.
#[test]
fn a_wrong_result_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wrong.c");
    let text = "#include <stdio.h>\nint main(void) { printf(\"WRONG\\n\"); return 1; }\n";
    std::fs::write(&path, text).unwrap();
    let wrong = Fixture {
        path,
        text: text.into(),
        header: fixture::Header::default(),
    };
    let compiler = Compiler::find("gcc").unwrap();
    let program = build(&wrong, &compiler, "c99", Build::Plain).unwrap();
    let ran = run(&wrong, &program, &[]).unwrap();
    assert!(ran.must_be_right().unwrap_err().contains("WRONG"));
    assert!(ran.profile().is_err());
}

fn all_with(folder: &str, compiler: &str) -> Outcome<()> {
    let bin = romp_bin_dir()?;
    let compiler = Compiler::find(compiler)?;
    let mut failures = Vec::new();
    let mut combinations = 0;
    let copies = tempfile::tempdir().map_err(|e| e.to_string())?;
    for fixture in in_every_form(Fixture::all_in(folder)?, copies.path())? {
        if !fixture.header.compilers.contains(&compiler.name) {
            continue;
        }
        for std in &fixture.header.standards {
            combinations += 1;
            if let Err(message) = compare(&fixture, &compiler, std, &bin) {
                failures.push(format!(
                    "{} with {} -std={std}: {message}",
                    fixture.name(),
                    compiler.name
                ));
            }
        }
    }
    let number = failures.len();
    match (combinations, number) {
        (0, _) => Err("no program was built".into()),
        (_, 0) => Ok(()),
        _ => Err(format!(
            "{number} of {combinations} failed\n\n{}",
            failures.join("\n\n")
        )),
    }
}

/// A Fortran program stands for one in each of its source forms.
fn in_every_form(fixtures: Vec<Fixture>, copies: &Path) -> Outcome<Vec<Fixture>> {
    let mut all = Vec::new();
    for fixture in fixtures {
        let extension = fixture.path.extension().unwrap_or_default();
        if !extension.to_string_lossy().to_lowercase().starts_with('f') {
            all.push(fixture);
            continue;
        }
        for form in &fixture.header.forms {
            all.push(fixture.copy_in_form(*form, copies)?);
        }
    }
    Ok(all)
}

fn compare(fixture: &Fixture, compiler: &Compiler, std: &str, bin: &Path) -> Outcome<()> {
    let plain = build(fixture, compiler, std, Build::Plain)?;
    let measured = build(fixture, compiler, std, Build::Instrumented(bin))?;
    let profile = compare_runs(fixture, &plain, &measured, "1")?;
    let mut problems = invariants::contradictions(&profile);
    let profile = compare_runs(
        fixture,
        &plain,
        &measured,
        &fixture.header.threads.to_string(),
    )?;
    problems.extend(invariants::contradictions(&profile));
    problems.extend(invariants::missing(&profile, &fixture.header));
    match (&fixture.header.gap, problems.is_empty()) {
        (None, true) | (Some(_), false) => Ok(()),
        (None, false) => Err(problems.join("\n    ")),
        (Some(gap), true) => Err(format!(
            "measured in full: take 'gap={gap}' out of the header"
        )),
    }
}

/// Runs both with a number of threads; gives the profile if they did the same.
fn compare_runs(
    fixture: &Fixture,
    plain: &Program,
    measured: &Program,
    threads: &str,
) -> Outcome<Profile> {
    let plain = run(fixture, plain, &[("OMP_NUM_THREADS", threads)])?;
    plain.must_be_right()?;
    let settings = [("OMP_NUM_THREADS", threads), ("ROMP_QUIET", "1")];
    let measured = run(fixture, measured, &settings)?;
    measured.must_be_right()?;
    if plain.stdout() != measured.stdout() || plain.output.status != measured.output.status {
        return Err(format!(
            "plain:\n{}\nmeasured:\n{}",
            plain.stdout(),
            measured.stdout()
        ));
    }
    if plain.stderr() != measured.stderr() {
        return Err(format!("on stderr: {}", measured.stderr()));
    }
    measured.profile()
}
