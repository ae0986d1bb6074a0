//! Tasks: their executions are frames like any other, on top of whatever their
//! thread was doing: creating the task, or waiting and free for it.
//!
//! A tied task ends on its thread before the frame below it goes on. Two kinds of tasks do not: an
//! untied task may be suspended and go on elsewhere, and `cancel` may skip the end of a task. In
//! both cases the function of the task has returned by then. That shows in the machine's stack: a
//! task's calls stand deeper in it than the task itself. So if a task begins no deeper than one
//! that is open, the latter has returned. The check compares two numbers. If it is wrong (tasks
//! with stacks of their own), the only harm is that some times are wrong.

use profile::region_kind::PseudoRegion;

use super::records::Frame;
use super::records::Region;
use super::records::frame::Role;
use super::thread::Thread;

impl Thread {
    /// A task starts to be executed. `stack` is an address on the machine's
    /// stack, which grows downwards; `created` the label of its creation, or 0.
    #[inline(always)]
    pub(crate) fn begin_task(
        &'static self,
        execution: &'static Region,
        stack: u64,
        created: u64,
        now: impl Fn() -> u64,
    ) {
        if let Some(below) = self.below_returned_tasks(execution, stack) {
            self.close_above(below, now());
        }
        if self.passed_member.has_ended() {
            self.put_member_on_stack(true);
        }
        self.begin_task_behind_end();
        if self.paused().is_some() {
            self.open_in_passing(execution, PseudoRegion::Main);
            if let Some(top) = self.top() {
                top.stack.set(stack);
                top.label.set(created);
            }
            return;
        }
        let next = self.next_frame(execution);
        if let Some((frame, _)) = next {
            frame.stack.set(stack);
            frame.label.set(created);
        }
        match next {
            Some((frame, node)) if !node.is_special() => {
                self.open_timed(frame, Role::Construct, node, PseudoRegion::Main, now);
            }
            _ => self.open_specially(execution, PseudoRegion::Main, next, &now),
        }
    }

    /// The frame below the outermost task that is open but has returned.
    fn below_returned_tasks(
        &'static self,
        execution: &'static Region,
        stack: u64,
    ) -> Option<&'static Frame> {
        // A task that its creation executes at once may have been inlined into the function around
        // it, and then stands as deep as that function.
        let at_once = self
            .top()
            .and_then(Frame::node)
            .and_then(|node| node.region())
            .is_some_and(|region| region.has_part(execution));
        let mut below = None;
        let mut frame = self.top();
        while let Some(open) = frame.filter(|frame| frame.role().is_construct()) {
            frame = open.below();
            if open.is_task() {
                let began = open.stack.get();
                if stack < began || at_once && stack == began {
                    break;
                }
                below = frame;
            }
        }
        below
    }
}

impl Frame {
    /// Whether it is the execution of a task that is timed.
    #[inline(always)]
    pub(super) fn is_task(&self) -> bool {
        let region = || self.node()?.region();
        self.is_timed_construct() && region().is_some_and(|region| region.kind.is_task_execution())
    }
}
