//! The tree of tasks: which tasks made which, how many there were, and how long they ran.
//!
//! Tasks of one construct that were made by tasks of one node are one node, so that a
//! recursion is as deep in the tree as it was when it ran. A task is known from its creation
//! to the begin of its execution; so memory is needed for tasks that wait, not for all.

use std::collections::HashMap;

use crate::layout::label_parts;
use crate::read::{ReadError, Trace};
use crate::replay::{Event, Listener, Open, replay_merged};

/// Deeper tasks count for the node of the task that made them, if that is of the same construct.
const DEEPEST: u32 = 64;

/// Tasks of one construct that were made in the same way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// The node of the tasks that made them; none if no task did.
    pub parent: Option<usize>,
    /// The construct: where they are created, or, if that is unknown, executed.
    pub region: u32,
    /// How deep in the tree, from 0.
    pub depth: u32,
    /// How many were created.
    pub created: u64,
    /// How many were executed to their end.
    pub executed: u64,
    /// Of these, how many by another thread than the one that made them.
    pub elsewhere: u64,
    /// Ticks in them, without tasks that the thread executed meanwhile.
    pub ticks: u64,
    /// Most ticks that one had.
    pub longest: u64,
}

/// All nodes; each comes after its parent.
///
/// # Errors
/// If the trace cannot be read.
pub fn tasks(trace: &Trace) -> Result<Vec<Node>, ReadError> {
    let mut tree = Tree::default();
    replay_merged(trace, &mut tree)?;
    Ok(in_order(&tree.nodes))
}

#[derive(Default)]
struct Tree {
    nodes: Vec<Node>,
    /// By node and region: the node of the tasks that are made there.
    children: HashMap<(Option<usize>, u32), usize>,
    /// Tasks that were created and not executed yet, by label.
    waiting: HashMap<u64, usize>,
    /// Tasks under way, by stream.
    running: HashMap<u64, Vec<Running>>,
    stream: u64,
}

/// A task that a thread executes.
struct Running {
    node: usize,
    start: u64,
    /// Ticks of tasks that the thread executed meanwhile.
    inner: u64,
    is_elsewhere: bool,
}

impl Tree {
    fn node(&mut self, parent: Option<usize>, region: u32) -> usize {
        let depth = parent.map_or(0, |parent| self.nodes[parent].depth + 1);
        if let Some(parent) = parent.filter(|_| depth > DEEPEST)
            && self.nodes[parent].region == region
        {
            return parent;
        }
        let next = self.nodes.len();
        let node = *self.children.entry((parent, region)).or_insert(next);
        if node == next {
            self.nodes.push(Node {
                parent,
                region,
                depth,
                ..Node::default()
            });
        }
        node
    }

    fn running(&mut self) -> &mut Vec<Running> {
        self.running.entry(self.stream).or_default()
    }

    fn ends(&mut self, time: u64) {
        let Some(task) = self.running().pop() else {
            return;
        };
        let whole = time.saturating_sub(task.start);
        if let Some(around) = self.running().last_mut() {
            around.inner += whole;
        }
        let own = whole.saturating_sub(task.inner);
        let node = &mut self.nodes[task.node];
        node.executed += 1;
        node.elsewhere += u64::from(task.is_elsewhere);
        node.ticks += own;
        node.longest = node.longest.max(own);
    }
}

impl Listener for Tree {
    fn stream(&mut self, stream: u64) {
        self.stream = stream;
    }

    fn event(&mut self, time: u64, open: &[Open], event: &Event) {
        let Some(top) = open.last() else { return };
        match event {
            Event::Create(label) => {
                let parent = self.running().last().map(|task| task.node);
                let node = self.node(parent, top.region);
                self.nodes[node].created += 1;
                self.waiting.insert(*label, node);
            }
            Event::Executes(label) => {
                let made = self.waiting.remove(label);
                let node = made.unwrap_or_else(|| self.node(None, top.region));
                let (maker, _) = label_parts(*label);
                let is_elsewhere = made.is_some() && maker != self.stream;
                self.running().push(Running {
                    node,
                    start: time,
                    inner: 0,
                    is_elsewhere,
                });
            }
            Event::End { .. } if top.is_task() => self.ends(time),
            _ => {}
        }
    }
}

/// The nodes in the order in which they are read: each after its parent, with all nodes below it.
fn in_order(nodes: &[Node]) -> Vec<Node> {
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    let mut rest = Vec::new();
    for (at, node) in nodes.iter().enumerate().rev() {
        match node.parent {
            Some(parent) => below[parent].push(at),
            None => rest.push(at),
        }
    }
    let mut places = vec![0; nodes.len()];
    let mut ordered = Vec::with_capacity(nodes.len());
    while let Some(at) = rest.pop() {
        places[at] = ordered.len();
        let parent = nodes[at].parent.map(|parent| places[parent]);
        ordered.push(Node {
            parent,
            ..nodes[at].clone()
        });
        rest.extend(&below[at]);
    }
    ordered
}
