//! Counts and times of a trace, per thread and region, as the profile of the
//! same run has them.
//!
//! Both use the same readings of the clock. Counts are equal. The profile turns ticks into
//! nanoseconds for each call path, and the trace for each region and thread. So times may differ
//! by a nanosecond for each row of the profile that is summed up.

use std::collections::{BTreeMap, BTreeSet};

use profile::descriptor::Descriptor;
use profile::model::Profile;
use profile::region_kind::{PseudoRegion, RegionKind};

use crate::layout::Meaning;
pub use crate::naming::{name, short_name};
use crate::read::{ReadError, Trace, printable};
use crate::record::Op;
use crate::recursion::Recursion;
use crate::replay::{Event, Listener, LockEvent, Open, Role, path, replay_closed};

/// Count and ticks, wrapping while sums are not complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// How often.
    pub count: u64,
    /// How long, in ticks.
    pub ticks: u64,
}

impl Span {
    fn add(&mut self, ticks: u64) {
        self.count = self.count.wrapping_add(1);
        self.ticks = self.ticks.wrapping_add(ticks);
    }
}

/// One span per pseudo-region.
pub type Spans = [Span; PseudoRegion::COUNT];

/// A thread, by the number of its path, and a region.
type PathOf = (Option<u32>, u32);

/// The counts and times of a trace.
#[derive(Debug, Default)]
pub struct Stats {
    /// Per thread (by the number of its path) and region.
    pub spans: BTreeMap<PathOf, Spans>,
    /// Events in all.
    pub events: u64,
    /// Loop instances, chunks and iterations.
    pub chunks: u64,
    /// Events that are missing.
    pub missing: u64,
    /// Regions that were not left by their own exit.
    pub cut: u64,
    /// Joins by forking thread and region: size and time.
    joins: BTreeMap<PathOf, BTreeMap<u64, Span>>,
    /// Times that the stream being read holds twice.
    recursion: Recursion,
    /// Locks that the stream being read holds, by address.
    held: BTreeMap<u64, (u64, u64)>,
}

/// Adds a trace up.
///
/// # Errors
/// If it cannot be read.
pub fn stats(trace: &Trace) -> Result<Stats, ReadError> {
    let mut stats = Stats::default();
    for stream in trace.streams() {
        stats.held.clear();
        stats.recursion.clear();
        replay_closed(trace, stream, &mut stats)?;
    }
    stats.settle(trace);
    Ok(stats)
}

impl Listener for Stats {
    fn event(&mut self, time: u64, open: &[Open], event: &Event) {
        self.events += 1;
        if let Event::Missing(missing) = event {
            self.missing = self.missing.saturating_add(*missing);
        }
        let Some(top) = open.last() else { return };
        match event {
            Event::Begin { fork: Some(fork) } if top.phase != PseudoRegion::Enter => {
                self.add(
                    open,
                    top.region,
                    PseudoRegion::Enter,
                    time.wrapping_sub(*fork),
                );
            }
            Event::SwitchPhase(_) => self.end_phase(open, top, time),
            Event::End {
                is_cut,
                is_again,
                size,
            } => {
                self.cut += u64::from(*is_cut);
                self.settle_recursion(open, *is_again, time.wrapping_sub(top.start));
                self.end_phase(open, top, time);
                self.end(open, top, time, *size);
            }
            Event::Lock(lock) => self.lock(time, open, lock),
            Event::Chunk(_) => self.chunks += 1,
            _ => {}
        }
    }
}

impl Stats {
    fn add(&mut self, open: &[Open], region: u32, part: PseudoRegion, ticks: u64) {
        let spans = self.spans.entry((path(open), region)).or_default();
        spans[part as usize].add(ticks);
    }

    /// Subtracts the time that the profile subtracts for regions deep in a recursion.
    fn settle_recursion(&mut self, open: &[Open], is_again: bool, ticks: u64) {
        let thread = path(open);
        let spans = &mut self.spans;
        self.recursion
            .end(open, is_again, ticks, &mut |frame, ticks| {
                let spans = spans.entry((thread, frame.region)).or_default();
                let has_phase = frame.phase != PseudoRegion::Main;
                let parts = [PseudoRegion::Main, frame.phase];
                for part in parts.into_iter().take(1 + usize::from(has_phase)) {
                    let span = &mut spans[part as usize];
                    span.ticks = span.ticks.wrapping_sub(ticks);
                }
            });
    }

