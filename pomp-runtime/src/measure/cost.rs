//! The cost of a pair of events in this run. With it a report can say how much of a region's time
//! was spent on measuring.

use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use profile::descriptor::Descriptor;
use profile::region_kind::{PseudoRegion, RegionKind};

use super::clock::{self, Scale};
use super::coarse_clock;
use super::errno;
use super::lending::Passing;
use super::own_time;
use super::pass_table::Passes;
use super::records::region;
use super::records::{CoarseTimes, Region};
use super::shared::{SharedRef, leak};
use super::state;
use super::thread::{self, Thread};
use profile::event::Event;

/// The shortest of this many attempts counts: every disturbance makes an attempt longer.
const ATTEMPTS: usize = 20;
/// Pairs of events in one attempt.
const PAIRS: u64 = 100;

/// Cost of a pair in picoseconds; 0 if it could not be found out. Takes some
/// microseconds, once.
pub(crate) fn pair_cost(scale: Scale) -> u64 {
    static TICKS: OnceLock<Option<u64>> = OnceLock::new();
    let ticks = TICKS.get_or_init(ticks_of_pairs).unwrap_or(0);
    let all = thread::all();
    let events = all.iter().map(|thread| &thread.own_time);
    let extra = 2 * own_time::extra_ticks_of(events, ticks_of_timed_event());
    scale.to_ns((ticks + extra * PAIRS) * 1000) / PAIRS
}

/// The cost of [`PAIRS`] instances of some sort, which is found at the first use.
struct Calibrated {
    ticks: AtomicU64,
    find: fn() -> Option<u64>,
}

/// Pairs of calls that pass over something.
static CALLS: Calibrated = Calibrated::new(|| {
    ticks_of_passed(
        |thread, region, _| probe(Event::FlushEnter, thread, region),
        |thread, region, _| {
            probe(Event::FlushExit, thread, region);
        },
    )
});
/// Instances that the program passes over and counts.
static COUNTED: Calibrated =
    Calibrated::new(|| ticks_of_passed(|_, _, record| record.counts(), |_, _, _| ()));
/// The same, where the program also notes the phase that it is in, as in a `critical`.
static NOTED: Calibrated = Calibrated::new(ticks_of_noted);
/// Pairs of events that take no more than a look at the coarse clock.
static COARSE: Calibrated = Calibrated::new(ticks_of_coarse_pairs);

impl Calibrated {
    const fn new(find: fn() -> Option<u64>) -> Self {
        Self {
            ticks: AtomicU64::new(0),
            find,
        }
    }

    fn ticks(&self) -> u64 {
        found_once(&self.ticks, || (self.find)().unwrap_or(0))
    }
}

/// The time that passing over an instance of a construct or lock adds to it, in ticks. `is_lent`: the
/// program counts it.
pub(super) fn ticks_of_passing(kind: RegionKind, is_lent: bool) -> f64 {
    let ticks = match (kind, is_lent) {
        (RegionKind::Critical, true) => NOTED.ticks(),
        (_, true) => COUNTED.ticks(),
        // It has two pairs of events.
        (RegionKind::Critical, false) => 2 * CALLS.ticks(),
        (_, false) => CALLS.ticks(),
    };
    ticks as f64 / PAIRS as f64
}

/// Instances that were not timed by the clock itself, by what they cost.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Untimed {
    /// Pairs of calls that passed over something.
    pub(crate) calls: u64,
    /// Instances that the program passed over and counted.
    pub(crate) counted: u64,
    /// Instances that the program passed over and counted, and in which it noted where it was.
    pub(crate) noted: u64,
    /// Pairs of events that were timed by the coarse clock.
    pub(crate) coarse: u64,
    /// The pairs of events in all of them, as a profile counts pairs.
    pub(crate) pairs: u64,
}

/// As `pair_cost`, of a pair of events that was not timed, in the mean over all of them. What can't be
/// found out counts as 0.
pub(crate) fn of_untimed_pair(scale: Scale, untimed: Untimed) -> u64 {
    let ps = |number: u64, cost: &Calibrated| {
        // Nobody needs the cost of what there was not.
        let ticks = match number {
            0 => 0,
            _ => cost.ticks(),
        };
        u128::from(scale.to_ns(ticks * 1000) / PAIRS) * u128::from(number)
    };
    let Untimed {
        calls,
        counted,
        noted,
        coarse,
        pairs,
    } = untimed;
    let coarse = ps(coarse, &COARSE) as f64 * in_place(coarse);
    let sum = ps(calls, &CALLS) + ps(counted, &COUNTED) + ps(noted, &NOTED) + coarse as u128;
    u64::try_from(sum / u128::from(pairs.max(1))).unwrap_or(u64::MAX)
}

/// The time that this many pairs of events took in the program, as a multiple of their time in a loop. The
/// coarse clock timed them. The steps that it made during these events tell their time ([`own_time`]).
fn in_place(pairs: u64) -> f64 {
    let all = thread::all();
    let seen = all.iter().map(|thread| thread.own_time.steps()).sum();
    let in_loop = pairs as f64 * COARSE.ticks() as f64 / PAIRS as f64;
    // In a loop, the events take the least that they can. A processor that works ahead reads the clock behind
    // an event early, so steps are missed.
    ratio_of_steps(seen, in_loop / coarse_clock::mean_period()).max(1.0)
}

