//! Advice on what a user can try where a construct loses time. Each text continues a sentence
//! that has already named the place. Advice that depends only on the construct and the category
//! is in the rows of [`region_kind`](crate::region_kind).

use crate::overheads::Category;
use crate::region_kind::{RegionKind, SMALLER_CHUNKS};
use crate::schedule::Schedule;

/// For a loop that already hands out iterations at run time.
const ALREADY_DYNAMIC: &str = "It is scheduled at run time already: try smaller chunks, or \
                               split the longest iterations.";

/// For a loop that already hands out one iteration at a time.
const ONE_AT_A_TIME: &str = "It hands out one iteration at a time already: split the longest \
                             iterations, or let them come first.";

/// As `SMALLER_CHUNKS`, where the first thread has most to do. A loop with the schedule `guided`
/// begins with chunks that are as large as the first thread's part now.
const SMALLER_FIRST_CHUNKS: &str = "Hand out its iterations in smaller parts: try schedule(static,CHUNK) or \
                                    schedule(dynamic,CHUNK); not guided, whose first chunks are large. If \
                                    there are only a few iterations, collapse the loop nest, or share out an \
                                    inner loop.";

/// As `SMALLER_CHUNKS`, where a thread had next to nothing to do. Each thread has an iteration if there are as
/// many as threads.
const FEW_ITERATIONS: &str = "If it has fewer iterations than threads, collapse the loop nest, or share out an \
                              inner loop. Otherwise hand out its iterations in smaller parts: try \
                              schedule(static,CHUNK) or schedule(dynamic,CHUNK).";

/// For a loop whose chunks are dealt out before it begins.
const ALREADY_IN_TURNS: &str = "Its chunks go to the threads in turns already: try smaller ones, or \
                                schedule(dynamic,CHUNK). If there are only a few iterations, collapse the loop \
                                nest, or share out an inner loop.";

/// For a loop whose iterations are dealt out one by one before it begins.
const ALREADY_ONE_BY_ONE: &str = "Its iterations go to the threads one by one already: try \
                                  schedule(dynamic,CHUNK). If there are only a few iterations, collapse the \
                                  loop nest, or share out an inner loop.";

/// For a loop whose first chunks are the largest.
const ALREADY_GUIDED: &str = "The first chunks of a guided schedule are the largest: try \
                              schedule(static,CHUNK) or schedule(dynamic,CHUNK), or split the \
                              longest iterations.";

/// For a loop whose schedule is not in the source.
const AT_RUN_TIME: &str = "OMP_SCHEDULE, or a call of omp_set_schedule, chooses how its iterations are \
                           handed out: try dynamic, or a smaller chunk.";

/// For a wait in which threads executed tasks.
pub const TOO_FEW_TASKS: &str = "There were not enough tasks to keep all threads busy: make more and smaller \
                                 ones, or let more threads create them.";

/// As `TOO_FEW_TASKS`, in a program that waits for tasks itself.
pub const WAITED_FOR_SOON: &str = "There were not enough tasks to keep all threads busy: wait for them only \
                                   where their results are needed, make more and smaller ones, or let more \
                                   threads create them.";

/// For a wait for one task that is much longer than the others.
pub const LONG_TASK: &str = "Create the longest tasks first, or divide them.";

/// For a wait in which threads executed tasks, if some have `depend` clauses.
pub const TASKS_IN_ORDER: &str = "Not enough tasks could run at the same time: let fewer tasks depend on each \
                                  other, make more and smaller ones, or let more threads create them.";

/// For a wait that is longer than the work in front of it.
pub const TOO_LITTLE_WORK: &str = "Threads came late to it. Either it is too short to be worth its team: give \
                                   it more work, merge it with its neighbours, or use fewer threads. Or the \
                                   threads had no processor: use no more threads than processors, and run \
                                   nothing else on them.";

/// The same where threads had processors.
pub const TOO_SHORT_FOR_TEAM: &str = "Threads came late to it: it is too short to be worth its team. Give it \
                                      more work, merge it with its neighbours, or use fewer threads.";

