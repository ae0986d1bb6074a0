//! From the threads' call-path trees to one profile.
//!
//! Nodes are merged by (parent, region, pseudo-region of the parent). The root
//! of a team member merges with the fork node, so that a worker's call paths
//! stand below those of the thread that forked; the row says which thread.

use std::collections::BTreeSet;

use profile::descriptor::Descriptor;
use profile::model::{self, Profile, Row, SCHEMA, Span, VERSION};
use profile::parallel::map_parts;
use profile::region_kind::PseudoRegion;

use super::profile::{Node, Place};
pub(crate) use super::snapshot::Snapshot;
use super::snapshot::Totals;
use super::spread::Map;
use super::waits;
use crate::measure::clock::Scale;
use crate::measure::region::Region;

/// How the times of a profile are told, and whether more will come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ending {
    pub(crate) scale: Scale,
    /// Whether measurement has ended.
    pub(crate) is_last: bool,
}

/// Merges what the threads recorded.
pub(crate) fn merge(snapshot: &Snapshot, regions: &[&'static Region], ending: Ending) -> Profile {
    // A function that is not wanted is none of the regions that did not run.
    let is_shown = |region: &&Region| !region.off || region.descriptor.code.is_none();
    let mut regions: Vec<&'static Region> = regions.iter().copied().filter(is_shown).collect();
    regions.sort_by_key(|region| position(region));
    let mut tree = Tree::new(snapshot, &regions);
    tree.place();
    let placed = tree.placed();
    let mut profile = Profile {
        schema: SCHEMA.to_owned(),
        version: VERSION,
        regions: regions.iter().map(|region| describe(region)).collect(),
        ..Profile::default()
    };
    profile.run.max_threads = tree.widest();
    profile.run.incremental = !ending.is_last;
    profile.run.notes = notes(snapshot);
    let rank = tree.write(&mut profile, ending.scale);
    waits::describe(&mut profile, snapshot, &placed, &rank, ending.scale);
    profile
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
    model::Region {
        kind: region.kind,
        region_type: descriptor.region_type,
        file: descriptor.begin.file,
        begin: [descriptor.begin.first, descriptor.begin.last],
        end: [descriptor.end.first, descriptor.end.last],
        column: descriptor.column,
        name: descriptor.name,
        function: descriptor.function,
        directive: descriptor.directive,
        ordinal: descriptor.ordinal,
        schedule: descriptor.schedule,
        num_sections: descriptor.num_sections,
        unsplit: descriptor.unsplit,
        code: descriptor.code,
    }
}

/// What a reader of the profile should know.
fn notes(snapshot: &Snapshot) -> Vec<String> {
    // A pause cuts regions: that exits are missing is no surprise then.
    let surprising = |count: u64| if snapshot.pauses == 0 { count } else { 0 };
    let counts = [
        (
            "times that the program switched measurement off, of which nothing is known",
            snapshot.pauses,
        ),
        (
            "regions still open when this was written, and closed at that moment",
            snapshot.open,
        ),
        ("locks still held when this was written", snapshot.held),
        (
            "regions left without their exit, and closed by one around them",
            surprising(snapshot.skipped),
        ),
        (
            "events that matched no open region, and were ignored",
            surprising(snapshot.unmatched),
        ),
        (
            "times that a thread began in one of several teams which initial threads had forked \
             from one place at once, and may stand under the wrong one",
            snapshot.guessed,
        ),
        (
            "tasks that did not end where they began, and whose rest counts for what their \
             thread did around it",
            snapshot.migrated,
        ),
        (
            "executions on call paths for which ROMP_MEMORY left no room, and which count for \
             what surrounds them",
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

/// What says which regions were throttled.
fn throttled(snapshot: &Snapshot) -> Option<String> {
    let nodes = snapshot.nodes.iter().filter(|node| node.is_throttled());
    let names: BTreeSet<String> = nodes
        .filter_map(|node| {
            let Descriptor {
                region_type, begin, ..
            } = &node.region()?.descriptor;
            Some(format!("{region_type} at {}:{}", begin.file, begin.first))
        })
        .collect();
    let names: Vec<String> = names.into_iter().collect();
    (!names.is_empty()).then(|| {
        format!(
            "regions that were counted but no longer timed after many short executions \
             (ROMP_THROTTLE): {}",
            names.join(", ")
        )
    })
}

/// Identity of a merged node: parent, region, pseudo-region of the parent.
type Key = (Option<usize>, usize, PseudoRegion);

/// A merged node: its identity, and the nodes that it is made of, several for a thread
/// that was several operating system threads.
struct Merged {
    key: Key,
    nodes: Vec<Part>,
}

/// A node of the snapshot.
#[derive(Clone, Copy)]
struct Part {
    node: usize,
    /// Whether it is the root of a team's member.
    is_member: bool,
}

/// The tree that is built.
struct Tree<'a> {
    snapshot: &'a Snapshot,
    /// By address.
    regions: Map<usize, usize>,
    merged: Vec<Merged>,
    by_key: Map<Key, usize>,
    /// Thread paths in the order in which they were met.
    paths: Vec<Vec<u32>>,
    by_path: Map<Vec<u32>, usize>,
    /// Per node, once known.
    places: Vec<Option<Position>>,
    /// The parent that was looked for last: siblings come one after the other.
    last_parent: Option<(&'static Node, Position)>,
}

/// Where a node belongs.
#[derive(Clone, Copy)]
struct Position {
    /// The merged node; none for the program itself.
    merged: Option<usize>,
    /// Index of the thread path.
    thread: usize,
}

/// Of which region and thread a node of the snapshot is.
pub(super) struct Placed {
    /// Index in the snapshot.
    pub(super) node: usize,
    /// Index among the regions of the profile.
    pub(super) region: usize,
    /// Index of the thread path, before the paths are sorted.
    pub(super) thread: usize,
}

impl<'a> Tree<'a> {
    fn new(snapshot: &'a Snapshot, regions: &[&'static Region]) -> Self {
        Self {
            snapshot,
            regions: regions
                .iter()
                .enumerate()
                .map(|(index, region)| (std::ptr::from_ref(*region).addr(), index))
                .collect(),
            merged: Vec::new(),
            by_key: Map::default(),
            paths: Vec::new(),
            by_path: Map::default(),
            places: vec![None; snapshot.nodes.len()],
            last_parent: None,
        }
    }

    /// Finds out where the nodes belong.
    fn place(&mut self) {
        for (node, known) in self.snapshot.nodes.iter().enumerate() {
            if known.recursion().is_none()
                && let Some(position) = self.position(node)
                && let Some(merged) = position.merged
            {
                let is_member = matches!(known.place(), Place::Member(_));
                self.merged[merged].nodes.push(Part { node, is_member });
            }
        }
    }

    /// Where the nodes of regions belong.
    fn placed(&self) -> Vec<Placed> {
        let places = self.places.iter().enumerate();
        let placed = places.filter_map(|(node, position)| {
            let Position { merged, thread } = (*position)?;
            let (_, region, _) = self.merged[merged?].key;
            Some(Placed {
                node,
                region,
                thread,
            })
        });
        placed.collect()
    }

    /// Where a node belongs; none if a thread that still runs has made part of
    /// its path after the snapshot.
    fn position(&mut self, index: usize) -> Option<Position> {
        if let Some(position) = self.places[index] {
            return Some(position);
        }
        let node = self.snapshot.nodes[index];
        let parent = match node.parent() {
            Some(parent) => Some(self.position_of_parent(parent)?),
            None => None,
        };
        let position = match (node.place(), parent) {
            (Place::Initial(number), _) => Position {
                merged: None,
                thread: self.thread(vec![number]),
            },
            (Place::Member(number), Some(fork)) => {
                let mut path = self.paths[fork.thread].clone();
                path.push(number);
                Position {
                    thread: self.thread(path),
                    ..fork
                }
            }
            (Place::Within(within), Some(parent)) => {
                let region = *self
                    .regions
                    .get(&std::ptr::from_ref(node.region()?).addr())?;
                Position {
                    merged: Some(self.node((parent.merged, region, within))),
                    ..parent
                }
            }
            _ => return None,
        };
        self.places[index] = Some(position);
        Some(position)
    }

    fn position_of_parent(&mut self, parent: &'static Node) -> Option<Position> {
        match self.last_parent {
            Some((node, position)) if std::ptr::eq(node, parent) => Some(position),
            _ => {
                let position = self.position(self.snapshot.find(parent)?)?;
                self.last_parent = Some((parent, position));
                Some(position)
            }
        }
    }

    fn thread(&mut self, path: Vec<u32>) -> usize {
        *self.by_path.entry(path).or_insert_with_key(|path| {
            self.paths.push(path.clone());
            self.paths.len() - 1
        })
    }

    fn node(&mut self, key: Key) -> usize {
        *self.by_key.entry(key).or_insert_with(|| {
            self.merged.push(Merged {
                key,
                nodes: Vec::new(),
            });
            self.merged.len() - 1
        })
    }

    /// The largest number of threads that can have been in one team and in the
    /// teams of its members.
    fn widest(&self) -> u32 {
        let forks = self.snapshot.forks().filter_map(|fork| self.width(fork));
        forks.max().unwrap_or(1)
    }

    /// Threads of the largest team of a fork node, times those around it.
    fn width(&self, fork: usize) -> Option<u32> {
        let size = self.snapshot.teams(fork).map(|(size, _)| size).max()?;
        let mut node = self.snapshot.nodes[fork];
        while let Place::Within(_) = node.place() {
            node = node.parent()?;
        }
        let around = match node.parent() {
            Some(outer) => self.width(self.snapshot.find(outer)?).unwrap_or(1),
            None => 1,
        };
        Some(size.saturating_mul(around))
    }

    /// Writes threads and nodes in an order that does not depend on the run:
    /// threads by path, nodes by call path in source order. Gives the new index
    /// of each thread path.
    fn write(&self, profile: &mut Profile, scale: Scale) -> Vec<usize> {
        let mut threads: Vec<usize> = (0..self.paths.len()).collect();
        threads.sort_by_key(|thread| &self.paths[*thread]);
        let mut rank = vec![0; threads.len()];
        for (new, old) in threads.iter().enumerate() {
            rank[*old] = new;
            profile.threads.push(model::Thread {
                path: self.paths[*old].clone(),
                ..model::Thread::default()
            });
        }
        let ordered = self.ordered();
        let rows = ordered.iter().map(|(old, _)| self.merged[*old].nodes.len());
        let are_many = model::rows_are_many(rows.sum());
        profile.nodes = map_parts(are_many, &ordered, &|part: &[(usize, Option<usize>)]| {
            let nodes = part.iter().map(|(old, parent)| model::Node {
                parent: *parent,
                region: self.merged[*old].key.1,
                within: self.merged[*old].key.2,
                rows: self.rows(*old, &rank, scale),
            });
            nodes.collect()
        });
        rank
    }

    /// The merged nodes by call path, each with the place of its parent in this order.
    fn ordered(&self) -> Vec<(usize, Option<usize>)> {
        let mut children: Map<Option<usize>, Vec<usize>> = Map::default();
        for (index, merged) in self.merged.iter().enumerate() {
            children.entry(merged.key.0).or_default().push(index);
        }
        let mut ordered = Vec::with_capacity(self.merged.len());
        // Depth first, by hand: call paths can be deep.
        let mut pending: Vec<(Option<usize>, Option<usize>)> = vec![(None, None)];
        while let Some((old, parent)) = pending.pop() {
            let new = old.map(|old| {
                ordered.push((old, parent));
                ordered.len() - 1
            });
            let mut below = children.remove(&old).unwrap_or_default();
            below.sort_by_key(|child| std::cmp::Reverse(self.merged[*child].key));
            pending.extend(below.into_iter().map(|child| (Some(child), new)));
        }
        ordered
    }

    /// The rows of a merged node, by thread.
    fn rows(&self, merged: usize, rank: &[usize], scale: Scale) -> Vec<Row> {
        let parts = &self.merged[merged].nodes;
        let placed = parts.iter().filter_map(|part| {
            let position = self.places[part.node]?;
            Some((rank[position.thread], *part))
        });
        // Before there are rows, which are large.
        let mut placed: Vec<(usize, Part)> = placed.collect();
        placed.sort_by_key(|(thread, _)| *thread);
        let mut rows: Vec<Row> = Vec::with_capacity(placed.len());
        for (thread, Part { node, is_member }) in placed {
            let totals = self.snapshot.totals(node);
            if totals == Totals::default() {
                continue;
            }
            let mut row = row(thread, &totals, is_member, scale);
            row.counters = self.snapshot.counted(node);
            match rows.last_mut().filter(|last| last.thread == thread) {
                Some(last) => *last += &row,
                None => rows.push(row),
            }
        }
        rows
    }
}

/// The row of what one operating system thread recorded at a node.
fn row(thread: usize, totals: &Totals, is_member: bool, scale: Scale) -> Row {
    let mut row = Row {
        thread,
        ..Row::default()
    };
    for (pseudo_region, total) in PseudoRegion::ALL.into_iter().zip(totals) {
        *row.span_mut(pseudo_region) = Span {
            count: total.count,
            ns: scale.to_ns(total.ticks),
        };
    }
    if is_member {
        let parts = [row.enter, row.body, row.ibarr, row.exit];
        let ns = parts.iter().map(|part| part.ns).sum();
        row.main = Span {
            count: row.exit.count,
            ns,
        };
    }
    row
}
