//! Merges the threads' call-path trees into one profile. The profile has a node for each merged
//! node, and in it a row for each thread that was there.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use profile::descriptor::Descriptor;
use profile::model::{self, Profile, Row, SCHEMA, SourceFile, Span, VERSION};
use profile::order;
use profile::parallel::map_parts;
use profile::region_kind::RegionKind;

use super::node_merge::{Merged, Placed, Places};
pub(crate) use super::snapshot::Snapshot;
use super::waits;
use crate::hash::Map;
use crate::measure::active;
use crate::measure::calls::totals::Totals;
use crate::measure::clock::Scale;
use crate::measure::records::Node;
use crate::measure::records::Region;
use crate::measure::records::node::Origin;

/// How the times of a profile are converted, and whether more will come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ending {
    pub(crate) scale: Scale,
    /// When measurement began and ended, in ticks.
    pub(crate) span: [u64; 2],
    /// Whether measurement has ended.
    pub(crate) is_last: bool,
}

/// Merges what the threads recorded.
pub(crate) fn merge(snapshot: &Snapshot, regions: &[&'static Region], ending: Ending) -> Profile {
    // A function that is filtered out does not count as a region that did not run.
    let is_shown = |region: &&Region| !region.off || region.kind != RegionKind::Function;
    let mut regions: Vec<&'static Region> = regions.iter().copied().filter(is_shown).collect();
    order::sort_by_key(&mut regions, |region| position(region));
    let places = Places::new(snapshot, &regions);
    let mut profile = Profile {
        schema: SCHEMA.to_owned(),
        version: VERSION,
        regions: regions.iter().map(|region| describe(region)).collect(),
        sources: sources(&regions),
        ..Profile::default()
    };
    profile.run.max_threads = snapshot.widest();
    profile.run.parallel_ns = snapshot.covered.map(|ticks| ending.scale.to_ns(ticks));
    profile.run.incremental = !ending.is_last;
    profile.run.notes = notes(snapshot);
    profile.serial = serial(&places, ending);
    let rank = write_threads(&mut profile, &places);
    write_nodes(&mut profile, &places, &rank, ending.scale);
    if snapshot.pauses > 0 {
        remove_empty(&mut profile.nodes);
    }
    waits::describe(&mut profile, &places, &rank, ending.scale);
    profile
}

/// The serial part, divided by the regions that it lies between.
fn serial(places: &Places<'_>, ending: Ending) -> Vec<model::Serial> {
    let [begin, end] = ending.span;
    let gaps = active::gaps(begin, end);
    let index = |region: Option<&'static Region>| region.map(|region| places.index_of(region));
    let described = gaps.iter().filter_map(|gap| {
        Some(model::Serial {
            after: index(gap.after).map_or(Some(None), |index| index.map(Some))?,
            before: index(gap.before).map_or(Some(None), |index| index.map(Some))?,
            count: gap.count,
            ns: ending.scale.to_ns(gap.ticks),
        })
    });
    let mut serial: Vec<model::Serial> = described.filter(|serial| serial.ns > 0).collect();
    order::sort_by_key(&mut serial, |serial| {
        (Reverse(serial.ns), serial.after, serial.before)
    });
    serial
}

/// Removes the call paths that were only passed while measurement was off. In `nodes`, parents
/// come before their children.
fn remove_empty(nodes: &mut Vec<model::Node>) {
    let mut stays = vec![false; nodes.len()];
    for (index, node) in nodes.iter().enumerate().rev() {
        stays[index] |= !node.rows.is_empty();
        if let Some(parent) = node.parent.filter(|_| stays[index]) {
            stays[parent] = true;
        }
    }
    let mut count = 0;
    let places: Vec<usize> = stays
        .iter()
        .map(|stays| {
            count += usize::from(*stays);
            count.saturating_sub(1)
        })
        .collect();
    let mut stay = stays.iter();
    nodes.retain(|_| stay.next().copied().unwrap_or(true));
    for node in nodes {
        node.parent = node.parent.map(|parent| places[parent]);
    }
}

/// The order of regions: that of the source.
fn position(region: &Region) -> (&str, u32, u32, profile::region_kind::RegionKind, &str) {
    let Region {
        descriptor, kind, ..
    } = region;
    let begin = &descriptor.begin;
    (
        &begin.file,
        begin.first,
        descriptor.column,
        *kind,
        &descriptor.region_type,
    )
}

fn describe(region: &Region) -> model::Region {
    let descriptor = region.descriptor.clone();
    let end = descriptor.end_lines();
    model::Region {
        kind: region.kind,
        region_type: descriptor.region_type,
        file: descriptor.begin.file,
        begin: [descriptor.begin.first, descriptor.begin.last],
        end,
        column: descriptor.column,
        name: descriptor.name,
        function: descriptor.function,
        directive: descriptor.directive,
        ordinal: descriptor.ordinal,
        schedule: descriptor.schedule,
        variable: descriptor.variable,
        num_sections: descriptor.num_sections,
        unsplit: region.hidden_end_reason().map(str::to_owned),
        code: descriptor.code,
        near: false,
    }
}

/// The files of the regions whose hashes are known.
fn sources(regions: &[&Region]) -> Vec<SourceFile> {
    let known = regions.iter().filter_map(|region| {
        let Descriptor { begin, hash, .. } = &region.descriptor;
        Some((&begin.file, hash.as_ref()?))
    });
    let files: BTreeSet<(&String, &String)> = known.collect();
    let files = files.into_iter().map(|(file, hash)| SourceFile {
        file: file.clone(),
        hash: hash.clone(),
    });
    files.collect()
}

/// Notes for a reader of the profile.
fn notes(snapshot: &Snapshot) -> Vec<String> {
    // A pause cuts regions: that exits are missing is no surprise then.
    let surprising = |count: u64| if snapshot.pauses == 0 { count } else { 0 };
    let counts = [
        (
            "times that the program switched measurement off; what it did meanwhile is not known",
            snapshot.pauses,
        ),
        (
            "regions that were still open when this was written, and were closed at that moment",
            snapshot.open,
        ),
        ("locks still held when this was written", snapshot.held),
        (
            "regions that were left without an exit event, and were closed with the region around them",
            surprising(snapshot.skipped),
        ),
        (
            "events that matched no open region and were ignored",
            surprising(snapshot.unmatched),
        ),
        (
            "times that a thread began in one of several teams that initial threads had forked at the same \
             place and time; it may be shown in the wrong team",
            snapshot.guessed,
        ),
        (
            "tasks that did not end where they began; the rest of their time counts for the region around it",
            snapshot.migrated,
        ),
        (
            "executions on call paths for which ROMP_MEMORY left no room; they count for the region around them",
            snapshot.folded,
        ),
        (
            "team members without a shutdown time, since a join is missing",
            surprising(snapshot.unpaired),
        ),
    ];
    counts
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(what, count)| format!("{what}: {count}"))
        .chain(throttled(snapshot))
        .collect()
}

