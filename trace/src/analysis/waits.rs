//! Which thread the others waited for: the last one at each barrier, and the holder of a
//! critical section or lock.

use std::collections::{BTreeMap, HashMap, VecDeque};

use profile::region_kind::{PseudoRegion, RegionKind};

use super::kinds;
use super::times::Times;
use crate::read::{ReadError, Trace};
use crate::record::Op;
use crate::replay::{Event, Listener, LockEvent, Open, Role, path, replay_merged};

/// A thread that took more ticks than this to get a critical section or a lock has waited for it.
/// That is several times what an undisputed lock takes, and less than the wake-up of a thread. The
/// library's profile uses the same limit.
pub const WAITED: u64 = 512;

/// A thread, by the number of its path.
pub type Thread = Option<u32>;

/// A barrier in the source.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Barrier {
    /// The time that its threads waited for the last of them, each time that a team met it.
    pub waits: Times,
    /// Per thread: the time that the others waited for it, each time that it was the last.
    pub last: BTreeMap<Thread, Times>,
    /// The instance with the longest wait: the wait, when the last thread came, and
    /// which it was. Ticks.
    pub worst: (u64, u64, Thread),
}

/// A thread that waits or holds, and the region where it does.
pub type Where = (Thread, u32);

/// A critical section or lock, which one thread at a time has.
///
/// A thread waited if it took more than [`WAITED`] to get it, and another thread had it meanwhile.
/// Its wait, from asking to getting, counts for the thread that had it when it was asked for, or
/// else for the thread that had it longest meanwhile. A profile counts in the same way, among the
/// eight latest holds of each thread: it misses a wait if the holder has held something eight times
/// more before the thread that waited has released what it got.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Resource {
    /// The waits of all threads.
    pub waits: Times,
    /// The same by the waiting thread and the thread that had it.
    pub pairs: BTreeMap<(Where, Where), Times>,
}

/// The name of a critical section or lock.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Name {
    /// A critical's name, empty without one.
    Critical(String),
    /// A lock's address.
    Lock(u64),
}

/// The waits of threads.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Waits {
    /// Barriers by their region, and whether they are its implicit one.
    pub barriers: BTreeMap<(u32, bool), Barrier>,
    /// Criticals and locks.
    pub resources: BTreeMap<Name, Resource>,
}

/// Finds the waits of threads in a whole trace.
///
/// # Errors
/// If it cannot be read.
pub fn waits(trace: &Trace) -> Result<Waits, ReadError> {
    let mut watcher = watcher(trace);
    replay_merged(trace, &mut watcher)?;
    Ok(watcher.waits)
}

fn watcher(trace: &Trace) -> Watcher<'_> {
    Watcher {
        trace,
        kinds: kinds(trace),
        waits: Waits::default(),
        teams: HashMap::new(),
        holders: HashMap::new(),
        handovers: Vec::new(),
        most_handovers: 0,
        is_cut: false,
    }
}

/// A thread waited for a critical or a lock, and got it from the one that gave it back.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Handover {
    /// The lock or critical section that was handed over.
    pub name: Name,
    /// The thread that gave it back, and when, in ticks.
    pub from: (Thread, u64),
    /// The thread that got it, and when, in ticks.
    pub to: (Thread, u64),
    /// When that thread asked for it, in ticks.
    pub asked: u64,
}

/// All hand-overs of criticals and locks in the order of time; none if there are more than
/// `most`.
///
/// # Errors
/// If the trace cannot be read.
pub fn handovers(trace: &Trace, most: usize) -> Result<Option<Vec<Handover>>, ReadError> {
    let mut watcher = watcher(trace);
    watcher.most_handovers = most;
    replay_merged(trace, &mut watcher)?;
    Ok((!watcher.is_cut).then_some(watcher.handovers))
}

/// How far the threads of a team have come.
#[derive(Default)]
struct Team {
    /// How many barriers each has come to.
    passed: HashMap<Thread, u64>,
    /// The barriers that none has left yet, by their number.
    open: BTreeMap<u64, Arrivals>,
}

/// The threads that have come to a barrier.
#[derive(Default)]
struct Arrivals {
    count: u64,
    /// Sum of the times, and the latest.
    sum: u128,
    last: u64,
    thread: Thread,
    /// For the barrier at the end of a team: the team's region. None for other barriers.
    ends: Option<u32>,
}

