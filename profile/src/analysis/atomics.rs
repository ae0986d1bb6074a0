//! Atomic updates of many variables, for which threads seldom wait.

use crate::model::Region;

/// The time of an update of one of many variables, in nanoseconds, if no other thread needs the
/// variable. Between two probes, the update waits until its cache line comes from a slower cache.
/// Without measurement, other work goes on meanwhile.
pub(super) const OF_MANY_NS: u64 = 20;

/// Whether instances of a region may update different variables.
pub(super) fn has_many_variables(region: &Region) -> bool {
    region.variable.is_none()
}

/// The part of the time of so many updates that was lost because threads needed the same variable,
/// in nanoseconds.
pub(super) fn lost_ns(region: &Region, time_ns: u64, updates: u64) -> u64 {
    match has_many_variables(region) {
        true => time_ns.saturating_sub(updates.saturating_mul(OF_MANY_NS)),
        false => time_ns,
    }
}
