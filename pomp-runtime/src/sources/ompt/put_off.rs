//! Ends that are put off. The runtime reports the end of the work of a worksharing construct before
//! the barrier at that end. The thread's next event shows whether there is a barrier.
//!
//! An instance that is passed over goes the same way. Its end is put off without a look at the clock.

use std::cell::Cell;

use profile::region_kind::{PseudoRegion, RegionKind};

use super::super::boundary::{event_of, thread_event};
use super::super::pomp::on_event;
use crate::measure::clock::now;
use crate::measure::passed::{self, is_end_passed_over, is_passed_over};
use crate::measure::records::Region;
use crate::measure::thread::Thread;
use crate::measure::thread_word::thread_word;
use profile::event::Event;

/// The end of a worksharing construct that was put off; or, without a construct, that a member
/// waits in the runtime before its part ends.
#[derive(Clone, Copy)]
pub(super) struct PutOff {
    construct: Option<&'static Region>,
    /// When the work ended; 0 if the instance is passed over.
    at: u64,
    is_passed_over: bool,
    /// Whether the call that began it was noted (`stated`).
    is_noted: bool,
    wait: Wait,
}

/// The runtime's own wait behind the work of a construct: a barrier in which it combines the parts
/// of a reduction, or hands out the values of `copyprivate`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wait {
    None,
    /// The wait began at this time, and goes on. If the instance is passed over, the begin of the
    /// wait has been reported.
    Lasts(u64),
    /// It began at this time, and ended when the construct did.
    IsOver(u64),
    /// It is over, and its begin has been reported: a task was executed meanwhile.
    IsReported,
}

thread_local! {
    /// The end that was put off last; in force if [`is_any`] says so.
    static LATEST: Cell<Option<PutOff>> = const { Cell::new(None) };
}

thread_word! {
    /// Whether this thread puts an end off.
    fn is_any() -> bool = "romp_put_off";
}

fn get() -> Option<PutOff> {
    is_any().get().then(|| LATEST.get()).flatten()
}

fn take() -> Option<PutOff> {
    is_any().replace(false).then(|| LATEST.get()).flatten()
}

fn set(put_off: PutOff) {
    LATEST.set(Some(put_off));
    is_any().set(true);
}

/// Forgets what was put off.
#[inline(always)]
pub(super) fn forget() {
    is_any().set(false);
}

/// Puts off the end of a construct whose work ends now.
pub(super) fn put_off(construct: &'static Region, at: u64, is_noted: bool) {
    set(PutOff {
        construct: Some(construct),
        at,
        is_passed_over: false,
        is_noted,
        wait: Wait::None,
    });
}

/// Puts off the end of the instance of a construct of this kind that this thread passes over. False if it
/// passes over no such instance.
#[inline(always)]
pub(super) fn put_passed_off(kind: RegionKind, is_noted: bool) -> bool {
    let construct = passed::open_instance().filter(|open| open.kind == kind);
    let is_passed_over = construct.is_some();
    if is_passed_over {
        set(PutOff {
            construct,
            at: 0,
            is_passed_over,
            is_noted,
            wait: Wait::None,
        });
    }
    is_passed_over
}

/// Whether nothing is put off that has to be reported before anything is passed over.
#[inline(always)]
pub(in crate::sources) fn may_pass_over() -> bool {
    end_passed_over();
    !is_any().get()
}

/// Ends the instance that this thread passes over, if its end is put off and its wait is over.
#[inline(always)]
pub(super) fn end_passed_over() {
    if is_any().get() {
        end_what_is_passed_over();
    }
}

#[inline(never)]
fn end_what_is_passed_over() {
    let construct = get()
        .filter(|it| it.is_passed_over && !matches!(it.wait, Wait::Lasts(_)))
        .and_then(|it| it.construct);
    let exit = construct.and_then(|it| Event::behind_barrier(it.kind));
    if exit.is_some_and(|exit| is_passed_over(exit, || construct)) {
        forget();
    }
}

/// Reports the end that was put off, with the time at which it happened.
#[inline(always)]
pub(in crate::sources) fn catch_up(thread: &'static Thread) {
    if let Some(put_off) = take() {
        put_off.report(thread);
    }
}

impl PutOff {
    #[inline(always)]
    fn report(self, thread: &'static Thread) {
        let Some(region) = self.construct else {
            return;
        };
        if self.wait != Wait::None && self.report_wait(thread, region) {
            return;
        }
        // Behind the work, the thread may combine its part of a reduction until now.
        let lasts = self.is_passed_over || thread.is_combining();
        let at = || match lasts {
            true => now(),
            false => self.at,
        };
        if let Some(exit) = Event::behind_barrier(region.kind) {
            thread.on_event(exit, region, at);
        }
    }

    /// Reports the wait. Returns whether it lasts.
    #[cold]
    #[inline(never)]
    fn report_wait(self, thread: &'static Thread, region: &'static Region) -> bool {
        let lasts = matches!(self.wait, Wait::Lasts(_));
        if self.is_passed_over {
            return lasts;
        }
        if let Wait::Lasts(since) | Wait::IsOver(since) = self.wait {
            thread.on_event(Event::ImplicitBarrierEnter, region, || since);
        }
        if !lasts {
            thread.on_event(Event::ImplicitBarrierExit, region, || self.at);
        }
        lasts
    }
}

