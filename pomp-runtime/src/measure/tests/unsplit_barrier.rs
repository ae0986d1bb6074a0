//! Barriers of the runtime at the end of constructs that could not be split.

use profile::descriptor::Descriptor;

use super::*;
use crate::measure::records::region;
use Event::*;

fn cancellable(region_type: &str) -> &'static Region {
    let region = region::unregistered(Descriptor {
        region_type: region_type.to_owned(),
        unsplit: Some("it can be cancelled".to_owned()),
        ..Descriptor::default()
    });
    region.unwrap()
}

impl Thread {
    fn passes_barrier(&'static self, from: u64, to: u64) -> bool {
        let end = self.arrive_at_unsplit_barrier(|| from);
        if let Some(end) = end {
            self.leave_unsplit_barrier(end, || to);
        }
        end.is_some()
    }
}

#[test]
fn they_count_for_the_construct_however_many_there_are() {
    let (t, shared) = (Thread::for_test().as_initial(0), cancellable("for"));
    assert!(region::some_is_unsplit());
    t.on(LoopEnter, shared, 10);
    assert!(t.passes_barrier(20, 25));
    assert!(t.passes_barrier(40, 70));
    t.on(LoopExit, shared, 71);
    let profile = profile_at(100, &[t], &[shared]);
    let row = &profile.nodes[0].rows[0];
    assert_eq!((row.ibarr.count, row.ibarr.ns), (1, 5 + 30));
    assert_eq!(profile.regions[0].unsplit, None);
}

/// A loop that is one with its parallel region: its barrier stands in front of the team's end.
#[test]
fn those_of_combined_regions_count_for_the_member() {
    let (t, shared) = (Thread::for_test().as_initial(0), cancellable("parallelfor"));
    let team = t.forks(shared, 5);
    t.begins(team, 0, 1, 10);
    t.on(LoopEnter, shared, 11);
    assert!(t.passes_barrier(40, 70));
    t.on(LoopExit, shared, 71);
    t.end_member(shared, 72);
    t.join(shared, 80);
    let profile = profile_at(100, &[t], &[shared]);
    let mut rows = profile.nodes.iter().flat_map(|node| &node.rows);
    let member = rows.find(|row| row.body.ns > 0).unwrap();
    assert_eq!(
        (member.body.ns, member.ibarr.count, member.ibarr.ns),
        (29 + 1, 1, 30)
    );
    assert_eq!(profile.regions[0].unsplit, None);
}

#[test]
fn what_cancel_left_open_is_closed_there() {
    let (t, shared) = (Thread::for_test().as_initial(0), cancellable("for"));
    let left = region("single", 7);
    t.on(LoopEnter, shared, 10);
    t.on(SingleEnter, left, 12);
    assert!(t.passes_barrier(20, 50));
    t.on(LoopExit, shared, 51);
    let profile = profile_at(100, &[t], &[shared, left]);
    let row = &profile.nodes[0].rows[0];
    assert_eq!((row.ibarr.count, row.ibarr.ns), (1, 30));
}

#[test]
fn what_cancel_left_open_in_a_combined_region_is_closed_there() {
    let (t, shared) = (
        Thread::for_test().as_initial(0),
        cancellable("parallelsections"),
    );
    let left = region("section", 7);
    let team = t.forks(shared, 5);
    t.begins(team, 0, 1, 10);
    t.on(SectionsEnter, shared, 11);
    t.on(SectionBegin, left, 12);
    assert!(t.passes_barrier(20, 50));
    t.end_member(shared, 51);
    t.join(shared, 60);
    let profile = profile_at(100, &[t], &[shared, left]);
    let rows = profile.nodes.iter().flat_map(|node| &node.rows);
    let times: Vec<_> = rows.map(|row| (row.body.ns, row.ibarr.ns)).collect();
    assert!(times.contains(&(9 + 1, 30)), "{times:?}");
    let section = profile.nodes.iter().flat_map(|node| &node.rows);
    assert!(section.map(|row| row.main.ns).any(|ns| ns == 8));
}

#[test]
fn others_are_barriers_of_no_construct() {
    let (t, shared) = (Thread::for_test().as_initial(0), cancellable("parallel"));
    assert!(!t.passes_barrier(1, 2));
    let split = region("single", 7);
    t.on(SingleEnter, split, 12);
    assert!(!t.passes_barrier(20, 50));
    t.on(SingleExit, split, 51);
    let profile = profile_at(100, &[t], &[shared, split]);
    assert!(profile.regions[0].unsplit.is_some());
}
