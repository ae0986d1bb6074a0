//! Fortran: the spelling of probes and rewritten directives, in free and fixed form.
//!
//! A probe names its region by a character literal, which needs no declaration, no `use` and no
//! `include`, and is allowed with `implicit none`. In a region's first probe it is the text of
//! the descriptor, in the other probes the region's short key. The library recognises a literal
//! by its address.
//!
//! All inserted text has lines of its own. A line marker behind it lets the compiler go on
//! counting the user's lines.

use std::collections::HashMap;

use super::fortran_chunks::LoopRecord;
use super::fortran_lines::{Argument, Declaration, Lines};
use super::{Group, OWN_FILE, OWN_LINE, Speller, Step, Surroundings, steps};
use crate::api::Api;
use crate::edit::{EditSet, Order};
use crate::openmp::Event;
use crate::openmp::events::{BARRIER_LEAVE, MEMBER, TASK, TASK_EXECUTION, TEAM, USER};
use crate::openmp::parse::DirectiveToken;
use crate::plan::{
    AddedClause, CallEdit, DirectiveEdit, EditedDirective, Fragment, Guard, Insertion, Plan,
};
use crate::source::{Form, Layout};

/// The largest length of a descriptor's literal. Compilers limit the number of continuation
/// lines, some to 19. The text of a directive is cut so that the descriptor stays below this
/// length.
const LONGEST_LITERAL: usize = 900;

/// The type of the handle of a task's creation.
pub(super) const TASK_LABEL: &str = "integer(8)";

/// The speller for Fortran.
pub struct FortranSpeller<'a> {
    pub(super) plan: &'a Plan,
    pub(super) around: Surroundings<'a>,
    layout: Layout,
    api: Api,
    /// The fragment with each region's first probe.
    first: HashMap<usize, *const Fragment>,
}

impl<'a> FortranSpeller<'a> {
    /// A speller for one plan.
    #[must_use]
    pub fn new(plan: &'a Plan, around: Surroundings<'a>, layout: Layout, api: Api) -> Self {
        Self {
            plan,
            around,
            layout,
            api,
            first: first_probes(plan),
        }
    }

    pub(super) fn lines(&self) -> Lines {
        Lines::new(self.layout, self.around.whole_statements).asking(self.around.asks)
    }

    fn key(&self, region: usize) -> String {
        format!("{}:{region}", self.around.unique)
    }

    /// The descriptor of a region as a text.
    fn descriptor(&self, region: usize) -> String {
        let mut descriptor = self.plan.regions[region].descriptor.clone();
        descriptor.id = Some(self.key(region));
        let text = descriptor.to_text();
        let excess = text.len().saturating_sub(LONGEST_LITERAL);
        match descriptor.directive.take().filter(|_| excess > 0) {
            Some(mut directive) => {
                let mut kept = directive.len().saturating_sub(excess);
                while !directive.is_char_boundary(kept) {
                    kept -= 1;
                }
                directive.truncate(kept);
                descriptor.directive = Some(directive);
                descriptor.to_text()
            }
            None => text,
        }
    }

    /// The declaration that a call at an offset needs.
    fn declaration(&self, at: usize) -> Declaration {
        match self.around.declaring.at(at) {
            None => Declaration::None,
            Some(_) if self.around.explicit_interfaces => Declaration::Interface,
            Some(_) => Declaration::External,
        }
    }

