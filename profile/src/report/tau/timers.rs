//! The timers of each thread. A thread here is a processor: a thread that forks a team and the
//! team's first member are one thread.
//!
//! The exclusive time of a timer is its time without the timers below it on the call path. The
//! implicit barrier of a construct is a timer below the construct. Time outside all timers
//! belongs to `.TAU application`, so that the exclusive times of a thread add up to the run.

use std::collections::{BTreeMap, HashMap};

use crate::analysis::{Label, Report, processor};
use crate::model::{Profile, Row};
use crate::printable::is_command;
use crate::region_kind::{PseudoRegion, RegionKind};

/// The timer for all time outside other timers.
pub(super) const APPLICATION: &str = ".TAU application";

/// Timers of longer call paths are left out. Their time counts for the last timer of the path
/// that is kept. TAU writes whole paths, whose size grows with the square of a recursion's
/// depth. TAU itself has a limit, too (`TAU_CALLPATH_DEPTH`).
const DEEPEST: usize = 100;

/// The values of a thread's timer. Times are in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Timer {
    pub(super) calls: u64,
    /// The number of calls of the timers directly below.
    pub(super) below: u64,
    pub(super) exclusive: u64,
    pub(super) inclusive: u64,
}

/// The timers of one thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Thread {
    pub(super) rank: u32,
    /// Its number in its process.
    pub(super) number: usize,
    pub(super) application: Timer,
    /// By call path, outermost first.
    pub(super) paths: BTreeMap<Vec<usize>, Timer>,
}

/// The timers of all threads.
#[derive(Debug)]
pub(super) struct Timers {
    /// The names to which the numbers in call paths refer: the name of each region, then that
    /// of its implicit barrier.
    pub(super) names: Vec<String>,
    pub(super) threads: Vec<Thread>,
}

/// The criterion by which timers are distinguished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    Region,
    Construct,
}

impl Timers {
    pub(super) fn new(report: &Report<'_>, by: By) -> Self {
        let profile = report.profile;
        let mut names: Vec<String> = Vec::new();
        let mut numbers: HashMap<String, usize> = HashMap::new();
        let mut number = |name: String| {
            *numbers.entry(name).or_insert_with_key(|name| {
                names.push(name.clone());
                names.len() - 1
            })
        };
        let of_regions: Vec<[usize; 2]> = report
            .labels
            .iter()
            .map(|label| [false, true].map(|is_barrier| number(name(label, by, is_barrier))))
            .collect();
        let paths = paths(profile, &of_regions);
        let mut threads = threads(report);
        for (node, [own, barrier]) in profile.nodes.iter().zip(&paths) {
            let Some(label) = report.labels.get(node.region) else {
                continue;
            };
            if own.len() > DEEPEST {
                continue;
            }
            for row in &node.rows {
                let known = profile.threads.get(row.thread).map(processor);
                let Some(thread) = known.and_then(|known| threads.get_mut(&known)) else {
                    continue;
                };
                add(thread, own, time(label.kind, row));
                add(thread, barrier, (row.ibarr.count, row.ibarr.ns));
            }
        }
        let mut threads: Vec<Thread> = threads.into_values().collect();
        // TAU's tools list threads by their numbers, which are given level by level.
        threads.sort_by_key(|thread| (thread.rank, thread.number));
        for thread in &mut threads {
            settle(thread, profile.run.duration_ns);
        }
        Self { names, threads }
    }

    /// The timers of a thread by name, summed up over call paths. Time of a timer inside itself
    /// counts once.
    pub(super) fn flat(&self, thread: &Thread) -> BTreeMap<usize, Timer> {
        let mut flat: BTreeMap<usize, Timer> = BTreeMap::new();
        for (path, timer) in &thread.paths {
            let Some((last, around)) = path.split_last() else {
                continue;
            };
            let sum = flat.entry(*last).or_default();
            sum.calls = sum.calls.saturating_add(timer.calls);
            sum.below = sum.below.saturating_add(timer.below);
            sum.exclusive = sum.exclusive.saturating_add(timer.exclusive);
            if !around.contains(last) {
                sum.inclusive = sum.inclusive.saturating_add(timer.inclusive);
            }
        }
        flat
    }
}

