//! A generated program, plain and measured: both must print the same and end alike, and
//! the profile must contradict neither itself nor what the program counted.

use profile::model::Profile;
use profile::region_kind::RegionKind;

use super::fortran::{self, Layout};
use super::{Dialect, program};
use crate::Outcome;
use crate::fixture::{Fixture, Header};
use crate::invariants;
use crate::run::{Build, Program, build, run};
use crate::toolchain::{Compiler, romp_bin_dir};

/// A language that programs are generated in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// C or C++.
    Dialect(Dialect),
    /// Fortran; each seed in another layout.
    Fortran,
}

impl Language {
    /// The text of a seed's program, and the extension of its file.
    #[must_use]
    pub fn program(self, seed: u64) -> (String, &'static str) {
        let layout = Layout::ALL[(seed % 4) as usize];
        match self {
            Self::Dialect(Dialect::C) => (program(seed, Dialect::C), "c"),
            Self::Dialect(Dialect::Cxx) => (program(seed, Dialect::Cxx), "cpp"),
            Self::Fortran => (fortran::program(seed, layout), layout.extension()),
        }
    }

    /// The compilers that it is tried with.
    #[must_use]
    pub fn compilers(self) -> &'static [&'static str] {
        match self {
            Self::Dialect(Dialect::C) => &["gcc", "clang"],
            Self::Dialect(Dialect::Cxx) => &["g++", "clang++"],
            Self::Fortran => &["gfortran"],
        }
    }

    fn standard(self) -> &'static str {
        match self {
            Self::Dialect(Dialect::C) => "gnu17",
            Self::Dialect(Dialect::Cxx) => "gnu++17",
            Self::Fortran => "legacy",
        }
    }
}

/// The result of comparing a program.
#[derive(Debug)]
pub enum Verdict {
    /// It does the same.
    Same,
    /// The compiler can't build it, or it fails or changes without us, too.
    NotPlainly(String),
    /// How it differs.
    Different(String),
}

/// Flags that switch off warnings about unusual code.
fn remarks(compiler: &Compiler) -> &'static [&'static str] {
    match compiler.name.as_str() {
        "gfortran" => &[],
        "gcc" | "g++" => &[
            "-Wno-dangling-else",
            "-Wno-unused-function",
            "-Wno-unused-variable",
            "-Wno-uninitialized",
            "-Wno-array-bounds",
            "-Wno-maybe-uninitialized",
        ],
        _ => &[
            "-Wno-pass-failed",
            "-Wno-dangling-else",
            "-Wno-unused-function",
            "-Wno-unused-variable",
        ],
    }
}

