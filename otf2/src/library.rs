//! The functions of libotf2 that are called, with the types of its headers.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int, c_void};

use crate::Error;

/// Names of the library, newest first: the project's own, and Debian's.
const NAMES: &[&str] = &[
    "libotf2.so.10",
    "libopen-trace-format2.so.10",
    "libotf2.so.9",
    "libotf2.so.8",
    "libotf2.so",
    "libopen-trace-format2.so",
];

/// The callback that says whether a full buffer is written out.
type PreFlush = extern "C" fn(*mut c_void, u8, u64, *mut c_void, bool) -> u8;
/// The callback that says when that ended. There is none, so that no record of it is made.
type PostFlush = Option<extern "C" fn(*mut c_void, u8, u64) -> u64>;

/// `OTF2_FlushCallbacks`
#[repr(C)]
pub(crate) struct FlushCallbacks {
    pre: PreFlush,
    post: PostFlush,
}

/// `OTF2_FLUSH`, always.
extern "C" fn flush(_: *mut c_void, _: u8, _: u64, _: *mut c_void, _: bool) -> u8 {
    1
}

pub(crate) static FLUSH: FlushCallbacks = FlushCallbacks {
    pre: flush,
    post: None,
};

/// Handles of the library's.
pub(crate) type Handle = *mut c_void;
/// A C string.
pub(crate) type Text = *const c_char;

macro_rules! functions {
    ($($name:ident = $symbol:literal: fn($($argument:ty),*) -> $result:ty;)*) => {
        /// The library, and its functions.
        pub struct Library {
            $(pub(crate) $name: unsafe extern "C" fn($($argument),*) -> $result,)*
            /// The functions live as long as it does.
            _library: libloading::Library,
        }

        impl Library {
            fn resolve(library: libloading::Library) -> Result<Self, libloading::Error> {
                // SAFETY: the types are those of the headers of OTF2 3.0; a function
                // is called only through `Self`, which keeps the library loaded.
                unsafe {
                    Ok(Self {
                        $($name: *library.get($symbol.to_bytes_with_nul())?,)*
                        _library: library,
                    })
                }
            }
        }
    };
}

