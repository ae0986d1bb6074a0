//! C and C++: the forms of the calls of functions that report events, and their declarations.

use super::c_passing::RECORD;
use crate::openmp::Event;
use crate::openmp::events::{OR_PASS, Passage};

/// The form of the call of a function that reports an event.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Plain,
    /// It returns the team's handle.
    GivesTeam,
    /// It replaces a function that returns the team's handle, where the handle is not used.
    StaysWhole,
    /// It takes the team's handle.
    TakesTeam,
    /// It replaces a function that takes the team's handle, where no handle is passed.
    FindsTeam,
    /// It replaces a function without a result, and returns the handle of a task's creation.
    GivesTask,
    /// It takes the handle of a task's creation.
    TakesTask,
    /// It replaces a function without a result, and returns whether the other events are to be
    /// reported. It is called only if the program does not pass over the instance itself.
    Asks(Passage),
    /// It is called only if that function says so, or if the program can't go on by itself.
    IfAsked(Passage),
}

/// The function that reports the creation of a task with a handle.
pub(super) const CREATE_TASK: &str = "POMP_Task_create";
/// The function that reports the begin of such a task.
pub(super) const EXECUTE_TASK: &str = "POMP_Task_execute";

/// The function that reports a fork without a handle, for example if the directive is not
/// split.
pub(super) const FORK_WHOLE: &str = "POMP_Parallel_fork";
/// The function that reports the begin of a member in this case.
pub(super) const BEGIN_ANNOUNCED: &str = "POMP_Parallel_begin";

/// The attribute of functions that are called rarely. Without it, compilers keep values in memory
/// that would have to be saved around the call.
const COLD: &str = "__attribute__((__cold__))";

/// The declaration of the function that reports an event.
pub(super) fn declaration(event: Event, shape: Shape) -> String {
    let function = event.name();
    match shape {
        Shape::Plain => format!("void POMP_{function}(struct ompregdescr *)"),
        Shape::IfAsked(_) => format!("void POMP_{function}(struct ompregdescr *) {COLD}"),
        Shape::Asks(_) => {
            format!("int POMP_{function}{OR_PASS}(struct ompregdescr *, {RECORD} **) {COLD}")
        }
        Shape::GivesTeam => format!("void *POMP_{function}(struct ompregdescr *)"),
        Shape::StaysWhole => format!("void {FORK_WHOLE}(struct ompregdescr *)"),
        Shape::TakesTeam => format!("void POMP_{function}(struct ompregdescr *, void *)"),
        Shape::FindsTeam => format!("void {BEGIN_ANNOUNCED}(struct ompregdescr *)"),
        Shape::GivesTask => format!("void *{CREATE_TASK}(struct ompregdescr *)"),
        Shape::TakesTask => format!("void {EXECUTE_TASK}(struct ompregdescr *, void *)"),
    }
}
