//! Making all threads stand still while their records are copied, so that a
//! profile that is written while the program runs is exact.
//!
//! A thread marks itself busy and then looks whether it must stand still. The thread that copies
//! asks for stillness and then looks which threads are busy. Each must see what the other wrote,
//! which takes a memory fence. At each event the fence would cost more than a probe. So the system
//! is asked to put it into all threads, here and only here.
//!
//! Nobody waits for ever: a thread may be held up inside the library by a signal
//! handler, and one that stands still may hold something that the copying needs.
//! After a time both go on, and the copy is at worst one event old.

use std::time::{Duration, Instant};

use super::thread::{self, Thread};
use super::{errno, pause};

/// Commands of the system call `membarrier`, as in `linux/membarrier.h`.
const PRIVATE_EXPEDITED: libc::c_int = 1 << 3;
const REGISTER_PRIVATE_EXPEDITED: libc::c_int = 1 << 4;

/// How long to wait for threads that are in the middle of an event.
const PATIENCE: Duration = Duration::from_millis(100);
/// How long a thread stands still.
const STAND: Duration = Duration::from_secs(1);

/// Runs `action` while no thread records anything.
pub(crate) fn while_quiet<R>(threads: &[&'static Thread], action: impl FnOnce() -> R) -> R {
    stop(std::thread::yield_now);
    while_stopped(threads, action)
}

/// As `while_quiet`, but in the middle of an event of this thread, which gives way to other threads
/// that want the same.
pub(super) fn while_quiet_in_event<R>(
    thread: &'static Thread,
    threads: &[&'static Thread],
    action: impl FnOnce() -> R,
) -> R {
    stop(|| stand(thread));
    while_stopped(threads, action)
}

/// Becomes the thread for which the others stand still.
fn stop(wait: impl Fn()) {
    let until = Instant::now() + STAND;
    while !pause::stop_threads() && Instant::now() < until {
        wait();
    }
}

fn while_stopped<R>(threads: &[&'static Thread], action: impl FnOnce() -> R) -> R {
    fence_all_threads();
    let until = Instant::now() + PATIENCE;
    for thread in threads.iter().filter(|thread| !thread::is_current(thread)) {
        while thread.is_busy() && Instant::now() < until {
            std::thread::yield_now();
        }
    }
    let result = action();
    pause::let_threads_go();
    result
}

/// Waits until threads may go on. The thread is not busy meanwhile.
pub(super) fn stand(thread: &'static Thread) {
    if !pause::is_quiet() {
        return;
    }
    let until = Instant::now() + STAND;
    errno::keep(|| {
        while pause::is_quiet() && Instant::now() < until {
            thread.set_busy(false);
            std::thread::yield_now();
            thread.set_busy(true);
        }
    });
}

/// Registers for `membarrier`, which has to be done in advance, if the process has one thread. With several
/// threads the system waits for all processors, for 10 to 20 ms. Then the helper registers.
pub(crate) fn prepare() {
    #[cfg(not(test))]
    let is_quick = super::dynamic::has_one_thread();
    // The module `dynamic` is not built for unit tests.
    #[cfg(test)]
    let is_quick = true;
    if is_quick {
        register();
    }
}

/// Registers for `membarrier`.
pub(crate) fn register() {
    errno::keep(|| membarrier(REGISTER_PRIVATE_EXPEDITED));
}

/// Every thread of the process passes a memory fence. Where the system has no
/// such call, what a thread wrote long ago is seen all the same.
fn fence_all_threads() {
    errno::keep(|| {
        let is_registered = membarrier(PRIVATE_EXPEDITED);
        if !is_registered && membarrier(REGISTER_PRIVATE_EXPEDITED) {
            membarrier(PRIVATE_EXPEDITED);
        }
    });
}

/// Whether the system did what the command says.
fn membarrier(command: libc::c_int) -> bool {
    // SAFETY: the call takes three numbers, and only orders memory accesses.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
}
