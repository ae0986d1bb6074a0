//! Worksharing constructs that do less work than their barriers cost, such as a loop nest whose
//! inner loop is the worksharing loop. All of them are one cause.

use super::ledger::{Amount, Entry, Ledger};
use super::shape::unexplained;
use super::small::{COSTS, FETCHING_PER_TEAM_COST, SMALL, most_of_barrier, without_overhead};
use super::waits::has_copyprivate;
use super::{Cause, Facts, Kind, settings};
use crate::analysis::remedy::EXPLAINED_WAIT_SHARE;
use crate::analysis::tree::TreeNode;
use crate::analysis::words::{count, time};
use crate::columns::Quantity;
use crate::overheads::Category;
use crate::region_kind::RegionKind;

/// The barrier itself may matter if one thread executed the construct at least this often.
const REPEATED: u64 = 100;
/// With more threads than processors, a construct is too small if all threads together have less work in it than
/// this, in nanoseconds: even with a processor for each thread its barrier would cost as much. Of larger ones
/// the number of threads is to blame.
const WORTH_A_BARRIER: u64 = 2_000;
/// A wait of at most this time that no uneven work explains is the cost of the barrier itself, in
/// nanoseconds: no thread is late by so little.
const SHORT_WAIT: f64 = 2_000.0;
/// Such waits must cost at least this part of the construct's elapsed time, where longer ones must
/// cost [`COSTS`].
const COSTS_OF_SHORT_WAITS: f64 = 0.1;
/// Where the work is not known, the least wait of a thread must be at least this part of the longest.
const LEAST_TO_LONGEST_WAIT: f64 = 0.5;

/// A construct, with what is lost at its barrier.
struct Construct {
    entry: Entry,
    /// The part of its wait that no uneven work explains.
    part: f64,
    /// Executions by the thread that executed it most often.
    times: u64,
    /// Executions by all threads.
    executions: u64,
    /// Work of all threads, in nanoseconds.
    work: u64,
    /// Whether this work was measured. Otherwise it is the most that it can be.
    is_work_known: bool,
    /// How long it lasted in all, in nanoseconds.
    elapsed: f64,
}

impl Construct {
    /// The part of the construct's elapsed time that its barrier must cost.
    fn least_costs(&self) -> f64 {
        let wait = self.entry.amount.lost as f64 / self.executions as f64;
        match wait * self.part <= SHORT_WAIT {
            true => COSTS_OF_SHORT_WAITS,
            false => COSTS,
        }
    }
}

/// All constructs that are too small, as one cause.
pub(super) fn constructs(facts: &Facts<'_, '_>, ledger: &mut Ledger) -> Vec<Cause> {
    let elapsed = facts.elapsed_by_region();
    let mut small: Vec<Construct> = ledger
        .open()
        .filter_map(|entry| construct(facts, entry, elapsed[entry.region]))
        .filter(|it| it.entry.amount.likely * it.part >= it.least_costs() * it.elapsed)
        .collect();
    let regions: Vec<usize> = small.iter().map(|it| it.entry.region).collect();
    ledger.take(|entry| entry.is_wait() && regions.contains(&entry.region));
    let lost = |it: &Construct| it.entry.amount.likely * it.part;
    crate::order::sort_by(&mut small, |a, b| lost(b).total_cmp(&lost(a)));
    cause(facts, &small).into_iter().collect()
}

/// The construct to which a wait belongs, if it is a worksharing construct that is executed
/// often with little work.
fn construct(facts: &Facts<'_, '_>, entry: &Entry, elapsed: f64) -> Option<Construct> {
    const WORKSHARING: &[RegionKind] = &[
        RegionKind::Loop,
        RegionKind::Sections,
        RegionKind::Single,
        RegionKind::Workshare,
    ];
    if !entry.is_of(WORKSHARING) || entry.cost.quantity != Quantity::BarrierTime {
        return None;
    }
    let table = facts.table(entry.region)?;
    let (rows, part) = unexplained(table);
    let times = facts.most_executions(entry.region)?;
    let executions = facts.sum_of(entry.region, Quantity::ExecCount).max(1);
    let is_work_known = facts.knows_work_of(entry.region);
    let (work, elapsed) = match is_work_known {
        true => (rows.iter().map(|row| row.1).sum(), elapsed),
        false => {
            let work = unseen_work(facts, entry.region, executions)?;
            let all = work.saturating_add(entry.amount.lost) as f64;
            (work, all * times as f64 / executions as f64)
        }
    };
    let is_single = entry.is_of(&[RegionKind::Single]);
    // While one thread executes a single construct, all others wait for it.
    let others = executions as f64 / times.max(1) as f64 - 1.0;
    let waited = entry.amount.lost as f64;
    if is_single && work as f64 * others >= EXPLAINED_WAIT_SHARE * waited {
        return None;
    }
    let construct = Construct {
        entry: entry.clone(),
        part,
        times,
        executions,
        work,
        is_work_known,
        elapsed,
    };
    let each = |ns: u64| ns as f64 / construct.executions as f64;
    let is_crowded = facts.is_crowded();
    let barrier = most_of_barrier(facts, is_crowded);
    // Threads share out no work in a single construct. So its size says nothing of their number.
    let is_worth_it =
        || is_single || construct.work >= WORTH_A_BARRIER.saturating_mul(construct.times);
    let is_small = construct.times >= REPEATED
        && each(construct.work) <= SMALL
        && each(entry.amount.lost) <= barrier
        && !(is_crowded && is_worth_it());
    is_small.then_some(construct)
}

