//! The functions that report events from C and C++, by what they take and give.

use crate::openmp::Event;

/// How a function that reports an event is called.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Plain,
    /// It returns the team's handle.
    GivesTeam,
    /// It stands for a function that returns the handle, where nobody takes it.
    StaysWhole,
    /// It takes the team's handle.
    TakesTeam,
    /// It stands for a function that takes the handle, where nobody hands it on.
    FindsTeam,
    /// It stands for a function that returns nothing, and gives what a task's
    /// creation is known by.
    GivesTask,
    /// It takes that.
    TakesTask,
}

/// What reports the creation of a task that is handed on.
pub(super) const CREATE_TASK: &str = "POMP_Task_create";
/// What reports the begin of such a task.
pub(super) const EXECUTE_TASK: &str = "POMP_Task_execute";

/// What reports the fork where no handle is passed, as of a directive that stays whole.
pub(super) const FORK_WHOLE: &str = "POMP_Parallel_fork";
/// What reports the begin of a member then.
pub(super) const BEGIN_ANNOUNCED: &str = "POMP_Parallel_begin";

/// The declaration of the function that reports an event.
pub(super) fn declaration(event: Event, shape: Shape) -> String {
    let function = event.name();
    match shape {
        Shape::Plain => format!("void POMP_{function}(struct ompregdescr *)"),
        Shape::GivesTeam => format!("void *POMP_{function}(struct ompregdescr *)"),
        Shape::StaysWhole => format!("void {FORK_WHOLE}(struct ompregdescr *)"),
        Shape::TakesTeam => format!("void POMP_{function}(struct ompregdescr *, void *)"),
        Shape::FindsTeam => format!("void {BEGIN_ANNOUNCED}(struct ompregdescr *)"),
        Shape::GivesTask => format!("void *{CREATE_TASK}(struct ompregdescr *)"),
        Shape::TakesTask => format!("void {EXECUTE_TASK}(struct ompregdescr *, void *)"),
    }
}
