//! Where call-path nodes were found that took long to find: one place per hash
//! of what is looked for, so a find costs one comparison however many siblings
//! there are. What does not fit is searched for again.
//!
//! For the owner of the tree alone, and made when a search was long for the
//! first time: most programs never need it.

use std::hash::Hasher;

use super::profile::Node;
use super::spread::Spread;
use crate::measure::region::Region;
use crate::measure::shared::{Link, leak, leak_slice};

/// A power of two.
const PLACES: usize = 4096;

/// The places.
#[derive(Debug)]
pub(super) struct Shortcuts {
    table: Link<Table>,
}

#[derive(Debug)]
struct Table {
    places: &'static [Link<Node>],
}

impl Shortcuts {
    pub(super) const fn new() -> Self {
        Self {
            table: Link::none(),
        }
    }

    /// What stands in the place of a hash.
    pub(super) fn get(&self, hash: usize) -> Option<&'static Node> {
        self.table.get()?.places.get(hash)?.get()
    }

    /// Remembers a node. If memory is short there is no shortcut.
    pub(super) fn set(&self, hash: usize, node: &'static Node) {
        if let Some(place) = self.table().and_then(|table| table.places.get(hash)) {
            place.set(Some(node));
        }
    }

    fn table(&self) -> Option<&'static Table> {
        if self.table.get().is_none() {
            let places = leak_slice(PLACES, Link::none)?;
            self.table.set(leak(Table { places }));
        }
        self.table.get()
    }
}

/// The hash of a child: its parent, region, and where it was entered.
pub(super) fn hash_of_child(parent: &Node, region: &Region, within: u8) -> usize {
    place(
        std::ptr::from_ref(parent).addr(),
        std::ptr::from_ref(region).addr(),
        u32::from(within),
    )
}

/// The hash of a member root: the fork node and the thread number.
pub(super) fn hash_of_root(fork: &Node, number: u32) -> usize {
    place(std::ptr::from_ref(fork).addr(), 0, number)
}

fn place(node: usize, region: usize, number: u32) -> usize {
    let mut hasher = Spread::default();
    hasher.write_usize(node);
    hasher.write_usize(region);
    hasher.write_u32(number);
    hasher.finish() as usize % PLACES
}
