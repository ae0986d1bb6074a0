//! Generated runs of programs with nested teams, several initial threads, recursion, threads
//! that skip constructs, and tasks that are executed at once or while waiting.

use std::collections::{BTreeMap, HashMap};

use profile::model::{Node, Profile, Region, Row, Run, SCHEMA, Span, Thread, VERSION};
use profile::region_kind::{PseudoRegion, RegionKind};
use proptest::prelude::*;

/// A construct of a generated program.
#[derive(Clone, Debug)]
struct Construct {
    kind: RegionKind,
    /// The number of the region among those of its kind. The same number inside itself is
    /// recursion. From `UNSPLIT` on, regions could not be split.
    number: usize,
    /// Own times of the threads, used in turn.
    times: Vec<u64>,
    /// Sizes of the teams that a parallel region forks, used in turn.
    teams: Vec<u32>,
    /// Every thread whose place is a multiple of `skip + 1` skips the construct; none does if
    /// it is 0.
    skip: usize,
    inside: Vec<Construct>,
}

fn construct() -> impl Strategy<Value = Construct> {
    use RegionKind::{
        Atomic, Barrier, Critical, Flush, Lock, Loop, Master, Ordered, Parallel, ParallelLoop,
        Scope, Single, Task, TaskExec, Taskgroup, Taskloop, Taskwait, User,
    };
    let header = |kinds: Vec<RegionKind>| {
        (
            proptest::sample::select(kinds),
            0..4_usize,
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
            RegionKind::ParallelWorkshare,
            Loop,
            RegionKind::Sections,
            Single,
            User,
            Critical,
            Master,
            Ordered,
            Barrier,
            Scope,
            Task,
            TaskExec,
            Taskgroup,
            Taskloop,
            Taskwait,
        ];
        (header(kinds), proptest::collection::vec(inner, 0..4)).prop_map(build)
    })
}

/// Runs a generated program, and records the data that a measurement would have recorded.
#[derive(Default)]
struct Simulation {
    regions: Vec<(RegionKind, usize)>,
    threads: Vec<Vec<u32>>,
    nodes: Vec<(Key, BTreeMap<usize, Row>)>,
    places: HashMap<Key, usize>,
}

