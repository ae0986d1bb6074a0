//! The shapes of entries: what is done around the call of the runtime's function.

use profile::region_kind::RegionKind;

use super::super::boundary::event_of;
use super::super::pomp::on_event;
use super::chunks::{self, CallWords, StackWords};
use super::site::{self, Call};
use super::table::{Entry, EventRegion, row::Row};
use super::unmarked::{leave, leave_passed_over, top_of};
use crate::measure::passed::is_done_at_once;
use crate::measure::passed_members;
use crate::measure::records::Region;
use crate::measure::thread::Thread;
use profile::event::Event;

type Six = unsafe extern "C-unwind" fn(usize, usize, usize, usize, usize, usize) -> usize;

/// Entries of up to six words.
///
/// # Safety
/// Only for the stubs: `caller` is where the call returns to, the other arguments are its own.
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
    // SAFETY: the runtime's function of this name takes these arguments.
    let function: Six = unsafe { std::mem::transmute(call.function) };
    before::<E>(call);
    // SAFETY: as above.
    let result = unsafe { function(a, b, c, d, e, f) };
    after_call::<E>(call);
    let passed = || CallWords {
        registers: [a, b, c, d, e, f],
        stack: None,
    };
    // SAFETY: as above.
    unsafe { chunks::after_start::<E>(call, passed, result) };
    result
}

type Many =
    unsafe extern "C-unwind" fn(usize, usize, usize, usize, usize, usize, StackWords) -> usize;

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
    more: StackWords,
) -> usize {
    let call = site::of::<E>(place::<E>(a, caller), a);
    // SAFETY: the runtime's function of this name takes these arguments.
    let function: Many = unsafe { std::mem::transmute(call.function) };
    before::<E>(call);
    // SAFETY: as above.
    let result = unsafe { function(a, b, c, d, e, f, more) };
    after_call::<E>(call);
    let passed = || CallWords {
        registers: [a, b, c, d, e, f],
        stack: Some(more),
    };
    // SAFETY: as above.
    unsafe { chunks::after_start::<E>(call, passed, result) };
    result
}

/// Entries that start sections or go on to the next one. Their result is the number of a section,
/// in the order of the source from 1, or 0.
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
    more: StackWords,
) -> usize {
    let call = site::of::<E>(site::of_caller(caller), a);
    // SAFETY: the runtime's function of this name takes these arguments.
    let function: Many = unsafe { std::mem::transmute(call.function) };
    leave_passed_over();
    report_event::<E>(call, |thread, region| {
        if let Some(section) = top_of(thread, RegionKind::Section) {
            on_event(Event::SectionEnd, thread, section);
        }
        leave(thread);
        E::before(thread, region);
    });
    // SAFETY: as above.
    let result = unsafe { function(a, b, c, d, e, f, more) };
    // The result is a number of 32 bits.
    let number = result as u32;
    if number != 0 {
        report_event::<E>(call, |thread, region| {
            if let Some(section) = region.numbered_section(number) {
                on_event(Event::SectionBegin, thread, section);
            }
        });
    }
    result
}

/// Entries that start a single construct. Their result says whether this thread executes it.
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
    // SAFETY: the runtime's function of this name takes these arguments.
    let function: Six = unsafe { std::mem::transmute(call.function) };
    before::<E>(call);
    // SAFETY: as above.
    let result = unsafe { function(a, b, c, d, e, f) };
    let copies = E::NUMBER == <super::entries::GOMP_single_copy_start as Row>::NUMBER;
    // If values are copied, the result is their address for the threads that get them, and 0 for
    // the thread that executes. Otherwise the result is a truth value.
    let executes = match copies {
        true => result == 0,
        false => result as u8 != 0,
    };
    let event = match executes {
        true => Event::SingleBegin,
        false => Event::SingleExit,
    };
    if !is_done_at_once(event, || call.region) {
        report_event::<E>(call, move |thread, region| on_event(event, thread, region));
    }
    result
}

/// The address by which a call is known.
#[inline(always)]
fn place<E: Row>(body: usize, caller: usize) -> usize {
    match E::OF {
        EventRegion::Body(_) => body,
        _ => site::of_caller(caller),
    }
}

/// Reports the events of the row from before the call.
#[inline(always)]
pub(super) fn before<E: Row>(call: Call) {
    if E::BEFORE.is_empty() {
        return;
    }
    let ends_others = const { ends_unmarked(E::OF) };
    if ends_others {
        leave_passed_over();
    }
    if are_done_at_once(E::OF, E::BEFORE, call) {
        return;
    }
    report_event::<E>(call, move |thread, region| {
        if ends_others {
            leave(thread);
        }
        E::before(thread, region);
    });
}

/// Whether nothing else is to be done for these events.
#[inline(always)]
fn are_done_at_once(of: EventRegion, events: &'static [Event], call: Call) -> bool {
    match (of, events) {
        (EventRegion::Open(RegionKind::Loop), [Event::LoopExit]) => {
            passed_members::passes_over_end_of_loop()
        }
        (_, [event]) => is_done_at_once(*event, || call.region),
        _ => false,
    }
}

/// Reports the events of the row from after the call.
#[inline(always)]
pub(super) fn after_call<E: Row>(call: Call) {
    if !E::AFTER.is_empty() && !are_done_at_once(E::OF, E::AFTER, call) {
        report_event::<E>(call, E::after);
    }
}

/// Runs `action` for the region of a row's events.
#[inline(always)]
pub(super) fn report_event<E: Row>(
    call: Call,
    action: impl FnOnce(&'static Thread, &'static Region) + Copy,
) {
    if call.runtime.is_none() {
        return;
    }
    event_of(
        move |thread| match E::OF {
            EventRegion::Open(kind) => open(thread, kind),
            _ => call.region,
        },
        action,
    );
}

/// The innermost open region of a kind in the member's part, or the parallel region if it is
/// combined with that kind.
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

/// Whether an entry ends a construct that is still open, whose end no call marks.
const fn ends_unmarked(of: EventRegion) -> bool {
    match of {
        EventRegion::Call(name) => matches!(
            name.as_bytes(),
            b"barrier" | b"for" | b"sections" | b"single"
        ),
        _ => false,
    }
}
