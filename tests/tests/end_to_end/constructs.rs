//! Every program in `fixtures/c`, `fixtures/cxx` and `fixtures/fortran`, with every compiler and standard that its
//! header names: built plainly and with `rompcc`, both run; the same output and
//! status, and a profile that is complete and doesn't contradict itself. With GCC, each program once
//! also in text that asks the library which functions it has (`--partial-library`): the same profile,
//! since this library has all functions.
//!
//! `ROMP_TEST_ONLY=name` restricts the run to programs of that name. With
//! `ROMP_TEST_WHAT_BUILDS` the compilers may be any versions: a program that one can't
//! build without us is no failure, and a line says how many programs were built
//! (`tests/compilers` reads it).

use std::io::Write as _;
use std::path::Path;

use profile::model::Profile;
use tests::Outcome;
use tests::fixture::Fixture;
use tests::run::{Build, Program, Ran, build, run};
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

/// The programs that flang can build without us, in the form that each is written in. Flang
/// still lacks a good part of OpenMP.
#[test]
fn flang() {
    let compiler = match Compiler::flang() {
        Ok(compiler) => compiler,
        Err(why) => {
            // Written directly, since the test harness captures the output of `println!`.
            let message = format!("constructs::flang: NOT TESTED: {why}\n");
            return std::io::stderr().write_all(message.as_bytes()).unwrap();
        }
    };
    // With Flang these are functions of C, whose calls the library does not see.
    let fixtures = Fixture::all_in("fortran").unwrap().into_iter();
    let fixtures = fixtures.filter(|fixture| !fixture.text.contains("omp_test_"));
    let programs = fixtures.map(Variant::of).collect();
    let tried = Tried::all(programs, &compiler).unwrap_or_else(|message| panic!("{message}"));
    tried.tell(&compiler).unwrap();
    assert!(tried.failures.is_empty(), "{}", tried.failures.join("\n\n"));
    assert!(
        tried.built() >= 10,
        "only {} build without us",
        tried.built()
    );
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
    let compiler = Compiler::find(compiler)?;
    let copies = tempfile::tempdir().map_err(|e| e.to_string())?;
    let asks = ["gcc", "g++", "gfortran"].contains(&compiler.name.as_str());
    let mut programs = Vec::new();
    for fixture in Fixture::all_in(folder)? {
        if fixture.header.compilers.contains(&compiler.name) {
            programs.extend(variants(&fixture, copies.path())?);
            if let Some(last) = programs.last_mut() {
                last.asks = asks;
            }
        }
    }
    if programs.is_empty() {
        return Err("no program was built".into());
    }
    let mut tried = Tried::all(programs, &compiler)?;
    match std::env::var_os("ROMP_TEST_WHAT_BUILDS") {
        Some(_) => tried.tell(&compiler)?,
        None => tried.failures.append(&mut tried.unbuilt),
    }
    match tried.failures.len() {
        0 => Ok(()),
        number => Err(format!(
            "{number} of {} failed\n\n{}",
            tried.number,
            tried.failures.join("\n\n")
        )),
    }
}

/// The results of trying programs with one compiler.
struct Tried {
    number: usize,
    /// The programs that the compiler can't build without us, with its messages.
    unbuilt: Vec<String>,
    failures: Vec<String>,
}

impl Tried {
    fn all(programs: Vec<Variant>, compiler: &Compiler) -> Outcome<Self> {
        let bin = romp_bin_dir()?;
        let mut tried = Self {
            number: programs.len(),
            unbuilt: Vec::new(),
            failures: Vec::new(),
        };
        for Variant { fixture, std, asks } in programs {
            let name = format!("{} with {} -std={std}", fixture.name(), compiler.name);
            let failed = |message| format!("{name}: {message}");
            let plain = match build(&fixture, compiler, &std, Build::Plain) {
                Ok(program) => Plain::run(&fixture, &program),
                Err(message) => {
                    tried.unbuilt.push(failed(message));
                    continue;
                }
            };
            let asking = asks.then_some(("asking: ", Build::Asking(&bin)));
            let mut ways = [("", Build::Instrumented(&bin))].into_iter().chain(asking);
            // One failure for each program, which `tell` takes from the number of those that were built.
            let failure = ways.find_map(|(about, how)| {
                let measured = build(&fixture, compiler, &std, how);
                let plain = plain.as_ref().map_err(String::clone);
                let compared = plain.and_then(|plain| plain.compare(&measured?, compiler));
                compared.err().map(|it| failed(format!("{about}{it}")))
            });
            tried.failures.extend(failure);
        }
        Ok(tried)
    }

