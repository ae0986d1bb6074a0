//! The call-path tree, with the facts that follow from its shape: children, team scopes,
//! recursion, and how long each thread was busy below each node.
//!
//! A *scope* is the nearest parallel region above a node. The node is executed by members of
//! that region's teams, or by initial threads if there is no such region. A parallel region
//! belongs to two scopes. The forking thread belongs to the outer one, and is busy there from
//! fork to join (`seq`). The members' rows belong to the scope that the region opens. So a
//! thread's time is counted once in each scope, and a member's rows are never subtracted from
//! those of the thread that forked it. The forking thread may do other things between fork and
//! join: it evaluates clauses, or the construct is measured as a whole. This time belongs to
//! the outer scope too.
//!
//! Nodes whose parent or region does not exist are left out, and so are rows whose thread does
//! not exist. This code also runs at the end of a measured program, where a wrong profile must
//! do no harm.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::updates::Updates;
use crate::columns::{Measures, Nested, is_waiting, occupied};
use crate::model::{Node, Profile, Row};
use crate::overheads::{self, Category, Charge, Cost};
use crate::region_kind::{Barrier, PseudoRegion, RegionKind};

/// One node, prepared for the analyses.
#[derive(Debug)]
pub(crate) struct TreeNode<'p> {
    pub(crate) region: usize,
    pub(crate) kind: RegionKind,
    /// Index of the parent; always before this node.
    pub(super) parent: Option<usize>,
    /// Indices of the children in [`Tree::nodes`]; always after this node.
    pub(crate) children: Vec<usize>,
    /// The parent's pseudo-region in which it was entered.
    pub(super) within: PseudoRegion,
    /// The nearest parallel region above.
    pub(crate) scope: Option<usize>,
    /// The parallel region above for which the same thread is about to start a team, or whose
    /// team it waits for.
    pub(crate) beside: Option<usize>,
    /// Whether the same threads are already inside the same region.
    pub(crate) repeats: bool,
    /// Whether the same region stands anywhere above.
    pub(crate) inside_itself: bool,
    /// The recorded rows, completed by estimates.
    pub(super) rows: Cow<'p, [Row]>,
    /// How the time of the wait at its end is known, if it has one.
    pub(super) barrier: Barrier,
    /// Threads that created tasks here, where the tasks have no events. So these threads' own
    /// time may contain the tasks.
    pub(super) creators_of_hidden_tasks: Vec<usize>,
    /// Threads whose wait there may have been work, and how much of it.
    maybe_tasks: Vec<(usize, u64)>,
    /// Whether it is a construct whose sections were not seen.
    pub(super) hides_sections: bool,
    /// Of an atomic construct: what is known of all updates of the profile.
    updates: Option<Arc<Updates>>,
    /// The sums over the nodes below, for each row's thread. Empty for nodes without children,
    /// to save memory: most nodes have none, and most rows belong to them.
    nested: Vec<Nested>,
}

impl<'p> TreeNode<'p> {
    /// Whether an initial thread forked teams here, while it had no other team.
    pub(crate) fn is_outermost_team(&self) -> bool {
        self.kind.is_parallel() && self.scope.is_none() && self.beside.is_none()
    }

