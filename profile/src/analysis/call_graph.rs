//! The call graph: every call path once, callers before callees, with the time that it adds to
//! the run's duration (see [`super::wall`]). The callees of one caller are ordered by time, the
//! longest first.

use super::Share;
use super::tree::Tree;
use super::wall::Wall;
use crate::order;

/// The call graph of a run.
#[derive(Clone, Debug)]
pub struct CallGraph {
    /// The program itself: its duration, and the part of it in no region.
    pub program: Times,
    /// All call paths, callees right after their callers.
    pub paths: Vec<CallPath>,
}

/// Inclusive and exclusive wall-like time; percent of the duration.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// Including the called regions.
    pub inclusive: Share,
    /// Excluding the called regions.
    pub exclusive: Share,
}

/// One call path. It has the name of its last region.
#[derive(Clone, Copy, Debug)]
pub struct CallPath {
    /// Index of the region.
    pub region: usize,
    /// Index of the caller in [`CallGraph::paths`].
    pub caller: Option<usize>,
    /// Number of callers up to the program; 1 right below it.
    pub level: usize,
    /// Whether it is the last of its caller's callees.
    pub is_last: bool,
    /// Whether it called nothing.
    pub is_leaf: bool,
    /// Its times.
    pub times: Times,
    /// Index of its node in the tree.
    pub(crate) node: usize,
}

pub(crate) fn call_graph(tree: &Tree<'_>, walls: &[Wall], duration_ns: u64) -> CallGraph {
    let share = |ns: f64| Share::of(ns.round() as u64, duration_ns);
    let called: f64 = tree.roots.iter().map(|&root| walls[root].inclusive).sum();
    let program = Times {
        inclusive: Share::of(duration_ns, duration_ns),
        exclusive: share((duration_ns as f64 - called).max(0.0)),
    };
    let mut paths: Vec<CallPath> = Vec::with_capacity(tree.nodes.len());
    // Nodes still to be shown, the next one last.
    let mut waiting: Vec<(usize, Option<usize>, bool)> = Vec::new();
    push_callees(&tree.roots, None, walls, &mut waiting);
    while let Some((node, caller, is_last)) = waiting.pop() {
        let here = paths.len();
        let wall = walls[node];
        paths.push(CallPath {
            region: tree.nodes[node].region,
            caller,
            level: caller.map_or(1, |caller| paths[caller].level + 1),
            is_last,
            is_leaf: tree.nodes[node].children.is_empty(),
            times: Times {
                inclusive: share(wall.inclusive),
                exclusive: share(wall.exclusive),
            },
            node,
        });
        push_callees(&tree.nodes[node].children, Some(here), walls, &mut waiting);
    }
    CallGraph { program, paths }
}

fn push_callees(
    nodes: &[usize],
    caller: Option<usize>,
    walls: &[Wall],
    waiting: &mut Vec<(usize, Option<usize>, bool)>,
) {
    let mut nodes = nodes.to_vec();
    let time = |node: usize| walls[node].inclusive;
    // Longest last, since the last one is taken first. Of equal ones, the node entered first
    // comes first.
    order::sort_by(&mut nodes, |&a, &b| {
        time(a).total_cmp(&time(b)).then(b.cmp(&a))
    });
    waiting.extend(
        nodes
            .iter()
            .enumerate()
            .map(|(place, &node)| (node, caller, place == 0)),
    );
}
