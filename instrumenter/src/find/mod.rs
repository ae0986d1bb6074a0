//! Finding: reads a text and finds its directives, the extents of their constructs, and the
//! calls to redirect. Each language has a front end for this. Front ends know nothing about
//! probes.

pub mod c;
pub mod fortran;
pub mod lines;
mod nested;
mod tree;

use std::cell::Cell;
use std::collections::BTreeSet;
use std::ops::Range;

use crate::openmp::api::RoutineRow;
use crate::openmp::parse::DirectiveToken;
use crate::openmp::{Directive, Language};
use crate::source::Source;
use lines::LineMap;

/// The reason for leaving a directive to the compiler if it can't become a statement.
const NO_PLACE: &str = "no statement may stand in its place";

/// The number of bytes that may be examined in other choices of one source's conditionals: a
/// constant, plus a multiple of the source's length. Real sources need a few times their
/// length.
#[derive(Debug)]
struct Allowance(Cell<usize>);

impl Allowance {
    fn new(length: usize) -> Self {
        Self(Cell::new((1 << 23) + 64 * length))
    }

    /// Takes bytes to be examined off the allowance.
    fn spend(&self, bytes: usize) -> Result<(), String> {
        let left = self.0.get().checked_sub(bytes);
        self.0.set(left.unwrap_or(0));
        let enough = left.map(|_| ());
        enough
            .ok_or_else(|| "the file has too many conditionals to try all of their branches".into())
    }
}

/// The questions that the front end of a language answers.
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
    /// Directives and calls that the macros of a source hide.
    fn hidden(&self, text: &[u8]) -> Vec<Hidden>;
}

/// Directives and calls that macros make.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MadeByMacros {
    /// The functions that use such macros. None among them stands for any function.
    pub functions: BTreeSet<Option<String>>,
    /// The words of all these directives. None if they are not known, or there are calls.
    pub words: Option<BTreeSet<String>>,
}

/// A text with what macros make in the place of their uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expanded {
    /// The text; each line is still the same line.
    pub text: Vec<u8>,
    /// The lines with a directive or call that is only there under some condition of the preprocessor.
    pub optional: BTreeSet<u32>,
}

/// One source. Results for one question, above all syntax trees, are kept for the next one.
pub trait Reading {
    /// Finds everything. Parsing never fails: a part that is not understood is returned with
    /// the reason.
    fn find(&self) -> Found;
    /// Whether the grammar finds errors in the text with the most likely branches of its
    /// conditionals. None if that takes too long.
    fn has_errors(&self) -> Option<bool>;
    /// The offset of a directive for which tokens and tree give different ends.
    fn disagreement(&self) -> Option<usize>;
    /// What macros may hide: its own, and those of the texts that it includes.
    fn made_by_macros(&self, included: &[Vec<u8>]) -> MadeByMacros;
    /// The text as far as it is certain without the preprocessor: with what macros make in the place of
    /// their uses, if that is a directive or call, with directives below conditionals in the form of a
    /// `#pragma`, and with the conditional clauses of a directive. Each line stays the same line. None
    /// if nothing changes.
    fn without_preprocessor(&self, _included: &[Vec<u8>]) -> Option<Expanded> {
        None
    }
    /// The name that the main program has in the source, if its symbol is another one.
    fn main_program(&self) -> Option<String> {
        None
    }
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
    /// The offset of the begin of the line where it is hidden.
    pub offset: usize,
    /// The construct that hides it, in words.
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
    /// The map from offsets to the lines that the compiler counts.
    pub lines: LineMap,
    /// Properties of the language.
    pub traits: Traits,
}

/// Properties of a language that change how its constructs are planned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traits {
    /// Whether names that differ only in case are the same.
    pub folds_case: bool,
    /// Whether a variable may be private in a `parallel` by a rule of the language (loop
    /// variables of Fortran's sequential loops). Then variables that a split-off clause needs
    /// shared must be named in a `shared` clause.
    pub private_by_rule: bool,
    /// Whether a `declare target` without arguments applies to the procedure that contains it,
    /// instead of to all declarations up to its end.
    pub declares_in_procedures: bool,
    /// Whether a function can be called only where its type is declared. Then no function of
    /// ours can replace one of OpenMP's.
    pub types_functions: bool,
    /// Whether no variable can be declared between statements.
    pub has_no_locals: bool,
    /// Whether a nestable lock has another type of variable than in C.
    pub own_nest_locks: bool,
    /// Whether a private copy is allocated as the outside variable is at that time.
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

/// The loops of a source, read to tell their iterations apart.
pub trait LoopReader {
    /// Reads up to `levels` nested loops, the first of which begins at an offset.
    ///
    /// # Errors
    /// Why their iterations cannot be told.
    fn nest(&self, begin: usize, levels: usize) -> Result<LoopNest, String>;
    /// The expression in this part of the text, if it has no side effects.
    fn expression(&self, range: Range<usize>) -> Option<String>;
}

/// Loops around one body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoopNest {
    /// The loops, outermost first.
    pub levels: Vec<Level>,
    /// Where text in front of the innermost body goes.
    pub body: Position,
    /// The offset where the body ends, if that is not the end of the construct.
    pub body_end: Option<usize>,
    /// The chunk size of the schedule clause, if it is known.
    pub chunk: Option<String>,
    /// Whether one chunk may begin where the previous one ended, so that only the chunk size
    /// tells them apart.
    pub is_sized: bool,
    /// Whether the runtime chooses where a chunk ends, so that only its answer to a request for
    /// the next chunk tells chunks apart.
    pub is_asked_for: bool,
}