    /// The rows of all threads that were here.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Measures<'_>> {
        let nested = self.nested.iter().copied();
        let nested = nested.chain(std::iter::repeat(Nested::default()));
        let rows = self.rows.iter().zip(nested);
        rows.map(|(row, nested)| Measures {
            row,
            nested: Nested {
                hidden_wait: self.maybe_tasks(row.thread),
                ..nested
            },
        })
    }

    /// The rows of the threads that execute the construct. For a parallel region, rows of
    /// threads that only forked are left out, unless nothing else is known about their team.
    pub(crate) fn executors(&self) -> impl Iterator<Item = Measures<'_>> {
        let only_members = self.kind.is_parallel();
        self.rows()
            .filter(move |row| !only_members || !row.row.main.is_zero())
    }

    /// For a parallel region, the rows of its teams' members.
    pub(crate) fn members(&self) -> impl Iterator<Item = Measures<'_>> {
        self.executors().filter(|row| !self.is_untold(row.row))
    }

    /// Whether it is a parallel region for which the profile contains only the forking threads.
    pub(crate) fn is_outside(&self) -> bool {
        let mut rows = self.executors().peekable();
        rows.peek().is_some() && rows.all(|row| self.is_untold(row.row))
    }

    /// Whether the row of this thread stands for a team.
    pub(crate) fn is_untold_for(&self, thread: usize) -> bool {
        self.row_of(thread).is_some_and(|row| self.is_untold(row))
    }

    /// The row of a thread.
    pub(super) fn row_of(&self, thread: usize) -> Option<&Row> {
        let found = self.rows.binary_search_by_key(&thread, |row| row.thread);
        found.ok().map(|at| &self.rows[at])
    }

    /// Whether a row stands for a team about which nothing else is known.
    pub(crate) fn is_untold(&self, row: &Row) -> bool {
        self.kind.is_parallel() && !row.main.is_zero() && !row.seq().is_zero()
    }

    /// The time that a thread lost here to one of the construct's costs.
    pub(super) fn lost(&self, cost: &Cost, measures: &Measures<'_>) -> u64 {
        let creates_tasks = self.creators_of_hidden_tasks.contains(&measures.row.thread);
        match (creates_tasks, &self.updates) {
            (true, _) => 0,
            (false, Some(updates)) => updates.wait_of(self.region, measures.row),
            (false, None) => cost.quantity.inclusive(measures),
        }
    }

    /// Of an atomic construct: the time of the updates without that of their expressions.
    pub(super) fn waited_in_updates(&self) -> u64 {
        let Some(updates) = &self.updates else {
            return 0;
        };
        let waits = self
            .executors()
            .map(|it| updates.wait_of(self.region, it.row));
        waits.sum()
    }

    /// The part of the thread's own time here that may have been work or waiting.
    pub(crate) fn untold_ns(&self, measures: &Measures<'_>) -> u64 {
        let is_hidden = self.barrier == Barrier::Hidden && self.rows.len() > 1;
        match is_hidden || self.is_untold(measures.row) {
            true => measures.row.main.ns.saturating_sub(measures.nested.all),
            // For a barrier, the measured time is kept.
            false if self.kind == RegionKind::Barrier => 0,
            false => measures.nested.hidden_wait,
        }
    }

    /// Whether threads entered this child while they waited here, so that it is part of a task.
    /// Tasks of a `taskloop` have no node of their own.
    pub(super) fn waits_during(&self, child: &TreeNode<'_>) -> bool {
        // An estimated barrier is the rest of the construct's time after its own part.
        let is_left_over = self.barrier == Barrier::Estimated
            && match self.kind {
                kind if kind.is_parallel() => false,
                // The own part of `sections` is in the `section` nodes.
                RegionKind::Sections => {
                    is_in_body(child.within) && child.kind != RegionKind::Section
                }
                _ => child.within == PseudoRegion::Main,
            };
        is_left_over || is_waiting(self.kind, child.within)
    }

    /// The part of a thread's wait that may have been tasks.
    pub(super) fn maybe_tasks(&self, thread: usize) -> u64 {
        let of = |(of, ns): &(usize, u64)| if *of == thread { *ns } else { 0 };
        self.maybe_tasks.iter().map(of).sum()
    }

    /// Whether some of its wait may have been tasks.
    pub(crate) fn may_have_tasks(&self) -> bool {
        !self.maybe_tasks.is_empty()
    }

    /// Takes up to `most` nanoseconds from the wait in each chosen row, since this time may
    /// have been tasks. The time in `known`, by thread, stays.
    pub(super) fn hide_waits(
        &mut self,
        most: u64,
        known: &BTreeMap<usize, u64>,
        is_meant: impl Fn(&Row) -> bool,
    ) {
        let is_barrier = self.kind == RegionKind::Barrier;
        for row in self.rows.to_mut().iter_mut().filter(|row| is_meant(row)) {
            let wait = if is_barrier {
                row.main.ns
            } else {
                row.ibarr.ns
            };
            let known = known.get(&row.thread).copied().unwrap_or_default();
            let hidden = most.min(wait.saturating_sub(known));
            if !is_barrier {
                row.ibarr.ns -= hidden;
            }
            if hidden > 0 {
                self.maybe_tasks.push((row.thread, hidden));
            }
        }
    }

    /// The counter values of a thread here, if it was here.
    pub(crate) fn counters_of(&self, thread: usize) -> Option<&[u64]> {
        let row = self.rows.binary_search_by_key(&thread, |row| row.thread);
        row.ok().map(|row| self.rows[row].counters())
    }

    /// The number of rows.
    pub(crate) fn threads(&self) -> usize {
        self.rows.len()
    }
}