/// The note that names the throttled regions.
fn throttled(snapshot: &Snapshot) -> Option<String> {
    let names = named(snapshot.throttled.iter().copied());
    (!names.is_empty()).then(|| {
        format!(
            "regions that were counted but no longer timed after many short executions \
             (ROMP_THROTTLE): {names}"
        )
    })
}

/// The names of nodes' regions, each once. Their number, if some are known by their machine code
/// only, whose lines are found later.
fn named(nodes: impl Iterator<Item = &'static Node>) -> String {
    let regions: BTreeMap<u32, &Descriptor> = nodes
        .filter_map(|node| Some((node.region()?.number, &node.region()?.descriptor)))
        .collect();
    if regions.values().any(|region| region.code.is_some()) {
        return regions.len().to_string();
    }
    let place = |region: &&Descriptor| {
        let begin = &region.begin;
        let kind = RegionKind::nearest(&region.region_type).row();
        format!("{} at {}:{}", kind.full_name, begin.file, begin.first)
    };
    let names: BTreeSet<String> = regions.values().map(place).collect();
    let names: Vec<String> = names.into_iter().collect();
    names.join(", ")
}

/// Writes the threads in an order that does not depend on the run, that of their paths.
/// Gives the new index of each.
fn write_threads(profile: &mut Profile, places: &Places<'_>) -> Vec<usize> {
    let mut threads: Vec<usize> = (0..places.paths.len()).collect();
    order::sort_by_key(&mut threads, |thread| &places.paths[*thread]);
    let mut rank = vec![0; threads.len()];
    for (new, old) in threads.iter().enumerate() {
        rank[*old] = new;
        profile.threads.push(model::Thread {
            path: places.paths[*old].clone(),
            ..model::Thread::default()
        });
    }
    rank
}

