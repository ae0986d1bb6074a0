//! POMP2 in C and C++: the interface that OPARI2 emits, for measurement libraries
//! that are not ours.
//!
//! A table says which function reports an event and what it takes; what has no
//! row has no event in POMP2, and is spelled as nothing. What a function stores
//! for its partner (the task that was left, the task that is created) is a local
//! of a block that the first opens and the second closes.
//!
//! As in POMP, a region is named by the call of a function, here for the address
//! of its handle, so that nothing has to be listed under `default(none)`. A
//! function `POMP2_Init_reg_...` registers the regions of the source; OPARI2's
//! script finds it by that name.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use profile::descriptor::Descriptor;

use super::c::{CSpeller, quoted};
use crate::openmp::Event;
use crate::openmp::api::RoutineRow;
use crate::openmp::events::USER;
use crate::plan::{Item, Region};

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
    /// The task that goes on.
    GoesOn,
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
    ("Task_create_enter", "Task_create_begin", Shape::Creates),
    ("Task_create_exit", "Task_create_end", Shape::GoesOn),
    ("Task_begin", "Task_begin", Shape::Executes),
    ("Task_end", "Task_end", Shape::Plain),
    ("Begin", "Begin", Shape::First),
    ("End", "End", Shape::Plain),
];

/// Types of regions that the parsers of POMP2's libraries know.
const REGION_TYPES: &[&str] = &[
    "atomic",
    "barrier",
    "critical",
    "flush",
    "for",
    "master",
    "ordered",
    "parallel",
    "parallelfor",
    "parallelsections",
    "section",
    "sections",
    "single",
    "task",
    "taskuntied",
    "taskwait",
    "userRegion",
];

/// The function for an event of a region, and what it takes.
fn function(event: Event, region: &Region) -> Option<(String, Shape)> {
    let kind = region.descriptor.region_type.as_str();
    if !REGION_TYPES.contains(&kind) {
        return None;
    }
    let (_, name, shape) = FUNCTIONS.iter().find(|(ours, ..)| *ours == event.name())?;
    let prefix = match kind {
        "taskuntied" => "Untied_",
        _ => "",
    };
    let name = match name.strip_prefix("Task_").filter(|_| !prefix.is_empty()) {
        Some(rest) => format!("POMP2_Untied_task_{rest}"),
        None => format!("POMP2_{name}"),
    };
    Some((name, *shape))
}

impl Shape {
    /// The declaration of a function that takes this.
    fn declaration(self, name: &str) -> String {
        let parameters = match self {
            Self::First | Self::Section => "void **, const char *",
            Self::Plain | Self::SectionEnd => "void **",
            Self::Fork => "void **, int, int, long *, const char *",
            Self::Leaves => "void **, long *, const char *",
            Self::LeavesKnown => "void **, long *",
            Self::GoesOn | Self::Executes => "void **, long",
            Self::Creates => "void **, long *, long *, int, const char *",
        };
        format!("void {name}({parameters})")
    }
}

