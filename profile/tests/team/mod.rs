//! A parallel region of 80 s in a run of 100 s with two threads, and the causes found in it.

#![allow(dead_code)] // Each user needs a part of it.

use profile::analysis::{Cause, CauseKind, Report};
use profile::model::{Node, Profile, Row, Scheduling, Span};
use profile::region_kind::{PseudoRegion, RegionKind};

use PseudoRegion::{Body, Ibarr, Main, Seq};
use RegionKind as Kind;

use crate::by_hand::{SECOND, node, row, run};

pub(crate) const THREADS: &[&[u32]] = &[&[0], &[0, 0], &[0, 1]];

/// The causes, without the serial part, which all of these runs have.
pub(crate) fn causes(profile: &Profile) -> Vec<Cause> {
    let mut list = Report::new(profile).causes.list;
    list.retain(|cause| cause.kind != CauseKind::SerialPart);
    list
}

/// Kind, first region and seconds to win, of each cause.
pub(crate) fn found(profile: &Profile) -> Vec<(CauseKind, Option<usize>, u64)> {
    let list = causes(profile);
    let told = list.iter().map(|cause| {
        let seconds = (cause.likely.ns + SECOND / 2) / SECOND;
        (cause.kind, cause.place.regions.first().copied(), seconds)
    });
    told.collect()
}

/// A parallel region of 80 s with constructs in it.
pub(crate) fn team(kinds: &[Kind], nodes: Vec<Node>) -> Profile {
    let mut all = vec![Kind::Parallel];
    all.extend(kinds);
    let mut profile = run(&all, THREADS);
    for (line, region) in (10..).zip(&mut profile.regions) {
        region.begin = [line, line];
    }
    let member = |thread| row(thread, &[(Main, 80), (Body, 80)]);
    let rows = vec![row(0, &[(Seq, 80)]), member(1), member(2)];
    profile.nodes = vec![node(None, 0, Body, rows)];
    profile.nodes.extend(nodes);
    profile
}

/// A construct in the region, with the work and the wait of each thread.
pub(crate) fn loop_of(region: usize, times: [[u64; 2]; 2]) -> Node {
    let rows = [1, 2].into_iter().zip(times);
    let rows = rows.map(|(thread, [work, wait])| {
        row(thread, &[(Main, work + wait), (Body, work), (Ibarr, wait)])
    });
    node(Some(0), region, Body, rows.collect())
}

pub(crate) fn times(thread: usize, part: PseudoRegion, count: u64, seconds: u64) -> Row {
    Row::of(thread).with(part, span_of(count, seconds))
}

pub(crate) fn span_of(count: u64, seconds: u64) -> Span {
    let ns = seconds * SECOND;
    Span { count, ns }
}

/// A single in which one thread executes a taskloop for 40 s, with tasks that have events. The
/// thread itself executes tasks for `of_creator` seconds. The other thread waits for 40 s, and
/// executes tasks for `of_other` seconds of these.
pub(crate) fn single_with_taskloop(tasks: u64, of_creator: u64, of_other: u64) -> Profile {
    let kinds = [Kind::Single, Kind::Taskloop, Kind::TaskExec];
    let mut profile = team(&kinds, vec![loop_of(1, [[40, 0], [0, 40]])]);
    let executed = |thread, seconds| {
        let mut row = row(thread, &[(Main, seconds)]);
        row.main.count = tasks;
        vec![row]
    };
    profile
        .nodes
        .push(node(Some(1), 2, Body, vec![row(1, &[(Main, 40)])]));
    profile
        .nodes
        .push(node(Some(2), 3, Main, executed(1, of_creator)));
    profile
        .nodes
        .push(node(Some(1), 3, Ibarr, executed(2, of_other)));
    // Both regions belong to one construct.
    let loop_at = profile.regions[2].begin;
    profile.regions[3].begin = loop_at;
    profile
}

/// The kinds of the causes that are found.
pub(crate) fn kinds_of(profile: &Profile) -> Vec<CauseKind> {
    found(profile).into_iter().map(|it| it.0).collect()
}

/// Kernel figures of two threads that had no processor for `ready` of 160 seconds.
pub(crate) fn busy(mut profile: Profile, ready: u64, processors: u32) -> Profile {
    profile.run.processors = processors;
    profile.run.scheduling = Some(Scheduling {
        threads: 2,
        run_ns: (160 - ready) * SECOND,
        ready_ns: ready * SECOND,
        most_ready_ns: ready * SECOND,
        processors,
        ..Scheduling::default()
    });
    profile
}
