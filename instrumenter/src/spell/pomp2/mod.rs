//! POMP2: the interface that OPARI2 emits, for measurement libraries that are not
//! ours.
//!
//! A table says which function reports an event and what it takes; what has no
//! row has no event in POMP2, and is spelled as nothing. What a function stores
//! for its partner is the task that was left, or the one that is created.
//!
//! Functions `POMP2_Init_reg_...` and `POMP2_USER_Init_reg_...` register the
//! regions of the source; OPARI2's script finds them by those names.

mod c;
mod fortran;

use profile::descriptor::{Descriptor, pomp2_knows, pomp2_type};

use crate::openmp::Event;
use crate::openmp::api::RoutineRow;
use crate::plan::{Plan, Region};

/// What a function takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// The handle and the region's text: it may be the region's first event.
    First,
    /// The handle.
    Plain,
    /// As `First`, but of the construct around: sections have no handles.
    Section,
    /// As `Plain`, likewise.
    SectionEnd,
    /// Condition, number of threads, and where to store the task that is left.
    Fork,
    /// Where to store the task that is left, and the text.
    Leaves,
    /// Where to store the task that is left.
    LeavesKnown,
    /// Nothing: there is no function, but a later one needs a place for what it stores.
    Opens,
    /// As `Leaves`, where the place is there.
    LeavesLater,
    /// The task that goes on.
    GoesOn,
    /// The same, behind the creation of a task.
    GoesOnCreating,
    /// Where to store the new task and the task that is left.
    Creates,
    /// The new task.
    Executes,
}

/// The table: an event of ours, the function, and what that takes.
#[rustfmt::skip]
const FUNCTIONS: &[(&str, &str, Shape)] = &[
    ("Parallel_fork_team", "Parallel_fork", Shape::Fork),
    ("Parallel_join", "Parallel_join", Shape::GoesOn),
    ("Parallel_begin_team", "Parallel_begin", Shape::Plain),
    ("Parallel_end", "Parallel_end", Shape::Plain),
    ("Implicit_barrier_enter", "Implicit_barrier_enter", Shape::LeavesKnown),
    ("Implicit_barrier_exit", "Implicit_barrier_exit", Shape::GoesOn),
    ("For_enter", "For_enter", Shape::First),
    ("For_exit", "For_exit", Shape::Plain),
    ("Sections_enter", "Sections_enter", Shape::First),
    ("Sections_exit", "Sections_exit", Shape::Plain),
    ("Section_begin", "Section_begin", Shape::Section),
    ("Section_end", "Section_end", Shape::SectionEnd),
    ("Single_enter", "Single_enter", Shape::First),
    ("Single_begin", "Single_begin", Shape::Plain),
    ("Single_end", "Single_end", Shape::Plain),
    ("Single_exit", "Single_exit", Shape::Plain),
    ("Workshare_enter", "Workshare_enter", Shape::First),
    ("Workshare_exit", "Workshare_exit", Shape::Plain),
    ("Master_begin", "Master_begin", Shape::First),
    ("Master_end", "Master_end", Shape::Plain),
    ("Critical_enter", "Critical_enter", Shape::First),
    ("Critical_begin", "Critical_begin", Shape::Plain),
    ("Critical_end", "Critical_end", Shape::Plain),
    ("Critical_exit", "Critical_exit", Shape::Plain),
    ("Ordered_enter", "Ordered_enter", Shape::First),
    ("Ordered_begin", "Ordered_begin", Shape::Plain),
    ("Ordered_end", "Ordered_end", Shape::Plain),
    ("Ordered_exit", "Ordered_exit", Shape::Plain),
    ("Atomic_enter", "Atomic_enter", Shape::First),
    ("Atomic_exit", "Atomic_exit", Shape::Plain),
    ("Flush_enter", "Flush_enter", Shape::First),
    ("Flush_exit", "Flush_exit", Shape::Plain),
    ("Barrier_enter", "Barrier_enter", Shape::Leaves),
    ("Barrier_exit", "Barrier_exit", Shape::GoesOn),
    ("Taskwait_enter", "Taskwait_begin", Shape::Leaves),
    ("Taskwait_exit", "Taskwait_end", Shape::GoesOn),
    ("Taskyield_enter", "Taskwait_begin", Shape::Leaves),
    ("Taskyield_exit", "Taskwait_end", Shape::GoesOn),
    ("Taskloop_enter", "Taskwait_begin", Shape::Leaves),
    ("Taskloop_exit", "Taskwait_end", Shape::GoesOn),
    ("Taskgroup_enter", "", Shape::Opens),
    ("Taskgroup_end", "Taskwait_begin", Shape::LeavesLater),
    ("Taskgroup_exit", "Taskwait_end", Shape::GoesOn),
    ("Task_create_enter", "Task_create_begin", Shape::Creates),
    ("Task_create_exit", "Task_create_end", Shape::GoesOnCreating),
    ("Task_begin", "Task_begin", Shape::Executes),
    ("Task_end", "Task_end", Shape::Plain),
    ("Begin", "Begin", Shape::First),
    ("End", "End", Shape::Plain),
];

