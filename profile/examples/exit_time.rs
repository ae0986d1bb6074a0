//! The time that a measured program waits at its end until its profile is saved:
//! `cargo run --release -p profile --example exit_time`. Each figure is the minimum of
//! several measurements, since other work on the machine only adds time.

#[path = "../tests/large/mod.rs"]
mod large;

use std::time::{Duration, Instant};

use profile::analysis::Report;
use profile::report::WRITERS;
use profile::save::{SaveOptions, save};

const REPETITIONS: usize = 7;

/// The shortest time of several executions.
fn least<E>(mut work: impl FnMut() -> Result<(), E>) -> Result<Duration, E> {
    let mut least = Duration::MAX;
    for _ in 0..REPETITIONS {
        let start = Instant::now();
        work()?;
        least = least.min(start.elapsed());
    }
    Ok(least)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for (regions, threads) in [(1000, 4), (10, 256), (1000, 256)] {
        let profile = large::large(regions, threads, false);
        println!("{regions} regions x {threads} threads");
        let analysis = least(|| {
            let _ = Report::new(&profile);
            Ok::<(), std::io::Error>(())
        })?;
        println!("  analysis {analysis:>8.1?}");
        let report = Report::new(&profile);
        for writer in WRITERS {
            let mut size = 0;
            let time = least(|| {
                let mut out = Vec::with_capacity(size);
                let written = (writer.write)(&report, &mut out);
                size = out.len();
                written
            })?;
            println!("  {:<8} {time:>8.1?}, {} KB", writer.name, size / 1000);
        }
        let directory = std::env::temp_dir().join(format!("romp-exit-{}", std::process::id()));
        let options = SaveOptions {
            number: None,
            directory: directory.clone(),
            application: "x".to_owned(),
            rank: None,
        };
        let saving = least(|| save(&profile, &options).map(drop))?;
        println!("  saving   {saving:>8.1?}");
        std::fs::remove_dir_all(directory)?;
    }
    Ok(())
}
