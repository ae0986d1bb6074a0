//! The kinds of region, as one table: how a descriptor names them, how ompP
//! names them in reports, and which pseudo-regions they are made of.
//!
//! The order of the rows is ompP's enumeration order, which is also the print
//! order of its region overview; kinds that ompP does not know stand behind. To
//! add a kind, add a row.

use serde::{Deserialize, Serialize};

/// A part of a region with exactly two events, enter and exit (ompP's idea).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum PseudoRegion {
    /// The whole region, from its first to its last event.
    Main = 0,
    /// Getting in: waiting for a critical section or lock; starting a team.
    Enter = 1,
    /// The structured block.
    Body = 2,
    /// The implicit barrier at the end, made explicit by the instrumenter; of a
    /// taskgroup the wait for its tasks.
    Ibarr = 3,
    /// Getting out: leaving a critical section or lock; ending a team.
    Exit = 4,
    /// A parallel region as the encountering thread sees it, fork to join.
    Seq = 5,
}

impl PseudoRegion {
    /// How many pseudo-regions there are; their discriminants are below it.
    pub const COUNT: usize = 6;
    /// All of them, in discriminant order.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Main,
        Self::Enter,
        Self::Body,
        Self::Ibarr,
        Self::Exit,
        Self::Seq,
    ];
}

/// The kind of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RegionKind {
    /// `parallel`
    Parallel,
    /// `parallel for`, `parallel do`
    ParallelLoop,
    /// `parallel sections`
    ParallelSections,
    /// `parallel workshare`
    ParallelWorkshare,
    /// `for`, `do`
    Loop,
    /// `sections`
    Sections,
    /// `single`
    Single,
    /// `workshare`
    Workshare,
    /// A region that the user marked.
    User,
    /// `atomic`
    Atomic,
    /// `barrier`
    Barrier,
    /// `critical`
    Critical,
    /// A call of a lock routine.
    Lock,
    /// `master`, `masked`
    Master,
    /// `flush`
    Flush,
    /// `section`
    Section,
    /// `task`: creating it
    Task,
    /// `task`: executing it
    TaskExec,
    /// `task untied`: creating it
    UntiedTask,
    /// `task untied`: executing it
    UntiedTaskExec,
    /// `taskwait`
    Taskwait,
    /// `ordered` with a structured block
    Ordered,
    /// `scope`
    Scope,
    /// `taskgroup`
    Taskgroup,
    /// `taskyield`
    Taskyield,
    /// `taskloop`, with its implicit taskgroup
    Taskloop,
    /// `loop`
    GenericLoop,
    /// `distribute`
    Distribute,
    /// `teams`
    Teams,
    /// `target`, as the host sees it
    Target,
    /// `target data`
    TargetData,
    /// `target enter data`
    TargetEnterData,
    /// `target exit data`
    TargetExitData,
    /// `target update`
    TargetUpdate,
    /// `taskgraph`
    Taskgraph,
    /// `dispatch`
    Dispatch,
    /// `interop`
    Interop,
    /// `depobj`
    Depobj,
    /// `cancel`: how often it was reached
    Cancel,
    /// `cancellation point`: how often it was reached
    CancellationPoint,
    /// A function of the program, if the user asks for functions.
    Function,
}

/// What the table says about one kind.
#[derive(Debug)]
pub struct KindRow {
    /// The kind that the row is about.
    pub kind: RegionKind,
    /// Values of `regionType` in a descriptor that mean this kind.
    pub region_types: &'static [&'static str],
    /// ompP's full name, as in the region overview.
    pub full_name: &'static str,
    /// ompP's short name (at most 8 characters), as in the call graph.
    pub short_name: &'static str,
}

