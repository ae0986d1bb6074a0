//! The clock: a counter of the processor where it ticks evenly, else the
//! system's monotonic clock. Chosen once; ticks become nanoseconds only when
//! the run ends.
//!
//! A read is not ordered against the instructions around it, except by [`now_in_order`]. Fences at
//! each event would cost as much again as the read, which is more than the error that they prevent.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

pub(crate) use trace::clock::Scale;

/// Set where the processor's counter is not used.
static MONOTONIC: AtomicBool = AtomicBool::new(false);

/// Attempts at a pair of readings; the tightest one counts.
const PAIRS: usize = 16;

/// The clock that the user asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ClockChoice {
    /// The counter if it is fit, else the system's clock.
    #[default]
    Automatic,
    /// The counter, if there is one at all.
    Counter,
    /// The system's clock.
    Monotonic,
}

/// The time in ticks.
#[inline(always)]
pub(crate) fn now() -> u64 {
    if MONOTONIC.load(Ordering::Relaxed) {
        monotonic_ns()
    } else {
        counter()
    }
}

/// The time after everything that the thread did before. Without a fence the processor may read its
/// counter while an update of memory is still under way, and that update may be all that is timed.
/// The fence is for x86-64 alone: elsewhere this is [`now`].
pub(crate) fn now_in_order() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has the instruction.
    unsafe {
        std::arch::x86_64::_mm_lfence();
    }
    now()
}

/// Chooses the clock.
pub(crate) fn choose(choice: ClockChoice) {
    let use_counter = match choice {
        ClockChoice::Automatic => HAS_COUNTER && counter_is_even(),
        ClockChoice::Counter => HAS_COUNTER,
        ClockChoice::Monotonic => false,
    };
    MONOTONIC.store(!use_counter, Ordering::Relaxed);
}

/// Name of the clock in use.
pub(crate) fn name() -> &'static str {
    if MONOTONIC.load(Ordering::Relaxed) {
        "monotonic"
    } else {
        COUNTER_NAME
    }
}

/// The two clocks at one moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    pub(crate) ticks: u64,
    pub(crate) ns: u64,
}

impl From<Pair> for trace::clock::Pair {
    fn from(pair: Pair) -> Self {
        Self {
            ticks: pair.ticks,
            ns: pair.ns,
        }
    }
}

impl Pair {
    /// Reads both clocks several times and keeps the tightest reading.
    pub(crate) fn read() -> Self {
        let (ticks, ns) = tightest(now);
        Self { ticks, ns }
    }

    /// The processor's counter and the system's clock, before one of them is
    /// chosen.
    pub(crate) fn read_both() -> (u64, u64) {
        tightest(counter)
    }

    /// The result of `read_both`, once the clock is chosen.
    pub(crate) fn of_both(counter: u64, ns: u64) -> Self {
        let ticks = match MONOTONIC.load(Ordering::Relaxed) {
            true => ns,
            false => counter,
        };
        Self { ticks, ns }
    }
}

/// This many nanoseconds in ticks, to about a hundredth. The first call takes 10 us.
pub(crate) fn ticks_of(ns: u64) -> u64 {
    /// In a millisecond; 0 if that is not known yet.
    static TICKS: AtomicU64 = AtomicU64::new(0);
    const LONG_ENOUGH_NS: u64 = 10_000;
    if cfg!(test) {
        // Tests give all times by hand, in nanoseconds.
        return ns;
    }
    if TICKS.load(Ordering::Relaxed) == 0 {
        let begin = Pair::read();
        let (mut end, mut elapsed) = (begin, 0);
        while elapsed < LONG_ENOUGH_NS {
            end = Pair::read();
            elapsed = end.ns.saturating_sub(begin.ns);
        }
        let ticks = end.ticks.saturating_sub(begin.ticks) * 1_000_000 / elapsed;
        TICKS.store(ticks.max(1), Ordering::Relaxed);
    }
    TICKS.load(Ordering::Relaxed) * ns / 1_000_000
}

