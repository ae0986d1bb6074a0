//! The records of what a thread measures: regions, the nodes of call paths, teams, and the frames
//! of a stack. The records refer to each other, so their structs stand together here; the methods
//! of a record are in the file with its name. No record is ever freed.

pub(crate) mod distribution;
pub(crate) mod frame;
pub(crate) mod node;
pub(crate) mod region;
pub(crate) mod team;
pub(crate) mod team_sizes;
pub(crate) mod waits;

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32};

use profile::descriptor::Descriptor;
use profile::region_kind::{PseudoRegion, RegionKind};

use self::distribution::Instances;
use self::team_sizes::TeamSizes;
use self::waits::NodeWaits;
use super::collector_counts::Occupants;
use super::counters;
use super::node_sample::Sample;
use super::shared::{SharedRef, SharedU64};
use super::shared_loop::Current;
use super::slots::{Arrival, Slot, Slots};
use super::span::Span;
use super::timed_work::TimedWork;

/// A registered region.
#[derive(Debug)]
pub(crate) struct Region {
    pub(crate) descriptor: Descriptor,
    pub(crate) kind: RegionKind,
    /// Its number among all regions, from 0.
    pub(crate) number: u32,
    /// Whether its group was switched off: its events are not measured.
    pub(crate) off: bool,
    /// The threads that fork teams of this region, for event sources that have no handle to pass
    /// from fork to begin.
    pub(super) forkers: ForkingThreads,
    /// Of a critical section: the number of its name, which all sections of the name share; 0 of
    /// other regions.
    pub(crate) guard: usize,
    /// Of a critical section whose name an earlier one has: the first of that name.
    namesake: SharedRef<Region>,
    /// How many threads are in it, while a collector wants to know.
    occupants: Occupants,
    /// The region of the sections in it, of the section behind it, or of its executions if it is a
    /// task, for sources that give them none.
    part: SharedRef<Region>,
    /// Whether the barrier at its end was reported: by an event of a member, or by the runtime for
    /// a construct that could not be split.
    reports_barrier: AtomicBool,
    /// Whether anything else happened in an instance that was passed over: of a parallel region, in a
    /// member's part.
    holds_others: AtomicBool,
    /// For a construct that a whole team executes: the length of a window, in instances. One
    /// instance of each window is timed. 0 if all instances are timed.
    window: AtomicU32,
    /// Of a loop: whether its source lets it be counted in a part that is passed over.
    is_counted_in_part: AtomicBool,
    /// Of what a whole team executes: whether its source asks if an instance is passed over.
    is_asked_about: AtomicBool,
    /// Whether the program counts instances of it itself.
    is_lent: AtomicBool,
    /// Whether instances of it may be passed over somewhere.
    is_sampled: AtomicBool,
    /// Whether instances of it are timed by the coarse clock somewhere.
    has_coarse_times: AtomicBool,
}

/// A node of the call-path tree. The owner writes; others read at the end.
#[derive(Debug, Default)]
pub(crate) struct Node {
    region: SharedRef<Region>,
    /// The parent; of a member root, the fork node.
    parent: SharedRef<Node>,
    /// The child that was used last; it leads into the ring of children.
    pub(super) last_child: SharedRef<Node>,
    /// The next child of the same parent, in a ring.
    next: SharedRef<Node>,
    /// A `PseudoRegion`, `MEMBER` or `INITIAL`.
    within: AtomicU8,
    number: AtomicU32,
    /// If this node is the root of a traced thread: the number of the thread's path, plus one.
    pub(crate) path: SharedU64,
    /// How many of the regions on its path are entered within themselves.
    repeats: AtomicU8,
    /// Whether entering it needs more than opening a frame.
    is_special: AtomicBool,
    /// If the recursion that is entered here goes on at a node above: that node.
    recursion: SharedRef<Node>,
    /// Of a fork node: its team sizes.
    pub(crate) teams: TeamSizes,
    /// The record of waits, which only some nodes have.
    waits: SharedRef<NodeWaits>,
    /// Of a fork node, if members of its teams may be passed over.
    pub(crate) passed_teams: SharedRef<PassedTeams>,
    /// The sample, if only some of its instances are timed.
    sample: SharedRef<Sample>,
    /// If the times of its instances are taken from the coarse clock: what there was before.
    coarse: SharedRef<CoarseTimes>,
    /// The values of the counters in its instances, if there are counters.
    pub(crate) counters: SharedRef<counters::Values>,
    /// Of a loop: requests for the next chunk, with their time; both estimated.
    pub(crate) chunk_requests: Span,
    /// Of a loop: the work in those of its chunks where it was timed.
    pub(crate) chunk_work: TimedWork,
    /// The work in each chunk of several that were handed out together.
    pub(crate) joined_work: TimedWork,
    /// How often the thread combined its part of a reduction, with the time for that.
    pub(crate) reduction: Span,
    spans: [Span; PseudoRegion::COUNT],
    /// The distribution of the times of `main`; of a fork node, that of `seq`.
    pub(crate) instances: Instances,
}

/// Of a node whose instances are timed by the coarse clock: the instances that were timed by the
/// clock itself before, and the later ones that were long.
#[derive(Debug, Default)]
pub(crate) struct CoarseTimes {
    pub(crate) before: Span,
    pub(crate) long: Span,
}

