//! What is done around the runtime's function.

use std::cell::Cell;

use profile::region_kind::{PseudoRegion, RegionKind};

use super::super::boundary::event_of;
use super::super::pomp::report;
use super::heads::leave_loop;
use super::site::{self, Call};
use super::table::{Entry, Of, row::Row};
use crate::measure::clock::now;
use crate::measure::frame::Frame;
use crate::measure::region::Region;
use crate::measure::thread::Thread;
use profile::event::Event;

type Six = unsafe extern "C-unwind" fn(usize, usize, usize, usize, usize, usize) -> usize;

/// Entries of up to six words.
///
/// # Safety
/// Only for the stubs: `caller` is where the call returns to, the other words are its own.
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C-unwind" fn around<E: Entry>(
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
    _padding: usize,
    caller: usize,
) -> usize {
    let call = site::of::<E>(place::<E>(a, caller), a);
    // SAFETY: the runtime's function of this name takes these words.
    let function: Six = unsafe { std::mem::transmute(call.function) };
    before::<E>(call);
    // SAFETY: as above.
    let result = unsafe { function(a, b, c, d, e, f) };
    after::<E>(call, E::after);
    result
}

/// How many words of the stack are handed on. What a call has less of them is its caller's
/// own, and of no use to anybody.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Words([usize; 18]);

type Many = unsafe extern "C-unwind" fn(usize, usize, usize, usize, usize, usize, Words) -> usize;

/// Entries of any number of words.
///
/// # Safety
/// As for [`around`].
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C-unwind" fn around_many<E: Entry>(
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
    _padding: usize,
    caller: usize,
    more: Words,
) -> usize {
    let call = site::of::<E>(place::<E>(a, caller), a);
    // SAFETY: the runtime's function of this name takes these words.
    let function: Many = unsafe { std::mem::transmute(call.function) };
    before::<E>(call);
    // SAFETY: as above.
    let result = unsafe { function(a, b, c, d, e, f, more) };
    after::<E>(call, E::after);
    result
}

/// The start of sections and the way to the next: what they give is a section, or 0.
///
/// # Safety
/// As for [`around`].
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C-unwind" fn sections<E: Entry>(
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
    _padding: usize,
    caller: usize,
    more: Words,
) -> usize {
    let call = site::of::<E>(site::of_caller(caller), a);
    // SAFETY: the runtime's function of this name takes these words.
    let function: Many = unsafe { std::mem::transmute(call.function) };
    tell::<E>(call, |thread, region| {
        if top_kind(thread) == Some(RegionKind::Section) {
            report(Event::SectionEnd, thread, region);
        }
        leave_single(thread);
        E::before(thread, region);
    });
    // SAFETY: as above.
    let result = unsafe { function(a, b, c, d, e, f, more) };
    // What is given is a number of 32 bits.
    if result as u32 != 0 {
        tell::<E>(call, |thread, region| {
            report(Event::SectionBegin, thread, region)
        });
    }
    result
}

/// The start of a single construct: who executes it is told by what it gives.
///
/// # Safety
/// As for [`around`].
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C-unwind" fn single<E: Entry>(
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
    _padding: usize,
    caller: usize,
) -> usize {
    let call = site::of::<E>(site::of_caller(caller), a);
    // SAFETY: the runtime's function of this name takes these words.
    let function: Six = unsafe { std::mem::transmute(call.function) };
    before::<E>(call);
    // SAFETY: as above.
    let result = unsafe { function(a, b, c, d, e, f) };
    let copies = E::NUMBER == <super::entries::GOMP_single_copy_start as Row>::NUMBER;
    // Where values are copied the others get them; else a truth value is given.
    let executes = match copies {
        true => result == 0,
        false => result as u8 != 0,
    };
    if executes {
        after::<E>(call, E::after);
    } else if copies {
        after::<E>(call, |thread, region| {
            report(Event::SingleExit, thread, region)
        });
    } else {
        after::<E>(call, |_, _| PASSED.set(now()));
    }
    result
}

thread_local! {
    /// When this thread passed the latest single construct that it does not execute.
    static PASSED: Cell<u64> = const { Cell::new(0) };
}

/// By what a call is known.
#[inline(always)]
fn place<E: Row>(body: usize, caller: usize) -> usize {
    match E::OF {
        Of::Body(_) => body,
        _ => site::of_caller(caller),
    }
}

