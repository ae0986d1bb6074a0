//! The constructs that Romp can measure in a program that was not built with Romp, by the kind
//! of its OpenMP runtime. Reports, documentation and tests use this table.

use crate::model::{Profile, Region, Span};
use crate::region_kind::RegionKind as K;

/// How a runtime is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interface {
    /// GCC's runtime, at the entry points that compilers call.
    Gnu,
    /// LLVM's runtime and its relatives, which report events through OpenMP's tool interface
    /// (OMPT).
    Ompt,
}

/// How often a construct is counted, compared with a program that was built with Romp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// Equally often.
    Same,
    /// Never: the construct does not appear.
    Never,
    /// At most as often.
    Less,
    /// At least as often.
    More,
    /// More or less often.
    Otherwise,
}

impl Counted {
    /// Whether this number of counted constructs is possible if `executed` constructs were
    /// executed.
    #[must_use]
    pub fn allows(self, counted: u64, executed: u64) -> bool {
        match self {
            Self::Same => counted == executed,
            Self::Never => counted == 0,
            Self::Less => counted <= executed,
            Self::More => counted >= executed,
            Self::Otherwise => true,
        }
    }
}

/// The view that one interface gives of a construct.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// How often it is counted.
    pub counted: Counted,
    /// The description in the documentation.
    pub words: &'static str,
    /// The entries in a report's list of invisible constructs.
    pub missing: &'static [&'static str],
}

/// A construct that differs from its appearance in a program that was built with Romp.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Its name in the documentation.
    pub construct: &'static str,
    /// The kinds of regions whose counts it changes.
    pub kinds: &'static [K],
    /// The view with GCC's runtime.
    pub gnu: View,
    /// The view with LLVM's runtime.
    pub ompt: View,
}

impl Row {
    /// The view of one interface.
    #[must_use]
    pub fn view(&self, interface: Interface) -> View {
        match interface {
            Interface::Gnu => self.gnu,
            Interface::Ompt => self.ompt,
        }
    }
}

const fn view(counted: Counted, words: &'static str, missing: &'static [&'static str]) -> View {
    View {
        counted,
        words,
        missing,
    }
}

const SEEN: View = view(Counted::Same, "seen", &[]);

const fn never(missing: &'static [&'static str]) -> View {
    view(Counted::Never, "not", missing)
}

