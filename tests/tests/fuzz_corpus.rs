//! The inputs that fuzzing found worth keeping, and every fixture, are put through
//! the functions that the fuzz targets call.
//!
//! `cd instrumenter && cargo +nightly fuzz run c_front_end` looks for more;
//! `cargo +nightly fuzz cmin c_front_end` keeps those that differ.

#![allow(clippy::unwrap_used)] // A test fails by panicking.

use std::path::{Path, PathBuf};

use tests::fuzz;

fn files(folder: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .join(folder);
    let entries = std::fs::read_dir(&root).unwrap_or_else(|e| panic!("{}: {e}", root.display()));
    let paths = entries.map(|entry| entry.unwrap().path());
    let files: Vec<PathBuf> = paths.filter(|path| path.is_file()).collect();
    assert!(!files.is_empty(), "{} has no inputs", root.display());
    files
}

fn replay(folder: &str, check: fn(&[u8])) {
    for path in files(folder) {
        // The test's output names the input that did not pass.
        println!("{}", path.display());
        check(&std::fs::read(path).unwrap());
    }
}

#[test]
fn c_front_end() {
    replay("instrumenter/fuzz/corpus/c_front_end", fuzz::c_front_end);
    replay("fixtures/small", fuzz::c_front_end);
}

#[test]
fn fortran_front_end() {
    let check = fuzz::fortran_front_end;
    replay("instrumenter/fuzz/corpus/fortran_front_end", check);
    replay("fixtures/small", check);
    replay("fixtures/fortran", check);
}

#[test]
fn edit_engine() {
    replay("instrumenter/fuzz/corpus/edit_engine", fuzz::edit_engine);
    replay("fixtures/small", fuzz::edit_engine);
}
