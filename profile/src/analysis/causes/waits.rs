//! Waits of team members for each other: which member they waited for, and why that member had
//! more to do.

use super::before::{beside, by_thread, explained, times_of, waits_elsewhere, waits_of};
use super::ledger::{Entry, Ledger, largest};
use super::sections::{self, Sections};
use super::shape::{self, Shape};
use super::{COPYIN, Cause, Doubt, Facts, Kind, Place, kernel, mentions, task_waits};
use crate::advice::{LoopFacts, TOO_LITTLE_WORK, TOO_SHORT_FOR_TEAM, advice, for_loop};
use crate::analysis::remedy::{EXPLAINED_WAIT_SHARE, loop_facts, too_little_work};
use crate::analysis::tree::TreeNode;
use crate::analysis::words::{count, time};
use crate::columns::Quantity;
use crate::model::Region;
use crate::overheads::Category;
use crate::region_kind::RegionKind;
use crate::schedule::Schedule;

/// One cause for each region at which threads waited.
pub(super) fn waits(facts: &Facts<'_, '_>, ledger: &mut Ledger) -> Vec<Cause> {
    let waits = ledger.take_by_region(is_wait);
    let causes = waits.iter().filter_map(|taken| cause(facts, taken));
    task_waits::with_inner_ones(facts, causes.collect())
}

fn is_wait(entry: &Entry) -> bool {
    entry.is_wait() || entry.is_of(task_waits::FOR_TASKS)
}

fn cause(facts: &Facts<'_, '_>, taken: &[Entry]) -> Option<Cause> {
    let entry = largest(taken)?;
    let subject = subject(facts, entry);
    let at = || place_of_wait(facts, entry, subject);
    let lost = entry.amount.lost;
    let table = facts.table(entry.region).filter(|_| facts.matters(taken));
    let Some(table) = table else {
        let cause = facts.cause(kind_of_cause(entry.cost.kind, entry.category), at(), taken);
        return Some(cause.saying(format!("threads waited {}", time(lost)), ""));
    };
    let other = sibling(facts, entry);
    let by_one_thread = match entry.cost.kind {
        RegionKind::Single => Some(entry.region),
        _ => other.map(|other| other.region),
    };
    if let Some(cause) = task_waits::cause(facts, taken, entry, by_one_thread) {
        return Some(cause);
    }
    // A loop without a barrier before this construct explains more than the little work in this
    // construct.
    if let Some(other) = other.filter(|_| subject == entry.region) {
        return Some(cause_of_sibling(facts, taken, entry, other));
    }
    if !facts.knows_work_of(entry.region) {
        let cause = facts
            .cause(kind_of_cause(entry.cost.kind, entry.category), at(), taken)
            .by_chance();
        return Some(cause.saying(last_to_come(facts, entry), UNSEEN_WORK));
    }
    if let Some(work) = too_little_work(table, entry.category, entry.cost.quantity) {
        let what = format!(
            "all threads together worked only {} there, which does not explain the wait",
            time(work)
        );
        let cause = facts.cause(Kind::LateThreads, at(), taken);
        return Some(
            cause
                .by_chance()
                .showing(&[("work_ns", work)])
                .saying(what, too_late(facts, entry)),
        );
    }
    Some(cause_of_construct(facts, taken, entry, subject))
}