/// The tree.
#[derive(Debug)]
pub(crate) struct Tree<'p> {
    /// Parents stand before their children.
    pub(crate) nodes: Vec<TreeNode<'p>>,
    /// The nodes without a parent.
    pub(crate) roots: Vec<usize>,
}

impl<'p> Tree<'p> {
    /// The tree of what was measured. [`super::estimate::tree`] is the one for the analyses.
    pub(super) fn of_measured(profile: &'p Profile) -> Self {
        let mut tree = Self {
            nodes: Vec::with_capacity(profile.nodes.len()),
            roots: Vec::new(),
        };
        tree.link(profile);
        tree.mark_recursion(profile.regions.len());
        tree.find_work_in_updates(profile);
        tree
    }

    /// Whether a thread's time at a node counts there. The time for starting a team is part of
    /// its members' start, unless nothing is known about the members.
    pub(crate) fn is_charged(&self, node: &TreeNode<'_>, thread: usize) -> bool {
        let beside = node.beside.filter(|_| !node.kind.is_parallel());
        beside.is_none_or(|fork| self.nodes[fork].is_untold_for(thread))
    }

    /// Takes over the nodes whose indices are valid.
    fn link(&mut self, profile: &'p Profile) {
        let mut place: Vec<Option<usize>> = Vec::with_capacity(profile.nodes.len());
        for node in &profile.nodes {
            let parent = match node.parent {
                Some(parent) => place.get(parent).copied().flatten().map(Some),
                None => Some(None),
            };
            let here = match (parent, profile.regions.get(node.region)) {
                (Some(parent), Some(region)) => {
                    Some(self.push(node, region.kind, parent, profile.threads.len()))
                }
                _ => None,
            };
            place.push(here);
        }
    }

    fn push(
        &mut self,
        node: &'p Node,
        kind: RegionKind,
        parent: Option<usize>,
        threads: usize,
    ) -> usize {
        let here = self.nodes.len();
        let (scope, beside) = match parent {
            Some(parent) => {
                self.nodes[parent].children.push(here);
                let above = &self.nodes[parent];
                match (above.kind.is_parallel(), node.within) {
                    (true, PseudoRegion::Seq) => (above.scope, Some(parent)),
                    (true, _) => (Some(parent), None),
                    (false, _) => (above.scope, above.beside),
                }
            }
            None => {
                self.roots.push(here);
                (None, None)
            }
        };
        let known = node.rows.iter().take_while(|row| row.thread < threads);
        let rows = node.rows.get(..known.count()).unwrap_or_default();
        self.nodes.push(TreeNode {
            region: node.region,
            kind,
            parent,
            children: Vec::new(),
            within: node.within,
            scope,
            beside,
            repeats: false,
            inside_itself: false,
            rows: Cow::Borrowed(rows),
            barrier: Barrier::Measured,
            creators_of_hidden_tasks: Vec::new(),
            maybe_tasks: Vec::new(),
            hides_sections: false,
            updates: None,
            nested: Vec::new(),
        });
        here
    }

    /// Walks down the tree and keeps, for each region, the scope in which it is open.
    fn mark_recursion(&mut self, regions: usize) {
        enum Step {
            Enter(usize),
            Leave {
                region: usize,
                before: Option<Option<usize>>,
            },
        }
        let mut open: Vec<Option<Option<usize>>> = vec![None; regions];
        let mut steps: Vec<Step> = self.roots.iter().map(|&root| Step::Enter(root)).collect();
        while let Some(step) = steps.pop() {
            match step {
                Step::Leave { region, before } => open[region] = before,
                Step::Enter(here) => {
                    let node = &mut self.nodes[here];
                    let before = open[node.region];
                    node.inside_itself = before.is_some();
                    // The members of a team are different threads.
                    node.repeats = !node.kind.is_parallel() && before == Some(node.scope);
                    open[node.region] = Some(node.scope);
                    steps.push(Step::Leave {
                        region: node.region,
                        before,
                    });
                    steps.extend(node.children.iter().map(|&child| Step::Enter(child)));
                }
            }
        }
    }

    /// Finds what the expressions of atomic constructs work.
    fn find_work_in_updates(&mut self, profile: &Profile) {
        let is_atomic = |node: &&TreeNode<'_>| node.kind == RegionKind::Atomic;
        if !self.nodes.iter().any(|node| is_atomic(&node)) {
            return;
        }
        let atomics = self.nodes.iter().filter(is_atomic);
        let calling = atomics.filter(|node| !node.children.is_empty());
        let calling = calling.map(|node| node.region).collect();
        let updates = Arc::new(Updates::of(profile, calling));
        let atomics = self.nodes.iter_mut();
        for node in atomics.filter(|node| node.kind == RegionKind::Atomic) {
            node.updates = Some(Arc::clone(&updates));
        }
    }