/// The ratio of the steps that were seen to those that were expected. The fewer there are, the less they
/// say, and the closer the ratio is to 1.
fn ratio_of_steps(seen: u64, expected: f64) -> f64 {
    /// So many steps are added to both numbers.
    const PRIOR: f64 = 4.0;
    (PRIOR + seen as f64) / (PRIOR + expected)
}

/// As `pair_cost`, in ticks.
pub(super) fn ticks_of_pair() -> u64 {
    ticks_of_pairs().unwrap_or(0) / PAIRS
}

/// The cost of a read of the clock in order with other instructions, in ticks.
pub(super) fn ticks_of_read_in_order() -> u64 {
    static TICKS: AtomicU64 = AtomicU64::new(0);
    found_once(&TICKS, || {
        let reads = least(|| {
            clock::now_in_order();
        });
        reads / PAIRS
    })
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
pub(super) fn found_once(known: &AtomicU64, find: impl FnOnce() -> u64) -> u64 {
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

/// The cost of pairs of events that are timed, in ticks.
fn ticks_of_pairs() -> Option<u64> {
    let (thread, region) = calibrated()?;
    Some(least(|| {
        record_begin(thread, region);
        record_end(thread, region);
    }))
}

/// Records an event, with all that an entry point does for it.
#[inline(always)]
fn record(event: Event, thread: &'static Thread, region: &'static Region) {
    look_for_thread_and_place();
    let begin = thread.own_time.begin();
    thread.enter(|thread| thread.on_event(event, region, clock::now));
    thread.own_time.end(begin);
}

#[inline(never)]
fn record_begin(thread: &'static Thread, region: &'static Region) {
    record(Event::FlushEnter, thread, region);
}

#[inline(never)]
fn record_end(thread: &'static Thread, region: &'static Region) {
    record(Event::FlushExit, thread, region);
}

/// The cost of pairs of events that take no more than a look at the coarse clock, in ticks.
fn ticks_of_coarse_pairs() -> Option<u64> {
    // They happen in a construct.
    let (thread, around) = calibrated()?;
    record_begin(thread, around);
    let (_, region) = calibrated()?;
    let (_, node) = thread.next_frame(region)?;
    node.set_coarse_times(leak(CoarseTimes::default())?);
    region.set_coarse_times();
    let mut done = true;
    let ticks = least(|| {
        done &= open_coarse(thread, region) && close_coarse(thread, region);
    });
    done.then_some(ticks)
}

/// Opens an instance, with all that an entry point does for it.
#[inline(never)]
fn open_coarse(thread: &'static Thread, region: &'static Region) -> bool {
    look_for_thread_and_place();
    region.has_coarse_times() && thread.opens_at_once(region)
}

#[inline(never)]
fn close_coarse(thread: &'static Thread, region: &'static Region) -> bool {
    look_for_thread_and_place();
    region.has_coarse_times() && thread.closes_at_once(region)
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
    let Passes::Lends(record) = thread.pass_table.counts_and_lends(region) else {
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

/// The same, of an instance in which the program notes its phase.
fn ticks_of_noted() -> Option<u64> {
    ticks_of_passed(
        |_, _, record| record.enters(PseudoRegion::Enter) && record.goes_on(PseudoRegion::Body),
        |_, _, record| {
            record.ends();
        },
    )
}

/// Looks for the construct of a call by its place. Entry points do so first if the program was built without Romp.
static LOOK_FOR_PLACE: OnceLock<fn()> = OnceLock::new();

/// From now on, a look for the place of a call is a part of what recording an event costs.
#[cfg_attr(test, allow(dead_code, reason = "its users are not built"))]
pub(crate) fn add_look_for_place(look: fn()) {
    // There is one such look.
    let _ = LOOK_FOR_PLACE.set(look);
}

/// The first steps of every probe. The calibrating thread is not the one that is measured.
#[inline(always)]
fn look_for_thread_and_place() {
    if let Some(look) = LOOK_FOR_PLACE.get() {
        look();
    }
    std::hint::black_box((state::is_quick(), thread::current()));
}

/// The work of a probe, as a call.
#[inline(never)]
fn probe(event: Event, thread: &'static Thread, region: &'static Region) -> bool {
    look_for_thread_and_place();
    thread.knows_place_for(|| Some(region)) && thread.passes_over(event, || Some(region))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_steps_change_little() {
        assert!((ratio_of_steps(0, 0.0) - 1.0).abs() < 1e-9);
        assert!((ratio_of_steps(1, 0.1) - 1.0).abs() < 0.3);
        assert!((ratio_of_steps(300, 100.0) - 3.0).abs() < 0.1);
        assert!(ratio_of_steps(0, 100.0) > 0.0);
    }

    #[test]
    fn a_pair_costs_something() {
        assert!(pair_cost(Scale::one()) > 0);
        let one = |[calls, counted, noted, coarse]: [u64; 4]| {
            let untimed = Untimed {
                calls,
                counted,
                noted,
                coarse,
                pairs: 1,
            };
            of_untimed_pair(Scale::one(), untimed)
        };
        let kinds = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]];
        let costs = kinds.map(one);
        // What can't be found counts as one tick for all pairs: 10 ps each.
        assert!(costs.iter().all(|cost| *cost > 10), "{costs:?}");
        assert_eq!(one([0; 4]), 0);
    }
}
