//! The session of a collector: whether there is one, whether it is paused, and
//! which function it wants to be called at which event.
//!
//! Changes are rare and take a lock. Events only read single words.

use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard};

use super::events::{Event, LAST};
use crate::measure::mutex::lock;
use crate::measure::shared::{SharedRef, leak};
use crate::measure::{attention, errno};

/// A collector's function, called in the thread of the event.
pub(super) type Callback = extern "C" fn(c_int);

/// How a request is answered: an error code with its number in the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Code {
    Ok = 0,
    /// The memory of the request is too short, or its content makes no sense.
    Error = 1,
    Unknown = 2,
    SequenceError = 4,
    /// The answer does not fit; how much it needs is said.
    MemoryTooSmall = 7,
}

/// The state that requests change.
#[derive(Debug)]
pub(crate) struct Session {
    started: bool,
    paused: bool,
}

static SESSION: Mutex<Session> = Mutex::new(Session {
    started: false,
    paused: false,
});

/// Nothing of the session changes while this is held.
pub(crate) fn locked() -> MutexGuard<'static, Session> {
    lock(&SESSION)
}

/// Whether there is a session.
static STARTED: AtomicBool = AtomicBool::new(false);

/// How many sessions there were.
static NUMBER: AtomicU32 = AtomicU32::new(0);

/// Whether events are reported: there is a session that is not paused and has a callback.
static TELLING: AtomicBool = AtomicBool::new(false);

/// Each event's callback, by its number.
static CALLBACKS: [SharedRef<Callback>; LAST + 1] = [const { SharedRef::none() }; LAST + 1];

/// Whether there is a session, so that events are followed for it.
#[inline(always)]
pub(crate) fn is_listening() -> bool {
    STARTED.load(Ordering::Relaxed)
}

/// The number of the session, from 1.
pub(super) fn number() -> u32 {
    NUMBER.load(Ordering::Relaxed)
}

/// Whether there is a session.
pub(super) fn is_started() -> bool {
    STARTED.load(Ordering::Acquire)
}

/// Calls the collector back, if it wants this event.
#[cold]
#[inline(never)]
pub(crate) fn notify(event: Event) {
    if !TELLING.load(Ordering::Relaxed) {
        return;
    }
    if let Some(callback) = CALLBACKS[event as usize].get() {
        errno::keep(|| callback(c_int::from(event as u8)));
    }
}

/// Starts a session, and measurement. Not if one has started, nor after the end of measurement.
pub(super) fn start(ensure_started: fn() -> bool) -> Code {
    if !ensure_started() {
        return Code::SequenceError;
    }
    change(|session| {
        if session.started {
            return Code::SequenceError;
        }
        forget_callbacks();
        NUMBER.fetch_add(1, Ordering::Relaxed);
        (session.started, session.paused) = (true, false);
        Code::Ok
    })
}

/// Ends the session. All callbacks are forgotten.
pub(super) fn stop() -> Code {
    within_session(|session| {
        session.started = false;
        forget_callbacks();
        Code::Ok
    })
}

/// Stops reporting events for a time, or goes on with it.
pub(super) fn set_paused(paused: bool) -> Code {
    within_session(|session| {
        session.paused = paused;
        Code::Ok
    })
}

/// Sets the callback of an event, by number, or takes it away.
pub(super) fn set_callback(event: c_int, callback: Option<Callback>) -> Code {
    within_session(|_| {
        let slot = usize::try_from(event).ok().filter(|number| *number > 0);
        match slot.and_then(|number| CALLBACKS.get(number)) {
            // The old callback is not freed, since an event may be about to call it. A collector
            // sets few.
            Some(place) => {
                place.set(callback.and_then(leak));
                Code::Ok
            }
            None => Code::Unknown,
        }
    })
}

fn within_session(action: impl FnOnce(&mut Session) -> Code) -> Code {
    change(|session| match session.started {
        true => action(session),
        false => Code::SequenceError,
    })
}

/// Changes the session, and what events read of it.
fn change(action: impl FnOnce(&mut Session) -> Code) -> Code {
    errno::keep(|| {
        let mut session = locked();
        let code = action(&mut session);
        let wanted = || CALLBACKS.iter().any(|place| place.get().is_some());
        if session.started {
            attention::need();
        }
        STARTED.store(session.started, Ordering::Release);
        let is_telling = session.started && !session.paused && wanted();
        TELLING.store(is_telling, Ordering::Release);
        code
    })
}

fn forget_callbacks() {
    for callback in &CALLBACKS {
        callback.set(None);
    }
}
