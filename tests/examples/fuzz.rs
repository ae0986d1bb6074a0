//! Looks for inputs that fail:
//! `cargo run --profile soak -p tests --example fuzz -- TARGET --inputs N --seed S`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use tests::fuzz::pool::{Input, Pool};
use tests::fuzz::supervise::{Order, supervise};
use tests::fuzz::worker::{self, Share};
use tests::fuzz::{TARGETS, Target, target};

/// Makes up inputs from a seed and checks what must be true of each
#[derive(Debug, Parser)]
struct Arguments {
    /// What is fuzzed; without it, a list of the targets
    target: Option<String>,
    /// How many inputs
    #[arg(long, default_value_t = 100_000)]
    inputs: u64,
    /// The same seed gives the same inputs
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many processes share the inputs
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=256))]
    jobs: u64,
    /// The folder for inputs that fail (default: target/fuzz/TARGET)
    #[arg(long)]
    failures: Option<PathBuf>,
    /// Print the input of a number
    #[arg(long, value_name = "NUMBER")]
    show: Option<u64>,
    /// Check the input in a file, in each way or in that of --variant
    #[arg(long, value_name = "FILE")]
    check: Option<PathBuf>,
    /// A way of checking
    #[arg(long)]
    variant: Option<u64>,
    /// Check inputs from this one on, as one of the processes
    #[arg(long, hide = true, requires = "progress")]
    first: Option<u64>,
    #[arg(long, hide = true)]
    progress: Option<PathBuf>,
}

fn main() -> std::io::Result<ExitCode> {
    let arguments = Arguments::parse();
    let Some(target) = arguments.target.as_deref().and_then(target) else {
        for target in TARGETS {
            println!("{:12} {}", target.name, target.about);
        }
        return Ok(ExitCode::from(2));
    };
    if let Some(file) = &arguments.check {
        return check(target, file, arguments.variant);
    }
    if let Some(number) = arguments.show {
        let input = Pool::new(target).input(arguments.seed, number);
        eprintln!("variant {}", input.variant);
        std::io::Write::write_all(&mut std::io::stdout(), &input.bytes)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let (Some(first), Some(progress)) = (arguments.first, &arguments.progress) {
        let share = Share {
            seed: arguments.seed,
            first,
            step: arguments.jobs,
            end: arguments.inputs,
        };
        worker::work(target, share, progress)?;
        return Ok(ExitCode::SUCCESS);
    }
    all(target, arguments)
}

/// One line for each way in which a file fails.
fn check(target: &Target, file: &PathBuf, variant: Option<u64>) -> std::io::Result<ExitCode> {
    let bytes = std::fs::read(file)?;
    let variants = variant.map_or(0..target.variants, |variant| variant..variant + 1);
    let mut status = ExitCode::SUCCESS;
    for number in variants {
        let bytes = bytes.clone();
        let input = Input {
            bytes,
            variant: number,
        };
        if let Some(kind) = worker::failure(target, &input) {
            match variant {
                Some(_) => println!("{kind}"),
                None => println!("variant {number}: {kind}"),
            }
            status = ExitCode::FAILURE;
        }
    }
    Ok(status)
}

fn all(target: &'static Target, arguments: Arguments) -> std::io::Result<ExitCode> {
    let failures = arguments.failures.unwrap_or_else(|| {
        let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../target/fuzz"));
        root.join(target.name)
    });
    let summary = supervise(&Order {
        target,
        inputs: arguments.inputs,
        seed: arguments.seed,
        jobs: arguments.jobs,
        failures,
    })?;
    for (kind, count) in &summary.failures {
        println!("{count} inputs: {kind}");
    }
    let failed: u64 = summary.failures.values().sum();
    let seconds = summary.took.as_secs_f64();
    println!(
        "{}: {} inputs, {failed} failed, {seconds:.0} s",
        target.name, summary.inputs
    );
    Ok(match failed {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}
