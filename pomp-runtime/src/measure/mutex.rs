//! The one way in which this library locks: off the hot path only, and for a
//! few instructions.

use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// Locks `mutex`. A lock that a panic has poisoned is taken as it is: the boundary has switched the
/// measurement off by then.
///
/// Waiting is a loop of tries. It is rare, as when threads start at the same moment. A race
/// detector that sees only our own code sees in this loop how the threads are ordered. It would not
/// see that if the wait were inside the standard library.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    loop {
        match mutex.try_lock() {
            Ok(guard) => return guard,
            Err(TryLockError::Poisoned(poisoned)) => return PoisonError::into_inner(poisoned),
            Err(TryLockError::WouldBlock) => std::thread::yield_now(),
        }
    }
}