/// The construct whose work threads waited for: that of the wait, or the one construct that is all of a
/// region. The latter has no barrier of its own: compilers and the instrumenter leave it out, since the
/// region's is right behind it.
fn subject(facts: &Facts<'_, '_>, entry: &Entry) -> usize {
    if entry.cost.kind != RegionKind::Parallel {
        return entry.region;
    }
    let nodes = &facts.tree.nodes;
    let own = || nodes.iter().filter(|node| node.region == entry.region);
    let mut inner = own().flat_map(|node| &node.children).map(|&it| &nodes[it]);
    let Some(only) = inner.next().map(|node| node.region) else {
        return entry.region;
    };
    let region = &facts.profile.regions[only];
    let shares_work = matches!(
        region.kind,
        RegionKind::Loop | RegionKind::Sections | RegionKind::Workshare
    );
    let is_alone = || {
        let has_barrier = |node: &TreeNode<'_>| node.rows().any(|row| row.row.ibarr.count > 0);
        let mut all = own().flat_map(|node| &node.children).map(|&it| &nodes[it]);
        all.all(|node| node.region == only && !has_barrier(node))
    };
    let work = |region: usize| {
        let of_threads = by_thread(facts, &[region], |_, row| row.row.body.ns);
        of_threads.iter().map(|it| it.1).sum::<u64>() as f64
    };
    match shares_work
        && !mentions(region, "nowait")
        && is_alone()
        && work(only) >= ALL_OF_ITS_WORK * work(entry.region)
    {
        true => only,
        false => entry.region,
    }
}

/// The place of a wait for the work of a construct, its [`subject`].
fn place_of_wait(facts: &Facts<'_, '_>, entry: &Entry, subject: usize) -> Place {
    let mut place = facts.at(entry.cost.place, subject);
    if subject != entry.region {
        place.regions.push(entry.region);
    }
    place
}

/// The advice for a wait that is longer than the work in front of it.
fn too_late(facts: &Facts<'_, '_>, entry: &Entry) -> &'static str {
    match kernel::may_explain(facts, entry.amount.lost) {
        true => TOO_LITTLE_WORK,
        false => TOO_SHORT_FOR_TEAM,
    }
}

/// Advice for a `single` with `copyprivate`, which cannot have `nowait`.
const COPIES: &str = "Share its work out, prepare its values in advance while the others work, or let each \
                      thread compute them itself.";

/// Whether a construct has a `copyprivate` clause. In Fortran the directive at its end has the clause.
pub(super) fn has_copyprivate(region: &Region) -> bool {
    let unsplit = region.unsplit.as_deref().unwrap_or_default();
    mentions(region, "copyprivate") || unsplit.contains("copyprivate")
}

/// Said of sections of which none is longer than the others.
const EVEN_SECTIONS: &str = "no section takes much longer than the others, but the threads finished their \
                             sections at different times";

/// Advice for such sections.
const TASKS_FOR_SECTIONS: &str = "If threads get different numbers of sections, or the times of sections \
                                  change from one execution to the next, use more and smaller sections, or \
                                  tasks.";

/// Advice for a loop whose begin was not seen each time.
const UNSEEN_WORK: &str = "Its work can't be measured in this mode, since the compiled code shows where the \
                           loop begins only once: build with rompcc to see how much work each thread has.";

/// A construct is all that a region does if it takes this part of its work.
const ALL_OF_ITS_WORK: f64 = 0.9;

/// The kind of cause that a construct suggests at whose end threads wait.
fn kind_of_cause(kind: RegionKind, category: Category) -> Kind {
    match (kind, category) {
        (RegionKind::Single, _) => Kind::Single,
        (RegionKind::Sections | RegionKind::ParallelSections, _) => Kind::Sections,
        (RegionKind::Taskgroup, _) => Kind::TooFewTasks,
        (_, Category::Imbal) => Kind::Imbalance,
        _ => Kind::Barrier,
    }
}

