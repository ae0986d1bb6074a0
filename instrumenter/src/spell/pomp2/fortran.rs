//! POMP2 in Fortran.
//!
//! A handle is a variable, and a variable has to be declared. So a probe calls a subroutine of
//! ours, behind the user's last program unit, with the number of the region. The subroutine has
//! the handles in a common block, and calls the interface's function. It also keeps the
//! suspended task on a stack of the thread, for the function that needs it later.
//!
//! Only the number of a new task must be a variable in the user's code: the task gets it by
//! `firstprivate`. A `block` construct around the task declares it. A block is a scoping unit,
//! in which no common block of the user can be named, so it contains nothing else.

use std::collections::BTreeMap;

use super::{Shape, function, registrations, sections_around, wrapper_of};
use crate::openmp::Event;
use crate::openmp::api::RoutineRow;
use crate::openmp::events::USER;
use crate::plan::{Fragment, Mark};
use crate::spell::fortran::{FortranSpeller, TASK_LABEL};
use crate::spell::fortran_lines::{Argument, Lines};

/// A parameter that a function takes behind the handle.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Parameter {
    /// Whether a condition holds.
    If,
    /// A number of threads.
    Threads,
    /// The created task.
    New,
    /// The place to store the suspended task.
    Left,
    /// The resumed task.
    Back,
    /// The region's text.
    Text,
}

impl Shape {
    fn parameters(self) -> &'static [Parameter] {
        match self {
            Self::First | Self::Section => &[Parameter::Text],
            Self::Plain | Self::SectionEnd => &[],
            Self::Fork => &[
                Parameter::If,
                Parameter::Threads,
                Parameter::Left,
                Parameter::Text,
            ],
            Self::Opens => &[],
            Self::Leaves | Self::LeavesLater => &[Parameter::Left, Parameter::Text],
            Self::LeavesKnown => &[Parameter::Left],
            Self::GoesOn | Self::GoesOnCreating => &[Parameter::Back],
            Self::Creates => &[
                Parameter::New,
                Parameter::Left,
                Parameter::If,
                Parameter::Text,
            ],
            Self::Executes => &[Parameter::New],
        }
    }
}

impl Parameter {
    /// The argument that a wrapper passes on.
    fn passed(self) -> &'static str {
        match self {
            Self::If => ".true._4",
            Self::Threads => "merge(romp_n, pomp2_lib_get_max_threads(), romp_n > 0)",
            Self::New => NEW,
            Self::Left | Self::Back => "romp_left",
            Self::Text => "romp_text",
        }
    }

    /// Type and name of the argument that a wrapper gets; none if it determines the value
    /// itself.
    fn given(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::If | Self::Left | Self::Back => None,
            Self::Threads => Some(("integer(4)", "romp_n")),
            Self::New => Some((TASK_LABEL, NEW)),
            Self::Text => Some(("character(*)", "romp_text")),
        }
    }

    /// The additional declaration that a wrapper needs for it.
    fn local(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Threads => Some(("integer(4), external", "pomp2_lib_get_max_threads")),
            Self::Left | Self::Back => Some((TASK_LABEL, "romp_left")),
            Self::If | Self::New | Self::Text => None,
        }
    }
}

/// The name of the variable for a created task.
const NEW: &str = "romp_new";

/// An argument of a call that needs no interface.
fn passed(text: String) -> Argument {
    Argument::new(text, ("", ""))
}

/// The Fortran name of a function, which may differ from that in C.
fn in_fortran(name: String) -> String {
    name.replace("POMP2_For_", "POMP2_Do_")
}

