//! ompP's performance properties, as one table: the meaning of each, the time from which its
//! severity is computed, and the condition under which it holds.
//!
//! Names (in ompP's spelling), constructs, times and conditions are ompP's. ompP names
//! `InsufficienWorkInParallelLoop` but never reports it. Here it holds if starting and ending
//! the team of a parallel loop takes longer than the threads work in it. Losses are measured by
//! the quantities of [`crate::columns`], so tasks executed while waiting are no wait here
//! either.
//!
//! `TasksTooSmall` is Romp's: ompP's table has no cost of tasks.

use crate::columns::Quantity;
use crate::overheads::Category;
use crate::region_kind::RegionKind;

/// An atomic is frequent from this number of executions per second of thread time on.
pub const FREQUENT_PER_SECOND: u64 = 1000;

/// When a property holds for a region whose construct and time are right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Always.
    Always,
    /// Threads executed different numbers of sections, and there were more
    /// sections than executions of the construct by threads.
    SectionsUnevenlySpread,
    /// Threads executed different numbers of sections, and there were fewer
    /// sections than executions of the construct by threads.
    TooFewSections,
    /// Neither of the two.
    SectionsUneven,
    /// It was executed more than [`FREQUENT_PER_SECOND`] times per second of
    /// the program's thread time.
    Frequent,
    /// The team's start and end took longer than the work in it.
    LittleWork,
    /// Creating the tasks took too long for their work. The loss is the time to create them and
    /// to wait for them.
    SmallTasks,
}

/// One row of the table.
#[derive(Debug, PartialEq, Eq)]
pub struct PropertyRow {
    /// ompP's name.
    pub name: &'static str,
    /// The constructs that it is about.
    pub kinds: &'static [RegionKind],
    /// The times that are lost; their sum over threads, divided by the
    /// program's thread time, is the severity.
    pub lost: &'static [Quantity],
    /// When it holds.
    pub condition: Condition,
    /// The overhead category of the loss. It decides which advice fits.
    pub category: Category,
    /// The event, as a clause. The time stands before it in the sentence, the place behind it.
    pub what: &'static str,
    /// The place; the construct follows in the sentence.
    pub place: &'static str,
    /// The advice, if that of [`crate::advice`] does not fit.
    pub remedy: Option<&'static str>,
    /// The meaning, for users who ask for it.
    pub help: &'static str,
}

use Category::{Imbal, Limpar, Mgmt, Synch};
use RegionKind as Kind;

const WAITED_BARRIER: &[Quantity] = &[Quantity::BarrierTime];
const TO_ENTER: &[Quantity] = &[Quantity::EnterTime];
const AT_END: &str = "at the implicit barrier of";
const ANY_SECTIONS: &[RegionKind] = &[Kind::Sections, Kind::ParallelSections];