fn cause_of_construct(
    facts: &Facts<'_, '_>,
    taken: &[Entry],
    entry: &Entry,
    subject: usize,
) -> Cause {
    let region = &facts.profile.regions[subject];
    // In a program that was not built with Romp, GCC's `sections` that are all of a region are one region with it.
    let kind_of_work = match sections::nodes_of(facts, subject).next() {
        Some(_) if region.kind == RegionKind::Parallel => RegionKind::Sections,
        _ => region.kind,
    };
    let kind = kind_of_cause(kind_of_work, entry.category);
    let place = place_of_wait(facts, entry, subject);
    let cause = facts.cause(kind, place, taken);
    let table = facts.table(entry.region);
    let starts_anew = entry.cost.kind.is_parallel() && waits_elsewhere(facts, entry);
    let spread = table
        .filter(|_| !starts_anew)
        .and_then(|table| shape::spread_of(table, &facts.profile.threads));
    let of_loop = loop_facts(region, facts.table(subject));
    if let (Kind::Imbalance, Some(spread)) = (kind, spread) {
        return cause_of_spread(facts, entry, region.kind, cause, &spread, of_loop);
    }
    let remedy = match kind == Kind::Single && has_copyprivate(region) {
        true => Some(COPIES),
        false => advice(kind_of_work, entry.category, of_loop),
    };
    let sections = match (kind, entry.category) {
        (Kind::Sections, Category::Imbal) => sections::compare(facts, subject),
        _ => Sections::Unknown,
    };
    let remedy = match sections {
        Sections::Even => Some(TASKS_FOR_SECTIONS),
        _ => remedy,
    };
    let times = facts.sum_of(entry.region, Quantity::ExecCount);
    let each = entry.amount.lost / times.max(1);
    let what = match kind {
        Kind::Single => "one thread worked in it while the others waited".to_owned(),
        Kind::Sections => match &sections {
            Sections::OneIsLonger(which) => which.clone(),
            Sections::Even => EVEN_SECTIONS.to_owned(),
            Sections::Unknown => {
                "threads waited for the thread with the longest sections".to_owned()
            }
        },
        Kind::Barrier => last_to_come(facts, entry),
        Kind::Imbalance if starts_anew => last_to_come(facts, entry),
        _ => format!(
            "threads executed it {} in all, and lost {} each time on average",
            count(times, "time"),
            time(each)
        ),
    };
    let mut cause = cause
        .showing(&[("times", times), ("wait_each_ns", each)])
        .saying(what, remedy.unwrap_or_default());
    if let (Kind::Sections, Some(spread)) = (kind, spread) {
        cause = cause.showing(&spread.evidence());
    }
    let may_be_chance = matches!(sections, Sections::Even) || kind == Kind::Barrier || starts_anew;
    match may_be_chance && all_wait(facts, entry) {
        true => cause.by_chance(),
        false => cause,
    }
}

/// A wait at a construct of which it is known how much each thread had to do.
fn cause_of_spread(
    facts: &Facts<'_, '_>,
    entry: &Entry,
    kind: RegionKind,
    cause: Cause,
    spread: &shape::Spread,
    of_loop: LoopFacts<'_>,
) -> Cause {
    let is_loop = matches!(kind, RegionKind::Loop | RegionKind::ParallelLoop);
    let schedule = Schedule::of(of_loop.schedule.unwrap_or_default());
    let is_handed_out = is_loop && schedule.hands_out_at_run_time();
    let is_workshare = matches!(kind, RegionKind::Workshare | RegionKind::ParallelWorkshare);
    let what = match (spread.shape, is_handed_out) {
        (Shape::Turns, true) => LONGEST_IN_TURNS.to_owned(),
        (Shape::Turns | Shape::Late, _) if is_workshare => STATEMENTS_IN_TURNS.to_owned(),
        _ => uneven(facts, spread, is_loop),
    };
    let of_kind = || advice(kind, entry.category, of_loop).unwrap_or_default();
    let remedy = match (spread.shape, is_loop) {
        _ if is_workshare => of_kind(),
        _ if mentions(&facts.profile.regions[entry.region], "copyin") => COPYIN,
        (Shape::Turns, _) if is_handed_out => for_loop(of_loop),
        (Shape::Turns, _) if entry.cost.kind == RegionKind::Loop => LOOP_TURNS,
        (Shape::Turns, true) => PARALLEL_LOOP_TURNS,
        (Shape::Turns, false) => TURNS,
        (Shape::Late, _) => LATE_THREAD_ADVICE,
        (_, true) => for_loop(of_loop),
        _ => of_kind(),
    };
    let cause = cause.showing(&spread.evidence()).saying(what, remedy);
    let members = facts
        .table(entry.region)
        .map_or(1, |it| it.rows().count() as u64);
    cause.doubted(match spread.shape {
        Shape::Turns => Doubt::ByChance,
        Shape::Late
            if facts.sum_of(entry.region, Quantity::ExecCount) < LATE_FROM_EXECUTIONS * members =>
        {
            Doubt::ByChance
        }
        Shape::Late => Doubt::LateThread,
        _ if spread.is_slight() => Doubt::ByChance,
        _ => Doubt::None,
    })
}

