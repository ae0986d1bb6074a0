//! POMP2 in C and C++.
//!
//! As in POMP, a region is named by the call of a function, so that nothing has to be listed
//! under `default(none)`. Here the function returns the address of the region's handle. Some
//! functions store a value that a later function needs. It is a local variable of a block that
//! the first one opens and the second one closes.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::{Shape, function, registrations, sections_around, wrapper_of};
use crate::openmp::Event;
use crate::openmp::api::{self, RoutineRow};
use crate::openmp::events::USER;
use crate::plan::Fragment;
use crate::spell::c::{CSpeller, quoted};

impl Shape {
    /// The declaration of a function with these parameters.
    fn declaration(self, name: &str) -> String {
        let parameters = match self {
            Self::First | Self::Section => "void **, const char *",
            Self::Plain | Self::SectionEnd | Self::Opens => "void **",
            Self::Fork => "void **, int, int, long *, const char *",
            Self::Leaves | Self::LeavesLater => "void **, long *, const char *",
            Self::LeavesKnown => "void **, long *",
            Self::GoesOn | Self::GoesOnCreating | Self::Executes => "void **, long",
            Self::Creates => "void **, long *, long *, int, const char *",
        };
        format!("void {name}({parameters})")
    }
}

impl CSpeller<'_> {
    /// The call of the function that reports an event, if there is one.
    pub(in crate::spell) fn pomp2_probe(&self, event: Event, region: usize) -> String {
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
        let construct = sections_around(self.plan, region);
        let left = self.left(event, region);
        let new = self.new_task(region);
        match shape {
            Shape::First => format!("{name}({own}, {own_text});"),
            Shape::Plain => format!("{name}({own});"),
            Shape::Section => format!("{name}({}, {});", handle(construct), text(construct)),
            Shape::SectionEnd => format!("{name}({});", handle(construct)),
            Shape::Fork => format!(
                "{{ long {left}; {name}({own}, 1, {}, &{left}, {own_text});",
                self.threads(region)
            ),
            Shape::Opens => format!("{{ long {left};"),
            Shape::LeavesLater => format!("{name}({own}, &{left}, {own_text});"),
            Shape::Leaves => format!("{{ long {left}; {name}({own}, &{left}, {own_text});"),
            Shape::LeavesKnown => format!("{{ long {left}; {name}({own}, &{left});"),
            Shape::GoesOn | Shape::GoesOnCreating => format!("{name}({own}, {left}); }}"),
            Shape::Creates => format!(
                "{{ long {left}; long {new}; {name}({own}, &{new}, &{left}, 1, {own_text});"
            ),
            Shape::Executes => format!("{name}({own}, {new});"),
        }
    }

    /// The number of threads that a team may have. Some libraries abort the program if a team
    /// has more threads than they were told.
    fn threads(&self, region: usize) -> String {
        match &self.plan.regions[region].num_threads {
            Some(asked) => self.as_int(asked),
            None => format!("romp_threads_{}()", self.around.unique),
        }
    }

    /// The local variable for the task that an event suspends or resumes. If two such phases of
    /// one region enclose each other, their variables have different names.
    pub(in crate::spell) fn left(&self, event: Event, region: usize) -> String {
        let kind = match event.name().starts_with("Implicit") {
            true => "barrier",
            false => "left",
        };
        format!("romp_{kind}_{}_{region}", self.around.unique)
    }

    /// The local variable for the created task.
    pub(in crate::spell) fn new_task(&self, region: usize) -> String {
        format!("romp_task_{}_{region}", self.around.unique)
    }

    /// The name that replaces a lock routine.
    pub(in crate::spell) fn pomp2_routine(&self, routine: &RoutineRow) -> String {
        match routine.without_hint() {
            Some(_) => format!("romp_{}_{}", routine.name, self.around.unique),
            None => format!("romp_{}", wrapper_of(routine)),
        }
    }

    /// Declarations of the functions that the text calls.
    fn pomp2_functions(&self) -> BTreeSet<String> {
        let insertions = self.plan.insertions.iter();
        let items = insertions.flat_map(|insertion| &insertion.items);
        let mut declared: BTreeSet<String> = items
            .clone()
            .filter_map(|item| match item {
                Fragment::Probe(event, region) => function(*event, &self.plan.regions[*region]),
                Fragment::AlternateEnd(region) => {
                    function(USER.closing(), &self.plan.regions[*region])
                }
                _ => None,
            })
            .filter(|(_, shape)| *shape != Shape::Opens)
            .map(|(name, shape)| shape.declaration(&name))
            .collect();
        declared.extend(items.filter_map(|item| match item {
            Fragment::Call(name) => Some(format!("void POMP2_{name}(void)")),
            _ => None,
        }));
        let registrations = registrations(self.plan, self.around.unique);
        declared.extend(
            registrations.map(|registration| Shape::First.declaration(registration.assign)),
        );
        let max_threads = "__asm__(\"omp_get_max_threads\")";
        declared.insert(format!(
            "int romp_threads_{}(void) {max_threads}",
            self.around.unique
        ));
        declared
    }

    /// Declarations of the lock routines. In front of the user's headers the type of a lock is
    /// not known, and one of these headers may declare the routines. So ours have names of
    /// their own in the source.
    fn pomp2_locks(&self) -> BTreeSet<String> {
        let routines = self.plan.calls.iter().map(|call| call.routine);
        let declared = routines.flat_map(|routine| {
            let declare = |result: &str, name: &str, parameters: &str| {
                format!("{result} romp_{name}({parameters}) __asm__(\"{name}\")")
            };
            let Some(plain) = routine.without_hint() else {
                let wrapper = wrapper_of(routine);
                return vec![declare(routine.result, &wrapper, routine.parameters)];
            };
            let destroy = plain.replace("init", "destroy");
            let wrapper = api::find(plain).map(wrapper_of).unwrap_or_default();
            vec![
                declare("void", &wrapper, "void *"),
                declare("void", &destroy, "void *"),
                declare("void", routine.name, "void *, int"),
            ]
        });
        declared.collect()
    }

    /// Definitions of routines with a hint. A library must have seen the initialisation of a
    /// lock, and it can only be told of one without a hint. So the lock is first initialised
    /// without a hint, then destroyed, and initialised again with the hint.
    fn pomp2_locks_with_hints(&self) -> BTreeSet<String> {
        let routines = self.plan.calls.iter().map(|call| call.routine);
        let defined = routines.filter_map(|routine| {
            let plain = routine.without_hint()?;
            let (ours, destroy) = (
                self.pomp2_routine(routine),
                plain.replace("init", "destroy"),
            );
            let wrapper = wrapper_of(api::find(plain)?);
            let name = routine.name;
            Some(format!(
                "static void {ours}(void *, int) \
                 __attribute__((__unused__, __no_instrument_function__));\n\
                 static void {ours}(void *romp_lock, int romp_hint) {{ romp_{wrapper}(romp_lock); \
                 romp_{destroy}(romp_lock); romp_{name}(romp_lock, romp_hint); }}\n"
            ))
        });
        defined.collect()
    }

    /// The text in front of the whole source.
    pub(in crate::spell) fn pomp2_prologue(&self) -> String {
        let (open, close) = self.extern_c();
        let mut text = open.to_owned();
        for declaration in self.pomp2_functions().union(&self.pomp2_locks()) {
            let _ = writeln!(text, "extern {declaration};");
        }
        text.push_str(close);
        text.extend(self.pomp2_locks_with_hints());
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
        text + &self.line_text(1, self.around.name)
    }

    /// The handles and texts of the regions, and their registration.
    pub(in crate::spell) fn pomp2_epilogue(&self) -> String {
        let unique = self.around.unique;
        let count = self.plan.regions.len();
        let line = self.line_text(1, "<romp>");
        let mut text = format!(
            "\n{line}\
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
        let (open, close) = self.extern_c();
        for registration in registrations(self.plan, unique) {
            let register = format!("void {}(void)", registration.name);
            let _ = write!(text, "{open}{register};\n{close}{register} {{\n");
            for index in registration.regions {
                let assign = format!(
                    "{}(&romp_handles_{unique}[{index}], romp_texts_{unique}[{index}]);",
                    registration.assign
                );
                let _ = match self.plan.regions[index].branch.map(|mark| self.mark(mark)) {
                    Some(mark) => writeln!(text, "#ifdef {mark}\n{assign}\n#endif"),
                    None => writeln!(text, "{assign}"),
                };
            }
            text.push_str("}\n");
        }
        text.push_str("#pragma GCC diagnostic pop\n");
        text
    }
}
