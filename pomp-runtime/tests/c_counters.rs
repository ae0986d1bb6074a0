//! Counters of the kernel and the processor: they are right where they are available, and a
//! message says where they are not.

#![allow(clippy::unwrap_used)] // A test fails by panicking, also in its helpers.

mod programs;

use std::collections::BTreeMap;

use profile::model::Profile;
use programs::{Program, Run, compilers};
use trace::read::Trace;
use trace::replay::{Event, Listener, Open, replay};

/// Page faults of each thread in the region at a line.
fn faults(profile: &Profile, line: u32) -> Vec<u64> {
    let index = profile
        .run
        .counters
        .iter()
        .position(|it| it == "page-faults");
    let nodes = profile.nodes.iter();
    let nodes = nodes.filter(|node| profile.regions[node.region].begin[0] == line);
    nodes
        .flat_map(|node| &node.rows)
        .filter(|row| row.main.count > 0)
        .map(|row| row.counters()[index.unwrap()])
        .collect()
}

fn run(compiler: &str, counters: &str) -> Run {
    let program = Program::build(compiler, "counters.c", &[]);
    let environment = [
        ("ROMP_COUNTERS", counters),
        ("ROMP_EVAL", "per=page-faults/execC"),
    ];
    let run = program.run(&[], &environment);
    assert_eq!(run.stdout(), "done\n", "{}", run.stderr());
    run
}

#[test]
fn each_region_has_its_counters() {
    for compiler in compilers() {
        let run = run(compiler, "page-faults,task-clock");
        if run.stderr().contains("the kernel refuses page-faults") {
            // It says why; there is nothing to compare.
            assert_eq!(run.profiles[0].run.counters, Vec::<String>::new());
            continue;
        }
        let profile = run.profile();
        assert_eq!(profile.run.counters, ["page-faults", "task-clock"]);
        assert_eq!(profile.run.formulas, ["per=page-faults/execC"]);
        let touching = faults(profile, 2);
        assert_eq!(touching.len(), 2, "{compiler}");
        for faults in &touching {
            // Three times a hundred pages; a few of the library's own and of libc's.
            assert!((300..400).contains(faults), "{compiler} {touching:?}");
        }
        let still = faults(profile, 3);
        assert!(
            still.iter().all(|&faults| faults < 50),
            "{compiler} {still:?}"
        );
        // The members of the team have what was counted in them.
        let members = faults(profile, 1);
        for (all, inner) in members.iter().zip(touching) {
            assert!(*all >= inner, "{compiler} {members:?}");
        }
    }
}

#[test]
fn a_recursion_counts_each_event_once() {
    for compiler in compilers() {
        let run = run(compiler, "page-faults");
        let profile = run.profile();
        if profile.run.counters.is_empty() {
            assert!(run.stderr().contains("the kernel refuses page-faults"));
            continue;
        }
        // Twelve deep, with three levels of each. The deepest level of the outer region has all
        // that it contains. That of the inner region leaves out the outer region.
        let (outer, inner) = (faults(profile, 4), faults(profile, 5));
        let expected = [12 * 60, 11 * 60, 10 * 60].into_iter().zip(&outer);
        let between = [12 * 60 - 40, 11 * 60 - 40, 10 * 20]
            .into_iter()
            .zip(&inner);
        assert_eq!((outer.len(), inner.len()), (3, 3), "{compiler}");
        for (pages, counted) in expected.chain(between) {
            assert!(
                (pages..pages + 60).contains(counted),
                "{compiler} {outer:?} {inner:?}"
            );
        }
    }
}

/// What one counter counted in the regions of a trace, by their lines and in order.
struct Traced<'a> {
    trace: &'a Trace,
    counter: u32,
    now: u64,
    begun: Vec<u64>,
    counted: BTreeMap<u32, Vec<u64>>,
}

impl Listener for Traced<'_> {
    fn event(&mut self, _: u64, open: &[Open], event: &Event) {
        match event {
            Event::Counter { counter, value } if *counter == self.counter => self.now = *value,
            Event::Begin { .. } => self.begun.push(self.now),
            Event::End { .. } => {
                let top = open.last().and_then(|top| self.trace.region(top.region));
                let more = self.now - self.begun.pop().unwrap();
                let line = top.unwrap().begin.first;
                self.counted.entry(line).or_default().push(more);
            }
            _ => {}
        }
    }
}

/// The sum over all instances of a thread is the thread's count in the profile.
#[test]
fn a_trace_has_the_counters_of_each_event() {
    for compiler in compilers() {
        let program = Program::build(compiler, "counters.c", &[]);
        let environment = [
            ("ROMP_COUNTERS", "task-clock,page-faults"),
            ("ROMP_TRACE", "on"),
        ];
        let run = program.run(&[], &environment);
        let profile = run.profile();
        if profile.run.counters.is_empty() {
            assert!(run.stderr().contains("the kernel refuses task-clock"));
            continue;
        }
        let path = program.directory.path().join("program.0.romp.trace");
        let trace = Trace::open(&path).unwrap();
        let names: Vec<&str> = trace.counters().collect();
        assert_eq!(names, profile.run.counters);
        let counter = names
            .iter()
            .position(|name| *name == "page-faults")
            .unwrap();
        let mut sums = BTreeMap::<u32, Vec<u64>>::new();
        for stream in trace.streams() {
            let mut traced = Traced {
                trace: &trace,
                counter: u32::try_from(counter).unwrap(),
                now: 0,
                begun: Vec::new(),
                counted: BTreeMap::new(),
            };
            replay(&trace, stream, &mut traced).unwrap();
            for (line, counted) in traced.counted {
                sums.entry(line).or_default().push(counted.iter().sum());
            }
        }
        for line in [2, 3] {
            let mut expected = faults(profile, line);
            expected.sort_unstable();
            let found = sums.get_mut(&line).unwrap();
            found.sort_unstable();
            assert_eq!(*found, expected, "{compiler}, line {line}");
        }
    }
}

#[test]
fn what_cannot_be_counted_is_said_once() {
    let run = run(compilers()[0], "page-fault,page-faults");
    let said = run.stderr();
    assert!(
        said.contains("ROMP_COUNTERS: page-fault cannot be counted: no such counter"),
        "{said}"
    );
    assert_eq!(said.matches("no such counter").count(), 1, "{said}");
}
