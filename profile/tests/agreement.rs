//! All outputs take their data about causes from one list. So the kinds, places and amounts in
//! the headline, the text, the page, the JSON analysis, `romp check` and `romp diff` agree.

// The lint allows `unwrap` in tests, but not in their helper functions.
#![allow(clippy::unwrap_used)]

mod by_hand;
mod generated;

use by_hand::{SECOND, node, row, run};
use generated::profiles;
use profile::analysis::{CAUSE_KINDS, Report};
use profile::check::{Thresholds, check};
use profile::diff::{Noise, Status, diff};
use profile::model::{Code, Profile};
use profile::region_kind::{PseudoRegion, RegionKind};
use profile::report::WRITERS;
use profile::units::Percent;
use proptest::prelude::*;
use serde_json::Value;

use PseudoRegion::{Body, Ibarr, Main, Seq};

/// The number of causes that a text report describes in words.
const MOST_NAMED_CAUSES: usize = 5;

/// One cause in an output: its kind (if the output contains it), its place, and the elapsed
/// time to win in nanoseconds.
type Said = (Option<String>, String, u64);

fn written(report: &Report<'_>, format: &str) -> String {
    let writer = WRITERS.iter().find(|writer| writer.name == format).unwrap();
    let mut out = Vec::new();
    (writer.write)(report, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn of_json(report: &Report<'_>) -> Vec<Said> {
    let json: Value = serde_json::from_str(&written(report, "analysis")).unwrap();
    let said = json["causes"].as_array().unwrap().iter().map(|cause| {
        (
            Some(cause["kind"].as_str().unwrap().to_owned()),
            cause["where"].as_str().unwrap().to_owned(),
            cause["win"]["likely"]["ns"].as_u64().unwrap(),
        )
    });
    said.collect()
}

/// The causes on a page's first screen: `data-ns="7">... (upper bound 9 s), PLACE: ...`.
fn of_page(report: &Report<'_>) -> Vec<(String, u64)> {
    let page = written(report, "html");
    let gains = page.split("<b class=\"gain\" data-ns=\"").skip(1);
    let said = gains.map(|text| {
        let (ns, rest) = text.split_once('"').unwrap();
        let (_, place) = rest.split_once(" (upper bound ").unwrap();
        let (_, place) = place.split_once(", ").unwrap();
        let place = place.lines().next().unwrap();
        let place = match place.strip_prefix("<a ") {
            Some(link) => {
                link.split_once('>')
                    .unwrap()
                    .1
                    .split_once("</a>")
                    .unwrap()
                    .0
            }
            None => place.split_once(": ").unwrap().0,
        };
        (unescaped(place), ns.parse().unwrap())
    });
    said.collect()
}

fn unescaped(text: &str) -> String {
    let text = text.replace("&quot;", "\"").replace("&#39;", "'");
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
}

/// The subject (title and place) of each check against a limit of 0 %.
fn of_check(profile: &Profile) -> Vec<String> {
    let thresholds = Thresholds {
        max_win: Some(Percent(0.0)),
        ..Thresholds::default()
    };
    let checked = check(profile, None, &thresholds).unwrap();
    let causes = checked
        .checks
        .iter()
        .filter(|check| check.threshold == "max-win");
    causes.map(|check| check.subject.clone()).collect()
}

/// The causes in a comparison, all of which must have the given status.
fn of_diff(before: &Profile, after: &Profile, is: Status) -> Vec<Said> {
    let mut changes = diff(before, after, Noise::default()).causes;
    assert!(changes.iter().all(|change| change.status == is));
    changes.sort_by_key(|change| std::cmp::Reverse(change.after.median));
    let said = changes.into_iter().map(|change| {
        let (kind, place) = (change.kind.row().name, change.place);
        (Some(kind.to_owned()), place, change.after.median)
    });
    said.collect()
}

/// The first disagreement between the outputs for a run.
fn disagreement(profile: &Profile) -> Option<String> {
    let report = Report::new(profile);
    let json = of_json(&report);
    let title = |said: &Said| {
        let name = said.0.as_deref();
        let row = CAUSE_KINDS
            .iter()
            .find(|row| Some(row.name) == name)
            .unwrap();
        row.kind.at(&said.1)
    };
    let words: Vec<(String, u64)> = json.iter().map(|said| (said.1.clone(), said.2)).collect();
    let said = words.len().min(MOST_NAMED_CAUSES);
    let differ = |what: &str, of: String| Some(format!("{what} {of}, JSON {json:?}"));

    let page = of_page(&report);
    if page != words[..said] {
        return differ("page", format!("{page:?}"));
    }
    let text = written(&report, "text").replace("\n  ", " ");
    for (number, (place, _)) in (1..).zip(&words[..said]) {
        let lines = report.summary.lines.iter();
        let of_cause = lines
            .clone()
            .find(|line| line.starts_with(&format!("{number}. ")));
        let line = of_cause.map_or("", String::as_str);
        if !line.contains(place.as_str()) || !text.contains(line) {
            return differ("text", format!("{number}: {line}"));
        }
    }
    let headline = &report.summary.headline;
    let first = words.first().map_or("", |(place, _)| place.as_str());
    if headline.starts_with("Most to win") && !headline.contains(first) {
        return differ("headline", headline.clone());
    }
    let mut titles: Vec<String> = json.iter().map(title).collect();
    let mut checked = of_check(profile);
    titles.sort();
    checked.sort();
    // Each cause violates a limit of 0 %.
    if checked != titles {
        return differ("check", format!("{checked:?}"));
    }
    let same = |is: &[Said]| {
        let same = |(one, other): (&Said, &Said)| {
            one.0 == other.0 && one.1.starts_with(&other.1) && one.2 == other.2
        };
        is.len() == json.len() && is.iter().zip(&json).all(same)
    };
    let both = of_diff(profile, profile, Status::Both);
    if !same(&both) {
        return differ("diff", format!("{both:?}"));
    }
    None
}

/// A run of 100 s with a parallel region of 80 s and, in it, a loop with this work in seconds.
fn uneven(work: [u64; 2]) -> Profile {
    let mut profile = run(
        &[RegionKind::Parallel, RegionKind::Loop],
        &[&[0], &[0, 0], &[0, 1]],
    );
    let member = |thread| row(thread, &[(Main, 80), (Body, 80)]);
    let rows = vec![row(0, &[(Seq, 80)]), member(1), member(2)];
    let longest = work[0].max(work[1]);
    let times = [1, 2].into_iter().zip(work);
    let times = times.map(|(thread, work)| {
        let wait = longest - work;
        row(thread, &[(Main, longest), (Body, work), (Ibarr, wait)])
    });
    profile.nodes = vec![
        node(None, 0, Body, rows),
        node(Some(0), 1, Body, times.collect()),
    ];
    profile
}

#[test]
fn kept_profiles_have_one_list_of_causes() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/profiles");
    let mut causes = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let profile = profile::load::load(&path).unwrap();
        assert_eq!(disagreement(&profile), None, "{}", path.display());
        causes += of_json(&Report::new(&profile)).len();
    }
    assert!(causes > 3);
}

