//! What must hold of every analysed run, tried on generated ones.

// The lint lets tests unwrap, but not what helps them.
#![allow(clippy::unwrap_used)]

mod generated;
mod sums;

use generated::profiles;
use profile::analysis::Report;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn sums_agree_and_no_part_is_more_than_its_whole(profile in profiles()) {
        prop_assert_eq!(sums::contradictions(&Report::new(&profile)), Vec::<String>::new());
    }

    #[test]
    fn every_format_can_be_written(profile in profiles()) {
        let report = Report::new(&profile);
        for writer in profile::report::WRITERS {
            let mut out = Vec::new();
            (writer.write)(&report, &mut out).unwrap();
            prop_assert!(out.ends_with(b"\n"));
        }
        prop_assert!(!report.summary.headline.contains('\n'));
    }

    /// At the end of a measured program a wrong profile must do no harm.
    #[test]
    fn nonsense_is_survived(mut profile in profiles(), wrong in 0..9_usize, which in 0..50_usize) {
        if let Some(node) = profile.nodes.get_mut(which) {
            node.parent = Some(wrong);
            node.region += wrong / 2;
            if let Some(row) = node.rows.first_mut() {
                row.thread += wrong;
                row.main.ns = u64::MAX >> (wrong * 6 + 10);
            }
        }
        profile.threads.truncate(wrong + 1);
        profile.run.max_threads = 0;
        let report = Report::new(&profile);
        for writer in profile::report::WRITERS {
            (writer.write)(&report, &mut std::io::sink()).unwrap();
        }
    }
}
