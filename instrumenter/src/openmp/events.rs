//! The events that a probe can report, as a table: what the POMP function is
//! called, and which event closes which.

/// An event of the POMP interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)] // The names are those of the POMP functions.
pub enum Event {
    ParallelFork,
    ParallelBegin,
    ParallelEnd,
    ParallelJoin,
    ImplicitBarrierEnter,
    ImplicitBarrierExit,
    LoopEnter,
    LoopExit,
    SectionsEnter,
    SectionsExit,
    SectionBegin,
    SectionEnd,
    SingleEnter,
    SingleBegin,
    SingleEnd,
    SingleExit,
    MasterBegin,
    MasterEnd,
    CriticalEnter,
    CriticalBegin,
    CriticalEnd,
    CriticalExit,
    OrderedEnter,
    OrderedBegin,
    OrderedEnd,
    OrderedExit,
    AtomicEnter,
    AtomicExit,
    BarrierEnter,
    BarrierExit,
    FlushEnter,
    FlushExit,
}

/// A pair of events: the first opens what the second closes.
#[derive(Debug)]
pub struct EventPair {
    /// The event that comes first.
    pub opens: Event,
    /// The event that comes last.
    pub closes: Event,
    /// Name of the POMP function of `opens`, without its prefix.
    pub opens_name: &'static str,
    /// Name of the POMP function of `closes`, without its prefix.
    pub closes_name: &'static str,
}

const fn pair(
    opens: Event,
    opens_name: &'static str,
    closes: Event,
    closes_name: &'static str,
) -> EventPair {
    EventPair {
        opens,
        closes,
        opens_name,
        closes_name,
    }
}

/// All events, in pairs.
pub const EVENT_PAIRS: &[EventPair] = &[
    pair(
        Event::ParallelFork,
        "Parallel_fork_team",
        Event::ParallelJoin,
        "Parallel_join",
    ),
    pair(
        Event::ParallelBegin,
        "Parallel_begin_team",
        Event::ParallelEnd,
        "Parallel_end",
    ),
    pair(
        Event::ImplicitBarrierEnter,
        "Implicit_barrier_enter",
        Event::ImplicitBarrierExit,
        "Implicit_barrier_exit",
    ),
    pair(Event::LoopEnter, "For_enter", Event::LoopExit, "For_exit"),
    pair(
        Event::SectionsEnter,
        "Sections_enter",
        Event::SectionsExit,
        "Sections_exit",
    ),
    pair(
        Event::SectionBegin,
        "Section_begin",
        Event::SectionEnd,
        "Section_end",
    ),
    pair(
        Event::SingleEnter,
        "Single_enter",
        Event::SingleExit,
        "Single_exit",
    ),
    pair(
        Event::SingleBegin,
        "Single_begin",
        Event::SingleEnd,
        "Single_end",
    ),
    pair(
        Event::MasterBegin,
        "Master_begin",
        Event::MasterEnd,
        "Master_end",
    ),
    pair(
        Event::CriticalEnter,
        "Critical_enter",
        Event::CriticalExit,
        "Critical_exit",
    ),
    pair(
        Event::CriticalBegin,
        "Critical_begin",
        Event::CriticalEnd,
        "Critical_end",
    ),
    pair(
        Event::OrderedEnter,
        "Ordered_enter",
        Event::OrderedExit,
        "Ordered_exit",
    ),
    pair(
        Event::OrderedBegin,
        "Ordered_begin",
        Event::OrderedEnd,
        "Ordered_end",
    ),
    pair(
        Event::AtomicEnter,
        "Atomic_enter",
        Event::AtomicExit,
        "Atomic_exit",
    ),
    pair(
        Event::BarrierEnter,
        "Barrier_enter",
        Event::BarrierExit,
        "Barrier_exit",
    ),
    pair(
        Event::FlushEnter,
        "Flush_enter",
        Event::FlushExit,
        "Flush_exit",
    ),
];

impl Event {
    /// Name of the POMP function, without its prefix.
    #[must_use]
    pub fn name(self) -> &'static str {
        EVENT_PAIRS
            .iter()
            .find_map(|pair| {
                (pair.opens == self)
                    .then_some(pair.opens_name)
                    .or_else(|| (pair.closes == self).then_some(pair.closes_name))
            })
            .unwrap_or_else(|| unreachable!("{self:?} has no row in EVENT_PAIRS"))
    }

    /// The event that this one opens for, if it closes one.
    #[must_use]
    pub fn closes(self) -> Option<Event> {
        EVENT_PAIRS
            .iter()
            .find(|pair| pair.closes == self)
            .map(|pair| pair.opens)
    }
}

#[cfg(test)]
mod tests {
    use crate::openmp::recipes::RECIPES;

    #[test]
    fn every_event_of_a_recipe_has_a_name_and_a_partner() {
        for recipe in RECIPES {
            for (opens, closes) in recipe.outside.iter().chain(&recipe.inside) {
                assert!(!opens.name().is_empty());
                assert_eq!(closes.closes(), Some(*opens));
            }
        }
    }
}
