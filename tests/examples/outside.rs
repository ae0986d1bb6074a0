//! Suites of programs as they are, under `romp run`, and built with us:
//! `cargo run -p tests --example outside -- COMPILER SUITE...`, where a suite is a folder of
//! programs of one file each, or one program. Says of each that falls short why, then the
//! numbers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use profile::region_kind::RegionKind;
use tests::Outcome;
use tests::outside::{Verdict, programs, tried};
use tests::toolchain::{Compiler, romp_bin_dir};

/// Programs that are tried at once.
const JOBS: usize = 2;

/// What came of all programs.
#[derive(Debug, Default)]
struct Numbers {
    eligible: usize,
    same: usize,
    counts_same: usize,
    kinds: usize,
    /// In how many programs each kind of construct was not counted as listed.
    differ: BTreeMap<String, usize>,
    problems: usize,
}

fn main() -> ExitCode {
    match table() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

/// Whether all programs behave the same.
fn table() -> Outcome<bool> {
    let mut words = std::env::args().skip(1);
    let name = words.next().ok_or("which compiler?")?;
    let compiler = Compiler { name };
    let bin = romp_bin_dir()?;
    let mut all = Vec::new();
    for suite in words.map(PathBuf::from) {
        let suite = std::fs::canonicalize(&suite).map_err(|e| e.to_string())?;
        match suite.is_dir() {
            true => {
                let (sources, includes) = programs(&suite, &compiler);
                all.extend(sources.into_iter().map(|source| (source, includes.clone())));
            }
            false => all.push((suite, Vec::new())),
        }
    }
    let (next, numbers) = (AtomicUsize::new(0), Mutex::new(Numbers::default()));
    std::thread::scope(|scope| {
        for _ in 0..JOBS {
            scope.spawn(|| {
                while let Some((source, includes)) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let verdict = tried(&bin, &compiler, source, includes);
                    if let Ok(mut numbers) = numbers.lock() {
                        numbers.add(source, verdict);
                    }
                }
            });
        }
    });
    let numbers = numbers.into_inner().map_err(|e| e.to_string())?;
    println!(
        "{}: {} programs, {} of {} behave the same, {} with the same numbers ({} kinds of \
         constructs compared); differ: {:?}; problems: {}",
        compiler.name,
        all.len(),
        numbers.same,
        numbers.eligible,
        numbers.counts_same,
        numbers.kinds,
        numbers.differ,
        numbers.problems
    );
    Ok(numbers.same == numbers.eligible)
}

impl Numbers {
    fn add(&mut self, program: &Path, verdict: Outcome<Verdict>) {
        let name = program.file_name().unwrap_or_default().to_string_lossy();
        self.eligible += usize::from(!matches!(verdict, Ok(Verdict::NotEligible)));
        match verdict {
            Ok(Verdict::NotEligible) => {}
            Ok(Verdict::DoesOtherwise(how)) => println!("{name}: does otherwise: {how}"),
            Ok(Verdict::Same { differ, kinds }) => {
                self.same += 1;
                self.kinds += kinds;
                self.counts_same += usize::from(differ.is_empty());
                for (kind, found, expected) in differ {
                    self.add_difference(kind);
                    println!("{name}: {kind:?} {found} of {expected}");
                }
            }
            Err(problem) => {
                self.problems += 1;
                println!("{name}: {problem}");
            }
        }
    }

    fn add_difference(&mut self, kind: RegionKind) {
        *self.differ.entry(format!("{kind:?}")).or_default() += 1;
    }
}
