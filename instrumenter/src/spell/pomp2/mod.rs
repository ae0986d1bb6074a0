//! POMP2: the interface of OPARI2's output, for measurement libraries other than libpomp.
//!
//! A table gives the function for each event, and its parameters. An event without a row does
//! not exist in POMP2, and nothing is written for it. Some functions store a value for a later
//! function: the suspended task, or the created one.
//!
//! Functions `POMP2_Init_reg_...` and `POMP2_USER_Init_reg_...` register the regions of the
//! source. OPARI2's script finds them by these names.

mod c;
mod fortran;

use profile::descriptor::{Descriptor, pomp2_knows, pomp2_type};

use crate::openmp::Event;
use crate::openmp::api::RoutineRow;
use crate::plan::{Plan, Region};

/// The parameters of a function.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// The handle and the region's text, since it may be the region's first event.
    First,
    /// The handle.
    Plain,
    /// As `First`, but for the construct around: sections have no handles.
    Section,
    /// As `Plain`, but for the construct around.
    SectionEnd,
    /// The condition, the number of threads, and the place to store the suspended task.
    Fork,
    /// The place to store the suspended task, and the text.
    Leaves,
    /// The place to store the suspended task.
    LeavesKnown,
    /// No function is called, but a later one needs a place to store a value.
    Opens,
    /// As `Leaves`, but the place to store the task already exists.
    LeavesLater,
    /// The resumed task.
    GoesOn,
    /// The resumed task, behind the creation of a task.
    GoesOnCreating,
    /// The places to store the new task and the suspended task.
    Creates,
    /// The new task.
    Executes,
}

/// The table: an event of POMP, the function in POMP2, and its parameters.
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

/// The function for an event of a region, and its parameters.
fn function(event: Event, region: &Region) -> Option<(String, Shape)> {
    if !pomp2_knows(&region.descriptor.region_type) {
        return None;
    }
    let kind = pomp2_type(&region.descriptor.region_type);
    let ours = match (kind, event.name()) {
        // A construct that is reported as the barrier at its end has no other events. So this
        // is the first event with its handle.
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

/// The construct that a section belongs to: the innermost one around its lines.
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

/// The function that replaces a lock routine.
fn wrapper_of(routine: &RoutineRow) -> String {
    let name = routine.wrapper.trim_end_matches("_at");
    format!("POMP2_{name}")
}

/// A function that registers regions of the source.
struct Registration {
    /// Its name.
    name: String,
    /// The function that it calls for each region.
    assign: &'static str,
    /// The regions.
    regions: Vec<usize>,
}

/// The functions that register regions: one for OpenMP's regions, and one for the user's.
/// Libraries keep these apart.
fn registrations(plan: &Plan, unique: &str) -> impl Iterator<Item = Registration> {
    let kind = |region: &usize| pomp2_type(&plan.regions[*region].descriptor.region_type);
    let is_known = |region: &usize| pomp2_knows(&plan.regions[*region].descriptor.region_type);
    let known = |region: &usize| is_known(region) && kind(region) != "section";
    let known = (0..plan.regions.len()).filter(known);
    let (user, openmp): (Vec<usize>, Vec<usize>) =
        known.partition(|region| kind(region) == "userRegion");
    // OPARI2's script reads the number of regions from the end of the name.
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
