//! How much processor time the threads got, as the kernel reports it. The kernel counts that
//! anyway. It is asked when a profile is written, for the threads that exist then.

use profile::model::Scheduling;

use super::helper_requests;

/// Threads that are asked. More than that take too long, and say the same.
const MOST_ASKED_THREADS: usize = 512;

/// The time that the thread which started the program was on a processor, and the time that it waited
/// for one, in nanoseconds; none if the kernel says nothing.
pub(super) fn of_first_thread() -> Option<[u64; 2]> {
    let schedstat = std::fs::read("/proc/self/schedstat").ok()?;
    times(&schedstat).map(|(run, ready)| [run, ready])
}

/// The kernel's figures for this process; none if it gives none.
pub(super) fn of_process() -> Option<Scheduling> {
    let mut all = Scheduling::default();
    let first = std::process::id();
    let mut processors = Processors::none();
    for entry in std::fs::read_dir("/proc/self/task")
        .ok()?
        .take(MOST_ASKED_THREADS)
    {
        let name = entry.ok()?.file_name();
        let Some(number) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        // A thread that has just ended has no file any more.
        let path = format!("/proc/self/task/{number}/schedstat");
        let Some((run, ready)) = std::fs::read(path).ok().as_deref().and_then(times) else {
            continue;
        };
        if i32::try_from(number) == Ok(helper_requests::number()) {
            all.helper_run_ns = run;
            continue;
        }
        all.threads += 1;
        all.run_ns = all.run_ns.saturating_add(run);
        all.ready_ns = all.ready_ns.saturating_add(ready);
        all.most_ready_ns = all.most_ready_ns.max(ready);
        if number == first {
            (all.first_run_ns, all.first_ready_ns) = (run, ready);
        }
        // A thread that hardly runs goes where it likes.
        if run > all.run_ns / 100 {
            processors.add(number);
        }
    }
    all.processors = processors.count();
    (all.run_ns > 0).then_some(all)
}

/// Processes around this one that are asked. There are hardly more, and their number is bounded in any case.
const MOST_AROUND: usize = 32;

/// The most processors that a process around this one may use: the one that started it, the one that started that,
/// and so on. 0 if none can be asked.
pub(super) fn processors_around() -> u32 {
    // SAFETY: the call only asks.
    let first = u32::try_from(unsafe { libc::getppid() }).ok();
    let around = std::iter::successors(first, |process| parent(*process));
    let around = around.take_while(|process| *process > 0).take(MOST_AROUND);
    let processors = around.map(|process| {
        let mut its = Processors::none();
        its.add(process);
        its.count()
    });
    processors.max().unwrap_or(0)
}

/// The process that started another one; none if the system does not say.
fn parent(process: u32) -> Option<u32> {
    let stat = std::fs::read(format!("/proc/{process}/stat")).ok()?;
    parent_in(&stat)
}

/// The parent in `NUMBER (NAME) STATE PARENT ...`. The name may contain anything.
fn parent_in(stat: &[u8]) -> Option<u32> {
    let behind = stat.rsplit(|byte| *byte == b')').next()?;
    let mut words = std::str::from_utf8(behind).ok()?.split_ascii_whitespace();
    words.nth(1)?.parse().ok()
}

/// Time on a processor and time waiting for one, in nanoseconds: the first two of three
/// numbers.
fn times(schedstat: &[u8]) -> Option<(u64, u64)> {
    let text = std::str::from_utf8(schedstat).ok()?;
    let mut numbers = text.split_ascii_whitespace().map(str::parse::<u64>);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

/// Processors that at least one thread may use.
struct Processors([u64; 16]);

impl Processors {
    fn none() -> Self {
        Self([0; 16])
    }

    fn add(&mut self, thread: u32) {
        let mut of_thread = [0u64; 16];
        let (size, place) = (size_of_val(&of_thread), of_thread.as_mut_ptr());
        // SAFETY: the place is as long as said, and the call writes nothing else. The
        // C library's function of the same name is left alone, which a program may have
        // replaced.
        unsafe { libc::syscall(libc::SYS_sched_getaffinity, thread, size, place) };
        for (all, its) in self.0.iter_mut().zip(of_thread) {
            *all |= its;
        }
    }

    fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_numbers_are_times() {
        assert_eq!(
            times(b"239592194 2123976366 90\n"),
            Some((239_592_194, 2_123_976_366))
        );
        assert_eq!(times(b"12\n"), None);
        assert_eq!(times(b"a b c\n"), None);
    }

    #[test]
    fn a_parent_is_told_behind_any_name() {
        assert_eq!(parent_in(b"42 (a) R 7 (b)) S 17 42 42 0 -1"), Some(17));
        assert_eq!(parent_in(b"42 (a) S"), None);
        assert_eq!(parent_in(b""), None);
        assert!(processors_around() >= 1);
    }

    #[test]
    fn the_kernel_knows_this_process() {
        let all = of_process().unwrap();
        assert!(all.threads >= 1 && all.processors >= 1, "{all:?}");
        assert!(all.run_ns >= all.first_run_ns && all.ready_ns >= all.most_ready_ns);
    }
}