impl CSpeller<'_> {
    /// The call of the function that reports an event, if there is one.
    pub(super) fn pomp2_probe(&self, event: Event, region: usize) -> String {
        let Some((name, shape)) = function(event, &self.plan.regions[region]) else {
            return String::new();
        };
        let handle = |region: usize| {
            let accessor = self.accessor(&self.plan.regions[region]);
            format!("{}_{}({region})", accessor.prefix, self.around.unique)
        };
        let text = |region: usize| {
            let accessor = self.accessor(&self.plan.regions[region]);
            format!("{}_text_{}({region})", accessor.prefix, self.around.unique)
        };
        let (own, own_text) = (handle(region), text(region));
        let construct = self.sections_around(region);
        let left = self.left(event, region);
        let new = self.new_task(region);
        match shape {
            Shape::First => format!("{name}({own}, {own_text});"),
            Shape::Plain => format!("{name}({own});"),
            Shape::Section => format!("{name}({}, {});", handle(construct), text(construct)),
            Shape::SectionEnd => format!("{name}({});", handle(construct)),
            Shape::Fork => format!(
                "{{ long {left}; {name}({own}, 1, romp_threads_{}(), &{left}, {own_text});",
                self.around.unique
            ),
            Shape::Leaves => format!("{{ long {left}; {name}({own}, &{left}, {own_text});"),
            Shape::LeavesKnown => format!("{{ long {left}; {name}({own}, &{left});"),
            Shape::GoesOn => format!("{name}({own}, {left}); }}"),
            Shape::Creates => format!(
                "{{ long {left}; long {new}; {name}({own}, &{new}, &{left}, 1, {own_text});"
            ),
            Shape::Executes => format!("{name}({own}, {new});"),
        }
    }

    /// The local for the task that an event leaves or goes on with. Those of one
    /// region that enclose each other have names of their own.
    pub(super) fn left(&self, event: Event, region: usize) -> String {
        let kind = match event.name().starts_with("Implicit") {
            true => "barrier",
            false => "left",
        };
        format!("romp_{kind}_{}_{region}", self.around.unique)
    }

    /// The local for the task that is created.
    pub(super) fn new_task(&self, region: usize) -> String {
        format!("romp_task_{}_{region}", self.around.unique)
    }

    /// The construct that a section belongs to: the innermost around its lines.
    fn sections_around(&self, section: usize) -> usize {
        let lines = &self.plan.regions[section].descriptor;
        let encloses = |other: &Descriptor| {
            other.region_type.ends_with("sections")
                && other.begin.first <= lines.begin.first
                && other.end.last >= lines.end.last
        };
        let around = (0..section).rev();
        let mut around = around.filter(|index| encloses(&self.plan.regions[*index].descriptor));
        around.next().unwrap_or(section)
    }

    /// A lock routine's other name. OPARI2 has none for those with hints.
    pub(super) fn pomp2_routine(routine: &RoutineRow) -> String {
        match Self::wrapper_of(routine) {
            Some(wrapper) => format!("romp_{wrapper}"),
            None => routine.name.to_owned(),
        }
    }

    fn wrapper_of(routine: &RoutineRow) -> Option<String> {
        let name = routine.wrapper.strip_suffix("_at")?;
        (!name.contains("hint")).then(|| format!("POMP2_{name}"))
    }

    /// Declarations of the functions that the text calls.
    fn pomp2_functions(&self) -> BTreeSet<String> {
        let items = self
            .plan
            .insertions
            .iter()
            .flat_map(|insertion| &insertion.items);
        let mut declared: BTreeSet<String> = items
            .filter_map(|item| match item {
                Item::Probe(event, region) => function(*event, &self.plan.regions[*region]),
                Item::AlternateEnd(region) => function(USER.closing(), &self.plan.regions[*region]),
                _ => None,
            })
            .map(|(name, shape)| shape.declaration(&name))
            .collect();
        let items = self
            .plan
            .insertions
            .iter()
            .flat_map(|insertion| &insertion.items);
        declared.extend(items.filter_map(|item| match item {
            Item::Call(name) => Some(format!("void POMP2_{name}(void)")),
            _ => None,
        }));
        declared.insert("void POMP2_Assign_handle(void **, const char *)".into());
        let max_threads = "__asm__(\"omp_get_max_threads\")";
        declared.insert(format!(
            "int romp_threads_{}(void) {max_threads}",
            self.around.unique
        ));
        declared
    }

    /// The lock routines. The type of a lock is not known in front of the user's
    /// headers, and one of those may declare the routines: ours have names of
    /// their own in the source.
    fn pomp2_locks(&self) -> BTreeSet<String> {
        let routines = self.plan.calls.iter().map(|call| call.routine);
        let declared = routines.filter_map(|routine| {
            let wrapper = Self::wrapper_of(routine)?;
            let (result, parameters) = (routine.result, routine.parameters);
            Some(format!(
                "{result} romp_{wrapper}({parameters}) __asm__(\"{wrapper}\")"
            ))
        });
        declared.collect()
    }

    /// What stands in front of the whole text.
    pub(super) fn pomp2_prologue(&self) -> String {
        let (open, close) = self.extern_c();
        let mut text = open.to_owned();
        for declaration in self.pomp2_functions().union(&self.pomp2_locks()) {
            let _ = writeln!(text, "extern {declaration};");
        }
        text.push_str(close);
        let unique = self.around.unique;
        for accessor in self.used_accessors() {
            let (prefix, storage, attribute) =
                (accessor.prefix, accessor.storage, accessor.attribute);
            let _ = write!(
                text,
                "{storage} void **{prefix}_{unique}(int) {attribute};\n\
                 {storage} const char *{prefix}_text_{unique}(int) {attribute};\n"
            );
        }
        text + &format!("#line 1 {}\n", quoted(self.around.name))
    }

    /// The handles and texts of the regions, and their registration.
    pub(super) fn pomp2_epilogue(&self) -> String {
        let unique = self.around.unique;
        let count = self.plan.regions.len();
        let mut text = format!(
            "\n#line 1 \"<romp>\"\n\
             #pragma GCC diagnostic push\n\
             #pragma GCC diagnostic ignored \"-Woverlength-strings\"\n\
             static void *romp_handles_{unique}[{count}];\n\
             static const char *const romp_texts_{unique}[{count}] = {{\n"
        );
        for region in &self.plan.regions {
            let _ = writeln!(text, "{},", quoted(&region.descriptor.to_ctc()));
        }
        text.push_str("};\n");
        for accessor in self.used_accessors() {
            let (storage, prefix) = (accessor.defined_as(), accessor.prefix);
            let _ = write!(
                text,
                "{storage}void **{prefix}_{unique}(int romp_region) \
                 {{ return &romp_handles_{unique}[romp_region]; }}\n\
                 {storage}const char *{prefix}_text_{unique}(int romp_region) \
                 {{ return romp_texts_{unique}[romp_region]; }}\n"
            );
        }
        // OPARI2's script takes the number of regions from the end of the name.
        let known: Vec<usize> = (0..count)
            .filter(|index| {
                let kind = self.plan.regions[*index].descriptor.region_type.as_str();
                REGION_TYPES.contains(&kind) && kind != "section"
            })
            .collect();
        let register = format!("void POMP2_Init_reg_{unique}_{}(void)", known.len());
        let (open, close) = self.extern_c();
        let _ = write!(text, "{open}{register};\n{close}{register} {{\n");
        for index in known {
            let assign = format!(
                "POMP2_Assign_handle(&romp_handles_{unique}[{index}], \
                 romp_texts_{unique}[{index}]);"
            );
            let _ = match self.plan.regions[index].branch.map(|mark| self.mark(mark)) {
                Some(mark) => writeln!(text, "#ifdef {mark}\n{assign}\n#endif"),
                None => writeln!(text, "{assign}"),
            };
        }
        text.push_str("}\n#pragma GCC diagnostic pop\n");
        text
    }
}
