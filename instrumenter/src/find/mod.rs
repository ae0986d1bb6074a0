//! Finding: from a text to its directives, the extents of what they govern, and
//! the calls to redirect. A front end per language does it; none of them knows
//! what a probe is.

pub mod c;
pub mod fortran;
pub mod lines;
mod nested;
mod tree;

use std::cell::Cell;
use std::ops::Range;

use crate::openmp::api::RoutineRow;
use crate::openmp::parse::DirectiveToken;
use crate::openmp::{Directive, Language};
use crate::source::Source;
use lines::LineMap;

/// The reason for leaving a directive to the compiler where it can't become a statement.
const NO_PLACE: &str = "no statement may stand in its place";

/// What other choices of the conditionals of one source are looked at, in bytes: so many,
/// and so many for each of the source's. Real ones need a few times their length.
#[derive(Debug)]
struct Allowance(Cell<usize>);

impl Allowance {
    fn new(length: usize) -> Self {
        Self(Cell::new((1 << 23) + 64 * length))
    }

    /// Notes that so many bytes are looked at.
    fn spend(&self, bytes: usize) -> Result<(), String> {
        let left = self.0.get().checked_sub(bytes);
        self.0.set(left.unwrap_or(0));
        let enough = left.map(|_| ());
        enough
            .ok_or_else(|| "the file has too many conditionals to try all of their branches".into())
    }
}

/// What a language must answer.
pub trait FrontEnd {
    /// Reads a source.
    fn read<'s>(&self, source: &'s Source) -> Box<dyn Reading + 's>;
    /// Finds everything in a source.
    fn find(&self, source: &Source) -> Found {
        self.read(source).find()
    }
    /// The offset at which text can be put in front of everything.
    fn text_begin(&self, text: &[u8]) -> usize;
    /// Whether a preprocessor wrote the text.
    fn is_preprocessed(&self, text: &[u8]) -> bool;
    /// The bytes of every token, of code and of preprocessing lines.
    fn token_ranges(&self, source: &Source) -> Vec<Range<usize>>;
    /// What the macros of a source keep from everyone who does not expand them.
    fn hidden(&self, text: &[u8]) -> Vec<Hidden>;
}

/// One source that is read. What was found out of it for one question, its syntax trees
/// above all, serves the next one.
pub trait Reading {
    /// Finds everything. Parsing never fails: what is not understood comes back with
    /// the reason.
    fn find(&self) -> Found;
    /// Whether it has errors for the grammar, as the most likely branches of its
    /// conditionals show it; none if that is not found out in time.
    fn has_errors(&self) -> Option<bool>;
    /// Where a directive stands whose end was told in one way while another
    /// says something else.
    fn disagreement(&self) -> Option<usize>;
    /// Its loops.
    fn loops(&self) -> Box<dyn LoopReader + '_>;
}

/// The front end for a language.
#[must_use]
pub fn front_end(language: Language) -> &'static dyn FrontEnd {
    match language {
        Language::C | Language::Cxx => &c::CFrontEnd,
        Language::Fortran => &fortran::FortranFrontEnd,
    }
}

/// Something to measure that only the preprocessor shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hidden {
    /// Where it is hidden: the begin of a line.
    pub offset: usize,
    /// By what, in words.
    pub reason: String,
}

impl Hidden {
    /// The place in a file's text, and the reason: `a.h:12: it holds directives`.
    #[must_use]
    pub fn in_file(&self, file: &str, text: &[u8]) -> String {
        let before = text.get(..self.offset).unwrap_or_default();
        let line = memchr::memchr_iter(b'\n', before).count() + 1;
        format!("{file}:{line}: {}", self.reason)
    }
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
    /// Parts of the text that may be compiled for a device, if there is one.
    pub device: Vec<Range<usize>>,
    /// Parts of the text where a procedure must be declared to be called.
    pub declaring: Vec<Range<usize>>,
    /// From offsets to the lines that the compiler counts.
    pub lines: LineMap,
    /// What is special about the language.
    pub traits: Traits,
}

/// What a language says that changes how its constructs are planned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traits {
    /// Names that differ in case only are the same.
    pub folds_case: bool,
    /// A variable may be private in a `parallel` by a rule of its own (loop
    /// variables of Fortran's sequential loops), so what a clause that is split
    /// off needs to be shared must be said to be.
    pub private_by_rule: bool,
    /// A `declare target` without arguments is about the procedure that it stands
    /// in, and not about all up to its end.
    pub declares_in_procedures: bool,
    /// A function can be called only where its type is declared, so that none of
    /// ours can stand in the place of one of OpenMP's.
    pub types_functions: bool,
    /// No variable can be declared between statements.
    pub has_no_locals: bool,
    /// A nestable lock is another variable than C's.
    pub own_nest_locks: bool,
    /// A private copy is made as the variable outside is at that time.
    pub allocates_as_outside: bool,
}

impl Traits {
    /// Whether two names are the same.
    #[must_use]
    pub fn same_name(self, a: &str, b: &str) -> bool {
        match self.folds_case {
            true => a.eq_ignore_ascii_case(b),
            false => a == b,
        }
    }
}