/// The rows.
pub const ROWS: &[Row] = &[
    Row {
        construct: "`for schedule(static)`",
        kinds: &[K::Loop],
        gnu: view(
            Counted::Less,
            "with debug information and source: it begins where the compiled code asks for the thread's \
             number, and ends at its barrier or at the next construct. If the code asks only once for several \
             loops of a function, only the barrier of each loop is seen",
            &[
                "loops with a static schedule (where the source is missing, or several loops share one request \
                 for the thread's number)",
            ],
        ),
        ompt: SEEN,
    },
    Row {
        construct: "`single nowait`",
        kinds: &[],
        gnu: view(
            Counted::Same,
            "its begin is seen; it ends where the next construct begins",
            &["the end of a single construct with nowait"],
        ),
        ompt: SEEN,
    },
    Row {
        construct: "`master`, `masked`",
        kinds: &[K::Master],
        gnu: never(&["master", "masked"]),
        ompt: SEEN,
    },
    Row {
        construct: "`flush`",
        kinds: &[K::Flush],
        gnu: never(&["flush"]),
        ompt: view(
            Counted::More,
            "seen; a flush that the compiler adds to an `atomic` with a memory order is seen, too, with the \
             directive of the `atomic`",
            &[],
        ),
    },
    Row {
        construct: "`atomic`",
        kinds: &[K::Atomic],
        gnu: view(
            Counted::Otherwise,
            "where it is not a machine instruction; so are the atomic updates of some `reduction` clauses, if \
             the construct may contain an `atomic`",
            &["atomic (where it is a machine instruction)"],
        ),
        ompt: view(
            Counted::Less,
            "where it is not a machine instruction",
            &["atomic (where it is a machine instruction)"],
        ),
    },
    Row {
        construct: "`scope`",
        kinds: &[K::Scope],
        gnu: view(
            Counted::Less,
            "by the barrier at its end, with debug information and source",
            &["scope (where the source is missing)"],
        ),
        ompt: SEEN,
    },
    Row {
        construct: "`section`",
        kinds: &[K::Section],
        gnu: view(
            Counted::Same,
            "seen; without the source, it is named by its number in its construct",
            &[],
        ),
        ompt: never(&["each section of a sections construct"]),
    },
    Row {
        construct: "`sections`",
        kinds: &[K::Sections],
        gnu: view(
            Counted::Less,
            "seen; if it is all that a `parallel` contains, both are one region",
            &[],
        ),
        ompt: SEEN,
    },
    Row {
        construct: "`workshare`",
        kinds: &[K::Workshare],
        gnu: view(
            Counted::Less,
            "by the barrier at its end; in a `parallel workshare`, its barriers count as waiting in the region",
            &["workshare without a barrier"],
        ),
        ompt: SEEN,
    },
    Row {
        construct: "creating a `task`",
        kinds: &[],
        gnu: view(
            Counted::Same,
            "seen; the compiler leaves out a task without statements",
            &[],
        ),
        ompt: SEEN,
    },
    Row {
        construct: "executing tasks of a `taskloop`",
        kinds: &[K::TaskExec],
        gnu: SEEN,
        ompt: view(
            Counted::More,
            "seen; if the runtime divides a long loop, also a few more, created by a `task` near its line",
            &[],
        ),
    },
    Row {
        construct: "`taskwait depend`",
        kinds: &[K::Taskwait],
        gnu: SEEN,
        ompt: view(
            Counted::Less,
            "where the runtime reports it",
            &["taskwait with depend (where the runtime does not report it)"],
        ),
    },
    Row {
        construct: "the barrier at the end of a construct",
        kinds: &[K::Barrier],
        gnu: view(
            Counted::More,
            "at the end of `single` and of a static loop with debug information and source; without them, or \
             where several constructs are possible, it is shown as a `barrier`",
            &["whether a barrier is the end of a construct (where the source is missing)"],
        ),
        ompt: SEEN,
    },
    Row {
        construct: "`ordered doacross`, `ordered depend`",
        kinds: &[K::Ordered],
        gnu: view(
            Counted::Otherwise,
            "where an iteration waits, once for each `sink`, and where an iteration is done",
            &[],
        ),
        ompt: view(
            Counted::Less,
            "not",
            &["ordered directives that stand alone"],
        ),
    },
    Row {
        construct: "`taskyield`",
        kinds: &[K::Taskyield],
        gnu: SEEN,
        ompt: never(&["taskyield"]),
    },
    Row {
        construct: "`cancel`, `cancellation point`",
        kinds: &[K::Cancel, K::CancellationPoint],
        gnu: SEEN,
        ompt: view(
            Counted::Less,
            "`cancel` where it takes effect",
            &["cancel that has no effect", "cancellation point"],
        ),
    },
    Row {
        construct: "`loop`, `distribute`",
        kinds: &[K::GenericLoop, K::Distribute],
        gnu: view(
            Counted::Less,
            "`loop` like `for schedule(static)`; `distribute` not",
            &["distribute"],
        ),
        ompt: view(
            Counted::Less,
            "`loop` where the compiler makes a `for` of it; `distribute` seen",
            &[],
        ),
    },
    Row {
        construct: "a loop with `scan`",
        kinds: &[],
        gnu: view(
            Counted::Same,
            "in parts, near its line, with the barriers between them; as one region if it is combined with its \
             `parallel`",
            &[],
        ),
        ompt: view(
            Counted::Same,
            "in parts, near its line, with the barriers between them",
            &[],
        ),
    },
    Row {
        construct: "constructs of a macro that can't be expanded",
        kinds: &[],
        gnu: view(Counted::Same, "near the line of the macro", &[]),
        ompt: view(
            Counted::Same,
            "near the line of the macro; a combined construct in its parts",
            &[],
        ),
    },
    Row {
        construct: "`teams`",
        kinds: &[K::Teams],
        gnu: view(
            Counted::Less,
            "outside of `target`",
            &["teams within target"],
        ),
        ompt: SEEN,
    },
    Row {
        construct: "the other constructs of a combined `target` or `teams`",
        kinds: &[],
        gnu: view(Counted::Same, "`parallel`, with the directive", &[]),
        ompt: view(Counted::Same, "each by itself, with the directive", &[]),
    },
    Row {
        construct: "`target`, `target update`",
        kinds: &[K::Target, K::TargetUpdate],
        gnu: SEEN,
        ompt: view(
            Counted::Never,
            "not; only the `task` that Clang makes for `depend` or `nowait`, near its line",
            &["target", "target update"],
        ),
    },
    Row {
        construct: "other `target` directives",
        kinds: &[K::TargetData, K::TargetEnterData, K::TargetExitData],
        gnu: never(&["directives for the data of a device"]),
        ompt: never(&["directives for the data of a device"]),
    },
    Row {
        construct: "chunks of a loop",
        kinds: &[],
        gnu: view(
            Counted::Same,
            "in a trace, with `ROMP_CHUNKS=on`, where the runtime hands them out: not with a static \
             schedule",
            &["chunks of loops with a static schedule"],
        ),
        ompt: view(
            Counted::Same,
            "in a trace, with `ROMP_CHUNKS=on`, where the runtime hands them out: with a static \
             schedule only without a chunk size",
            &["chunks of loops with a static schedule and a chunk size"],
        ),
    },
    Row {
        construct: "`depobj`, `dispatch`, `interop`, `taskgraph`",
        kinds: &[K::Depobj, K::Dispatch, K::Interop, K::Taskgraph],
        gnu: never(&["depobj, dispatch, interop, taskgraph"]),
        ompt: never(&["depobj, dispatch, interop, taskgraph"]),
    },
    Row {
        construct: "regions that the user marked",
        kinds: &[K::User],
        gnu: never(&[]),
        ompt: never(&[]),
    },
];

/// How often an interface counts constructs of a kind.
#[must_use]
pub fn counted(kind: K, interface: Interface) -> Counted {
    let mut rows = ROWS.iter().filter(|row| row.kinds.contains(&kind));
    rows.next()
        .map_or(Counted::Same, |row| row.view(interface).counted)
}

/// For each region: whether it is a loop of which, in most executions, only the barrier at its end
/// was seen. The begin of a loop with a static schedule may be seen once for all its executions, or
/// never. Its work counts for the construct around it.
#[must_use]
pub(crate) fn loops_without_work(profile: &Profile) -> Vec<bool> {
    let mut sums = vec![[Span::default(); 3]; profile.regions.len()];
    for node in &profile.nodes {
        let Some(sums) = sums.get_mut(node.region) else {
            continue;
        };
        for row in &node.rows {
            for (sum, span) in sums.iter_mut().zip([row.main, row.body, row.ibarr]) {
                *sum += span;
            }
        }
    }
    let regions = profile.regions.iter().zip(sums);
    let is_without = |(region, [whole, body, wait]): (&Region, [Span; 3])| {
        let is_seen_once = body.count * 2 <= whole.count;
        let is_barrier = whole.ns.saturating_sub(wait.ns) <= body.ns;
        matches!(region.kind, K::Loop | K::GenericLoop) && is_seen_once && is_barrier
    };
    regions.map(is_without).collect()
}