/// Reports what the row says for before the call.
#[inline(always)]
pub(super) fn before<E: Row>(call: Call) {
    tell::<E>(call, |thread, region| {
        if ends_single(E::OF) && !E::OF.is_barrier() {
            leave_loop(thread);
        }
        if ends_single(E::OF) && top_kind(thread) == Some(RegionKind::Single) {
            let is_its_barrier = E::OF.is_barrier() && waits_at_its_end(thread);
            if is_its_barrier {
                return begin_barrier_of_single(thread);
            }
            leave_single(thread);
        }
        E::before(thread, region);
    });
}

/// Reports what is to be said behind the call.
#[inline(always)]
pub(super) fn after<E: Row>(
    call: Call,
    report_it: impl FnOnce(&'static Thread, &'static Region) + Copy,
) {
    tell::<E>(call, move |thread, region| {
        if E::OF.is_barrier()
            && let Some(single) = top_of(thread, RegionKind::Single)
        {
            report(Event::ImplicitBarrierExit, thread, single);
            report(Event::SingleExit, thread, single);
            return;
        }
        report_it(thread, region);
        if E::OF.is_barrier() {
            leave_loop(thread);
        }
    });
}

/// Does something for the region of a row's events.
#[inline(always)]
pub(super) fn tell<E: Row>(
    call: Call,
    action: impl FnOnce(&'static Thread, &'static Region) + Copy,
) {
    if call.runtime.is_none() {
        return;
    }
    event_of(
        move |thread| match E::OF {
            Of::Open(kind) => open(thread, kind),
            _ => call.region,
        },
        action,
    );
}

/// The innermost region of a kind that is open in the member's part, or the one that is
/// combined with the parallel region.
fn open(thread: &'static Thread, kind: RegionKind) -> Option<&'static Region> {
    let mut frame = thread.top();
    while let Some(open) = frame {
        let region = open.region()?;
        let is_combined = match kind {
            RegionKind::Loop => region.kind == RegionKind::ParallelLoop,
            RegionKind::Sections => region.kind == RegionKind::ParallelSections,
            _ => false,
        };
        if region.kind == kind || is_combined {
            return Some(region);
        }
        frame = open.below().filter(|_| open.role().is_construct());
    }
    None
}

fn top_kind(thread: &'static Thread) -> Option<RegionKind> {
    Some(thread.top()?.region()?.kind)
}

pub(super) fn top_of(thread: &'static Thread, kind: RegionKind) -> Option<&'static Region> {
    thread.top()?.region().filter(|region| region.kind == kind)
}

impl Of {
    const fn is_barrier(self) -> bool {
        matches!(self, Self::Call(name) if matches!(name.as_bytes(), b"barrier"))
    }
}

/// Whether an entry may stand behind a single construct that is still open: nothing tells
/// where one ends, but that what follows cannot stand in it.
const fn ends_single(of: Of) -> bool {
    match of {
        Of::Call(name) => matches!(
            name.as_bytes(),
            b"barrier" | b"for" | b"sections" | b"single"
        ),
        _ => false,
    }
}

/// How long nothing is done by a thread that goes from a single construct that it does not
/// execute to the barrier at its end, in ticks: what is longer is work behind it.
const AT_ONCE: u64 = 2_000;

/// Whether the barrier that this thread comes to is that at the end of the single construct
/// on top.
fn waits_at_its_end(thread: &'static Thread) -> bool {
    let Some(top) = thread.top() else {
        return false;
    };
    top.phase() == PseudoRegion::Body || now().wrapping_sub(PASSED.get()) < AT_ONCE
}

fn begin_barrier_of_single(thread: &'static Thread) {
    let Some(single) = top_of(thread, RegionKind::Single) else {
        return;
    };
    if thread.top().map(Frame::phase) == Some(PseudoRegion::Body) {
        report(Event::SingleEnd, thread, single);
    }
    report(Event::ImplicitBarrierEnter, thread, single);
}

/// Ends the single construct on top, if there is one: for who does not execute it, when it
/// was passed.
pub(super) fn leave_single(thread: &'static Thread) {
    let Some((top, single)) = thread.top().zip(top_of(thread, RegionKind::Single)) else {
        return;
    };
    let passed = PASSED.get();
    match top.phase() {
        PseudoRegion::Body => {
            report(Event::SingleEnd, thread, single);
            report(Event::SingleExit, thread, single);
        }
        _ => thread.report(Event::SingleExit, single, || passed),
    }
}
