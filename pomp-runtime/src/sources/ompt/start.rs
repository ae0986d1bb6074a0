//! The runtime asks for a tool, and is told what to call.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::path::PathBuf;
use std::sync::Mutex;

use profile::model::{self, Run};

use super::super::uninstrumented;
pub use super::abi::StartResult;
use super::abi::{Data, Lookup, SetCallback, Start};
use super::events;
use crate::measure::mutex::lock;
use crate::measure::{facts, message, modules, state};

static RESULT: StartResult = StartResult {
    initialize,
    finalize,
    tool_data: 0,
};

/// The files of the runtimes that call us.
static RUNTIMES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A runtime asks for a tool. The program's own is taken instead of us.
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
            message::say("the program has a tool for OMPT of its own: its runtime is not measured");
            return theirs;
        }
    }
    if std::env::var_os("OMP_TOOL_LIBRARIES").is_some_and(|list| !list.is_empty()) {
        message::say("OMP_TOOL_LIBRARIES names another tool: LLVM's runtime is not measured");
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
    for (event, function) in events::CALLBACKS {
        // SAFETY: the function is one for this event.
        unsafe { set(*event, (**function).cast()) };
    }
    let path = modules::of(lookup as *const () as usize).map(|(path, _)| path);
    lock(&RUNTIMES).extend(path);
    facts::add(describe);
    uninstrumented::begin();
    1
}

unsafe extern "C" fn finalize(_data: Data) {}

fn describe(run: &mut Run) {
    for path in lock(&RUNTIMES).iter() {
        run.runtimes.push(model::Runtime {
            path: path.to_string_lossy().into_owned(),
            threads: events::widest(),
        });
    }
    uninstrumented::add_unseen(run, UNSEEN);
}

/// What this interface does not tell of.
const UNSEEN: &[&str] = &["atomic", "how long the creation of a task takes"];
