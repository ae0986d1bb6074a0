//! The records of all threads, with everything settled that was still open: frames, held locks,
//! and the times from the ends of team members to the joins.
//!
//! Threads may still run. They stand still while the snapshot is taken, and all data that they
//! change later is copied. The snapshot writes to none of their data: what must be added is kept
//! separately.

use std::sync::atomic::Ordering;

use profile::model::{Estimate, Span};
use profile::region_kind::{PseudoRegion, RegionKind};

use crate::hash::Map;
use crate::measure::calls::totals::{Recorded, Total, Totals};
use crate::measure::clock::Scale;
use crate::measure::open_frames::open_frames;
use crate::measure::records::Frame;
use crate::measure::records::Region;
use crate::measure::records::distribution::{Copies, Distribution};
use crate::measure::records::frame::Role;
use crate::measure::records::node::{Origin, pseudo_region};
use crate::measure::records::waits::NodeWaits;
use crate::measure::records::{Node, PassedTeams};
use crate::measure::thread::Thread;
use crate::measure::{active, coarse_times, counters, counting, pause};

const EXIT: usize = PseudoRegion::Exit as usize;
const IBARR: usize = PseudoRegion::Ibarr as usize;
const MAIN: usize = PseudoRegion::Main as usize;

/// Nodes that lie side by side.
#[derive(Debug)]
struct Block {
    nodes: &'static [Node],
    /// Index of the first one.
    first: usize,
}

impl Block {
    fn address(&self) -> usize {
        self.nodes.as_ptr().addr()
    }
}

/// The teams of one size that a fork node had.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Teams {
    pub(super) size: u32,
    instances: u64,
    /// Sum of the join times, wrapping.
    joins: u64,
    /// Where the barrier is hidden: sum of the times at which the last member's
    /// part ended, wrapping.
    ends: u64,
    /// The teams whose members were passed over, and their ticks from fork to join.
    passed: Total,
}

/// Everything that was recorded, and what must be added to it.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    pub(super) nodes: Vec<&'static Node>,
    /// Per node: its recorded totals.
    recorded: Recorded,
    /// Per node: how the times of its instances were spread.
    instances: Copies,
    /// Per node: the instances that are still open, or not sorted yet.
    pub(super) more_instances: Map<usize, Distribution>,
    /// Per node: what the counters counted in it, if there are any.
    counters: Vec<Vec<u64>>,
    /// Where nodes lie in memory, by address.
    blocks: Vec<Block>,
    /// The nodes at which threads waited for others, with their data on these waits.
    pub(super) waits: Vec<(usize, &'static NodeWaits)>,
    /// The member roots.
    members: Vec<usize>,
    /// The fork nodes whose teams have been joined.
    forks: Vec<usize>,
    /// The nodes whose instances were no longer timed.
    pub(super) throttled: Vec<&'static Node>,
    /// The nodes of which only some instances were timed, and how many instances came after the
    /// last one.
    pub(super) samples: Map<usize, u64>,
    /// The nodes whose instances were timed by the coarse clock.
    pub(super) coarse: Vec<usize>,
    /// Per member root: by how many ticks teams took longer in which the member was timed.
    costs: Map<usize, u64>,
    /// The entries into recursions that go on at a node above, in the order of nodes.
    pub(super) recursions: Vec<usize>,
    /// Per node: what its open frames and locks add.
    pub(super) additions: Map<usize, Totals>,
    /// Per fork node: the teams whose joins were still to come.
    joins: Map<usize, Vec<Teams>>,
    /// Frames that were open when measurement ended.
    pub(super) open: u64,
    /// Locks that were held.
    pub(super) held: u64,
    /// Team members whose ends and joins do not pair up.
    pub(super) unpaired: u64,
    pub(super) unmatched: u64,
    /// Members whose team was chosen among several.
    pub(super) guessed: u64,
    pub(super) migrated: u64,
    pub(super) skipped: u64,
    pub(super) folded: u64,
    /// How often measurement was switched off.
    pub(super) pauses: u64,
    /// The largest number of threads at once that was counted.
    most_threads: u32,
    /// Ticks during which any outermost team was open, if the nodes do not show it.
    pub(super) covered: Option<u64>,
    /// Ticks of the whole run, without pauses.
    pub(super) lasted: u64,
}