    fn built(&self) -> usize {
        self.number - self.unbuilt.len()
    }

    /// Writes the line for `tests/compilers` directly to stderr, since the test harness
    /// captures the output of `println!`.
    fn tell(&self, compiler: &Compiler) -> Outcome<()> {
        let message = format!(
            "constructs: {} {}/{} of {}\n",
            compiler.name,
            self.built() - self.failures.len(),
            self.built(),
            self.number
        );
        let told = std::io::stderr().write_all(message.as_bytes());
        told.map_err(|e| e.to_string())
    }
}

/// A program in one source form, with one standard.
struct Variant {
    fixture: Fixture,
    /// Empty: the compiler's own.
    std: String,
    /// Whether the program is also built to ask the library which functions it has.
    asks: bool,
}

impl Variant {
    fn of(fixture: Fixture) -> Self {
        Self {
            fixture,
            std: String::new(),
            asks: false,
        }
    }
}

/// A Fortran program in each of its source forms, others as they are; each with every standard.
fn variants(fixture: &Fixture, copies: &Path) -> Outcome<Vec<Variant>> {
    let extension = fixture.path.extension().unwrap_or_default();
    let mut formed = Vec::new();
    if extension.to_string_lossy().to_lowercase().starts_with('f') {
        for form in &fixture.header.forms {
            formed.push(fixture.copy_in_form(*form, copies)?);
        }
    } else {
        formed.push(fixture.clone());
    }
    let with_standards = formed.into_iter().flat_map(|fixture| {
        let standards = fixture.header.standards.clone().into_iter();
        standards.map(move |std| Variant {
            std,
            ..Variant::of(fixture.clone())
        })
    });
    Ok(with_standards.collect())
}

/// What a program did without us: with one thread, and with its number of threads.
struct Plain<'f> {
    fixture: &'f Fixture,
    alone: Ran,
    together: Ran,
}

impl<'f> Plain<'f> {
    fn run(fixture: &'f Fixture, program: &Program) -> Outcome<Self> {
        let with = |threads: &str| {
            let ran = run(fixture, program, &[("OMP_NUM_THREADS", threads)])?;
            ran.must_be_right().map(|()| ran)
        };
        Ok(Self {
            fixture,
            alone: with("1")?,
            together: with(&fixture.header.threads.to_string())?,
        })
    }

    /// Whether the measured program does the same, and what its profiles say.
    fn compare(&self, measured: &Program, compiler: &Compiler) -> Outcome<()> {
        let header = &self.fixture.header;
        let profile = self.profile(&self.alone, measured, "1")?;
        let mut problems = invariants::contradictions(&profile);
        let profile = self.profile(&self.together, measured, &header.threads.to_string())?;
        problems.extend(invariants::contradictions(&profile));
        problems.extend(invariants::missing(&profile, header));
        if profile.run.calls_gnu_runtime() == compiler.is_llvm() {
            problems.push(format!("it calls {:?}", profile.run.openmp_library));
        }
        match (&header.gap, problems.is_empty()) {
            (None, true) | (Some(_), false) => Ok(()),
            (None, false) => Err(problems.join("\n    ")),
            (Some(gap), true) => Err(format!(
                "measured in full: take 'gap={gap}' out of the header"
            )),
        }
    }

    /// Runs the measured program with a number of threads; the profile if it did the same.
    fn profile(&self, plain: &Ran, measured: &Program, threads: &str) -> Outcome<Profile> {
        let settings = [("OMP_NUM_THREADS", threads), ("ROMP_QUIET", "1")];
        let measured = run(self.fixture, measured, &settings)?;
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
}
