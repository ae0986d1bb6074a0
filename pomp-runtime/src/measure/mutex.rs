//! The one way in which this library locks: off the hot path only, and for a
//! few instructions.

use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// Locks `mutex`. What a panic left behind is taken as it is: the boundary has
/// switched the measurement off by then.
///
/// Waiting is a loop of tries. It is as rare as threads that start at the same
/// moment, and a race detector that sees only our own code sees what orders it,
/// which it would not if the wait were inside the standard library.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    loop {
        match mutex.try_lock() {
            Ok(guard) => return guard,
            Err(TryLockError::Poisoned(poisoned)) => return PoisonError::into_inner(poisoned),
            Err(TryLockError::WouldBlock) => std::thread::yield_now(),
        }
    }
}
