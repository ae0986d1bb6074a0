//! Finding: from a text to its directives, the extents of what they govern, and
//! the calls to redirect. A front end per language does it; none of them knows
//! what a probe is.

pub mod c;
pub mod lines;

use std::ops::Range;

use crate::openmp::Directive;
use crate::openmp::api::RoutineRow;
use crate::source::Source;
use lines::LineMap;

/// What a language must answer.
pub trait FrontEnd {
    /// Finds everything in a source. Parsing never fails: what is not
    /// understood comes back with the reason.
    fn find(&self, source: &Source) -> Found;
}

/// Everything found in a source.
#[derive(Debug)]
pub struct Found {
    /// Directives in source order.
    pub directives: Vec<FoundDirective>,
    /// Calls of routines that have a wrapper, in source order.
    pub calls: Vec<FoundCall>,
    /// Parts of the text where nothing may be inserted, with the reason.
    pub closed: Vec<(Range<usize>, &'static str)>,
    /// From offsets to the lines that the compiler counts.
    pub lines: LineMap,
}

/// A directive in its place.
#[derive(Debug)]
pub struct FoundDirective {
    /// What it says, or why that is not known.
    pub directive: Result<Directive, String>,
    /// Its bytes: whole lines without the last newline, or an operator.
    pub range: Range<usize>,
    /// The text as written, continuations and comments removed.
    pub text: String,
    /// Where text can be put in front of it and behind it.
    pub placement: Placement,
    /// What it governs, if anything.
    pub extent: Extent,
    /// The function around it.
    pub function: Option<Function>,
    /// The conditional branches around it, outermost first.
    pub branches: Vec<Branch>,
    /// Its place among others in one text that leaves no room between them.
    pub sequence: Option<InSequence>,
}

/// A directive's place in a sequence that one text holds. Before anything can be
/// put between its directives, each must get a text of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InSequence {
    /// Where the sequence begins.
    pub begin: usize,
    /// What gives this one a text of its own.
    pub edits: Vec<(Range<usize>, &'static str)>,
}

/// How a directive sits in its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// It has lines of its own.
    Lines {
        /// Where text in front of it goes.
        before: usize,
        /// Where text behind it goes: behind its newline.
        after: usize,
    },
    /// It stands in a line like an expression (`_Pragma`).
    Inline,
}

/// The extent of what a directive governs.
#[derive(Clone, Debug)]
pub enum Extent {
    /// It stands alone, declares or separates.
    None,
    /// A statement or block.
    Body(Body),
    /// It can't be told, for this reason.
    Unclear(String),
}

/// A statement or block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// From its first to its last token, nested directives in front included.
    pub range: Range<usize>,
    /// Where text at its begin goes: in front of its first token, or of the
    /// line that begins with it.
    pub begin: Position,
    /// Where text at its end goes.
    pub end: Position,
    /// The sections of a `sections` block, the first of which may have no
    /// directive. Empty for everything else.
    pub sections: Vec<SectionBlock>,
    /// Whether a conditional around the directive ends before the body does: the
    /// directive may not be there where the end is.
    pub guarded: bool,
}

/// One block of a `sections` construct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SectionBlock {
    /// Index of its directive in [`Found::directives`], if it has one.
    pub directive: Option<usize>,
    /// From its first to its last token.
    pub range: Range<usize>,
    /// Where text at its begin goes.
    pub begin: Position,
    /// Where text at its end goes.
    pub end: Position,
}

/// A place where text can be put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The offset.
    pub at: usize,
    /// Whether a line begins there.
    pub line_start: bool,
}

/// A branch of a conditional (`#if`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Branch {
    /// Number of the conditional in the file.
    pub group: usize,
    /// Number of the branch in it.
    pub branch: usize,
    /// Where the branch begins: at the begin of a line.
    pub start: usize,
    /// Where the branch ends.
    pub end: usize,
    /// Whether its condition is known to be false.
    pub dead: bool,
}

/// The function around a construct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Whether it may be an inline function with external linkage, which must
    /// not refer to anything with internal linkage (C11 6.7.4).
    pub maybe_extern_inline: bool,
}

/// A call of a routine that has a wrapper.
#[derive(Debug)]
pub struct FoundCall {
    /// The routine.
    pub routine: &'static RoutineRow,
    /// The bytes of its name.
    pub name: Range<usize>,
    /// Behind the opening parenthesis.
    pub arguments: usize,
    /// The function around it.
    pub function: Option<Function>,
    /// The conditional branches around it, outermost first.
    pub branches: Vec<Branch>,
}
