//! The figures of the kernel: how long threads were ready and had no processor, and how long the
//! initial thread ran. The initial thread slept for the rest of the run.

use super::Facts;
use crate::analysis::tree::Tree;
use crate::analysis::words::time;
use crate::analysis::{NEGLIGIBLE, Overheads};
use crate::columns::Measures;
use crate::model::{Profile, Scheduling};
use crate::overheads;

/// The kernel's figures for all threads. Threads that have ended appear only in the process's
/// CPU time. The ratio of ready time to running time is assumed to be the same for them.
pub(super) fn scheduling(facts: &Facts<'_, '_>) -> Option<Scheduling> {
    let mut all = facts.profile.run.scheduling?;
    let run = &facts.profile.run;
    let ran_ns = run.processor_ns_of_program();
    if ran_ns > all.run_ns {
        let ready = all.ready_ns as f64 * (ran_ns as f64 / all.run_ns.max(1) as f64);
        (all.run_ns, all.ready_ns) = (ran_ns, ready as u64);
    }
    // Threads of no team mostly sleep.
    let members = u32::try_from(facts.overheads.threads).unwrap_or(u32::MAX);
    all.threads = all.threads.min(members.max(1));
    Some(all)
}

/// How long threads may have waited for threads without a processor, in nanoseconds.
pub(super) fn explained_ns(facts: &Facts<'_, '_>, scheduling: &Scheduling) -> u64 {
    let others = facts.overheads.threads.saturating_sub(1);
    scheduling.ready_ns.saturating_mul(others)
}

/// Whether a wait of this many nanoseconds may have been for threads without a processor, as far as is known.
pub(super) fn may_explain(facts: &Facts<'_, '_>, waited_ns: u64) -> bool {
    let scheduling = scheduling(facts);
    scheduling.is_none_or(|scheduling| waited_ns <= explained_ns(facts, &scheduling))
}

/// Other threads of the program explain why threads had no processor if they ran for this part of that time.
const EXPLAINED_BY_OTHERS: f64 = 0.5;

/// For how long other threads of the program ran that are not measured, and for how long threads were ready
/// meanwhile, in nanoseconds; none if that does not explain why they had no processor. Other threads used the
/// processor time of the process beyond what its OpenMP threads can have used: threads times duration, without the
/// time for which they were ready.
pub(super) fn others_of_program(facts: &Facts<'_, '_>) -> Option<(u64, u64)> {
    let run = &facts.profile.run;
    let ready = run.scheduling?.ready_ns;
    let of_all = facts.overheads.threads.saturating_mul(run.duration_ns);
    let ran = run.processor_ns_of_program().saturating_add(ready);
    let ran = ran.saturating_sub(of_all);
    let explains = ran as f64 >= EXPLAINED_BY_OTHERS * ready as f64;
    (facts.overheads.processes == 1 && explains).then_some((ran, ready))
}

/// A note on threads that slept while the profile counts their time in teams as work; none if that is little. The
/// threads of the process ran, or were ready to, for less time than they worked.
pub(super) fn note_on_sleep(facts: &Facts<'_, '_>) -> Option<String> {
    /// The least part of the work that is mentioned. A virtual machine may lose some time to others, too.
    const LEAST_SHARE: f64 = 0.2;
    let (run, overheads) = (&facts.profile.run, facts.overheads);
    let awake = run.processor_ns_of_program();
    let awake = awake.saturating_add(scheduling(facts)?.ready_ns);
    let sum = &overheads.whole_sum;
    let in_teams = sum.total.ns.saturating_sub(sum.overhead.ns + sum.untold.ns);
    let slept = in_teams.saturating_sub(awake);
    let is_much = slept as f64 >= LEAST_SHARE * in_teams as f64
        && 100.0 * slept as f64 >= NEGLIGIBLE * overheads.thread_time_ns as f64;
    let is_known = run.processor_ns() > 0 && overheads.processes == 1;
    (is_known && is_much).then(|| {
        format!(
            "Threads slept for at least {} of the {} that count as work in parallel regions: at a lock that is \
             not an OpenMP lock, for input or output, or in another call that blocks. `romp scale`, with \
             profiles of several numbers of threads, shows whether they wait for each other.",
            time(slept),
            time(in_teams)
        )
    })
}

/// The kernel's figures for the only initial thread, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FirstThread {
    /// For how long it was ready and had no processor.
    pub(super) ready: u64,
    /// For how long it may have waited for other threads, as the analysis knows.
    pub(super) lost: u64,
    /// For how long no thread ran, or waited for another one in a team.
    pub(super) slept: u64,
    /// The processor time of all other threads outside of teams, beyond the time in which this thread did not
    /// run. Threads of a team also spend some of it when they wait for the next one.
    pub(super) others_beside: u64,
}

/// The kernel's figures for the initial thread. None if the kernel gives none, if there are several, or if it is
/// not the thread that started the program.
pub(crate) fn first_thread(
    profile: &Profile,
    tree: &Tree<'_>,
    overheads: &Overheads,
) -> Option<FirstThread> {
    let run = &profile.run;
    let scheduling = run.scheduling.filter(|all| all.first_run_ns > 0)?;
    let mut threads = profile.threads.iter();
    if overheads.processes > 1 || threads.any(|thread| thread.path.first() != Some(&0)) {
        return None;
    }
    let lost = lost_by_first(profile, tree);
    let (ran, ready) = (scheduling.first_run_ns, scheduling.first_ready_ns);
    // Processor time of other threads outside of teams may be the program's own work.
    let all = run.processor_ns_of_program();
    let others = all.max(scheduling.run_ns).saturating_sub(ran);
    let in_teams = overheads
        .whole_sum
        .total
        .ns
        .saturating_sub(overheads.coverage.ns);
    let others_outside = others.saturating_sub(in_teams);
    let did_not_run = [ran, ready, lost]
        .iter()
        .fold(run.duration_ns, |left, ns| left.saturating_sub(*ns));
    Some(FirstThread {
        ready,
        lost,
        slept: did_not_run.saturating_sub(others_outside),
        others_beside: others_outside.saturating_sub(did_not_run),
    })
}

/// The time that the initial thread lost, or may have lost, outside of teams and as a member of them.
fn lost_by_first(profile: &Profile, tree: &Tree<'_>) -> u64 {
    let is_first = |row: &Measures<'_>| {
        let thread = &profile.threads[row.row.thread];
        thread.path.iter().all(|number| *number == 0)
    };
    let lost = tree.nodes.iter().map(|node| {
        let rows = node.executors().filter(is_first);
        let charged = rows.filter(|row| tree.is_charged(node, row.row.thread));
        let of_row = |row: Measures<'_>| {
            let costs = overheads::costs_of(node.kind).map(|cost| node.lost(cost, &row));
            costs.sum::<u64>() + node.untold_ns(&row)
        };
        charged.map(of_row).sum::<u64>()
    });
    lost.sum()
}
