//! Prints the generated program of a seed:
//! `cargo run -p tests --example generated_program -- SEED [c|cxx]`.

use std::process::ExitCode;

use tests::generate::{Dialect, program};

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let Some(seed) = words.next().and_then(|seed| seed.parse().ok()) else {
        eprintln!("usage: generated_program SEED [c|cxx]");
        return ExitCode::from(2);
    };
    let dialect = match words.next().as_deref() {
        Some("cxx") => Dialect::Cxx,
        _ => Dialect::C,
    };
    print!("{}", program(seed, dialect));
    ExitCode::SUCCESS
}