/// Names the thread that kept the others waiting.
fn last_to_come(facts: &Facts<'_, '_>, entry: &Entry) -> String {
    let waits = waits_of(facts, entry);
    let last = waits.iter().min_by_key(|(_, ns)| *ns);
    let first = waits.iter().max_by_key(|(_, ns)| *ns);
    match (last, first) {
        (Some(last), Some(first)) if !all_wait(facts, entry) => {
            let late = &facts.threads[last.0];
            format!(
                "threads waited mostly for thread {late}: thread {} waited {}, thread {late} only {}",
                facts.threads[first.0],
                time(first.1),
                time(last.1)
            )
        }
        _ => "threads took turns in being late".to_owned(),
    }
}

/// Whether all threads wait for about as long, so that no single thread is always late.
fn all_wait(facts: &Facts<'_, '_>, entry: &Entry) -> bool {
    let waits = waits_of(facts, entry);
    let waited: u64 = waits.iter().map(|(_, ns)| ns).sum();
    let least = waits.iter().map(|(_, ns)| *ns).min().unwrap_or(0);
    (least as f64) * (waits.len() as f64) >= EXPLAINED_WAIT_SHARE * waited as f64
}

/// From this number of executions on, it is no coincidence that the same thread is late.
const LATE_FROM_EXECUTIONS: u64 = 3;

/// Advice for a thread that is late.
const LATE_THREAD_ADVICE: &str = "See what that thread does before: share that work out, make tasks of it, or \
                                  let the others go on where they need not wait.";

/// Advice for threads that are late in turns.
const TURNS: &str = "No thread is always the last: see whether the work of a thread changes from one execution \
                     to the next, and whether other programs used the processors.";

/// For the statements of a `workshare` that the compiler does not share out: the thread that comes first executes
/// them.
const STATEMENTS_IN_TURNS: &str =
    "one thread executed most of its statements while the others waited, not always the same one";

/// For threads that are late in turns in a combined loop, which ends with its region.
const PARALLEL_LOOP_TURNS: &str = "No thread is always the last: if iterations change from one execution to \
                                   the next, hand them out at run time, as with schedule(dynamic,CHUNK); and \
                                   see whether other programs used the processors.";

/// For a loop that hands out its iterations at run time. A thread that comes late gets fewer of them.
const LONGEST_IN_TURNS: &str = "threads took turns in being late: each time the one that got the longest of \
                                the last iterations";

/// For threads that are late in turns at a loop whose end has a barrier of its own.
const LOOP_TURNS: &str = "No thread is always the last: add nowait if the code that follows needs no results \
                          of other threads from the loop, so that an early thread goes on; or hand out its \
                          iterations at run time, as with schedule(dynamic,CHUNK).";

fn uneven(facts: &Facts<'_, '_>, spread: &shape::Spread, is_loop: bool) -> String {
    let name = |thread: usize| &facts.threads[thread];
    let what = match (spread.shape, is_loop) {
        (Shape::Turns, _) => return "threads took turns in being late".to_owned(),
        (Shape::Late, _) => {
            let late = name(spread.last);
            return format!(
                "all threads had the same amount of work in it, but thread {late} came late"
            );
        }
        (Shape::Rising, true) => "later iterations take longer: ",
        (Shape::Falling, true) => "earlier iterations take longer: ",
        (Shape::One, _) => "one thread had much more to do than the others: ",
        _ => "work was uneven: ",
    };
    format!(
        "{what}thread {} worked {}, thread {} only {}",
        name(spread.most.0),
        time(spread.most.1),
        name(spread.least.0),
        time(spread.least.1)
    )
}

