//! An index of the nodes of a call tree: finding a node, or that there is none, takes a few
//! comparisons, however many siblings it has.
//!
//! For the owner of the tree alone. It grows with the tree, as memory that is
//! never given back.

use std::hash::Hasher;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::hash::Spread;
use crate::measure::records::Node;
use crate::measure::records::node::Key;
use crate::measure::shared::{SharedRef, SharedU64, leak, leak_slice};

/// Places of the first table; each further one has four times as many.
const FIRST: usize = 64;

impl Key {
    fn hash(self) -> usize {
        let mut hasher = Spread::default();
        hasher.write_usize(
            self.parent
                .map_or(0, |node| std::ptr::from_ref(node).addr()),
        );
        hasher.write_usize(
            self.region
                .map_or(0, |region| std::ptr::from_ref(region).addr()),
        );
        hasher.write_u32(u32::from(self.within));
        hasher.write_u32(self.number);
        hasher.finish() as usize
    }
}

/// All nodes of a tree but its initial roots.
#[derive(Debug)]
pub(crate) struct Index {
    table: SharedRef<Table>,
    used: SharedU64,
    /// Set when there was no memory to grow: nodes may be missing.
    has_gaps: AtomicBool,
}

/// A power of two of places, at most half of them used.
#[derive(Debug)]
struct Table {
    places: &'static [SharedRef<Node>],
    /// The table before, kept so that leak checkers find it.
    _before: Option<&'static Table>,
}

impl Index {
    pub(crate) const fn new() -> Self {
        Self {
            table: SharedRef::none(),
            used: SharedU64::new(0),
            has_gaps: AtomicBool::new(false),
        }
    }

    /// Whether nodes may be missing.
    pub(crate) fn has_gaps(&self) -> bool {
        self.has_gaps.load(Ordering::Relaxed)
    }

    /// The node of a key.
    pub(crate) fn find(&self, key: Key) -> Option<&'static Node> {
        let (_, node) = self.table.get()?.probe(key)?;
        node
    }

    /// Adds a node that is not there.
    pub(crate) fn add(&self, node: &'static Node) {
        let table = match self.table.get() {
            Some(table) if self.used.get() < table.places.len() as u64 / 2 => Some(table),
            table => self.grow(table),
        };
        match table.and_then(|table| table.probe(node.key())) {
            Some((place, None)) => {
                place.set(Some(node));
                self.used.add(1);
            }
            Some((_, Some(_))) => {}
            None => self.has_gaps.store(true, Ordering::Relaxed),
        }
    }

    /// A larger table with all nodes.
    fn grow(&self, old: Option<&'static Table>) -> Option<&'static Table> {
        let size = old.map_or(FIRST, |table| table.places.len() * 4);
        let new = leak(Table {
            places: leak_slice(size, SharedRef::none)?,
            _before: old,
        })?;
        for node in old.into_iter().flat_map(|table| table.places) {
            let node = node.get();
            if let Some((place, _)) = node.and_then(|node| new.probe(node.key())) {
                place.set(node);
            }
        }
        self.table.set(Some(new));
        Some(new)
    }
}

impl Table {
    /// The place of a key, and the node there if there is one. One place of the table is always
    /// free, so the search ends.
    fn probe(&self, key: Key) -> Option<(&'static SharedRef<Node>, Option<&'static Node>)> {
        let mask = self.places.len() - 1;
        let start = key.hash();
        (0..self.places.len()).find_map(|step| {
            let place = self.places.get(start.wrapping_add(step) & mask)?;
            match place.get() {
                Some(node) if !node.is(key) => None,
                node => Some((place, node)),
            }
        })
    }
}
