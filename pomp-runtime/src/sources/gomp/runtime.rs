//! The OpenMP runtimes in this process, and which of them a module calls.
//!
//! A module calls the runtime that the dynamic linker would have found for it without Romp
//! (`called`). All functions of a runtime are looked up when its first caller is met. So none of
//! its threads waits later for a library that is being loaded, whose constructors may in turn wait
//! for these threads.

use std::collections::BTreeMap;
use std::ffi::{CStr, c_int, c_void};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use profile::model::Run;
use profile::outside::Interface;

use super::super::{called, uninstrumented};
use super::table::{NAMES, REQUESTS};
use crate::measure::dynamic;
use crate::measure::facts;
use crate::measure::modules;
use crate::measure::mutex::lock;
use crate::measure::shared::{SharedRef, leak};

type GetNumber = extern "C" fn() -> c_int;
type AskTwo = unsafe extern "C" fn(*mut c_int, *mut c_int);

/// One runtime.
#[derive(Debug)]
pub(super) struct Runtime {
    path: PathBuf,
    base: usize,
    /// Addresses of its functions, by their numbers in the table; 0 for a function that it lacks.
    functions: Vec<usize>,
    /// The same for those that give the next chunk of a loop.
    requests: Vec<usize>,
    thread_num: GetNumber,
    num_threads: GetNumber,
    level: GetNumber,
    num_procs: GetNumber,
    team_size: extern "C" fn(c_int) -> c_int,
    /// `omp_get_schedule`.
    schedule: Option<AskTwo>,
    /// Whether it reports its events itself, so that nothing is measured here.
    reports_events: bool,
    /// The number of members of its largest team.
    widest: AtomicU32,
}

impl Runtime {
    #[inline(always)]
    pub(super) fn thread_num(&self) -> u32 {
        u32::try_from((self.thread_num)()).unwrap_or(0)
    }

    #[inline(always)]
    pub(super) fn num_threads(&self) -> u32 {
        let number = u32::try_from((self.num_threads)()).unwrap_or(1);
        if number > self.widest.load(Ordering::Relaxed) {
            self.widest.fetch_max(number, Ordering::Relaxed);
        }
        number
    }

    pub(super) fn reports_events(&self) -> bool {
        self.reports_events
    }

    /// The schedule that `schedule(runtime)` stands for now, and its chunk size.
    pub(super) fn schedule(&self) -> (c_int, c_int) {
        let (mut kind, mut size) = (0, 0);
        if let Some(ask) = self.schedule {
            // SAFETY: both are valid places to write to.
            unsafe { ask(&raw mut kind, &raw mut size) };
        }
        (kind, size)
    }

    pub(super) fn function(&self, number: usize) -> Option<usize> {
        of_number(&self.functions, number)
    }

    /// The function that gives the next chunk of a loop.
    pub(super) fn request(&self, number: usize) -> Option<usize> {
        of_number(&self.requests, number)
    }
}

fn of_number(functions: &[usize], number: usize) -> Option<usize> {
    let function = functions.get(number).copied();
    function.filter(|function| *function != 0)
}

/// The runtime that was met first. Questions that do not come from a call go to it (`asked`).
static FIRST: SharedRef<Runtime> = SharedRef::none();

#[derive(Default)]
struct RuntimeBook {
    runtimes: Vec<&'static Runtime>,
    /// By the address at which the calling module is loaded.
    callers: BTreeMap<usize, &'static Runtime>,
    unloaded: u64,
}

static BOOK: Mutex<Option<RuntimeBook>> = Mutex::new(None);

/// The runtime that a module calls; `base` is the address at which the module is loaded.
pub(super) fn of_module(path: &Path, base: usize) -> Option<&'static Runtime> {
    let unloaded = modules::unloaded();
    let known = {
        let mut guard = lock(&BOOK);
        let book = guard.get_or_insert_default();
        if book.unloaded != unloaded {
            book.unloaded = unloaded;
            book.callers.clear();
        }
        book.callers.get(&base).copied()
    };
    if known.is_some() {
        return known;
    }
    // The book must not be locked here: a thread that loads a library may wait for it.
    let (path, at) = called_by(path)?;
    let mut guard = lock(&BOOK);
    let book = guard.get_or_insert_default();
    let runtime = match book.runtimes.iter().find(|known| known.base == at) {
        Some(known) => known,
        None => {
            let runtime = leak(Runtime::open(path, at)?)?;
            if book.runtimes.is_empty() {
                FIRST.set(Some(runtime));
                facts::add(describe);
                uninstrumented::begin();
            }
            book.runtimes.push(runtime);
            runtime
        }
    };
    book.callers.insert(base, runtime);
    Some(runtime)
}

