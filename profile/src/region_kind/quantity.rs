//! The quantities of a construct, which are computed from its rows and shown in columns.

/// A quantity that can be computed from a row: nanoseconds or a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Time of the whole construct.
    ExecTime,
    /// Number of executions.
    ExecCount,
    /// Time in the structured block.
    BodyTime,
    /// Number of executions of the structured block.
    BodyCount,
    /// Time of the construct without its implicit barrier.
    WorkTime,
    /// Time in sections.
    SectionTime,
    /// Number of sections executed.
    SectionCount,
    /// Time to get in.
    EnterTime,
    /// Time to get out.
    ExitTime,
    /// Time in the implicit barrier, without the tasks executed there.
    BarrierTime,
    /// Time of the whole construct, without tasks executed meanwhile.
    WaitTime,
    /// Time of the tasks executed while waiting.
    TaskTime,
    /// Time of the whole construct, without other constructs entered in it.
    OwnTime,
    /// Time that is neither in sections nor in the barrier.
    ManagementTime,
    /// The value of a counter for the whole construct, by its index in the run's counters.
    Counter(usize),
}

/// A set of columns in a region profile; [`columns`](crate::columns) defines them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Columns {
    /// For a team: starting it, its body, its barrier, ending it.
    Team,
    /// For a team that executes sections.
    TeamSections,
    /// A body and a barrier without an event in between.
    Loop,
    /// Sections, handing them out, and a barrier.
    Sections,
    /// A body that one thread executes, and a barrier.
    Single,
    /// A body that all threads execute, and a barrier.
    Scope,
    /// A body, and a wait for tasks.
    Taskgroup,
    /// A wait in which tasks may be executed.
    Barrier,
    /// Waiting to get in, a body, getting out.
    Guarded,
    /// A block that may contain other constructs.
    Block,
    /// Time and count.
    Point,
}
