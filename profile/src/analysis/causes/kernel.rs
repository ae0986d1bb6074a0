//! What the kernel tells of threads that were ready and had no processor.

use super::Facts;
use crate::model::Scheduling;

/// The kernel's figures for all threads. Threads that have ended appear only in the process's
/// CPU time. The ratio of ready time to running time is assumed to be the same for them.
pub(super) fn scheduling(facts: &Facts<'_, '_>) -> Option<Scheduling> {
    let mut all = facts.profile.run.scheduling?;
    let run = &facts.profile.run;
    let ran_ns = run.user_ns.saturating_add(run.system_ns);
    if ran_ns > all.run_ns {
        let ready = all.ready_ns as f64 * (ran_ns as f64 / all.run_ns.max(1) as f64);
        (all.run_ns, all.ready_ns) = (ran_ns, ready as u64);
    }
    // Threads of no team, such as the one that writes the profile, mostly sleep.
    let members = u32::try_from(facts.overheads.threads).unwrap_or(u32::MAX);
    all.threads = all.threads.min(members.max(1));
    Some(all)
}

/// How long threads may have waited for threads without a processor, in nanoseconds.
pub(super) fn explained_ns(facts: &Facts<'_, '_>, scheduling: &Scheduling) -> u64 {
    let others = facts.overheads.threads.saturating_sub(1);
    scheduling.ready_ns.saturating_mul(others)
}

/// Whether a wait of so many nanoseconds may have been for threads without a processor, as far as is known.
pub(super) fn may_explain(facts: &Facts<'_, '_>, waited_ns: u64) -> bool {
    let scheduling = scheduling(facts);
    scheduling.is_none_or(|scheduling| waited_ns <= explained_ns(facts, &scheduling))
}
