//! Instances that the program passes over without a call.
//!
//! A call can take longer than a construct in which nothing else happens, such as `atomic`: the
//! compiler saves registers around it. So the thread lends the program the number of instances that
//! are still to be passed over. The program counts that number down in a record of the thread. It
//! does so as long as the record has the mark of the [`coarse_clock`] in it. As soon as anything
//! else happens on the thread, the thread takes the number back.
//!
//! The program keeps the address of a record. So a record belongs to one region for good.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::coarse_clock;
use super::records::Region;
use super::shared::{SharedRef, SharedU64};

/// The number of records of a thread. The regions that get none are passed over by calls.
const RECORDS: usize = 64;
/// A region's record is one of this many, behind the place that its address gives.
const TRIED: usize = 8;

/// A number of instances that the program may pass over. The first four fields are
/// `struct romp_passing` of `pomp_lib.h`.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Passing {
    mark: SharedRef<AtomicU64>,
    /// The mark at which the number was lent; 0, which is no mark, if none is lent.
    seen: SharedU64,
    /// What the program has left of it.
    left: AtomicU32,
    lent: AtomicU32,
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
            region: SharedRef::none(),
            entry: SharedU64::new(0),
        }
    }

    /// Counts an instance as the program does.
    #[inline(always)]
    pub(super) fn counts(&self) -> bool {
        let mark = self.mark.get().map(|mark| mark.load(Ordering::Relaxed));
        let left = self.left.load(Ordering::Relaxed);
        let passes = mark == Some(self.seen.get()) && left > 0;
        if passes {
            self.left.store(left - 1, Ordering::Relaxed);
        }
        passes
    }

    /// How many instances the program has passed over.
    fn used(&self) -> u32 {
        let left = self.left.load(Ordering::Relaxed);
        self.lent.load(Ordering::Relaxed).wrapping_sub(left)
    }
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
        entry: usize,
        left: u32,
        mark: u64,
    ) -> &'static Passing {
        let record = &self.records[number];
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
