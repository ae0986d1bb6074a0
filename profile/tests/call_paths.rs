//! The text report of a run with more call paths than anybody reads.

// The lint allows `unwrap` in tests, but not in their helper functions.
#![allow(clippy::unwrap_used)]

mod by_hand;

use by_hand::{node, row, run};
use profile::analysis::Report;
use profile::model::{Node, Profile};
use profile::region_kind::{PseudoRegion, RegionKind};
use profile::report::{Style, text};

const SHOWN: usize = 500;

/// A function that calls this many others. Later ones take longer.
fn callers_of(callees: u64) -> Profile {
    let mut profile = run(&vec![RegionKind::User; callees as usize + 1], &[&[0]]);
    let took = |seconds| vec![row(0, &[(PseudoRegion::Main, seconds)])];
    let called =
        |index: u64| -> Node { node(Some(0), index as usize, PseudoRegion::Body, took(index)) };
    profile.nodes = vec![node(None, 0, PseudoRegion::Body, took(10_000_000))];
    profile.nodes.extend((1..=callees).map(called));
    profile
}

fn whole(profile: &Profile) -> String {
    let mut out = Vec::new();
    let style = Style {
        is_whole: true,
        ..Style::default()
    };
    text::write_styled(&Report::new(profile), style, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// The lines of a section.
fn section<'t>(text: &'t str, title: &str) -> Vec<&'t str> {
    let lines = text.lines().skip_while(|line| !line.contains(title));
    let lines = lines.skip(2);
    lines.take_while(|line| !line.starts_with("----")).collect()
}

fn tables(text: &str) -> usize {
    let lines = section(text, "Romp Callgraph Region Profiles");
    lines
        .iter()
        .filter(|line| line.starts_with("[*00]"))
        .count()
}

#[test]
fn all_call_paths_of_a_usual_run_are_shown() {
    let text = whole(&callers_of(SHOWN as u64 - 1));
    assert_eq!(tables(&text), SHOWN);
    assert!(!text.contains("call paths with most time"));
    let last = section(&text, "Romp Callgraph ")
        .into_iter()
        .rfind(|line| line.contains("+-"));
    assert!(last.unwrap().contains("R00002"), "{last:?}");
}

#[test]
fn of_very_many_call_paths_those_with_most_time_are_shown() {
    let text = whole(&callers_of(3000));
    assert_eq!(tables(&text), SHOWN);
    let graph = section(&text, "Romp Callgraph ");
    let words = graph.join(" ").replace("  ", " ");
    assert!(
        words.contains("The 500 of 3001 call paths with most time are shown"),
        "{words}"
    );
    let callees: Vec<&&str> = graph.iter().filter(|line| line.contains("  |-")).collect();
    assert_eq!(callees.len(), SHOWN - 2);
    assert!(callees[0].contains("R03001"), "{}", callees[0]);
    let last: Vec<&&str> = graph
        .iter()
        .filter(|line| line.contains("      +-"))
        .collect();
    assert_eq!(last.len(), 1, "{last:?}");
    assert!(last[0].contains("R02503"), "{}", last[0]);
}