    fn loop_record(&self, number: usize) -> LoopRecord<'_> {
        LoopRecord {
            nest: &self.plan.loops[number],
            number,
        }
    }

    fn guard(&self, region: usize) -> String {
        format!("romp_if_{}_{region}", self.around.unique)
    }

    /// The line marker for the text that follows an offset.
    fn marker(&self, at: usize) -> String {
        match self.around.lines.presumed(at) {
            Some(line) => self.marker_text(line.line, &line.file),
            None => String::new(),
        }
    }

    /// A line marker. The compiler's preprocessor needs `#line`, the compiler itself `#`.
    pub(super) fn marker_text(&self, line: u32, file: &str) -> String {
        if self.around.without_lines {
            return String::new();
        }
        let word = match self.layout.preprocessed_by_compiler {
            true => "#line",
            false => "#",
        };
        let file = file.replace('\\', "\\\\").replace('"', "\\\"");
        format!("{word} {line} \"{file}\"\n")
    }

    fn probe(&self, item: &Fragment, event: Event, region: usize, lines: &mut Lines) {
        if self.api == Api::Pomp2 {
            return self.pomp2_probe(event, region, lines);
        }
        let literal = match self.first.get(&region) {
            Some(first) if std::ptr::eq(*first, item) => self.descriptor(region),
            _ => self.key(region),
        };
        let mut arguments = vec![Argument::literal(literal)];
        let mut name = function(event);
        let passes_task = self.plan.regions[region].passes_task;
        let task = self.new_task(region);
        if passes_task && event == TASK.opening() {
            lines.open_block();
            lines.statement(&format!("{TASK_LABEL} :: {task}"));
            if lines.asks() {
                lines.statement(&format!("{task} = 0"));
            }
            name = "Task_create";
            arguments.push(Argument::new(task, ("task", TASK_LABEL)));
        } else if passes_task && event == TASK_EXECUTION.opening() {
            name = "Task_execute";
            arguments.push(Argument::new(task, ("task", TASK_LABEL)));
        }
        lines.call(&format!("POMPF_{name}"), &arguments);
        if passes_task && event == TASK.closing() {
            lines.statement("end block");
        }
    }

    /// The local variable for the handle of a task's creation. A block around the task declares
    /// it.
    pub(super) fn new_task(&self, region: usize) -> String {
        format!("romp_task_{region}")
    }

    /// Reports the call site of a function that keeps its name. POMP2 has no event for this.
    fn call_site(&self, region: usize, lines: &mut Lines) {
        if self.api == Api::Pomp {
            let descriptor = Argument::literal(self.descriptor(region));
            lines.call("POMPF_Lock_site", &[descriptor]);
        }
    }

    fn items(&self, items: &[Fragment], lines: &mut Lines) {
        for step in steps(items, self.api) {
            let item = match step {
                Step::Fragment(item) => item,
                Step::Leave(_, region) => {
                    let literal = Argument::literal(self.key(region));
                    lines.call(&format!("POMPF_{BARRIER_LEAVE}"), &[literal]);
                    continue;
                }
            };
            match item {
                Fragment::Mark(mark) if self.api == Api::Pomp2 => {
                    lines.raw(&format!("#define {}", self.mark(*mark)));
                }
                // Fortran needs no marks around a block of statements. And there is no table of
                // regions from which those in uncompiled branches would have to be left out.
                Fragment::Open | Fragment::Close | Fragment::Mark(_) | Fragment::Line => {}
                Fragment::ChunksBegin(number, region) => {
                    self.loop_record(*number).begin(&self.key(*region), lines);
                }
                Fragment::ChunkTest(number) => self.loop_record(*number).test(lines),
                Fragment::ChunksEnd(number) => self.loop_record(*number).end(lines),
                Fragment::Probe(event, region) => self.probe(item, *event, *region, lines),
                Fragment::AlternateEnd(region) => self.probe(item, USER.closing(), *region, lines),
                Fragment::Call(name) => match self.api {
                    Api::Pomp => lines.call(&format!("POMPF_{name}"), &[]),
                    Api::Pomp2 => lines.call(&format!("POMP2_{name}"), &[]),
                },
                Fragment::CallSite(region) => self.call_site(*region, lines),
                Fragment::Barrier => lines.directive(&["barrier".to_owned()]),
                Fragment::Directive {
                    ends,
                    name,
                    clauses,
                } => {
                    let end = ends.then(|| "end".to_owned());
                    let names = name.split(' ').map(str::to_owned);
                    let words = end.into_iter().chain(names).chain(clauses.iter().cloned());
                    lines.directive(&words.collect::<Vec<_>>());
                }
            }
        }
    }

    fn insertion(&self, insertion: &Insertion, lines: &mut Lines) {
        let Some(guard) = insertion.guard else {
            return self.items(&insertion.items, lines);
        };
        match guard {
            Guard::Sets(region) => {
                lines.raw(&format!("#define {}", self.guard(region)));
                self.items(&insertion.items, lines);
            }
            Guard::Tests(region) | Guard::Clears(region) => {
                lines.raw(&format!("#ifdef {}", self.guard(region)));
                if matches!(guard, Guard::Clears(_)) {
                    lines.raw(&format!("#undef {}", self.guard(region)));
                }
                self.items(&insertion.items, lines);
                lines.raw("#endif");
            }
        }
    }

    /// The words of a directive with changes made to it.
    fn changed(&self, old: &[DirectiveToken], edits: &[DirectiveEdit]) -> Vec<String> {
        let removed = |at: usize| {
            edits
                .iter()
                .any(|edit| matches!(edit, DirectiveEdit::Remove(range) if range.contains(&at)))
        };
        let mut words: Vec<String> = Vec::new();
        let mut end = None;
        for word in old {
            if removed(word.range.start) {
                continue;
            }
            match words.last_mut().filter(|_| end == Some(word.range.start)) {
                Some(last) => last.push_str(&word.text),
                None => words.push(word.text.clone()),
            }
            end = Some(word.range.end);
        }
        words.extend(edits.iter().filter_map(|edit| match edit {
            DirectiveEdit::Add { clause, .. } => self.clause(clause),
            DirectiveEdit::Remove(_) | DirectiveEdit::Replace(..) => None,
        }));
        words
    }

    fn clause(&self, clause: &AddedClause) -> Option<String> {
        match clause {
            AddedClause::Nowait => Some("nowait".into()),
            AddedClause::Shared(items) => Some(format!("shared({})", items.join(","))),
            // The library distinguishes teams without a handle.
            AddedClause::Team(_) => None,
            AddedClause::Task(region) => Some(format!("firstprivate({})", self.new_task(*region))),
        }
    }
}