/// How long the thread has waited in the runtime since its latest work, in ticks. A construct whose
/// end was put off ends before that wait.
pub(super) fn wait_before_end() -> u64 {
    match get() {
        Some(put_off) if let Wait::IsOver(since) = put_off.wait => {
            set(PutOff {
                at: since,
                wait: Wait::None,
                ..put_off
            });
            put_off.at.saturating_sub(since)
        }
        _ => 0,
    }
}

/// The runtime has a member wait for its own purposes.
pub(super) fn own_barrier(begins: bool) {
    let put_off = match get() {
        Some(put_off) if put_off.is_passed_over => match own_barrier_of_passed(put_off, begins) {
            true => return,
            // The instance is recorded from here on.
            false => Some(PutOff {
                at: now(),
                is_passed_over: false,
                ..put_off
            }),
        },
        put_off => put_off,
    };
    if begins {
        let nothing = PutOff {
            construct: None,
            at: 0,
            is_passed_over: false,
            is_noted: false,
            wait: Wait::None,
        };
        let put_off = put_off.unwrap_or(nothing);
        let since = match put_off.wait {
            Wait::None | Wait::IsReported => now(),
            Wait::Lasts(since) | Wait::IsOver(since) => since,
        };
        let wait = Wait::Lasts(since);
        return set(PutOff { wait, ..put_off });
    }
    if let Some(put_off) = put_off
        && let Wait::Lasts(since) = put_off.wait
    {
        let (at, wait) = (now(), Wait::IsOver(since));
        return set(PutOff {
            at,
            wait,
            ..put_off
        });
    }
    // A task was executed, so the construct is in its barrier already.
    event_of(
        |thread| thread.top()?.region().filter(|_| is_in_barrier(thread)),
        |_, region| {
            set(PutOff {
                construct: Some(region),
                at: now(),
                is_passed_over: false,
                is_noted: false,
                wait: Wait::IsReported,
            });
        },
    );
}

/// The same behind the work of an instance that is passed over. False if that is not passed over.
fn own_barrier_of_passed(put_off: PutOff, begins: bool) -> bool {
    let has_waited = matches!(put_off.wait, Wait::Lasts(_) | Wait::IsOver(_));
    let wait = match begins {
        true => Wait::Lasts(0),
        false => Wait::IsOver(0),
    };
    let is_passed_over = has_waited || passes_over_barrier(put_off.construct);
    if is_passed_over {
        set(PutOff { wait, ..put_off });
    }
    is_passed_over
}

/// The barrier at the end of the construct whose end was put off. Tasks may be executed during the
/// barrier. So when the barrier ends, only the stack shows to which construct it belongs.
pub(super) fn end_of_workshare(begins: bool) {
    if begins {
        return barrier_of_workshare(take());
    }
    if is_end_passed_over(passed::open_instance) {
        return;
    }
    event_of(
        |thread| thread.top()?.region().filter(|_| is_in_barrier(thread)),
        |thread, region| {
            on_event(Event::ImplicitBarrierExit, thread, region);
            if let Some(exit) = Event::behind_barrier(region.kind) {
                on_event(exit, thread, region);
            }
        },
    );
}

/// The barrier at the end of a construct begins.
fn barrier_of_workshare(put_off: Option<PutOff>) {
    let region = put_off.and_then(|it| it.construct);
    let is_passed_over = put_off.is_some_and(|it| it.is_passed_over);
    let since = match put_off.map_or(Wait::None, |it| it.wait) {
        Wait::None => None,
        Wait::IsReported => return,
        Wait::Lasts(_) | Wait::IsOver(_) if is_passed_over => return,
        Wait::Lasts(since) | Wait::IsOver(since) => Some(since),
    };
    if is_passed_over && passes_over_barrier(region) {
        return;
    }
    if let Some(region) = region.or_else(left_by_cancel) {
        event_of(
            |_| Some(region),
            |thread, region| {
                let at = || since.unwrap_or_else(now);
                thread.on_event(Event::ImplicitBarrierEnter, region, at);
            },
        );
    }
}

/// Whether the barrier at the end of an instance that is passed over is passed over, too.
#[inline(always)]
fn passes_over_barrier(region: Option<&'static Region>) -> bool {
    is_passed_over(Event::ImplicitBarrierEnter, || region)
}

/// Whether an implicit barrier is the one after the parts of all members, if its call was not noted
/// as that of a barrier (`is_called`). The compiler calls the barrier at the end of a construct, and
/// such a call is noted where the construct's own was.
pub(super) fn is_last(begins: bool, is_in_no_team: bool, is_called: impl Fn() -> bool) -> bool {
    match get().filter(|it| it.construct.is_some()) {
        None if begins => !is_called() || left_by_cancel().is_none(),
        None => is_in_no_team,
        Some(PutOff { is_noted, .. }) => begins && is_noted && !is_called(),
    }
}

/// The worksharing construct on top of the stack. The runtime does not report its end if the thread
/// leaves it by `cancel`.
fn left_by_cancel() -> Option<&'static Region> {
    thread_event(|thread| {
        let top = thread.top().filter(|top| top.role().is_construct())?;
        let region = top.region()?;
        Event::behind_barrier(region.kind).map(|_| region)
    })
    .flatten()
}

fn is_in_barrier(thread: &'static Thread) -> bool {
    thread
        .top()
        .is_some_and(|top| top.role().is_construct() && top.phase() == PseudoRegion::Ibarr)
}