#[test]
fn a_comparison_tells_which_causes_went_and_came() {
    let (uneven, even) = (uneven([60, 20]), uneven([40, 40]));
    let only = |before: &Profile, after: &Profile| {
        let mut causes = diff(before, after, Noise::default()).causes;
        causes.retain(|change| change.kind.row().name == "imbalance");
        assert_eq!(causes.len(), 1);
        let cause = causes.remove(0);
        (
            cause.status,
            cause.before.median,
            cause.after.median,
            cause.noise,
        )
    };
    let win = 20 * SECOND;
    assert_eq!(only(&uneven, &even), (Status::Vanished, win, 0, false));
    assert_eq!(only(&even, &uneven), (Status::New, 0, win, false));
    assert_eq!(only(&uneven, &uneven), (Status::Both, win, win, true));
    let verdict = diff(&uneven, &even, Noise::default()).verdict;
    assert!(
        verdict.contains("uneven work at the implicit barrier of the LOOP"),
        "{verdict}"
    );
    assert!(
        verdict.contains("is gone, 20.0 s to win before"),
        "{verdict}"
    );
}

#[test]
fn a_cause_is_known_again_where_its_lines_moved() {
    let before = uneven([60, 20]);
    let mut after = uneven([60, 20]);
    for region in &mut after.regions {
        (region.begin, region.end) = ([115, 115], [118, 118]);
    }
    let causes = diff(&before, &after, Noise::default()).causes;
    assert!(causes.iter().all(|change| change.status == Status::Both));
    assert!(causes.iter().any(|change| change.place.contains("a.c:115")));
}

#[test]
fn the_changes_of_causes_are_medians_of_the_runs() {
    let before = [uneven([60, 20]), uneven([61, 19]), uneven([40, 40])];
    let after = [uneven([40, 40]), uneven([60, 20]), uneven([40, 40])];
    let found = profile::diff::diff_runs(&before, &after, Noise::default());
    let of_loop = |change: &&profile::diff::CauseChange| change.kind.row().name == "imbalance";
    let change = found.causes.iter().find(of_loop).unwrap();
    assert_eq!(
        (change.before.median, change.after.median),
        (20 * SECOND, 0)
    );
    // Both intervals contain all of their runs, and overlap.
    assert!(change.noise);
    assert_eq!((change.after.low, change.after.high), (0, 20 * SECOND));
}

#[test]
fn one_cause_may_win_so_much() {
    let limit = |percent| {
        let thresholds = Thresholds {
            max_win: Some(Percent(percent)),
            ..Thresholds::default()
        };
        let checked = check(&uneven([60, 20]), None, &thresholds).unwrap();
        let violations = checked.violations().map(|check| check.message.clone());
        violations.collect::<Vec<_>>()
    };
    assert_eq!(limit(20.5), Vec::<String>::new());
    let [message] = &limit(19.5)[..] else {
        panic!("{:?}", limit(19.5));
    };
    assert!(
        message.contains("20.00 % (more than 19.5 %) of the run can be won"),
        "{message}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn generated_profiles_have_one_list_of_causes(profile in profiles()) {
        prop_assert_eq!(disagreement(&profile), None);
    }
}

/// `romp run` knows no lines of a program without debug information.
#[test]
fn a_comparison_without_source_lines_says_how_to_get_them() {
    let rebuilt = uneven([60, 20]);
    let mut outside = rebuilt.clone();
    for region in &mut outside.regions {
        region.file = String::new();
        (region.begin, region.end) = ([0, 0], [0, 0]);
        region.function = Some("solve".to_owned());
        region.code = Some(Code {
            module: "/home/u/app".to_owned(),
            offset: 16,
            symbol: None,
        });
    }
    let list = Report::new(&outside).causes.list;
    assert!(list[0].place.words.ends_with("LOOP in solve"), "{list:?}");
    let diff = diff(&rebuilt, &outside, Noise::default());
    assert!(diff.verdict.contains("built with -g"), "{}", diff.verdict);
    let mut text = Vec::new();
    (profile::diff::WRITERS[0].write)(&diff, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("LOOP app in solve"), "{text}");
}
