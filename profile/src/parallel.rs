//! Divides work among threads at the places where a user waits for the end of a program.

use std::num::NonZero;

/// Runs both functions, at the same time if the work is worth a thread and a thread is
/// available.
pub fn both<A: Send, B>(
    worth_a_thread: bool,
    beside: impl Fn() -> A + Sync,
    here: impl FnOnce() -> B,
) -> (A, B) {
    std::thread::scope(|scope| {
        let thread = worth_a_thread
            .then(|| std::thread::Builder::new().spawn_scoped(scope, &beside))
            .and_then(Result::ok);
        let b = here();
        let a = match thread.map(std::thread::ScopedJoinHandle::join) {
            Some(Ok(a)) => a,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => beside(),
        };
        (a, b)
    })
}

/// Maps items in a few parts, at the same time if the work is worth threads. The results have
/// the order of the items.
pub fn map_parts<T: Sync, R: Send>(
    worth_threads: bool,
    items: &[T],
    map: &(impl Fn(&[T]) -> Vec<R> + Sync),
) -> Vec<R> {
    /// More threads would only wait for the shared memory.
    const MOST_WORKERS: usize = 8;
    let threads = match worth_threads {
        true => std::thread::available_parallelism().map_or(1, NonZero::get),
        false => 1,
    };
    map_on(threads.min(MOST_WORKERS), items, map)
}

fn map_on<T: Sync, R: Send>(
    threads: usize,
    items: &[T],
    map: &(impl Fn(&[T]) -> Vec<R> + Sync),
) -> Vec<R> {
    if threads < 2 || items.len() < 2 {
        return map(items);
    }
    let beside = threads / 2;
    let (first, second) = items.split_at(items.len() * (threads - beside) / threads);
    let (mut rest, mut mapped) = both(
        true,
        || map_on(beside, second, map),
        || map_on(threads - beside, first, map),
    );
    mapped.append(&mut rest);
    mapped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stand_in_the_order_of_the_items() {
        let items: Vec<usize> = (0..100).collect();
        let twice = |items: &[usize]| items.iter().map(|item| 2 * item).collect::<Vec<_>>();
        for threads in [1, 2, 3, 8, 200] {
            let mapped = map_on(threads, &items, &twice);
            assert!(mapped.iter().copied().eq((0..100).map(|item| 2 * item)));
        }
        assert!(map_parts(true, &[], &twice).is_empty());
    }
}