    /// Adds to each row how long its thread was busy in the nodes below.
    pub(super) fn add_up_nested(&mut self, threads: usize) {
        let mut slots = Slots::new(threads);
        // Children first, since the sums of a `section` are passed on to its parent.
        for here in (0..self.nodes.len()).rev() {
            let (before, after) = self.nodes.split_at_mut(here + 1);
            let Some(parent) = before.last_mut() else {
                continue;
            };
            if parent.children.is_empty() {
                parent.fill_unseen_sections();
                continue;
            }
            slots.start();
            let only_members = parent.kind.is_parallel();
            for (index, row) in parent.rows.iter().enumerate() {
                if !only_members || !row.main.is_zero() {
                    slots.set(row.thread, index);
                }
            }
            let mut nested = vec![Nested::default(); parent.rows.len()];
            for &child in &parent.children {
                let child = &after[child - here - 1];
                let costs: Vec<&Cost> = overheads::costs_of(child.kind).collect();
                for below in child.rows() {
                    if let Some(index) = slots.get(below.row.thread) {
                        nested[index].add(parent, child, &below);
                        nested[index].add_deep(child, &costs, &below);
                    }
                }
            }
            parent.nested = nested;
            parent.fill_unseen_sections();
        }
    }
}

impl TreeNode<'_> {
    /// Of a construct with sections: if no section was seen, all that the barrier leaves was spent
    /// in sections. LLVM's runtime does not report them (`romp run`).
    fn fill_unseen_sections(&mut self) {
        let has_sections = matches!(
            self.kind,
            RegionKind::Sections | RegionKind::ParallelSections
        );
        if !has_sections || self.nested.iter().any(|of| of.sections.count > 0) {
            return;
        }
        self.hides_sections = true;
        self.nested.resize(self.rows.len(), Nested::default());
        for (nested, row) in self.nested.iter_mut().zip(self.rows.iter()) {
            let work = row.main.ns.saturating_sub(row.ibarr.ns);
            nested.sections.ns = work;
            nested.in_sections = nested.in_body;
            nested.in_body = work;
        }
    }
}

impl Nested {
    fn add(&mut self, parent: &TreeNode<'_>, child: &TreeNode<'_>, below: &Measures<'_>) {
        let busy = occupied(child.kind, below.row);
        self.all += busy;
        if is_in_body(child.within) {
            self.in_body += busy;
        }
        if parent.waits_during(child) {
            self.tasks += busy;
        }
        if child.kind == RegionKind::Section {
            self.sections += below.row.main;
            self.in_sections += below.nested.all;
        }
    }

    /// Adds the thread's losses in a child and below it, and the time for which it had forked
    /// teams.
    fn add_deep(&mut self, child: &TreeNode<'_>, costs: &[&Cost], below: &Measures<'_>) {
        if child.kind.is_parallel() {
            self.forked += below.row.seq().ns;
            return;
        }
        for cost in costs {
            let ns = child.lost(cost, below);
            match cost.charge {
                Charge::To(Category::Mgmt) => self.managed += ns,
                _ => self.waited += ns,
            }
        }
        self.untold += child.untold_ns(below) + below.nested.untold;
        self.forked += below.nested.forked;
        self.managed += below.nested.managed;
        self.waited += below.nested.waited;
    }
}

/// A map from threads to indices that can be emptied without touching every entry.
#[derive(Debug)]
pub(crate) struct Slots {
    round: u32,
    entries: Vec<(u32, usize)>,
}

impl Slots {
    pub(crate) fn new(threads: usize) -> Self {
        Self {
            round: 0,
            entries: vec![(0, 0); threads],
        }
    }

    /// Empties the map.
    pub(crate) fn start(&mut self) {
        self.round += 1;
    }

    pub(crate) fn set(&mut self, thread: usize, value: usize) {
        self.entries[thread] = (self.round, value);
    }

    pub(crate) fn get(&self, thread: usize) -> Option<usize> {
        let (round, value) = self.entries[thread];
        (round == self.round).then_some(value)
    }
}

/// Whether time in this pseudo-region of the parent is time in its structured block.
fn is_in_body(within: PseudoRegion) -> bool {
    !matches!(
        within,
        PseudoRegion::Enter | PseudoRegion::Ibarr | PseudoRegion::Exit
    )
}
