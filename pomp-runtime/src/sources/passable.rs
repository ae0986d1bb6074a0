//! POMP: the functions for the first event of constructs of which the program counts the instances
//! that are passed over (`measure/lending.rs`). Each says whether the other events of the instance are
//! to be reported.

use std::ffi::c_int;

use super::boundary::{event, is_switched_off};
use super::descriptor::OmpRegDescr;
use super::pomp::{POMP_Critical_enter, POMP_Master_begin, POMP_Ordered_enter, on_event};
use crate::measure::lending::{Passing, lend_while_off};
use crate::measure::pass_table::Passes;
use crate::measure::passed::{begin_and_lend, lend_for_unmeasured, pass_over_and_lend};
use crate::measure::records::Region;
use crate::measure::{coarse_times, state, work_between};
use profile::event::Event;

/// Defines the functions, each with one that is called where measurement may be on. That one also gets
/// the descriptor, the descriptor's region if that is known, and `slot`. It returns whether the other
/// events of the instance are to be reported.
macro_rules! begins {
    ($($function:ident: $begin:ident($($argument:expr),+);)+) => {$(
        /// Reports the begin of the construct. Returns whether its other events are to be reported. If
        /// the instance is passed over, `slot` gets the record in which the program counts the next
        /// instances without a call.
        ///
        /// # Safety
        /// `descriptor` is null or points to a descriptor. `slot` is null or points to memory of
        /// the calling thread.
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $function(
            descriptor: *const OmpRegDescr,
            slot: *mut *const Passing,
        ) -> c_int {
            // SAFETY: as the caller promises.
            unsafe {
                let region = descriptor.as_ref().and_then(OmpRegDescr::known_region);
                if state::is_off() || is_switched_off(region) {
                    pass_over_all(slot);
                    return 0;
                }
                c_int::from($begin($($argument),+, descriptor, region, slot))
            }
        }
    )+};
}

begins! {
    POMP_Atomic_enter_or_pass: begin_momentary(Event::AtomicEnter);
    POMP_Flush_enter_or_pass: begin_momentary(Event::FlushEnter);
    POMP_Critical_enter_or_pass: begin_with_others(Event::CriticalEnter, POMP_Critical_enter);
    POMP_Master_begin_or_pass: begin_with_others(Event::MasterBegin, POMP_Master_begin);
    POMP_Ordered_enter_or_pass: begin_with_others(Event::OrderedEnter, POMP_Ordered_enter);
}

/// The construct is not to be measured: has the program count all its instances without a call.
///
/// # Safety
/// As for the functions that call it.
#[cold]
#[inline(never)]
unsafe fn pass_over_all(slot: *mut *const Passing) {
    let record = match state::is_off() {
        true => Some(lend_while_off(slot.addr())),
        false => lend_for_unmeasured(),
    };
    if !slot.is_null()
        && let Some(record) = record
    {
        // SAFETY: as the caller promises.
        unsafe { slot.write(record) };
    }
}

/// A construct begins in which nothing else happens. Such an instance waits for a cache line at most,
/// so there is no need to notice that it is long.
///
/// # Safety
/// As for the functions that call it.
#[inline(always)]
unsafe fn begin_momentary(
    of: Event,
    descriptor: *const OmpRegDescr,
    region: Option<&'static Region>,
    slot: *mut *const Passing,
) -> bool {
    match pass_over_and_lend(region) {
        Passes::Lends(record) if !slot.is_null() => {
            // SAFETY: as the caller promises.
            unsafe { slot.write(record) };
            return false;
        }
        Passes::Lends(_) | Passes::Once => return false,
        Passes::No if coarse_times::is_recorded(of, || region) => return true,
        Passes::No => {}
    }
    if of == Event::AtomicEnter {
        work_between::end_in_front_of(region);
    }
    // SAFETY: as the caller promises.
    unsafe { event(descriptor, |thread, region| on_event(of, thread, region)) };
    true
}

/// A construct begins in which others may begin. `begin` is the function for programs that report all
/// events of an instance.
///
/// # Safety
/// As for the functions that call it.
#[inline(always)]
unsafe fn begin_with_others(
    of: Event,
    begin: unsafe extern "C-unwind" fn(*const OmpRegDescr),
    descriptor: *const OmpRegDescr,
    region: Option<&'static Region>,
    slot: *mut *const Passing,
) -> bool {
    if !slot.is_null()
        && let Some(record) = begin_and_lend(of, region)
    {
        // SAFETY: as the caller promises.
        unsafe { slot.write(record) };
        return false;
    }
    if of == Event::CriticalEnter {
        work_between::end_in_front_of(region);
    }
    // SAFETY: as the caller promises.
    unsafe { begin(descriptor) };
    true
}
