//! Which thread forked the team of which thread.

use std::collections::HashMap;

use crate::model::Thread;

/// For each thread, the thread that forked its team.
pub(super) struct Forkers(Vec<Option<usize>>);

impl Forkers {
    pub(super) fn new(threads: &[Thread]) -> Self {
        let places: HashMap<(Option<u32>, &[u32]), usize> = threads
            .iter()
            .enumerate()
            .map(|(place, thread)| ((thread.rank, thread.path.as_slice()), place))
            .collect();
        let forker = |thread: &Thread| {
            let (_, path) = thread.path.split_last()?;
            places.get(&(thread.rank, path)).copied()
        };
        Self(threads.iter().map(forker).collect())
    }

    /// The thread that forked this thread's team; none if the profile does not contain it, or
    /// if this thread is an initial one.
    pub(super) fn of(&self, thread: usize) -> Option<usize> {
        self.0.get(thread).copied().flatten()
    }
}