/// Whether `cancel` cancels, how many levels of teams there are, and the schedule of
/// loops that leave it open.
fn environment(seed: u64) -> Vec<(String, String)> {
    let settings = [
        (seed.is_multiple_of(3), "OMP_CANCELLATION", "true"),
        (seed % 4 == 1, "OMP_MAX_ACTIVE_LEVELS", "2"),
        (seed % 5 == 2, "OMP_SCHEDULE", "dynamic,2"),
    ];
    let chosen = settings.iter().filter(|(chosen, ..)| *chosen);
    chosen
        .map(|(_, name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

/// Compares the program of a seed, optimised as a flag (`-O2`) says, with numbers of threads.
///
/// # Errors
/// If the tools are not there.
pub fn compare(
    seed: u64,
    language: Language,
    compiler: &Compiler,
    level: &str,
    threads: &[&str],
) -> Outcome<Verdict> {
    let bin = romp_bin_dir()?;
    let (text, extension) = language.program(seed);
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let path = folder.path().join(format!("seed_{seed}.{extension}"));
    std::fs::write(&path, &text).map_err(|e| e.to_string())?;
    let flags = remarks(compiler).iter().chain([&level]);
    let header = Header {
        flags: flags.map(|flag| (*flag).to_owned()).collect(),
        environment: environment(seed),
        ..Header::default()
    };
    let fixture = Fixture { path, text, header };
    let standard = language.standard();
    let plain = match build(&fixture, compiler, standard, Build::Plain) {
        Ok(plain) => plain,
        Err(message) => return Ok(Verdict::NotPlainly(message)),
    };
    let measured = match build(&fixture, compiler, standard, Build::Instrumented(&bin)) {
        Ok(measured) => measured,
        Err(message) => return Ok(Verdict::Different(message)),
    };
    for number in threads {
        match compare_runs(&fixture, &plain, &measured, number) {
            Verdict::Same => {}
            other => return Ok(other),
        }
    }
    Ok(Verdict::Same)
}

/// What a run prints, if it ends well.
fn printed(
    fixture: &Fixture,
    program: &Program,
    threads: &str,
) -> Outcome<(String, String, Outcome<Profile>)> {
    let settings = [("OMP_NUM_THREADS", threads), ("ROMP_QUIET", "1")];
    let ran = run(fixture, program, &settings)?;
    ran.must_be_right()?;
    Ok((ran.stdout(), ran.stderr(), ran.profile()))
}

/// Runs of the plain program before a difference is blamed on Romp. The output of one program
/// changed in one of fifteen runs, and yet stayed the same in 40 runs in a row.
const PLAIN_RUNS: usize = 200;

fn compare_runs(fixture: &Fixture, plain: &Program, measured: &Program, threads: &str) -> Verdict {
    let expected = match printed(fixture, plain, threads) {
        Ok((out, err, _)) => (out, err),
        Err(message) => return Verdict::NotPlainly(message),
    };
    let found = match printed(fixture, measured, threads) {
        Ok((out, err, profile)) if (&out, &err) == (&expected.0, &expected.1) => {
            return judged(fixture, &out, profile);
        }
        Ok((out, err, _)) => format!("{out}{err}"),
        Err(message) => message,
    };
    // If the plain program's output differs from run to run, the difference isn't Romp's.
    for _ in 0..PLAIN_RUNS {
        match printed(fixture, plain, threads) {
            Ok((out, err, _)) if (&out, &err) == (&expected.0, &expected.1) => {}
            Ok((out, ..)) => return Verdict::NotPlainly(format!("it changes:\n{out}")),
            Err(message) => return Verdict::NotPlainly(message),
        }
    }
    Verdict::Different(format!(
        "with {threads} threads and {:?}\nplain:\n{}{}\nmeasured:\n{found}",
        fixture.header.environment, expected.0, expected.1
    ))
}

/// Whether the profile agrees with itself and with what the program printed.
fn judged(fixture: &Fixture, printed: &str, profile: Outcome<Profile>) -> Verdict {
    let profile = match profile {
        Ok(profile) => profile,
        Err(message) => return Verdict::Different(message),
    };
    let mut problems = invariants::contradictions(&profile);
    problems.extend(miscounted(&fixture.text, printed, &profile));
    match problems.is_empty() {
        true => Verdict::Same,
        false => Verdict::Different(problems.join("\n    ")),
    }
}

/// Atomics whose number of executions in a C program differs from that in the profile. The
/// program prints the sum that each atomic adds to, in the line of its number.
fn miscounted(text: &str, printed: &str, profile: &Profile) -> Vec<String> {
    let sums: Vec<i64> = printed
        .lines()
        .map_while(|line| line.parse().ok())
        .collect();
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let mut problems = Vec::new();
    for (at, pair) in lines.windows(2).enumerate() {
        let Some((number, step)) = update(pair) else {
            continue;
        };
        let sum = sums.get(number).copied().unwrap_or_default();
        let line = at as u32 + 1;
        let counted = visits(profile, line) as i64;
        if counted * step != sum {
            problems.push(format!(
                "the atomic in line {line}: {counted} times {step} is not {sum}"
            ));
        }
    }
    problems
}

/// The sum that an atomic adds to, and what it adds.
fn update(pair: &[&str]) -> Option<(usize, i64)> {
    let ["#pragma omp atomic", statement] = pair else {
        return None;
    };
    let rest = statement.strip_prefix("sum[")?.strip_suffix(';')?;
    let (number, step) = rest.split_once("] += ")?;
    Some((number.parse().ok()?, step.parse().ok()?))
}

/// How often threads came to the atomic in a line.
fn visits(profile: &Profile, line: u32) -> u64 {
    let here = |region: usize| {
        let region = &profile.regions[region];
        region.kind == RegionKind::Atomic && region.begin[0] == line
    };
    let nodes = profile.nodes.iter().filter(|node| here(node.region));
    nodes
        .flat_map(|node| &node.rows)
        .map(|row| row.main.count)
        .sum()
}
