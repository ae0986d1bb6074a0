//! A thread in a `single` that works itself while it creates tasks for the others.

use super::Facts;
use super::ledger::Entry;
use crate::analysis::grain::work_in_single;

/// The work of the thread in a `single` explains the wait of the others if it accounts for at least this
/// part of it.
const CREATOR_EXPLAINS: f64 = 0.8;

/// How long the thread in a `single` that creates tasks worked there itself, in nanoseconds, if the
/// others waited for that.
pub(super) fn work_of_creator(facts: &Facts<'_, '_>, wait: &Entry) -> Option<u64> {
    let nodes = facts.tree.nodes.iter();
    let its = nodes.filter(|node| node.region == wait.region);
    let work: u64 = its.map(work_in_single).sum();
    let others = facts.table(wait.region)?.threads.len().saturating_sub(1);
    let explained = work as f64 * others as f64;
    let explains = wait.is_wait() && work > 0;
    (explains && explained >= CREATOR_EXPLAINS * wait.amount.lost as f64).then_some(work)
}
