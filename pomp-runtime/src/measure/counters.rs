//! Hardware and software counters, if the user asks for them: each thread has a group of the
//! kernel's (`perf_event_open`), read where a region begins and ends. In all other runs an event
//! only reads one word that nobody writes. The counts of regions are in `counting`.

use std::io;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use profile::counters::{Counter, EXEC_COUNT, EXEC_TIME, Formula, MOST_COUNTERS, parse};

use super::message;
use super::mutex::lock;
use super::shared::SharedU64;

/// Values of all counters.
pub(crate) type Values = [SharedU64; MOST_COUNTERS];

/// The values of the counters in a frame.
#[derive(Debug)]
pub(super) struct Counting {
    /// The values at its begin.
    pub(super) start: Values,
    /// The values of instances within it that the node of this frame, or one around it, already
    /// has: see `Thread::stop_counters`.
    pub(super) inner: Values,
}

/// How many counters there are.
static NUMBER: AtomicUsize = AtomicUsize::new(0);

/// The chosen counters: names and events, in order.
static CHOSEN: Mutex<Vec<(String, Counter)>> = Mutex::new(Vec::new());

#[inline(always)]
pub(crate) fn are_on() -> bool {
    number() != 0
}

fn chosen() -> MutexGuard<'static, Vec<(String, Counter)>> {
    lock(&CHOSEN)
}

/// How many counters this run has.
#[inline(always)]
pub(crate) fn number() -> usize {
    NUMBER.load(Ordering::Relaxed)
}

/// The names of the counters of this run.
pub(crate) fn names() -> Vec<String> {
    chosen().iter().map(|(name, _)| name.clone()).collect()
}

/// Reports which formulas cannot be read. They may contain the counters of this run.
pub(crate) fn check_formulas(formulas: &[String]) {
    let names = names();
    let mut known: Vec<&str> = names.iter().map(String::as_str).collect();
    known.extend([EXEC_TIME, EXEC_COUNT]);
    for text in formulas {
        if let Err(problem) = Formula::parse(text, &known) {
            message::say(&format!("ROMP_EVAL: {problem}"));
        }
    }
}

/// Counts the events of a list from now on. Reports once which of them cannot be counted.
pub(crate) fn choose(list: &str) {
    let (mut wanted, unknown) = parse(list);
    if !unknown.is_empty() {
        message::say(&format!(
            "ROMP_COUNTERS: {} cannot be counted: no such counter; `romp report --explain counters` lists them",
            unknown.join(", ")
        ));
    }
    if wanted.len() > MOST_COUNTERS {
        message::say(&format!(
            "ROMP_COUNTERS: only the first {MOST_COUNTERS} of {} counters are counted",
            wanted.len()
        ));
        wanted.truncate(MOST_COUNTERS);
    }
    let mut accepted: Vec<(String, Counter)> = Vec::new();
    let mut refused: Vec<String> = Vec::new();
    let mut reason = None;
    for (name, counter) in wanted {
        let with: Vec<Counter> = accepted
            .iter()
            .map(|(_, it)| *it)
            .chain([counter])
            .collect();
        match Group::open(&with) {
            Ok(group) => {
                group.close();
                accepted.push((name, counter));
            }
            Err(error) => {
                refused.push(name);
                reason = Some(error);
            }
        }
    }
    if let Some(error) = reason {
        message::say(&format!(
            "ROMP_COUNTERS: the kernel refuses {}: {}",
            refused.join(", "),
            explained(&error)
        ));
    }
    NUMBER.store(accepted.len(), Ordering::Relaxed);
    *chosen() = accepted;
}

/// Why the kernel refuses a counter, and what to do.
fn explained(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::EACCES | libc::EPERM) => {
            "no permission; /proc/sys/kernel/perf_event_paranoid must be 2 or less, and a container must allow \
             the system call perf_event_open"
                .to_owned()
        }
        Some(libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV) => {
            "this machine has no such counter, as most virtual machines have none".to_owned()
        }
        Some(libc::EINVAL | libc::ENOSPC) => {
            "the processor cannot count it together with the others".to_owned()
        }
        Some(libc::ENOSYS) => "this kernel has no counters".to_owned(),
        _ => error.to_string(),
    }
}

/// The part of the kernel's `perf_event_attr` that we set; the first version of
/// the structure, which every kernel takes.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_type: u32,
    breakpoint_address: u64,
}

/// `PERF_FORMAT_TOTAL_TIME_ENABLED`, `_RUNNING` and `_GROUP`.
const READ_FORMAT: u64 = 1 | 2 | 8;
/// Bits of `flags`: the kernel and a hypervisor are not counted.
const USER_ONLY: u64 = 1 << 5 | 1 << 6;
/// `PERF_FLAG_FD_CLOEXEC`.
const CLOSE_ON_EXEC: libc::c_ulong = 8;