/// The most work that a construct has of which only the barriers were seen, in nanoseconds: a share of the time
/// that threads spent in the construct around it, outside of all others. None if some threads wait more than
/// others, since then the work may be uneven.
fn unseen_work(facts: &Facts<'_, '_>, region: usize, times: u64) -> Option<u64> {
    let waits = facts.table(region)?;
    let column = waits.column(Quantity::BarrierTime)?;
    let each = || waits.rows().map(|(_, cells)| cells[column]);
    if (each().min()? as f64) < LEAST_TO_LONGEST_WAIT * each().max()? as f64 {
        return None;
    }
    let around = facts.construct_around(region)?;
    let nodes = &facts.tree.nodes;
    let its = || nodes.iter().filter(|node| node.region == around);
    let own = its().flat_map(TreeNode::executors);
    let outside: u64 = own.map(|row| Quantity::BodyTime.exclusive(&row)).sum();
    let children = its().flat_map(|node| &node.children);
    let mut unseen: Vec<usize> = children.map(|&child| nodes[child].region).collect();
    unseen.sort_unstable();
    unseen.dedup();
    unseen.retain(|&child| !facts.knows_work_of(child));
    let sum = |quantity| unseen.iter().map(|&it| facts.sum_of(it, quantity)).sum();
    let [all, whole, waited]: [u64; 3] = [
        Quantity::ExecCount,
        Quantity::ExecTime,
        Quantity::BarrierTime,
    ]
    .map(sum);
    let own = outside.saturating_add(whole.saturating_sub(waited));
    Some((own as f64 * times as f64 / all.max(1) as f64) as u64)
}

fn cause(facts: &Facts<'_, '_>, small: &[Construct]) -> Option<Cause> {
    let first = small.first()?;
    let mut amount = Amount::default();
    for it in small {
        let Amount { lost, upper, .. } = it.entry.amount;
        let barrier = it.entry.amount.lost as f64 / it.executions as f64;
        let work = without_overhead(
            &facts.profile.run,
            it.work as f64,
            it.executions,
            FETCHING_PER_TEAM_COST * barrier,
        );
        let members = (it.executions / it.times.max(1)).max(1);
        let likely = it.elapsed - work / members as f64;
        amount += Amount {
            lost: (lost as f64 * it.part) as u64,
            likely,
            upper: upper.max(likely),
        };
    }
    let regions = small.iter().map(|it| it.entry.region).collect();
    let place = facts.in_all(regions, "small worksharing constructs");
    let each = |ns: u64| ns / first.executions;
    let what = format!(
        "each thread executed it {}, with {}{} of work each time; its barrier costs {}",
        count(first.times, "time"),
        match first.is_work_known {
            true => "",
            false => "at most ",
        },
        time(each(first.work)),
        time(each(first.entry.amount.lost)),
    );
    let mut cause = facts.cause_of(Kind::SmallLoops, place, amount);
    cause.category = Some(Category::Imbal);
    let evidence = [
        ("constructs", small.len() as u64),
        ("times", first.times),
        ("work_each_ns", each(first.work)),
        ("wait_each_ns", each(first.entry.amount.lost)),
    ];
    let statements = match first.entry.is_of(&[RegionKind::Workshare]) {
        true => STATEMENTS,
        false => "",
    };
    let wakes = settings::advice_on_waking(facts, each(first.entry.amount.lost));
    let fewer = match facts.is_crowded() {
        true => FEWER,
        false => "",
    };
    let remedy = match has_copyprivate(&facts.profile.regions[first.entry.region]) {
        true => COPIES,
        false => REMEDY,
    };
    let remedy = format!("{wakes}{remedy}{statements}{fewer}");
    Some(cause.showing(&evidence).saying(what, remedy))
}

const REMEDY: &str = "Share out an outer loop instead, so that there are fewer barriers, or add nowait if the \
                      code that follows needs no results of other threads from it.";

/// For a `single` with `copyprivate`, which cannot have `nowait` (OpenMP 5.2, 10.1.1).
const COPIES: &str = "Share out an outer loop instead, so that there are fewer barriers, or let each thread \
                      compute the values of its copyprivate clause itself.";

/// For threads that wait for each other's processors.
const FEWER: &str = " With no more threads than processors, a barrier takes much less time.";

/// Of a `workshare`, whose statements are units of work, each finished before the next one begins (OpenMP
/// 5.2, 11.4).
const STATEMENTS: &str = " Threads also wait for each other after each of its statements; that time counts as \
                          work here.";
