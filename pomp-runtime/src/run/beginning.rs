//! The begin of the run. It is the begin of the process, whatever reports the first event.
//!
//! A constructor of ours reads the clocks before `main`, in programs of every language, since it
//! is in the object file that the probes need. It does no more: the first table or event decides
//! whether to measure at all. Two kinds of process began at another time. For these the kernel
//! gives the time, exact to a clock tick:
//! - the library, or the plugin that it was linked into, was loaded while the
//!   program ran: the process began before;
//! - the process was forked before measurement had started: it began later.
//!
//! The kernel counts from the fork and not from an `exec` after it. So the kernel is not asked
//! about other processes.

use std::ffi::{c_char, c_int};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use crate::measure::clock;

/// The clocks when the library was loaded: the processor's counter, and the
/// system's in nanoseconds; 0 if the constructor has not run.
static COUNTER: AtomicU64 = AtomicU64::new(0);
static SYSTEM: AtomicU64 = AtomicU64::new(0);

/// The process into which the library was loaded.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// Whether it was loaded while the program ran.
static IS_LATE: AtomicBool = AtomicBool::new(false);

/// Early among the constructors of the program or library that we are part of.
#[used]
#[unsafe(link_section = ".init_array.00100")]
static ON_LOAD: extern "C" fn(c_int, *const *const c_char, *const *const c_char) = on_load;

extern "C" fn on_load(_: c_int, _: *const *const c_char, _: *const *const c_char) {
    let (counter, ns) = clock::Pair::read_both();
    COUNTER.store(counter, Ordering::Relaxed);
    SYSTEM.store(ns, Ordering::Relaxed);
    PROCESS.store(std::process::id(), Ordering::Relaxed);
    IS_LATE.store(place::was_loaded_late(), Ordering::Relaxed);
}

/// When the run began.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beginning {
    /// The earliest reading of the clocks in this process.
    pub(super) clock: clock::Pair,
    /// How long the process had run by then, in nanoseconds.
    pub(super) before_ns: u64,
}

impl Beginning {
    /// Now, as for a process that was forked this moment.
    pub(super) fn now() -> Self {
        Self {
            clock: clock::Pair::read(),
            before_ns: 0,
        }
    }

    /// The begin of this process. The clock has been chosen before.
    pub(super) fn of_process() -> Self {
        let now = clock::Pair::read();
        let at_load = clock::Pair::of_both(
            COUNTER.load(Ordering::Relaxed),
            SYSTEM.load(Ordering::Relaxed),
        );
        if PROCESS.load(Ordering::Relaxed) != std::process::id() {
            return Self {
                clock: now,
                before_ns: age_ns().unwrap_or(0),
            };
        }
        let since_load = now.ns.saturating_sub(at_load.ns);
        let before_load = match IS_LATE.load(Ordering::Relaxed) {
            true => age_ns().unwrap_or(0).saturating_sub(since_load),
            false => 0,
        };
        Self {
            clock: at_load,
            before_ns: before_load,
        }
    }

    /// How long the run has lasted at this reading of the clocks.
    pub(super) fn until(self, end: clock::Pair) -> u64 {
        end.ns
            .saturating_sub(self.clock.ns)
            .saturating_add(self.before_ns)
    }
}

/// How long this process has existed; none if the system does not say.
fn age_ns() -> Option<u64> {
    let stat = std::fs::read("/proc/self/stat").ok()?;
    let stat = String::from_utf8_lossy(&stat);
    // SAFETY: the call only asks.
    let ticks_a_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    let tick_ns = 1_000_000_000 / u64::try_from(ticks_a_second).ok().filter(|n| *n > 0)?;
    let started = started(&stat)?.checked_mul(tick_ns)?;
    clock::since_boot_ns()?.checked_sub(started)
}

/// The clock tick since boot at which the process was made: field 22 of a line of
/// `/proc/PID/stat`. The program's name in field 2 can hold any character.
fn started(stat: &str) -> Option<u64> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(19)?.parse().ok()
}

/// Whether the library came with the program.
mod place {
    /// Whether the library was loaded while the program ran. It was not if it is part of the
    /// executable, or if the executable was loaded with something that exports our functions. This
    /// must be asked while the library is being loaded: then no other thread holds the locks of
    /// the dynamic linker.
    pub(super) fn was_loaded_late() -> bool {
        !is_in_executable() && !is_in_global_scope()
    }

    fn own_address() -> usize {
        super::on_load as *const () as usize
    }

    /// Whether one of the executable's segments holds our code.
    fn is_in_executable() -> bool {
        // SAFETY: the calls only ask.
        let (table, size, count) = unsafe {
            (
                libc::getauxval(libc::AT_PHDR) as usize,
                libc::getauxval(libc::AT_PHENT) as usize,
                libc::getauxval(libc::AT_PHNUM) as usize,
            )
        };
        if table == 0 || size != size_of::<libc::Elf64_Phdr>() {
            return true;
        }
        // SAFETY: the kernel says where the executable's program headers lie.
        let headers = unsafe {
            std::slice::from_raw_parts(
                std::ptr::with_exposed_provenance::<libc::Elf64_Phdr>(table),
                count,
            )
        };
        let of_table = headers.iter().find(|it| it.p_type == libc::PT_PHDR);
        // If the table has no entry of its own, it lies in an executable that is not moved.
        let moved = of_table.map_or(0, |it| table.wrapping_sub(it.p_vaddr as usize));
        let mut segments = headers.iter().filter(|it| it.p_type == libc::PT_LOAD);
        segments.any(|segment| {
            let begin = moved.wrapping_add(segment.p_vaddr as usize);
            own_address().wrapping_sub(begin) < segment.p_memsz as usize
        })
    }

    #[cfg(not(test))]
    fn is_in_global_scope() -> bool {
        let shows = crate::measure::dynamic::program_shows;
        shows(c"POMP_Init") || shows(c"romp_run_stand_back")
    }

    #[cfg(test)]
    fn is_in_global_scope() -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_of_a_process_is_found_behind_any_name() {
        let fields: Vec<String> = (3..=52).map(|field| field.to_string()).collect();
        for name in ["a", "a b", ") 1 2 3 ("] {
            let stat = format!("7 ({name}) {}\n", fields.join(" "));
            assert_eq!(started(&stat), Some(22), "{name}");
        }
        assert_eq!(started("7 (a) 1 2"), None);
    }

    #[test]
    fn a_test_began_with_its_process() {
        clock::choose(clock::ClockChoice::Automatic);
        let age = age_ns().unwrap();
        let beginning = Beginning::of_process();
        assert_eq!(beginning.before_ns, 0);
        assert!(!place::was_loaded_late());
        // The kernel counts in ticks.
        let lasted = beginning.until(clock::Pair::read());
        assert!(lasted < age + 1_000_000_000, "{lasted} of {age}");
    }
}
