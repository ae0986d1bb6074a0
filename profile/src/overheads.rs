//! Which time counts as which overhead, as one table keyed by [`RegionKind`].
//!
//! The categories and the choice are ompP's, but that of the constructs which
//! ompP does not know: `ORDERED` is treated as `CRITICAL`, since waiting for
//! one's turn is synchronisation, as is waiting at the end of a `TASKGROUP`; a
//! `SCOPE` is work of all threads, so that waiting at its end is imbalance.
//!
//! Creating tasks and waiting for them at a `taskwait` cost time that is no work: ompP
//! knows neither.
//!
//! Tasks that are executed while waiting count nowhere. ompP takes their time
//! from the category of the wait around them; here the quantities are without
//! it, so that columns and overheads agree.

use crate::columns::Quantity;
use crate::region_kind::RegionKind;

/// ompP's four kinds of overhead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// Waiting for other threads where the program asks for it.
    Synch,
    /// Waiting because work was spread unevenly.
    Imbal,
    /// Waiting because there was not work enough for all.
    Limpar,
    /// What the OpenMP library does itself.
    Mgmt,
}

impl Category {
    /// All of them, in ompP's order; the discriminant is the index.
    pub const ALL: [Self; 4] = [Self::Synch, Self::Imbal, Self::Limpar, Self::Mgmt];

    /// ompP's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        ["Synch", "Imbal", "Limpar", "Mgmt"][self as usize]
    }

    /// What it is, in one line.
    #[must_use]
    pub fn help(self) -> &'static str {
        [
            "waiting at barriers and for tasks, critical sections, locks, atomics and ordered \
             parts",
            "waiting at implicit barriers since work was spread unevenly",
            "waiting at implicit barriers since there was too little parallel work",
            "starting and ending teams, creating tasks, handing out sections, leaving critical \
             sections",
        ][self as usize]
    }

    /// The name in a sentence.
    #[must_use]
    pub fn in_words(self) -> &'static str {
        [
            "synchronisation",
            "imbalance",
            "too little parallel work",
            "management",
        ][self as usize]
    }
}

/// To which category a cost goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charge {
    /// Always to this one.
    To(Category),
    /// To `Limpar` if fewer sections than executions by threads were counted,
    /// so that some thread had none; else to `Imbal`.
    BySections,
}

/// One row of the table.
#[derive(Debug, PartialEq, Eq)]
pub struct Cost {
    /// The construct.
    pub kind: RegionKind,
    /// The time that is lost there.
    pub quantity: Quantity,
    /// To which category it goes.
    pub charge: Charge,
    /// Where that is, in words; the construct's name follows.
    pub place: &'static str,
}

const fn cost(kind: RegionKind, quantity: Quantity, charge: Charge, place: &'static str) -> Cost {
    Cost {
        kind,
        quantity,
        charge,
        place,
    }
}

const SYNCH: Charge = Charge::To(Category::Synch);
const IMBAL: Charge = Charge::To(Category::Imbal);
const LIMPAR: Charge = Charge::To(Category::Limpar);
const MGMT: Charge = Charge::To(Category::Mgmt);

/// Where threads wait for the last one.
pub const BARRIER: &str = "at the implicit barrier of";
const START: &str = "starting the team of";
const STOP: &str = "ending the team of";
const WAIT: &str = "waiting to enter";
const LEAVE: &str = "leaving";
const CREATE: &str = "creating the tasks of";

