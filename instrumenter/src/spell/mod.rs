//! Turns planned insertions into text. The order and the merging of insertions at one place are
//! common to all languages; the form of a probe is each language's own.

pub mod c;
mod c_asked;
mod c_chunks;
mod c_passing;
mod c_probes;
mod c_ranges;
mod c_regions;
mod c_shapes;
pub mod fortran;
mod fortran_asked;
mod fortran_chunks;
mod fortran_lines;
mod pomp2;

use crate::api::Api;
use crate::edit::{Applied, EditError, EditSet, Order};
use crate::find::lines::LineMap;
use crate::nest::Reasons;
use crate::openmp::Event;
use crate::openmp::events::IMPLICIT_BARRIER;
use crate::plan::{CallEdit, EditedDirective, Fragment, Insertion, Plan};

/// The spelling of a language. It decides nothing: every item that it is given is spelled.
pub trait Speller {
    /// The text of everything inserted at one place, in order.
    fn group(&self, group: &Group<'_>) -> String;
    /// Spells a changed directive. If `edited` are the ends of alternatives, the text depends
    /// on which of the alternatives was compiled.
    fn directive(&self, edited: &[EditedDirective], edits: &mut EditSet);
    /// The new name of a called routine, and its first argument.
    fn call(&self, call: &CallEdit) -> (String, String);
    /// Text around the ranges of loops over ranges.
    fn ranges(&self) -> Vec<(usize, Order, String)> {
        Vec::new()
    }
    /// The text in front of the whole source.
    fn prologue(&self) -> String;
    /// The text behind the whole source.
    fn epilogue(&self) -> String;
}

/// A part of an insertion, in the form in which it is spelled.
pub(super) enum Step<'p> {
    Fragment(&'p Fragment),
    /// Reports the end of a region's implicit barrier and, with it, this event, the end of the
    /// region or of its team member.
    Leave(Event, usize),
}

/// The parts of an insertion. Two events that follow each other immediately are one call in
/// libpomp's interface, which takes less time to compile and to run.
pub(super) fn steps(items: &[Fragment], api: Api) -> impl Iterator<Item = Step<'_>> {
    let mut rest = items;
    std::iter::from_fn(move || match rest {
        [
            Fragment::Probe(first, region),
            Fragment::Probe(second, same),
            others @ ..,
        ] if api == Api::Pomp
            && *first == IMPLICIT_BARRIER.closing()
            && region == same
            && second.opened_by().is_some() =>
        {
            rest = others;
            Some(Step::Leave(*second, *region))
        }
        [item, others @ ..] => {
            rest = others;
            Some(Step::Fragment(item))
        }
        [] => None,
    })
}

/// The insertions at one offset.
pub struct Group<'p> {
    /// The offset.
    pub at: usize,
    /// Whether a line begins there.
    pub line_start: bool,
    /// The insertions, in order.
    pub insertions: Vec<&'p Insertion>,
}

/// Spells a plan and applies it.
///
/// # Errors
/// If the plan's edits overlap, which is a defect of the planner.
pub fn apply(
    plan: &Plan,
    speller: &dyn Speller,
    text: &[u8],
    text_begin: usize,
) -> Result<Applied, EditError> {
    let mut edits = EditSet::default();
    // The prologue is needed even without regions: switches call the library.
    if !plan.insertions.is_empty() || !plan.calls.is_empty() {
        edits.insert(text_begin, Order::close(usize::MAX), speller.prologue());
    }
    if !plan.regions.is_empty() {
        let epilogue = speller.epilogue();
        if !epilogue.is_empty() {
            edits.insert(text.len(), Order::open(usize::MAX), epilogue);
        }
    }
    for group in groups(plan) {
        // One edit per offset: the insertions at it are already in order.
        edits.insert(group.at, Order::close(0), speller.group(&group));
    }
    let alternatives =
        |a: &EditedDirective, b: &EditedDirective| a.range == b.range && a.only_if.is_some();
    for edited in plan.edited.chunk_by(alternatives) {
        speller.directive(edited, &mut edits);
    }
    for (at, order, added) in speller.ranges() {
        edits.insert(at, order, added);
    }
    for call in &plan.calls {
        let (name, first_argument) = speller.call(call);
        edits.replace(call.name.clone(), name);
        edits.insert(call.arguments, Order::open(0), first_argument);
    }
    edits.apply(text)
}

fn groups(plan: &Plan) -> Vec<Group<'_>> {
    let mut insertions: Vec<&Insertion> = plan.insertions.iter().collect();
    insertions.sort_by_key(|insertion| (insertion.at, insertion.order));
    insertions
        .chunk_by(|a, b| a.at == b.at)
        .map(|chunk| Group {
            at: chunk[0].at,
            line_start: chunk.iter().any(|insertion| insertion.line_start),
            insertions: chunk.to_vec(),
        })
        .collect()
}

/// The data that a speller needs besides the plan.
#[derive(Debug)]
pub struct Surroundings<'a> {
    /// The source's name.
    pub name: &'a str,
    /// A part of our names that distinguishes them from those of other translation units.
    pub unique: &'a str,
    /// Lines as the compiler counts them.
    pub lines: &'a LineMap,
    /// The parts where a procedure must be declared before it is called.
    pub declaring: &'a Reasons,
    /// Whether such a declaration must be an explicit interface.
    pub explicit_interfaces: bool,
    /// Whether no line marker is allowed between the lines of a statement.
    pub whole_statements: bool,
    /// Whether no line markers are allowed at all.
    pub without_lines: bool,
    /// Whether added code gets a line number of its own.
    pub apart: bool,
    /// Whether a function is called only if the library has it.
    pub asks: bool,
}

/// The file name of added text that belongs to no line of the user.
pub const OWN_FILE: &str = "<romp>";

/// The line number of all code that is added to functions of the user: the largest one that
/// every C standard allows.
pub const OWN_LINE: u32 = 32767;
