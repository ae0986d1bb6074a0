//! Instances that the program passes over without a call.

use super::sampling::{MANY, event, sampled_thread};
use super::*;
use crate::measure::lending::Passing;
use crate::measure::sampler::Passes;
use Event::*;

/// A construct in which nothing else happens, as an instrumented program executes it.
struct Site {
    region: &'static Region,
    record: Option<&'static Passing>,
    reported: usize,
    counted: usize,
}

impl Site {
    fn new(region: &'static Region) -> Self {
        Self {
            region,
            record: None,
            reported: 0,
            counted: 0,
        }
    }

    /// Its end is reported only if its begin is recorded.
    fn execute(&mut self, t: &'static Thread, at: u64) {
        if self.record.is_some_and(Passing::counts) {
            self.counted += 1;
            return;
        }
        if t.knows_place_for(|| Some(self.region)) {
            match t.sampler.counts_and_lends(self.region) {
                Passes::Lends(record) => return self.record = Some(record),
                Passes::Once => return,
                Passes::No => {}
            }
        }
        t.enter(|t| t.on(AtomicEnter, self.region, at));
        event(t, AtomicExit, self.region, at + 2);
        self.reported += 1;
    }
}

#[test]
fn the_program_counts_instances_at_its_own_place_only() {
    let t = sampled_thread();
    let (atomic, other, critical) = (
        region("atomic", 1),
        region("atomic", 2),
        region("critical", 3),
    );
    let mut sites = [Site::new(atomic), Site::new(other)];
    let mut at = 10;
    for number in 0..MANY as u64 {
        // Inside the section, the construct has another place on the call paths.
        let is_inside = number % 8 == 0;
        if is_inside {
            event(t, CriticalEnter, critical, at);
        }
        sites[0].execute(t, at);
        if is_inside {
            event(t, CriticalExit, critical, at + 3);
        }
        sites[1].execute(t, at + 4);
        at += 8;
    }
    let profile = profile_at(at, &[t], &[atomic, other, critical]);
    let inside = profile.nodes.iter().filter(|node| node.parent.is_some());
    let counts: Vec<u64> = inside.map(|node| node.rows[0].main.count).collect();
    assert_eq!(counts, [MANY as u64 / 8]);
    for site in sites {
        assert!(site.reported < MANY / 2 && site.counted > MANY / 4);
    }
    let all = profile
        .nodes
        .iter()
        .filter(|node| node.rows[0].main.count != MANY as u64 / 8);
    let counts: Vec<u64> = all.map(|node| node.rows[0].main.count).collect();
    assert_eq!(counts, [MANY as u64 * 7 / 8, MANY as u64]);
    assert_eq!(profile.run.notes.len(), 1, "{:?}", profile.run.notes);
}

/// The section is passed over when the construct is first executed in it.
#[test]
fn the_program_counts_nothing_in_a_section_that_is_passed_over() {
    let t = sampled_thread();
    let (atomic, critical) = (region("atomic", 1), region("critical", 2));
    let mut site = Site::new(atomic);
    let mut at = 10;
    for number in 0..=MANY {
        event(t, CriticalEnter, critical, at);
        if number == MANY {
            assert!(site.record.is_some() && t.sampler.is_passing());
            site.execute(t, at);
        }
        event(t, CriticalExit, critical, at + 1);
        site.execute(t, at + 2);
        at += 4;
    }
    let profile = profile_at(at, &[t], &[atomic, critical]);
    let inside = profile.nodes.iter().filter(|node| node.parent.is_some());
    let counts: Vec<u64> = inside.map(|node| node.rows[0].main.count).collect();
    assert_eq!(counts, [1]);
}
