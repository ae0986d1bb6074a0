//! What must hold of every analysed run, tried on generated ones: programs
//! with nested teams, several initial threads, recursion, and threads that
//! skip constructs.

// The lint lets tests unwrap, but not what helps them.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, HashMap};

use profile::analysis::{Report, Table};
use profile::columns::Quantity;
use profile::model::{Node, Profile, Region, Row, Run, SCHEMA, Span, Thread, VERSION};
use profile::overheads::Category;
use profile::region_kind::{PseudoRegion, RegionKind};
use proptest::prelude::*;

/// A construct of a generated program.
#[derive(Clone, Debug)]
struct Construct {
    kind: RegionKind,
    /// Which region of that kind; equal ones below each other are recursion.
    number: usize,
    /// Own times of the threads, used in turn.
    times: Vec<u64>,
    /// Sizes of the teams that a parallel region forks, used in turn.
    teams: Vec<u32>,
    /// Which threads skip the construct: every so many, or none.
    skip: usize,
    inside: Vec<Construct>,
}

fn construct() -> impl Strategy<Value = Construct> {
    use RegionKind::{
        Atomic, Barrier, Critical, Flush, Lock, Loop, Master, Ordered, Parallel, ParallelLoop,
        Single, User,
    };
    let header = |kinds: Vec<RegionKind>| {
        (
            proptest::sample::select(kinds),
            0..2_usize,
            proptest::collection::vec(0..5_000_000_u64, 1..5),
            proptest::collection::vec(1..4_u32, 1..3),
            0..4_usize,
        )
    };
    let build = |((kind, number, times, teams, skip), inside)| Construct {
        kind,
        number,
        times,
        teams,
        skip,
        inside,
    };
    let leaf = (header(vec![Atomic, Barrier, Flush, Lock]), Just(Vec::new())).prop_map(build);
    leaf.prop_recursive(4, 24, 4, move |inner| {
        let kinds = vec![
            Parallel,
            ParallelLoop,
            RegionKind::ParallelSections,
            Loop,
            RegionKind::Sections,
            Single,
            User,
            Critical,
            Master,
            Ordered,
        ];
        (header(kinds), proptest::collection::vec(inner, 0..4)).prop_map(build)
    })
}

/// Runs a generated program; what a measured one would have recorded.
#[derive(Default)]
struct Simulation {
    regions: Vec<(RegionKind, usize)>,
    threads: Vec<Vec<u32>>,
    nodes: Vec<(Option<usize>, usize, BTreeMap<usize, Row>)>,
    places: HashMap<(Option<usize>, usize), usize>,
}

impl Simulation {
    fn thread(&mut self, path: Vec<u32>) -> usize {
        self.threads
            .iter()
            .position(|known| *known == path)
            .unwrap_or_else(|| {
                self.threads.push(path);
                self.threads.len() - 1
            })
    }

    fn node(&mut self, parent: Option<usize>, kind: RegionKind, number: usize) -> usize {
        let key = (kind, number);
        let region = self
            .regions
            .iter()
            .position(|known| *known == key)
            .unwrap_or_else(|| {
                self.regions.push(key);
                self.regions.len() - 1
            });
        *self.places.entry((parent, region)).or_insert_with(|| {
            self.nodes.push((parent, region, BTreeMap::new()));
            self.nodes.len() - 1
        })
    }

    fn record(&mut self, node: usize, thread: usize, parts: &[(PseudoRegion, u64)]) {
        let row = self.nodes[node].2.entry(thread).or_default();
        row.thread = thread;
        for &(part, ns) in parts {
            *row.span_mut(part) += Span { count: 1, ns };
        }
    }

    /// Runs constructs one after the other; how long each thread took.
    fn run(&mut self, all: &[Construct], parent: Option<usize>, threads: &[usize]) -> Vec<u64> {
        let mut sums = vec![0; threads.len()];
        for construct in all {
            let here: Vec<usize> = (0..threads.len())
                .filter(|place| construct.skip == 0 || place % (construct.skip + 1) != 0)
                .collect();
            let team: Vec<usize> = here.iter().map(|&place| threads[place]).collect();
            let times = self.run_one(construct, parent, &team);
            for (place, time) in here.into_iter().zip(times) {
                sums[place] += time;
            }
        }
        sums
    }