/// The threads that had a critical section or lock, and when, the latest last. Earlier spans can
/// matter only to a thread that waited while this many others had it.
#[derive(Default)]
struct Holders {
    spans: VecDeque<(Where, u64, u64)>,
}

/// The number of spans that are remembered of each.
const REMEMBERED: usize = 1024;
/// Not given back yet.
const STILL: u64 = u64::MAX;

impl Holders {
    /// The thread, other than this one, that had it when it was asked for, or else longest from
    /// then on.
    fn holder(&self, thread: Thread, asked: u64, got: u64) -> Option<Where> {
        let ended = self.spans.iter().rev().filter(|span| span.2 != STILL);
        let meanwhile = ended.take_while(|(_, _, to)| *to > asked);
        let others = meanwhile.filter(|(holder, ..)| holder.0 != thread);
        let overlaps = others.filter_map(|(holder, from, to)| {
            let overlap = got.min(*to).checked_sub(asked.max(*from))?;
            let rank = if *from <= asked { u64::MAX } else { overlap };
            (overlap > 0).then_some((rank, *holder))
        });
        let (_, holder) = overlaps.max_by_key(|(rank, _)| *rank)?;
        Some(holder)
    }
}

struct Watcher<'a> {
    trace: &'a Trace,
    kinds: Vec<Option<RegionKind>>,
    waits: Waits,
    teams: HashMap<u64, Team>,
    holders: HashMap<Name, Holders>,
    handovers: Vec<Handover>,
    most_handovers: usize,
    /// Whether there were more hand-overs than `most_handovers`.
    is_cut: bool,
}

