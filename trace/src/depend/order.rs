//! Which task depends on which, by what OpenMP says of `depend` clauses (5.2, section 15.9.5).
//!
//! Of two tasks that the same task creates, the later one depends on the earlier one if both name
//! one address, unless their types let them run in either order: `in` with `in`,
//! `mutexinoutset` with `mutexinoutset`, `inoutset` with `inoutset`. A task that names all memory
//! names each address.

use std::collections::HashMap;

/// The type of a dependence; the number is that of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// `in`
    In = 0,
    /// `out`
    Out = 1,
    /// `inout`
    Inout = 2,
    /// `mutexinoutset`
    Mutexinoutset = 3,
    /// `inoutset`
    Inoutset = 4,
}

impl Kind {
    /// The types, by number.
    pub const ALL: [Self; 5] = [
        Self::In,
        Self::Out,
        Self::Inout,
        Self::Mutexinoutset,
        Self::Inoutset,
    ];

    /// The type of a number. Numbers that no type has order like `inout`.
    #[must_use]
    pub fn of(number: u8) -> Self {
        let known = Self::ALL.get(usize::from(number));
        known.copied().unwrap_or(Self::Inout)
    }

    /// Its name in a directive.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::In => "in",
            Self::Out => "out",
            Self::Inout => "inout",
            Self::Mutexinoutset => "mutexinoutset",
            Self::Inoutset => "inoutset",
        }
    }

    /// Whether tasks with these types wait for each other.
    #[must_use]
    pub const fn orders(self, other: Self) -> bool {
        self.is_exclusive() || other.is_exclusive() || self as u8 != other as u8
    }

    const fn is_exclusive(self) -> bool {
        matches!(self, Self::Out | Self::Inout)
    }
}

/// The address that stands for all memory (`omp_all_memory`).
pub const ALL_MEMORY: u64 = 0;

/// The tasks that are not ordered among each other and came last at an address, and those before
/// them. Each of the last ones depends on each of those before.
#[derive(Clone, Debug)]
struct OrderAtAddress {
    kind: Kind,
    last: Vec<u64>,
    before: Vec<u64>,
}

/// The tasks that one task creates, in the order of their creation.
#[derive(Clone, Debug, Default)]
pub struct Order {
    places: HashMap<u64, OrderAtAddress>,
    /// The last task that named all memory.
    all: Option<u64>,
}

impl Order {
    /// Takes the next task, with all its dependences, and returns the tasks for which it waits.
    /// Tasks for which one of these waits already, directly or not, are left out.
    pub fn next(&mut self, task: u64, depends: &[(u64, Kind)]) -> Vec<u64> {
        if depends.iter().any(|(address, _)| *address == ALL_MEMORY) {
            return self.next_of_all(task);
        }
        let mut waits_for = Vec::new();
        for (address, kind) in strongest(depends) {
            waits_for.extend_from_slice(self.next_at(task, address, kind));
        }
        sorted(waits_for)
    }

    fn next_at(&mut self, task: u64, address: u64, kind: Kind) -> &[u64] {
        let all = self.all;
        let place = self
            .places
            .entry(address)
            .or_insert_with(|| OrderAtAddress {
                kind: Kind::Out,
                last: all.into_iter().collect(),
                before: Vec::new(),
            });
        if place.kind.orders(kind) {
            place.kind = kind;
            place.before = std::mem::take(&mut place.last);
        }
        place.last.push(task);
        &place.before
    }

    fn next_of_all(&mut self, task: u64) -> Vec<u64> {
        let last = self.places.drain().flat_map(|(_, place)| place.last);
        let waits_for = last.chain(self.all).collect();
        self.all = Some(task);
        sorted(waits_for)
    }
}

/// Each address once. A task that names one with several types has to wait for all that one of them
/// waits for.
fn strongest(depends: &[(u64, Kind)]) -> Vec<(u64, Kind)> {
    let mut places = depends.to_vec();
    places.sort_unstable();
    places.dedup_by(|(address, kind), (other, stays)| {
        if address != other {
            return false;
        }
        if kind != stays {
            *stays = Kind::Inout;
        }
        true
    });
    places
}

