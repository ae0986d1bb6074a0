//! The block of memory that each operating system thread records into, and how
//! a thread finds its own.
//!
//! The thread-local holds only a reference, without a destructor: destructors
//! of thread-locals run before our exit handler on the main thread, and late or
//! never on workers. Blocks are never freed. When a thread ends, its block goes
//! to the next thread that starts, since some runtimes make and end a thread
//! for each member of a nested team.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering, compiler_fence};
use std::sync::{Mutex, MutexGuard};

use super::collector_counts::WaitCounts;
use super::counters::Files;
use super::holds::{HeldLock, HeldLocks, Holds};
use super::lending::Unmeasured;
use super::mutex::lock;
use super::own_time::OwnTime;
use super::pass_table::{PassTable, PassedLocks, PassedMember};
use super::records::Frame;
use super::records::Region;
use super::records::frame::{Role, add_frames};
use super::reduction_part::ReductionPart;
use super::shared::{SharedRef, SharedU64, leak_made};
use super::thread_word::thread_word;
use super::trace_stream::Stream;
use super::work_in_chunks::WorkInChunks;
use super::{clock, coarse_clock, errno, omp, pause, state};
use crate::measure::calls::log::Log;
use crate::measure::calls::tree::CallTree;
use crate::measure::helper_requests;
use crate::measure::records::Node;

/// The records of one thread. Two threads never share a cache line of them.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Thread {
    top: SharedRef<Frame>,
    /// Set while an event is recorded. Events that come meanwhile (from a signal handler, or an
    /// allocator with probes) are ignored.
    busy: AtomicBool,
    /// The value that each event compares with the mark of pauses: that of `pauses`, or [`LOOK`] if
    /// the next event has to run `catch_up` first.
    seen: AtomicU32,
    /// How many pauses of measurement its frames have been moved over.
    pauses: AtomicU32,
    /// The begin of the pause in which its latest event was; 0 if that was in no pause.
    pub(super) paused_at: SharedU64,
    base: SharedRef<Frame>,
    pub(crate) tree: CallTree,
    pub(crate) log: Log,
    pub(crate) trace: Stream,
    pub(super) holds: Holds,
    pub(crate) pass_table: PassTable,
    pub(crate) passed_locks: PassedLocks,
    pub(super) passed_member: PassedMember,
    /// The block that was made before this one.
    before: SharedRef<Thread>,
    pub(super) held: HeldLocks,
    pub(super) counters: Files,
    /// Address of the lock that it is about to set; 0 if there is none.
    pub(super) awaited: SharedU64,
    /// Its waits, kept for a collector.
    pub(crate) waits: WaitCounts,
    /// Its part of a reduction, if its next event ends that.
    pub(super) reduction_part: ReductionPart,
    pub(super) work_in_chunks: WorkInChunks,
    /// The call site of the lock functions in its current statement, for functions of Fortran that
    /// cannot report it themselves.
    pub(crate) lock_site: SharedRef<Region>,
    /// The initial thread that it descends from, numbered from 1, and the latest one for which that
    /// was certain; 0 if unknown.
    pub(super) initial: SharedU64,
    pub(super) home: SharedU64,
    /// Ticks during which it had outermost teams, while it was the only initial
    /// thread.
    pub(super) covered: SharedU64,
    /// How often it began in a team that was chosen among several possible ones.
    pub(crate) guessed: SharedU64,
    /// Events that matched no open region.
    pub(crate) unmatched: SharedU64,
    /// Ends of tasks whose begin is not open on this thread.
    pub(crate) migrated: SharedU64,
    /// Executions without a record of their own, for want of memory.
    pub(crate) folded: SharedU64,
    /// Regions that were closed by the exit of one around them.
    pub(crate) skipped: SharedU64,
    /// The time that recording its events took.
    pub(crate) own_time: OwnTime,
    pub(super) unmeasured: Unmeasured,
}

thread_word! {
    /// The block of the calling thread, or a substitute while it is inside the library without one.
    fn own_block() -> Option<&'static Thread> = "romp_own_block";
}

/// Differs from every mark of pauses.
const LOOK: u32 = u32::MAX;

/// Stands in for the block of a thread that is inside the library without one:
/// always busy.
static INSIDE: Thread = Thread::new(true);

/// All blocks, and those whose thread has ended.
pub(crate) struct Blocks {
    all: Vec<&'static Thread>,
    free: Vec<&'static Thread>,
}

