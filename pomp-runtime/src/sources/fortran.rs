//! POMP from Fortran: `call POMPF_<Construct>_<event>('...')`, one subroutine
//! per function of [`super::pomp`], with the region's literal as argument.
//!
//! Compilers pass the length of a literal behind all other arguments. There is
//! nothing to declare in the program, whatever `implicit` says; for the names see
//! [`super::spelling`].

use std::ffi::c_char;
use std::sync::atomic::{AtomicI32, Ordering};

use profile::for_events;

use super::boundary::{caught, event_of, is_switched_off};
use super::literal::Literal;
use super::pomp::{
    self, begin_announced, begin_execution, begin_or_pass, create, fork_that_may_pass, leave,
    on_event,
};
use super::spelling::subroutine;
use crate::measure::annotations;
use crate::measure::clock::now;
use crate::measure::passed::{is_done_at_once, is_end_passed_over, is_passed_over_at_once};
use crate::measure::records::Region;
use crate::measure::state;
use crate::measure::thread::Thread;
use crate::measure::{passed_members, passed_teams};
use crate::run::life_cycle;
use profile::event::Event;

/// Defines a subroutine of this interface.
macro_rules! pompf {
    ($(#[$about:meta])* $name:literal $($rest:tt)*) => {
        $crate::sources::spelling::subroutine! { $(#[$about])* or_none "pompf_", $name $($rest)* }
    };
}
pub(super) use pompf;

/// Defines the subroutines that report one event of the literal's region. Only events of
/// constructs that take nanoseconds have code of their own. All others share it, since every
/// program carries the library, whatever its language.
macro_rules! probes {
    ($($function:ident, $name:literal => $event:ident: $action:expr
        $(, behind the barrier of $kind:ident)?;)+) => {
        probes! { $($name => |literal| {
            #[inline(never)]
            fn report_out_of_line(literal: Literal) {
                report(Event::$event, literal);
            }

            match const { is_short(Event::$event) } {
                false => report(Event::$event, literal),
                true if is_over_at_once(Event::$event, literal) => {}
                true => report_out_of_line(literal),
            }
        },)+ }
    };
    ($($name:literal => |$literal:ident| $action:block,)+) => {$(
        pompf! {
            /// Reports the event that it is named after.
            $name(text: *const c_char, length: usize) {
                // SAFETY: a compiler passes the literal and its length.
                let $literal = unsafe { Literal::new(text, length) };
                if !state::is_off() {
                    $action
                }
            }
        }
    )+};
}

/// Whether there is nothing to do for a short event, or nothing but to count it. The function calls no
/// other one, so that the probe saves no registers: an atomic update waits for the stores in front of it.
#[inline(always)]
fn is_over_at_once(event: Event, literal: Literal) -> bool {
    let find = || literal.near_region();
    is_passed_over_at_once(event, find) || is_switched_off(find())
}

/// Reports an event of a literal's region.
#[inline(always)]
fn report(event: Event, literal: Literal) {
    let find = || literal.known_region();
    if passed_members::is_of_work(event) && passed_members::is_work_passed_over(event, find)
        || is_done_at_once(event, || match event {
            Event::TaskEnd => find()?.known_execution(),
            _ => find(),
        })
    {
    } else if is_short(event) {
        event_at(literal, move |thread, region| {
            on_event(event, thread, region);
        });
    } else {
        on_any_event(literal, event);
    }
}

const fn is_short(event: Event) -> bool {
    matches!(
        event,
        Event::AtomicEnter
            | Event::AtomicExit
            | Event::CriticalEnter
            | Event::CriticalBegin
            | Event::CriticalEnd
            | Event::CriticalExit
            | Event::OrderedEnter
            | Event::OrderedBegin
            | Event::OrderedEnd
            | Event::OrderedExit
            | Event::TaskCreateEnter
            | Event::TaskCreateExit
    )
}

#[inline(never)]
fn on_any_event(literal: Literal, event: Event) {
    event_at(literal, |thread, region| {
        pomp::on_any_event(event, thread, region)
    });
}

/// Runs `action` for an event of a literal's region.
#[inline(always)]
fn event_at<R: Copy>(
    literal: Literal,
    action: impl FnOnce(&'static Thread, &'static Region) -> R + Copy,
) -> Option<R> {
    match is_switched_off(literal.known_region()) {
        true => None,
        false => event_of(move |thread| literal.region(thread), action),
    }
}

for_events!(probes);

probes! {
    "task_begin" => |literal| { begin_task_of(literal, 0); },
    "parallel_fork" => |literal| {
        if !passed_teams::fork_announced(literal.known_region()) {
            event_at(literal, fork_that_may_pass);
        }
    },
    "parallel_begin" => |literal| {
        if !begin_or_pass(|| literal.known_region()) {
            event_at(literal, begin_announced);
        }
    },
    "implicit_barrier_leave" => |literal| {
        if !is_end_passed_over(|| literal.known_region()) {
            event_at(literal, leave);
        }
    },
    "parallel_end" => |literal| {
        if !passed_members::ends(|| literal.known_region()) {
            event_at(literal, |thread, region| thread.end_member_now(region, now));
        }
    },
    "parallel_join" => |literal| {
        if !passed_teams::join(literal.known_region()) {
            event_at(literal, |thread, region| thread.join(region, now()));
        }
    },
}

pompf! {
    /// Whether a measurement library has a subroutine: 1, and -1 if not. This one has all.
    "has_routine"(_name: *const c_char, answer: *mut i32, _length: usize) {
        // SAFETY: the program passes a variable of its own. Its threads may ask at the same time.
        unsafe { AtomicI32::from_ptr(answer) }.store(1, Ordering::Relaxed);
    }
}

pompf! {
    /// A task is created. Gives its label in the trace.
    "task_create"(text: *const c_char, task: *mut u64, length: usize) {
        // SAFETY: a compiler passes the literal and its length.
        let literal = unsafe { Literal::new(text, length) };
        let label = create(|| literal.known_region(), |thread| literal.region(thread));
        // SAFETY: the program passes a variable of its own.
        unsafe { task.write(label) };
    }
}

pompf! {
    /// A task whose creation gave the label `task` starts to be executed.
    "task_execute"(text: *const c_char, task: *const u64, length: usize) {
        // SAFETY: a compiler passes the literal and its length.
        let literal = unsafe { Literal::new(text, length) };
        // SAFETY: the program passes a variable of its own.
        let label = unsafe { task.read() };
        begin_task_of(literal, label);
    }
}

fn begin_task_of(literal: Literal, created: u64) {
    begin_execution(
        || literal.known_region(),
        |thread| literal.region(thread),
        created,
    );
}

pompf! {
    /// A region that the user marked ends, also while measurement is off.
    "end"(text: *const c_char, length: usize) {
        // SAFETY: a compiler passes the literal and its length.
        let literal = unsafe { Literal::new(text, length) };
        event_of(
            move |thread| literal.region(thread),
            |thread, region| on_event(Event::UserEnd, thread, region),
        );
    }
}

/// Defines the subroutines by which the program steers its measurement. The name of each says what
/// it does.
macro_rules! controls {
    ($($name:literal => $action:path,)+) => {$(
        pompf! {
            $name() {
                caught(|| {
                    $action();
                    Some(())
                });
            }
        }
    )+};
}

controls! {
    "init" => life_cycle::ensure_started,
    "finalize" => life_cycle::finish_now,
    "on" => super::pomp::switch_on,
    "off" => super::pomp::switch_off,
}

/// Defines the subroutines by which a program controls its own measurement (`romp_...`). The name
/// of each says what it does.
macro_rules! own_controls {
    ($($name:literal => $action:path,)+) => {$(
        subroutine! {
            "romp_", $name () {
                caught(|| {
                    $action();
                    Some(())
                });
            }
        }
    )+};
}

own_controls! {
    "start" => super::pomp::switch_on,
    "stop" => super::pomp::switch_off,
    "dump" => life_cycle::dump_now,
}

subroutine! {
    /// Keeps a value in the profile; blanks at the ends do not count.
    "romp_", "annotate" (
        key: *const c_char, value: *const c_char, key_length: usize, value_length: usize
    ) {
        // SAFETY: a compiler passes texts and their lengths.
        let (key, value) = unsafe {
            (Literal::new(key, key_length), Literal::new(value, value_length))
        };
        caught(|| {
            if life_cycle::ensure_started() {
                annotations::add(key.plain(), value.plain());
            }
            Some(())
        });
    }
}