/// Writes the nodes in an order that does not depend on the run, that of their call
/// paths in the source.
fn write_nodes(profile: &mut Profile, places: &Places<'_>, rank: &[usize], scale: Scale) {
    let parts = Parts::new(places);
    let are_many = model::rows_are_many(parts.sorted.len());
    profile.nodes = map_parts(are_many, &ordered(&places.merged), &|part: &[Ordered]| {
        let nodes = part.iter().map(|node| {
            let Merged { key, region } = places.merged[node.merged];
            let is_parallel = profile.regions[region].kind.is_parallel();
            let parts = parts.of(node.merged).iter();
            let parts = parts.map(|part| (rank[part.thread], part.node));
            model::Node {
                parent: node.parent,
                region,
                within: key.within,
                rows: rows(places.snapshot, parts.collect(), is_parallel, scale),
            }
        });
        nodes.collect()
    });
}

/// A merged node, with the place of its parent in the order of the profile.
struct Ordered {
    merged: usize,
    parent: Option<usize>,
}

/// The merged nodes by call path.
fn ordered(merged: &[Merged]) -> Vec<Ordered> {
    let mut children: Map<Option<usize>, Vec<usize>> = Map::default();
    for (index, node) in merged.iter().enumerate() {
        children.entry(node.key.parent).or_default().push(index);
    }
    let mut ordered = Vec::with_capacity(merged.len());
    // Depth first, by hand: call paths can be deep.
    let mut pending: Vec<(Option<usize>, Option<usize>)> = vec![(None, None)];
    while let Some((old, parent)) = pending.pop() {
        let new = old.map(|merged| {
            ordered.push(Ordered { merged, parent });
            ordered.len() - 1
        });
        let mut below = children.remove(&old).unwrap_or_default();
        order::sort_by_key(&mut below, |child| {
            Reverse((merged[*child].region, merged[*child].key.within))
        });
        pending.extend(below.into_iter().map(|child| (Some(child), new)));
    }
    ordered
}

/// The parts of each merged node. A thread has several parts if it was several operating system
/// threads.
struct Parts {
    /// The parts of the first merged node, then those of the second, and so on.
    sorted: Vec<Placed>,
    /// Where the parts of each merged node end.
    ends: Vec<usize>,
}

impl Parts {
    fn new(places: &Places<'_>) -> Self {
        let mut ends = vec![0; places.merged.len()];
        for placed in places.placed() {
            ends[placed.merged] += 1;
        }
        let mut count = 0;
        for end in &mut ends {
            // Holds the place of the node's next part until all parts are in place.
            count += std::mem::replace(end, count);
        }
        let mut sorted = vec![Placed::default(); count];
        for placed in places.placed() {
            let next = &mut ends[placed.merged];
            sorted[*next] = placed;
            *next += 1;
        }
        Self { sorted, ends }
    }

    fn of(&self, merged: usize) -> &[Placed] {
        let before = merged.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.sorted[before..self.ends[merged]]
    }
}

/// The rows of a merged node, whose parts are given with the index of their thread.
fn rows(
    snapshot: &Snapshot,
    mut parts: Vec<(usize, usize)>,
    is_parallel: bool,
    scale: Scale,
) -> Vec<Row> {
    // Sorting comes before the rows are made, which are large.
    parts.sort_by_key(|(thread, _)| *thread);
    let mut rows: Vec<Row> = Vec::with_capacity(parts.len());
    for (thread, node) in parts {
        let totals = snapshot.totals(node);
        if totals == Totals::default() {
            continue;
        }
        let is_member = is_parallel && matches!(snapshot.nodes[node].place(), Origin::Member(_));
        let row = row(thread, &totals, is_member, scale)
            .with_counters(snapshot.counted(node))
            .with_estimate(snapshot.estimate(node, scale))
            .with_chunk_requests(snapshot.chunk_requests(node, scale))
            .with_reduction(snapshot.reduction(node, scale));
        match rows.last_mut().filter(|last| last.thread == thread) {
            Some(last) => *last += &row,
            None => rows.push(row),
        }
    }
    rows
}

/// The row for the records of one operating system thread at a node.
#[inline(always)]
fn row(thread: usize, totals: &Totals, is_member: bool, scale: Scale) -> Row {
    let mut row = Row::of(thread).with_all(totals.map(|total| Span {
        count: total.count,
        ns: scale.to_ns(total.ticks),
    }));
    if is_member {
        let parts = [row.enter(), row.body, row.ibarr, row.exit()];
        let ns = parts.iter().map(|part| part.ns).sum();
        row.main = Span {
            count: row.exit().count,
            ns,
        };
    }
    row
}
