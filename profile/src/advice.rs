//! What to try where time is lost, as one table keyed by construct and
//! category. Each text completes a sentence that has named the place.

use crate::overheads::Category;
use crate::region_kind::RegionKind;

/// One row of the table.
struct Advice {
    kinds: &'static [RegionKind],
    category: Category,
    /// What the loss means, and what to try.
    text: &'static str,
}

use Category::{Imbal, Limpar, Mgmt, Synch};
use RegionKind as Kind;

const ADVICE: &[Advice] = &[
    Advice {
        kinds: &[Kind::Loop, Kind::ParallelLoop],
        category: Imbal,
        text: SMALLER_CHUNKS,
    },
    Advice {
        kinds: &[Kind::Parallel, Kind::Scope],
        category: Imbal,
        text: "Give each thread the same amount of work, or let a loop or tasks in the region \
               spread it.",
    },
    Advice {
        kinds: &[Kind::Sections, Kind::ParallelSections],
        category: Imbal,
        text: "Split the longest sections, or turn the sections into tasks.",
    },
    Advice {
        kinds: &[Kind::Sections, Kind::ParallelSections],
        category: Limpar,
        text: "There were fewer sections than threads: use fewer threads here, or more sections.",
    },
    Advice {
        kinds: &[Kind::Workshare, Kind::ParallelWorkshare],
        category: Imbal,
        text: "The compiler shares out the statements: see whether it shares out all of them, or \
               write loops.",
    },
    Advice {
        kinds: &[Kind::Single],
        category: Limpar,
        text: "Add nowait if the others need not wait, or give them work.",
    },
    Advice {
        kinds: &[Kind::Master],
        category: Limpar,
        text: "Let other threads work meanwhile, or give part of the work to them.",
    },
    Advice {
        kinds: &[Kind::Barrier],
        category: Synch,
        text: "Threads arrived at different times: spread the work before it evenly, or see \
               whether the barrier is needed.",
    },
    Advice {
        kinds: &[Kind::Taskgroup],
        category: Synch,
        text: "There were fewer tasks than threads to execute them, or one was longer than the \
               others: make more and smaller tasks, or create the longest first.",
    },
    Advice {
        kinds: &[Kind::Critical, Kind::Lock],
        category: Synch,
        text: "Do less inside, enter less often, or protect independent data by different names \
               or locks.",
    },
    Advice {
        kinds: &[Kind::Atomic],
        category: Synch,
        text: "Try a reduction, or one partial result per thread.",
    },
    Advice {
        kinds: &[Kind::Ordered],
        category: Synch,
        text: "Try schedule(static,1), so that turns come soon, and do less in the ordered part.",
    },
    Advice {
        kinds: &[
            Kind::Parallel,
            Kind::ParallelLoop,
            Kind::ParallelSections,
            Kind::ParallelWorkshare,
        ],
        category: Mgmt,
        text: "The region is short for its cost: move it outwards, merge it with its neighbours, \
               or add an if clause.",
    },
    Advice {
        kinds: &[Kind::Sections],
        category: Mgmt,
        text: "The sections are short for their cost: merge some of them.",
    },
    Advice {
        kinds: &[Kind::Task, Kind::UntiedTask],
        category: Mgmt,
        text: "The tasks are small for their cost: create fewer and larger ones, and below some \
               size call the work directly.",
    },
    Advice {
        kinds: &[Kind::Taskloop],
        category: Mgmt,
        text: "The tasks are small for their cost: give the loop a grainsize.",
    },
];

/// For a loop that hands out its iterations in equal parts. Which thread touches which
/// memory first is decided by such loops, so that only chunks are changed.
const SMALLER_CHUNKS: &str = "Hand out its iterations in smaller parts: try \
                              schedule(static,CHUNK) or schedule(guided).";

/// For a loop that already hands out iterations at run time.
const ALREADY_DYNAMIC: &str = "It is scheduled at run time already: try smaller chunks, or \
                               split the longest iterations.";

/// For a loop whose schedule is not in the source.
const AT_RUN_TIME: &str = "OMP_SCHEDULE chooses how its iterations are handed out: try \
                           OMP_SCHEDULE=guided, or a smaller chunk.";

/// For a wait in which threads executed tasks.
pub const TOO_FEW_TASKS: &str = "There were not enough of them to keep all threads busy: make \
                                 more and smaller ones, or let more threads create them.";

/// For a wait that is longer than the work in front of it.
pub const TOO_LITTLE_WORK: &str = "Threads came late to it. Either it is too short to pay for \
                                   its team: make it longer, merge it with its neighbours, or \
                                   use fewer threads. Or they had no processor: use no more \
                                   threads than processors, with nothing else on them.";

/// What to try, if something is known.
#[must_use]
pub fn advice(
    kind: RegionKind,
    category: Category,
    schedule: Option<&str>,
) -> Option<&'static str> {
    let row = ADVICE
        .iter()
        .find(|row| row.kinds.contains(&kind) && row.category == category)?;
    let is_loop = matches!(kind, RegionKind::Loop | RegionKind::ParallelLoop);
    Some(match is_loop && category == Imbal {
        true => for_loop(schedule),
        false => row.text,
    })
}

/// What to try for a loop whose iterations are spread unevenly, by the argument of its
/// `schedule` clause, such as `monotonic: Dynamic, 4` (Fortran has no case).
#[must_use]
pub fn for_loop(schedule: Option<&str>) -> &'static str {
    let schedule = schedule.unwrap_or_default().to_ascii_lowercase();
    let after_modifier = schedule.rsplit(':').next().unwrap_or_default();
    let word = after_modifier.split(',').next().unwrap_or_default().trim();
    match word {
        "dynamic" | "guided" => ALREADY_DYNAMIC,
        "runtime" => AT_RUN_TIME,
        _ => SMALLER_CHUNKS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dynamic_loop_is_not_told_to_become_dynamic() {
        let advise = |schedule| advice(Kind::Loop, Imbal, schedule).unwrap();
        assert_eq!(advise(None), SMALLER_CHUNKS);
        assert_eq!(advise(Some("static,4")), SMALLER_CHUNKS);
        assert_eq!(advise(Some("runtime")), AT_RUN_TIME);
        assert_eq!(advise(Some("nonmonotonic: DYNAMIC, 8")), ALREADY_DYNAMIC);
        assert_eq!(advise(Some("guided")), ALREADY_DYNAMIC);
    }

    #[test]
    fn nothing_is_said_where_nothing_is_known() {
        assert_eq!(advice(Kind::Flush, Synch, None), None);
    }
}
