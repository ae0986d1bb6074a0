//! How a probe in Fortran finds its region: by the address of its literal.
//!
//! A literal stays at one address as long as its program part is loaded. So its region is found by
//! that address, without a lock, and the text is read only where an address is new. Another text at
//! a known address (a library was unloaded, and another one loaded in its place) is noticed by its
//! length and last bytes.
//!
//! The entry of a literal stands in [`NEAR`], in a place that follows from the address, so that
//! a probe reads nothing else to find it: what it reads next would have to wait. If that place is
//! taken, it stands elsewhere, and a table has where.
//!
//! A region's first probe carries its record, the others its id. An id whose record was not seen
//! has no region yet: the region's first probe was not measured, so the later ones are not
//! measured either.

use std::collections::BTreeMap;
use std::ffi::c_char;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use profile::descriptor::{DescriptorError, Literal as Content};

use super::by_address::{self, Table};
use super::unreached;
use crate::measure::mutex::lock;
use crate::measure::records::Region;
use crate::measure::records::region::{self, register};
use crate::measure::shared::{SharedRef, SharedU64, leak};
use crate::measure::thread::Thread;
use crate::measure::{errno, message};

/// The argument of a probe.
#[derive(Clone, Copy)]
pub(super) struct Literal<'a>(&'a [u8]);

/// A literal whose text has been read, or a place for one. Fills a cache line.
#[derive(Debug)]
#[repr(align(64))]
struct LiteralRecord {
    /// 0 if nothing is known yet. It is written last, and never again.
    address: AtomicUsize,
    length: AtomicUsize,
    /// The low and the high half of its print.
    low: SharedU64,
    high: SharedU64,
    region: SharedRef<Region>,
}

/// The last bytes of a text. Of a short text these are all bytes; in a record or an id these bytes
/// distinguish it from others.
type Print = u128;

/// Places for what is known of literals; a power of two.
const PLACES: usize = 4096;

static NEAR: [LiteralRecord; PLACES] = [const { LiteralRecord::none() }; PLACES];

impl LiteralRecord {
    const fn none() -> Self {
        Self {
            address: AtomicUsize::new(0),
            length: AtomicUsize::new(0),
            low: SharedU64::new(0),
            high: SharedU64::new(0),
            region: SharedRef::none(),
        }
    }

    /// The place for what is at an address. Texts of 16 bytes or more that stand side by side have
    /// places of their own.
    #[inline(always)]
    fn near(address: usize) -> &'static Self {
        &NEAR[address / size_of::<Print>() % PLACES]
    }

    #[inline(always)]
    fn is_for(&self, literal: Literal, print: impl FnOnce() -> Print + Copy) -> bool {
        self.address.load(Ordering::Acquire) == literal.address()
            && self.length.load(Ordering::Relaxed) == literal.0.len()
            && (u128::from(self.high.get()) << 64 | u128::from(self.low.get())) == print()
    }

    /// The place of the literal, or one that is made for it, filled but for the address. Only one
    /// thread at a time may call this.
    fn fill(literal: Literal) -> Option<&'static Self> {
        let near = Self::near(literal.address());
        let is_free = near.address.load(Ordering::Relaxed) == 0;
        let known = match is_free {
            true => near,
            false => leak(Self::none())?,
        };
        known.length.store(literal.0.len(), Ordering::Relaxed);
        let print = literal.print();
        known.low.set(print as u64);
        known.high.set((print >> 64) as u64);
        Some(known)
    }

    /// From now on other threads find it.
    fn publish(&self, literal: Literal) {
        self.address.store(literal.address(), Ordering::Release);
    }
}

impl by_address::AddressRecord for LiteralRecord {
    fn address(&self) -> usize {
        self.address.load(Ordering::Relaxed)
    }

    fn replaces(&self, other: &Self) -> bool {
        let lengths = [self, other].map(|known| known.length.load(Ordering::Relaxed));
        lengths[0] == lengths[1]
    }
}

static TABLE: Table<LiteralRecord> = Table::none();

/// Data that is needed only when a text is read.
struct LiteralBook {
    /// Every literal that was ever known.
    known: BTreeMap<(usize, Vec<u8>), &'static LiteralRecord>,
    regions: BTreeMap<String, &'static Region>,
    /// Literals that hold the id of a record that was not seen yet.
    waiting: BTreeMap<String, Vec<&'static LiteralRecord>>,
}

static BOOK: Mutex<LiteralBook> = Mutex::new(LiteralBook {
    known: BTreeMap::new(),
    regions: BTreeMap::new(),
    waiting: BTreeMap::new(),
});

impl<'a> Literal<'a> {
    /// # Safety
    /// `text` is null or points to `length` bytes that stay as they are for
    /// as long as `'a`.
    #[inline(always)]
    pub(super) unsafe fn new(text: *const c_char, length: usize) -> Self {
        if text.is_null() {
            return Self(&[]);
        }
        // SAFETY: as the caller promises.
        Self(unsafe { std::slice::from_raw_parts(text.cast(), length) })
    }

