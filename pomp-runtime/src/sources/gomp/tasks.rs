//! Entries that make tasks. Runtimes copy and change the data of a task (the handle of its
//! event, the bounds of a taskloop, reductions), so it is left alone: instead of the task's
//! function the runtime gets a stub of ours, one for each function, which knows what it
//! stands for by where it stands.

use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::super::boundary::event_of;
use super::super::pomp::{begin_created_task, report};
use super::table::Entry;
use super::{own, site};
use crate::measure::region::Region;
use crate::measure::shared::{SharedRef, leak};
use profile::event::Event;

/// How many functions of tasks can be measured.
pub const BODIES: usize = 4096;

/// Bytes of a stub.
pub const BYTES_OF_STUB: usize = 16;

type Task = unsafe extern "C-unwind" fn(*mut c_void);
type Eleven = unsafe extern "C-unwind" fn(
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
) -> usize;

/// The function of a task, and what it is of.
#[derive(Debug)]
pub(super) struct Body {
    function: usize,
    region: &'static Region,
    stub: usize,
}

/// By the numbers of their stubs.
static KNOWN: [SharedRef<Body>; BODIES] = [const { SharedRef::none() }; BODIES];
static NEXT: AtomicUsize = AtomicUsize::new(0);
/// Where the stubs stand.
static STUBS: AtomicUsize = AtomicUsize::new(0);

impl Body {
    /// A stub for a function; none if there are no more.
    pub(super) fn of(function: usize, region: &'static Region) -> Option<&'static Self> {
        let stub = NEXT.fetch_add(1, Ordering::Relaxed);
        let place = KNOWN.get(stub)?;
        let body = leak(Self {
            function,
            region,
            stub,
        })?;
        place.set(Some(body));
        Some(body)
    }
}

/// Entries that make tasks.
///
/// # Safety
/// Only for the stubs of the entries: `bodies` is where those of tasks stand, the other
/// words are those of the call.
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C-unwind" fn task<E: Entry>(
    body: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
    bodies: usize,
    _caller: usize,
    g: usize,
    h: usize,
    i: usize,
    j: usize,
    k: usize,
) -> usize {
    let call = site::of::<E>(body, body);
    // SAFETY: the runtime's function of this name takes these words.
    let function: Eleven = unsafe { std::mem::transmute(call.function) };
    let run = match call.body {
        Some(known) => {
            STUBS.store(bodies, Ordering::Relaxed);
            bodies + known.stub * BYTES_OF_STUB
        }
        None => body,
    };
    super::shapes::before::<E>(call);
    // SAFETY: as above; the stub runs the function with the data that it gets.
    let result = unsafe { function(run, b, c, d, e, f, g, h, i, j, k) };
    super::shapes::after::<E>(call, E::after);
    result
}

/// What a stub runs, whose place behind its first instruction is given.
///
/// # Safety
/// Only for the stubs.
pub unsafe extern "C-unwind" fn task_body(data: *mut c_void, place: usize) {
    let number = place.wrapping_sub(STUBS.load(Ordering::Relaxed)) / BYTES_OF_STUB;
    let Some(body) = KNOWN.get(number).and_then(SharedRef::get) else {
        return;
    };
    let execution = body.region;
    event_of(
        |_| Some(execution),
        |thread, region| begin_created_task(thread, region, 0),
    );
    let around = own::enter(body.function);
    // SAFETY: the program made the task of this function, with this data.
    unsafe {
        let function: Task = std::mem::transmute(body.function);
        function(data);
    }
    own::leave(around);
    event_of(
        |_| execution.execution(),
        |thread, region| report(Event::TaskEnd, thread, region),
    );
}
