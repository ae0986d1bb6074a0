//! The cost of a pair of events in this run. With it a report can say how much of a region's time
//! was spent on measuring.

use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use profile::descriptor::Descriptor;
use profile::region_kind::PseudoRegion;

use super::clock::{self, Scale};
use super::coarse_clock;
use super::errno;
use super::lending::Passing;
use super::own_time;
use super::records::Region;
use super::records::region;
use super::sampler::Passes;
use super::shared::SharedRef;
use super::state;
use super::thread::{self, Thread};
use profile::event::Event;

/// The shortest of this many attempts counts: every disturbance makes an attempt longer.
const ATTEMPTS: usize = 20;
/// Pairs of events in one attempt.
const PAIRS: u64 = 100;

/// Cost of a pair in picoseconds; 0 if it could not be found out. Takes some
/// microseconds, once.
pub(crate) fn of_pair(scale: Scale) -> u64 {
    static TICKS: OnceLock<Option<u64>> = OnceLock::new();
    let ticks = TICKS.get_or_init(ticks_of_pairs).unwrap_or(0);
    let all = thread::all();
    let events = all.iter().map(|thread| &thread.own_time);
    let extra = 2 * own_time::extra_ticks_of(events, ticks_of_timed_event());
    scale.to_ns((ticks + extra * PAIRS) * 1000) / PAIRS
}

/// Instances that were not timed by the clock itself.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct UntimedInstances {
    /// Passed over; begin and end were reported.
    pub(crate) pairs: u64,
    /// Passed over by the program, which counted them.
    pub(crate) counted: u64,
    /// Passed over by the program, which counted them and noted where it was.
    pub(crate) noted: u64,
    /// Timed by the coarse clock.
    pub(crate) coarse: u64,
}

/// As `of_pair`, of such an instance, in the mean over all of them. What can't be found out counts
/// as 0.
pub(crate) fn of_untimed_pair(scale: Scale, untimed: UntimedInstances) -> u64 {
    static PAIRS_TICKS: OnceLock<Option<u64>> = OnceLock::new();
    static COUNTED_TICKS: OnceLock<Option<u64>> = OnceLock::new();
    static NOTED_TICKS: OnceLock<Option<u64>> = OnceLock::new();
    static COARSE_TICKS: OnceLock<Option<u64>> = OnceLock::new();
    let ps = |number: u64, known: &OnceLock<Option<u64>>, find: fn() -> Option<u64>| {
        // Nobody needs the cost of what there was not.
        let ticks = match number {
            0 => 0,
            _ => known.get_or_init(find).unwrap_or(0),
        };
        u128::from(scale.to_ns(ticks * 1000) / PAIRS) * u128::from(number)
    };
    let UntimedInstances {
        pairs,
        counted,
        noted,
        coarse,
    } = untimed;
    let sum = ps(pairs, &PAIRS_TICKS, || {
        ticks_of_passed(
            |thread, region, _| probe(Event::FlushEnter, thread, region),
            |thread, region, _| {
                probe(Event::FlushExit, thread, region);
            },
        )
    }) + ps(counted, &COUNTED_TICKS, || {
        ticks_of_passed(|_, _, record| record.counts(), |_, _, _| ())
    }) + ps(noted, &NOTED_TICKS, ticks_of_noted)
        + ps(coarse, &COARSE_TICKS, || {
            ticks_of_pairs_by(coarse_clock::now)
        });
    u64::try_from(sum / u128::from((pairs + counted + noted + coarse).max(1))).unwrap_or(u64::MAX)
}

/// As `of_pair`, in ticks.
pub(super) fn ticks_of_pair() -> u64 {
    ticks_of_pairs().unwrap_or(0) / PAIRS
}

/// The cost of a read of the clock in order with other instructions, in ticks.
pub(super) fn ticks_of_read_in_order() -> u64 {
    let reads = least(|| {
        clock::now_in_order();
    });
    reads / PAIRS
}

/// The time of an instance in which nothing happens, between two reads of the clock in order with
/// other instructions, in ticks. It is what timing adds to an instance.
pub(super) fn ticks_of_empty_instance() -> u64 {
    static TICKS: AtomicU64 = AtomicU64::new(0);
    found_once(&TICKS, || {
        let Some((thread, region)) = calibrated() else {
            return 0;
        };
        let ends = [Event::FlushEnter, Event::FlushExit];
        let instances = least_sum(|_| {
            let [start, end] = ends.map(|event| {
                let at = Cell::new(0);
                thread.on_event(event, region, || {
                    at.set(clock::now_in_order());
                    at.get()
                });
                at.get()
            });
            end.wrapping_sub(start)
        });
        instances / PAIRS
    })
}

/// The cost of atomic updates of a variable that this thread alone uses, in ticks.
pub(super) fn ticks_of_updates(number: u64) -> u64 {
    static TICKS: AtomicU64 = AtomicU64::new(0);
    let all = found_once(&TICKS, || {
        let variable = AtomicU64::new(0);
        least(|| {
            std::hint::black_box(&variable).fetch_add(1, Ordering::Relaxed);
        })
    });
    all * number / PAIRS
}

/// A cost in ticks, at least 1, which is found at the first use and kept in `known`. No thread
/// waits: of threads that ask at the same time each looks for the cost, and all get that of the
/// first.
pub(super) fn found_once(known: &AtomicU64, find: fn() -> u64) -> u64 {
    match known.load(Ordering::Relaxed) {
        0 => {
            let ticks = errno::keep(find).max(1);
            let first = known.compare_exchange(0, ticks, Ordering::Relaxed, Ordering::Relaxed);
            first.map_or_else(|first| first, |_| ticks)
        }
        ticks => ticks,
    }
}

