//! Return addresses that lie in our own code. A compiler may turn the last call in the body of a
//! construct into a jump. The called function then returns to the place where we called the body.

use crate::measure::thread_word::thread_word;

unsafe extern "C" {
    /// Begin and end of the library's code, as defined by the linker.
    static __ehdr_start: u8;
    static etext: u8;
}

/// Whether an address is in our code.
#[inline(always)]
pub(super) fn holds(address: usize) -> bool {
    let (begin, end) = (&raw const __ehdr_start, &raw const etext);
    address.wrapping_sub(begin.addr()) < end.addr() - begin.addr()
}

thread_word! {
    /// The body that this thread executes, if we called it; 0 otherwise.
    fn own_body() -> usize = "romp_own_body";
}

/// The body that this thread executes, if we called it; 0 otherwise.
pub(super) fn body() -> usize {
    own_body().get()
}

/// Notes that this thread executes a body from now on. Returns the body around it, to be set again
/// later.
#[inline(always)]
pub(super) fn enter(body: usize) -> usize {
    own_body().replace(body)
}

/// Notes that the body is over.
#[inline(always)]
pub(super) fn leave(around: usize) {
    own_body().set(around);
}
