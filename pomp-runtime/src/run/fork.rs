//! `fork`: the child starts anew, with a profile of its own.
//!
//! The thread that forks holds every lock of ours meanwhile, so that none is
//! inherited in the hands of a thread that the child does not have. If it is
//! inside the library itself (a signal handler forks), the child is not
//! measured.

use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::sync::MutexGuard;
use std::thread::JoinHandle;

use super::writing::{self, Start};
use super::{at_end, helper, signals};
use crate::measure::records::region;
use crate::measure::{active, pause, thread};
use crate::measure::{collector, trace};
use profile::save::Saved;

/// The locks, in the order in which they are taken.
struct Locks {
    helper: MutexGuard<'static, Option<JoinHandle<()>>>,
    _saved: MutexGuard<'static, Option<Saved>>,
    trace: MutexGuard<'static, Option<trace::Writer>>,
    _start: MutexGuard<'static, Option<Start>>,
    _threads: MutexGuard<'static, thread::Blocks>,
    _new_regions: MutexGuard<'static, ()>,
    _regions: MutexGuard<'static, Option<region::Registry>>,
    _pauses: MutexGuard<'static, Vec<pause::Pause>>,
    _session: MutexGuard<'static, collector::Session>,
}

thread_local! {
    /// The locks that this thread holds while it forks. The system never drops them, so that
    /// threads can end in any way.
    static HELD: RefCell<ManuallyDrop<Option<Locks>>> =
        const { RefCell::new(ManuallyDrop::new(None)) };
}

/// Has the functions below called at each `fork`.
pub(super) fn watch() {
    // SAFETY: the functions are ours and may be called by any thread.
    unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
}

unsafe extern "C" fn before() {
    if thread::is_inside() {
        return;
    }
    signals::set_holding_up(true);
    let locks = Locks {
        helper: helper::handle(),
        _saved: writing::saved(),
        trace: trace::locked(),
        _start: writing::started(),
        _threads: thread::locked(),
        _new_regions: region::new(),
        _regions: region::locked(),
        _pauses: pause::pauses(),
        _session: collector::locked(),
    };
    HELD.with_borrow_mut(|held| **held = Some(locks));
}

fn held() -> Option<Locks> {
    HELD.with_borrow_mut(|held| held.take())
}

unsafe extern "C" fn in_parent() {
    drop(held());
    signals::set_holding_up(false);
}

unsafe extern "C" fn in_child() {
    let Some(mut locks) = held() else {
        return writing::give_up();
    };
    helper::start_anew(&mut locks.helper);
    trace::start_anew(&mut locks.trace);
    drop(locks);
    signals::set_holding_up(false);
    thread::start_anew();
    active::start_anew();
    pause::start_anew();
    at_end::start_anew();
    writing::start_anew();
}