    /// The region that the literal names. If there is none, the literal is counted.
    #[inline(always)]
    pub(super) fn region(self, thread: &Thread) -> Option<&'static Region> {
        let region = self.known().or_else(|| self.read())?.region.get();
        if region.is_none() {
            thread.unmatched.add(1);
        }
        region
    }

    /// The region that it names, if that is known.
    #[inline(always)]
    pub(super) fn known_region(self) -> Option<&'static Region> {
        self.known()?.region.get()
    }

    /// As `known_region`, but only if what is known stands in its place and the text is long. It
    /// calls no function, so that a probe saves few registers.
    #[inline(always)]
    pub(super) fn near_region(self) -> Option<&'static Region> {
        self.near()?.region.get()
    }

    #[inline(always)]
    fn near(self) -> Option<&'static LiteralRecord> {
        let print = u128::from_ne_bytes(*self.0.last_chunk()?);
        let near = LiteralRecord::near(self.address());
        near.is_for(self, || print).then_some(near)
    }

    #[inline(always)]
    fn known(self) -> Option<&'static LiteralRecord> {
        self.near().or_else(|| self.elsewhere())
    }

    #[cold]
    #[inline(never)]
    fn elsewhere(self) -> Option<&'static LiteralRecord> {
        TABLE.find(self.address(), |known| known.is_for(self, || self.print()))
    }

    /// Reads the text, which no thread has seen at this address.
    #[cold]
    #[inline(never)]
    fn read(self) -> Option<&'static LiteralRecord> {
        errno::keep(|| {
            let _new = region::new();
            lock(&BOOK).enter(self)
        })
    }

    /// The text without the blanks that fill it up.
    pub(super) fn plain(self) -> String {
        String::from_utf8_lossy(self.0.trim_ascii()).into_owned()
    }

    #[inline(always)]
    fn address(self) -> usize {
        self.0.as_ptr().addr()
    }

    #[inline(always)]
    fn print(self) -> Print {
        if let Some(end) = self.0.last_chunk() {
            return u128::from_ne_bytes(*end);
        }
        if let (Some(begin), Some(end)) = (self.0.first_chunk(), self.0.last_chunk()) {
            return u128::from(u64::from_ne_bytes(*begin)) << 64
                | u128::from(u64::from_ne_bytes(*end));
        }
        let add = |print, byte: &u8| print << 8 | u128::from(*byte);
        self.0.iter().fold(0, add)
    }
}

impl LiteralBook {
    fn enter(&mut self, literal: Literal) -> Option<&'static LiteralRecord> {
        let key = (literal.address(), literal.0.to_vec());
        let known = match self.known.get(&key) {
            Some(known) => known,
            None => {
                region::look_for_more(unreached::register_all);
                let known = LiteralRecord::fill(literal)?;
                self.known.insert(key, known);
                let text = String::from_utf8_lossy(literal.0);
                if let Err(error) = self.resolve(&text, known) {
                    message::say(&format!(
                        "one region is not measured, since {error}; was the source instrumented \
                         by another version of Romp?"
                    ));
                }
                known.publish(literal);
                known
            }
        };
        TABLE.enter(known, self.known.len(), self.known.values().copied())?;
        Some(known)
    }

    /// Finds the region that a text names.
    fn resolve(
        &mut self,
        text: &str,
        known: &'static LiteralRecord,
    ) -> Result<(), DescriptorError> {
        match Content::parse(text)? {
            Content::Id(id) => match self.regions.get(id) {
                Some(region) => known.region.set(Some(region)),
                None => self.waiting.entry(id.to_owned()).or_default().push(known),
            },
            Content::Record(mut record) => {
                // Records with the same text are one region, whatever their ids.
                let id = record.id.take();
                known.region.set(register(*record));
                if let (Some(id), Some(region)) = (id, known.region.get()) {
                    for waiting in self.waiting.remove(&id).unwrap_or_default() {
                        waiting.region.set(Some(region));
                    }
                    self.regions.insert(id, region);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    /// Threads that come to a literal at the same time all find its region.
    #[test]
    fn a_literal_has_its_region_as_soon_as_another_thread_finds_it() {
        const THREADS: usize = 4;
        let texts: Vec<String> = (1..=300)
            .map(|line| format!("99*regionType=barrier*sscl=l.f:{line}:{line}*escl=l.f:{line}:{line}*id=l{line}**"))
            .collect();
        let together = Barrier::new(THREADS);
        let missed = AtomicUsize::new(0);
        std::thread::scope(|threads| {
            for _ in 0..THREADS {
                threads.spawn(|| {
                    for text in &texts {
                        let literal = Literal(text.as_bytes());
                        together.wait();
                        let known = literal.known().or_else(|| literal.read());
                        let is_missed = known.and_then(|known| known.region.get()).is_none();
                        missed.fetch_add(usize::from(is_missed), Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(missed.into_inner(), 0);
    }
}
