//! What critical sections cost, on small runs whose win is computed by hand.

#![allow(clippy::unwrap_used)] // A test fails by panicking, also in its helpers.

mod by_hand;
mod team;

use by_hand::node;
use profile::analysis::CauseKind;
use profile::region_kind::{PseudoRegion, RegionKind};
use team::{found, team, times};

use PseudoRegion::{Body, Enter, Main};

/// Each of two threads spends 20 s before a section, and 40 s in it. Without the section its data stay in
/// each processor's cache, but no more than 80 ns of each body are taken to be for that.
#[test]
fn a_short_section_also_wins_the_time_for_its_data() {
    let won = |entries: u64, processors: u32| {
        let member = |thread| {
            times(thread, Main, entries, 60)
                .with(Enter, times(thread, Main, entries, 20).main)
                .with(Body, times(thread, Main, entries, 40).main)
        };
        let critical = node(Some(0), 1, Body, vec![member(1), member(2)]);
        let mut profile = team(&[RegionKind::Critical], vec![critical]);
        profile.run.processors = processors;
        found(&profile)
    };
    let critical = |seconds| vec![(CauseKind::Critical, Some(1), seconds)];
    // Entries of 2 us and bodies of 4 us; then of 200 ns and 400 ns, and of 20 ns and 40 ns.
    assert_eq!(won(10_000_000, 2), critical(21));
    assert_eq!(won(100_000_000, 2), critical(28));
    assert_eq!(won(1_000_000_000, 2), critical(40));
    // A processor that both threads share keeps the data.
    assert_eq!(won(100_000_000, 1)[0], critical(20)[0]);
}