impl Watcher<'_> {
    fn kind(&self, region: u32) -> Option<RegionKind> {
        self.kinds.get(region as usize).copied().flatten()
    }

    /// Whether the barrier is implicit, if a thread in this phase of this region is at a barrier.
    fn barrier(&self, open: &Open) -> Option<bool> {
        let is_implicit = open.phase == PseudoRegion::Ibarr;
        match self.kind(open.region)? {
            RegionKind::Barrier => Some(false),
            // A taskgroup waits for tasks, not for threads.
            RegionKind::Taskgroup => None,
            _ => is_implicit.then_some(true),
        }
    }

    fn arrives(&mut self, time: u64, open: &[Open]) {
        let (Some(team), Some(top)) = (team(open), open.last()) else {
            return;
        };
        let ends = (top.role == Role::Member).then_some(top.region);
        let thread = path(open);
        let team = self.teams.entry(team).or_default();
        let passed = team.passed.entry(thread).or_default();
        let arrivals = team.open.entry(*passed).or_default();
        *passed += 1;
        arrivals.count += 1;
        arrivals.ends = ends;
        arrivals.sum += u128::from(time);
        if time >= arrivals.last {
            (arrivals.last, arrivals.thread) = (time, thread);
        }
    }

    /// The first thread leaves a barrier: all have come then.
    fn leaves(&mut self, open: &[Open], top: &Open, is_implicit: bool) {
        let Some(team) = team(open).and_then(|team| self.teams.get_mut(&team)) else {
            return;
        };
        let passed = team.passed.get(&path(open)).copied().unwrap_or_default();
        if let Some(arrivals) = team.open.remove(&passed.wrapping_sub(1)) {
            self.over(&arrivals, (top.region, is_implicit));
        }
    }

    /// A team is joined: all of its members had come to its end, if they were there.
    fn joins(&mut self, label: u64, region: u32, size: u64) {
        let Some(team) = self.teams.remove(&label) else {
            return;
        };
        let all = |arrivals: &&Arrivals| arrivals.ends == Some(region) && arrivals.count == size;
        for arrivals in team.open.values().filter(all) {
            self.over(arrivals, (region, true));
        }
    }

    /// A barrier is over.
    fn over(&mut self, arrivals: &Arrivals, place: (u32, bool)) {
        // Nobody waits in a team of one.
        if arrivals.count < 2 {
            return;
        }
        let all = u128::from(arrivals.last) * u128::from(arrivals.count);
        let waited = u64::try_from(all.saturating_sub(arrivals.sum)).unwrap_or(u64::MAX);
        let barriers = &mut self.waits.barriers;
        let barrier = barriers.entry(place).or_default();
        barrier.waits.add(waited);
        barrier.last.entry(arrivals.thread).or_default().add(waited);
        if waited > barrier.worst.0 {
            barrier.worst = (waited, arrivals.last, arrivals.thread);
        }
    }

    fn critical(&self, open: &Open) -> Option<Name> {
        let is_critical = self.kind(open.region) == Some(RegionKind::Critical);
        let name = || self.trace.region(open.region)?.name.clone();
        is_critical.then(|| Name::Critical(name().unwrap_or_default()))
    }

    /// The thread has asked for it at `start`, and has it now.
    fn gets(&mut self, name: Name, who: Where, start: u64, time: u64) {
        let waited = time.saturating_sub(start);
        let holders = self.holders.entry(name.clone()).or_default();
        if waited > WAITED
            && let Some((from, _, given)) = holders.spans.back()
            && from.0 != who.0
            && (start..=time).contains(given)
        {
            match self.handovers.len() < self.most_handovers {
                true => self.handovers.push(Handover {
                    name: name.clone(),
                    from: (from.0, *given),
                    to: (who.0, time),
                    asked: start,
                }),
                false => self.is_cut = true,
            }
        }
        if waited > WAITED
            && let Some(holder) = holders.holder(who.0, start, time)
        {
            let resource = self.waits.resources.entry(name).or_default();
            resource.waits.add(waited);
            resource.pairs.entry((who, holder)).or_default().add(waited);
        }
        holders.spans.push_back((who, time, STILL));
        if holders.spans.len() > REMEMBERED {
            holders.spans.pop_front();
        }
    }

    fn gives_back(&mut self, name: &Name, thread: Thread, time: u64) {
        let Some(holders) = self.holders.get_mut(name) else {
            return;
        };
        let mut latest = holders.spans.iter_mut().rev();
        if let Some(span) = latest.find(|span| span.0.0 == thread && span.2 == STILL) {
            span.2 = time;
        }
    }

    fn lock(&mut self, time: u64, open: &[Open], lock: &LockEvent) {
        let who = (path(open), lock.region);
        match lock.op {
            Op::LockSet => self.gets(Name::Lock(lock.address), who, lock.start, time),
            Op::LockUnset => self.gives_back(&Name::Lock(lock.address), who.0, time),
            _ => {}
        }
    }

    /// The innermost region begins or goes on in this phase.
    fn comes_to(&mut self, time: u64, open: &[Open], phase: PseudoRegion) {
        let Some(top) = open.last().map(|top| Open { phase, ..*top }) else {
            return;
        };
        if self.barrier(&top).is_some() {
            self.arrives(time, open);
        }
        if phase == PseudoRegion::Body
            && let Some(name) = self.critical(&top)
        {
            let start = open.last().map_or(time, |before| before.phase_start);
            self.gets(name, (path(open), top.region), start, time);
        }
    }

    /// The innermost region leaves its phase.
    fn goes_from(&mut self, time: u64, open: &[Open]) {
        let Some(top) = open.last().copied() else {
            return;
        };
        if let Some(is_implicit) = self.barrier(&top) {
            self.leaves(open, &top, is_implicit);
        }
        if top.phase == PseudoRegion::Body
            && let Some(name) = self.critical(&top)
        {
            self.gives_back(&name, path(open), time);
        }
    }
}

/// The label of the team that a thread is a member of.
fn team(open: &[Open]) -> Option<u64> {
    let member = open.iter().rev().find(|open| open.role == Role::Member)?;
    Some(member.label)
}

impl Listener for Watcher<'_> {
    fn event(&mut self, time: u64, open: &[Open], event: &Event) {
        let Some(top) = open.last() else { return };
        match event {
            Event::Begin { .. } => self.comes_to(time, open, top.phase),
            Event::SwitchPhase(to) => {
                self.goes_from(time, open);
                self.comes_to(time, open, *to);
            }
            // It ends at the moment at which the last one comes.
            Event::End { .. } if top.role == Role::Member => {}
            Event::End { size, .. } => {
                self.goes_from(time, open);
                if top.role == Role::Fork {
                    self.joins(top.label, top.region, *size);
                }
            }
            Event::Lock(lock) => self.lock(time, open, lock),
            _ => {}
        }
    }
}
