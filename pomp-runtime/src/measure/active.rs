//! How many threads were in teams at once, and for how long any team was open.
//!
//! Most programs have one initial thread, and teams that do not nest. Then both
//! follow from the sizes and times of its teams, and nothing is written here.
//! Else:
//! - A **nested** team of more than one thread adds its members, except the one that forked it, for
//!   as long as it lasts. Together with the size of the outermost team, which the runtime knows,
//!   that is the number of threads at the moment.
//! - From the **second initial thread** on, outermost teams are counted too. The time during which
//!   any is open begins when their number leaves zero, and ends when it comes back to zero. The
//!   earlier teams of the first initial thread are added when the second one begins, while every
//!   thread stands still, so that they cost nothing before.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use super::arrival::member_frame;
use super::gaps::{Gap, Gaps};
use super::records::Frame;
use super::records::Region;
use super::records::frame::Role;
use super::thread::Thread;
use super::{omp, pause, quiesce, thread};
use crate::measure::records::Node;

/// The counts that all threads share.
#[derive(Debug)]
struct Shared {
    counts: Counts,
    /// Whether there has been more than one initial thread. Hardly ever written.
    are_several: AtomicBool,
    /// How many initial threads there have been.
    initial_threads: AtomicU32,
    gaps: Gaps,
}

/// The counts that are written by threads that fork teams beside each other.
#[derive(Debug)]
#[repr(align(128))]
struct Counts {
    /// Threads that nested teams have added, and from the second initial thread on also those of
    /// outermost teams.
    threads: AtomicU32,
    /// The largest number of threads at once.
    most: AtomicU32,
    /// Outermost teams that are open.
    open: AtomicU32,
    /// Ticks during which any was open: the end of each such time less its begin, wrapping.
    covered: AtomicU64,
}

impl Shared {
    const fn new() -> Self {
        Self {
            counts: Counts {
                threads: AtomicU32::new(0),
                most: AtomicU32::new(0),
                open: AtomicU32::new(0),
                covered: AtomicU64::new(0),
            },
            are_several: AtomicBool::new(false),
            initial_threads: AtomicU32::new(0),
            gaps: Gaps::new(),
        }
    }
}

#[cfg(not(test))]
#[inline(always)]
fn shared() -> &'static Shared {
    static SHARED: Shared = Shared::new();
    &SHARED
}

/// Each unit test plays all threads of a program of its own.
#[cfg(test)]
fn shared() -> &'static Shared {
    std::thread_local! {
        static SHARED: &'static Shared = Box::leak(Box::new(Shared::new()));
    }
    SHARED.with(|shared| *shared)
}

fn counts() -> &'static Counts {
    &shared().counts
}

/// A forked child is a run of its own.
pub(crate) fn start_anew() {
    let counts = counts();
    counts.threads.store(0, Ordering::Relaxed);
    counts.most.store(0, Ordering::Relaxed);
    counts.open.store(0, Ordering::Relaxed);
    counts.covered.store(0, Ordering::Relaxed);
    shared().are_several.store(false, Ordering::Relaxed);
    shared().initial_threads.store(0, Ordering::Relaxed);
    shared().gaps.start_anew();
}

/// The serial part, divided by the regions between which it lies; empty if that is not known.
pub(crate) fn gaps(beginning: u64, end: u64) -> Vec<Gap> {
    match are_several() || pause::count() > 0 {
        true => Vec::new(),
        false => shared().gaps.all(beginning, end),
    }
}

/// The largest number of threads at once, as far as it was counted here.
pub(crate) fn most_threads() -> u32 {
    counts().most.load(Ordering::Relaxed)
}

/// For how many ticks any outermost team was open; none if there is only one initial thread, whose
/// own sum holds then.
pub(crate) fn covered(at: u64) -> Option<u64> {
    let covered = counts().covered.load(Ordering::Relaxed);
    are_several().then(|| match counts().open.load(Ordering::Relaxed) {
        0 => covered,
        _ => covered.wrapping_add(pause::without(0, at)),
    })
}

#[inline(always)]
fn are_several() -> bool {
    shared().are_several.load(Ordering::Relaxed)
}