static BLOCKS: Mutex<Blocks> = Mutex::new(Blocks {
    all: Vec::new(),
    free: Vec::new(),
});

/// The block that was made last; it leads to all others, without a lock.
static LATEST: SharedRef<Thread> = SharedRef::none();

/// Number of the next initial thread; 0 is the one that started the program.
static NEXT_INITIAL: AtomicU32 = AtomicU32::new(1);

fn blocks() -> MutexGuard<'static, Blocks> {
    lock(&BLOCKS)
}

/// The blocks, locked.
pub(crate) fn locked() -> MutexGuard<'static, Blocks> {
    blocks()
}

/// A forked child has this thread alone, and is a run of its own. Blocks that
/// its parent filled stay the parent's.
pub(crate) fn start_anew() {
    let mut blocks = blocks();
    blocks.all.clear();
    blocks.free.clear();
    drop(blocks);
    LATEST.set(None);
    NEXT_INITIAL.store(1, Ordering::Relaxed);
    own_block().set(None);
    // The counters that the parent has lent to the program do not count instances of the child.
    coarse_clock::start_anew();
    watch_main();
}

/// All blocks but one, without a lock.
pub(super) fn others(one: &'static Thread) -> impl Iterator<Item = &'static Thread> {
    std::iter::successors(LATEST.get(), |thread| thread.before.get())
        .filter(move |thread| !std::ptr::eq(*thread, one))
}

/// Whether this thread is inside the library.
pub(crate) fn is_inside() -> bool {
    own_block().get().is_some_and(Thread::is_busy)
}

/// This thread's block, if it has one. May be called in a signal handler.
#[inline(always)]
pub(crate) fn current() -> Option<&'static Thread> {
    own_block().get()
}

/// Whether this is the block of the calling thread.
pub(super) fn is_current(thread: &'static Thread) -> bool {
    own_block()
        .get()
        .is_some_and(|current| std::ptr::eq(current, thread))
}

/// All blocks so far.
pub(crate) fn all() -> Vec<&'static Thread> {
    blocks().all.clone()
}

/// Runs `action` on this thread's block, unless the thread is in the library
/// already.
fn with_current<R>(action: impl FnOnce(&'static Thread) -> R) -> Option<R> {
    match own_block().get() {
        Some(thread) => thread,
        None => attach()?,
    }
    .enter(action)
}

/// Runs `action` with this thread marked as inside the library, so that events
/// which `action` causes are ignored. None if it is inside already.
pub(crate) fn inside<R>(action: impl FnOnce() -> R) -> Option<R> {
    match own_block().get() {
        Some(_) => with_current(|_| action()),
        None => {
            own_block().set(Some(&INSIDE));
            let result = action();
            own_block().set(None);
            Some(result)
        }
    }
}

/// Gives this thread a block.
#[cold]
#[inline(never)]
pub(crate) fn attach() -> Option<&'static Thread> {
    let thread = errno::keep(|| inside(|| blocks().take()))??;
    own_block().set(Some(thread));
    Some(thread)
}

impl Blocks {
    /// A block for this thread: one that is free, or a new one.
    fn take(&mut self) -> Option<&'static Thread> {
        let thread = match self.free.pop() {
            Some(thread) => thread,
            None => {
                self.all.try_reserve(1).ok()?;
                let thread = leak_made(|| const { Thread::new(false) })?;
                thread.prepare()?;
                thread.before.set(LATEST.get());
                LATEST.set(Some(thread));
                self.all.push(thread);
                thread
            }
        };
        thread.trace.open();
        thread.leave_stale_frames(clock::now);
        thread.waits.begin();
        thread_end::watch(thread);
        Some(thread)
    }
}

/// This thread ends: its block, if it has one, is free for another.
fn detach(thread: &'static Thread) {
    if started_the_program() {
        helper_requests::main_has_ended();
    }
    if std::ptr::eq(thread, &raw const INSIDE) {
        return;
    }
    own_block().set(Some(&INSIDE));
    if state::is_on_or_paused() {
        // The frame of a member whose part has ended stays: the time when the member was released
        // may not be known before its thread has ended.
        let is_done = |role| matches!(role, Role::Base | Role::Ended);
        if let Some(top) = thread.top().filter(|top| !is_done(top.role())) {
            thread.leave_frames(top, clock::now());
        }
        if let Some(base) = thread.base() {
            base.set_node(None);
        }
        thread.pass_table.forget_place();
        thread.counters.close();
        thread.initial.set(0);
        thread.home.set(0);
        thread.waits.end();
        blocks().free.push(thread);
    }
    own_block().set(None);
}