    fn end_phase(&mut self, open: &[Open], top: &Open, time: u64) {
        if top.phase != PseudoRegion::Main {
            self.add(
                open,
                top.region,
                top.phase,
                time.wrapping_sub(top.phase_start),
            );
        }
    }

    fn end(&mut self, open: &[Open], top: &Open, time: u64, size: u64) {
        match top.role {
            Role::Base => {}
            Role::Construct => {
                self.add(
                    open,
                    top.region,
                    PseudoRegion::Main,
                    time.wrapping_sub(top.start),
                );
            }
            // The join will be added when all streams are read.
            Role::Member => {
                self.add(open, top.region, PseudoRegion::Exit, time.wrapping_neg());
            }
            Role::Fork => {
                let joins = self.joins.entry((path(open), top.region)).or_default();
                joins.entry(size).or_default().add(time);
            }
        }
    }

    fn lock(&mut self, time: u64, open: &[Open], lock: &LockEvent) {
        let since = |start: u64| time.wrapping_sub(start);
        let region = lock.region;
        match lock.op {
            Op::LockSet => {
                self.add(open, region, PseudoRegion::Enter, since(lock.start));
                self.held.insert(lock.address, (lock.start, time));
            }
            Op::LockRefused | Op::LockNested => {
                self.add(open, region, PseudoRegion::Enter, since(lock.start));
                self.add(open, region, PseudoRegion::Main, since(lock.start));
            }
            Op::LockCalled => self.add(open, region, PseudoRegion::Main, since(lock.start)),
            Op::LockUnset => {
                if let Some((start, acquired)) = self.held.get(&lock.address).copied() {
                    self.add(open, region, PseudoRegion::Body, since(acquired));
                    self.held.insert(lock.address, (start, time));
                }
            }
            Op::LockFree => {
                if let Some((start, unset)) = self.held.remove(&lock.address) {
                    if !lock.is_cut {
                        self.add(open, region, PseudoRegion::Exit, since(unset));
                    }
                    self.add(open, region, PseudoRegion::Main, since(start));
                }
            }
            _ => {}
        }
    }

    /// Adds the joins to the ends of the members, and sums up the parts of a member.
    fn settle(&mut self, trace: &Trace) {
        let joins = std::mem::take(&mut self.joins);
        let joins: BTreeMap<PathOf, Joins> = joins
            .into_iter()
            .map(|(place, by_size)| (place, Joins::new(&by_size)))
            .collect();
        for ((thread, region), spans) in &mut self.spans {
            let Some((fork, member)) = thread.and_then(|thread| trace.forked_by(thread)) else {
                continue;
            };
            let is_member = spans[PseudoRegion::Main as usize] == Span::default()
                && trace
                    .region(*region)
                    .is_some_and(|region| RegionKind::nearest(&region.region_type).is_parallel());
            let joins = joins.get(&(fork, *region)).filter(|_| is_member);
            let exit = &mut spans[PseudoRegion::Exit as usize];
            if let Some(joins) = joins {
                exit.ticks = exit.ticks.wrapping_add(joins.of(member));
            }
            if exit.ticks.cast_signed() < 0 {
                exit.ticks = 0;
            }
        }
        for spans in self.spans.values_mut() {
            sum_up_member(spans);
        }
    }
}

/// The ends of the teams that a thread forked for a region. For each size, from the largest down:
/// the sum of the times of teams of this size and of larger ones.
struct Joins(Vec<(u64, u64)>);

impl Joins {
    fn new(by_size: &BTreeMap<u64, Span>) -> Self {
        let mut sum = 0u64;
        let from_the_largest = by_size.iter().rev();
        let sums = from_the_largest.map(|(size, join)| {
            sum = sum.wrapping_add(join.ticks);
            (*size, sum)
        });
        Self(sums.collect())
    }

    /// The sum of the times of all teams that had this member.
    fn of(&self, member: u32) -> u64 {
        let larger = self
            .0
            .partition_point(|(size, _)| *size > u64::from(member));
        let last = larger.checked_sub(1).and_then(|last| self.0.get(last));
        last.map_or(0, |(_, sum)| *sum)
    }
}