/// The function that reports an event. No handle of a team is passed.
fn function(event: Event) -> &'static str {
    match event {
        event if event == TEAM.opening() => "Parallel_fork",
        event if event == MEMBER.opening() => "Parallel_begin",
        event => event.name(),
    }
}

/// The first probe of each region in the order of the text. It is also the first one to be
/// executed.
fn first_probes(plan: &Plan) -> HashMap<usize, *const Fragment> {
    let mut insertions: Vec<&Insertion> = plan.insertions.iter().collect();
    insertions.sort_by_key(|insertion| (insertion.at, insertion.order));
    let mut first = HashMap::new();
    for item in insertions
        .into_iter()
        .flat_map(|insertion| &insertion.items)
    {
        if let Fragment::Probe(_, region) = item {
            first.entry(*region).or_insert(std::ptr::from_ref(item));
        }
    }
    first
}

impl Speller for FortranSpeller<'_> {
    fn group(&self, group: &Group<'_>) -> String {
        let mut lines = self.lines();
        lines.declare(self.declaration(group.at));
        for insertion in &group.insertions {
            // Text that closes a construct belongs to the construct's last line.
            let closes = matches!(insertion.order, Order::Close { .. });
            lines.belong_to(match self.around.apart {
                true => self.marker_text(OWN_LINE, OWN_FILE),
                false => self.marker(group.at.saturating_sub(usize::from(closes))),
            });
            self.insertion(insertion, &mut lines);
        }
        let text = lines.text();
        let mut items = group.insertions.iter().flat_map(|part| &part.items);
        if text.is_empty() && !items.any(|item| matches!(item, Fragment::Line)) {
            return text;
        }
        let marker = self.marker(group.at);
        if group.line_start {
            return format!("{text}{marker}");
        }
        // A statement follows in the same line. In fixed form it must stay in its columns,
        // since text behind the last significant column is ignored.
        let column = match self.layout.form {
            Form::Free => 0,
            Form::Fixed => self.around.lines.column(group.at) as usize - 1,
        };
        let blanks = " ".repeat(column.saturating_sub(Lines::INDENT.len()));
        format!("\n{text}{marker}{}{blanks}", Lines::INDENT)
    }

    /// Rewrites a changed directive as a whole, since a removed part may have been a whole
    /// continuation line.
    fn directive(&self, edited: &[EditedDirective], edits: &mut EditSet) {
        let Some(first) = edited.first() else { return };
        let mut lines = self.lines();
        if first.only_if.is_none() {
            lines.directive(&self.changed(&first.words, &first.edits));
        } else {
            lines.belong_to(self.marker(first.range.start));
            let guards = edited.iter().filter_map(|edited| edited.only_if);
            for (number, (guard, edited)) in guards.zip(edited).enumerate() {
                let word = if number == 0 { "#if" } else { "#elif" };
                lines.raw(&format!("{word} defined({})", self.guard(guard)));
                lines.directive(&self.changed(&edited.words, &edited.edits));
            }
            lines.raw("#else");
            lines.directive(&self.changed(&first.words, &[]));
            lines.raw("#endif");
        }
        let mut text = lines.text();
        text.push_str(&self.marker(first.range.end + 1));
        text.truncate(text.trim_end_matches('\n').len());
        edits.replace(first.range.clone(), text);
    }

    fn call(&self, call: &CallEdit) -> (String, String) {
        let lines = self.lines();
        let column = self.around.lines.column(call.arguments) as usize - 1;
        let marker = self.marker(call.arguments);
        if self.api == Api::Pomp2 {
            let name = format!(
                "{}{}",
                lines.before_name(),
                Self::pomp2_routine(call.routine)
            );
            return (name, lines.broken_before(column, &marker));
        }
        // The ending distinguishes the wrappers for C from OPARI's functions.
        let wrapper = call.routine.wrapper.trim_end_matches("_at");
        let name = format!("{}POMPF_{wrapper}", lines.before_name());
        let literal = self.descriptor(call.region);
        let first_argument = lines.argument(column, &literal, &marker);
        (name, first_argument)
    }

    fn prologue(&self) -> String {
        // Without this marker the end of a program unit would be attributed to our file.
        self.marker_text(1, self.around.name)
    }

    fn epilogue(&self) -> String {
        match self.api {
            Api::Pomp => String::new(),
            Api::Pomp2 => self.pomp2_epilogue(),
        }
    }
}
