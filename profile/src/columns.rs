//! The columns of region profiles: which set of columns a construct has (its row in
//! [`region_kind`](crate::region_kind) names it), and what each column means.
//!
//! The names and the choice of columns are ompP's. A column occurs once in the flat profile. In
//! a call-path profile, some columns are split into an inclusive and an exclusive part
//! (`bodyT/I`, `bodyT/E`). For constructs that ompP does not know: `ORDERED` has the columns of
//! `CRITICAL` (both are a wait in front of a body), and `SCOPE` and `TASKGROUP` have those of
//! `SINGLE` (a body, then a wait).
//!
//! A thread that waits may execute tasks. The time of these tasks is in `taskT`, and not in
//! `exitBarT` or `waitT`.

use crate::counters;
use crate::model::{Row, Span};
pub use crate::region_kind::Quantity;
use crate::region_kind::{Columns, PseudoRegion, RegionKind};

/// The times of one thread at one node, with the sums over the nodes below.
#[derive(Clone, Copy, Debug)]
pub struct Measures<'p> {
    /// The recorded row.
    pub row: &'p Row,
    /// The sums over the nodes below.
    pub nested: Nested,
}

/// Sums over the nodes below one node, for one thread. Times are in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nested {
    /// Time in nodes below this one.
    pub all: u64,
    /// The part of `all` in nodes that were entered from the structured block.
    pub in_body: u64,
    /// Time and count of the `section`s directly below.
    pub sections: Span,
    /// Time in nodes below the `section`s.
    pub in_sections: u64,
    /// Time in tasks that it executed while it waited here.
    pub tasks: u64,
    /// Time for which it had forked a nested team, at any depth below. The members of that team
    /// have this time.
    pub forked: u64,
    /// Time below that was lost to waiting, at any depth, but not in nested teams.
    pub waited: u64,
    /// Time below that was lost to the OpenMP library, at the same depths.
    pub managed: u64,
    /// Time below that may have been work or waiting, at the same depths.
    pub untold: u64,
    /// The part of its wait that may have been tasks of a taskloop. These tasks have no events.
    pub hidden_wait: u64,
}

impl Nested {
    /// Time below that was lost.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.waited + self.managed
    }
}

impl Quantity {
    /// Whether this is a count, not a time.
    #[must_use]
    pub fn is_count(self) -> bool {
        matches!(
            self,
            Self::ExecCount | Self::BodyCount | Self::SectionCount | Self::Counter(_)
        )
    }

    /// Its meaning, as a sentence.
    #[must_use]
    pub fn help(self) -> &'static str {
        match self {
            Self::ExecTime => "time of the whole construct.",
            Self::ExecCount => "how often threads executed it.",
            Self::BodyTime => "time in the structured block.",
            Self::BodyCount => "how often threads executed the structured block.",
            Self::WorkTime => "time of the construct without its implicit barrier.",
            Self::SectionTime => "time in its sections.",
            Self::SectionCount => "how many sections threads executed.",
            Self::EnterTime => {
                "waiting for a critical section, a lock, or the turn in an ordered region."
            }
            Self::ExitTime => {
                "leaving a critical section or an ordered region, or unsetting a lock."
            }
            Self::BarrierTime => {
                "waiting at the implicit barrier at the end of the construct, without the tasks \
                 executed meanwhile."
            }
            Self::WaitTime => "time of the whole construct, without the tasks executed there.",
            Self::TaskTime => "time of the tasks that the thread executed while it waited.",
            Self::OwnTime => "time of the whole construct, without the regions inside it.",
            Self::ManagementTime => "time that is neither in sections or tasks nor in the barrier.",
            Self::Counter(_) => "what the processor or the kernel counted in the whole construct.",
        }
    }

    /// Whether an execution inside another one of the same region by the same thread is part of
    /// the outer one. If so, only the outer one is counted.
    #[must_use]
    pub fn contains_recursion(self) -> bool {
        matches!(
            self,
            Self::ExecTime
                | Self::BodyTime
                | Self::WorkTime
                | Self::SectionTime
                | Self::TaskTime
                | Self::Counter(_)
        )
    }

    /// The value, including nodes below.
    #[must_use]
    pub fn inclusive(self, measures: &Measures<'_>) -> u64 {
        let row = measures.row;
        match self {
            Self::ExecTime => row.main.ns,
            Self::ExecCount => row.main.count,
            Self::BodyTime => row.body.ns,
            Self::BodyCount => row.body.count,
            Self::WorkTime => row.main.ns.saturating_sub(row.ibarr.ns),
            Self::SectionTime => measures.nested.sections.ns,
            Self::SectionCount => measures.nested.sections.count,
            Self::EnterTime => row.enter().ns,
            Self::ExitTime => row.exit().ns,
            Self::BarrierTime => row.ibarr.ns.saturating_sub(measures.nested.tasks),
            Self::WaitTime => row.main.ns.saturating_sub(measures.nested.tasks),
            Self::TaskTime => measures.nested.tasks,
            Self::OwnTime => row.main.ns.saturating_sub(measures.nested.all),
            Self::ManagementTime => {
                let wait = row.ibarr.ns + measures.nested.hidden_wait;
                // The sections, and the tasks that a thread executes at earlier barriers: some
                // compilers put further barriers in front of the last one.
                let others = measures.nested.in_body + wait;
                row.main.ns.saturating_sub(others)
            }
            Self::Counter(index) => row.counters().get(index).copied().unwrap_or(0),
        }
    }

    /// The value, excluding nodes below.
    #[must_use]
    pub fn exclusive(self, measures: &Measures<'_>) -> u64 {
        let below = match self {
            Self::ExecTime => measures.nested.all,
            Self::BodyTime | Self::WorkTime => measures.nested.in_body,
            Self::SectionTime => measures.nested.in_sections,
            _ => 0,
        };
        self.inclusive(measures).saturating_sub(below)
    }
}