/// The counters of one thread. The first one leads the group, and is read for all.
struct Group {
    files: Vec<libc::c_int>,
}

impl Group {
    /// Opens the counters for the calling thread. They run at once.
    fn open(counters: &[Counter]) -> io::Result<Self> {
        let mut group = Self { files: Vec::new() };
        for counter in counters {
            match group.add(counter) {
                Ok(file) => group.files.push(file),
                Err(error) => {
                    group.close();
                    return Err(error);
                }
            }
        }
        Ok(group)
    }

    /// Software counters count events that happen in the kernel. If the kernel may not be observed,
    /// only events in user mode are counted.
    fn add(&self, counter: &Counter) -> io::Result<libc::c_int> {
        match counter.is_software() {
            true => self
                .try_add(counter, 0)
                .or_else(|_| self.try_add(counter, USER_ONLY)),
            false => self.try_add(counter, USER_ONLY),
        }
    }

    fn try_add(&self, counter: &Counter, flags: u64) -> io::Result<libc::c_int> {
        let attributes = Attributes {
            kind: counter.kind,
            size: size_of::<Attributes>() as u32,
            config: counter.config,
            read_format: READ_FORMAT,
            flags,
            ..Attributes::default()
        };
        let leader = self.files.first().copied().unwrap_or(-1);
        // SAFETY: the kernel reads the structure, which has the size that it says.
        let file = unsafe {
            libc::syscall(
                libc::SYS_perf_event_open,
                &raw const attributes,
                0,
                -1,
                leader,
                CLOSE_ON_EXEC,
            )
        };
        match libc::c_int::try_from(file) {
            Ok(file) if file >= 0 => Ok(file),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn close(self) {
        for file in self.files {
            // SAFETY: the file is ours.
            unsafe { libc::close(file) };
        }
    }
}

/// The files of a thread's group. A negative number stands for no file.
#[derive(Debug)]
pub(crate) struct Files {
    leader: AtomicI32,
    others: [AtomicI32; MOST_COUNTERS],
}

/// No file: it was not opened yet, or the kernel refused it.
const UNOPENED: i32 = -1;
const REFUSED: i32 = -2;

impl Files {
    pub(super) const fn none() -> Self {
        Self {
            leader: AtomicI32::new(UNOPENED),
            others: [const { AtomicI32::new(UNOPENED) }; MOST_COUNTERS],
        }
    }

    /// Opens the calling thread's group.
    #[cold]
    fn open(&self) -> i32 {
        let counters: Vec<Counter> = chosen().iter().map(|(_, counter)| *counter).collect();
        let group = Group::open(&counters);
        let files = group.map_or_else(|_| vec![REFUSED], |group| group.files);
        for (place, file) in self.others.iter().zip(files.iter().skip(1)) {
            place.store(*file, Ordering::Relaxed);
        }
        let leader = files.first().copied().unwrap_or(REFUSED);
        self.leader.store(leader, Ordering::Relaxed);
        leader
    }

    /// The thread ends: another one that gets its block has counters of its own.
    pub(super) fn close(&self) {
        for place in self.others.iter().chain([&self.leader]) {
            let file = place.swap(UNOPENED, Ordering::Relaxed);
            if file >= 0 {
                // SAFETY: the file is ours.
                unsafe { libc::close(file) };
            }
        }
    }

    /// The values now; none if the kernel does not give them.
    pub(super) fn read(&self) -> Option<[u64; MOST_COUNTERS]> {
        let mut leader = self.leader.load(Ordering::Relaxed);
        if leader == UNOPENED {
            leader = self.open();
        }
        if leader < 0 {
            return None;
        }
        // Number of counters, times enabled and running, values.
        let mut words = [0_u64; 3 + MOST_COUNTERS];
        // SAFETY: the kernel writes no more than the length of the buffer.
        let read = unsafe {
            libc::syscall(
                libc::SYS_read,
                leader,
                words.as_mut_ptr(),
                size_of_val(&words),
            )
        };
        let [number, enabled, running, values @ ..] = words;
        if read <= 0 || number as usize > MOST_COUNTERS {
            return None;
        }
        Some(values.map(|value| scaled(value, enabled, running)))
    }
}

/// A value as if the counter had run all the time. If the processor has fewer counters than are
/// wanted, each of them runs for a part of the time only.
fn scaled(value: u64, enabled: u64, running: u64) -> u64 {
    if running == 0 || running == enabled {
        return value;
    }
    let value = u128::from(value) * u128::from(enabled) / u128::from(running);
    u64::try_from(value).unwrap_or(u64::MAX)
}