impl FortranSpeller<'_> {
    /// The subroutine of ours that calls a function. Libraries that instrument all functions
    /// skip those whose names begin with `pomp`. They must not instrument these subroutines,
    /// since an event that one of them reports is not over when it returns.
    fn wrapper(&self, name: &str) -> String {
        let name = name.trim_start_matches("POMP2_").to_ascii_lowercase();
        format!("pomp2_romp_{}_{name}", self.around.unique)
    }

    fn handles(&self) -> String {
        format!("romp_{}", self.around.unique)
    }

    /// The macro that shows that a conditional branch was compiled.
    pub(in crate::spell) fn mark(&self, Mark(group, branch): Mark) -> String {
        format!("romp_branch_{}_{group}_{branch}", self.around.unique)
    }

    /// The call of the function that reports an event, if there is one.
    pub(in crate::spell) fn pomp2_probe(&self, event: Event, region: usize, lines: &mut Lines) {
        let Some((name, shape)) = function(event, &self.plan.regions[region]) else {
            return;
        };
        if shape == Shape::Opens {
            return;
        }
        let named = match shape {
            Shape::Section | Shape::SectionEnd => sections_around(self.plan, region),
            _ => region,
        };
        let task = self.new_task(region);
        if shape == Shape::Creates {
            lines.open_block();
            lines.statement(&format!("{TASK_LABEL} :: {task}"));
        }
        let mut arguments = vec![Argument::number(named)];
        arguments.extend(
            shape
                .parameters()
                .iter()
                .filter_map(|parameter| match parameter {
                    Parameter::New => Some(Argument::new(task.clone(), (NEW, TASK_LABEL))),
                    Parameter::Threads => Some(Argument::new(
                        self.threads(region),
                        ("romp_n", "integer(4), intent(in)"),
                    )),
                    Parameter::Text => Some(Argument::literal(self.ctc(named))),
                    _ => None,
                }),
        );
        lines.call(&self.wrapper(&in_fortran(name)), &arguments);
        if shape == Shape::GoesOnCreating {
            lines.statement("end block");
        }
    }

    /// The number of threads that the directive asks for; 0 if it does not say.
    fn threads(&self, region: usize) -> String {
        // An argument is not broken across lines, and lines of fixed form are short.
        const LONGEST: usize = 50;
        match &self.plan.regions[region].num_threads {
            Some(asked) if asked.len() <= LONGEST => format!("int({asked}, 4)"),
            _ => "0_4".to_owned(),
        }
    }

    fn ctc(&self, region: usize) -> String {
        self.plan.regions[region].descriptor.to_ctc()
    }

    /// The name that replaces a lock routine.
    pub(in crate::spell) fn pomp2_routine(routine: &RoutineRow) -> String {
        wrapper_of(routine)
    }

    /// Our subroutines, and the one that registers the regions.
    pub(in crate::spell) fn pomp2_epilogue(&self) -> String {
        let mut lines = self.lines();
        let functions = self.pomp2_functions();
        for (name, shape) in &functions {
            self.pomp2_wrapper(name, *shape, &mut lines);
        }
        if functions
            .values()
            .any(|shape| shape.parameters().contains(&Parameter::Left))
        {
            self.pomp2_stack(&mut lines);
        }
        for registration in registrations(self.plan, self.around.unique) {
            lines.statement(&format!("subroutine {}()", registration.name));
            lines.statement("implicit none");
            self.declare_handles(&mut lines);
            for region in registration.regions {
                let mark = self.plan.regions[region].branch.map(|mark| self.mark(mark));
                if let Some(mark) = &mark {
                    lines.raw(&format!("#ifdef {mark}"));
                }
                let handle = passed(format!("romp_handles({})", region + 1));
                let arguments = [handle, Argument::literal(self.ctc(region))];
                lines.call(registration.assign, &arguments);
                if mark.is_some() {
                    lines.raw("#endif");
                }
            }
            lines.statement("end subroutine");
        }
        format!("\n{}{}", self.marker_text(1, "<romp>"), lines.text())
    }

    /// The functions that the text calls, with their parameters.
    fn pomp2_functions(&self) -> BTreeMap<String, Shape> {
        let insertions = self.plan.insertions.iter();
        let items = insertions.flat_map(|insertion| &insertion.items);
        let called = items.filter_map(|item| match item {
            Fragment::Probe(event, region) => function(*event, &self.plan.regions[*region]),
            Fragment::AlternateEnd(region) => function(USER.closing(), &self.plan.regions[*region]),
            _ => None,
        });
        called
            .filter(|(_, shape)| *shape != Shape::Opens)
            .map(|(name, shape)| (in_fortran(name), shape))
            .collect()
    }

    fn pomp2_wrapper(&self, name: &str, shape: Shape, lines: &mut Lines) {
        let parameters = || shape.parameters().iter();
        let given = parameters().filter_map(|parameter| parameter.given());
        let given: Vec<_> = std::iter::once(("integer", "romp_region"))
            .chain(given)
            .collect();
        self.begin_subroutine(&self.wrapper(name), &given, lines);
        for (declaration, name) in parameters().filter_map(|parameter| parameter.local()) {
            lines.statement(&format!("{declaration} :: {name}"));
        }
        self.declare_handles(lines);
        let mut arguments = vec![passed("romp_handles(romp_region + 1)".into())];
        arguments.extend(parameters().map(|parameter| passed(parameter.passed().into())));
        let keep = |keeps: &str, lines: &mut Lines| {
            let arguments = [keeps, Parameter::Left.passed()].map(|name| passed(name.into()));
            lines.call(&self.stack(), &arguments);
        };
        if shape.parameters().contains(&Parameter::Back) {
            keep(".false.", lines);
        }
        lines.call(name, &arguments);
        if shape.parameters().contains(&Parameter::Left) {
            keep(".true.", lines);
        }
        lines.statement("end subroutine");
    }

    /// The subroutine of ours that keeps a suspended task and returns it.
    fn stack(&self) -> String {
        self.wrapper("stack")
    }

    fn pomp2_stack(&self, lines: &mut Lines) {
        let given = [("logical", "romp_keeps"), (TASK_LABEL, "romp_left")];
        self.begin_subroutine(&self.stack(), &given, lines);
        STACK.lines().for_each(|line| match line.starts_with('!') {
            true => lines.raw(line),
            false => lines.statement(line),
        });
        lines.statement("end subroutine");
    }

    /// Begins a subroutine whose local variables are private to each thread, whatever the
    /// compiler's flags are.
    fn begin_subroutine(&self, name: &str, given: &[(&str, &str)], lines: &mut Lines) {
        let names: Vec<&str> = given.iter().map(|(_, name)| *name).collect();
        let (line, names) = (lines.broken(), names.join(", "));
        lines.statement(&format!("recursive subroutine {line}{name}({line}{names})"));
        lines.statement("implicit none");
        for (declaration, name) in given {
            lines.statement(&format!("{declaration} :: {name}"));
        }
    }

    fn declare_handles(&self, lines: &mut Lines) {
        let count = self.plan.regions.len();
        lines.statement(&format!("integer(8) :: romp_handles({count})"));
        lines.statement(&format!("common /{}/ romp_handles", self.handles()));
    }
}

/// The body of the stack. Each thread has its own stack. Its entries are nested, except those
/// of an untied task that continues on another thread. The code needs only Fortran 95.
const STACK: &str = "\
integer(8), pointer, save :: romp_kept(:) => null()
integer, save :: romp_depth = 0
!$omp threadprivate(romp_kept, romp_depth)
integer(8), pointer :: romp_larger(:)
if (.not. associated(romp_kept)) allocate(romp_kept(64))
if (romp_keeps) then
if (romp_depth == size(romp_kept)) then
allocate(romp_larger(2 * romp_depth))
romp_larger(:romp_depth) = romp_kept
deallocate(romp_kept)
romp_kept => romp_larger
end if
romp_depth = romp_depth + 1
romp_kept(romp_depth) = romp_left
else if (romp_depth > 0) then
romp_left = romp_kept(romp_depth)
romp_depth = romp_depth - 1
else
romp_left = 0
end if";
