//! Reports of a selected part of a profile.

use super::sections::sections;
use super::*;

fn selected<'p>(profile: &'p Profile, selection: &Selection) -> Report<'p> {
    let mut report = Report::new(profile);
    report.select(selection).unwrap();
    report
}

#[test]
fn a_selection_keeps_what_matches_and_its_callers() {
    let profile = wait(Kind::Loop);
    let selection = Selection {
        regions: vec!["*:15".to_owned(), "nobody".to_owned()],
        threads: vec!["0->1".to_owned()],
        ..Selection::default()
    };
    let report = selected(&profile, &selection);
    assert_eq!(report.flat.len(), 2);
    assert!(report.flat.iter().all(|table| table.threads == [2]));
    let selection = Selection {
        regions: vec!["R00002".to_owned()],
        ..Selection::default()
    };
    let report = selected(&profile, &selection);
    assert_eq!(report.flat.len(), 1);
    assert_eq!(
        (
            report.call_graph.paths.len(),
            report.on_call_paths.tables().count()
        ),
        (2, 2)
    );
    assert_eq!(report.decomposition().count(), 1);
    assert_eq!(report.overheads.whole_sum.overhead.ns, 6 * SECOND);
}

#[test]
fn a_selected_thread_is_compared_with_all() {
    let profile = team(Kind::ParallelLoop, true);
    let whole = Report::new(&profile);
    let of_all = whole.decomposition().next().unwrap();
    let parts = of_all.threads[0];
    let selection = Selection {
        threads: vec![whole.threads[parts.thread].clone()],
        ..Selection::default()
    };
    let selected = selected(&profile, &selection);
    let of_one = selected.decomposition().next().unwrap();
    assert_eq!((of_all.threads.len(), of_one.threads.len()), (2, 1));
    assert_eq!(of_one.threads[0].imbalance, Some(50.0));
    assert_eq!(of_one.threads[0].after_ns, parts.after_ns);
}

#[test]
fn a_selection_sorts_and_cuts() {
    let profile = sections(Kind::Sections, [2, 1]);
    let sorted = |column: &str, top| Selection {
        sort: Some(column.to_owned()),
        top: Some(top),
        ..Selection::default()
    };
    let report = selected(&profile, &sorted("exitbart", 1));
    let regions: Vec<usize> = report.flat.iter().map(|table| table.region).collect();
    assert_eq!(regions, [1]);
    let cut = Selection {
        min_percent: Some(50.0),
        ..Selection::default()
    };
    let report = selected(&profile, &cut);
    let regions: Vec<usize> = report.flat.iter().map(|table| table.region).collect();
    assert_eq!(regions, [0]);
}

#[test]
fn a_selection_of_nothing_is_refused() {
    let profile = wait(Kind::Loop);
    let refused = |selection: Selection| Report::new(&profile).select(&selection).unwrap_err();
    let regions = Selection {
        regions: vec!["papyrus".to_owned()],
        ..Selection::default()
    };
    assert_eq!(refused(regions), SelectionError::NoRegion);
    let threads = Selection {
        threads: vec!["7".to_owned()],
        ..Selection::default()
    };
    assert!(matches!(refused(threads), SelectionError::NoThread { .. }));
    let sort = Selection {
        sort: Some("papyrus".to_owned()),
        ..Selection::default()
    };
    assert!(refused(sort).to_string().contains("exitBarT"));
}
