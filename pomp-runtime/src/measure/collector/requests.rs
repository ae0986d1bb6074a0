//! The requests of the collector interface: a buffer of messages, each answered
//! in place.
//!
//! ```text
//! | size | request | error code | size of the answer | memory ... |   size ... | 0
//!   4      4         4            4                    size - 16
//! ```
//!
//! All numbers are C's `int` and aligned as such, and so is the memory behind them. Addresses and
//! ids in the memory have 8 bytes, but need not be aligned to 8: collectors put them behind an
//! `int`.

use std::ffi::c_int;
use std::ptr::{read_unaligned, write_unaligned};

use super::session::{self, Code};
use super::states;
use crate::measure::thread;

/// The size of a message without memory.
const HEADER: usize = 16;

/// An answer: the code, and the size of what was or would be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Answer {
    code: Code,
    size: usize,
}

impl From<Code> for Answer {
    fn from(code: Code) -> Self {
        Self { code, size: 0 }
    }
}

/// Answers all messages of a buffer. False if it is null, or if a message is not
/// well-formed: then that and those behind it are ignored.
///
/// # Safety
/// The buffer is null or holds messages as drawn above, with a size of 0 behind
/// the last one.
pub(crate) unsafe fn answer(buffer: *mut u8, ensure_started: fn() -> bool) -> bool {
    let aligned = |number: usize| number.is_multiple_of(align_of::<c_int>());
    if buffer.is_null() || !aligned(buffer.addr()) {
        return false;
    }
    let mut at = buffer;
    loop {
        // SAFETY: the caller promises a size here.
        let size = unsafe { at.cast::<c_int>().read() };
        if size == 0 {
            return true;
        }
        let Some(size) = usize::try_from(size)
            .ok()
            .filter(|size| *size >= HEADER && aligned(*size))
        else {
            return false;
        };
        // SAFETY: the message has this size, and another or the end follows.
        unsafe {
            answer_message(at, size - HEADER, ensure_started);
            at = at.add(size);
        }
    }
}

/// # Safety
/// `message` points to a header with `room` bytes of memory behind it.
unsafe fn answer_message(message: *mut u8, room: usize, ensure_started: fn() -> bool) {
    // SAFETY: as the caller promises.
    unsafe {
        let header = message.cast::<c_int>();
        let memory = Memory {
            start: message.add(HEADER),
            room,
            ensure_started,
        };
        let answer = memory.answer(header.add(1).read());
        header.add(2).write(c_int::from(answer.code as u8));
        header
            .add(3)
            .write(c_int::try_from(answer.size).unwrap_or(0));
    }
}

/// The memory of a message.
struct Memory {
    start: *mut u8,
    room: usize,
    /// Starts measurement, unless it has ended.
    ensure_started: fn() -> bool,
}

impl Memory {
    /// # Safety
    /// The memory is as large as `room` says.
    unsafe fn answer(&self, request: c_int) -> Answer {
        // SAFETY: as the caller promises, for all that read or write it.
        unsafe {
            match request {
                0 => session::start(self.ensure_started).into(),
                1 => self.register().into(),
                2 => self.unregister().into(),
                3 => self.when_started(|| self.put_state()),
                4 => self.when_started(|| self.put_current_region()),
                5 => self.when_started(|| self.put_parent_region()),
                6 => session::stop().into(),
                7 => session::set_paused(true).into(),
                8 => session::set_paused(false).into(),
                _ => Code::Unknown.into(),
            }
        }
    }

    fn when_started(&self, answer: impl FnOnce() -> Answer) -> Answer {
        match session::is_started() {
            true => answer(),
            false => Code::SequenceError.into(),
        }
    }

    unsafe fn register(&self) -> Code {
        // SAFETY: as in `answer`.
        let (event, callback) = unsafe {
            let callback: Option<Option<session::Callback>> = self.get(size_of::<c_int>());
            (self.get::<c_int>(0), callback)
        };
        match (session::is_started(), event, callback) {
            (false, _, _) => Code::SequenceError,
            // A null pointer takes the callback away.
            (true, Some(event), Some(callback)) => session::set_callback(event, callback),
            _ => Code::Error,
        }
    }

    unsafe fn unregister(&self) -> Code {
        // SAFETY: as in `answer`.
        match (session::is_started(), unsafe { self.get::<c_int>(0) }) {
            (false, _) => Code::SequenceError,
            (true, Some(event)) => session::set_callback(event, None),
            (true, None) => Code::Error,
        }
    }

    /// The state and, of a wait, its id. A collector that leaves room for the
    /// state alone gets that.
    unsafe fn put_state(&self) -> Answer {
        let (state, id) = states::state(thread::current());
        // SAFETY: as in `answer`.
        unsafe {
            let answer = self.put(0, c_int::from(state as u8));
            match id.map(|id| self.put(answer.size, id)) {
                Some(with_id) if with_id.code == answer.code => with_id,
                _ => answer,
            }
        }
    }

    /// The id of the current parallel region; outside of any it is 0, and the
    /// request is out of sequence.
    unsafe fn put_current_region(&self) -> Answer {
        let id = states::current_region(thread::current());
        // SAFETY: as in `answer`.
        unsafe { self.put_region(id, id != 0) }
    }

    unsafe fn put_parent_region(&self) -> Answer {
        // SAFETY: as in `answer`.
        unsafe {
            match states::parent_region(thread::current()) {
                Some(id) => self.put_region(id, true),
                None => self.put_region(0, false),
            }
        }
    }

    unsafe fn put_region(&self, id: u64, is_within: bool) -> Answer {
        // SAFETY: as in `answer`.
        let answer = unsafe { self.put(0, id) };
        match answer.code {
            Code::Ok if !is_within => Answer {
                code: Code::SequenceError,
                ..answer
            },
            _ => answer,
        }
    }

    /// Reads a value at an offset; none if the memory is too short for it.
    unsafe fn get<T>(&self, offset: usize) -> Option<T> {
        // SAFETY: as in `answer`; every value of the types used here is valid,
        // and what stands where a callback should is one.
        (self.room >= offset + size_of::<T>())
            .then(|| unsafe { read_unaligned(self.start.add(offset).cast()) })
    }

    /// Writes a value at an offset, if there is room.
    unsafe fn put<T>(&self, offset: usize, value: T) -> Answer {
        let size = offset + size_of::<T>();
        if self.room < size {
            return Answer {
                code: Code::MemoryTooSmall,
                size,
            };
        }
        // SAFETY: as in `answer`.
        unsafe { write_unaligned(self.start.add(offset).cast(), value) };
        Answer {
            code: Code::Ok,
            size,
        }
    }
}
