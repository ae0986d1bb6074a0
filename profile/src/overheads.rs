//! Which time counts as which overhead, according to the rows of
//! [`region_kind`](crate::region_kind).
//!
//! The categories are ompP's, and so is the category of each construct that ompP knows. Other
//! constructs: `ORDERED` is treated like `CRITICAL`, since waiting for a turn is
//! synchronisation. So is waiting at the end of a `TASKGROUP`. All threads do the work of a
//! `SCOPE`, so waiting at its end is imbalance. Creating tasks, and waiting for them at a
//! `taskwait`, are overheads that ompP does not have. For a `TASKLOOP`, both are one time.
//!
//! The time of tasks that a thread executes while it waits is no overhead. ompP subtracts it
//! from the category of the surrounding wait. Here the quantities already exclude it, so that
//! columns and overheads agree.

pub use crate::region_kind::{BARRIER, Category, Charge, Cost};
use crate::region_kind::{REGION_KINDS, RegionKind};

/// The part of the cost of event pairs that lies within the measured time, in the unit of the
/// cost. It is two thirds. This was measured on a contended `atomic`: its loss minus this
/// part equalled the time that a reduction saved.
#[must_use]
pub fn within_measured_time(pair_cost: u128) -> u128 {
    pair_cost * 2 / 3
}

/// The meaning of the column Total.
pub const TOTAL: &str = "thread time of a region's teams, from fork to join, without the time for \
    which a thread had forked a nested team: the nested region has that time.";

/// The costs of constructs of one kind.
pub fn costs_of(kind: RegionKind) -> impl Iterator<Item = &'static Cost> {
    kind.costs().iter()
}

/// The costs of constructs of all kinds.
pub fn all() -> impl Iterator<Item = &'static Cost> {
    REGION_KINDS.iter().flat_map(|row| costs_of(row.kind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::{self, Quantity};

    #[test]
    fn every_cost_follows_from_columns_of_its_construct() {
        for cost in all() {
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
        let free: Vec<_> = REGION_KINDS
            .iter()
            .filter(|row| costs_of(row.kind).next().is_none())
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
