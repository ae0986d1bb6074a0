//! How long a measured program waits at its end for its profile to be saved:
//! `cargo run --release -p profile --example exit_time`.

#[path = "../tests/large/mod.rs"]
mod large;

use std::time::Instant;

use profile::analysis::Report;
use profile::report::WRITERS;
use profile::save::{SaveOptions, save};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for (regions, threads) in [(1000, 4), (10, 256), (1000, 256)] {
        let profile = large::large(regions, threads, false);
        let start = Instant::now();
        let report = Report::new(&profile);
        println!("{regions} regions x {threads} threads");
        println!("  analysis {:>8.1?}", start.elapsed());
        for writer in WRITERS {
            let mut out = Vec::new();
            let start = Instant::now();
            (writer.write)(&report, &mut out)?;
            println!(
                "  {:<8} {:>8.1?}, {} KB",
                writer.name,
                start.elapsed(),
                out.len() / 1000
            );
        }
        let directory = std::env::temp_dir().join(format!("romp-exit-{}", std::process::id()));
        let options = SaveOptions {
            directory: directory.clone(),
            application: "x".to_owned(),
            rank: None,
        };
        let start = Instant::now();
        save(&profile, &options)?;
        println!("  saving   {:>8.1?}", start.elapsed());
        std::fs::remove_dir_all(directory)?;
    }
    Ok(())
}
