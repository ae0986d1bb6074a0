//! Times that were not measured, as far as they follow from measured ones. Only this module
//! decides that, so every table and output agrees.
//!
//! - The **barrier at the end of a construct** has no events of its own where the construct
//!   could not be split (`Region::unsplit`). For a team, the measurement library records until
//!   when a member waited for the last one, as `ibarr`. Profiles without `ibarr` get POMPROF's
//!   estimate: the thread that left soonest did not wait. In a `single`, `scope` or `sections`,
//!   a thread with nothing more to execute waits, so the wait is the rest of the construct's
//!   time. All these times are *estimated*. In a loop or `workshare`, work cannot be separated from
//!   the wait that follows: that barrier is *hidden*.
//! - The tasks of a **taskloop** have no events if the OpenMP runtime is linked statically, or
//!   if the program is linked with the shared measurement library. Threads that wait during the
//!   taskloop may execute its tasks, so that part of their wait is *untold*: it may be waiting
//!   or work.
//! - A **team measured as a whole** has a forking thread and no members in the profile. The
//!   number of its threads, and their times, are not known. The forking thread was in the team
//!   for the whole time, and stands for its members.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::teams::Forkers;
use super::tree::Tree;
use crate::columns::occupied;
use crate::model::{Profile, Region, Row, Span};
use crate::region_kind::{Barrier, PseudoRegion, RegionKind};

impl Barrier {
    /// The word in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Estimated => "estimated",
            Self::None => "none",
            Self::Hidden => "hidden",
        }
    }

    /// How the time at the barrier of a region that ran is known, according to the region's
    /// record.
    pub(super) fn of(region: &Region) -> Self {
        match region.unsplit {
            None => Self::Measured,
            Some(_) => region.kind.unsplit(),
        }
    }
}

/// The tree of a profile, completed by the times that were not measured.
pub(super) fn tree(profile: &Profile) -> Tree<'_> {
    let mut tree = Tree::of_measured(profile);
    complete(&mut tree, profile);
    hide_taskloops(&mut tree, profile);
    tree.add_up_nested(profile.threads.len());
    tree
}

/// Adds the estimated times to the rows of all nodes.
fn complete(tree: &mut Tree<'_>, profile: &Profile) {
    let forkers = Forkers::new(&profile.threads);
    for here in 0..tree.nodes.len() {
        let region = &profile.regions[tree.nodes[here].region];
        let barrier = Barrier::of(region);
        tree.nodes[here].barrier = barrier;
        let rows = match region.kind {
            kind if kind.is_parallel() => of_teams(tree, here, barrier, &forkers),
            RegionKind::Sections if barrier == Barrier::Estimated => of_sections(tree, here),
            _ if barrier == Barrier::Estimated => rest_of_body(&tree.nodes[here].rows),
            _ => continue,
        };
        if let Some(rows) = rows {
            tree.nodes[here].rows = Cow::Owned(rows);
        }
    }
}

/// Finds taskloops whose tasks have no events. The time of their tasks may be contained in the
/// waits around them, so that time is taken from the waits.
fn hide_taskloops(tree: &mut Tree<'_>, profile: &Profile) {
    let rank_of = |row: &Row| profile.threads.get(row.thread).and_then(|it| it.rank);
    let measured = measured_tasks(tree, profile, rank_of);
    for here in 0..tree.nodes.len() {
        let node = &tree.nodes[here];
        if node.kind != RegionKind::Taskloop {
            continue;
        }
        // Outside a team, no other thread could execute a thread's tasks.
        let is_in_team = node.scope.or(node.beside).is_some();
        let directive = profile.regions[node.region].directive.as_deref();
        let runs_on = directive.is_some_and(|text| text.contains("nogroup"));
        let ranks: BTreeSet<Option<u32>> = node.rows.iter().map(rank_of).collect();
        // No thread executes tasks of another process.
        for rank in ranks {
            let is_of_rank = |row: &Row| rank_of(row) == rank;
            if measured.contains(&(tree.nodes[here].region, rank)) {
                continue;
            }
            let rows = tree.nodes[here].rows.iter();
            let rows: Vec<&Row> = rows.filter(|row| is_of_rank(row)).collect();
            let creators: Vec<usize> = rows.iter().map(|row| row.thread).collect();
            let lasted = match runs_on {
                true => u64::MAX,
                false => rows.iter().map(|row| row.main.ns).sum(),
            };
            tree.nodes[here].creators_of_hidden_tasks.extend(creators);
            if !is_in_team {
                continue;
            }
            for place in waits_around(tree, here, is_of_rank) {
                let known = known_in_wait(tree, place);
                tree.nodes[place].hide_waits(lasted, &known, is_of_rank);
            }
        }
    }
}

