//! Functions: frames like any other, except for the ways in which they may end. An exception or a
//! jump may leave a function without an exit event: some compilers report no exit of a function
//! that an exception leaves. That shows in the machine's stack, as in [`task`]: a function that is
//! called stands deeper in the stack than its caller.
//!
//! [`task`]: super::task

use profile::region_kind::RegionKind;

use super::records::Frame;
use super::records::Region;
use super::thread::Thread;
use profile::event::Event;

/// How far apart two places on one stack are at most, in bytes. A place further away is on another
/// stack, where a signal is handled or a coroutine runs.
const SAME_STACK: u64 = 1 << 20;

/// Where a function stands.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    pub(crate) region: &'static Region,
    /// An address on the machine's stack, which grows downwards.
    pub(crate) stack: u64,
    /// The address at which its caller goes on.
    pub(crate) site: u64,
}

impl Thread {
    /// A function begins.
    #[inline(always)]
    pub(crate) fn enter_function(&'static self, call: Call, now: impl Fn() -> u64) {
        if self.top().is_some_and(|top| top.was_left(call)) {
            self.leave_functions(call, now());
        }
        self.on_event(Event::FunctionEnter, call.region, now);
        if let Some(top) = self.top().filter(|top| top.is_function()) {
            top.stack.set(call.stack);
            top.call_site.set(call.site);
        }
    }

    /// Closes the functions that were left before this one began.
    #[cold]
    #[inline(never)]
    fn leave_functions(&'static self, call: Call, at: u64) {
        let mut last = None;
        let mut frame = self.top();
        while let Some(open) = frame.filter(|open| open.was_left(call)) {
            frame = open.below();
            last = frame;
        }
        if let Some(below) = last {
            self.close_above(below, at);
        }
    }
}

impl Frame {
    /// Whether it is a function, timed or not.
    pub(crate) fn is_function(&self) -> bool {
        self.construct()
            .is_some_and(|region| region.kind == RegionKind::Function)
    }

    /// Whether it is a function that is over, since another one begins no deeper in the stack.
    /// There is one exception: a function that begins at the same depth may have been inlined into
    /// this one. Then both have the same call site. But no function is inlined into itself.
    #[inline(always)]
    fn was_left(&self, call: Call) -> bool {
        let deeper_by = call.stack.wrapping_sub(self.stack.get());
        deeper_by < SAME_STACK
            && self.is_function()
            && (deeper_by > 0
                || self.call_site.get() != call.site
                || self
                    .construct()
                    .is_some_and(|own| std::ptr::eq(own, call.region)))
    }
}