/// The call path of each node, and that of the implicit barrier at its end.
fn paths(profile: &Profile, of_regions: &[[usize; 2]]) -> Vec<[Vec<usize>; 2]> {
    let mut paths: Vec<[Vec<usize>; 2]> = Vec::new();
    for node in &profile.nodes {
        let around = node.parent.and_then(|parent| paths.get(parent));
        let around = around.map_or(&[][..], |[own, barrier]| match node.within {
            PseudoRegion::Ibarr => barrier,
            _ => own,
        });
        let path = match of_regions.get(node.region) {
            // A path that is one longer than the limit stands for all deeper paths.
            Some(_) if around.len() > DEEPEST => around.to_vec(),
            Some([own, _]) => [around, &[*own]].concat(),
            None => around.to_vec(),
        };
        let barrier = of_regions.get(node.region).map(|[_, barrier]| *barrier);
        let below = path.iter().copied().chain(barrier).collect();
        paths.push([path, below]);
    }
    paths
}

/// All threads, without timers, in the order of their paths.
fn threads<'p>(report: &Report<'p>) -> BTreeMap<crate::analysis::Processor<'p>, Thread> {
    let mut threads = BTreeMap::new();
    let mut keys: Vec<_> = report.profile.threads.iter().map(processor).collect();
    keys.sort_unstable_by_key(|&(rank, path)| (rank, path.len(), path));
    keys.dedup();
    let mut before = None;
    let mut number = 0;
    for key in keys {
        number = if before == Some(key.0) { number + 1 } else { 0 };
        before = Some(key.0);
        let thread = Thread {
            rank: key.0.unwrap_or_default(),
            number,
            ..Thread::default()
        };
        threads.insert(key, thread);
    }
    threads
}

/// The number of calls, and the time that the thread was in the construct.
fn time(kind: RegionKind, row: &Row) -> (u64, u64) {
    let ns = match kind {
        // Work while the lock is held has timers of its own.
        RegionKind::Lock => row.enter().ns.saturating_add(row.exit().ns),
        _ => row.main.ns,
    };
    (row.main.count, ns)
}

fn add(thread: &mut Thread, path: &[usize], (calls, ns): (u64, u64)) {
    if calls > 0 {
        let timer = thread.paths.entry(path.to_vec()).or_default();
        timer.calls = timer.calls.saturating_add(calls);
        timer.inclusive = timer.inclusive.saturating_add(ns);
    }
}

/// Computes exclusive times from the inside out. Adds timers for outer regions that the thread
/// itself did not enter, since another thread forked the team.
fn settle(thread: &mut Thread, duration: u64) {
    let mut all: Vec<Vec<usize>> = Vec::new();
    for path in thread.paths.keys() {
        all.extend((1..=path.len()).map(|length| path[..length].to_vec()));
    }
    all.sort_unstable_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    all.dedup();
    let mut below: BTreeMap<Vec<usize>, (u64, u64)> = BTreeMap::new();
    for path in all {
        let timer = thread.paths.entry(path.clone()).or_default();
        let (calls, ns) = below.get(&path).copied().unwrap_or_default();
        timer.below = calls;
        timer.exclusive = timer.inclusive.saturating_sub(ns);
        timer.inclusive = timer.exclusive.saturating_add(ns);
        let around = below.entry(path[..path.len() - 1].to_vec()).or_default();
        around.0 = around.0.saturating_add(timer.calls);
        around.1 = around.1.saturating_add(timer.inclusive);
        below.remove(&path);
    }
    let (calls, ns) = below.get(&Vec::new()).copied().unwrap_or_default();
    thread.application = Timer {
        calls: 1,
        below: calls,
        exclusive: duration.saturating_sub(ns),
        inclusive: duration.max(ns),
    };
}

/// The name of a timer, with its place as TAU writes it.
fn name(label: &Label, by: By, is_barrier: bool) -> String {
    let kind = label.kind.row().full_name;
    let what = match (&label.name, by) {
        (Some(name), By::Region) if label.kind == RegionKind::Function => name.clone(),
        (Some(name), By::Region) => format!("OpenMP {kind} {name}"),
        _ => format!("OpenMP {kind}"),
    };
    let what = if is_barrier {
        format!("{what} implicit barrier")
    } else {
        what
    };
    let place = || {
        let (file, first, last) = (&label.short_file, label.first, label.last);
        format!(
            " [{{{}}} {{{first},0}}-{{{last},0}}]",
            harmless(file).replace(' ', "_")
        )
    };
    let place = if by == By::Region {
        place()
    } else {
        String::new()
    };
    format!("{}{place}", harmless(&what))
}

/// Text without the characters that separate names in TAU's files.
fn harmless(text: &str) -> String {
    let is_harmful = |c: char| "\"{}[]".contains(c) || is_command(c);
    text.replace("=>", "->").replace(is_harmful, "_")
}
