//! Requests to the collector interface of the program.

use std::ffi::{c_int, c_void};

type Api = unsafe extern "C" fn(*mut c_void) -> c_int;

/// A function that is called at an event.
pub(crate) type Callback = extern "C" fn(c_int);

/// The interface of the program, if it has one.
#[derive(Clone, Copy)]
pub(crate) struct Interface(Api);

/// The size of a message without memory.
const HEADER: c_int = 16;

impl Interface {
    pub(crate) fn find() -> Option<Self> {
        // SAFETY: the name is a C string.
        let symbol = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__omp_collector_api".as_ptr()) };
        if symbol.is_null() {
            return None;
        }
        // SAFETY: what has this name has this type.
        Some(Self(unsafe {
            std::mem::transmute::<*mut c_void, Api>(symbol)
        }))
    }

    /// Sends a message of a request with memory; whether it was answered.
    fn ask<const N: usize>(self, request: c_int, memory: &mut [c_int; N]) -> bool {
        let mut message = [0; 12];
        let size = HEADER + c_int::try_from(4 * N).unwrap_or(0);
        message[..4].copy_from_slice(&[size, request, -1, 0]);
        message[4..4 + N].copy_from_slice(memory);
        // SAFETY: a message as the interface wants it, and a zero behind.
        let is_answered = unsafe { (self.0)(message.as_mut_ptr().cast()) } == 0;
        memory.copy_from_slice(&message[4..4 + N]);
        is_answered && message[2] == 0
    }

    pub(crate) fn start(self) -> bool {
        self.ask(0, &mut [])
    }

    pub(crate) fn register(self, event: c_int, callback: Callback) -> bool {
        let address = callback as usize as u64;
        let (low, high) = (address as u32, (address >> 32) as u32);
        self.ask(1, &mut [event, low.cast_signed(), high.cast_signed()])
    }

    /// The id of the region that this thread is in, and of the one around it; 0 of none.
    pub(crate) fn regions(self) -> (u64, u64) {
        let id = |request| {
            let mut memory = [0; 2];
            let is_known = self.ask(request, &mut memory);
            let [low, high] = memory.map(|half| u64::from(half.cast_unsigned()));
            if is_known { high << 32 | low } else { 0 }
        };
        (id(4), id(5))
    }
}