/// The table.
pub const COSTS: &[Cost] = &[
    cost(RegionKind::Parallel, Quantity::BarrierTime, IMBAL, BARRIER),
    cost(RegionKind::Parallel, Quantity::EnterTime, MGMT, START),
    cost(RegionKind::Parallel, Quantity::ExitTime, MGMT, STOP),
    cost(
        RegionKind::ParallelLoop,
        Quantity::BarrierTime,
        IMBAL,
        BARRIER,
    ),
    cost(RegionKind::ParallelLoop, Quantity::EnterTime, MGMT, START),
    cost(RegionKind::ParallelLoop, Quantity::ExitTime, MGMT, STOP),
    cost(
        RegionKind::ParallelSections,
        Quantity::BarrierTime,
        Charge::BySections,
        BARRIER,
    ),
    cost(
        RegionKind::ParallelSections,
        Quantity::EnterTime,
        MGMT,
        START,
    ),
    cost(RegionKind::ParallelSections, Quantity::ExitTime, MGMT, STOP),
    cost(
        RegionKind::ParallelWorkshare,
        Quantity::BarrierTime,
        IMBAL,
        BARRIER,
    ),
    cost(
        RegionKind::ParallelWorkshare,
        Quantity::EnterTime,
        MGMT,
        START,
    ),
    cost(
        RegionKind::ParallelWorkshare,
        Quantity::ExitTime,
        MGMT,
        STOP,
    ),
    cost(RegionKind::Loop, Quantity::BarrierTime, IMBAL, BARRIER),
    cost(
        RegionKind::Sections,
        Quantity::BarrierTime,
        Charge::BySections,
        BARRIER,
    ),
    cost(
        RegionKind::Sections,
        Quantity::ManagementTime,
        MGMT,
        "handing out the sections of",
    ),
    cost(RegionKind::Single, Quantity::BarrierTime, LIMPAR, BARRIER),
    cost(RegionKind::Workshare, Quantity::BarrierTime, IMBAL, BARRIER),
    cost(RegionKind::Atomic, Quantity::ExecTime, SYNCH, "in"),
    cost(RegionKind::Barrier, Quantity::WaitTime, SYNCH, "in"),
    cost(RegionKind::Critical, Quantity::EnterTime, SYNCH, WAIT),
    cost(RegionKind::Critical, Quantity::ExitTime, MGMT, LEAVE),
    cost(RegionKind::Lock, Quantity::EnterTime, SYNCH, "waiting for"),
    cost(RegionKind::Lock, Quantity::ExitTime, MGMT, "giving back"),
    cost(RegionKind::Flush, Quantity::ExecTime, SYNCH, "in"),
    cost(RegionKind::Ordered, Quantity::EnterTime, SYNCH, WAIT),
    cost(RegionKind::Ordered, Quantity::ExitTime, MGMT, LEAVE),
    cost(RegionKind::Scope, Quantity::BarrierTime, IMBAL, BARRIER),
    cost(
        RegionKind::Taskgroup,
        Quantity::BarrierTime,
        SYNCH,
        "waiting at the end of",
    ),
    cost(RegionKind::Task, Quantity::OwnTime, MGMT, CREATE),
    cost(RegionKind::UntiedTask, Quantity::OwnTime, MGMT, CREATE),
    cost(RegionKind::Taskwait, Quantity::OwnTime, SYNCH, "in"),
];

/// The rows of one kind.
pub fn of(kind: RegionKind) -> impl Iterator<Item = &'static Cost> {
    COSTS.iter().filter(move |cost| cost.kind == kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns;
    use crate::region_kind::KINDS;

    #[test]
    fn every_cost_follows_from_columns_of_its_construct() {
        for cost in COSTS {
            let needed = match cost.quantity {
                Quantity::WaitTime => vec![Quantity::ExecTime, Quantity::TaskTime],
                Quantity::OwnTime => vec![Quantity::ExecTime],
                quantity => vec![quantity],
            };
            let columns = columns::flat(cost.kind);
            let shows = |quantity| columns.iter().any(|column| column.quantity == quantity);
            assert!(needed.into_iter().all(shows), "{cost:?}");
        }
    }

    #[test]
    fn work_costs_nothing() {
        let free: Vec<_> = KINDS
            .iter()
            .filter(|row| of(row.kind).next().is_none())
            .map(|row| row.full_name)
            .collect();
        assert_eq!(
            free,
            [
                "USER REGION",
                "MASTER",
                "SECTION",
                "TASKEXEC",
                "UTASKEXEC",
                "TASKYIELD",
                "TASKLOOP",
                "GENERIC LOOP",
                "DISTRIBUTE",
                "TEAMS",
                "TARGET",
                "TARGET DATA",
                "TARGET ENTER DATA",
                "TARGET EXIT DATA",
                "TARGET UPDATE",
                "TASKGRAPH",
                "DISPATCH",
                "INTEROP",
                "DEPOBJ",
                "CANCEL",
                "CANCELLATION POINT",
                "FUNCTION",
            ]
        );
    }
}
