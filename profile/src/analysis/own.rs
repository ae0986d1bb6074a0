//! The exclusive time of each call path: the time of a node without that of the nodes below
//! it, divided into work and waiting. The parts of all call paths and of the program itself
//! add up to the thread time of teams and serial parts.

use super::call_graph::CallGraph;
use super::tree::{Tree, TreeNode};
use crate::columns::{Measures, Quantity, occupied};
use crate::region_kind::RegionKind;

/// Own time of a call path, all threads together, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OwnTime {
    /// In the region itself.
    pub work_ns: u64,
    /// Getting in, such as waiting for a lock or starting a team.
    pub enter_ns: u64,
    /// Waiting at the end, without the tasks executed meanwhile.
    pub barrier_ns: u64,
    /// Getting out, such as giving back a lock or ending a team.
    pub exit_ns: u64,
}

impl OwnTime {
    /// The parts that are not work, with their names.
    #[must_use]
    pub fn waits(&self) -> [(&'static str, u64); 3] {
        [
            ("enter", self.enter_ns),
            ("barrier", self.barrier_ns),
            ("exit", self.exit_ns),
        ]
    }

    fn add(&mut self, node: &TreeNode<'_>, measures: &Measures<'_>) {
        let row = measures.row;
        let busy = match node.kind {
            kind if kind.is_parallel() => row.main.ns,
            kind => occupied(kind, row),
        };
        let own = busy.saturating_sub(measures.nested.all);
        let mut rest = own;
        let mut take = |ns: u64| {
            let ns = ns.min(rest);
            rest -= ns;
            ns
        };
        self.enter_ns += take(row.enter().ns);
        self.exit_ns += take(row.exit().ns);
        self.barrier_ns += take(match node.kind {
            RegionKind::Barrier => own,
            _ => Quantity::BarrierTime.inclusive(measures),
        });
        self.work_ns += rest;
    }
}

/// One per call path, in the call graph's order.
pub(crate) fn own_times(tree: &Tree<'_>, graph: &CallGraph) -> Vec<OwnTime> {
    let own = |node: &TreeNode<'_>| {
        let mut own = OwnTime::default();
        for measures in node.executors() {
            own.add(node, &measures);
        }
        own
    };
    graph
        .paths
        .iter()
        .map(|path| own(&tree.nodes[path.node]))
        .collect()
}