/// One row per kind, in ompP's order.
pub const KINDS: &[KindRow] = &[
    row(RegionKind::Parallel, &["parallel"], "PARALLEL", "PARALLEL"),
    row(
        RegionKind::ParallelLoop,
        &["parallelfor", "paralleldo"],
        "PARALLEL LOOP",
        "PARLOOP",
    ),
    row(
        RegionKind::ParallelSections,
        &["parallelsections"],
        "PARALLEL SECTIONS",
        "PARSECTS",
    ),
    row(
        RegionKind::ParallelWorkshare,
        &["parallelworkshare"],
        "PARALLEL WORKSHARE",
        "PARWRKSH",
    ),
    row(RegionKind::Loop, &["for", "do"], "LOOP", "LOOP"),
    row(RegionKind::Sections, &["sections"], "SECTIONS", "SECTIONS"),
    row(RegionKind::Single, &["single"], "SINGLE", "SINGLE"),
    row(
        RegionKind::Workshare,
        &["workshare"],
        "WORKSHARE",
        "WRKSHARE",
    ),
    row(
        RegionKind::User,
        &["userRegion", "region"],
        "USER REGION",
        "USERREG",
    ),
    row(RegionKind::Atomic, &["atomic"], "ATOMIC", "ATOMIC"),
    row(RegionKind::Barrier, &["barrier"], "BARRIER", "BARRIER"),
    row(RegionKind::Critical, &["critical"], "CRITICAL", "CRITICAL"),
    row(RegionKind::Lock, &["lock"], "LOCK", "LOCK"),
    row(
        RegionKind::Master,
        &["master", "masked"],
        "MASTER",
        "MASTER",
    ),
    row(RegionKind::Flush, &["flush"], "FLUSH", "FLUSH"),
    row(RegionKind::Section, &["section"], "SECTION", "SECTION"),
    row(RegionKind::Task, &["task"], "TASK", "TASK"),
    row(RegionKind::TaskExec, &["taskexec"], "TASKEXEC", "TASKEXEC"),
    row(RegionKind::UntiedTask, &["taskuntied"], "UTASK", "UTASK"),
    row(
        RegionKind::UntiedTaskExec,
        &["taskuntiedexec"],
        "UTASKEXEC",
        "UTASKEXC",
    ),
    row(RegionKind::Taskwait, &["taskwait"], "TASKWAIT", "TASKWAIT"),
    row(RegionKind::Ordered, &["ordered"], "ORDERED", "ORDERED"),
    row(RegionKind::Scope, &["scope"], "SCOPE", "SCOPE"),
    row(
        RegionKind::Taskgroup,
        &["taskgroup"],
        "TASKGROUP",
        "TASKGRP",
    ),
    row(
        RegionKind::Taskyield,
        &["taskyield"],
        "TASKYIELD",
        "TASKYLD",
    ),
    row(RegionKind::Taskloop, &["taskloop"], "TASKLOOP", "TASKLOOP"),
    row(
        RegionKind::GenericLoop,
        &["loop"],
        "GENERIC LOOP",
        "GENLOOP",
    ),
    row(
        RegionKind::Distribute,
        &["distribute"],
        "DISTRIBUTE",
        "DISTRIB",
    ),
    row(RegionKind::Teams, &["teams"], "TEAMS", "TEAMS"),
    row(RegionKind::Target, &["target"], "TARGET", "TARGET"),
    row(
        RegionKind::TargetData,
        &["targetdata"],
        "TARGET DATA",
        "TGTDATA",
    ),
    row(
        RegionKind::TargetEnterData,
        &["targetenterdata"],
        "TARGET ENTER DATA",
        "TGTENTER",
    ),
    row(
        RegionKind::TargetExitData,
        &["targetexitdata"],
        "TARGET EXIT DATA",
        "TGTEXIT",
    ),
    row(
        RegionKind::TargetUpdate,
        &["targetupdate"],
        "TARGET UPDATE",
        "TGTUPDT",
    ),
    row(
        RegionKind::Taskgraph,
        &["taskgraph"],
        "TASKGRAPH",
        "TASKGRPH",
    ),
    row(RegionKind::Dispatch, &["dispatch"], "DISPATCH", "DISPATCH"),
    row(RegionKind::Interop, &["interop"], "INTEROP", "INTEROP"),
    row(RegionKind::Depobj, &["depobj"], "DEPOBJ", "DEPOBJ"),
    row(RegionKind::Cancel, &["cancel"], "CANCEL", "CANCEL"),
    row(
        RegionKind::CancellationPoint,
        &["cancellationpoint"],
        "CANCELLATION POINT",
        "CANCELPT",
    ),
    row(RegionKind::Function, &["function"], "FUNCTION", "FUNCTION"),
];

const fn row(
    kind: RegionKind,
    region_types: &'static [&'static str],
    full_name: &'static str,
    short_name: &'static str,
) -> KindRow {
    KindRow {
        kind,
        region_types,
        full_name,
        short_name,
    }
}

impl RegionKind {
    /// The kind that a descriptor's `regionType` names.
    #[must_use]
    pub fn from_region_type(region_type: &str) -> Option<Self> {
        KINDS
            .iter()
            .find(|row| row.region_types.contains(&region_type))
            .map(|row| row.kind)
    }

    /// The row of this kind.
    #[must_use]
    pub fn row(self) -> &'static KindRow {
        // The table is in enumeration order; the test below holds it to that.
        &KINDS[self as usize]
    }

    /// Whether the region starts a team.
    #[must_use]
    pub fn is_parallel(self) -> bool {
        matches!(
            self,
            Self::Parallel | Self::ParallelLoop | Self::ParallelSections | Self::ParallelWorkshare
        )
    }

    /// Whether it is the execution of a task.
    #[must_use]
    pub fn is_task_execution(self) -> bool {
        matches!(self, Self::TaskExec | Self::UntiedTaskExec)
    }

    /// Whether it is one directive without a structured block.
    #[must_use]
    pub fn is_point(self) -> bool {
        matches!(
            self,
            Self::Barrier
                | Self::Flush
                | Self::Taskwait
                | Self::Taskyield
                | Self::TargetEnterData
                | Self::TargetExitData
                | Self::TargetUpdate
                | Self::Interop
                | Self::Depobj
                | Self::Cancel
                | Self::CancellationPoint
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_in_enumeration_order_and_short_names_fit() {
        for (index, row) in KINDS.iter().enumerate() {
            assert_eq!(row.kind as usize, index);
            assert!(row.short_name.len() <= 8, "{}", row.short_name);
            for name in row.region_types {
                assert_eq!(RegionKind::from_region_type(name), Some(row.kind));
            }
        }
    }
}