/// A column of a region profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// ompP's name.
    pub name: &'static str,
    /// The quantity that it shows.
    pub quantity: Quantity,
    /// Whether nodes below are excluded.
    pub exclusive: bool,
}

impl Column {
    /// Its meaning, as a sentence. Some quantities have several names, by construct.
    #[must_use]
    pub fn help(&self) -> &'static str {
        let is = |entry: Entry| self.name == entry.name;
        match () {
            () if is(STARTUP_T) => "from the fork of a team until the thread begins.",
            () if is(SHUTDOWN_T) => "from the thread's end to the join of its team.",
            () if is(WAIT_T) => {
                "waiting for the tasks of the construct, without the tasks executed meanwhile."
            }
            () => self.quantity.help(),
        }
    }

    /// The value of this column.
    #[must_use]
    pub fn value(&self, measures: &Measures<'_>) -> u64 {
        if self.exclusive {
            self.quantity.exclusive(measures)
        } else {
            self.quantity.inclusive(measures)
        }
    }
}

/// A column in the table below: its name in the flat profile, and its two names in a call-path
/// profile if it is split there.
struct Entry {
    name: &'static str,
    quantity: Quantity,
    split: Option<[&'static str; 2]>,
}

const fn one(name: &'static str, quantity: Quantity) -> Entry {
    Entry {
        name,
        quantity,
        split: None,
    }
}

const fn two(name: &'static str, quantity: Quantity, split: [&'static str; 2]) -> Entry {
    Entry {
        name,
        quantity,
        split: Some(split),
    }
}

const EXEC_T: Entry = one("execT", Quantity::ExecTime);
const EXEC_T_SPLIT: Entry = two("execT", Quantity::ExecTime, ["execT/I", "execT/E"]);
const EXEC_C: Entry = one("execC", Quantity::ExecCount);
const BODY_T: Entry = two("bodyT", Quantity::BodyTime, ["bodyT/I", "bodyT/E"]);
const WORK_T: Entry = two("bodyT", Quantity::WorkTime, ["bodyT/I", "bodyT/E"]);
const SECT_T: Entry = two("sectT", Quantity::SectionTime, ["sectT/I", "sectT/E"]);
const SECT_C: Entry = one("sectC", Quantity::SectionCount);
const SINGLE_T: Entry = two("singleT", Quantity::BodyTime, ["bodyT/I", "bodyT/E"]);
const SINGLE_C: Entry = one("singleC", Quantity::BodyCount);
const ENTER_T: Entry = one("enterT", Quantity::EnterTime);
const EXIT_T: Entry = one("exitT", Quantity::ExitTime);
const EXIT_BAR_T: Entry = one("exitBarT", Quantity::BarrierTime);
const WAIT_T: Entry = one("waitT", Quantity::BarrierTime);
const TASK_T: Entry = one("taskT", Quantity::TaskTime);
const MGMT_T: Entry = one("mgmtT", Quantity::ManagementTime);
const STARTUP_T: Entry = one("startupT", Quantity::EnterTime);
const SHUTDOWN_T: Entry = one("shutdwnT", Quantity::ExitTime);