/// The table, in ompP's order.
pub const PROPERTIES: &[PropertyRow] = &[
    PropertyRow {
        name: "WaitAtBarrier",
        kinds: &[Kind::Barrier],
        lost: &[Quantity::WaitTime],
        condition: Condition::Always,
        category: Synch,
        what: "threads waited for each other",
        place: "in",
        remedy: None,
        help: "Threads wait at an explicit barrier for the thread that comes last.",
    },
    PropertyRow {
        name: "ImbalanceInParallelRegion",
        kinds: &[Kind::Parallel],
        lost: WAITED_BARRIER,
        condition: Condition::Always,
        category: Imbal,
        what: "threads waited for the thread with the most work",
        place: AT_END,
        remedy: None,
        help: "Threads reach the end of a parallel region at different times, and wait.",
    },
    PropertyRow {
        name: "ImbalanceInParallelLoop",
        kinds: &[Kind::Loop, Kind::ParallelLoop],
        lost: WAITED_BARRIER,
        condition: Condition::Always,
        category: Imbal,
        what: "threads waited for the thread with the longest iterations",
        place: AT_END,
        remedy: None,
        help: "Threads finish their iterations of a loop at different times, and wait at its end.",
    },
    PropertyRow {
        name: "ImbalanceInParallelWorkshare",
        kinds: &[Kind::Workshare, Kind::ParallelWorkshare],
        lost: WAITED_BARRIER,
        condition: Condition::Always,
        category: Imbal,
        what: "threads waited for the thread with the most work",
        place: AT_END,
        remedy: None,
        help: "Threads finish their part of a workshare construct at different times, and wait.",
    },
    PropertyRow {
        name: "ImbalanceDueToUnevenSectionDistribution",
        kinds: ANY_SECTIONS,
        lost: WAITED_BARRIER,
        condition: Condition::SectionsUnevenlySpread,
        category: Imbal,
        what: "some threads executed more sections than others, which waited",
        place: AT_END,
        remedy: Some(
            "Make the number of sections a multiple of the number of threads, or turn them into \
             tasks.",
        ),
        help: "The number of sections is larger than the number of threads and no multiple of it, so that some \
               threads execute more of them while the others wait.",
    },
    PropertyRow {
        name: "ImbalanceDueToNotEnoughSections",
        kinds: ANY_SECTIONS,
        lost: WAITED_BARRIER,
        condition: Condition::TooFewSections,
        category: Limpar,
        what: "threads without a section waited",
        place: AT_END,
        remedy: None,
        help: "There are fewer sections than threads, so that some threads only wait.",
    },
    PropertyRow {
        name: "ImbalanceInParallelSections",
        kinds: ANY_SECTIONS,
        lost: WAITED_BARRIER,
        condition: Condition::SectionsUneven,
        category: Imbal,
        what: "threads waited for the thread with the longest section",
        place: AT_END,
        remedy: None,
        help: "All threads execute the same number of sections, but some sections take longer.",
    },
    PropertyRow {
        name: "CriticalSectionContention",
        kinds: &[Kind::Critical],
        lost: TO_ENTER,
        condition: Condition::Always,
        category: Synch,
        what: "threads queued",
        place: "for",
        remedy: None,
        help: "Threads wait for each other in front of a critical section.",
    },
    PropertyRow {
        name: "LockContention",
        kinds: &[Kind::Lock],
        lost: TO_ENTER,
        condition: Condition::Always,
        category: Synch,
        what: "threads queued",
        place: "for",
        remedy: None,
        help: "Threads wait for each other to unset a lock.",
    },
    PropertyRow {
        name: "FrequentAtomic",
        kinds: &[Kind::Atomic],
        lost: &[Quantity::ExecTime],
        condition: Condition::Frequent,
        category: Synch,
        what: "threads were busy with updates of one place in memory",
        place: "in",
        remedy: None,
        help: "An atomic construct is executed more than 1000 times per second of thread time, so that threads \
               keep taking the same cache line from each other.",
    },
    PropertyRow {
        name: "InsufficienWorkInParallelLoop",
        kinds: &[Kind::ParallelLoop],
        lost: &[Quantity::EnterTime, Quantity::ExitTime],
        condition: Condition::LittleWork,
        category: Mgmt,
        what: "starting and ending the team took longer than the work",
        place: "in",
        remedy: None,
        help: "A parallel loop has so little to do that its team costs more than it is worth.",
    },
    PropertyRow {
        name: "UnparallelizedInSingleRegion",
        kinds: &[Kind::Single],
        lost: WAITED_BARRIER,
        condition: Condition::Always,
        category: Limpar,
        what: "threads waited for the thread that executed it",
        place: AT_END,
        remedy: None,
        help: "One thread executes a single construct, the others wait at its end.",
    },
    PropertyRow {
        name: "UnparallelizedInMasterRegion",
        kinds: &[Kind::Master],
        lost: &[Quantity::ExecTime],
        condition: Condition::Always,
        category: Limpar,
        what: "one thread alone worked",
        place: "in",
        remedy: None,
        help: "The master thread works alone; another property shows where the others wait for it.",
    },
    PropertyRow {
        name: "TasksTooSmall",
        kinds: &[Kind::Task, Kind::UntiedTask, Kind::Taskloop],
        lost: &[],
        condition: Condition::SmallTasks,
        category: Mgmt,
        what: "threads created and waited for tasks with little work,",
        place: "those of",
        remedy: None,
        help: "Creating the tasks of a construct takes more than half as long as their own work, \
               so that they are hardly faster than the same work without tasks.",
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::{LoopFacts, advice};
    use crate::columns;

    #[test]
    fn there_are_thirteen_of_ompp_and_ours_with_names_of_their_own() {
        assert_eq!(PROPERTIES.len(), 13 + 1);
        for (index, row) in PROPERTIES.iter().enumerate() {
            assert!(
                PROPERTIES[..index]
                    .iter()
                    .all(|other| other.name != row.name)
            );
        }
    }

    #[test]
    fn every_property_says_what_to_try_and_follows_from_columns() {
        for row in PROPERTIES {
            for &kind in row.kinds {
                assert!(
                    advice(kind, row.category, LoopFacts::default()).is_some(),
                    "{row:?}"
                );
                let columns = columns::flat(kind);
                for &quantity in row.lost {
                    let shown = match quantity {
                        Quantity::WaitTime => Quantity::ExecTime,
                        quantity => quantity,
                    };
                    assert!(columns.iter().any(|column| column.quantity == shown));
                }
            }
        }
    }
}
