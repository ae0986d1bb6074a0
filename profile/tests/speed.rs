//! Analysing and writing must not grow faster than the profile.

// The lint lets tests unwrap, but not what helps them.
#![allow(clippy::unwrap_used)]

mod large;

use std::io;
use std::time::{Duration, Instant};

use large::large;
use profile::analysis::Report;
use profile::model::Profile;
use profile::report::WRITERS;

fn time_of_everything(profile: &Profile) -> Duration {
    let start = Instant::now();
    let report = Report::new(profile);
    for writer in WRITERS {
        (writer.write)(&report, &mut io::sink()).unwrap();
    }
    start.elapsed()
}

#[test]
fn cost_grows_with_the_size_alone() {
    for chained in [false, true] {
        let small = large(100, 16, chained);
        let big = large(1000, 16, chained);
        let best = |profile| (0..3).map(|_| time_of_everything(profile)).min().unwrap();
        let (small, big) = (best(&small), best(&big));
        // Ten times the size; a hundred times the cost would be quadratic.
        assert!(big < 40 * small, "chained: {chained}, {small:?} -> {big:?}");
    }
}