/// The record of a fork node whose teams may be passed over.
#[derive(Debug, Default)]
pub(crate) struct PassedTeams {
    /// How many teams are still to be passed over, and how many were since the last timed one.
    pub(super) left: AtomicU32,
    pub(super) since: SharedU64,
    /// How many teams were timed, and the time of the last such join.
    pub(super) timed: SharedU64,
    pub(super) last: SharedU64,
    /// The teams that had been passed over at that join.
    pub(super) passed: Span,
    /// How many timed teams were compared with those that were passed over just before them, and how many ticks
    /// longer they took in all. The sum can be negative.
    pub(super) compared: SharedU64,
    pub(super) longer: SharedU64,
    /// How many teams whose members may be passed over the thread had forked at that join.
    pub(super) forked: SharedU64,
    /// The latest team that was passed over.
    pub(super) team: SharedRef<Team>,
}

/// One instance of a parallel region, from fork to join. Reused by the next
/// fork at the same depth of the same thread. Two cache lines wide, since
/// processors fetch lines in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Team {
    /// The fork frame.
    pub(super) frame: SharedRef<Frame>,
    /// The node of the fork frame. It is kept here so that members need not read the frame: the
    /// thread that forked goes on writing to the frame and to the memory beside it.
    pub(super) node: SharedRef<Node>,
    /// The block of the thread that forked, by its address.
    pub(super) thread: SharedU64,
    /// Time of the fork.
    pub(super) fork: SharedU64,
    /// Its label in the trace, 0 if there is none.
    pub(super) label: SharedU64,
    /// The initial thread that it descends from.
    pub(super) initial: SharedU64,
    /// The number of instances for which this one stands; 0 if no instance of the region is passed
    /// over.
    pub(super) weight: SharedU64,
    /// Whether its members are passed over.
    is_passed: AtomicBool,
    /// The id of the instance: the number of this record in the upper bits, and
    /// how often it was used.
    pub(super) instance: SharedU64,
    /// The record of the forking thread, by which the members find this one if they get no handle.
    pub(super) forker: SharedRef<ForkingThread>,
    /// Where the members record their arrivals at barriers.
    pub(super) slots: Slots,
}

/// Where a thread stands in the tree of teams that an initial thread has forked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TeamPath {
    level: u32,
    /// A hash of the member numbers on the way. Each step is reversible, so only long ways can
    /// collide, with a probability of one in 2^64.
    way: u64,
}

/// The threads that have forked teams of a region. The list grows at the front only.
#[derive(Debug)]
pub(super) struct ForkingThreads(pub(super) SharedRef<ForkingThread>);

/// A thread that has forked teams of a region: the one at a place below an initial thread.
#[derive(Debug)]
pub(super) struct ForkingThread {
    pub(super) place: TeamPath,
    pub(super) initial: u64,
    pub(super) next: SharedRef<ForkingThread>,
    pub(super) open: Open,
}

/// The team that is open. It is on cache lines of its own, since it changes with each fork while
/// other threads search the list.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct Open {
    pub(super) team: SharedRef<Team>,
    /// The node of its fork, if its members are passed over.
    pub(super) passed: SharedRef<Node>,
}

/// One instance of a region that is open.
#[derive(Debug, Default)]
pub(crate) struct Frame {
    below: SharedRef<Frame>,
    above: SharedRef<Frame>,
    node: SharedRef<Node>,
    pub(super) start: SharedU64,
    pub(super) phase_start: SharedU64,
    phase: AtomicU8,
    role: AtomicU8,
    pub(super) untimed: Untimed,
    /// Of a construct deep in a recursion: the node at which it was entered.
    pub(super) entry: SharedRef<Node>,
    /// Of a member frame: where it records its arrivals at barriers, and the number of the next
    /// barrier. The numbers begin at the time of the fork, so that the next team has others.
    pub(super) slot: SharedRef<Slot>,
    pub(super) barriers: SharedU64,
    pub(super) team_size: AtomicU32,
    /// Of a fork frame: what its team has added to the counts that all threads share.
    pub(super) added: Added,
    /// Of a fork or member frame: the id of this instance of the parallel region.
    pub(super) instance: SharedU64,
    /// Of a member frame that is traced: when its team was released.
    pub(super) release: Arrival,
    /// Of a member frame: its team.
    pub(super) member_of: SharedRef<Team>,
    /// Of a function or a task's execution: where the machine's stack was.
    pub(super) stack: SharedU64,
    /// Of a member frame: for how many instances this one stands, as `Team::weight`; and whether
    /// the member is passed over, so that it has a frame only because something else happens in it.
    pub(super) weight: SharedU64,
    pub(super) is_counted: AtomicBool,
    /// Of a member frame: how many loops were traced in it.
    pub(super) loops: SharedU64,
    /// Of a frame that is no construct: the loop in it whose chunks the runtime hands out.
    #[cfg_attr(test, allow(dead_code, reason = "its users are not built"))]
    pub(super) handed_out: SharedRef<Current>,
    /// Of a team or a task that is traced: its label.
    pub(crate) label: SharedU64,
    /// Of a function: the address at which its caller goes on.
    pub(super) call_site: SharedU64,
    /// The values of the counters in it, if there are counters.
    pub(super) counters: SharedRef<counters::Counting>,
    /// The team that is forked when a fork frame is at this depth.
    pub(super) team: SharedRef<Team>,
}

/// The construct of a frame that is not timed.
#[derive(Debug, Default)]
pub(super) struct Untimed {
    pub(super) region: SharedRef<Region>,
    /// The node at which it is counted, if it is.
    pub(super) counted: SharedRef<Node>,
    phase: AtomicU8,
}

/// The amounts that a fork frame has added to the counts that all threads share (`active`).
#[derive(Debug, Default)]
pub(super) struct Added {
    pub(super) threads: AtomicU32,
    pub(super) is_open: AtomicBool,
    pub(super) is_nested: AtomicBool,
}