/// The tightest of several readings: what `clock` gives, and the system's clock.
fn tightest(clock: fn() -> u64) -> (u64, u64) {
    let mut best = (u64::MAX, (0, 0));
    for _ in 0..PAIRS {
        let before = clock();
        let ns = monotonic_ns();
        let width = clock().wrapping_sub(before);
        if width < best.0 {
            best = (width, (before.wrapping_add(width / 2), ns));
        }
    }
    best.1
}

/// Ticks to nanoseconds, from two pairs.
pub(crate) fn scale_between(start: Pair, end: Pair) -> Scale {
    if MONOTONIC.load(Ordering::Relaxed) {
        Scale::one()
    } else {
        Scale::between(start.into(), end.into())
    }
}

/// Kept out of line, so that what it needs does not burden the other case.
#[cold]
#[inline(never)]
fn monotonic_ns() -> u64 {
    system_ns(libc::CLOCK_MONOTONIC).unwrap_or(0)
}

/// The time since the system started, also while it slept, in nanoseconds.
pub(crate) fn since_boot_ns() -> Option<u64> {
    system_ns(libc::CLOCK_BOOTTIME)
}

fn system_ns(clock: libc::clockid_t) -> Option<u64> {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid place to write to.
    if unsafe { libc::clock_gettime(clock, &raw mut time) } != 0 {
        return None;
    }
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let ns = u64::try_from(time.tv_nsec).unwrap_or(0);
    Some(seconds.wrapping_mul(1_000_000_000).wrapping_add(ns))
}

#[cfg(target_arch = "x86_64")]
mod native {
    use std::arch::x86_64::{__cpuid, _rdtsc};

    pub(super) const HAS_COUNTER: bool = true;
    pub(super) const COUNTER_NAME: &str = "tsc";

    #[inline(always)]
    pub(super) fn counter() -> u64 {
        // SAFETY: every x86-64 processor has the instruction; a kernel that
        // forbids it to programs does so for all of them.
        unsafe { _rdtsc() }
    }

    /// Whether it ticks evenly in every power state ("invariant TSC").
    pub(super) fn counter_is_even() -> bool {
        const POWER: u32 = 0x8000_0007;
        const INVARIANT: u32 = 1 << 8;
        // Newer compilers call it safe.
        #[allow(unused_unsafe)]
        // SAFETY: every x86-64 processor has the instruction.
        let (highest, power) = unsafe { (__cpuid(0x8000_0000).eax, __cpuid(POWER).edx) };
        highest >= POWER && power & INVARIANT != 0
    }
}

#[cfg(target_arch = "aarch64")]
mod native {
    pub(super) const HAS_COUNTER: bool = true;
    pub(super) const COUNTER_NAME: &str = "cntvct";

    #[inline(always)]
    pub(super) fn counter() -> u64 {
        let ticks: u64;
        // SAFETY: the register may be read by every program on Linux.
        unsafe {
            std::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack));
        }
        ticks
    }

    /// The architecture demands it.
    pub(super) fn counter_is_even() -> bool {
        true
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod native {
    pub(super) const HAS_COUNTER: bool = false;
    pub(super) const COUNTER_NAME: &str = "monotonic";

    #[inline(always)]
    pub(super) fn counter() -> u64 {
        super::monotonic_ns()
    }

    pub(super) fn counter_is_even() -> bool {
        false
    }
}

use native::{COUNTER_NAME, HAS_COUNTER, counter, counter_is_even};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counter_agrees_with_the_system_clock() {
        let start = Pair::read();
        std::thread::sleep(std::time::Duration::from_millis(20));
        let scale = scale_between(start, Pair::read());
        let ns = scale.to_ns(now().wrapping_sub(start.ticks));
        assert!((20_000_000..2_000_000_000).contains(&ns), "{ns}");
    }
}