/// A thread block that belongs to no thread, and a region, with which costs are calibrated. Both
/// are kept in statics, so that leak checkers find them.
fn calibrated() -> Option<(&'static Thread, &'static Region)> {
    static THREAD: SharedRef<Thread> = SharedRef::none();
    static REGION: SharedRef<Region> = SharedRef::none();
    let thread = Thread::detached()?.as_initial(0);
    THREAD.set(Some(thread));
    let region = region::unregistered(Descriptor {
        region_type: "flush".to_owned(),
        ..Descriptor::default()
    })?;
    REGION.set(Some(region));
    // Else they are optimised away, since nobody reads them.
    std::hint::black_box((&THREAD, &REGION));
    Some((thread, region))
}

/// The shortest time of [`ATTEMPTS`] attempts at [`PAIRS`] pairs, in ticks.
fn least(mut pair: impl FnMut()) -> u64 {
    let attempts = (0..ATTEMPTS).map(|_| {
        let start = clock::now();
        (0..PAIRS).for_each(|_| pair());
        clock::now().wrapping_sub(start)
    });
    attempts.min().unwrap_or(0)
}

/// The least sum of [`ATTEMPTS`] attempts at [`PAIRS`] times that are given one by one, in ticks.
fn least_sum(time: impl Fn(u64) -> u64) -> u64 {
    let attempts = (0..ATTEMPTS).map(|_| (0..PAIRS).map(&time).sum());
    attempts.min().unwrap_or(0)
}

fn ticks_of_pairs() -> Option<u64> {
    ticks_of_pairs_by(clock::now)
}

/// The cost of pairs of events whose times are taken from this clock, in ticks.
fn ticks_of_pairs_by(now: impl Fn() -> u64 + Copy) -> Option<u64> {
    let (thread, region) = calibrated()?;
    Some(least(|| {
        thread.on_event(Event::FlushEnter, region, now);
        thread.on_event(Event::FlushExit, region, now);
    }))
}

/// The cost of an event in ticks, in a loop of nothing but events, together with the reads of the
/// clock by which [`own_time`] finds it.
pub(super) fn ticks_of_timed_event() -> u64 {
    static TICKS: AtomicU64 = AtomicU64::new(0);
    found_once(&TICKS, find_ticks_of_timed_event)
}

fn find_ticks_of_timed_event() -> u64 {
    let Some((thread, region)) = calibrated() else {
        return 0;
    };
    let events = least_sum(|number| {
        let event = match number % 2 {
            0 => Event::FlushEnter,
            _ => Event::FlushExit,
        };
        let start = clock::now();
        thread.on_event(event, region, clock::now);
        clock::now().wrapping_sub(start)
    });
    events / PAIRS
}

/// The constructs that are passed over are shorter than a read of the clock. Most of them are
/// atomic updates. An update waits for the stores of the probe in front of it, and the probe behind
/// it waits for the update. So the cost of the probes is the time that they add to one update.
/// `begin` stands in front of the update and says whether the instance is passed over, and `end`
/// stands behind it.
fn ticks_of_passed(
    begin: impl Fn(&'static Thread, &'static Region, &'static Passing) -> bool,
    end: impl Fn(&'static Thread, &'static Region, &'static Passing),
) -> Option<u64> {
    let (thread, region) = calibrated()?;
    let target = AtomicU64::new(0);
    let update = || target.fetch_add(1, Ordering::SeqCst);
    let plain = least(|| {
        update();
    });
    let all = ATTEMPTS as u32 * PAIRS as u32;
    if !thread.pass_over_next(region, all + 1) {
        return None;
    }
    let Passes::Lends(record) = thread.sampler.counts_and_lends(region) else {
        return None;
    };
    let mut passed = 0;
    let probed = least(|| {
        let record = std::hint::black_box(record);
        passed += u32::from(begin(thread, region, record));
        update();
        end(thread, region, record);
    });
    (passed == all).then(|| probed.saturating_sub(plain))
}

/// The same, of an instance that the program counts, in which it notes its phase as in a `critical`.
fn ticks_of_noted() -> Option<u64> {
    ticks_of_passed(
        |_, _, record| {
            record.enters(PseudoRegion::Enter) && !record.reports(Some(PseudoRegion::Body))
        },
        |_, _, record| {
            record.reports(Some(PseudoRegion::Exit));
            record.reports(None);
        },
    )
}

/// What every probe does first. The thread that calibrates is another one than the measured one.
#[inline(always)]
fn look_for_thread() {
    std::hint::black_box((state::is_quick(), thread::current()));
}

/// The work of a probe, as a call.
#[inline(never)]
fn probe(event: Event, thread: &'static Thread, region: &'static Region) -> bool {
    look_for_thread();
    thread.knows_place_for(|| Some(region)) && thread.passes_over(event, || Some(region))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_costs_something() {
        assert!(of_pair(Scale::one()) > 0);
        let one = |[pairs, counted, noted, coarse]: [u64; 4]| {
            let untimed = UntimedInstances {
                pairs,
                counted,
                noted,
                coarse,
            };
            of_untimed_pair(Scale::one(), untimed)
        };
        let kinds = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]];
        let costs = kinds.map(one);
        assert!(costs.iter().all(|cost| *cost > 0), "{costs:?}");
        assert_eq!(one([0; 4]), 0);
    }
}
