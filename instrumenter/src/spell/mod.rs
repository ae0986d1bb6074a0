//! From planned insertions to text. The order and the merging of what stands at
//! one place are shared; what a probe looks like is each language's own.

pub mod c;

use crate::edit::{Applied, EditError, EditSet, Order};
use crate::find::lines::LineMap;
use crate::plan::{AddedClause, CallEdit, DirectiveEdit, Insertion, Plan};

/// What a language must answer. It decides nothing: every item that it is given
/// is spelled.
pub trait Speller {
    /// Everything that is inserted at one place, in order.
    fn group(&self, group: &Group<'_>) -> String;
    /// A clause, with the blank in front of it.
    fn clause(&self, clause: &AddedClause) -> String;
    /// The new name of a called routine, and its first argument.
    fn call(&self, call: &CallEdit) -> (String, String);
    /// What stands in front of the whole text.
    fn prologue(&self) -> String;
    /// What stands behind the whole text.
    fn epilogue(&self) -> String;
}

/// What is inserted at one offset.
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
    // Switches call the library without a region.
    if !plan.insertions.is_empty() || !plan.calls.is_empty() {
        edits.insert(text_begin, Order::close(usize::MAX), speller.prologue());
    }
    if !plan.regions.is_empty() {
        edits.insert(text.len(), Order::open(usize::MAX), speller.epilogue());
    }
    for group in groups(plan) {
        // One insertion per offset: the order within it is settled here.
        edits.insert(group.at, Order::close(0), speller.group(&group));
    }
    for edit in &plan.directive_edits {
        match edit {
            DirectiveEdit::Remove(range) => edits.replace(range.clone(), String::new()),
            DirectiveEdit::Replace(range, text) => edits.replace(range.clone(), (*text).to_owned()),
            DirectiveEdit::Add { .. } => {}
        }
    }
    for (at, text) in added_clauses(plan, speller) {
        edits.insert(at, Order::open(0), text);
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

/// The clauses added to each directive, as one text.
fn added_clauses(plan: &Plan, speller: &dyn Speller) -> Vec<(usize, String)> {
    let mut added: Vec<(usize, String)> = Vec::new();
    for edit in &plan.directive_edits {
        let DirectiveEdit::Add { at, clause } = edit else {
            continue;
        };
        match added.last_mut().filter(|(last, _)| last == at) {
            Some((_, text)) => text.push_str(&speller.clause(clause)),
            None => added.push((*at, speller.clause(clause))),
        }
    }
    added
}

/// What a speller needs to know besides the plan.
#[derive(Debug)]
pub struct Surroundings<'a> {
    /// The source's name.
    pub name: &'a str,
    /// Distinguishes our names from those of other translation units.
    pub unique: &'a str,
    /// Lines as the compiler counts them.
    pub lines: &'a LineMap,
}
