//! POMP: the functions for the first event of constructs of which the program counts the instances
//! that are passed over (`measure/lending.rs`). Each says whether the other events of the instance are
//! to be reported.

use std::ffi::c_int;

use super::boundary::event;
use super::descriptor::OmpRegDescr;
use super::pomp::{POMP_Critical_enter, POMP_Master_begin, POMP_Ordered_enter, on_event};
use crate::measure::clock::now_in_order;
use crate::measure::lending::Passing;
use crate::measure::passed::{begin_and_lend, pass_over_and_lend};
use crate::measure::records::Region;
use crate::measure::sampler::Passes;
use crate::measure::{coarse_times, state, thread};
use profile::event::Event;

/// An update begins that is timed. The clock is read as early as possible.
#[inline(always)]
fn begin_update(region: &'static Region) {
    if let Some(thread) = thread::current() {
        thread.end_work_between_updates(region, now_in_order);
    }
}

/// Defines the functions that report the begin of a construct in which nothing else happens. They
/// return 0 if the end of the instance need not be reported, and 1 otherwise. If the instance is
/// passed over, `slot` gets the record in which the program counts the next instances without a
/// call. Such an instance waits for a cache line at most, so there is no need to notice that it is
/// long.
macro_rules! begins_of_momentary {
    ($($function:ident: $event:ident;)+) => {$(
        /// Reports the begin of the construct. Returns whether its end is to be reported.
        ///
        /// # Safety
        /// `descriptor` is null or points to a descriptor. `slot` is null or points to memory of
        /// the calling thread.
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $function(
            descriptor: *const OmpRegDescr,
            slot: *mut *const Passing,
        ) -> c_int {
            if state::is_off() {
                return 0;
            }
            // SAFETY: as the caller promises.
            let region = unsafe { descriptor.as_ref() }.and_then(OmpRegDescr::known_region);
            match pass_over_and_lend(region) {
                Passes::Lends(record) if !slot.is_null() => {
                    // SAFETY: as the caller promises.
                    unsafe { slot.write(record) };
                    return 0;
                }
                Passes::Lends(_) | Passes::Once => return 0,
                Passes::No if coarse_times::is_recorded(Event::$event, || region) => return 1,
                Passes::No => {}
            }
            if let (Event::AtomicEnter, Some(region)) = (Event::$event, region) {
                begin_update(region);
            }
            // SAFETY: as the caller promises.
            unsafe {
                event(descriptor, |thread, region| {
                    on_event(Event::$event, thread, region);
                });
            }
            1
        }
    )+};
}

begins_of_momentary! {
    POMP_Atomic_enter_or_pass: AtomicEnter;
    POMP_Flush_enter_or_pass: FlushEnter;
}

/// Defines the functions that report the begin of a construct in which others may begin. They return 0
/// if the program goes on with the instance itself, in the record that `slot` gets, or if nothing is
/// measured. They return 1 if all events of the instance are to be reported.
macro_rules! begins_of_passable {
    ($($function:ident, $begin:ident: $event:ident;)+) => {$(
        /// Reports the begin of the construct. Returns whether its other events are to be reported.
        ///
        /// # Safety
        /// `descriptor` is null or points to a descriptor. `slot` is null or points to memory of
        /// the calling thread.
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $function(
            descriptor: *const OmpRegDescr,
            slot: *mut *const Passing,
        ) -> c_int {
            if state::is_off() {
                return 0;
            }
            if !slot.is_null() {
                // SAFETY: as the caller promises.
                let region = unsafe { descriptor.as_ref() }.and_then(OmpRegDescr::known_region);
                if let Some(record) = begin_and_lend(Event::$event, region) {
                    // SAFETY: as the caller promises.
                    unsafe { slot.write(record) };
                    return 0;
                }
            }
            // SAFETY: as the caller promises.
            unsafe { $begin(descriptor) };
            1
        }
    )+};
}

begins_of_passable! {
    POMP_Critical_enter_or_pass, POMP_Critical_enter: CriticalEnter;
    POMP_Master_begin_or_pass, POMP_Master_begin: MasterBegin;
    POMP_Ordered_enter_or_pass, POMP_Ordered_enter: OrderedEnter;
}
