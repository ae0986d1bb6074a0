//! Instances that the program passes over without a call.
//!
//! A call can take longer than a construct such as `atomic`: the compiler saves registers around it.
//! So the thread lends the program the number of instances that are still to be passed over. The
//! program counts that number down in a record of the thread. It does so as long as the record has
//! the mark of the [`coarse_clock`] in it. As soon as anything else happens on the thread, the thread
//! takes the number back.
//!
//! Other constructs may begin in a `critical`, a `master` or an `ordered`. So the program also writes
//! which of them it is executing, and in which phase ([`PassedInstance`]). It reports the next event of the
//! instance if that is not so any more, or if the mark has changed: then a phase may have been long.
//!
//! The program keeps the address of a record. So a record belongs to one region for good.

use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

use profile::region_kind::PseudoRegion;

use super::coarse_clock;
use super::records::Region;
use super::records::node::pseudo_region;
use super::shared::{SharedRef, SharedU64};
use crate::hash::spread;

/// The number of records of a thread. The instances of a region without a record are passed over by
/// a call of the library.
const RECORDS: usize = 64;
/// A region's record is one of this many, behind the place that its address gives.
const TRIED: usize = 8;

/// The instance that a thread passes over at the moment, if there is one. It is `struct romp_passed`
/// of `pomp_lib.h`. The program, on the same thread, stores the region of a [`Passing`] in it or
/// nothing.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct PassedInstance {
    region: SharedRef<Region>,
    phase: AtomicU8,
}

impl PassedInstance {
    pub(super) const fn none() -> Self {
        Self {
            region: SharedRef::none(),
            phase: AtomicU8::new(0),
        }
    }

    #[inline(always)]
    pub(super) fn region(&self) -> Option<&'static Region> {
        self.region.get()
    }

    #[inline(always)]
    pub(super) fn phase(&self) -> PseudoRegion {
        pseudo_region(self.phase.load(Ordering::Relaxed))
    }

    #[inline(always)]
    pub(super) fn begin(&self, region: &'static Region, phase: PseudoRegion) {
        self.set_phase(phase);
        self.region.set(Some(region));
    }

    #[inline(always)]
    pub(super) fn set_phase(&self, phase: PseudoRegion) {
        self.phase.store(phase as u8, Ordering::Relaxed);
    }

    #[inline(always)]
    pub(super) fn end(&self) {
        self.region.set(None);
    }
}

/// A number of instances that the program may pass over. All fields but the last are
/// `struct romp_passing` of `pomp_lib.h`.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Passing {
    mark: SharedRef<AtomicU64>,
    /// The mark at which the number was lent; 0, which is no mark, if none is lent.
    seen: SharedU64,
    /// The number of instances that the program may still pass over, out of `lent`.
    left: AtomicU32,
    lent: AtomicU32,
    passed: SharedRef<PassedInstance>,
    region: SharedRef<Region>,
    /// The number of the entry that it comes from.
    entry: SharedU64,
}

impl Passing {
    const fn new() -> Self {
        Self {
            mark: SharedRef::none(),
            seen: SharedU64::new(0),
            left: AtomicU32::new(0),
            lent: AtomicU32::new(0),
            passed: SharedRef::none(),
            region: SharedRef::none(),
            entry: SharedU64::new(0),
        }
    }

    /// Counts an instance as the program does.
    #[inline(always)]
    pub(super) fn counts(&self) -> bool {
        let left = self.left.load(Ordering::Relaxed);
        let is_in = || self.passed.get().is_none_or(|it| it.region().is_some());
        let passes = self.is_valid() && left > 0 && !is_in();
        if passes {
            self.left.store(left - 1, Ordering::Relaxed);
        }
        passes
    }

    #[inline(always)]
    fn is_valid(&self) -> bool {
        let mark = self.mark.get().map(|mark| mark.load(Ordering::Relaxed));
        mark == Some(self.seen.get())
    }

    /// Begins an instance in which other constructs may begin, as the program does.
    #[inline(always)]
    pub(super) fn enters(&self, phase: PseudoRegion) -> bool {
        let counts = self.counts();
        if let (true, Some(passed), Some(region)) = (counts, self.passed.get(), self.region.get()) {
            passed.begin(region, phase);
        }
        counts
    }

    /// Goes on with such an instance, as the program does. False if the event has to be reported.
    #[inline(always)]
    pub(super) fn goes_on(&self, phase: PseudoRegion) -> bool {
        let passed = self.passed.get().filter(|_| self.is_valid());
        passed.inspect(|passed| passed.set_phase(phase)).is_some()
    }

    /// Ends such an instance, as the program does. False if the event has to be reported.
    #[inline(always)]
    pub(super) fn ends(&self) -> bool {
        let passed = self.passed.get();
        let is_in =
            |passed: &&PassedInstance| self.region.get().is_some_and(|own| passed.region.is(own));
        let passed = passed.filter(|passed| is_in(passed) && self.is_valid());
        passed.inspect(|passed| passed.end()).is_some()
    }