/// A routine that every runtime has, and that is not ours.
const ROUTINE: &CStr = c"omp_get_thread_num";

/// The file of the runtime that a module calls, and the address at which it is loaded.
fn called_by(path: &Path) -> Option<(PathBuf, usize)> {
    modules::module_at(called::by(path, ROUTINE)?.addr())
}

impl Runtime {
    fn open(path: PathBuf, base: usize) -> Option<Self> {
        let handle = called::loaded(&path)?;
        // SAFETY: the handle is the loader's, the name a C string.
        let address = |name: &CStr| unsafe { libc::dlsym(handle, name.as_ptr()) };
        let ask = |name: &CStr| -> Option<GetNumber> {
            let found = address(name);
            // SAFETY: runtimes define routines of these names with this type.
            (!found.is_null())
                .then(|| unsafe { std::mem::transmute::<*mut c_void, GetNumber>(found) })
        };
        Some(Self {
            functions: NAMES.iter().map(|name| address(name).addr()).collect(),
            requests: REQUESTS.iter().map(|name| address(name).addr()).collect(),
            thread_num: ask(ROUTINE)?,
            num_threads: ask(c"omp_get_num_threads")?,
            level: ask(c"omp_get_level")?,
            num_procs: ask(c"omp_get_num_procs")?,
            team_size: {
                let found = address(c"omp_get_team_size");
                if found.is_null() {
                    return None;
                }
                // SAFETY: as above.
                unsafe { std::mem::transmute::<*mut c_void, extern "C" fn(c_int) -> c_int>(found) }
            },
            schedule: {
                let found = address(c"omp_get_schedule");
                // SAFETY: as above.
                (!found.is_null())
                    .then(|| unsafe { std::mem::transmute::<*mut c_void, AskTwo>(found) })
            },
            reports_events: !address(c"__kmpc_fork_call").is_null(),
            widest: AtomicU32::new(1),
            path,
            base,
        })
    }
}

/// Adds to the run which runtimes were met, and which of their constructs cannot be seen.
fn describe(run: &mut Run) {
    let guard = lock(&BOOK);
    let runtimes = guard.iter().flat_map(|book| &book.runtimes);
    for runtime in runtimes.filter(|runtime| !runtime.reports_events) {
        let widest = runtime.widest.load(Ordering::Relaxed);
        uninstrumented::add_runtime(run, &runtime.path, widest, Interface::Gnu);
    }
}

/// Questions to the runtime that was met first, for code that has no call at hand.
pub mod asked {
    use super::{AtomicPtr, FIRST, ROUTINE, c_int, c_void, dynamic};

    /// The number of this thread in its team; 0 where no runtime is found.
    pub(in super::super) fn thread_num() -> usize {
        static NEXT: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
        type GetNumber = extern "C" fn() -> c_int;
        let ask = FIRST.get().map(|runtime| runtime.thread_num).or_else(|| {
            // SAFETY: null is the `None` of a function pointer, and runtimes define the
            // routine of this name so.
            unsafe {
                std::mem::transmute::<*const c_void, Option<GetNumber>>(dynamic::next(
                    &NEXT, ROUTINE,
                ))
            }
        });
        ask.map_or(0, |ask| usize::try_from(ask()).unwrap_or(0))
    }

    /// `omp_get_level`; 0 without a runtime.
    #[must_use]
    pub extern "C" fn level() -> c_int {
        FIRST.get().map_or(0, |runtime| (runtime.level)())
    }

    /// `omp_get_team_size`; 1 without a runtime.
    #[must_use]
    pub extern "C" fn team_size(level: c_int) -> c_int {
        FIRST.get().map_or(1, |runtime| (runtime.team_size)(level))
    }

    /// `omp_get_num_procs`; 0 without a runtime.
    #[must_use]
    pub extern "C" fn num_procs() -> c_int {
        FIRST.get().map_or(0, |runtime| (runtime.num_procs)())
    }

    /// `omp_get_num_threads`; 1 without a runtime.
    pub(in super::super) fn num_threads() -> usize {
        let number = FIRST.get().map_or(1, |runtime| (runtime.num_threads)());
        usize::try_from(number).unwrap_or(1)
    }
}
