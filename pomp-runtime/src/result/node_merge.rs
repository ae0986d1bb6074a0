//! Where the nodes of all threads belong in the tree of the profile.
//!
//! Nodes are merged by (parent, region, pseudo-region of the parent). The root
//! of a team member merges with the fork node, so that a worker's call paths
//! stand below those of the thread that forked.

use profile::region_kind::PseudoRegion;

use super::snapshot::Snapshot;
use crate::hash::Map;
use crate::measure::records::Node;
use crate::measure::records::Region;
use crate::measure::records::node::Origin;

/// Identity of a merged node.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) parent: Option<usize>,
    /// Address of the region.
    address: usize,
    /// The parent's pseudo-region in which it was entered.
    pub(super) within: PseudoRegion,
}

/// A merged node.
pub(super) struct Merged {
    pub(super) key: Key,
    /// Index among the regions of the profile.
    pub(super) region: usize,
}

/// Where a node belongs.
#[derive(Clone, Copy)]
struct Position {
    /// The merged node; none for the program itself.
    merged: Option<usize>,
    /// Index of the thread path.
    thread: usize,
}

/// The merged node and the thread to which a node of the snapshot belongs.
#[derive(Clone, Copy, Default)]
pub(super) struct Placed {
    /// Index in the snapshot.
    pub(super) node: usize,
    /// Index of the merged node.
    pub(super) merged: usize,
    /// Index of the thread path.
    pub(super) thread: usize,
}

/// The merged nodes, and where each node of the snapshot belongs.
pub(super) struct Places<'a> {
    pub(super) snapshot: &'a Snapshot,
    /// By address.
    regions: Map<usize, usize>,
    pub(super) merged: Vec<Merged>,
    by_key: Map<Key, usize>,
    /// Thread paths in the order in which they were met.
    pub(super) paths: Vec<Vec<u32>>,
    by_path: Map<Vec<u32>, usize>,
    /// Per node, once known.
    places: Vec<Option<Position>>,
    /// The parent that was looked for last: siblings come one after the other.
    last_parent: Option<(&'static Node, Position)>,
    /// The merged node that was found last.
    last_merged: usize,
}

impl<'a> Places<'a> {
    /// Finds out where the nodes belong.
    pub(super) fn new(snapshot: &'a Snapshot, regions: &[&'static Region]) -> Self {
        let regions = regions.iter().enumerate();
        let mut places = Self {
            snapshot,
            regions: regions
                .map(|(index, region)| (address(region), index))
                .collect(),
            merged: Vec::new(),
            by_key: Map::default(),
            paths: Vec::new(),
            by_path: Map::default(),
            places: vec![None; snapshot.nodes.len()],
            last_parent: None,
            last_merged: 0,
        };
        // A node that enters a recursion is part of the node where the recursion goes on.
        let mut recursions = snapshot.recursions.iter().peekable();
        for node in 0..snapshot.nodes.len() {
            if recursions.next_if_eq(&&node).is_none() {
                places.position(node);
            }
        }
        places
    }

    /// The nodes of regions, in the snapshot's order.
    pub(super) fn placed(&self) -> impl Iterator<Item = Placed> {
        let places = self.places.iter().enumerate();
        places.filter_map(|(node, position)| position.and_then(|at| at.placed(node)))
    }

    /// Where a node belongs; none if it has no region.
    pub(super) fn of(&self, node: usize) -> Option<Placed> {
        let position = *self.places.get(node)?;
        position?.placed(node)
    }

    /// The index of a region; none if it is not in the profile.
    pub(super) fn index_of(&self, region: &'static Region) -> Option<usize> {
        self.regions.get(&address(&region)).copied()
    }

    /// The region of a merged node, as index among those of the profile.
    pub(super) fn region(&self, placed: Placed) -> usize {
        self.merged[placed.merged].region
    }

    /// Where a node belongs; none if a thread that still runs has made part of
    /// its path after the snapshot.
    fn position(&mut self, index: usize) -> Option<Position> {
        if let Some(position) = self.places[index] {
            return Some(position);
        }
        let node = self.snapshot.nodes[index];
        let parent = match node.parent() {
            Some(parent) => Some(self.position_of_parent(parent)?),
            None => None,
        };
        let position = match (node.place(), parent) {
            (Origin::Initial(number), _) => Position {
                merged: None,
                thread: self.thread(vec![number]),
            },
            (Origin::Member(number), Some(fork)) => {
                let mut path = self.paths[fork.thread].clone();
                path.push(number);
                Position {
                    thread: self.thread(path),
                    ..fork
                }
            }
            (Origin::Within(within), Some(parent)) => Position {
                merged: Some(self.merged(parent.merged, node.region()?, within)?),
                ..parent
            },
            _ => return None,
        };
        self.places[index] = Some(position);
        Some(position)
    }

    fn position_of_parent(&mut self, parent: &'static Node) -> Option<Position> {
        match self.last_parent {
            Some((node, position)) if std::ptr::eq(node, parent) => Some(position),
            _ => {
                let position = self.position(self.snapshot.find(parent)?)?;
                self.last_parent = Some((parent, position));
                Some(position)
            }
        }
    }

    fn thread(&mut self, path: Vec<u32>) -> usize {
        *self.by_path.entry(path).or_insert_with_key(|path| {
            self.paths.push(path.clone());
            self.paths.len() - 1
        })
    }

    /// The merged node with this identity; none if its region is not shown.
    fn merged(
        &mut self,
        parent: Option<usize>,
        region: &'static Region,
        within: PseudoRegion,
    ) -> Option<usize> {
        let key = Key {
            parent,
            address: address(&region),
            within,
        };
        // Most threads come to the same regions in the same order.
        let next = self.last_merged + 1;
        let is_next = self.merged.get(next).is_some_and(|next| next.key == key);
        self.last_merged = match is_next {
            true => next,
            false => self.find_merged(key)?,
        };
        Some(self.last_merged)
    }

    fn find_merged(&mut self, key: Key) -> Option<usize> {
        if let Some(known) = self.by_key.get(&key) {
            return Some(*known);
        }
        let region = *self.regions.get(&key.address)?;
        self.merged.push(Merged { key, region });
        self.by_key.insert(key, self.merged.len() - 1);
        Some(self.merged.len() - 1)
    }
}

impl Position {
    fn placed(self, node: usize) -> Option<Placed> {
        Some(Placed {
            node,
            merged: self.merged?,
            thread: self.thread,
        })
    }
}

fn address(region: &&'static Region) -> usize {
    std::ptr::from_ref(*region).addr()
}