functions! {
    open = c"OTF2_Archive_Open": fn(Text, Text, u8, u64, u64, u8, u8) -> Handle;
    close = c"OTF2_Archive_Close": fn(Handle) -> c_int;
    set_flush = c"OTF2_Archive_SetFlushCallbacks": fn(Handle, *const FlushCallbacks, *mut c_void) -> c_int;
    set_serial = c"OTF2_Archive_SetSerialCollectiveCallbacks": fn(Handle) -> c_int;
    open_events = c"OTF2_Archive_OpenEvtFiles": fn(Handle) -> c_int;
    close_events = c"OTF2_Archive_CloseEvtFiles": fn(Handle) -> c_int;
    event_writer = c"OTF2_Archive_GetEvtWriter": fn(Handle, u64) -> Handle;
    close_event_writer = c"OTF2_Archive_CloseEvtWriter": fn(Handle, Handle) -> c_int;
    open_local = c"OTF2_Archive_OpenDefFiles": fn(Handle) -> c_int;
    close_local = c"OTF2_Archive_CloseDefFiles": fn(Handle) -> c_int;
    local_writer = c"OTF2_Archive_GetDefWriter": fn(Handle, u64) -> Handle;
    close_local_writer = c"OTF2_Archive_CloseDefWriter": fn(Handle, Handle) -> c_int;
    global_writer = c"OTF2_Archive_GetGlobalDefWriter": fn(Handle) -> Handle;
    clock = c"OTF2_GlobalDefWriter_WriteClockProperties": fn(Handle, u64, u64, u64, u64) -> c_int;
    paradigm = c"OTF2_GlobalDefWriter_WriteParadigm": fn(Handle, u8, u32, u8) -> c_int;
    string = c"OTF2_GlobalDefWriter_WriteString": fn(Handle, u32, Text) -> c_int;
    node = c"OTF2_GlobalDefWriter_WriteSystemTreeNode": fn(Handle, u32, u32, u32, u32) -> c_int;
    process = c"OTF2_GlobalDefWriter_WriteLocationGroup": fn(Handle, u32, u32, u8, u32, u32) -> c_int;
    location = c"OTF2_GlobalDefWriter_WriteLocation": fn(Handle, u64, u32, u8, u64, u32) -> c_int;
    region = c"OTF2_GlobalDefWriter_WriteRegion": fn(Handle, u32, u32, u32, u32, u8, u8, u32, u32, u32, u32) -> c_int;
    group = c"OTF2_GlobalDefWriter_WriteGroup": fn(Handle, u32, u32, u8, u8, u32, u32, *const u64) -> c_int;
    comm = c"OTF2_GlobalDefWriter_WriteComm": fn(Handle, u32, u32, u32, u32, u32) -> c_int;
    metric_member = c"OTF2_GlobalDefWriter_WriteMetricMember": fn(Handle, u32, u32, u32, u8, u8, u8, u8, i64, u32) -> c_int;
    metric_class = c"OTF2_GlobalDefWriter_WriteMetricClass": fn(Handle, u32, u8, *const u32, u8, u8) -> c_int;
    metric = c"OTF2_EvtWriter_Metric": fn(Handle, Handle, u64, u32, u8, *const u8, *const u64) -> c_int;
    enter = c"OTF2_EvtWriter_Enter": fn(Handle, Handle, u64, u32) -> c_int;
    leave = c"OTF2_EvtWriter_Leave": fn(Handle, Handle, u64, u32) -> c_int;
    fork = c"OTF2_EvtWriter_ThreadFork": fn(Handle, Handle, u64, u8, u32) -> c_int;
    join = c"OTF2_EvtWriter_ThreadJoin": fn(Handle, Handle, u64, u8) -> c_int;
    collective_begin = c"OTF2_EvtWriter_MpiCollectiveBegin": fn(Handle, Handle, u64) -> c_int;
    collective_end = c"OTF2_EvtWriter_MpiCollectiveEnd": fn(Handle, Handle, u64, u8, u32, u32, u64, u64) -> c_int;
    team_begin = c"OTF2_EvtWriter_ThreadTeamBegin": fn(Handle, Handle, u64, u32) -> c_int;
    team_end = c"OTF2_EvtWriter_ThreadTeamEnd": fn(Handle, Handle, u64, u32) -> c_int;
    task_create = c"OTF2_EvtWriter_ThreadTaskCreate": fn(Handle, Handle, u64, u32, u32, u32) -> c_int;
    task_switch = c"OTF2_EvtWriter_ThreadTaskSwitch": fn(Handle, Handle, u64, u32, u32, u32) -> c_int;
    task_complete = c"OTF2_EvtWriter_ThreadTaskComplete": fn(Handle, Handle, u64, u32, u32, u32) -> c_int;
}

impl std::fmt::Debug for Library {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Library")
    }
}

impl Library {
    /// Loads the library: the file that is named, else the one that the system finds.
    ///
    /// # Errors
    /// If there is none, or a function is missing in it.
    pub fn load(named: Option<&std::ffi::OsStr>) -> Result<Self, Error> {
        let open = |name: &std::ffi::OsStr| {
            // SAFETY: loading libotf2 runs no code except that of the C library.
            unsafe { libloading::Library::new(name) }
        };
        let library = match named {
            Some(name) => open(name),
            None => {
                let mut found = open(NAMES[0].as_ref());
                for name in &NAMES[1..] {
                    found = found.or_else(|_| open(name.as_ref()));
                }
                found
            }
        };
        library
            .and_then(Self::resolve)
            .map_err(|error| Error::Library(reason(&error)))
    }
}

/// The message of the system, which the error itself does not show.
fn reason(error: &dyn std::error::Error) -> String {
    let cause = error.source().map(ToString::to_string);
    cause.unwrap_or_else(|| error.to_string())
}

/// A pointer for the library, to bytes that outlive the call.
pub(crate) fn text(text: &CStr) -> Text {
    text.as_ptr()
}
