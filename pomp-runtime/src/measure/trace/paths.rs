//! The paths of threads, each with a number. A member's path is the path of the thread that forked,
//! and the member's number in the team. The number is asked for when a thread begins in a team at a
//! call path for the first time.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use crate::measure::errno;
use crate::measure::mutex::lock;
use crate::measure::records::Node;
use crate::measure::records::node::Origin;

/// The path of the thread that forked, if any, and the number of the member.
pub(super) type Step = (Option<u32>, u32);

/// All paths so far.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    steps: Vec<Step>,
    numbers: BTreeMap<Step, u32>,
}

static PATHS: Mutex<Paths> = Mutex::new(Paths {
    steps: Vec::new(),
    numbers: BTreeMap::new(),
});

/// The paths, locked.
pub(super) fn locked() -> MutexGuard<'static, Paths> {
    lock(&PATHS)
}

impl Paths {
    /// The paths from this number on.
    pub(super) fn since(&self, number: usize) -> &[Step] {
        self.steps.get(number..).unwrap_or_default()
    }

    /// Forgets them.
    pub(super) fn clear(&mut self) {
        self.steps.clear();
        self.numbers.clear();
    }

    fn number(&mut self, step: Step) -> u32 {
        *self.numbers.entry(step).or_insert_with(|| {
            self.steps.push(step);
            u32::try_from(self.steps.len() - 1).unwrap_or(u32::MAX)
        })
    }
}

/// The number of the path of a thread's root, plus one.
#[inline(always)]
pub(super) fn path_number(root: &'static Node) -> u64 {
    match root.path.get() {
        0 => errno::keep(|| find(root)),
        path => path,
    }
}

#[cold]
#[inline(never)]
fn find(root: &'static Node) -> u64 {
    let step = match root.place() {
        Origin::Member(number) => (root.parent().map(path_around), number),
        Origin::Initial(number) => (None, number),
        Origin::Within(_) => return 0,
    };
    let number = locked().number(step);
    root.path.set(u64::from(number) + 1);
    u64::from(number) + 1
}

/// The number of the path of the thread that has this node.
fn path_around(node: &'static Node) -> u32 {
    let mut root = node;
    while let (Origin::Within(_), Some(parent)) = (root.place(), root.parent()) {
        root = parent;
    }
    let path = path_number(root).saturating_sub(1);
    u32::try_from(path).unwrap_or(0)
}
