//! Fuzzing: inputs are made from a seed and mutated, and then checked for properties that
//! every input must have.
//!
//! `cargo run --profile soak -p tests --example fuzz -- TARGET --inputs 1000000`
//! looks for inputs that fail; an ordinary test (`tests/fuzz_corpus.rs`) repeats
//! those that were worth keeping.
//!
//! A [`Target`] is a row of [`TARGETS`]. [`pool`] makes its inputs, each from the
//! seed and its number alone; [`worker`] checks one after the other in a process of
//! its own; [`supervise`] starts those processes, and counts the death of a process as a
//! failure of its input; [`minimise`] makes a failing input small.

pub mod make;
pub mod minimise;
pub mod pool;
pub mod saved;
pub mod sources;
pub mod supervise;
pub mod trace;
pub mod words;
pub mod worker;

use crate::random::Random;

/// A part of Romp that must accept any input.
#[derive(Debug)]
pub struct Target {
    /// The word for it on the command line, and its folder in `fixtures/fuzz`.
    pub name: &'static str,
    /// What is checked, in a line.
    pub about: &'static str,
    /// Files that inputs are mutated from, besides the target's folder in `fixtures/fuzz`.
    pub seeds: &'static [Seeds],
    /// Words with a meaning for the reader, which mutations insert.
    pub words: fn() -> Vec<Vec<u8>>,
    /// Makes an input from a grammar; none if all inputs are mutated from seeds.
    pub make: Option<fn(&mut Random) -> Vec<u8>>,
    /// How many ways there are to check an input: options, forms, languages.
    pub variants: u64,
    /// Checks an input in one of the ways; panics if something is not as it must be.
    pub check: fn(&[u8], u64),
}

/// Files to begin from.
#[derive(Debug)]
pub struct Seeds {
    /// The folder, from the root of the repository.
    pub folder: &'static str,
    /// The extensions of the files; any if there are none.
    pub extensions: &'static [&'static str],
}

/// What can be fuzzed.
pub const TARGETS: &[Target] = &[
    Target {
        name: "c",
        about: "C and C++ sources, instrumented and verified",
        seeds: &[
            Seeds {
                folder: "fixtures/c",
                extensions: &["c", "h"],
            },
            Seeds {
                folder: "fixtures/cxx",
                extensions: &["cpp", "hpp", "h"],
            },
            Seeds {
                folder: "fixtures/small",
                extensions: &["c", "cpp", "h"],
            },
        ],
        words: words::c,
        make: Some(make::c),
        variants: sources::C_VARIANTS,
        check: sources::c_front_end,
    },
    Target {
        name: "fortran",
        about: "Fortran sources in each form, instrumented and verified",
        seeds: &[
            Seeds {
                folder: "fixtures/fortran",
                extensions: &["f", "f90", "F", "F90", "h"],
            },
            Seeds {
                folder: "fixtures/small",
                extensions: &["f", "f90", "F", "F90"],
            },
        ],
        words: words::fortran,
        make: Some(make::fortran),
        variants: sources::FORTRAN_VARIANTS,
        check: sources::fortran_front_end,
    },
    Target {
        name: "edits",
        about: "Texts, their tokens, and edits of them",
        seeds: &[Seeds {
            folder: "fixtures/small",
            extensions: &[],
        }],
        words: words::c,
        make: None,
        variants: 1,
        check: sources::edit_engine,
    },
    Target {
        name: "profile",
        about: "Saved profiles, read, analysed, merged, compared and written",
        seeds: &[],
        words: saved::words,
        make: Some(saved::make),
        variants: saved::VARIANTS,
        check: saved::profiles,
    },
    Target {
        name: "trace",
        about: "Traces, read, replayed, analysed and exported",
        seeds: &[],
        words: Vec::new,
        make: Some(trace::make),
        variants: trace::VARIANTS,
        check: trace::traces,
    },
];

/// The target of a name.
#[must_use]
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