    fn run_one(&mut self, it: &Construct, parent: Option<usize>, threads: &[usize]) -> Vec<u64> {
        if threads.is_empty() {
            return Vec::new();
        }
        let node = self.node(parent, it.kind, it.number);
        if it.kind.is_parallel() {
            return self.run_parallel(it, node, threads);
        }
        let inside = self.run_inside(it, node, threads);
        let mut taken = Vec::new();
        for (place, &thread) in threads.iter().enumerate() {
            let [enter, own, wait, exit] = it.own_times(place);
            let body = own + inside[place];
            use PseudoRegion::{Body, Enter, Exit, Ibarr, Main};
            let parts: &[(PseudoRegion, u64)] = match it.kind {
                RegionKind::Critical | RegionKind::Lock | RegionKind::Ordered => &[
                    (Main, enter + body + exit),
                    (Enter, enter),
                    (Body, body),
                    (Exit, exit),
                ],
                RegionKind::Loop | RegionKind::Sections => &[(Main, body + wait), (Ibarr, wait)],
                RegionKind::Single => &[(Main, body + wait), (Body, body), (Ibarr, wait)],
                _ => &[(Main, body)],
            };
            self.record(node, thread, parts);
            // Under a lock a thread goes on where it is.
            taken.push(if it.kind == RegionKind::Lock {
                enter + exit
            } else {
                parts[0].1
            });
        }
        taken
    }

    /// What is directly below sections is sections.
    fn run_inside(&mut self, it: &Construct, node: usize, threads: &[usize]) -> Vec<u64> {
        if !matches!(it.kind, RegionKind::Sections | RegionKind::ParallelSections) {
            return self.run(&it.inside, Some(node), threads);
        }
        let section = |inside: &Construct| Construct {
            kind: RegionKind::Section,
            inside: vec![inside.clone()],
            ..inside.clone()
        };
        let sections: Vec<Construct> = it.inside.iter().map(section).collect();
        self.run(&sections, Some(node), threads)
    }

    fn run_parallel(&mut self, it: &Construct, node: usize, forkers: &[usize]) -> Vec<u64> {
        let size = |place: usize| it.teams[place % it.teams.len()];
        let mut members = Vec::new();
        for (place, &forker) in forkers.iter().enumerate() {
            for number in 0..size(place) {
                let path = [self.threads[forker].as_slice(), &[number]].concat();
                members.push(self.thread(path));
            }
        }
        let inside = self.run_inside(it, node, &members);
        let mut first = 0;
        let mut taken = Vec::new();
        for (place, &forker) in forkers.iter().enumerate() {
            let team = first..first + size(place) as usize;
            first = team.end;
            let busy = |member: usize| {
                let [enter, own, _, exit] = it.own_times(member);
                (enter, own + inside[member], exit)
            };
            let wall = team
                .clone()
                .map(busy)
                .map(|(a, b, c)| a + b + c)
                .max()
                .unwrap();
            for member in team {
                let (enter, body, exit) = busy(member);
                let wait = wall - enter - body - exit;
                use PseudoRegion::{Body, Enter, Exit, Ibarr, Main};
                let parts = [
                    (Main, wall),
                    (Enter, enter),
                    (Body, body),
                    (Ibarr, wait),
                    (Exit, exit),
                ];
                self.record(node, members[member], &parts);
            }
            self.record(node, forker, &[(PseudoRegion::Seq, wall)]);
            taken.push(wall);
        }
        taken
    }

    fn profile(self, duration_ns: u64) -> Profile {
        let region = |&(kind, number): &(RegionKind, usize)| Region {
            kind,
            region_type: kind.row().region_types[0].to_owned(),
            file: "a.c".to_owned(),
            begin: [1 + number as u32; 2],
            end: [9 + number as u32; 2],
            column: 0,
            name: None,
            function: None,
            directive: None,
            ordinal: 0,
            schedule: None,
            num_sections: None,
            unsplit: None,
        };
        let node = |(parent, region, rows): (Option<usize>, usize, BTreeMap<usize, Row>)| Node {
            parent,
            region,
            within: PseudoRegion::Body,
            rows: rows.into_values().collect(),
        };
        Profile {
            schema: SCHEMA.to_owned(),
            version: VERSION,
            run: Run {
                duration_ns,
                max_threads: self.threads.len() as u32,
                ..Run::default()
            },
            regions: self.regions.iter().map(region).collect(),
            threads: self
                .threads
                .into_iter()
                .map(|path| Thread { path })
                .collect(),
            nodes: self.nodes.into_iter().map(node).collect(),
        }
    }
}

impl Construct {
    /// Enter, own work, wait and exit of one thread.
    fn own_times(&self, place: usize) -> [u64; 4] {
        let time = |n: usize| self.times[(place + n) % self.times.len()];
        [time(0) / 7, time(1), time(2), time(3) / 11]
    }
}

