//! THE table of the kinds of region: one row for each kind, with everything that reports and
//! analyses must know about it. To add a kind, add a row. Columns that a row omits have the
//! defaults in [`kinds!`](super::kinds).
//!
//! The order of the rows is ompP's enumeration order, which is also the print order of its
//! region overview. Kinds that ompP does not know follow at the end.

use super::Barrier::{Estimated, Hidden};
use super::Category::{Imbal, Limpar, Mgmt, Synch};
use super::Charge::{self, BySections};
use super::Columns::{
    Barrier as AtBarrier, Block, Guarded, Loop, Point, Scope, Sections, Single, Taskgroup, Team,
    TeamSections,
};
use super::Pomp2::{As, Same};
use super::Quantity::{
    BarrierTime, EnterTime, ExecTime, ExitTime, ManagementTime, OwnTime, WaitTime,
};
use super::Whose::Runtime;
use super::{Category, kinds};

const SYNCH: Charge = Charge::To(Category::Synch);
const IMBAL: Charge = Charge::To(Category::Imbal);
const LIMPAR: Charge = Charge::To(Category::Limpar);
const MGMT: Charge = Charge::To(Category::Mgmt);

/// The place where threads wait for the last one.
pub const BARRIER: &str = "at the implicit barrier of";
const START: &str = "starting the team of";
const STOP: &str = "ending the team of";
const WAIT: &str = "waiting to enter";
const LEAVE: &str = "leaving";
const CREATE: &str = "creating the tasks of";

/// Advice for a loop that hands out its iterations in equal parts. Such a loop decides which
/// thread touches which memory first, so the advice only changes the chunks.
pub(crate) const SMALLER_CHUNKS: &str = "Hand out its iterations in smaller parts: try schedule(static,CHUNK) \
                                         or schedule(guided). If there are only a few iterations, collapse the \
                                         loop nest, or share out an inner loop.";
const TAKES_NO_SCHEDULE: &str = "A loop construct takes no schedule clause: use for (in Fortran do) with \
    schedule(static,CHUNK) or schedule(dynamic,CHUNK) instead.";
const EQUAL_WORK: &str = "Give each thread the same amount of work, or spread it with a worksharing loop or \
                          tasks in the region.";
const SHORTER_SECTIONS: &str = "Split the longest sections, or turn the sections into tasks.";
const AS_MANY_SECTIONS: &str =
    "There were fewer sections than threads: use fewer threads here, or more sections.";
const ALL_STATEMENTS: &str =
    "See whether the compiler shares out all of its statements, or write loops instead.";
const ENTER_LESS: &str = "Do less inside, enter it less often, or protect independent data by different names \
                          or locks.";
const ENTER_LESS_OR_REDUCE: &str = "Do less inside, enter it less often, protect independent data by different \
                                    names or locks, or use a reduction if it only adds values up.";
const LARGER_REGIONS: &str = "The region is short for its cost: move it outwards, merge it with its neighbours, \
    or add an if clause.";
const LARGER_TASKS: &str = "The tasks are small for their cost: create fewer and larger ones, and below some \
                            size do the work directly.";

/// The groups by which constructs are switched off: name, and contents.
pub const GROUPS: &[(&str, &str)] = &[
    ("parallel", "parallel regions, also combined ones"),
    ("loop", "for, do, loop"),
    ("sections", "sections and section"),
    ("single", "single"),
    ("workshare", "workshare"),
    ("scope", "scope"),
    ("critical", "critical sections"),
    ("ordered", "ordered regions"),
    ("atomic", "atomic"),
    ("sync", "barrier"),
    ("flush", "flush"),
    ("master", "master and masked"),
    (
        "task",
        "task, taskloop, taskgroup, taskwait, taskyield and the execution of tasks",
    ),
    (
        "target",
        "target and its data directives, teams, distribute",
    ),
    ("cancel", "cancel, cancellation point"),
    ("region", "regions that the user marked"),
    ("lock", "calls of lock routines"),
    ("function", "functions of the program"),
];

