//! The start of OMPT: the runtime asks for a tool, and gets the callbacks.

use std::ffi::{c_char, c_int, c_uint, c_void};

use profile::model::Run;
use profile::outside::Interface;

use super::super::uninstrumented;
pub use super::abi::StartResult;
use super::abi::{Data, Lookup, SetCallback, Start, event};
use super::{chunks, events, outlived, places};
use crate::measure::{config, facts, message, state};

static RESULT: StartResult = StartResult {
    initialize,
    finalize,
    tool_data: 0,
};

/// A runtime asks for a tool. If the program has a tool of its own, that one is taken.
///
/// # Safety
/// As OpenMP says of `ompt_start_tool`.
pub unsafe extern "C" fn start(version: c_uint, runtime: *const c_char) -> *const StartResult {
    // SAFETY: the name is a C string.
    let next = unsafe { libc::dlsym(libc::RTLD_NEXT, c"ompt_start_tool".as_ptr()) };
    if !next.is_null() {
        // SAFETY: OpenMP says what a function of this name takes, and that is passed on.
        let theirs = unsafe { std::mem::transmute::<*mut c_void, Start>(next)(version, runtime) };
        if !theirs.is_null() {
            message::say("the program has its own OMPT tool: its OpenMP runtime is not measured");
            return theirs;
        }
    }
    if std::env::var_os("OMP_TOOL_LIBRARIES").is_some_and(|list| !list.is_empty()) {
        message::say(
            "OMP_TOOL_LIBRARIES names another OMPT tool: LLVM's OpenMP runtime is not measured",
        );
        return std::ptr::null();
    }
    match state::is_off() {
        true => std::ptr::null(),
        false => &raw const RESULT,
    }
}

unsafe extern "C" fn initialize(lookup: Lookup, _device: c_int, _data: Data) -> c_int {
    // SAFETY: the runtime gives what it has under this name, which OpenMP describes.
    let set: Option<SetCallback> =
        unsafe { std::mem::transmute(lookup(c"ompt_set_callback".as_ptr())) };
    let Some(set) = set else { return 0 };
    let is_outlived = outlived::may_outlive_this_thread();
    for (number, function) in events::CALLBACKS {
        if is_outlived && *number == event::MUTEX_RELEASED {
            continue;
        }
        // SAFETY: the function is one for this event.
        unsafe { set(*number, (**function).cast()) };
    }
    places::add_runtime(lookup as *const () as usize);
    chunks::find_questions(lookup);
    facts::add(describe);
    uninstrumented::begin();
    // Measurement begins with the first event, which is not there yet.
    if config::variable("ROMP_TRACE").is_some() {
        for (number, function) in events::OF_TRACES {
            // SAFETY: as above.
            unsafe { set(*number, (**function).cast()) };
        }
    }
    1
}

unsafe extern "C" fn finalize(_data: Data) {}

fn describe(run: &mut Run) {
    for path in places::runtimes() {
        uninstrumented::add_runtime(run, &path, events::widest(), Interface::Ompt);
        if let Some(runtime) = run.runtimes.last_mut() {
            let missing = outlived::not_visible().map(str::to_owned);
            runtime.not_visible.extend(missing);
        }
    }
}
