//! The text report of a large run is short enough to read. That of a small run is complete.

// The lint allows `unwrap` in tests, but not in their helper functions.
#![allow(clippy::unwrap_used)]

mod large;

use std::path::Path;

use large::large;
use profile::analysis::{Report, Selection};
use profile::model::{Profile, Region, Span};
use profile::region_kind::PseudoRegion;
use profile::report::{Style, text};

/// Long, but a reader can still page through it.
const READABLE: usize = 700;

fn written(profile: &Profile, style: Style) -> String {
    let mut out = Vec::new();
    text::write_styled(&Report::new(profile), style, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

const WHOLE: Style = Style {
    is_whole: true,
    width: None,
    has_colour: false,
};

#[test]
fn a_large_run_has_a_short_report_and_a_whole_one() {
    for chained in [false, true] {
        let profile = large(300, 64, chained);
        let short = written(&profile, Style::default());
        let lines = short.lines().count();
        assert!(lines < READABLE, "{lines} lines, chained: {chained}");
        assert!(short.contains("the 20 regions with most to win of 300; romp report --all"));
        let whole = written(&profile, WHOLE);
        assert!(whole.lines().count() > 20_000);
        assert!(
            !whole.contains("--all"),
            "it does not say that there is more"
        );
        for region in 1..=300 {
            assert!(whole.contains(&format!("R{region:05}")), "{region}");
        }
    }
}

/// A run reaches few of the constructs of a large program.
#[test]
fn constructs_that_did_not_run_are_counted() {
    let mut profile = large(3, 4, false);
    let idle = profile.regions[1].clone();
    profile.regions.extend((0..40).map(|line| Region {
        begin: [1000 + line, 1000 + line],
        end: [1000 + line, 1000 + line],
        ..idle.clone()
    }));
    let short = written(&profile, Style::default());
    assert!(
        short.contains("the regions that ran; romp report --all"),
        "{short}"
    );
    assert!(short.contains(" * and 40 that did not run\n"), "{short}");
    assert!(!short.contains("1007"), "{short}");
    let whole = written(&profile, WHOLE);
    assert!(
        whole.contains("1007") && !whole.contains("--all"),
        "{whole}"
    );
    let shown = short.lines().count() + 40;
    assert_eq!(whole.lines().count(), shown - 2);
}

#[test]
fn the_same_advice_is_given_once() {
    let text = written(&large(10, 4, false), WHOLE);
    let (_, properties) = text.split_once("Properties Report").unwrap();
    let (properties, _) = properties.split_once("Romp Parallel Efficiency").unwrap();
    let properties = properties.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(properties.matches("Property P").count(), 9, "{properties}");
    assert_eq!(properties.matches("do less inside").count(), 1);
    assert_eq!(properties.matches("; see above.").count(), 8);
}

#[test]
fn a_region_that_the_user_asks_for_is_shown_whole() {
    let profile = large(300, 64, false);
    let mut report = Report::new(&profile);
    let selection = Selection {
        regions: vec!["R00299".to_owned()],
        ..Selection::default()
    };
    report.select(&selection).unwrap();
    let mut out = Vec::new();
    text::write(&report, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.contains("\n0->63 "), "{text}");
    assert!(!text.contains("--all shows"), "{text}");
}

#[test]
fn what_is_small_is_shown_whole() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/profiles");
    let mut number = 0;
    for file in folder.read_dir().unwrap() {
        let profile = profile::load::load(&file.unwrap().path()).unwrap();
        assert_eq!(
            written(&profile, Style::default()),
            written(&profile, WHOLE)
        );
        number += 1;
    }
    assert!(number > 0);
    let fifteen = large(15, 16, false);
    assert_eq!(
        written(&fifteen, Style::default()),
        written(&fifteen, WHOLE)
    );
}

/// The table of a region in the flat profile.
fn table<'t>(text: &'t str, region: &str) -> Vec<&'t str> {
    let (_, flat) = text.split_once("Flat Region Profile").unwrap();
    let lines = flat.lines().skip_while(|line| !line.starts_with(region));
    lines.skip(1).take_while(|line| !line.is_empty()).collect()
}

#[test]
fn of_many_threads_those_unlike_the_others_are_named() {
    let mut profile = large(3, 64, false);
    let even = written(&profile, Style::default());
    let first = |lines: &[&str]| -> Vec<String> {
        let words = lines
            .iter()
            .filter_map(|line| line.split_whitespace().next());
        words.map(str::to_owned).collect()
    };
    let rows = first(&table(&even, "R00002"));
    assert_eq!(rows, ["TID", "MIN", "MEAN", "MAX", "SUM"], "{even}");
    for row in &mut profile.nodes[1].rows {
        if row.thread == 18 {
            let ns = row.span(PseudoRegion::Body).ns * 3;
            *row = row
                .clone()
                .with(PseudoRegion::Body, Span { count: 12_345, ns });
            let main = row.main.ns + ns;
            *row = row.clone().with(
                PseudoRegion::Main,
                Span {
                    count: 12_345,
                    ns: main,
                },
            );
        }
    }
    let uneven = written(&profile, Style::default());
    let rows = first(&table(&uneven, "R00002"));
    let expected = ["TID", "MIN", "MEAN", "MAX", "SUM", "Unlike", "0->17"];
    assert_eq!(rows, expected, "{uneven}");
}

#[test]
fn on_a_terminal_no_line_is_longer_than_the_screen() {
    for width in [70, 80, 100, 200] {
        let style = Style {
            width: Some(width),
            ..Style::default()
        };
        let text = written(&large(30, 20, true), style);
        let longest = text.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(longest <= width, "{longest} of {width}");
        // Figures of overheads are not truncated if there is no space for times and
        // percentages.
        let narrow = text.lines().filter(|line| line.contains("Ovhds"));
        assert!(narrow.clone().count() > 0);
        for line in narrow {
            assert!(line.contains("Mgmt"), "{width}: {line}");
        }
    }
}

#[test]
fn colour_is_used_sparingly_and_takes_no_room() {
    let profile = large(3, 4, false);
    let coloured = Style {
        has_colour: true,
        ..Style::default()
    };
    let with = written(&profile, coloured);
    let plain = written(&profile, Style::default());
    assert_eq!(with.replace("\x1b[1m", "").replace("\x1b[0m", ""), plain);
    let strong = with.lines().filter(|line| line.starts_with('\x1b')).count();
    assert!(0 < strong && strong < 20, "{strong}");
}