fn open(frame: &Frame, at: u64) {
    frame.added.is_open.store(true, Ordering::Relaxed);
    if counts().open.fetch_add(1, Ordering::Relaxed) == 0 {
        counts().covered.fetch_sub(at, Ordering::Relaxed);
    }
}

fn close(frame: &Frame, at: u64) {
    if !frame.added.is_open.load(Ordering::Relaxed) {
        return;
    }
    frame.added.is_open.store(false, Ordering::Relaxed);
    if counts().open.fetch_sub(1, Ordering::Relaxed) == 1 {
        counts().covered.fetch_add(at, Ordering::Relaxed);
    }
}

/// Counts threads for as long as a team lasts; gives how many there are now.
fn add(frame: &Frame, threads: u32) -> u32 {
    frame.added.threads.store(threads, Ordering::Relaxed);
    counts().threads.fetch_add(threads, Ordering::Relaxed) + threads
}

/// Whether the team of a fork frame is not nested.
#[inline(always)]
fn is_outermost(fork: &Frame) -> bool {
    !fork.added.is_nested.load(Ordering::Relaxed)
}

impl Thread {
    /// A team is forked.
    #[inline(always)]
    pub(super) fn team_opens(&self, fork: &'static Frame, region: &'static Region, at: u64) {
        let is_nested = fork.below().and_then(member_frame).is_some();
        fork.added.is_nested.store(is_nested, Ordering::Relaxed);
        if !is_nested && !are_several() {
            shared().gaps.ends(region, at);
        }
        if are_several() && !is_nested && self.paused().is_none() {
            open(fork, pause::without(0, at));
        }
    }

    /// The size of a team is known, on the thread that forked it.
    #[inline(always)]
    pub(super) fn team_has(&self, fork: &'static Frame, size: u32) {
        if is_outermost(fork) {
            if are_several() {
                let now = add(fork, size);
                counts().most.fetch_max(now, Ordering::Relaxed);
            }
        } else if size > 1 {
            nested_team_has(fork, size);
        }
    }

    /// A team is joined.
    #[inline(always)]
    pub(super) fn team_closes(&self, fork: &'static Frame, at: u64) {
        if !are_several() && is_outermost(fork) {
            if !self.is_passing(fork) {
                self.covered.add(at.wrapping_sub(fork.start()));
            }
            if let Some(region) = fork.node().and_then(Node::region) {
                shared().gaps.begins(region, at);
            }
        } else {
            close(fork, pause::without(0, at));
        }
        if fork.added.threads.load(Ordering::Relaxed) > 0 {
            let threads = fork.added.threads.load(Ordering::Relaxed);
            fork.added.threads.store(0, Ordering::Relaxed);
            counts().threads.fetch_sub(threads, Ordering::Relaxed);
        }
    }

    /// This thread is about to be an initial thread. From the second one on, the teams of all
    /// initial threads are counted in the shared counts.
    #[cold]
    #[inline(never)]
    pub(super) fn is_another_initial(&'static self) {
        if shared().initial_threads.fetch_add(1, Ordering::AcqRel) == 0 || are_several() {
            return;
        }
        let threads = thread::all();
        quiesce::while_quiet_in_event(self, &threads, || {
            if are_several() {
                return;
            }
            threads.iter().for_each(|thread| thread.hand_over());
            shared().are_several.store(true, Ordering::Release);
        });
    }

    /// Adds the outermost teams of this thread, which stands still, to the shared counts.
    fn hand_over(&'static self) {
        counts()
            .covered
            .fetch_add(self.covered.get(), Ordering::Relaxed);
        let frames = std::iter::successors(self.top(), |frame| frame.below());
        let forks = frames.filter(|frame| frame.role() == Role::Fork);
        for fork in forks.filter(|fork| is_outermost(fork)) {
            open(fork, fork.start());
            let now = add(fork, fork.team_size());
            counts().most.fetch_max(now, Ordering::Relaxed);
        }
    }
}

#[inline(never)]
fn nested_team_has(fork: &'static Frame, size: u32) {
    let nested = add(fork, size - 1);
    let outermost = match are_several() {
        true => 0,
        false => u32::try_from(omp::omp_get_team_size(1)).unwrap_or(0),
    };
    let now = nested.saturating_add(outermost);
    if now > counts().most.load(Ordering::Relaxed) {
        counts().most.fetch_max(now, Ordering::Relaxed);
    }
}
