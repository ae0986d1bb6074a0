//! The time for analysing and writing must not grow faster than the profile.

// The lint allows `unwrap` in tests, but not in their helper functions.
#![allow(clippy::unwrap_used)]

mod large;

use std::io;
use std::time::Duration;

use large::large;
use profile::analysis::Report;
use profile::model::Profile;
use profile::report::WRITERS;

/// Processor time of all threads of this process. It does not depend on other processes.
fn processor_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the time is written to a variable of ours.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    assert_eq!(failed, 0);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn time_of_everything(profile: &Profile) -> Duration {
    let start = processor_time();
    let report = Report::new(profile);
    for writer in WRITERS {
        (writer.write)(&report, &mut io::sink()).unwrap();
    }
    processor_time() - start
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
