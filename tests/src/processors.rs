//! Work that all processors share.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{available_parallelism, scope};

/// Does the work for each item, on as many threads as there are processors. Returns the results, in
/// no particular order.
///
/// # Panics
/// If the work panics for an item.
pub fn for_each<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let take = || items.get(next.fetch_add(1, Ordering::Relaxed));
    let share = || -> Vec<R> { std::iter::from_fn(take).map(&work).collect() };
    let number = available_parallelism().map_or(1, NonZero::get);
    scope(|scope| {
        let threads: Vec<_> = (0..number).map(|_| scope.spawn(share)).collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        let mut all = Vec::new();
        for part in joined {
            all.extend(part.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        all
    })
}