kinds! {
    /// `parallel`
    Parallel {
        region_types: &["parallel"],
        names: ("PARALLEL", "PARALLEL"),
        help: "a team of threads, from the fork to the join.",
        group: "parallel",
        columns: Team,
        costs: [
            (BarrierTime, IMBAL, BARRIER),
            (EnterTime, MGMT, START),
            (ExitTime, MGMT, STOP),
        ],
        advice: &[(Imbal, EQUAL_WORK), (Mgmt, LARGER_REGIONS)],
        unsplit: Estimated,
        has_parts: true,
        pomp2: Same,
    }
    /// `parallel for`, `parallel do`
    ParallelLoop {
        region_types: &["parallelfor", "paralleldo"],
        names: ("PARALLEL LOOP", "PARLOOP"),
        help: "`parallel for` or `parallel do`: a team that shares out the iterations of a loop.",
        group: "parallel",
        columns: Team,
        costs: [
            (BarrierTime, IMBAL, BARRIER),
            (EnterTime, MGMT, START),
            (ExitTime, MGMT, STOP),
        ],
        advice: &[(Imbal, SMALLER_CHUNKS), (Mgmt, LARGER_REGIONS)],
        unsplit: Estimated,
        has_parts: true,
        pomp2: Same,
    }
    /// `parallel sections`
    ParallelSections {
        region_types: &["parallelsections"],
        names: ("PARALLEL SECTIONS", "PARSECTS"),
        help: "`parallel sections`: a team that shares out sections.",
        group: "parallel",
        columns: TeamSections,
        costs: [
            (BarrierTime, BySections, BARRIER),
            (EnterTime, MGMT, START),
            (ExitTime, MGMT, STOP),
        ],
        advice: &[(Imbal, SHORTER_SECTIONS), (Limpar, AS_MANY_SECTIONS), (Mgmt, LARGER_REGIONS)],
        unsplit: Estimated,
        has_parts: true,
        pomp2: Same,
    }
    /// `parallel workshare`
    ParallelWorkshare {
        region_types: &["parallelworkshare"],
        names: ("PARALLEL WORKSHARE", "PARWRKSH"),
        help: "`parallel workshare`: a team that shares out the statements of a block.",
        group: "parallel",
        columns: Team,
        costs: [
            (BarrierTime, IMBAL, BARRIER),
            (EnterTime, MGMT, START),
            (ExitTime, MGMT, STOP),
        ],
        advice: &[(Imbal, ALL_STATEMENTS), (Mgmt, LARGER_REGIONS)],
        unsplit: Estimated,
        has_parts: true,
        pomp2: Same,
    }
    /// `for`, `do`
    Loop {
        region_types: &["for", "do"],
        names: ("LOOP", "LOOP"),
        help: "`for` or `do`: a loop whose iterations a team shares out.",
        group: "loop",
        columns: Loop,
        costs: [(BarrierTime, IMBAL, BARRIER)],
        advice: &[(Imbal, SMALLER_CHUNKS)],
        unsplit: Hidden,
        has_parts: true,
        pomp2: Same,
    }
    /// `sections`
    Sections {
        region_types: &["sections"],
        names: ("SECTIONS", "SECTIONS"),
        help: "`sections`: a construct whose sections a team shares out.",
        group: "sections",
        columns: Sections,
        costs: [
            (BarrierTime, BySections, BARRIER),
            (ManagementTime, MGMT, "handing out the sections of"),
        ],
        advice: &[
            (Imbal, SHORTER_SECTIONS),
            (Limpar, AS_MANY_SECTIONS),
            (Mgmt, "The sections are short for their cost: merge some of them."),
        ],
        unsplit: Estimated,
        has_parts: true,
        pomp2: Same,
    }
    /// `single`
    Single {
        region_types: &["single"],
        names: ("SINGLE", "SINGLE"),
        help: "`single`: a structured block that one thread of a team executes.",
        group: "single",
        columns: Single,
        costs: [(BarrierTime, LIMPAR, BARRIER)],
        advice: &[(Limpar, "Add nowait if the others need not wait, or give them work.")],
        unsplit: Estimated,
        main: Runtime,
        pomp2: Same,
    }
    /// `workshare`
    Workshare {
        region_types: &["workshare"],
        names: ("WORKSHARE", "WRKSHARE"),
        help: "`workshare`: a structured block whose statements a team shares out.",
        group: "workshare",
        columns: Loop,
        costs: [(BarrierTime, IMBAL, BARRIER)],
        advice: &[(Imbal, ALL_STATEMENTS)],
        unsplit: Hidden,
        has_parts: true,
        pomp2: Same,
    }
    /// A region that the user marked.
    User {
        region_types: &["userRegion", "region"],
        names: ("USER REGION", "USERREG"),
        help: "a region that the program's source marks.",
        group: "region",
        columns: Block,
        has_parts: true,
        pomp2: Same,
    }
    /// `atomic`
    Atomic {
        region_types: &["atomic"],
        names: ("ATOMIC", "ATOMIC"),
        help: "`atomic`: an access to memory that other threads cannot interrupt.",
        group: "atomic",
        columns: Point,
        costs: [(ExecTime, SYNCH, "in")],
        advice: &[(Synch, "Try a reduction, or one partial result per thread.")],
        pomp2: Same,
    }
    /// `barrier`
    Barrier {
        region_types: &["barrier"],
        names: ("BARRIER", "BARRIER"),
        help: "`barrier`: a wait for all threads of the team. Implicit barriers are part of their \
            construct.",
        group: "sync",
        columns: AtBarrier,
        costs: [(WaitTime, SYNCH, "in")],
        advice: &[
            (Synch, "Threads arrived at different times: spread the work before it evenly, or see \
                whether the barrier is needed."),
        ],
        pomp2: Same,
    }
    /// `critical`
    Critical {
        region_types: &["critical"],
        names: ("CRITICAL", "CRITICAL"),
        help: "`critical`: a structured block that one thread at a time executes.",
        group: "critical",
        columns: Guarded,
        costs: [(EnterTime, SYNCH, WAIT), (ExitTime, MGMT, LEAVE)],
        advice: &[(Synch, ENTER_LESS_OR_REDUCE)],
        pomp2: Same,
    }
    /// A call of a lock routine.
    Lock {
        region_types: &["lock"],
        names: ("LOCK", "LOCK"),
        help: "calls of a lock routine. The time for which a lock is held counts with the call \
            that set it.",
        group: "lock",
        columns: Guarded,
        costs: [(EnterTime, SYNCH, "waiting for"), (ExitTime, MGMT, "giving back")],
        advice: &[(Synch, ENTER_LESS)],
    }
    /// `master`, `masked`
    Master {
        region_types: &["master", "masked"],
        names: ("MASTER", "MASTER"),
        help: "`master` or `masked`: a structured block that only the master thread, or the \
            threads of the filter, execute.",
        group: "master",
        columns: Block,
        advice: &[
            (Limpar, "Let other threads work meanwhile, or give part of the work to them."),
        ],
        pomp2: As("master"),
    }
    /// `flush`
    Flush {
        region_types: &["flush"],
        names: ("FLUSH", "FLUSH"),
        help: "`flush`: makes a thread's view of memory consistent with memory.",
        group: "flush",
        columns: Point,
        costs: [(ExecTime, SYNCH, "in")],
        main: Runtime,
        pomp2: Same,
    }
    /// `section`
    Section {
        region_types: &["section"],
        names: ("SECTION", "SECTION"),
        help: "`section`: a structured block in `sections`, which one thread executes.",
        group: "sections",
        columns: Block,
        pomp2: Same,
    }
    /// `task`: creating it
    Task {
        region_types: &["task"],
        names: ("TASK", "TASK"),
        help: "`task`: the creation of a task, at its construct. TASKEXEC is its execution.",
        group: "task",
        columns: Block,
        costs: [(OwnTime, MGMT, CREATE)],
        advice: &[(Mgmt, LARGER_TASKS)],
        main: Runtime,
        pomp2: Same,
    }
    /// `task`: executing it
    TaskExec {
        region_types: &["taskexec"],
        names: ("TASKEXEC", "TASKEXEC"),
        help: "the execution of a task, in the place where a thread executed it. TASK is its \
            creation.",
        group: "task",
        columns: Block,
    }
    /// `task untied`: creating it
    UntiedTask {
        region_types: &["taskuntied"],
        names: ("UTASK", "UTASK"),
        help: "`task untied`: the creation of an untied task. UTASKEXEC is its execution.",
        group: "task",
        columns: Block,
        costs: [(OwnTime, MGMT, CREATE)],
        advice: &[(Mgmt, LARGER_TASKS)],
        main: Runtime,
        pomp2: Same,
    }
    /// `task untied`: executing it
    UntiedTaskExec {
        region_types: &["taskuntiedexec"],
        names: ("UTASKEXEC", "UTASKEXC"),
        help: "the execution of an untied task, in the place where a thread executed it. UTASK is \
            its creation.",
        group: "task",
        columns: Block,
    }
    /// `taskwait`
    Taskwait {
        region_types: &["taskwait"],
        names: ("TASKWAIT", "TASKWAIT"),
        help: "`taskwait`: a wait for the child tasks of the current task.",
        group: "task",
        columns: Block,
        costs: [(OwnTime, SYNCH, "in")],
        main: Runtime,
        pomp2: Same,
    }
    /// `ordered` with a structured block
    Ordered {
        region_types: &["ordered"],
        names: ("ORDERED", "ORDERED"),
        help: "`ordered`: a structured block that the iterations of a loop execute in their order.",
        group: "ordered",
        columns: Guarded,
        costs: [(EnterTime, SYNCH, WAIT), (ExitTime, MGMT, LEAVE)],
        advice: &[
            (Synch, "Keep only what must happen in order in the ordered region, and try schedule(static,1), so \
                     that turns come soon."),
        ],
        pomp2: Same,
    }
    /// `scope`
    Scope {
        region_types: &["scope"],
        names: ("SCOPE", "SCOPE"),
        help: "`scope`: a structured block that all threads of a team execute.",
        group: "scope",
        columns: Scope,
        costs: [(BarrierTime, IMBAL, BARRIER)],
        advice: &[(Imbal, EQUAL_WORK)],
        unsplit: Estimated,
        has_parts: true,
        main: Runtime,
        pomp2: As("barrier"),
    }
    /// `taskgroup`
    Taskgroup {
        region_types: &["taskgroup"],
        names: ("TASKGROUP", "TASKGRP"),
        help: "`taskgroup`: a structured block, and the wait for the tasks that were created in \
            it.",
        group: "task",
        columns: Taskgroup,
        costs: [(BarrierTime, SYNCH, "waiting at the end of")],
        advice: &[
            (Synch, "There were fewer tasks than threads to execute them, or one was longer than the \
                others: make more and smaller tasks, or create the longest first."),
        ],
        pomp2: As("taskwait"),
    }
    /// `taskyield`
    Taskyield {
        region_types: &["taskyield"],
        names: ("TASKYIELD", "TASKYLD"),
        help: "`taskyield`: a point where the thread may execute another task.",
        group: "task",
        columns: Block,
        main: Runtime,
        pomp2: As("taskwait"),
    }
    /// `taskloop`, with its implicit taskgroup
    Taskloop {
        region_types: &["taskloop"],
        names: ("TASKLOOP", "TASKLOOP"),
        help: "`taskloop`: a loop whose iterations become tasks, and the wait for them.",
        group: "task",
        columns: Block,
        costs: [(OwnTime, SYNCH, "creating and waiting for the tasks of")],
        advice: &[(Mgmt, "The tasks are small for their cost: give the loop a grainsize.")],
        pomp2: As("taskwait"),
    }
    /// `loop`
    GenericLoop {
        region_types: &["loop"],
        names: ("GENERIC LOOP", "GENLOOP"),
        help: "`loop`, as one region without its parts.",
        group: "loop",
        columns: Loop,
        costs: [(BarrierTime, IMBAL, BARRIER)],
        advice: &[(Imbal, TAKES_NO_SCHEDULE)],
        unsplit: Hidden,
    }
    /// `distribute`
    Distribute {
        region_types: &["distribute"],
        names: ("DISTRIBUTE", "DISTRIB"),
        help: "`distribute`, as one region without its parts.",
        group: "target",
        columns: Block,
    }
    /// `teams`
    Teams {
        region_types: &["teams"],
        names: ("TEAMS", "TEAMS"),
        help: "`teams`, as one region without its parts.",
        group: "target",
        columns: Block,
    }
    /// `target`, as the host sees it
    Target {
        region_types: &["target"],
        names: ("TARGET", "TARGET"),
        help: "`target`, as the host sees it.",
        group: "target",
        columns: Block,
    }
    /// `target data`
    TargetData {
        region_types: &["targetdata"],
        names: ("TARGET DATA", "TGTDATA"),
        help: "`target data`, as the host sees it.",
        group: "target",
        columns: Block,
    }
    /// `target enter data`
    TargetEnterData {
        region_types: &["targetenterdata"],
        names: ("TARGET ENTER DATA", "TGTENTER"),
        help: "`target enter data`, as the host sees it.",
        group: "target",
        columns: Point,
    }
    /// `target exit data`
    TargetExitData {
        region_types: &["targetexitdata"],
        names: ("TARGET EXIT DATA", "TGTEXIT"),
        help: "`target exit data`, as the host sees it.",
        group: "target",
        columns: Point,
    }
    /// `target update`
    TargetUpdate {
        region_types: &["targetupdate"],
        names: ("TARGET UPDATE", "TGTUPDT"),
        help: "`target update`, as the host sees it.",
        group: "target",
        columns: Point,
    }
    /// `taskgraph`
    Taskgraph {
        region_types: &["taskgraph"],
        names: ("TASKGRAPH", "TASKGRPH"),
        help: "`taskgraph`, as one region without its parts.",
        group: "task",
        columns: Block,
    }
    /// `dispatch`
    Dispatch {
        region_types: &["dispatch"],
        names: ("DISPATCH", "DISPATCH"),
        help: "`dispatch`, as one region without its parts.",
        group: "target",
        columns: Block,
    }
    /// `interop`
    Interop {
        region_types: &["interop"],
        names: ("INTEROP", "INTEROP"),
        help: "`interop`, as one region without its parts.",
        group: "target",
        columns: Point,
    }
    /// `depobj`
    Depobj {
        region_types: &["depobj"],
        names: ("DEPOBJ", "DEPOBJ"),
        help: "`depobj`, as one region without its parts.",
        group: "task",
        columns: Point,
    }
    /// `cancel`: how often it was reached
    Cancel {
        region_types: &["cancel"],
        names: ("CANCEL", "CANCEL"),
        help: "`cancel`: how often it was reached.",
        group: "cancel",
        columns: Point,
    }
    /// `cancellation point`: how often it was reached
    CancellationPoint {
        region_types: &["cancellationpoint"],
        names: ("CANCELLATION POINT", "CANCELPT"),
        help: "`cancellation point`: how often it was reached.",
        group: "cancel",
        columns: Point,
    }
    /// A function of the program, if the user asks for functions.
    Function {
        region_types: &["function"],
        names: ("FUNCTION", "FUNCTION"),
        help: "a function of the program; see --functions of rompcc.",
        group: "function",
        columns: Block,
    }
}
