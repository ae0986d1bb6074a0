//! The inputs that fuzzing found worth keeping, and every fixture, are put through
//! the checks of the fuzz targets.

#![allow(clippy::unwrap_used)] // A test fails by panicking.

use std::path::PathBuf;

use tests::fuzz::{self, TARGETS, pool};
use tests::processors;

/// Targets with at most this many variants have all of them checked.
const MOST_VARIANTS: u64 = 100;

/// Of the variants of other targets, one in this many is checked. Among every eleventh variant of
/// Fortran, each value of an option stands beside each value of any other. Fuzzing checks all variants.
const STRIDE: usize = 11;

fn replay(name: &str) {
    let target = fuzz::target(name).unwrap();
    let kept = pool::kept(target);
    assert!(!kept.is_empty(), "{name} has no inputs");
    let step = match target.variants {
        0..=MOST_VARIANTS => 1,
        _ => STRIDE,
    };
    let check = |path: &PathBuf| {
        let bytes = std::fs::read(path).unwrap();
        for variant in (0..target.variants).step_by(step) {
            // The test's output names the input that did not pass.
            println!("{} {variant}", path.display());
            (target.check)(&bytes, variant);
        }
    };
    processors::for_each(&kept, check);
}

#[test]
fn c() {
    replay("c");
}

#[test]
fn fortran() {
    replay("fortran");
}

#[test]
fn edits() {
    replay("edits");
}

#[test]
fn profile() {
    replay("profile");
}

#[test]
fn trace() {
    replay("trace");
}

/// The same seed gives the same inputs, and no target fails on its first ones.
#[test]
fn first_inputs() {
    for target in TARGETS {
        let (pool, same) = (pool::Pool::new(target), pool::Pool::new(target));
        for number in 0..200 {
            let input = pool.input(1, number);
            assert_eq!(input, same.input(1, number));
            println!("{} {number}", target.name);
            (target.check)(&input.bytes, input.variant);
        }
    }
}