impl Snapshot {
    /// Takes in all nodes of a run that began and ended at these times, in ticks. Everything that is
    /// open is closed at the end.
    pub(crate) fn take(threads: &[&'static Thread], [beginning, at]: [u64; 2]) -> Self {
        let mut snapshot = Self {
            lasted: pause::between(beginning, at),
            pauses: u64::from(pause::count()),
            most_threads: active::most_threads(),
            covered: active::covered(at),
            ..Self::default()
        };
        snapshot.find_blocks(threads);
        for thread in threads {
            snapshot.unmatched += thread.unmatched.get();
            snapshot.guessed += thread.guessed.get();
            snapshot.migrated += thread.migrated.get();
            snapshot.skipped += thread.skipped.get();
            snapshot.folded += thread.folded.get();
        }
        for thread in threads {
            for (node, ticks) in thread.log.entries() {
                snapshot.add_instance(Some(node), ticks);
            }
            snapshot.close_frames(thread, at);
            snapshot.close_locks(thread, at);
            snapshot.count_passed(thread);
        }
        snapshot.settle_exits();
        snapshot.settle_passed_members();
        snapshot.settle_samples();
        let sums = snapshot.coarse_sums();
        snapshot.settle_recursion();
        snapshot.settle_coarse_times(sums);
        snapshot
    }

    /// Takes in all nodes. Makes room once: there may be many, and little time.
    fn find_blocks(&mut self, threads: &[&'static Thread]) {
        let mut count = 0;
        for nodes in threads.iter().flat_map(|thread| thread.tree.nodes()) {
            let first = count;
            count += nodes.len();
            self.blocks.push(Block { nodes, first });
        }
        self.nodes.reserve(count);
        self.recorded.reserve(count);
        self.instances.reserve(count);
        for block in std::mem::take(&mut self.blocks) {
            block.nodes.iter().for_each(|node| self.add(node));
            self.blocks.push(block);
        }
        self.blocks.sort_unstable_by_key(Block::address);
    }

    fn add(&mut self, node: &'static Node) {
        let index = self.nodes.len();
        if let Origin::Member(_) = node.place() {
            self.members.push(index);
        }
        if node.teams.iter().next().is_some() {
            self.forks.push(index);
        }
        if matches!(node.place(), Origin::Member(_)) {
        } else if let Some(sample) = node.sample() {
            self.samples.insert(index, sample.passed());
        } else if node.recursion().is_some() {
            self.recursions.push(index);
        } else if node.is_special() {
            self.throttled.push(node);
        }
        if node.coarse_times().is_some() {
            self.coarse.push(index);
        }
        if let Some(waits) = node.known_waits() {
            self.waits.push((index, waits));
        }
        self.nodes.push(node);
        self.recorded.push(node);
        self.instances.push(&node.instances);
        if counters::are_on() {
            self.counters.push(counting::counted(node));
        }
    }

    /// Nodes that have forked teams of a known size; some may be named twice.
    pub(super) fn forks(&self) -> impl Iterator<Item = usize> {
        self.forks.iter().chain(self.joins.keys()).copied()
    }

    /// The largest number of threads that were at work at once.
    pub(super) fn widest(&self) -> u32 {
        let teams = self.forks().flat_map(|fork| self.teams(fork));
        let largest = teams.map(|team| team.size).max().unwrap_or(1);
        largest.max(self.most_threads).max(1)
    }

    /// Where a node is; none for a node that came later.
    pub(super) fn find(&self, node: &'static Node) -> Option<usize> {
        let address = std::ptr::from_ref(node).addr();
        let behind = self
            .blocks
            .partition_point(|block| block.address() <= address);
        let block = self.blocks.get(behind.checked_sub(1)?)?;
        let at = (address - block.address()) / size_of::<Node>();
        (at < block.nodes.len()).then_some(block.first + at)
    }

    /// How the times of a node's instances were spread, those that are open
    /// included.
    pub(super) fn add_instances_to(&self, to: &mut Distribution, index: usize) {
        self.instances.add_to(to, index);
        if let Some(more) = self.more_instances.get(&index) {
            to.join(more);
        }
    }

    /// The totals of a node, with what must be added.
    #[inline(always)]
    pub(super) fn totals(&self, index: usize) -> Totals {
        let mut totals = self.recorded.of(index);
        if let Some(additions) = self.additions.get(&index) {
            for (total, addition) in totals.iter_mut().zip(additions) {
                total.join(*addition);
            }
        }
        totals
    }

    /// The teams of a fork node, by size.
    pub(super) fn teams(&self, index: usize) -> impl Iterator<Item = Teams> {
        let done = self.nodes[index].teams.iter().map(|team| Teams {
            size: team.size.load(Ordering::Relaxed),
            instances: team.instances.get(),
            joins: team.joins.get(),
            ends: team.ends.get(),
            passed: Total {
                count: team.passed.count.get(),
                ticks: team.passed.ticks.get(),
            },
        });
        let to_come = self.joins.get(&index).into_iter().flatten();
        done.chain(to_come.copied())
    }

    /// The counts of the counters in a node; empty if there are no counters.
    pub(super) fn counted(&self, index: usize) -> Vec<u64> {
        self.counters.get(index).cloned().unwrap_or_default()
    }

    fn additions(&mut self, node: Option<&'static Node>) -> Option<&mut Totals> {
        let index = self.find(node?)?;
        Some(self.additions.entry(index).or_default())
    }

    /// Adds to the nodes what the missing exits would add.
    fn close_frames(&mut self, thread: &'static Thread, at: u64) {
        for (open, left) in open_frames(thread) {
            if open.role() == Role::Ended {
                continue;
            }
            // It is no surprise that functions are open when a program ends.
            self.open += u64::from(left.is_none() && !open.is_function());
            let left = left.unwrap_or(at);
            // Without the pauses that its frames have not been moved over.
            let ended = pause::without(thread.pauses(), left);
            self.close_frame(open, ended, pause::without(0, left));
        }
    }

    /// `measured` is the time without all pauses, in which join times are kept.
    fn close_frame(&mut self, frame: &'static Frame, at: u64, measured: u64) {
        if frame.role() == Role::Untimed || frame.role() == Role::Member && frame.is_counted() {
            return;
        }
        let Some(additions) = self.additions(frame.node()) else {
            return;
        };
        if let Some((phase, start)) = frame.running_phase() {
            additions[phase as usize].add(since(start, at));
        }
        let ticks = since(frame.start(), at);
        match frame.role() {
            Role::Base | Role::Untimed | Role::Ended | Role::Counted => {}
            Role::Construct | Role::Sampled | Role::Recursive => {
                additions[MAIN].add(ticks);
                self.add_instance(frame.node(), ticks);
                self.add_inner_time(frame.below(), ticks);
                if let Some(entry) = self.additions(frame.entry()) {
                    entry[MAIN].add(ticks);
                }
            }
            Role::Fork => {
                self.join_later(frame, ticks, measured);
                self.add_instance(frame.node(), ticks);
                self.add_inner_time(frame.below(), ticks);
            }
            Role::Member => additions[EXIT].add(measured.wrapping_neg()),
        }
    }

    /// Like [`Frame::add_inner_time`], for a frame that is still open.
    fn add_inner_time(&mut self, around: Option<&'static Frame>, ticks: u64) {
        let passed = std::iter::successors(around, |frame| frame.below())
            .take_while(|frame| frame.role() == Role::Counted);
        for frame in passed {
            let part = pseudo_region(frame.within()) as usize;
            if let Some(additions) = self.additions(frame.node()) {
                additions[MAIN].ticks += ticks;
                if part != MAIN {
                    additions[part].ticks += ticks;
                }
            }
        }
    }

    /// How good the times of a node are, if only some instances were timed.
    pub(super) fn estimate(&self, index: usize, scale: Scale) -> Option<Estimate> {
        let total = self.totals(index)[MAIN];
        if let Some(times) = self.nodes[index].coarse_times() {
            return Some(Estimate {
                timed: times.others().count,
                error_ns: scale.to_ns(coarse_times::error_of(total.ticks)),
                ..Estimate::default()
            });
        }
        let rest = *self.samples.get(&index)?;
        let sample = self.nodes[index].sample()?;
        if let Origin::Member(_) = self.nodes[index].place() {
            return Some(Estimate {
                timed: self.totals(index)[EXIT].count - rest,
                error_ns: scale.to_ns(sample.error_of_passed(rest)),
                cost_ns: scale.to_ns(self.costs.get(&index).copied().unwrap_or(0)),
                ..Estimate::default()
            });
        }
        (sample.timed() < total.count).then(|| Estimate {
            timed: sample.timed(),
            error_ns: scale.to_ns(sample.of_passed(self.nodes[index], rest).error),
            cost_ns: 0,
            interval_ps: scale.to_ns((sample.interval_of_looks() * 1000.0) as u64),
            waited: match self.nodes[index].region().map(|region| region.kind) {
                Some(RegionKind::Atomic) => sample.waited(),
                _ => 0,
            },
        })
    }

    /// A node's requests for chunks.
    pub(super) fn chunk_requests(&self, index: usize, scale: Scale) -> Span {
        let node = self.nodes[index];
        // Requests of instances that were passed over are not known, nor is the work at an end
        // that hides a wait.
        let is_known = !self.samples.contains_key(&index)
            && node
                .region()
                .is_some_and(|region| region.hidden_end_reason().is_none());
        let body = match is_known {
            true => self.totals(index)[PseudoRegion::Body as usize].ticks,
            false => 0,
        };
        Span {
            count: node.chunk_requests.count.get(),
            ns: scale.to_ns(node.ticks_of_chunk_requests(body)),
        }
    }

    /// How often a node's parts of reductions were combined. The parts of reductions in passed-over
    /// instances are taken to last as long as those in timed ones.
    pub(super) fn reduction(&self, index: usize, scale: Scale) -> Span {
        let reduction = &self.nodes[index].reduction;
        let [main, exit] = [MAIN, EXIT].map(|part| self.totals(index)[part].count);
        let each = match self.estimate(index, scale) {
            Some(estimate) => main.max(exit) as f64 / estimate.timed.max(1) as f64,
            None => 1.0,
        };
        Span {
            count: (reduction.count.get() as f64 * each) as u64,
            ns: (scale.to_ns(reduction.ticks.get()) as f64 * each) as u64,
        }
    }

    /// The nodes of which only some instances were timed by the clock itself.
    pub(crate) fn sampled(&self) -> impl Iterator<Item = &'static Node> {
        let sampled = self
            .samples
            .keys()
            .chain(&self.coarse)
            .filter(|index| self.estimate(**index, Scale::one()).is_some());
        sampled.map(|index| self.nodes[*index])
    }

    fn join_later(&mut self, frame: &'static Frame, ticks: u64, at: u64) {
        let size = frame.team_size();
        let Some(fork) = frame.node().and_then(|node| self.find(node)) else {
            return;
        };
        let mut teams = Teams {
            size,
            ..Teams::default()
        };
        if frame.has_passed_team() {
            teams.passed = Total { count: 1, ticks };
        } else {
            (teams.instances, teams.joins, teams.ends) = (1, at, at);
        }
        if size > 0 {
            self.joins.entry(fork).or_default().push(teams);
        }
    }

    fn close_locks(&mut self, thread: &'static Thread, at: u64) {
        if thread.is_paused() {
            return;
        }
        self.held += thread.passed_locks.number();
        for (node, start, acquired) in thread.held_locks().filter_map(|held| held.holding()) {
            self.held += 1;
            if let Some(additions) = self.additions(Some(node)) {
                additions[PseudoRegion::Body as usize].add(since(acquired, at));
                additions[MAIN].add(since(start, at));
            }
            self.add_instance(Some(node), since(start, at));
        }
    }

    fn add_instance(&mut self, node: Option<&'static Node>, ticks: u64) {
        if let Some(index) = node.and_then(|node| self.find(node)) {
            self.more_instances.entry(index).or_default().add(ticks);
        }
    }

    /// Adds the join times to the negated end times of the members. A member's
    /// ends can be spread over several threads, so they are gathered first.
    fn settle_exits(&mut self) {
        let mut ends: Map<(usize, u32), Vec<usize>> = Map::default();
        for &index in &self.members {
            let node = self.nodes[index];
            let Origin::Member(number) = node.place() else {
                continue;
            };
            let Some(fork) = node.parent().and_then(|fork| self.find(fork)) else {
                continue;
            };
            ends.entry((fork, number)).or_default().push(index);
        }
        for ((fork, number), roots) in ends {
            self.settle_member(fork, number, &roots);
        }
    }

    /// Takes the time of an instance that is inside another instance of the same node out of the
    /// nodes around it, up to and including that node: all of them contain this time already.
    fn settle_recursion(&mut self) {
        for index in self.recursions.clone() {
            let entry = self.nodes[index];
            let Some(around) = entry.recursion() else {
                continue;
            };
            let within = self.totals(index)[MAIN].ticks;
            let mut node = entry;
            while !std::ptr::eq(node, around) {
                let (Origin::Within(part), Some(parent)) = (node.place(), node.parent()) else {
                    break;
                };
                node = parent;
                self.take_out(node, MAIN, within);
                if part != PseudoRegion::Main {
                    self.take_out(node, part as usize, within);
                }
            }
        }
    }

    /// Adds the time of members in teams in which they were passed over. The duration of these
    /// teams is known. The time in the members' parts is estimated, and the rest is divided in the
    /// same ratio as in teams in which the members were timed.
    fn settle_passed_members(&mut self) {
        use PseudoRegion::{Body, Enter};
        for index in self.members.clone() {
            let node = self.nodes[index];
            let Some(sample) = node.sample().filter(|sample| sample.passed() > 0) else {
                continue;
            };
            let (Origin::Member(number), Some(fork)) =
                (node.place(), node.parent().and_then(|fork| self.find(fork)))
            else {
                continue;
            };
            let (mut instances, mut ticks) = (0, 0);
            for team in self.teams(fork).filter(|team| team.size > number) {
                instances += team.passed.count;
                ticks += team.passed.ticks;
            }
            let passed = sample.passed();
            let known = passed.min(instances);
            let whole = part_of(ticks, known, instances).saturating_sub(sample.long());
            let parts = [Enter, Body].map(|part| sample.part_of_passed(part, known));
            let most = whole.min(parts[0] + parts[1]);
            let parts = parts.map(|ticks| part_of(ticks, most, parts[0] + parts[1]));
            let left = whole - parts[0] - parts[1];
            let timed = self.totals(index);
            let waited = part_of(
                left,
                timed[IBARR].ticks,
                timed[IBARR].ticks + timed[EXIT].ticks,
            );
            let waits = u64::from(timed[IBARR].count > 0) * passed;
            let additions = self.additions.entry(index).or_default();
            let mut add = |part: usize, count, ticks| additions[part].join(Total { count, ticks });
            add(Enter as usize, passed, parts[0]);
            add(Body as usize, passed, parts[1]);
            add(IBARR, waits, waited);
            add(EXIT, passed, left - waited);
            self.samples.insert(index, passed);
            // Teams with and without timed members were measured in the same run, so the longer
            // time includes the waits that timing causes.
            let teams = self.nodes[fork].passed_teams.get();
            if let Some(longer) = teams.and_then(PassedTeams::longer_ticks) {
                self.costs
                    .insert(index, longer.saturating_mul(timed[EXIT].count));
            }
        }
    }

    fn settle_member(&mut self, fork: usize, number: u32, roots: &[usize]) {
        let (mut instances, mut joins, mut latest) = (0, 0_u64, 0_u64);
        for team in self.teams(fork).filter(|team| team.size > number) {
            instances += team.instances;
            joins = joins.wrapping_add(team.joins);
            latest = latest.wrapping_add(team.ends);
        }
        // The negated sum of the times at which the member's part ended.
        let mut ended = Total::default();
        for root in roots {
            let ends = self.totals(*root)[EXIT];
            self.additions.entry(*root).or_default()[EXIT].join(ends.negated());
            ended.join(ends);
        }
        let count = ended.count;
        self.unpaired += u64::from(instances != count);
        let Some(first) = roots.first() else { return };
        let is_hidden = self.nodes[fork].region().is_some_and(Region::hides_barrier);
        let additions = self.additions.entry(*first).or_default();
        let mut add = |part: usize, count: u64, from: u64, to: u64| {
            let ticks = match instances == ended.count {
                true => not_negative(from.wrapping_add(to)),
                false => 0,
            };
            additions[part].join(Total { count, ticks });
        };
        if is_hidden {
            // The members that waited are counted already.
            add(IBARR, 0, ended.ticks, latest);
            add(EXIT, count, latest.wrapping_neg(), joins);
        } else {
            add(EXIT, count, ended.ticks, joins);
        }
    }
}

/// The share of `something` that `part` has in `all`; all of `something` if `all` is 0.
pub(super) fn part_of(something: u64, part: u64, all: u64) -> u64 {
    let of_all = u128::from(something) * u128::from(part);
    let result = of_all.checked_div(u128::from(all));
    result.map_or(something, |part| u64::try_from(part).unwrap_or(u64::MAX))
}

/// Clocks of different processors can differ by a tick or two.
fn since(start: u64, at: u64) -> u64 {
    not_negative(at.wrapping_sub(start))
}

fn not_negative(ticks: u64) -> u64 {
    if i64::try_from(ticks).is_ok() {
        ticks
    } else {
        0
    }
}