/// Another construct of the same block. Its times explain when each thread arrived at the wait.
#[derive(Clone, Copy, Debug)]
struct Sibling {
    region: usize,
    kind: RegionKind,
    longest_ns: u64,
}

fn cause_of_sibling(
    facts: &Facts<'_, '_>,
    taken: &[Entry],
    entry: &Entry,
    other: Sibling,
) -> Cause {
    let kind = match other.kind {
        RegionKind::Master => Kind::Master,
        RegionKind::Single => Kind::Single,
        RegionKind::Sections => Kind::Sections,
        _ => Kind::Imbalance,
    };
    let place = Place {
        regions: vec![other.region, entry.region],
        words: facts.at(entry.cost.place, entry.region).words,
    };
    let region = &facts.profile.regions[other.region];
    let what = match other.kind {
        RegionKind::Loop => format!(
            "threads waited for {}, which has no barrier of its own and whose iterations are \
             uneven",
            facts.the(other.region)
        ),
        _ => format!(
            "meanwhile one thread executed {} for {}",
            facts.the(sections::longest(facts, other.region).unwrap_or(other.region)),
            time(other.longest_ns)
        ),
    };
    let of_loop = loop_facts(region, facts.table(other.region));
    let remedy = match other.kind {
        RegionKind::Loop => for_loop(of_loop).to_owned(),
        RegionKind::Sections => advice(other.kind, Category::Imbal, of_loop)
            .unwrap_or_default()
            .to_owned(),
        _ => "Spread its work over the team, or let the others go on.".to_owned(),
    };
    facts
        .cause(kind, place, taken)
        .showing(&[("longest_ns", other.longest_ns)])
        .saying(what, remedy)
}

/// The construct next to the wait that explains most of it, if there is one.
fn sibling(facts: &Facts<'_, '_>, entry: &Entry) -> Option<Sibling> {
    let waits = waits_of(facts, entry);
    let mut best: Option<(f64, Sibling)> = None;
    for region in beside(facts, entry) {
        let (explained, longest) = explained_by(facts, region, &waits);
        if explained >= EXPLAINED_WAIT_SHARE
            && best.as_ref().is_none_or(|(least, _)| explained > *least)
        {
            let sibling = Sibling {
                region,
                kind: facts.profile.regions[region].kind,
                longest_ns: longest,
            };
            best = Some((explained, sibling));
        }
    }
    best.map(|(_, sibling)| sibling)
}

/// The part of the threads' waits that a construct beside the wait explains, and the longest time that a thread
/// spent in it, in nanoseconds. Another thread may execute a `single` or a section each time, so that all threads
/// spend equal times there in the end. While one thread is in the longest section, the others wait.
fn explained_by(facts: &Facts<'_, '_>, region: usize, waits: &[(usize, u64)]) -> (f64, u64) {
    let times = times_of(facts, region);
    let longest = times.iter().map(|(_, ns)| *ns).max().unwrap_or(0);
    let of_one_thread = (explained(waits, &times), longest);
    let total: u64 = times.iter().map(|(_, ns)| ns).sum();
    let longest = match facts.profile.regions[region].kind {
        RegionKind::Single => total,
        RegionKind::Sections => sections::times(facts, region)
            .into_values()
            .max()
            .unwrap_or(0),
        _ => return of_one_thread,
    };
    let waited: u64 = waits.iter().map(|(_, ns)| ns).sum();
    let expected = (waits.len() as u64 * longest).saturating_sub(total);
    let off = expected.abs_diff(waited) as f64 / waited.max(1) as f64;
    match 1.0 - off > of_one_thread.0 {
        true => (1.0 - off, longest),
        false => of_one_thread,
    }
}
