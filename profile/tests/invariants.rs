//! Properties that must hold for every analysed run, tested on generated runs.

// The lint allows `unwrap` in tests, but not in their helper functions.
#![allow(clippy::unwrap_used)]

mod generated;
mod sums;

use generated::profiles;
use profile::analysis::Report;
use profile::model::{Contention, ContentionSite, GuardKind, Profile};
use profile::printable::is_command;
use proptest::prelude::*;

/// Replaces all names that a program can choose.
fn rename(profile: &mut Profile, name: &str) {
    let run = &mut profile.run;
    for text in [&mut run.application, &mut run.host, &mut run.clock] {
        name.clone_into(text);
    }
    run.notes = vec![name.to_owned()];
    run.annotations = [(name.to_owned(), name.to_owned())].into();
    for region in &mut profile.regions {
        for text in [
            &mut region.name,
            &mut region.function,
            &mut region.directive,
            &mut region.schedule,
        ] {
            *text = Some(name.to_owned());
        }
        region.unsplit = region.unsplit.as_ref().map(|_| name.to_owned());
        name.clone_into(&mut region.file);
    }
    let region = 0..profile.regions.len().min(1);
    profile.contention = region
        .map(|region| Contention {
            kind: GuardKind::Critical,
            name: name.to_owned(),
            members: 1,
            sites: vec![ContentionSite {
                region,
                waited: 1,
                acquisitions: 1,
                wait_ns: 1,
                max_wait_ns: 1,
                hold_ns: 1,
                holders: Vec::new(),
            }],
        })
        .collect();
}

/// The page's own script contains tabs.
fn is_own_tab(writer: &str, c: char) -> bool {
    writer == "html" && c == '\t'
}

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
            prop_assert!(out.ends_with(b"\n") || writer.extension == "tar");
        }
        prop_assert!(!report.summary.headline.contains('\n'));
    }

    /// A source can choose its file names, and a program the names of its regions. A terminal
    /// must not execute commands in them.
    #[test]
    fn no_writer_passes_commands_on(mut profile in profiles(), name in "[\\PC\u{1b}\u{9b}\u{7f}\u{202e}\n\r\t,\"=<]{1,12}") {
        rename(&mut profile, &name);
        let report = Report::new(&profile);
        for writer in profile::report::WRITERS {
            let mut out = Vec::new();
            (writer.write)(&report, &mut out).unwrap();
            let text = String::from_utf8(out).unwrap();
            let is_bad = |c: char| is_command(c) && c != '\n' && !is_own_tab(writer.name, c);
            // An archive is padded with zeros.
            let is_filler = |c: char| writer.extension == "tar" && c == '\0';
            let is_bad = |c: char| is_bad(c) && !is_filler(c);
            let bad = text.lines().find(|line| line.contains(is_bad));
            prop_assert_eq!(bad, None, "{}", writer.name);
        }
        prop_assert!(!report.summary.headline.contains(is_command));
        prop_assert!(!report.summary.lines.iter().any(|line| line.contains(is_command)));
        let ends = |profile: &profile::model::Profile| {
            let mut out = Vec::new();
            profile::report::text::write(&Report::new(profile), &mut out).unwrap();
            out.iter().filter(|c| **c == b'\n').count()
        };
        let with_ends = ends(&profile);
        rename(&mut profile, &name.replace(['\n', '\r'], "\t"));
        prop_assert_eq!(with_ends, ends(&profile));
    }

    /// An invalid profile at the end of a measured program must do no harm.
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