impl Thread {
    const fn new(busy: bool) -> Self {
        Self {
            top: SharedRef::none(),
            busy: AtomicBool::new(busy),
            seen: AtomicU32::new(0),
            pauses: AtomicU32::new(0),
            paused_at: SharedU64::new(0),
            base: SharedRef::none(),
            tree: CallTree::new(),
            log: Log::new(),
            trace: Stream::new(),
            holds: Holds::new(),
            pass_table: PassTable::new(),
            own_time: OwnTime::new(),
            unmeasured: Unmeasured::new(),
            passed_locks: PassedLocks::none(),
            work_in_chunks: WorkInChunks::none(),
            passed_member: PassedMember::none(),
            before: SharedRef::none(),
            held: HeldLocks::new(),
            counters: Files::none(),
            awaited: SharedU64::new(0),
            waits: WaitCounts::new(),
            reduction_part: ReductionPart::none(),
            lock_site: SharedRef::none(),
            initial: SharedU64::new(0),
            home: SharedU64::new(0),
            covered: SharedU64::new(0),
            guessed: SharedU64::new(0),
            unmatched: SharedU64::new(0),
            migrated: SharedU64::new(0),
            folded: SharedU64::new(0),
            skipped: SharedU64::new(0),
        }
    }

    /// The address of the block, which tells it from all others.
    #[inline(always)]
    pub(super) fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    fn prepare(&'static self) -> Option<()> {
        let base = add_frames(None)?;
        self.base.set(Some(base));
        self.top.set(Some(base));
        Some(())
    }

    /// Runs `action` on this block, which is this thread's own, unless the thread is in
    /// the library already.
    #[inline(always)]
    pub(crate) fn enter<R>(&'static self, action: impl FnOnce(&'static Self) -> R) -> Option<R> {
        if self.busy.load(Ordering::Relaxed) {
            return None;
        }
        // A signal handler on this thread must see the mark before anything that `action` writes.
        // Once the mark is gone, it must see nothing that is half done.
        self.busy.store(true, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        if !self.is_up_to_date(pause::mark()) && !self.catch_up() {
            self.set_busy(false);
            return None;
        }
        let result = action(self);
        self.set_busy(false);
        Some(result)
    }

    /// Whether an event is being recorded.
    pub(super) fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Acquire)
    }

    /// Marks that an event is being recorded, or no longer is.
    pub(super) fn set_busy(&self, busy: bool) {
        if !busy {
            self.busy.store(false, Ordering::Release);
        } else {
            self.busy.store(true, Ordering::Relaxed);
            compiler_fence(Ordering::SeqCst);
        }
    }

    /// Whether there is nothing to do before the next event is recorded.
    #[inline(always)]
    pub(super) fn is_up_to_date(&self, mark: u32) -> bool {
        self.seen.load(Ordering::Relaxed) == mark
    }

    /// Has the next event that is recorded run `catch_up` first.
    #[inline(always)]
    pub(super) fn request_catch_up(&self) {
        self.seen.store(LOOK, Ordering::Relaxed);
    }

    #[inline(always)]
    pub(super) fn clear_catch_up_request(&self) {
        self.seen.store(self.pauses(), Ordering::Relaxed);
    }

    #[inline(always)]
    pub(crate) fn pauses(&self) -> u32 {
        self.pauses.load(Ordering::Relaxed)
    }

    pub(super) fn set_pauses(&self, pauses: u32) {
        self.pauses.store(pauses, Ordering::Relaxed);
    }

    /// The innermost open frame.
    #[inline(always)]
    pub(crate) fn top(&self) -> Option<&'static Frame> {
        self.top.get()
    }

    /// Whether it has forked a team, or is in one, of which it is no member yet.
    #[inline(always)]
    pub(crate) fn is_between_teams(&self) -> bool {
        let is_between = |top: &Frame| match top.role() {
            Role::Fork | Role::Ended => true,
            Role::Base => top.node().is_none() && omp::omp_get_level() > 0,
            _ => false,
        };
        !self.passed_member.is_in() && self.top().is_some_and(is_between)
    }

    #[inline(always)]
    pub(super) fn set_top(&self, frame: &'static Frame) {
        self.top.set(Some(frame));
    }

    pub(crate) fn base(&self) -> Option<&'static Frame> {
        self.base.get()
    }

    /// Whether the OpenMP runtime made it, to serve in teams.
    pub(crate) fn is_worker(&self) -> bool {
        self.initial.get() != 0 && self.base().is_some_and(|base| base.node().is_none())
    }

    /// Locks that are held now, and free entries.
    pub(crate) fn held_locks(&self) -> impl Iterator<Item = &'static HeldLock> {
        self.held.all()
    }

    /// This thread has its first event outside of any team.
    #[cold]
    #[inline(never)]
    pub(super) fn become_initial(&'static self, base: &'static Frame) -> Option<&'static Node> {
        let number = if started_the_program() {
            0
        } else {
            NEXT_INITIAL.fetch_add(1, Ordering::Relaxed)
        };
        self.is_another_initial();
        let root = self.tree.initial_root(number)?;
        base.set_node(Some(root));
        self.initial.set(u64::from(number) + 1);
        self.trace_base(base, clock::now());
        Some(root)
    }
}

