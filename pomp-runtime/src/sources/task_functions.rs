//! The functions that a runtime gets instead of the function of a task, where the task has no
//! events of its own. Runtimes copy and change the data of a task (the handle of its event, the
//! bounds of a taskloop, reductions), so the data is left alone. Instead, there is one stub for
//! each function. The stub knows the function by the stub's own address.

use std::ffi::c_int;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::boundary::event_of;
use super::own_code;
use super::pomp::{begin_execution, on_event};
use crate::measure::coarse_times;
use crate::measure::errno;
use crate::measure::records::Region;
use crate::measure::records::region;
use crate::measure::shared::{SharedRef, leak};
use profile::event::Event;

/// How many functions can be measured.
const STUBS: usize = match cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
    true => 1024,
    false => 0,
};

/// Bytes of a stub.
const BYTES: usize = 16;

/// The function of a task. GCC's runtime passes its data to it. LLVM's runtime passes the number
/// of the thread and the data, and the function returns 0.
type Function = unsafe extern "C-unwind" fn(usize, usize) -> c_int;

/// The function of a task, and the region of the construct that creates it.
#[derive(Debug)]
pub(super) struct TaskFunction {
    function: usize,
    region: &'static Region,
    number: usize,
}

/// The functions that are known, by the numbers of their stubs.
static KNOWN: [SharedRef<TaskFunction>; STUBS] = [const { SharedRef::none() }; STUBS];
/// How many of them there are.
static NUMBER: AtomicUsize = AtomicUsize::new(0);

impl TaskFunction {
    /// Returns the entry of a function and its region; none if there are no more stubs.
    pub(super) fn of(function: usize, region: &'static Region) -> Option<&'static Self> {
        Self::known(function, region).or_else(|| {
            let _new = region::new();
            Self::known(function, region).or_else(|| Self::new(function, region))
        })
    }

    /// Returns the entry if it is there already.
    fn known(function: usize, region: &'static Region) -> Option<&'static Self> {
        let number = NUMBER.load(Ordering::Acquire);
        let mut known = KNOWN.iter().take(number).filter_map(SharedRef::get);
        known.find(|known| known.function == function && std::ptr::eq(known.region, region))
    }

    /// Makes a new entry. Only for a caller that holds `region::new`.
    pub(super) fn new(function: usize, region: &'static Region) -> Option<&'static Self> {
        let number = NUMBER.load(Ordering::Relaxed);
        let place = KNOWN.get(number)?;
        // The region of the executions is in the profile also if no task is ever executed.
        region.execution()?;
        let body = Self {
            function,
            region,
            number,
        };
        let body = errno::keep(|| leak(body))?;
        place.set(Some(body));
        NUMBER.store(number + 1, Ordering::Release);
        Some(body)
    }

    /// The address of the stub, which the runtime gets instead of the function.
    pub(super) fn stub(&self) -> usize {
        (&raw const romp_task_stubs).addr() + self.number * BYTES
    }
}

unsafe extern "C" {
    /// Where the stubs stand.
    static romp_task_stubs: u8;
}

// Each stub hands on its own address, as an argument after those of any task.
#[cfg(target_arch = "x86_64")]
macro_rules! stub {
    () => {
        "lea rdx, [rip]\n jmp {run}"
    };
}

#[cfg(target_arch = "aarch64")]
macro_rules! stub {
    () => {
        "adr x2, . + 4\n b {run}"
    };
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
macro_rules! stub {
    () => {
        ".8byte {run}"
    };
}

std::arch::global_asm!(
    ".pushsection .text.romp_task_stubs, \"ax\", %progbits",
    ".balign 16",
    ".hidden romp_task_stubs",
    ".globl romp_task_stubs",
    "romp_task_stubs:",
    ".rept {stubs}",
    stub!(),
    ".balign {bytes}",
    ".endr",
    ".popsection",
    stubs = const STUBS,
    bytes = const BYTES,
    run = sym run,
);

/// The function that all stubs run; `place` is the address after the stub's first instruction.
unsafe extern "C-unwind" fn run(first: usize, second: usize, place: usize) -> c_int {
    let number = place.wrapping_sub((&raw const romp_task_stubs).addr()) / BYTES;
    let Some(body) = KNOWN.get(number).and_then(SharedRef::get) else {
        return 0;
    };
    let region = body.region;
    begin_execution(|| Some(region), |_| Some(region), 0);
    let around = own_code::enter(body.function);
    // SAFETY: the program made the task of this function; the runtime calls it with these.
    let result = unsafe {
        let function: Function = std::mem::transmute(body.function);
        function(first, second)
    };
    own_code::leave(around);
    if !coarse_times::is_recorded(Event::TaskEnd, || region.known_execution()) {
        event_of(
            |_| region.execution(),
            |thread, region| on_event(Event::TaskEnd, thread, region),
        );
    }
    result
}