/// The taskloops whose tasks have events, each with the ranks in which that is so.
fn measured_tasks(
    tree: &Tree<'_>,
    profile: &Profile,
    rank_of: impl Fn(&Row) -> Option<u32>,
) -> BTreeSet<(usize, Option<u32>)> {
    let regions = || profile.regions.iter().enumerate();
    let is_loop = |region: &Region| region.kind == RegionKind::Taskloop;
    let loops: Vec<_> = regions().filter(|(_, region)| is_loop(region)).collect();
    let mut measured = BTreeSet::new();
    if loops.is_empty() {
        return measured;
    }
    let executions = tree
        .nodes
        .iter()
        .filter(|node| node.kind.is_task_execution());
    for node in executions {
        let execution = &profile.regions[node.region];
        let of = loops.iter().find(|(_, it)| it.is_of_construct(execution));
        if let Some((creation, _)) = of {
            measured.extend(node.rows.iter().map(|row| (*creation, rank_of(row))));
        }
    }
    measured
}

/// The time of each thread in constructs that it entered while it waited at a node.
fn known_in_wait(tree: &Tree<'_>, place: usize) -> BTreeMap<usize, u64> {
    let node = &tree.nodes[place];
    let mut known = BTreeMap::new();
    let children = node.children.iter().map(|&child| &tree.nodes[child]);
    for child in children.filter(|child| node.waits_during(child)) {
        for row in child.rows.iter() {
            *known.entry(row.thread).or_default() += occupied(child.kind, row);
        }
    }
    known
}

/// The places where members of the team wait and may execute the tasks of a node: the end of
/// the innermost enclosing construct that has a barrier, or else the barriers next to the node
/// and at the end of its parallel region.
fn waits_around(tree: &Tree<'_>, here: usize, is_of_team: impl Fn(&Row) -> bool) -> Vec<usize> {
    let waits = |row: &Row| row.ibarr.ns > 0 && is_of_team(row);
    let has_wait = |place: usize| tree.nodes[place].rows.iter().any(waits);
    let mut place = here;
    while let Some(parent) = tree.nodes[place].parent {
        if has_wait(parent) && !tree.nodes[parent].kind.is_parallel() {
            return vec![parent];
        }
        if tree.nodes[parent].kind.is_parallel() {
            let children = tree.nodes[parent].children.iter().copied();
            let barriers = children.filter(|&child| tree.nodes[child].kind == RegionKind::Barrier);
            return barriers.chain([parent]).collect();
        }
        place = parent;
    }
    Vec::new()
}

/// Rows of forking threads stand for teams without members. A barrier without a time gets a
/// part of the exit times.
fn of_teams(tree: &Tree<'_>, here: usize, barrier: Barrier, forkers: &Forkers) -> Option<Vec<Row>> {
    let rows = &tree.nodes[here].rows;
    let mut soonest: HashMap<Option<usize>, u64> = HashMap::new();
    let members = rows.iter().filter(|row| !row.main.is_zero());
    for member in members.clone() {
        let exit = soonest.entry(forkers.of(member.thread)).or_insert(u64::MAX);
        *exit = member.exit().ns.min(*exit);
    }
    let is_untold = |row: &Row| {
        row.main.is_zero() && row.seq().ns > 0 && !soonest.contains_key(&Some(row.thread))
    };
    let is_rough = barrier == Barrier::Estimated
        && members.clone().count() > 0
        && members.clone().all(|row| row.ibarr.is_zero());
    if !is_rough && !rows.iter().any(is_untold) {
        return None;
    }
    let told = rows.iter().map(|row| {
        let mut told = row.clone();
        if is_untold(row) {
            told.main = row.seq();
        } else if is_rough && !row.main.is_zero() {
            let after = soonest.get(&forkers.of(row.thread)).copied();
            let after = after.unwrap_or_default().min(row.exit().ns);
            told.ibarr.ns = row.exit().ns - after;
            told.span_mut(PseudoRegion::Exit).ns = after;
        }
        told
    });
    Some(told.collect())
}

fn with_wait(row: &Row, own_part: u64) -> Row {
    let mut told = row.clone();
    told.ibarr = Span {
        count: 0,
        ns: row.main.ns.saturating_sub(own_part),
    };
    told
}

fn rest_of_body(rows: &[Row]) -> Option<Vec<Row>> {
    Some(rows.iter().map(|row| with_wait(row, row.body.ns)).collect())
}

fn of_sections(tree: &Tree<'_>, here: usize) -> Option<Vec<Row>> {
    let node = &tree.nodes[here];
    let children = node.children.iter().map(|&child| &tree.nodes[child]);
    let sections = children.filter(|child| child.kind == RegionKind::Section);
    let mut executed: HashMap<usize, u64> = HashMap::new();
    for row in sections.flat_map(|section| section.rows.iter()) {
        *executed.entry(row.thread).or_default() += row.main.ns;
    }
    let own = |row: &Row| executed.get(&row.thread).copied().unwrap_or(0);
    Some(
        node.rows
            .iter()
            .map(|row| with_wait(row, own(row)))
            .collect(),
    )
}