/// The place where something is entered: the parent node, and the parent's pseudo-region.
type Within = (Option<usize>, PseudoRegion);
/// The identity of a node: place and region.
type Key = (Within, usize);

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

    fn node(&mut self, place: Within, kind: RegionKind, number: usize) -> usize {
        let key = (kind, number);
        let region = self
            .regions
            .iter()
            .position(|known| *known == key)
            .unwrap_or_else(|| {
                self.regions.push(key);
                self.regions.len() - 1
            });
        *self.places.entry((place, region)).or_insert_with(|| {
            self.nodes.push(((place, region), BTreeMap::new()));
            self.nodes.len() - 1
        })
    }

    fn record(&mut self, node: usize, thread: usize, parts: &[(PseudoRegion, u64)]) {
        let row = self.nodes[node].1.entry(thread).or_default();
        row.thread = thread;
        for &(part, ns) in parts {
            *row.span_mut(part) += Span { count: 1, ns };
        }
    }

    /// Runs constructs one after another. Returns the time that each thread took.
    fn run(&mut self, all: &[Construct], at: Within, threads: &[usize]) -> Vec<u64> {
        let mut sums = vec![0; threads.len()];
        for construct in all {
            let here: Vec<usize> = (0..threads.len())
                .filter(|place| construct.skip == 0 || place % (construct.skip + 1) != 0)
                .collect();
            let team: Vec<usize> = here.iter().map(|&place| threads[place]).collect();
            let times = self.run_one(construct, at, &team);
            for (place, time) in here.into_iter().zip(times) {
                sums[place] += time;
            }
        }
        sums
    }

    fn run_one(&mut self, it: &Construct, at: Within, threads: &[usize]) -> Vec<u64> {
        if threads.is_empty() {
            return Vec::new();
        }
        let node = self.node(at, it.kind, it.number);
        if it.kind.is_parallel() {
            return self.run_parallel(it, node, threads);
        }
        let inside = self.run_inside(it, node, threads);
        let tasks = self.run_tasks(it, node, threads);
        let mut taken = Vec::new();
        for (place, &thread) in threads.iter().enumerate() {
            let [enter, own, wait, exit] = it.own_times(place);
            let body = own + inside[place];
            let wait = wait + tasks[place];
            use PseudoRegion::{Body, Enter, Exit, Ibarr, Main};
            let parts: &[(PseudoRegion, u64)] = match it.kind {
                RegionKind::Critical | RegionKind::Lock | RegionKind::Ordered => &[
                    (Main, enter + body + exit),
                    (Enter, enter),
                    (Body, body),
                    (Exit, exit),
                ],
                RegionKind::Loop | RegionKind::Sections if it.is_unsplit() => {
                    &[(Main, body + wait)]
                }
                RegionKind::Single | RegionKind::Scope if it.is_unsplit() => {
                    &[(Main, body + wait), (Body, body)]
                }
                RegionKind::Loop | RegionKind::Sections => &[(Main, body + wait), (Ibarr, wait)],
                RegionKind::Single | RegionKind::Scope | RegionKind::Taskgroup => {
                    &[(Main, body + wait), (Body, body), (Ibarr, wait)]
                }
                _ => &[(Main, body)],
            };
            self.record(node, thread, parts);
            // While a thread holds a lock, its time belongs to the surrounding construct.
            taken.push(if it.kind == RegionKind::Lock {
                enter + exit
            } else {
                parts[0].1
            });
        }
        taken
    }

    /// Directly below sections there are only `section` nodes, and tasks that a thread executes
    /// while it waits for others. In a wait for tasks or for other threads, there are only
    /// tasks.
    fn run_inside(&mut self, it: &Construct, node: usize, threads: &[usize]) -> Vec<u64> {
        let wrapped = |kind| {
            let wrap = |inside: &Construct| match (it.kind, inside.kind.is_task_execution()) {
                (RegionKind::Sections, true) => inside.clone(),
                _ => Construct {
                    kind,
                    inside: vec![inside.clone()],
                    ..inside.clone()
                },
            };
            it.inside.iter().map(wrap).collect()
        };
        // Each process reports sections, or none does. One that reports them executes at least one.
        let sections = || {
            let mut inside: Vec<Construct> = wrapped(RegionKind::Section);
            if inside.iter().all(|it| it.kind != RegionKind::Section) {
                inside.push(Construct {
                    kind: RegionKind::Section,
                    inside: Vec::new(),
                    ..it.clone()
                });
            }
            let sections = inside.iter_mut();
            let sections = sections.filter(|it| it.kind == RegionKind::Section);
            sections.for_each(|section| section.skip = 0);
            inside
        };
        let inside: Vec<Construct> = match it.kind {
            RegionKind::Sections | RegionKind::ParallelSections => sections(),
            RegionKind::Barrier | RegionKind::Taskwait => wrapped(RegionKind::TaskExec),
            kind if ends_with_wait(kind) => it.not_tasks(),
            _ => it.inside.clone(),
        };
        self.run(&inside, (Some(node), PseudoRegion::Body), threads)
    }

    /// Executes the tasks of a construct that ends with a wait.
    fn run_tasks(&mut self, it: &Construct, node: usize, threads: &[usize]) -> Vec<u64> {
        let tasks = if ends_with_wait(it.kind) {
            it.tasks()
        } else {
            Vec::new()
        };
        let within = match it.is_unsplit() && !it.kind.is_parallel() {
            true => PseudoRegion::Main,
            false => PseudoRegion::Ibarr,
        };
        self.run(&tasks, (Some(node), within), threads)
    }

    fn run_parallel(&mut self, it: &Construct, node: usize, forkers: &[usize]) -> Vec<u64> {
        if it.is_outside() {
            return self.run_outside(it, node, forkers);
        }
        let size = |place: usize| it.teams[place % it.teams.len()];
        let mut members = Vec::new();
        for (place, &forker) in forkers.iter().enumerate() {
            for number in 0..size(place) {
                let path = [self.threads[forker].as_slice(), &[number]].concat();
                members.push(self.thread(path));
            }
        }
        let inside = self.run_inside(it, node, &members);
        let tasks = self.run_tasks(it, node, &members);
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
                .map(|member| {
                    let (enter, body, exit) = busy(member);
                    enter + body + tasks[member] + exit
                })
                .max()
                .unwrap();
            for member in team {
                let (enter, body, exit) = busy(member);
                let wait = wall - enter - body - exit;
                use PseudoRegion::{Body, Enter, Exit, Ibarr, Main};
                // Older libraries counted the wait in these regions as exit time.
                let (wait, exit) = match it.number == UNSPLIT && tasks[member] == 0 {
                    true => (0, wait + exit),
                    false => (wait, exit),
                };
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

    /// Teams for which only the forking thread is recorded, and the constructs that this thread
    /// executes.
    fn run_outside(&mut self, it: &Construct, node: usize, forkers: &[usize]) -> Vec<u64> {
        let inside = self.run(&it.not_tasks(), (Some(node), PseudoRegion::Seq), forkers);
        let mut taken = Vec::new();
        for (place, &forker) in forkers.iter().enumerate() {
            let wall = it.own_times(place)[1] + inside[place];
            self.record(node, forker, &[(PseudoRegion::Seq, wall)]);
            taken.push(wall);
        }
        taken
    }

    fn profile(self, duration_ns: u64) -> Profile {
        let region = |&(kind, number): &(RegionKind, usize)| Region {
            file: "a.c".to_owned(),
            begin: [1 + number as u32; 2],
            end: [9 + number as u32; 2],
            unsplit: is_unsplit(kind, number).then(|| "it has a clause".to_owned()),
            ..Region::of_kind(kind)
        };
        let node = |(((parent, within), region), rows): (Key, BTreeMap<usize, Row>)| Node {
            parent,
            region,
            within,
            rows: rows.into_values().collect(),
        };
        Profile {
            schema: SCHEMA.to_owned(),
            version: VERSION,
            run: Run {
                duration_ns,
                max_threads: self.threads.len() as u32,
                processors: 1 + self.threads.len() as u32 / 2,
                ..Run::default()
            },
            regions: self.regions.iter().map(region).collect(),
            threads: self
                .threads
                .into_iter()
                .map(|path| Thread {
                    path,
                    ..Thread::default()
                })
                .collect(),
            nodes: self.nodes.into_iter().map(node).collect(),
            ..Profile::default()
        }
    }
}

/// Whether a construct ends with a wait in which tasks may be executed.
fn ends_with_wait(kind: RegionKind) -> bool {
    matches!(
        kind,
        RegionKind::Parallel
            | RegionKind::ParallelLoop
            | RegionKind::Loop
            | RegionKind::Single
            | RegionKind::Scope
            | RegionKind::Taskgroup
    )
}

/// Regions with at least this number could not be split.
const UNSPLIT: usize = 2;

/// Whether a region could not be split. The wait at the end of a task group is always measured.
fn is_unsplit(kind: RegionKind, number: usize) -> bool {
    number >= UNSPLIT && kind != RegionKind::Taskgroup
}

impl Construct {
    fn is_unsplit(&self) -> bool {
        is_unsplit(self.kind, self.number)
    }

    /// Whether it is measured as a whole, like combined constructs that could not be split.
    fn is_outside(&self) -> bool {
        self.kind == RegionKind::ParallelWorkshare && self.is_unsplit()
    }

    fn tasks(&self) -> Vec<Construct> {
        let tasks = self.inside.iter();
        tasks
            .filter(|it| it.kind.is_task_execution())
            .cloned()
            .collect()
    }

    fn not_tasks(&self) -> Vec<Construct> {
        let others = self.inside.iter();
        others
            .filter(|it| !it.kind.is_task_execution())
            .cloned()
            .collect()
    }

    /// Enter, own work, wait and exit of one thread.
    fn own_times(&self, place: usize) -> [u64; 4] {
        let time = |n: usize| self.times[(place + n) % self.times.len()];
        [time(0) / 7, time(1), time(2), time(3) / 11]
    }
}

pub(crate) fn profiles() -> impl Strategy<Value = Profile> {
    let constructs = proptest::collection::vec(construct(), 0..4);
    let overlap = proptest::option::of(0..=100_u64);
    let all = (constructs, 1..3_u32, 0..1_000_000_u64, overlap);
    all.prop_map(|(constructs, initial, rest, overlap)| {
        let mut simulation = Simulation::default();
        let initial: Vec<usize> = (0..initial)
            .map(|number| simulation.thread(vec![number]))
            .collect();
        let taken = simulation.run(&constructs, (None, PseudoRegion::Body), &initial);
        let duration = taken.into_iter().max().unwrap_or(0) + rest;
        let mut profile = simulation.profile(duration);
        if let Some(overlap) = overlap.filter(|_| initial.len() > 1) {
            profile.run.parallel_ns = Some(duration * overlap / 100);
        }
        profile
    })
}

/// A run of two threads with two loops side by side. They took 10 and 100 nanoseconds once,
/// then 20 and 200 nanoseconds in two executions.
#[allow(dead_code)] // not every test that includes this file needs it
pub(crate) fn two_regions() -> Profile {
    let mut simulation = Simulation::default();
    let threads = [0, 1].map(|number| simulation.thread(vec![number]));
    for number in 0..2 {
        let count = number as u64 + 1;
        let node = simulation.node((None, PseudoRegion::Body), RegionKind::Loop, number);
        for (thread, ns) in threads.into_iter().zip([10, 100]) {
            for _ in 0..count {
                simulation.record(node, thread, &[(PseudoRegion::Main, ns)]);
            }
        }
    }
    simulation.profile(1000)
}
