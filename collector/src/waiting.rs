//! Threads at implicit barriers.
//!
//! A worker learns that the last barrier of its team is over only when it works again, in another
//! region and after it was idle, or never. So the thread that joins the team ends the waits that
//! are open then.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The address of a thread's [`AT`], and when its wait began.
type Wait = (usize, u64);

/// The open waits, by the instance of the parallel region.
static OPEN: Mutex<Option<HashMap<u64, Vec<Wait>>>> = Mutex::new(None);

thread_local! {
    /// The instance of the region in which this thread waits; 0 if that is unknown.
    static AT: Cell<u64> = const { Cell::new(0) };
}

fn open() -> MutexGuard<'static, Option<HashMap<u64, Vec<Wait>>>> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn this_thread() -> usize {
    AT.with(|at| std::ptr::from_ref(at).addr())
}

/// This thread begins to wait.
pub(crate) fn begin(region: u64, now: u64) {
    AT.set(region);
    if region != 0 {
        let mut open = open();
        let waits = open.get_or_insert_default().entry(region).or_default();
        waits.push((this_thread(), now));
    }
}

/// Ends the wait of this thread. Returns whether that is news: false if the team was
/// joined before.
pub(crate) fn end() -> bool {
    let region = AT.replace(0);
    if region == 0 {
        return true;
    }
    let mut open = open();
    let Some(by_region) = open.as_mut() else {
        return false;
    };
    let Some(waits) = by_region.get_mut(&region) else {
        return false;
    };
    let count = waits.len();
    waits.retain(|(thread, _)| *thread != this_thread());
    let was_open = waits.len() < count;
    if waits.is_empty() {
        by_region.remove(&region);
    }
    was_open
}

/// A team is joined. Returns when the waits began that end now.
pub(crate) fn close(region: u64) -> Vec<u64> {
    let waits = open().as_mut().and_then(|open| open.remove(&region));
    let waits = waits.unwrap_or_default().into_iter();
    waits.map(|(_, since)| since).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_ends_where_it_is_told_or_where_the_team_is_joined() {
        begin(7, 100);
        assert!(end());
        assert_eq!(close(7), []);
        begin(7, 200);
        let other = std::thread::spawn(|| begin(7, 300));
        assert!(other.join().is_ok());
        assert_eq!(close(8), []);
        let mut closed = close(7);
        closed.sort_unstable();
        assert_eq!(closed, [200, 300]);
        assert!(!end());
        // In an unknown region nobody else can end it.
        begin(0, 400);
        assert!(end());
    }
}
