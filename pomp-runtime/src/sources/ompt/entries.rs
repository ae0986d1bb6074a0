//! The entries of LLVM's runtime that stand in front of the runtime's own (`pomp-run`), so that the
//! place that a compiler states for a call is known (`stated`). Each goes on to the function that
//! the caller would have reached without Romp, with the same arguments and the same stack.
//!
//! The dynamic linker looks first in the program and the libraries that it was started with. If it
//! finds a runtime there, all modules call this one, and [`TARGETS`] are its functions. Otherwise
//! each module calls the runtime that it was loaded with, and the target depends on the caller.
//! All functions that a module calls are looked up at once: no thread waits later for a library
//! that is being loaded, whose constructors may wait for this thread.

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::super::by_address::{self, Registry, Table};
use super::super::{called, uninstrumented};
use crate::measure::mutex::lock;
use crate::measure::shared::{leak, leak_slice};
use crate::measure::{dynamic, errno, modules};

/// The entries whose first word is the place of the construct. A row has the kinds of regions whose events the
/// calls report (`stated::kinds`). If the call begins a loop, the function that reads its bounds (`chunks`) and
/// the type of the loop variable follow; if its end is recorded when it returns, the actions around it (`around`).
/// Behind the semicolon are entries that end what an event has begun, each with the function that reports this end
/// where the runtime can't (`outlived`). `define!` gets the rows. To add one, add a row.
/// `__kmpc_serialized_parallel` is none of them: the runtime's `__kmpc_fork_call` calls it, and then
/// the place noted would be lost.
#[macro_export]
macro_rules! for_llvm_entries {
    ($define:ident) => {
        $define! {
            __kmpc_fork_call(PARALLEL) __kmpc_fork_call_if(PARALLEL) __kmpc_fork_teams(TEAMS)
            __kmpc_for_static_init_4(SHARED, begins_static i32)
            __kmpc_for_static_init_4u(SHARED, begins_static u32)
            __kmpc_for_static_init_8(SHARED, begins_static i64)
            __kmpc_for_static_init_8u(SHARED, begins_static u64)
            __kmpc_team_static_init_4(SHARED) __kmpc_team_static_init_4u(SHARED)
            __kmpc_team_static_init_8(SHARED) __kmpc_team_static_init_8u(SHARED)
            __kmpc_dist_for_static_init_4(SHARED) __kmpc_dist_for_static_init_4u(SHARED)
            __kmpc_dist_for_static_init_8(SHARED) __kmpc_dist_for_static_init_8u(SHARED)
            __kmpc_dispatch_init_4(SHARED, begins_dispatch i32)
            __kmpc_dispatch_init_4u(SHARED, begins_dispatch u32)
            __kmpc_dispatch_init_8(SHARED, begins_dispatch i64)
            __kmpc_dispatch_init_8u(SHARED, begins_dispatch u64)
            __kmpc_dist_dispatch_init_4(SHARED) __kmpc_dist_dispatch_init_4u(SHARED)
            __kmpc_dist_dispatch_init_8(SHARED) __kmpc_dist_dispatch_init_8u(SHARED)
            __kmpc_single(SINGLE) __kmpc_scope(SCOPE) __kmpc_sections_init(SHARED)
            __kmpc_master(MASTER) __kmpc_masked(MASTER)
            __kmpc_critical(CRITICAL) __kmpc_critical_with_hint(CRITICAL) __kmpc_ordered(ORDERED)
            __kmpc_barrier(BARRIER) __kmpc_cancel_barrier(BARRIER) __kmpc_barrier_master(BARRIER)
            __kmpc_barrier_master_nowait(BARRIER)
            __kmpc_reduce(NOTHING, GivesPart) __kmpc_reduce_nowait(NOTHING, GivesPart)
            __kmpc_flush(FLUSH)
            __kmpc_omp_task(TASK, Creates) __kmpc_omp_task_with_deps(TASK, Creates)
            __kmpc_omp_task_begin_if0(TASK)
            __kmpc_taskloop(TASKLOOP) __kmpc_taskloop_5(TASKLOOP)
            __kmpc_omp_taskwait(TASKWAIT) __kmpc_omp_taskwait_deps_51(TASKWAIT)
            __kmpc_omp_wait_deps(TASKWAIT)
            __kmpc_omp_taskyield(NOTHING) __kmpc_taskgroup(TASKGROUP)
            __kmpc_cancel(CANCEL) __kmpc_cancellationpoint(CANCEL);
            __kmpc_end_critical(critical_ends) __kmpc_end_ordered(ordered_ends)
        }
    };
}

