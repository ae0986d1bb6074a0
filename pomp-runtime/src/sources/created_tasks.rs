//! Tasks as they are given to a runtime, for traces: on what they depend, and which execution
//! belongs to which creation.
//!
//! Our functions are weak definitions of the runtimes' names. Without a trace, a name is one jump to
//! the runtime's own function. Where the runtime is linked statically, the linker takes the
//! runtime's functions instead, and dependences are not in the trace.
//!
//! GCC's runtime copies the data of a task. It gets a record ([`CreatedTask`]) with the data behind
//! it, so that the record is copied, too, and shows at the execution which creation it belongs to.
//! LLVM's runtime makes the copy itself, in front of the call; there, only the dependences are
//! recorded.

use std::ffi::{CStr, c_int, c_void};
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use super::boundary::thread_event;
use super::dependences::{KmpDepend, each_of_gomp, each_of_kmp};
use super::weak::{define_weakly_by, in_front_of};
use crate::measure::thread::Thread;
use crate::measure::{dynamic, state, trace_stream};

/// Flags of `GOMP_task`.
const DEPENDS: usize = 1 << 3;
const DETACHES: usize = 1 << 13;

/// The arguments that GCC's runtime gets for a task and its data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Made {
    pub(super) function: usize,
    pub(super) data: usize,
    /// The function that copies the data, if moving the bytes is not enough.
    pub(super) copy: usize,
    pub(super) size: usize,
    pub(super) alignment: usize,
}

/// A function that takes a task's data: the task's body, or a copy function. Its result is not
/// used.
type DataFunction = unsafe extern "C-unwind" fn(usize);
type Copy2 = unsafe extern "C-unwind" fn(usize, usize);

/// The record in front of the data of a task.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct CreatedTask {
    /// The runtime writes the event of a detached task here, as the first word of the data.
    event: usize,
    /// Whether that word is to go to the first word of the program's data.
    detaches: bool,
    function: usize,
    /// The label of the creation.
    label: u64,
    /// Where the data is, if it is not behind this record; else 0.
    original: usize,
    copy: usize,
    size: usize,
}

/// Larger alignments than that of the record are left alone.
const MOST_ALIGNMENT: usize = align_of::<CreatedTask>();

/// Words of data that are moved here to stand behind a record. Tasks with more data, and without a
/// function that copies it, are left alone.
const ROOM: usize = 256;

#[repr(C)]
struct Block {
    created: CreatedTask,
    room: [MaybeUninit<u64>; ROOM],
}

/// Calls the runtime for a task with this label. `call` makes the call.
///
/// # Safety
/// `made` and `flags` are what the program gives to `GOMP_task`.
pub(super) unsafe fn linked<R>(
    made: Made,
    flags: usize,
    label: u64,
    call: impl FnOnce(Made) -> R,
) -> R {
    let is_moved = made.copy == 0;
    let fits = made.alignment <= MOST_ALIGNMENT && (!is_moved || made.size <= ROOM * 8);
    if label == 0 || !fits {
        return call(made);
    }
    let created = CreatedTask {
        event: 0,
        detaches: flags & DETACHES != 0,
        function: made.function,
        label,
        original: if is_moved { 0 } else { made.data },
        copy: made.copy,
        size: made.size,
    };
    let ours = |data: usize| Made {
        function: run_linked as *const () as usize,
        data,
        copy: if is_moved {
            0
        } else {
            copy_linked as *const () as usize
        },
        size: size_of::<CreatedTask>() + made.size,
        alignment: made.alignment.max(align_of::<u64>()),
    };
    if !is_moved {
        let mut created = created;
        return call(ours((&raw mut created).expose_provenance()));
    }
    let mut block = Block {
        created,
        room: [const { MaybeUninit::uninit() }; ROOM],
    };
    // SAFETY: as the caller promises, there is so much data; it fits.
    unsafe {
        let from = std::ptr::with_exposed_provenance::<u8>(made.data);
        from.copy_to_nonoverlapping(block.room.as_mut_ptr().cast(), made.size);
    }
    call(ours((&raw mut block).expose_provenance()))
}

/// Copies a record and the data to which it leads.
///
/// # Safety
/// Only for the runtime: `to` has room for a record and its data, and `from` is a record.
unsafe extern "C-unwind" fn copy_linked(to: *mut CreatedTask, from: *const CreatedTask) {
    // SAFETY: as the caller promises; the data is as the program gave it. The runtime aligns the
    // record for the data only.
    unsafe {
        let created = from.read_unaligned();
        if created.detaches {
            std::ptr::with_exposed_provenance_mut::<usize>(created.original).write(created.event);
        }
        to.write_unaligned(CreatedTask {
            detaches: false,
            original: 0,
            ..created
        });
        let copy: Copy2 = std::mem::transmute(created.copy);
        copy(to.add(1).expose_provenance(), created.original);
    }
}

/// Executes a task whose data stands behind a record.
///
/// # Safety
/// Only for the runtime: `created` is a record of ours.
unsafe extern "C-unwind" fn run_linked(created: *mut CreatedTask) {
    // SAFETY: as the caller promises.
    let (label, function, data) = unsafe {
        let read = created.read_unaligned();
        let data = match read.original {
            0 => created.add(1).expose_provenance(),
            original => original,
        };
        if read.detaches {
            std::ptr::with_exposed_provenance_mut::<usize>(data).write(read.event);
        }
        (read.label, read.function, data)
    };
    executes(label);
    // SAFETY: the program gave this function for this data.
    unsafe {
        let function: DataFunction = std::mem::transmute(function);
        function(data);
    }
    executes(0);
}

