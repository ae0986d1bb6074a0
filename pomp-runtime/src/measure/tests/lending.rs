//! Instances that the program passes over without a call.

use super::sampling::{MANY, event, row, sampled_thread};
use super::*;
use crate::measure::lending::Passing;
use crate::measure::pass_table::Passes;
use crate::measure::{clock, coarse_clock};
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
            match t.pass_table.counts_and_lends(self.region) {
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
    assert_eq!(profile.remarks().len(), 1, "{:?}", profile.remarks());
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
            assert!(site.record.is_some() && t.pass_table.is_passing());
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

/// A construct in which others may begin, as an instrumented program executes it.
struct Section {
    region: &'static Region,
    record: Option<&'static Passing>,
    calls: usize,
}

impl Section {
    fn new(region: &'static Region) -> Self {
        Self {
            region,
            record: None,
            calls: 0,
        }
    }

    /// An instance of six ticks. `inside` happens in its block, and `waiting` before.
    fn execute(
        &mut self,
        t: &'static Thread,
        at: u64,
        mut waiting: impl FnMut(),
        mut inside: impl FnMut(),
    ) {
        let enters = |record: &Passing| record.enters(PseudoRegion::Enter);
        let is_timed = !self.record.is_some_and(enters) && self.begin(t, at);
        waiting();
        let goes_on = |record: &Passing| record.goes_on(PseudoRegion::Body);
        if is_timed || !self.record.is_some_and(goes_on) {
            self.report(t, CriticalBegin, at + 1);
        }
        inside();
        if is_timed {
            self.report(t, CriticalEnd, at + 5);
        }
        if is_timed || !self.record.is_some_and(Passing::ends) {
            self.report(t, CriticalExit, at + 6);
        }
    }

    fn begin(&mut self, t: &'static Thread, at: u64) -> bool {
        self.calls += 1;
        if t.knows_place_for(|| Some(self.region)) {
            let lent = t
                .pass_table
                .begins_and_lends(self.region, PseudoRegion::Enter);
            if lent.is_some() {
                self.record = lent;
                return false;
            }
        }
        event(t, CriticalEnter, self.region, at);
        true
    }

    fn report(&mut self, t: &'static Thread, of: Event, at: u64) {
        self.calls += 1;
        event(t, of, self.region, at);
    }
}

#[test]
fn the_program_counts_sections_and_what_is_in_them_has_its_place() {
    let t = sampled_thread();
    let (critical, atomic) = (region("critical", 1), region("atomic", 2));
    let (mut section, mut site) = (Section::new(critical), Site::new(atomic));
    let mut at = 10;
    for number in 0..MANY as u64 {
        let is_rare = number >= MANY as u64 / 2 && number % 1000 == 0;
        section.execute(
            t,
            at,
            || (),
            || {
                if is_rare {
                    site.execute(t, at + 2);
                }
            },
        );
        site.execute(t, at + 7);
        at += 12;
    }
    let profile = profile_at(at, &[t], &[critical, atomic]);
    let (inside, outside): (Vec<_>, Vec<_>) =
        profile.nodes.iter().partition(|node| node.parent.is_some());
    let counts = |nodes: Vec<&Node>| -> Vec<u64> {
        nodes.iter().map(|node| node.rows[0].main.count).collect()
    };
    assert_eq!(counts(inside), [MANY as u64 / 2000]);
    assert_eq!(counts(outside), [MANY as u64; 2]);
    let row = row(&profile, "critical");
    let parts = [row.enter(), row.body, row.exit()];
    assert!(
        parts.iter().all(|part| part.count == MANY as u64),
        "{row:?}"
    );
    assert!(section.calls < MANY, "{}", section.calls);
}

/// The program notices that the clock has gone on, and reports the event.
#[test]
fn a_long_wait_and_a_long_stay_in_a_section_that_the_program_counts_are_seen() {
    const STEP: u64 = 1_000_000;
    let t = sampled_thread();
    let critical = region("critical", 1);
    let mut section = Section::new(critical);
    let mut at = 10;
    for _ in 0..MANY {
        section.execute(t, at, || (), || ());
        at += 12;
    }
    // The long times of this test end by the real clock. The run has to be longer than they are.
    let end = 4 * clock::now();
    let parts = || {
        let row = row(&profile_at(end, &[t], &[critical]), "critical");
        [row.enter(), row.body]
    };
    let mut before = parts();
    let calls = section.calls;
    section.execute(t, at, || (), || ());
    assert_eq!(section.calls, calls);
    for is_wait in [true, false] {
        let steps = |at: u64, are: bool| {
            let number = if are { 5 } else { 0 };
            (1..=number).for_each(|step| coarse_clock::advance(at + step * STEP));
        };
        section.execute(t, at, || steps(at, is_wait), || steps(at, !is_wait));
        at += 6 * STEP;
        let after = parts();
        let more = [0, 1].map(|part| after[part].ns - before[part].ns > 3 * STEP);
        assert_eq!(more, [is_wait, !is_wait], "{before:?} {after:?}");
        before = after;
    }
    assert!(section.calls > calls);
    assert_eq!(before[0].count, MANY as u64 + 3);
}

#[test]
fn what_is_switched_off_is_counted_without_a_call_for_good() {
    let record = Thread::for_test().unmeasured.lend();
    coarse_clock::start_anew();
    assert!((0..1000).all(|_| record.counts()));
}
