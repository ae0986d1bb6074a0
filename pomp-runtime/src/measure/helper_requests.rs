//! Requests to the helper, the library's own thread, which writes the files. The module `run` makes
//! the helper and contains its work. The code that records only has it made and wakes it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, AtomicU8, AtomicU32, Ordering};
use std::thread::Thread;

use super::shared::{SharedRef, leak};

/// Asks for the profile as it is now.
pub(crate) const DUMP: u32 = 1;
/// Asks for the last profile.
pub(crate) const FINISH: u32 = 2;
/// Asks the helper to end.
pub(crate) const STOP: u32 = 4;
/// Asks for the full pages of the trace to be written.
pub(crate) const TRACE: u32 = 8;
/// Asks for profile and trace, for a thread that waits until they are written.
pub(crate) const DUMP_NOW: u32 = 16;
/// Asks for the coarse clock to be advanced from now on.
pub(crate) const COARSE_CLOCK: u32 = 32;

/// The requests that the helper has not served yet.
static REQUESTS: AtomicU32 = AtomicU32::new(0);
/// How a signal handler wakes it. None if there is no helper.
static HELPER: SharedRef<Thread> = SharedRef::none();
/// Its number, as the system counts threads. It stays when the helper has ended.
static NUMBER: AtomicI32 = AtomicI32::new(0);
/// The function that makes it.
static MAKER: OnceLock<fn()> = OnceLock::new();

/// The state of the program's first thread: whether its end will be noticed, and
/// whether it has ended.
static MAIN: AtomicU8 = AtomicU8::new(FirstThread::Unknown as u8);

/// See [`first_thread`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FirstThread {
    /// Its end may not be noticed.
    Unknown,
    /// Its end will be noticed.
    Watched,
    /// It has ended.
    Ended,
}

/// Sets the function that makes the helper.
pub(crate) fn make_with(maker: fn()) {
    // Measurement may start again in a child: the maker is the same.
    let _ = MAKER.set(maker);
}

/// Has the helper made, unless there is one. Called inside the library.
#[cold]
pub(crate) fn ensure() {
    if let Some(make) = MAKER.get() {
        make();
    }
}

/// There is a helper now.
pub(crate) fn is_made(thread: &Thread) {
    HELPER.set(leak(thread.clone()));
}

/// The helper has begun, with this number.
pub(crate) fn begins(number: i32) {
    NUMBER.store(number, Ordering::Relaxed);
}

/// The number of the latest helper, as the system counts threads; 0 if there was none.
pub(crate) fn number() -> i32 {
    NUMBER.load(Ordering::Relaxed)
}

/// There is none any more.
pub(crate) fn is_gone() {
    HELPER.set(None);
}

/// A forked child has none, nor was it asked for anything.
pub(crate) fn forget() {
    is_gone();
    REQUESTS.store(0, Ordering::Relaxed);
}

/// Asks for something. False if there is no helper. Signal handlers may call it: it only writes to
/// memory and wakes a thread.
pub(crate) fn ask(request: u32) -> bool {
    let Some(helper) = HELPER.get() else {
        return false;
    };
    REQUESTS.fetch_or(request, Ordering::AcqRel);
    helper.unpark();
    true
}

/// Takes the requests since the last time.
pub(crate) fn take() -> u32 {
    REQUESTS.swap(0, Ordering::AcqRel)
}

/// Asks for the full pages of the trace to be written.
pub(crate) fn write_trace() {
    ask(TRACE);
}

/// The end of the program's first thread will be noticed.
pub(crate) fn main_is_watched() {
    MAIN.store(FirstThread::Watched as u8, Ordering::Release);
}

/// The program's first thread ends, and the program goes on.
pub(crate) fn main_has_ended() {
    MAIN.store(FirstThread::Ended as u8, Ordering::Release);
    ask(0);
}

/// The state of the program's first thread.
pub(crate) fn first_thread() -> FirstThread {
    let known = MAIN.load(Ordering::Acquire);
    let all = [FirstThread::Watched, FirstThread::Ended];
    let found = all.into_iter().find(|of| *of as u8 == known);
    found.unwrap_or(FirstThread::Unknown)
}