macro_rules! numbers {
    ($($name:ident($kinds:ident $(, $does:ident $($value:ident)?)?))+; $($end:ident($reports:ident))+) => {
        /// The numbers of the entries.
        #[allow(non_camel_case_types, missing_docs)]
        #[derive(Clone, Copy, Debug)]
        pub enum Number { $($name,)+ $($end,)+ }

        /// Their names, by number.
        const NAMES: &[&CStr] = &[
            $(dynamic::name(concat!(stringify!($name), "\0")),)+
            $(dynamic::name(concat!(stringify!($end), "\0")),)+
        ];
    };
}

for_llvm_entries!(numbers);

macro_rules! requests {
    ($($name:ident($value:ident))+) => {
        /// The numbers of entries that hand out chunks.
        #[allow(non_camel_case_types, missing_docs)]
        #[derive(Clone, Copy, Debug)]
        pub enum Request { $($name,)+ }

        /// Their names, by number.
        const OF_REQUESTS: &[&CStr] = &[$(
            dynamic::name(concat!(stringify!($name), "\0")),
        )+];
    };
}

crate::for_llvm_requests!(requests);

/// The offset that is added to the numbers of the entries that hand out chunks, to look up their functions.
pub(super) const REQUESTS: usize = NAMES.len();

/// All names by number.
fn names() -> impl Iterator<Item = &'static CStr> {
    NAMES.iter().chain(OF_REQUESTS).copied()
}

/// The functions by number, if all modules call the same ones; otherwise 0.
pub static TARGETS: [AtomicUsize; NAMES.len()] = [const { AtomicUsize::new(0) }; NAMES.len()];

/// Fills [`TARGETS`], if the program was started with such a runtime.
pub extern "C" fn find_targets() {
    errno::keep(|| {
        // Most programs have no such runtime.
        if called::by_all(NAMES[Number::__kmpc_fork_call as usize]).is_none() {
            return;
        }
        uninstrumented::llvm_is_called();
        for (target, name) in TARGETS.iter().zip(NAMES) {
            let found = called::by_all(name).map_or(0, |found| found.addr());
            target.store(found, Ordering::Relaxed);
        }
    });
}

/// The function that a call at some place reaches.
#[derive(Debug)]
struct Target {
    /// Where the call returns to.
    address: usize,
    number: usize,
    function: usize,
}

impl by_address::AddressRecord for Target {
    fn address(&self) -> usize {
        self.address
    }

    fn replaces(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

static TABLE: Table<Target> = Table::none();

static BOOK: Mutex<Registry<(usize, usize), Target>> = Mutex::new(Registry::new());

/// The functions that modules call, by the address at which the module is loaded.
static MODULES: Mutex<Modules> = Mutex::new(Modules {
    functions: BTreeMap::new(),
    unloaded: 0,
});

struct Modules {
    functions: BTreeMap<usize, &'static [usize]>,
    /// How many modules had been unloaded when the first was entered.
    unloaded: u64,
}

/// The function that the call of an entry reaches; `caller` is where the call returns to.
pub extern "C" fn target(number: usize, caller: usize) -> usize {
    match TABLE.find(caller, |target| target.number == number) {
        Some(target) => target.function,
        None => look_up(number, caller),
    }
}

#[cold]
#[inline(never)]
fn look_up(number: usize, caller: usize) -> usize {
    errno::keep(|| {
        let (path, base) = modules::module_at(caller).unwrap_or_default();
        let name = names().nth(number).unwrap_or_default();
        let function = |name: &CStr| called::by(&path, name).map_or(0, |found| found.addr());
        let found = match of_module(base, function) {
            Some(functions) => functions.get(number).copied().unwrap_or(0),
            None => function(name),
        };
        if found == 0 {
            called::cannot_call(name);
        }
        let target = Target {
            address: caller,
            number,
            function: found,
        };
        let mut book = lock(&BOOK);
        book.forget_unloaded(&TABLE);
        if book.get(&(caller, number)).is_none()
            && let Some(target) = leak(target)
        {
            book.enter((caller, number), target, &TABLE);
        }
        found
    })
}

/// The functions that a module calls; none if memory is short.
fn of_module(base: usize, function: impl Fn(&CStr) -> usize) -> Option<&'static [usize]> {
    let unloaded = modules::unloaded();
    {
        let mut modules = lock(&MODULES);
        if modules.unloaded != unloaded {
            modules.unloaded = unloaded;
            modules.functions.clear();
        }
        if let Some(known) = modules.functions.get(&base) {
            return Some(known);
        }
    }
    uninstrumented::llvm_is_called();
    // Nothing must be locked here: a thread that loads a library may wait for it.
    let mut names = names();
    let functions = leak_slice(NAMES.len() + OF_REQUESTS.len(), || {
        names.next().map_or(0, &function)
    })?;
    lock(&MODULES).functions.insert(base, functions);
    Some(functions)
}
