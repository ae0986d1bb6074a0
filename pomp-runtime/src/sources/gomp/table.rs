//! The entry points, as one table.
//!
//! A row has the name of the entry, its shape, the region to which its events belong, and the
//! events before and after the call. To measure another entry, add a row.

use std::ffi::CStr;

use profile::region_kind::RegionKind;

use super::super::pomp::on_event;
use crate::measure::dynamic;
use crate::measure::records::Region;
use crate::measure::thread::Thread;
use profile::event::Event;

/// The region to which the events of an entry belong.
#[derive(Clone, Copy, Debug)]
pub(super) enum EventRegion {
    /// A region of this type, which is known by the place of the call.
    Call(&'static str),
    /// A region of this type, which is known by the body: the function that is passed.
    Body(&'static str),
    /// A critical section, which is known by the place of the call, and named by the word that is
    /// passed.
    Named,
    /// A loop whose iterations are shared out without the runtime, known by the place of the call.
    Head,
    /// The innermost open region of this kind.
    Open(RegionKind),
}

/// The contents of a row.
pub trait Entry: row::Row {}

impl<R: row::Row> Entry for R {}

pub(super) mod row {
    use super::{CStr, Event, EventRegion, Region, Thread};

    /// The contents of a row, for this folder alone.
    pub trait Row {
        /// Its number in the table.
        const NUMBER: usize;
        /// Its name.
        const NAME: &'static CStr;
        /// The region to which its events belong.
        #[allow(private_interfaces)]
        const OF: EventRegion;
        /// The events before the call.
        const BEFORE: &'static [Event];
        /// The events after the call.
        const AFTER: &'static [Event];
        /// Reports the events before the call.
        #[allow(private_interfaces)]
        fn before(thread: &'static Thread, region: &'static Region);
        /// Reports the events after the call.
        #[allow(private_interfaces)]
        fn after(thread: &'static Thread, region: &'static Region);
    }
}

/// The table: `define!` gets it.
#[macro_export]
macro_rules! for_gomp_entries {
    ($define:ident) => {
        $define! {
            GOMP_parallel: parallel(Body("parallel"); ; );
            GOMP_parallel_reductions: parallel(Body("parallel"); ; );
            GOMP_parallel_loop_static: parallel(Body("parallelfor"); LoopEnter; LoopExit);
            GOMP_parallel_loop_dynamic: parallel(Body("parallelfor"); LoopEnter; LoopExit);
            GOMP_parallel_loop_guided: parallel(Body("parallelfor"); LoopEnter; LoopExit);
            GOMP_parallel_loop_runtime: parallel(Body("parallelfor"); LoopEnter; LoopExit);
            GOMP_parallel_loop_nonmonotonic_dynamic: parallel(Body("parallelfor"); LoopEnter; LoopExit);
            GOMP_parallel_loop_nonmonotonic_guided: parallel(Body("parallelfor"); LoopEnter; LoopExit);
            GOMP_parallel_loop_nonmonotonic_runtime: parallel(Body("parallelfor"); LoopEnter; LoopExit);
            GOMP_parallel_loop_maybe_nonmonotonic_runtime: parallel(Body("parallelfor"); LoopEnter; LoopExit);
            GOMP_parallel_sections: parallel(Body("parallelsections"); SectionsEnter; SectionsExit);

            GOMP_parallel_start: parallel_start(Body("parallel"); ; );
            GOMP_parallel_loop_static_start: parallel_start(Body("parallelfor"); LoopEnter; LoopExit);
            GOMP_parallel_loop_dynamic_start: parallel_start(Body("parallelfor"); LoopEnter; LoopExit);
            GOMP_parallel_loop_guided_start: parallel_start(Body("parallelfor"); LoopEnter; LoopExit);
            GOMP_parallel_loop_runtime_start: parallel_start(Body("parallelfor"); LoopEnter; LoopExit);
            GOMP_parallel_sections_start: parallel_start(Body("parallelsections"); SectionsEnter; SectionsExit);
            GOMP_parallel_end: parallel_end(Open(RegionKind::Parallel); ; );

            GOMP_teams_reg: around(Body("teams"); TeamsEnter; TeamsExit);

            GOMP_loop_static_start: around(Call("for"); LoopEnter; );
            GOMP_loop_dynamic_start: around(Call("for"); LoopEnter; );
            GOMP_loop_guided_start: around(Call("for"); LoopEnter; );
            GOMP_loop_runtime_start: around(Call("for"); LoopEnter; );
            GOMP_loop_nonmonotonic_dynamic_start: around(Call("for"); LoopEnter; );
            GOMP_loop_nonmonotonic_guided_start: around(Call("for"); LoopEnter; );
            GOMP_loop_nonmonotonic_runtime_start: around(Call("for"); LoopEnter; );
            GOMP_loop_maybe_nonmonotonic_runtime_start: around(Call("for"); LoopEnter; );
            GOMP_loop_ordered_static_start: around(Call("for"); LoopEnter; );
            GOMP_loop_ordered_dynamic_start: around(Call("for"); LoopEnter; );
            GOMP_loop_ordered_guided_start: around(Call("for"); LoopEnter; );
            GOMP_loop_ordered_runtime_start: around(Call("for"); LoopEnter; );
            GOMP_loop_doacross_static_start: around(Call("for"); LoopEnter; );
            GOMP_loop_doacross_dynamic_start: around(Call("for"); LoopEnter; );
            GOMP_loop_doacross_guided_start: around(Call("for"); LoopEnter; );
            GOMP_loop_doacross_runtime_start: around(Call("for"); LoopEnter; );
            GOMP_loop_start: around_many(Call("for"); LoopEnter; );
            GOMP_loop_ordered_start: around_many(Call("for"); LoopEnter; );
            GOMP_loop_doacross_start: around_many(Call("for"); LoopEnter; );
            GOMP_loop_ull_static_start: around_many(Call("for"); LoopEnter; );
            GOMP_loop_ull_dynamic_start: around_many(Call("for"); LoopEnter; );
            GOMP_loop_ull_guided_start: around_many(Call("for"); LoopEnter; );
            GOMP_loop_ull_runtime_start: around_many(Call("for"); LoopEnter; );
            GOMP_loop_ull_nonmonotonic_dynamic_start: around_many(Call("for"); LoopEnter; );
            GOMP_loop_ull_nonmonotonic_guided_start: around_many(Call("for"); LoopEnter; );
            GOMP_loop_ull_nonmonotonic_runtime_start: around_many(Call("for"); LoopEnter; );
            GOMP_loop_ull_maybe_nonmonotonic_runtime_start: around_many(Call("for"); LoopEnter; );
            GOMP_loop_ull_ordered_static_start: around_many(Call("for"); LoopEnter; );
            GOMP_loop_ull_ordered_dynamic_start: around_many(Call("for"); LoopEnter; );
            GOMP_loop_ull_ordered_guided_start: around_many(Call("for"); LoopEnter; );
            GOMP_loop_ull_ordered_runtime_start: around_many(Call("for"); LoopEnter; );
            GOMP_loop_ull_doacross_static_start: around_many(Call("for"); LoopEnter; );
            GOMP_loop_ull_doacross_dynamic_start: around_many(Call("for"); LoopEnter; );
            GOMP_loop_ull_doacross_guided_start: around_many(Call("for"); LoopEnter; );
            GOMP_loop_ull_doacross_runtime_start: around_many(Call("for"); LoopEnter; );
            GOMP_loop_ull_start: around_many(Call("for"); LoopEnter; );
            GOMP_loop_ull_ordered_start: around_many(Call("for"); LoopEnter; );
            GOMP_loop_ull_doacross_start: around_many(Call("for"); LoopEnter; );
            GOMP_loop_end: around(Open(RegionKind::Loop); ImplicitBarrierEnter; ImplicitBarrierExit LoopExit);
            GOMP_loop_end_cancel: around(Open(RegionKind::Loop); ImplicitBarrierEnter; ImplicitBarrierExit LoopExit);
            GOMP_loop_end_nowait: around(Open(RegionKind::Loop); ; LoopExit);

            omp_get_num_threads: head_begins(Head; ; );
            omp_get_thread_num: head_ends(Head; LoopEnter; );

            GOMP_sections_start: sections(Call("sections"); SectionsEnter; );
            GOMP_sections2_start: sections(Call("sections"); SectionsEnter; );
            GOMP_sections_next: sections(Open(RegionKind::Sections); ; );
            GOMP_sections_end: around(Open(RegionKind::Sections); ImplicitBarrierEnter; ImplicitBarrierExit SectionsExit);
            GOMP_sections_end_cancel: around(Open(RegionKind::Sections); ImplicitBarrierEnter; ImplicitBarrierExit SectionsExit);
            GOMP_sections_end_nowait: around(Open(RegionKind::Sections); ; SectionsExit);

            GOMP_single_start: single(Call("single"); SingleEnter; SingleBegin);
            GOMP_single_copy_start: single(Call("single"); SingleEnter; SingleBegin);
            GOMP_single_copy_end: around(Open(RegionKind::Single); SingleEnd; SingleExit);

            GOMP_barrier: around(Call("barrier"); BarrierEnter; BarrierExit);
            GOMP_barrier_cancel: around(Call("barrier"); BarrierEnter; BarrierExit);
            GOMP_critical_start: around(Call("critical"); CriticalEnter; CriticalBegin);
            GOMP_critical_end: around(Open(RegionKind::Critical); CriticalEnd; CriticalExit);
            GOMP_critical_name_start: around(Named; CriticalEnter; CriticalBegin);
            GOMP_critical_name_end: around(Open(RegionKind::Critical); CriticalEnd; CriticalExit);
            GOMP_atomic_start: around(Call("atomic"); AtomicEnter; );
            GOMP_atomic_end: around(Open(RegionKind::Atomic); ; AtomicExit);
            GOMP_ordered_start: around(Call("ordered"); OrderedEnter; OrderedBegin);
            GOMP_ordered_end: around(Open(RegionKind::Ordered); OrderedEnd; OrderedExit);
            GOMP_doacross_post: around(Call("ordered"); OrderedEnter; OrderedExit);
            GOMP_doacross_ull_post: around(Call("ordered"); OrderedEnter; OrderedExit);
            GOMP_doacross_wait: around_many(Call("ordered"); OrderedEnter; OrderedExit);
            GOMP_doacross_ull_wait: around_many(Call("ordered"); OrderedEnter; OrderedExit);

            GOMP_task: task(Body("task"); TaskCreateEnter; TaskCreateExit);
            GOMP_taskloop: task(Body("taskloop"); TaskloopEnter; TaskloopExit);
            GOMP_taskloop_ull: task(Body("taskloop"); TaskloopEnter; TaskloopExit);
            GOMP_taskwait: around(Call("taskwait"); TaskwaitEnter; TaskwaitExit);
            GOMP_taskwait_depend: around(Call("taskwait"); TaskwaitEnter; TaskwaitExit);
            GOMP_taskyield: around(Call("taskyield"); TaskyieldEnter; TaskyieldExit);
            GOMP_taskgroup_start: around(Call("taskgroup"); TaskgroupEnter; TaskgroupBegin);
            GOMP_taskgroup_end: around(Open(RegionKind::Taskgroup); TaskgroupEnd; TaskgroupExit);

            GOMP_cancel: around(Call("cancel"); ConstructEnter; ConstructExit);
            GOMP_cancellation_point: around(Call("cancellationpoint"); ConstructEnter; ConstructExit);
            GOMP_target_ext: around_many(Call("target"); TargetEnter; TargetExit);
            GOMP_target_update_ext: around_many(Call("targetupdate"); TargetEnter; TargetExit);

            omp_init_lock: lock_call(Call("lock"); ; );
            omp_init_lock_: lock_call(Call("lock"); ; );
            omp_init_nest_lock: lock_call(Call("lock"); ; );
            omp_init_nest_lock_: lock_call(Call("lock"); ; );
            omp_init_lock_with_hint: lock_call(Call("lock"); ; );
            omp_init_lock_with_hint_: lock_call(Call("lock"); ; );
            omp_init_nest_lock_with_hint: lock_call(Call("lock"); ; );
            omp_init_nest_lock_with_hint_: lock_call(Call("lock"); ; );
            omp_destroy_lock: lock_call(Call("lock"); ; );
            omp_destroy_lock_: lock_call(Call("lock"); ; );
            omp_destroy_nest_lock: lock_call(Call("lock"); ; );
            omp_destroy_nest_lock_: lock_call(Call("lock"); ; );
            omp_set_lock: lock_set(Call("lock"); ; );
            omp_set_lock_: lock_set(Call("lock"); ; );
            omp_set_nest_lock: nest_lock_set(Call("lock"); ; );
            omp_set_nest_lock_: nest_lock_set(Call("lock"); ; );
            omp_unset_lock: lock_unset(Call("lock"); ; );
            omp_unset_lock_: lock_unset(Call("lock"); ; );
            omp_unset_nest_lock: nest_lock_unset(Call("lock"); ; );
            omp_unset_nest_lock_: nest_lock_unset(Call("lock"); ; );
            omp_test_lock: lock_test(Call("lock"); ; );
            omp_test_lock_: lock_test(Call("lock"); ; );
            omp_test_nest_lock: nest_lock_test(Call("lock"); ; );
            omp_test_nest_lock_: nest_lock_test(Call("lock"); ; );
        }
    };
}

macro_rules! rows {
    ($($name:ident: $shape:ident($of:expr; $($before:ident)*; $($after:ident)*);)+) => {
        #[allow(non_camel_case_types)]
        enum Number { $($name,)+ }

        /// The names, by number.
        pub(super) const NAMES: &[&CStr] = &[$(dynamic::name(concat!(stringify!($name), "\0")),)+];

        /// The rows, as types: each has the name of its entry.
        pub mod entries {
            use super::*;
            use EventRegion::{Body, Call, Head, Named, Open};

            $(
                /// The row of the entry of this name.
                #[allow(non_camel_case_types)]
                #[derive(Debug)]
                pub enum $name {}

                #[allow(private_interfaces, unused_variables)]
                impl row::Row for $name {
                    const NUMBER: usize = Number::$name as usize;
                    const NAME: &'static CStr = NAMES[Self::NUMBER];
                    const OF: EventRegion = $of;
                    const BEFORE: &'static [Event] = &[$(Event::$before),*];
                    const AFTER: &'static [Event] = &[$(Event::$after),*];

                    #[inline(always)]
                    fn before(thread: &'static Thread, region: &'static Region) {
                        $(on_event(Event::$before, thread, region);)*
                    }

                    #[inline(always)]
                    fn after(thread: &'static Thread, region: &'static Region) {
                        $(on_event(Event::$after, thread, region);)*
                    }
                }
            )+
        }
    };
}

for_gomp_entries!(rows);

macro_rules! requests {
    ($($name:ident)+) => {
        /// The entries that give the next chunk of a loop.
        #[allow(non_camel_case_types, missing_docs)]
        #[derive(Clone, Copy, Debug)]
        pub enum Request { $($name,)+ }

        /// Their names, by number.
        pub(super) const REQUESTS: &[&CStr] = &[$(dynamic::name(concat!(stringify!($name), "\0")),)+];
    };
}

crate::for_gomp_requests!(requests);
