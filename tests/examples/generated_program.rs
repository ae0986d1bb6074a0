//! Prints the generated program of a seed:
//! `cargo run -p tests --example generated_program -- SEED [c|cxx|f90|F90|f|F]`.

use std::process::ExitCode;

use tests::generate::fortran::{self, Layout};
use tests::generate::{Dialect, program};

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let Some(seed) = words.next().and_then(|seed| seed.parse().ok()) else {
        eprintln!("usage: generated_program SEED [c|cxx|f90|F90|f|F]");
        return ExitCode::from(2);
    };
    let kind = words.next().unwrap_or_default();
    let fortran = Layout::ALL
        .into_iter()
        .find(|layout| layout.extension() == kind);
    print!(
        "{}",
        match fortran {
            Some(layout) => fortran::program(seed, layout),
            None if kind == "cxx" => program(seed, Dialect::Cxx),
            None => program(seed, Dialect::C),
        }
    );
    ExitCode::SUCCESS
}