/// The facts on which the advice for a loop depends.
#[derive(Clone, Copy, Debug, Default)]
pub struct LoopFacts<'a> {
    /// The argument of its `schedule` clause, such as `monotonic: Dynamic, 4` (Fortran has no
    /// case).
    pub schedule: Option<&'a str>,
    /// Whether the first thread had the most to do in it. It gets the first iterations, if the
    /// compiler hands them out.
    pub first_has_most: bool,
    /// Whether a thread had next to nothing to do in it.
    pub has_idle_thread: bool,
}

/// Advice for a construct and a category; none if there is none.
#[must_use]
pub fn advice(kind: RegionKind, category: Category, facts: LoopFacts<'_>) -> Option<&'static str> {
    let (_, text) = kind.advice().iter().find(|(of, _)| *of == category)?;
    let is_loop = matches!(kind, RegionKind::Loop | RegionKind::ParallelLoop);
    Some(match is_loop && category == Category::Imbal {
        true => for_loop(facts),
        false => text,
    })
}

/// Advice for a loop whose iterations are spread unevenly.
#[must_use]
pub fn for_loop(facts: LoopFacts<'_>) -> &'static str {
    let schedule = Schedule::of(facts.schedule.unwrap_or_default());
    match () {
        () if schedule.hands_out_one() => ONE_AT_A_TIME,
        () if schedule.is("dynamic") => ALREADY_DYNAMIC,
        () if schedule.is("guided") => ALREADY_GUIDED,
        () if schedule.is("runtime") => AT_RUN_TIME,
        () if schedule.is("static") && schedule.chunk == Some("1") => ALREADY_ONE_BY_ONE,
        () if schedule.is("static") && schedule.chunk.is_some() => ALREADY_IN_TURNS,
        () if facts.has_idle_thread => FEW_ITERATIONS,
        () if facts.first_has_most => SMALLER_FIRST_CHUNKS,
        () => SMALLER_CHUNKS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::region_kind::RegionKind as Kind;
    use Category::{Imbal, Synch};

    #[test]
    fn a_dynamic_loop_is_not_told_to_become_dynamic() {
        let advise = |schedule| {
            let facts = LoopFacts {
                schedule,
                ..LoopFacts::default()
            };
            advice(Kind::Loop, Imbal, facts).unwrap()
        };
        assert_eq!(advise(None), SMALLER_CHUNKS);
        assert_eq!(advise(Some("static")), SMALLER_CHUNKS);
        assert_eq!(advise(Some("static,4")), ALREADY_IN_TURNS);
        assert_eq!(advise(Some("STATIC , 1")), ALREADY_ONE_BY_ONE);
        assert_eq!(advise(Some("runtime")), AT_RUN_TIME);
        assert_eq!(advise(Some("nonmonotonic: DYNAMIC, 8")), ALREADY_DYNAMIC);
        assert_eq!(advise(Some("dynamic")), ONE_AT_A_TIME);
        assert_eq!(advise(Some("guided")), ALREADY_GUIDED);
    }

    #[test]
    fn a_loop_that_is_longest_at_its_begin_is_not_told_to_become_guided() {
        let facts = LoopFacts {
            first_has_most: true,
            ..LoopFacts::default()
        };
        assert_eq!(for_loop(facts), SMALLER_FIRST_CHUNKS);
    }

    #[test]
    fn a_loop_with_few_iterations_is_not_told_to_hand_out_fewer() {
        let facts = |schedule| LoopFacts {
            schedule,
            first_has_most: true,
            has_idle_thread: true,
        };
        assert_eq!(for_loop(facts(None)), FEW_ITERATIONS);
        assert_eq!(for_loop(facts(Some("static,4"))), ALREADY_IN_TURNS);
    }

    #[test]
    fn nothing_is_said_where_nothing_is_known() {
        assert_eq!(advice(Kind::Flush, Synch, LoopFacts::default()), None);
    }
}
