//! Tables from addresses in the program to what is known about them. A lookup takes no lock.
//!
//! The tables use open addressing and are never more than half full. A table that has become too
//! small is kept, since threads may still read it.

use std::collections::BTreeMap;

use crate::hash::spread;
use crate::measure::modules;
use crate::measure::shared::{SharedRef, leak, leak_slice};

/// Slots of the first table; a power of two.
const FIRST_SLOTS: usize = 1024;

/// An entry of a table: something that is known by its address.
pub(super) trait AddressRecord: Sync + 'static {
    fn address(&self) -> usize;

    /// Whether this takes the place of another one at its address.
    fn replaces(&self, other: &Self) -> bool;
}

#[derive(Debug)]
struct Slots<K: 'static>(&'static [SharedRef<K>]);

/// The table in force, if there is one.
#[derive(Debug)]
pub(super) struct Table<K: 'static>(SharedRef<Slots<K>>);

impl<K: AddressRecord> Table<K> {
    pub(super) const fn none() -> Self {
        Self(SharedRef::none())
    }

    pub(super) fn is_there(&self) -> bool {
        self.0.get().is_some()
    }

    /// Forgets all entries.
    pub(super) fn forget(&self) {
        self.0.set(None);
    }

    /// Returns the entry at an address for which `wanted` holds.
    #[inline(always)]
    pub(super) fn find(&self, address: usize, wanted: impl Fn(&K) -> bool) -> Option<&'static K> {
        for slot in self.0.get()?.of(address) {
            let known = slot.get()?;
            if known.address() == address && wanted(known) {
                return Some(known);
            }
        }
        None
    }

    /// Adds an entry; `number` counts all entries, with this one. If the table has become too
    /// small, a larger one is filled from `all`. Only one thread at a time may call this.
    pub(super) fn enter(
        &self,
        known: &'static K,
        number: usize,
        all: impl Iterator<Item = &'static K>,
    ) -> Option<()> {
        let slots = self.0.get();
        let length = slots.map_or(0, |slots| slots.0.len());
        if let Some(slots) = slots.filter(|_| number * 2 < length) {
            slots.enter(known);
            return Some(());
        }
        let larger = leak_slice((length * 2).max(FIRST_SLOTS), SharedRef::none)?;
        let larger = leak(Slots(larger))?;
        all.chain([known]).for_each(|known| larger.enter(known));
        self.0.set(Some(larger));
        Some(())
    }
}

/// All entries of a table, by key, for threads that add more. A book is valid until a module is
/// unloaded: then another module may be loaded at its addresses.
#[derive(Debug)]
pub(super) struct Registry<Key, K: 'static> {
    known: BTreeMap<Key, &'static K>,
    /// How many modules had been unloaded when it was begun.
    unloaded: u64,
}

impl<Key: Ord, K: AddressRecord> Registry<Key, K> {
    pub(super) const fn new() -> Self {
        Self {
            known: BTreeMap::new(),
            unloaded: 0,
        }
    }

    /// Empties itself and its table if modules have been unloaded; says whether it did.
    pub(super) fn forget_unloaded(&mut self, table: &Table<K>) -> bool {
        let unloaded = modules::unloaded();
        let is_stale = unloaded != self.unloaded;
        if is_stale {
            self.unloaded = unloaded;
            self.known.clear();
            table.forget();
        }
        is_stale
    }

    pub(super) fn get(&self, key: &Key) -> Option<&'static K> {
        self.known.get(key).copied()
    }

    /// Adds a new entry to the book and to its table. None without memory for a larger table.
    pub(super) fn enter(&mut self, key: Key, known: &'static K, table: &Table<K>) -> Option<()> {
        self.known.insert(key, known);
        table.enter(known, self.known.len(), self.known.values().copied())
    }
}

impl<K: AddressRecord> Slots<K> {
    /// The slots where something at an address can stand, in order.
    #[inline(always)]
    fn of(&self, address: usize) -> impl Iterator<Item = &'static SharedRef<K>> + use<K> {
        let mixed = spread(address as u64) >> 32;
        let mask = self.0.len().wrapping_sub(1);
        let slots = self.0;
        (mixed as usize..).map_while(move |slot| slots.get(slot & mask))
    }

    fn enter(&self, known: &'static K) {
        let is_free = |slot: &&SharedRef<K>| {
            slot.get()
                .is_none_or(|old| old.address() == known.address() && known.replaces(old))
        };
        if let Some(slot) = self.of(known.address()).find(is_free) {
            slot.set(Some(known));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Numbered(usize, u32);

    impl AddressRecord for Numbered {
        fn address(&self) -> usize {
            self.0
        }

        fn replaces(&self, other: &Self) -> bool {
            self.1 % 10 == other.1 % 10
        }
    }

    #[test]
    fn a_table_keeps_everything_as_it_grows() {
        let table = Table::none();
        let mut all: Vec<&'static Numbered> = Vec::new();
        for address in 1..3 * FIRST_SLOTS {
            let known = leak(Numbered(address, 1)).unwrap();
            table.enter(known, all.len() + 1, all.iter().copied());
            all.push(known);
        }
        for known in &all {
            let found = table.find(known.0, |_| true).unwrap();
            assert!(std::ptr::eq(found, *known));
        }
        assert!(table.find(3 * FIRST_SLOTS, |_| true).is_none());
        table.forget();
        assert!(!table.is_there() && table.find(1, |_| true).is_none());
    }

    #[test]
    fn some_take_the_place_of_others() {
        let table = Table::none();
        for number in [1, 2, 11] {
            let known = leak(Numbered(7, number)).unwrap();
            table.enter(known, 1, std::iter::empty());
        }
        let found = |kind| table.find(7, |known| known.1 % 10 == kind).map(|it| it.1);
        assert_eq!((found(1), found(2), found(3)), (Some(11), Some(2), None));
    }
}