/// A member's whole time is that of its parts.
fn sum_up_member(spans: &mut Spans) {
    use PseudoRegion::{Body, Enter, Exit, Ibarr, Main};
    let exit = spans[Exit as usize];
    if spans[Main as usize] == Span::default() && exit.count > 0 {
        let parts = [Enter, Body, Ibarr, Exit].map(|part| spans[part as usize].ticks);
        spans[Main as usize] = Span {
            count: exit.count,
            ticks: parts.iter().fold(0, |sum, ticks| sum.wrapping_add(*ticks)),
        };
    }
}

/// A difference between a trace and a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Thread, region and pseudo-region.
    pub place: String,
    /// Count and nanoseconds in the trace.
    pub traced: (u64, u64),
    /// Count and nanoseconds in the profile.
    pub profiled: (u64, u64),
}

/// By thread and region, as trace and profile name them: count, nanoseconds and rows of each
/// pseudo-region.
type Named = BTreeMap<(String, String), [(u64, u64, u64); PseudoRegion::COUNT]>;

/// By how many nanoseconds a time in an incomplete trace and in the profile may differ. For each of
/// the two the clock's rate was found at another moment, from readings of the system's clock that are
/// right to a fraction of a microsecond.
const RATE_ERROR_NS: u64 = 1_000;

/// Where a trace and the profile of the same run differ; empty if nowhere.
#[must_use]
pub fn differences(trace: &Trace, stats: &Stats, profile: &Profile) -> Vec<Difference> {
    let traced = named_of_trace(trace, stats);
    let profiled = named_of_profile(profile);
    let places: BTreeSet<_> = traced.keys().chain(profiled.keys()).collect();
    let nothing = [(0, 0, 0); PseudoRegion::COUNT];
    let rate_error = match trace.header.is_complete {
        true => 0,
        false => RATE_ERROR_NS,
    };
    let mut differences = Vec::new();
    for place in places {
        let one = traced.get(place).unwrap_or(&nothing);
        let other = profiled.get(place).unwrap_or(&nothing);
        for (part, (one, other)) in PseudoRegion::ALL.iter().zip(one.iter().zip(other)) {
            // A member's whole is summed up from up to four rounded parts.
            let most = 4 * (one.2 + other.2) + 4 + rate_error;
            if one.0 != other.0 || one.1.abs_diff(other.1) > most {
                differences.push(Difference {
                    place: format!("{} {} {part:?}", place.0, place.1),
                    traced: (one.0, one.1),
                    profiled: (other.0, other.1),
                });
            }
        }
    }
    differences
}

fn named_of_trace(trace: &Trace, stats: &Stats) -> Named {
    let scale = trace.scale();
    let mut named = Named::new();
    let itself = stats.spans.keys().map(|(_, region)| *region);
    let itself: BTreeSet<String> = itself
        .filter(|region| trace.meaning(*region) == Meaning::Itself)
        .filter_map(|region| trace.region(region).map(name))
        .collect();
    let has_own = |region| {
        let region = trace.region(region);
        region.is_some_and(|region| itself.contains(&name(region)))
    };
    for ((thread, region), spans) in &stats.spans {
        // The barrier at the end of a construct is counted with the construct, once.
        let is_counted = trace.meaning(*region) != Meaning::Barrier || !has_own(*region);
        let region = trace.region(*region).map_or_else(String::new, name);
        let sums = named.entry((trace.thread(*thread), region)).or_default();
        for ((sum, span), part) in sums.iter_mut().zip(spans).zip(PseudoRegion::ALL) {
            let ns = scale.to_ns(span.ticks);
            let is_counted = is_counted || part != PseudoRegion::Main;
            sum_up(sum, if is_counted { span.count } else { 0 }, ns);
        }
    }
    named
}

/// Adds numbers that can have any value.
fn sum_up(sum: &mut (u64, u64, u64), count: u64, ns: u64) {
    let (known, spent, rows) = *sum;
    *sum = (
        known.wrapping_add(count),
        spent.saturating_add(ns),
        rows + 1,
    );
}

fn named_of_profile(profile: &Profile) -> Named {
    let mut named = Named::new();
    for node in &profile.nodes {
        let region = printable(name(&Descriptor::from(&profile.regions[node.region])));
        for row in &node.rows {
            let thread = profile.threads[row.thread].to_string();
            let sums = named.entry((thread, region.clone())).or_default();
            for (sum, part) in sums.iter_mut().zip(PseudoRegion::ALL) {
                let span = row.span(part);
                sum_up(sum, span.count, span.ns);
            }
        }
    }
    named
}