    /// How many instances the program has passed over.
    fn used(&self) -> u32 {
        let left = self.left.load(Ordering::Relaxed);
        self.lent.load(Ordering::Relaxed).wrapping_sub(left)
    }
}

/// A thread's record for instances that are not measured, now or later.
#[derive(Debug)]
pub(super) struct Unmeasured {
    record: Passing,
    passed: PassedInstance,
}

/// The mark of such records. It never changes, so a record is valid until its number is used up.
static UNMEASURED_MARK: AtomicU64 = AtomicU64::new(1);

impl Unmeasured {
    pub(super) const fn new() -> Self {
        Self {
            record: Passing::new(),
            passed: PassedInstance::none(),
        }
    }

    /// The record in which the program counts such instances without a call. Nobody reads the number.
    pub(super) fn lend(&'static self) -> &'static Passing {
        let record = &self.record;
        record.passed.set(Some(&self.passed));
        record.mark.set(Some(&UNMEASURED_MARK));
        record.left.store(u32::MAX, Ordering::Relaxed);
        record.seen.set(UNMEASURED_MARK.load(Ordering::Relaxed));
        record
    }
}

/// The number of records for programs that are not measured, for whose threads the library has no memory.
const RECORDS_WHILE_OFF: usize = 256;

/// A record alone on its cache lines.
#[repr(align(128))]
struct Alone(Unmeasured);

/// The record in which the program counts instances without a call while measurement is off, for good.
/// `place` is an address in the memory of the calling thread. Threads seldom share a record. If they do,
/// the program reports an event now and then, which is ignored.
pub(crate) fn lend_while_off(place: usize) -> &'static Passing {
    static RECORDS: [Alone; RECORDS_WHILE_OFF] =
        [const { Alone(Unmeasured::new()) }; RECORDS_WHILE_OFF];
    // The memory of each thread lies about equally far from that of the next one.
    let hash = spread((place >> 12) as u64);
    let number = (hash >> 32) as usize % RECORDS_WHILE_OFF;
    RECORDS[number].0.lend()
}

/// A thread's records.
#[derive(Debug)]
pub(super) struct Lending {
    /// Those that are lent at the moment, a bit for each.
    lent: SharedU64,
    records: [Passing; RECORDS],
}

impl Lending {
    pub(super) const fn new() -> Self {
        Self {
            lent: SharedU64::new(0),
            records: [const { Passing::new() }; RECORDS],
        }
    }

    #[inline(always)]
    pub(super) fn is_any_lent(&self) -> bool {
        self.lent.get() != 0
    }

    pub(super) fn first_lent(&self) -> Option<usize> {
        let number = self.lent.get().trailing_zeros() as usize;
        (number < RECORDS).then_some(number)
    }

    fn is_lent(&self, number: usize) -> bool {
        self.lent.get() & 1 << number != 0
    }

    /// The number of a region's record. A region without one gets a free one, if there is any.
    pub(super) fn record_of(&self, region: &'static Region) -> Option<usize> {
        let first = std::ptr::from_ref(region).addr() >> 6;
        let number = (first..first + TRIED)
            .map(|number| number % RECORDS)
            .find(|number| {
                let owner = self.records[*number].region.get();
                owner.is_none_or(|owner| std::ptr::eq(owner, region))
            })?;
        self.records[number].region.set(Some(region));
        Some(number)
    }

    /// Lends the number of instances that an entry has left, at this mark.
    pub(super) fn lend(
        &'static self,
        number: usize,
        (entry, left): (usize, u32),
        mark: u64,
        passed: &'static PassedInstance,
    ) -> &'static Passing {
        let record = &self.records[number];
        record.passed.set(Some(passed));
        record.mark.set(Some(coarse_clock::mark_variable()));
        record.entry.set(entry as u64);
        record.lent.store(left, Ordering::Relaxed);
        record.left.store(left, Ordering::Relaxed);
        record.seen.set(mark);
        self.lent.set(self.lent.get() | 1 << number);
        record
    }

    /// Takes back what is lent in a record: the number of the entry that it belongs to, and how
    /// many instances the program has passed over.
    pub(super) fn take_back(&self, number: usize) -> Option<(usize, u32)> {
        if !self.is_lent(number) {
            return None;
        }
        let record = &self.records[number];
        let used = record.used();
        record.seen.set(0);
        self.lent.set(self.lent.get() & !(1 << number));
        Some((record.entry.get() as usize, used))
    }

    /// How many instances the program has passed over that an entry does not know of yet.
    pub(super) fn used_of(&self, entry: usize) -> u32 {
        let records = self.records.iter().enumerate();
        records
            .filter(|(number, record)| self.is_lent(*number) && record.entry.get() == entry as u64)
            .map(|(_, record)| record.used())
            .sum()
    }
}