/// The head of a loop. Its expressions have no side effects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Level {
    /// Its variable.
    pub variable: String,
    /// The first value of the variable. If it depends on an outer loop, it is the value for the
    /// first iteration of that loop.
    pub lower: String,
    /// The value that it is compared with, in the same way. Of a loop over a range: the range.
    pub upper: String,
    /// The relation of the comparison.
    pub relation: Relation,
    /// The amount by which it changes.
    pub step: String,
    /// Whether the step is subtracted.
    pub is_down: bool,
    /// Whether the variable may be an object of a class, which is not a number but has a
    /// distance to another object.
    pub may_be_object: bool,
    /// How its bounds change with the variable of a loop around it, if they do.
    pub row: Option<Row>,
    /// The place of the range in the source, if this is a range-based loop. Such a loop has no
    /// variable that counts its elements.
    pub range: Option<Range<usize>>,
}

/// The bounds of a loop that depend on a loop around it. They are linear, so their values for two
/// values of that loop's variable tell those for all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The index of the loop around it.
    pub outer: usize,
    /// The first value, if the variable of that loop has its second value.
    pub lower: String,
    /// The value that the variable is compared with, in the same way.
    pub upper: String,
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
    /// Up or down to the bound, including it. The sign of the step decides the direction.
    Until = 5,
}

/// A directive in its place.
#[derive(Debug)]
pub struct FoundDirective {
    /// The parsed directive, or why it can't be parsed.
    pub directive: Result<Directive, String>,
    /// Its bytes: whole lines without the last newline, or an operator.
    pub range: Range<usize>,
    /// The text as written, without continuations and comments.
    pub text: String,
    /// Its words behind the sentinel.
    pub words: Vec<DirectiveToken>,
    /// The place for text in front of it and behind it.
    pub placement: Placement,
    /// The extent of the code that it governs, if any.
    pub extent: Extent,
    /// The function around it.
    pub function: Option<Function>,
    /// The conditional branches around it, outermost first.
    pub branches: Vec<Branch>,
    /// The variables of its associated loops, if it combines several constructs.
    pub loop_variables: Vec<String>,
    /// The variable that it writes, if it is an `atomic` construct.
    pub updated: Option<Updated>,
    /// Its place in a sequence of directives without room between them.
    pub sequence: Option<InSequence>,
}

impl FoundDirective {
    /// Whether it stands in a branch that is never compiled.
    #[must_use]
    pub fn is_dead(&self) -> bool {
        self.branches.iter().any(|branch| branch.dead)
    }
}

/// The variable that an `atomic` construct writes. It is not an element of an array.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Updated {
    /// As written: `sum`, `stats.hits` or `*count`.
    pub text: String,
    /// The name that decides which variable it is.
    pub base: String,
    /// The offsets in front of the construct where that name may get another meaning: it is
    /// declared, or associated with another variable.
    pub renamed: Vec<usize>,
    /// Whether it is the same variable in all calls of the function.
    pub is_global: bool,
}

/// A directive's place in a sequence of directives in one text. Before anything can be inserted
/// between them, each must get a text of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InSequence {
    /// Where the sequence begins.
    pub begin: usize,
    /// The edits that give this directive a text of its own.
    pub edits: Vec<(Range<usize>, &'static str)>,
}

/// A directive's place in its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// It has whole lines.
    Lines {
        /// The offset for text in front of it.
        before: usize,
        /// The offset for text behind it: behind its newline.
        after: usize,
    },
    /// It is inside a line, like an expression (`_Pragma`).
    Inline,
}

/// The extent of the code that a directive governs.
#[derive(Clone, Debug)]
pub enum Extent {
    /// It governs no code: it stands alone, declares or separates.
    None,
    /// A statement or block.
    Body(Body),
    /// It is unknown, for this reason.
    Unclear(String),
}

/// A statement or block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// From its first to its last token, including nested directives in front.
    pub range: Range<usize>,
    /// The place for text at its begin: in front of its first token, or of the line that begins
    /// with this token.
    pub begin: Position,
    /// The place for text at its end: in front of its end directive, if it has one.
    pub end: Position,
    /// The place for text behind the construct: behind its end directive, if it has one.
    pub outside: Position,
    /// How the end of the construct is marked.
    pub closing: Closing,
    /// The sections of a `sections` block. The first may have no directive. Empty for every
    /// other construct.
    pub sections: Vec<SectionBlock>,
    /// Whether a conditional around the directive ends before the body does. Then the directive
    /// may be missing where the end is compiled.
    pub guarded: bool,
    /// Whether it is one construct with a block of its own, and nothing else but braces.
    pub is_one_construct: bool,
}

/// How the end of a construct is marked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Closing {
    /// By the end of its block alone; all clauses are on the directive.
    Block,
    /// By an end directive, which also takes some of the clauses.
    Directive(EndDirective),
    /// By nothing, though an end directive would be allowed.
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
    /// The place for text at its begin.
    pub begin: Position,
    /// The place for text at its end.
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
    /// The offset behind the line that ends it, unless the text ends there.
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
    /// The offset between the opening parenthesis and the first argument.
    pub arguments: usize,
    /// The lock, as written without blanks; empty if that is too long to be a name.
    pub lock: String,
    /// The place for a statement to be executed before the call, if there is one.
    pub before: Option<Position>,
    /// The function around it.
    pub function: Option<Function>,
    /// The conditional branches around it, outermost first.
    pub branches: Vec<Branch>,
}

/// The first argument of a call, from the tokens behind its opening parenthesis. Empty if it is
/// too long to be a name.
fn first_argument<'t>(tokens: impl Iterator<Item = &'t [u8]>) -> String {
    /// The largest length of a name, in bytes.
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