/// The function for an event of a region, and what it takes.
fn function(event: Event, region: &Region) -> Option<(String, Shape)> {
    if !pomp2_knows(&region.descriptor.region_type) {
        return None;
    }
    let kind = pomp2_type(&region.descriptor.region_type);
    let ours = match (kind, event.name()) {
        // What is told of as the barrier that it ends with has no other events, so this
        // is the first that its handle is in.
        ("barrier", "Implicit_barrier_enter") => "Barrier_enter",
        ("barrier", "Implicit_barrier_exit") => "Barrier_exit",
        (_, name) => name,
    };
    let (_, name, shape) = FUNCTIONS.iter().find(|(name, ..)| *name == ours)?;
    let is_untied = kind == "taskuntied";
    let name = match name.strip_prefix("Task_").filter(|_| is_untied) {
        Some(rest) => format!("POMP2_Untied_task_{rest}"),
        None => format!("POMP2_{name}"),
    };
    Some((name, *shape))
}

/// The construct that a section belongs to: the innermost around its lines.
fn sections_around(plan: &Plan, section: usize) -> usize {
    let lines = &plan.regions[section].descriptor;
    let encloses = |other: &Descriptor| {
        other.region_type.ends_with("sections")
            && other.begin.first <= lines.begin.first
            && other.end.last >= lines.end.last
    };
    let mut around = (0..section).rev();
    let found = around.find(|index| encloses(&plan.regions[*index].descriptor));
    found.unwrap_or(section)
}

/// The function that stands in for a lock routine.
fn wrapper_of(routine: &RoutineRow) -> String {
    let name = routine.wrapper.trim_end_matches("_at");
    format!("POMP2_{name}")
}

/// A function that registers regions of the source.
struct Registration {
    /// Its name.
    name: String,
    /// What it calls for each of them.
    assign: &'static str,
    /// The regions.
    regions: Vec<usize>,
}

/// The functions that register regions: those of OpenMP, and the user's, which
/// libraries keep apart.
fn registrations(plan: &Plan, unique: &str) -> impl Iterator<Item = Registration> {
    let kind = |region: &usize| pomp2_type(&plan.regions[*region].descriptor.region_type);
    let is_known = |region: &usize| pomp2_knows(&plan.regions[*region].descriptor.region_type);
    let known = |region: &usize| is_known(region) && kind(region) != "section";
    let known = (0..plan.regions.len()).filter(known);
    let (user, openmp): (Vec<usize>, Vec<usize>) =
        known.partition(|region| kind(region) == "userRegion");
    // OPARI2's script takes the number of regions from the end of the name.
    let registration = |prefix: &str, assign, regions: Vec<usize>| Registration {
        name: format!("{prefix}_Init_reg_{unique}_{}", regions.len()),
        assign,
        regions,
    };
    let both = [
        registration("POMP2", "POMP2_Assign_handle", openmp),
        registration("POMP2_USER", "POMP2_USER_Assign_handle", user),
    ];
    let needed = |registration: &Registration| !registration.regions.is_empty();
    both.into_iter().filter(needed)
}
