//! Wall-like times: the time that a node adds to the run's duration.
//!
//! The times of threads that run at the same time do not add up to wall time. So each thread's
//! time is multiplied by its *weight*:
//!
//! - [`super::initial`] computes the weights of the initial threads: a single one has weight 1.
//! - A team's members share the weight of the thread that forked them, so that
//!   `sum of weight x member's main = forker's weight x forker's seq`. For a team of `n` that
//!   is ompP's "CPU time divided by thread count". It also holds if the team's size changes
//!   from one execution to the next.
//!
//! The inclusive time is the weighted time of a node. The exclusive time is the inclusive time
//! minus the time of the same threads in the nodes below. Below a parallel region, its members
//! are counted. A nested region is counted there with the `seq` of the threads that forked it.
//! So the exclusive times of all nodes, and of the program itself, add up to the duration, at
//! any depth of nesting.

use super::initial::Initial;
use super::teams::Forkers;
use super::tree::{Slots, Tree};
use crate::columns::{Measures, occupied};
use crate::model::Profile;
use crate::order;

/// Wall-like time of one node, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Wall {
    pub(crate) inclusive: f64,
    pub(crate) exclusive: f64,
}

/// The wall-like times of all nodes.
#[derive(Debug)]
pub(crate) struct Walls {
    pub(crate) nodes: Vec<Wall>,
    /// Wall time during which any initial thread had a team, in nanoseconds.
    pub(crate) coverage_ns: f64,
    /// The weights of the threads in each scope: first the initial threads, then the members of
    /// each node's teams.
    scopes: Vec<ScopeWeights>,
}

/// The weights of the threads in a scope.
#[derive(Clone, Debug, Default)]
struct ScopeWeights {
    /// Threads in order, with their weights.
    of: Vec<(usize, f64)>,
    otherwise: f64,
}

impl Walls {
    /// The factor from a thread's time to wall time, in a scope.
    pub(crate) fn weight(&self, scope: Option<usize>, thread: usize) -> f64 {
        let scope = scope.map_or(0, |node| node + 1);
        let Some(weights) = self.scopes.get(scope) else {
            return 0.0;
        };
        let place = weights
            .of
            .binary_search_by_key(&thread, |(thread, _)| *thread);
        place.map_or(weights.otherwise, |place| weights.of[place].1)
    }
}

/// Computes the wall-like times of all nodes.
pub(crate) fn wall_times(profile: &Profile, tree: &Tree<'_>) -> Walls {
    let mut scopes: Vec<Vec<usize>> = vec![Vec::new(); tree.nodes.len()];
    let mut outermost = Vec::new();
    for (here, node) in tree.nodes.iter().enumerate() {
        match node.scope {
            Some(scope) => scopes[scope].push(here),
            None => outermost.push(here),
        }
    }
    let mut work = Weighing {
        tree,
        forkers: Forkers::new(&profile.threads),
        walls: vec![Wall::default(); tree.nodes.len()],
        fork_weights: vec![Vec::new(); tree.nodes.len()],
        scopes: vec![ScopeWeights::default(); tree.nodes.len() + 1],
        weights: Weights::new(profile.threads.len()),
        teams: Slots::new(profile.threads.len()),
    };
    let initial = Initial::new(profile, tree);
    work.weights.start(1.0);
    for &(thread, weight) in &initial.weights {
        work.weights.set(thread, weight);
    }
    work.keep_weights(0, 1.0, initial.weights);
    work.weigh(&outermost);
    // A scope stands before its inner scopes, as parents stand before children.
    for (here, node) in tree.nodes.iter().enumerate() {
        if node.kind.is_parallel() {
            work.open_scope(here);
            work.weigh(&scopes[here]);
        }
    }
    work.take_out_of_forks();
    Walls {
        nodes: work.walls,
        coverage_ns: initial.coverage_ns,
        scopes: work.scopes,
    }
}

struct Weighing<'a, 'p> {
    tree: &'a Tree<'p>,
    forkers: Forkers,
    walls: Vec<Wall>,
    /// For each parallel node, the weights of its rows in the outer scope.
    fork_weights: Vec<Vec<f64>>,
    scopes: Vec<ScopeWeights>,
    weights: Weights,
    teams: Slots,
}

/// The sums of a forked team.
struct Team {
    /// The forker's weight times its time from fork to join.
    wall: f64,
    /// The time of all members.
    members: u64,
}