fn profiles() -> impl Strategy<Value = Profile> {
    let constructs = proptest::collection::vec(construct(), 0..4);
    (constructs, 1..3_u32, 0..1_000_000_u64).prop_map(|(constructs, initial, rest)| {
        let mut simulation = Simulation::default();
        let initial: Vec<usize> = (0..initial)
            .map(|number| simulation.thread(vec![number]))
            .collect();
        let taken = simulation.run(&constructs, None, &initial);
        let duration = taken.into_iter().max().unwrap_or(0) + rest;
        simulation.profile(duration)
    })
}

fn close(a: u64, b: u64, nodes: usize) -> bool {
    a.abs_diff(b) <= nodes as u64 + 1
}

/// The sums of all call paths' tables of one region in this quantity.
fn over_tree(report: &Report<'_>, region: usize, quantity: Quantity) -> u64 {
    let tables = report
        .on_call_paths
        .iter()
        .filter(|table| table.region == region);
    tables
        .filter_map(|table| Some(table.sum[table.column(quantity)?]))
        .sum()
}

fn adds_up(table: &Table) -> bool {
    (0..table.columns.len()).all(|column| {
        table.sum[column] == table.rows().map(|(_, cells)| cells[column]).sum::<u64>()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn flat_profile_threads_and_tree_agree(profile in profiles()) {
        let report = Report::new(&profile);
        for table in report.flat.iter().chain(&report.on_call_paths) {
            prop_assert!(adds_up(table));
        }
        for table in &report.flat {
            for (column, &sum) in table.columns.iter().zip(&table.sum) {
                let over_tree = over_tree(&report, table.region, column.quantity);
                if column.quantity.contains_recursion() {
                    prop_assert!(sum <= over_tree);
                } else {
                    prop_assert_eq!(sum, over_tree, "{}", column.name);
                }
            }
        }
    }

    #[test]
    fn exclusive_times_of_the_tree_are_the_duration(profile in profiles()) {
        let report = Report::new(&profile);
        let graph = &report.call_graph;
        prop_assert_eq!(graph.paths.len(), profile.nodes.len());
        let all: u64 = graph.paths.iter().map(|path| path.times.exclusive.ns).sum();
        let program = graph.program.exclusive.ns;
        prop_assert!(close(all + program, profile.run.duration_ns, graph.paths.len()));
        for (index, path) in graph.paths.iter().enumerate() {
            let called = graph.paths.iter().filter(|other| other.caller == Some(index));
            let below: u64 = called.map(|other| other.times.inclusive.ns).sum();
            let own = path.times.exclusive.ns;
            prop_assert!(close(own + below, path.times.inclusive.ns, graph.paths.len()));
        }
    }

    #[test]
    fn overheads_are_part_of_what_there_was(profile in profiles()) {
        let report = Report::new(&profile);
        let overheads = &report.overheads;
        prop_assert_eq!(overheads.coverage.ns + overheads.serial.ns, profile.run.duration_ns);
        for region in &overheads.regions {
            prop_assert!(region.losses.total() <= region.total_ns);
            prop_assert!(region.wall.ns <= overheads.coverage.ns + 1);
        }
        for row in overheads.of_whole.iter().chain([&overheads.whole_sum]) {
            let parts: u64 = row.by_category.iter().map(|share| share.ns).sum();
            prop_assert_eq!(parts, row.overhead.ns);
        }
        let rows: u64 = overheads.of_whole.iter().map(|row| row.overhead.ns).sum();
        let places: u64 = overheads.places.iter().map(|place| place.lost.ns).sum();
        prop_assert_eq!(rows, overheads.whole_sum.overhead.ns);
        prop_assert_eq!(places, overheads.whole_sum.overhead.ns);
        prop_assert!(overheads.whole_sum.overhead.ns <= overheads.thread_time_ns);
        prop_assert!(overheads.whole_sum.by_category[Category::Synch as usize].percent <= 100.0);
    }

    #[test]
    fn every_format_can_be_written(profile in profiles()) {
        let report = Report::new(&profile);
        for writer in profile::report::WRITERS {
            let mut out = Vec::new();
            (writer.write)(&report, &mut out).unwrap();
            prop_assert!(out.ends_with(b"\n"));
        }
        prop_assert!(!report.summary.headline.contains('\n'));
    }

    /// At the end of a measured program a wrong profile must do no harm.
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