const TEAM: &[Entry] = &[
    EXEC_T, EXEC_C, BODY_T, EXIT_BAR_T, STARTUP_T, SHUTDOWN_T, TASK_T,
];
const TEAM_SECTIONS: &[Entry] = &[
    EXEC_T, EXEC_C, SECT_T, SECT_C, EXIT_BAR_T, STARTUP_T, SHUTDOWN_T, TASK_T,
];
// A loop has no event between its begin and its barrier. So its body is the time that the
// barrier leaves.
const LOOP: &[Entry] = &[EXEC_T, EXEC_C, WORK_T, EXIT_BAR_T, TASK_T];
const SECTIONS: &[Entry] = &[EXEC_T, EXEC_C, SECT_T, SECT_C, EXIT_BAR_T, MGMT_T, TASK_T];
const SINGLE: &[Entry] = &[EXEC_T, EXEC_C, SINGLE_T, SINGLE_C, EXIT_BAR_T, TASK_T];
const SCOPE: &[Entry] = &[EXEC_T, EXEC_C, BODY_T, EXIT_BAR_T, TASK_T];
const TASKGROUP: &[Entry] = &[EXEC_T, EXEC_C, BODY_T, WAIT_T, TASK_T];
const BARRIER: &[Entry] = &[EXEC_T, EXEC_C, TASK_T];
const GUARDED: &[Entry] = &[EXEC_T, EXEC_C, BODY_T, ENTER_T, EXIT_T];
const BLOCK: &[Entry] = &[EXEC_T_SPLIT, EXEC_C];
const POINT: &[Entry] = &[EXEC_T, EXEC_C];

fn entries(kind: RegionKind) -> &'static [Entry] {
    match kind.columns() {
        Columns::Team => TEAM,
        Columns::TeamSections => TEAM_SECTIONS,
        Columns::Loop => LOOP,
        Columns::Sections => SECTIONS,
        Columns::Single => SINGLE,
        Columns::Scope => SCOPE,
        Columns::Taskgroup => TASKGROUP,
        Columns::Barrier => BARRIER,
        Columns::Guarded => GUARDED,
        Columns::Block => BLOCK,
        Columns::Point => POINT,
    }
}

/// The columns of this kind in the flat profile.
#[must_use]
pub fn flat(kind: RegionKind) -> Vec<Column> {
    entries(kind)
        .iter()
        .map(|entry| Column {
            name: entry.name,
            quantity: entry.quantity,
            exclusive: false,
        })
        .collect()
}

/// The columns of this kind in a call-path profile.
#[must_use]
pub fn on_call_path(kind: RegionKind) -> Vec<Column> {
    let mut columns = Vec::new();
    for &Entry {
        name,
        quantity,
        split,
    } in entries(kind)
    {
        // A lock may be held beyond the end of other regions. So nothing that runs while it is
        // held is part of the lock's region.
        match split.filter(|_| kind != RegionKind::Lock) {
            Some([inclusive, exclusive]) => {
                columns.push(Column {
                    name: inclusive,
                    quantity,
                    exclusive: false,
                });
                columns.push(Column {
                    name: exclusive,
                    quantity,
                    exclusive: true,
                });
            }
            None => columns.push(Column {
                name,
                quantity,
                exclusive: false,
            }),
        }
    }
    columns
}

/// The columns for a run's counters. Every table has them.
#[must_use]
pub fn of_counters(names: &[String]) -> Vec<Column> {
    let names = names.iter().enumerate();
    let column = |(index, name): (usize, &String)| Column {
        name: counters::column_name(name, index),
        quantity: Quantity::Counter(index),
        exclusive: false,
    };
    names.map(column).collect()
}

/// Whether this part of a construct is a wait, so that a thread that executes a task there
/// works instead of waiting.
#[must_use]
pub fn is_waiting(kind: RegionKind, within: PseudoRegion) -> bool {
    kind == RegionKind::Barrier || within == PseudoRegion::Ibarr
}

/// How much of the parent node's time a visit takes. While a lock is held, no time is taken:
/// the thread's work under the lock has nodes of its own.
#[must_use]
pub fn occupied(kind: RegionKind, row: &Row) -> u64 {
    match kind {
        RegionKind::Lock => row.enter().ns + row.exit().ns,
        kind if kind.is_parallel() => row.seq().ns,
        _ => row.main.ns,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::region_kind::REGION_KINDS;

    fn names(columns: &[Column]) -> Vec<&'static str> {
        columns.iter().map(|column| column.name).collect()
    }

    #[test]
    fn every_table_begins_with_time_and_count() {
        for row in REGION_KINDS {
            assert_eq!(
                names(&flat(row.kind))[..2],
                ["execT", "execC"],
                "{}",
                row.full_name
            );
        }
    }

    #[test]
    fn call_path_profiles_split_what_can_contain_other_regions() {
        assert_eq!(
            names(&on_call_path(RegionKind::Critical)),
            ["execT", "execC", "bodyT/I", "bodyT/E", "enterT", "exitT"]
        );
        assert_eq!(
            names(&on_call_path(RegionKind::Master)),
            ["execT/I", "execT/E", "execC"]
        );
        assert_eq!(
            names(&on_call_path(RegionKind::Lock)),
            ["execT", "execC", "bodyT", "enterT", "exitT"]
        );
    }
}
