//! OpenMP as data: directives, clauses, recipes, API routines.
//!
//! Nothing here knows how a language spells a directive line, where a construct ends, or how a
//! probe looks in the output.

pub mod api;
mod clause;
pub mod clauses;
pub mod directives;
pub mod events;
pub mod parse;
pub mod pomp;
pub mod recipes;

pub use clauses::ClauseRow;
pub use directives::{Association, DirectiveRow, Inst, Leaf};
pub use events::Event;
pub use parse::{Clause, Directive};

/// The source languages that share the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// C, any standard.
    C,
    /// C++, any standard.
    Cxx,
    /// Fortran, free or fixed form.
    Fortran,
}