fn sorted(mut tasks: Vec<u64>) -> Vec<u64> {
    tasks.sort_unstable();
    tasks.dedup();
    tasks
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Tasks are numbered from 0; for each those for which it waits.
    fn waits_for(tasks: &[Vec<(u64, Kind)>]) -> Vec<Vec<u64>> {
        let mut order = Order::default();
        let tasks = (0..).zip(tasks);
        tasks.map(|(task, on)| order.next(task, on)).collect()
    }

    #[test]
    fn each_type_waits_as_openmp_says() {
        use Kind::{In, Inout, Inoutset, Mutexinoutset as Mutex, Out};
        for (kinds, expected) in [
            // A diamond.
            (&[Out, In, In, Out][..], &[&[][..], &[0], &[0], &[1, 2]][..]),
            (&[In, In], &[&[], &[]]),
            (&[Inout, Inout, Inout], &[&[], &[0], &[1]]),
            (&[Out, Mutex, Mutex, In], &[&[], &[0], &[0], &[1, 2]]),
            (
                &[In, Inoutset, Inoutset, Mutex],
                &[&[], &[0], &[0], &[1, 2]],
            ),
            (&[Mutex, Inoutset, Out], &[&[], &[0], &[1]]),
        ] {
            let tasks: Vec<_> = kinds.iter().map(|kind| vec![(7, *kind)]).collect();
            assert_eq!(waits_for(&tasks), expected, "{kinds:?}");
        }
    }

    #[test]
    fn all_memory_is_every_address() {
        use Kind::{In, Out};
        let tasks = [
            vec![(1, In)],
            vec![(2, Out)],
            vec![(ALL_MEMORY, Out)],
            vec![(3, In)],
            vec![(ALL_MEMORY, In)],
        ];
        let expected: [&[u64]; 5] = [&[], &[], &[0, 1], &[2], &[2, 3]];
        assert_eq!(waits_for(&tasks), expected);
    }

    /// The definition, for each pair of tasks.
    fn waits(later: &[(u64, Kind)], earlier: &[(u64, Kind)]) -> bool {
        later.iter().any(|(address, kind)| {
            earlier.iter().any(|(other, before)| {
                *address == ALL_MEMORY
                    || *other == ALL_MEMORY
                    || address == other && kind.orders(*before)
            })
        })
    }

    /// For each task those that have ended when it begins.
    fn reached(waits_for: &[Vec<u64>]) -> Vec<Vec<bool>> {
        let mut reached: Vec<Vec<bool>> = Vec::new();
        for before in waits_for {
            let mut here = vec![false; waits_for.len()];
            for task in before {
                here[*task as usize] = true;
                for (here, there) in here.iter_mut().zip(&reached[*task as usize]) {
                    *here |= there;
                }
            }
            reached.push(here);
        }
        reached
    }

    proptest! {
        #[test]
        fn it_is_the_definition_without_what_follows(
            tasks in prop::collection::vec(
                prop::collection::vec((0u64..5, 0u8..5), 1..4), 0..24)
        ) {
            let tasks: Vec<Vec<(u64, Kind)>> = tasks
                .into_iter()
                .map(|on| on.into_iter().map(|(at, kind)| (at, Kind::of(kind))).collect())
                .collect();
            let by_definition: Vec<Vec<u64>> = (0..tasks.len())
                .map(|later| {
                    let earlier = (0..later).filter(|one| waits(&tasks[later], &tasks[*one]));
                    earlier.map(|one| one as u64).collect()
                })
                .collect();
            let told = waits_for(&tasks);
            for (told, defined) in told.iter().zip(&by_definition) {
                prop_assert!(told.iter().all(|task| defined.contains(task)));
            }
            prop_assert_eq!(reached(&told), reached(&by_definition));
        }
    }
}