impl Weighing<'_, '_> {
    /// Adds the weighted rows of a scope's nodes. The weights must be set before.
    fn weigh(&mut self, nodes: &[usize]) {
        for &here in nodes {
            let node = &self.tree.nodes[here];
            if node.kind.is_parallel() {
                self.fork_weights[here] = node
                    .rows()
                    .map(|row| self.weights.of(row.row.thread))
                    .collect();
                continue;
            }
            for row in node.rows() {
                let busy = occupied(node.kind, row.row);
                let weight = self.weights.of(row.row.thread);
                self.walls[here].add(weight, busy, row.nested.all);
            }
        }
    }

    /// Sets the weights of a parallel region's members, and weighs the region.
    fn open_scope(&mut self, here: usize) {
        let node = &self.tree.nodes[here];
        let teams = self.teams(here);
        let members: Vec<Measures<'_>> = node.members().collect();
        // Members whose forker is not in the profile are weighed as one team.
        let alone = 1.0 / members.len().max(1) as f64;
        let mut weights = Vec::with_capacity(members.len());
        self.weights.start(alone);
        for member in members {
            let thread = member.row.thread;
            let team = self
                .forkers
                .of(thread)
                .and_then(|forker| self.teams.get(forker));
            if let Some(team) = team
                .map(|team| &teams[team])
                .filter(|team| team.members > 0)
            {
                self.weights.set(thread, team.wall / team.members as f64);
            }
            let weight = self.weights.of(thread);
            weights.push((thread, weight));
            self.walls[here].add(weight, member.row.main.ns, member.nested.all);
        }
        self.keep_weights(here + 1, alone, weights);
        // A team without members in the profile still took its time.
        for team in teams.iter().filter(|team| team.members == 0) {
            self.walls[here].inclusive += team.wall;
            self.walls[here].exclusive += team.wall;
        }
    }

    fn keep_weights(&mut self, scope: usize, otherwise: f64, mut of: Vec<(usize, f64)>) {
        order::sort_by_key(&mut of, |(thread, _)| *thread);
        self.scopes[scope] = ScopeWeights { of, otherwise };
    }

    /// The time that threads spend on other things between fork and join belongs to the outer
    /// scope, and is in none of the members' rows.
    fn take_out_of_forks(&mut self) {
        for (here, node) in self.tree.nodes.iter().enumerate() {
            if !node.kind.is_parallel() {
                continue;
            }
            let besides = node.children.iter();
            let besides = besides.filter(|&&child| self.tree.nodes[child].scope != Some(here));
            let ns: f64 = besides.map(|&child| self.walls[child].inclusive).sum();
            let exclusive = &mut self.walls[here].exclusive;
            *exclusive = (*exclusive - ns).max(0.0);
        }
    }

    /// The teams of a parallel region, one for each thread that forked.
    fn teams(&mut self, here: usize) -> Vec<Team> {
        let node = &self.tree.nodes[here];
        let mut teams = Vec::new();
        self.teams.start();
        for (row, weight) in node.rows().zip(&self.fork_weights[here]) {
            if row.row.seq().ns > 0 {
                self.teams.set(row.row.thread, teams.len());
                teams.push(Team {
                    wall: weight * row.row.seq().ns as f64,
                    members: 0,
                });
            }
        }
        for member in node.members() {
            let team = self
                .forkers
                .of(member.row.thread)
                .and_then(|forker| self.teams.get(forker));
            if let Some(team) = team {
                teams[team].members += member.row.main.ns;
            }
        }
        teams
    }
}

impl Wall {
    fn add(&mut self, weight: f64, busy: u64, nested: u64) {
        self.inclusive += weight * busy as f64;
        self.exclusive += weight * busy.saturating_sub(nested) as f64;
    }
}

/// The weights of the threads of one scope.
struct Weights {
    slots: Slots,
    values: Vec<f64>,
    /// The weight of threads without a weight of their own.
    otherwise: f64,
}

impl Weights {
    fn new(threads: usize) -> Self {
        Self {
            slots: Slots::new(threads),
            values: vec![0.0; threads],
            otherwise: 0.0,
        }
    }

    fn start(&mut self, otherwise: f64) {
        self.slots.start();
        self.otherwise = otherwise;
    }

    fn set(&mut self, thread: usize, weight: f64) {
        self.slots.set(thread, thread);
        self.values[thread] = weight;
    }

    fn of(&self, thread: usize) -> f64 {
        self.slots
            .get(thread)
            .map_or(self.otherwise, |thread| self.values[thread])
    }
}
