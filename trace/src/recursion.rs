//! Removes time that recursion counts twice.
//!
//! The profile records an instance deep in a recursion at the node of the enclosing instance of
//! the same region. That node, and the nodes between the two on the call path, already contain
//! its time, so it is subtracted from each of them once. The path upwards follows the nodes:
//! from a region that is itself deep in a recursion it goes to the enclosing instance whose
//! node the region uses. That instance is known only when the region ends, so times are passed
//! upwards as the enclosing regions end.

use std::collections::BTreeMap;

use crate::replay::{Open, Role};

/// A time on its way to the enclosing regions.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Way {
    /// The regions that must be reached first, the next one last. On the way to them nothing is
    /// subtracted.
    seeks: Vec<u32>,
    /// The region of the enclosing instance that is the last one from which the time is
    /// subtracted.
    until: u32,
}

/// The largest number of ways that wait at one region, and of regions that one way seeks. A
/// recursion has as many as there are regions that call one another. More than these come from a
/// damaged file, and are forgotten.
const MOST_WAYS: usize = 256;

/// The times that wait for an open region to end, by the depth of the region.
#[derive(Debug, Default)]
pub(crate) struct Recursion {
    waiting: Vec<BTreeMap<Way, u64>>,
}

impl Recursion {
    /// Forgets the times that wait: another stream begins.
    pub(crate) fn clear(&mut self) {
        self.waiting.clear();
    }

    /// The innermost region ends, after this many ticks. `take` is called for each region around it
    /// from which ticks are to be subtracted.
    pub(crate) fn end(
        &mut self,
        open: &[Open],
        is_again: bool,
        ticks: u64,
        take: &mut dyn FnMut(&Open, u64),
    ) {
        let Some((top, around)) = open.split_last() else {
            return;
        };
        let mut ways = match self.waiting.get_mut(around.len()) {
            Some(ways) => std::mem::take(ways),
            None => BTreeMap::new(),
        };
        if is_again {
            // The times that wait here go on above the enclosing instance whose node this region
            // uses.
            let few = |(way, _): &(Way, u64)| way.seeks.len() < MOST_WAYS;
            let seeking = ways.into_iter().filter(few).map(|(mut way, ticks)| {
                way.seeks.push(top.region);
                (way, ticks)
            });
            ways = seeking.collect();
            let own = Way {
                seeks: Vec::new(),
                until: top.region,
            };
            let own = ways.entry(own).or_default();
            *own = own.wrapping_add(ticks);
        }
        for (way, ticks) in ways {
            self.arrive(around, way, ticks, take);
        }
    }

    /// A time comes to the innermost of these regions.
    fn arrive(
        &mut self,
        open: &[Open],
        mut way: Way,
        ticks: u64,
        take: &mut dyn FnMut(&Open, u64),
    ) {
        let Some(top) = open.last() else { return };
        if way.seeks.last() == Some(&top.region) {
            way.seeks.pop();
        } else if way.seeks.is_empty() {
            take(top, ticks);
            if top.region == way.until {
                return;
            }
        }
        // A recursion does not go beyond a team.
        if top.role != Role::Construct {
            return;
        }
        let depth = open.len() - 1;
        if self.waiting.len() <= depth {
            self.waiting.resize_with(depth + 1, BTreeMap::new);
        }
        let waiting = &mut self.waiting[depth];
        if waiting.len() < MOST_WAYS || waiting.contains_key(&way) {
            let waiting = waiting.entry(way).or_default();
            *waiting = waiting.wrapping_add(ticks);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use profile::region_kind::PseudoRegion;

    fn open(region: u32) -> Open {
        Open {
            role: Role::Construct,
            region,
            start: 0,
            phase: PseudoRegion::Main,
            phase_start: 0,
            label: 0,
            path: None,
            thread: None,
            chunk: None,
        }
    }

    /// Regions end from the inside out, some of them deep in the recursion, with these
    /// times; gives what is taken, by depth and region.
    fn taken(frames: &[(u32, Option<u64>)]) -> Vec<(u32, u64)> {
        let mut open: Vec<Open> = frames.iter().map(|(region, _)| open(*region)).collect();
        let (mut recursion, mut taken) = (Recursion::default(), Vec::new());
        while let Some((_, again)) = open.len().checked_sub(1).map(|at| frames[at]) {
            let ticks = again.unwrap_or(0);
            recursion.end(&open, again.is_some(), ticks, &mut |open, ticks| {
                taken.push((open.region, ticks));
            });
            open.pop();
        }
        taken
    }

    const A: u32 = 1;
    const B: u32 = 2;
    const W: u32 = 3;

    #[test]
    fn a_time_is_taken_from_all_up_to_its_own_region() {
        let frames = [(W, None), (A, None), (W, None), (A, Some(5)), (B, None)];
        assert_eq!(taken(&frames), [(W, 5), (A, 5)]);
    }

    #[test]
    fn the_way_goes_on_above_the_region_whose_node_one_has() {
        // The inner B is at the node of the outer; below that the nodes are A and W, and
        // the frames W, A, W, A, since the second A has the node of the first.
        let frames = [
            (B, None),
            (A, None),
            (W, None),
            (A, Some(7)),
            (W, None),
            (B, Some(5)),
        ];
        let mut taken = taken(&frames);
        taken.sort_unstable();
        assert_eq!(taken, [(A, 5), (A, 7), (B, 5), (W, 5), (W, 7)]);
    }
}
