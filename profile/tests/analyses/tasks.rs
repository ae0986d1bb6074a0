//! Tasks that a thread executes while it waits count once. A wait that no task can fill stays a
//! wait.

use super::*;
use crate::sums::contradictions;
use profile::overheads::Category;

/// Sections of two threads, for 20 s each. In the body of the construct, the first thread
/// executed a section of 5 s, and the second one a task of 8 s. `barrier` is the time at the
/// barrier in seconds, if the barrier is separate.
fn sections_with_a_task(barrier: Option<u64>) -> Profile {
    let parts = |thread| match barrier {
        Some(wait) => row(thread, &[(Main, 20), (Body, 20 - wait), (Ibarr, wait)]),
        None => row(thread, &[(Main, 20), (Body, 20)]),
    };
    let mut profile = inside(Kind::Sections, [1, 2].map(parts));
    if barrier.is_none() {
        profile.regions[1].unsplit = Some("it can be cancelled".to_owned());
    }
    for (kind, thread, seconds) in [(Kind::Section, 1, 5), (Kind::TaskExec, 2, 8)] {
        let mut region = profile.regions[1].clone();
        region.kind = kind;
        region.unsplit = None;
        profile.regions.push(region);
        let rows = vec![row(thread, &[(Main, seconds)])];
        let region = profile.regions.len() - 1;
        profile.nodes.push(node(Some(1), region, Body, rows));
    }
    profile
}

/// The time lost to a category, in seconds.
fn lost(report: &Report<'_>, category: Category) -> u64 {
    report.overheads.whole_sum.by_category[category as usize].ns / SECOND
}

#[test]
fn a_task_in_sections_that_could_not_be_split_is_no_wait() {
    let profile = sections_with_a_task(None);
    let report = Report::new(&profile);
    assert_eq!(contradictions(&report), Vec::<String>::new());
    assert_eq!(lost(&report, Category::Limpar), 20 - 5 + 20 - 8);
    assert_eq!(lost(&report, Category::Mgmt), 0);
}

#[test]
fn a_task_in_the_body_of_sections_is_not_handing_out() {
    let profile = sections_with_a_task(Some(4));
    let report = Report::new(&profile);
    assert_eq!(contradictions(&report), Vec::<String>::new());
    assert_eq!(lost(&report, Category::Limpar), 4 + 4);
    assert_eq!(lost(&report, Category::Mgmt), 16 - 5 + 16 - 8);
}

#[test]
fn outside_teams_a_taskloop_hides_no_wait() {
    let mut profile = run(&[Kind::Taskgroup, Kind::Taskloop], &[&[0]]);
    let group = row(0, &[(Main, 30), (Body, 20), (Ibarr, 10)]);
    let taskloop = row(0, &[(Main, 15)]);
    profile.nodes = vec![
        node(None, 0, Body, vec![group]),
        node(Some(0), 1, Body, vec![taskloop]),
    ];
    let report = Report::new(&profile);
    assert_eq!(contradictions(&report), Vec::<String>::new());
    assert_eq!(report.overheads.outside.of(Category::Synch), 10 * SECOND);
}