fn executes(label: u64) {
    thread_event(move |thread| thread.trace.executes(label));
}

/// Records the task that this thread is creating, and its dependences, which `record` records.
/// Gives its label; 0 if it is not traced.
fn created(record: impl FnOnce(&'static Thread, u64) + Copy) -> u64 {
    if !trace_stream::is_wanted() {
        return 0;
    }
    let label = thread_event(move |thread| {
        let task = thread.trace_creation()?;
        record(thread, task);
        Some(task)
    });
    label.flatten().unwrap_or(0)
}

/// As `created`, for GCC's runtime.
///
/// # Safety
/// The arguments are those that the program gives to `GOMP_task`.
pub(super) unsafe fn created_gomp(flags: usize, depend: usize) -> u64 {
    created(move |thread, task| {
        if flags & DEPENDS != 0 {
            // SAFETY: as the caller promises, with this flag it is a list.
            unsafe {
                each_of_gomp(
                    std::ptr::with_exposed_provenance(depend),
                    |kind, address| {
                        thread.trace_depend(task, kind, address);
                    },
                );
            }
        }
    })
}

/// The runtime's own function. If nothing will be traced, the program's calls go there from now
/// on.
fn next(found: &AtomicPtr<c_void>, name: &CStr, word: &AtomicUsize) -> *const c_void {
    let next = dynamic::next(found, name);
    if !next.is_null() && !state::is_new() && !trace_stream::is_wanted() {
        word.store(next.addr(), Ordering::Relaxed);
    }
    next
}

/// Defines a function that stands in front of a runtime's: its name, ours, the word that the name
/// jumps to, the arguments, and what is done with the runtime's function.
macro_rules! in_front {
    (
        $name:ident $ours:ident $word:ident
        ($($argument:ident: $type:ty),*) -> $result:ty, $none:expr, |$next:ident| $call:expr
    ) => {
        unsafe extern "C" {
            static $word: AtomicUsize;
        }

        in_front_of! {
            $name $ours($($argument: $type),*) -> $result, $none,
            // SAFETY: the word is defined beside the name.
            |found, name| next(found, name, unsafe { &$word }),
            // SAFETY: as the caller promises.
            |$next| unsafe { $call }
        }

        define_weakly_by! { stringify!($name) => stringify!($word), stringify!($ours) }
    };
}

in_front! {
    GOMP_task romp_gomp_task romp_gomp_task_word(
        function: usize,
        data: usize,
        copy: usize,
        size: usize,
        alignment: usize,
        condition: usize,
        flags: usize,
        depend: usize,
        priority: usize,
        detach: usize
    ) -> (), (), |next| {
        let label = created_gomp(flags, depend);
        let made = Made { function, data, copy, size, alignment };
        linked(made, flags, label, |made| {
            let Made { function, data, copy, size, alignment } = made;
            next(function, data, copy, size, alignment, condition, flags, depend, priority, detach);
        });
    }
}

/// Records the two lists that are given to LLVM's runtime.
///
/// # Safety
/// The lists have this many items.
unsafe fn created_kmp(lists: [(c_int, *const KmpDepend); 2]) {
    created(move |thread, task| {
        for (number, list) in lists {
            let number = usize::try_from(number).unwrap_or(0);
            // SAFETY: as the caller promises.
            unsafe {
                each_of_kmp(number, list, |kind, address| {
                    thread.trace_depend(task, kind, address);
                });
            }
        }
    });
}

in_front! {
    __kmpc_omp_task_with_deps romp_kmpc_task_with_deps romp_kmpc_task_with_deps_word(
        source: *mut c_void,
        thread: c_int,
        task: *mut c_void,
        number: c_int,
        list: *const KmpDepend,
        more: c_int,
        others: *const KmpDepend
    ) -> c_int, 0, |next| {
        created_kmp([(number, list), (more, others)]);
        next(source, thread, task, number, list, more, others)
    }
}

// A task that is executed at once waits here for those on which it depends.
in_front! {
    __kmpc_omp_wait_deps romp_kmpc_wait_deps romp_kmpc_wait_deps_word(
        source: *mut c_void,
        thread: c_int,
        number: c_int,
        list: *const KmpDepend,
        more: c_int,
        others: *const KmpDepend
    ) -> (), (), |next| {
        created_kmp([(number, list), (more, others)]);
        next(source, thread, number, list, more, others);
    }
}

// The same, of later compilers.
in_front! {
    __kmpc_omp_taskwait_deps_51 romp_kmpc_taskwait_deps_51 romp_kmpc_taskwait_deps_51_word(
        source: *mut c_void,
        thread: c_int,
        number: c_int,
        list: *const KmpDepend,
        more: c_int,
        others: *const KmpDepend,
        goes_on: c_int
    ) -> (), (), |next| {
        created_kmp([(number, list), (more, others)]);
        next(source, thread, number, list, more, others, goes_on);
    }
}