/// The loops of a source, asked for where their iterations are to be told.
pub trait LoopReader {
    /// The loops that begin at an offset, so many of them nested.
    ///
    /// # Errors
    /// Why their iterations cannot be told.
    fn nest(&self, begin: usize, levels: usize) -> Result<LoopNest, String>;
    /// An expression without side effects that stands in this part of the text.
    fn expression(&self, range: Range<usize>) -> Option<String>;
}

/// Loops around one body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoopNest {
    /// The loops, outermost first.
    pub levels: Vec<Level>,
    /// Where text in front of the innermost body goes.
    pub body: Position,
    /// Where the body ends, if not with the construct.
    pub body_end: Option<usize>,
    /// The chunk size of the schedule clause, if it can be told.
    pub chunk: Option<String>,
    /// Whether one chunk may begin where the one before ended, and its size
    /// tells them apart.
    pub is_sized: bool,
}

/// The head of a loop. Its expressions have no side effects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Level {
    /// Its variable.
    pub variable: String,
    /// The variable's first value.
    pub lower: String,
    /// What it is compared with.
    pub upper: String,
    /// How it is compared.
    pub relation: Relation,
    /// By how much it changes.
    pub step: String,
    /// Whether that is subtracted.
    pub is_down: bool,
    /// Whether the variable may be an object of a class, which is no number but
    /// has a distance from another one.
    pub may_be_object: bool,
}

/// How a loop variable is compared with its bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `<`
    Less = 0,
    /// `<=`
    LessOrEqual = 1,
    /// `>`
    Greater = 2,
    /// `>=`
    GreaterOrEqual = 3,
    /// `!=`
    NotEqual = 4,
    /// Up or down to it, as the step says, and it is allowed.
    Until = 5,
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
    /// Its words behind the sentinel.
    pub words: Vec<DirectiveToken>,
    /// Where text can be put in front of it and behind it.
    pub placement: Placement,
    /// What it governs, if anything.
    pub extent: Extent,
    /// The function around it.
    pub function: Option<Function>,
    /// The conditional branches around it, outermost first.
    pub branches: Vec<Branch>,
    /// The variables of the loops that it governs, if it combines several constructs.
    pub loop_variables: Vec<String>,
    /// Its place among others in one text that leaves no room between them.
    pub sequence: Option<InSequence>,
}

impl FoundDirective {
    /// Whether it stands in a branch that is never compiled.
    #[must_use]
    pub fn is_dead(&self) -> bool {
        self.branches.iter().any(|branch| branch.dead)
    }
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
    /// Where text at its end goes: in front of the directive that ends it, if
    /// there is one.
    pub end: Position,
    /// Where text behind the construct goes: behind the directive that ends it.
    pub outside: Position,
    /// How the end of the construct is marked.
    pub closing: Closing,
    /// The sections of a `sections` block, the first of which may have no
    /// directive. Empty for everything else.
    pub sections: Vec<SectionBlock>,
    /// Whether a conditional around the directive ends before the body does: the
    /// directive may not be there where the end is.
    pub guarded: bool,
}

/// How the end of a construct is marked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Closing {
    /// By the end of its block alone; clauses stand on the directive.
    Block,
    /// By a directive, which also takes some of the clauses.
    Directive(EndDirective),
    /// By nothing, where a directive may stand.
    Omitted,
}

/// The directive that ends a construct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndDirective {
    /// Its bytes: whole lines without the last newline.
    pub range: Range<usize>,
    /// Its words behind the sentinel.
    pub words: Vec<DirectiveToken>,
    /// The bytes of the name of each row of the directive that it ends.
    pub name_ranges: Vec<Range<usize>>,
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    /// Where the text goes on behind the line that ends it, if there is more.
    pub behind: Option<usize>,
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
    /// Between the opening parenthesis and the first argument.
    pub arguments: usize,
    /// The lock, as written without blanks; empty if that is too long to be a name.
    pub lock: String,
    /// Where a statement goes that is to be executed before it, if one can.
    pub before: Option<Position>,
    /// The function around it.
    pub function: Option<Function>,
    /// The conditional branches around it, outermost first.
    pub branches: Vec<Branch>,
}

/// The first argument of a call, of the tokens behind its opening parenthesis.
fn first_argument<'t>(tokens: impl Iterator<Item = &'t [u8]>) -> String {
    /// Bytes of what is still a name.
    const LONGEST: usize = 60;
    let mut depth = 0i32;
    let mut argument: Vec<u8> = Vec::new();
    for token in tokens {
        match token {
            b"(" | b"[" | b"{" => depth += 1,
            b")" | b"]" | b"}" => depth -= 1,
            _ => {}
        }
        if depth < 0 || (depth == 0 && token == b",") {
            return String::from_utf8(argument).unwrap_or_default();
        }
        argument.extend_from_slice(token);
        if argument.len() > LONGEST {
            break;
        }
    }
    String::new()
}