/// This thread, by the system's number.
pub(crate) fn number() -> i32 {
    // SAFETY: the call only asks.
    unsafe { libc::gettid() }
}

/// Whether this is the thread that the process began with.
pub(crate) fn started_the_program() -> bool {
    // SAFETY: the call only asks.
    number() == unsafe { libc::getpid() }
}

pub(crate) use thread_end::unwatch;

/// If this thread started the program, has its end noticed.
pub(crate) fn watch_main() {
    if started_the_program() {
        thread_end::watch(own_block().get().unwrap_or(&INSIDE));
        helper_requests::main_is_watched();
    }
}

/// Learning that a thread ends.
mod thread_end {
    use std::ffi::c_void;
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

    use super::{Thread, detach};

    static KEY: AtomicU32 = AtomicU32::new(0);
    static HAS_KEY: AtomicBool = AtomicBool::new(false);

    /// Called with the lock of all blocks held, or before there are threads.
    pub(super) fn watch(thread: &'static Thread) {
        if !HAS_KEY.load(Ordering::Acquire) {
            let mut key = 0;
            // SAFETY: `key` is a valid place, and the function is ours.
            if unsafe { libc::pthread_key_create(&raw mut key, Some(on_end)) } != 0 {
                return;
            }
            KEY.store(key, Ordering::Relaxed);
            HAS_KEY.store(true, Ordering::Release);
        }
        // SAFETY: the key exists until `unwatch`. A failure only means that this block is not used
        // again.
        unsafe {
            libc::pthread_setspecific(
                KEY.load(Ordering::Relaxed),
                std::ptr::from_ref(thread).cast::<c_void>(),
            )
        };
    }

    /// Stops watching for the ends of threads. Needed if the library is unloaded before its threads
    /// end.
    pub(crate) fn unwatch() {
        if HAS_KEY.swap(false, Ordering::AcqRel) {
            // SAFETY: the key was created and is deleted once.
            unsafe { libc::pthread_key_delete(KEY.load(Ordering::Relaxed)) };
        }
    }

    unsafe extern "C" fn on_end(thread: *mut c_void) {
        // SAFETY: the value was set by `watch`, from a reference that is valid
        // for good.
        if let Some(thread) = unsafe { thread.cast::<Thread>().as_ref() } {
            let _ = std::panic::catch_unwind(|| detach(thread));
        }
    }
}

impl Thread {
    /// A block of no thread.
    pub(crate) fn detached() -> Option<&'static Self> {
        let thread = leak_made(|| const { Self::new(false) })?;
        thread.prepare()?;
        Some(thread)
    }

    /// Takes the place of an initial thread.
    pub(crate) fn as_initial(&'static self, number: u32) -> &'static Self {
        if let (Some(base), Some(root)) = (self.base(), self.tree.initial_root(number)) {
            base.set_node(Some(root));
        }
        self.initial.set(u64::from(number) + 1);
        self
    }
}

#[cfg(test)]
impl Thread {
    /// A block of no thread, for tests.
    pub(crate) fn for_test() -> &'static Self {
        Self::detached().unwrap()
    }

    /// Whether it is an initial thread.
    pub(crate) fn is_initial(&'static self) -> bool {
        self.base().is_some_and(|base| base.node().is_some())
    }

    /// Lets threads find each other.
    pub(crate) fn know(threads: &[&'static Self]) {
        let blocks = blocks();
        for thread in threads {
            thread.before.set(LATEST.get());
            LATEST.set(Some(thread));
        }
        drop(blocks);
    }
}
