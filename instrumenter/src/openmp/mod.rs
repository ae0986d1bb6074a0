//! OpenMP as data: directives, clauses, recipes, API routines.
//!
//! Nothing here knows how a language spells a directive line, where a construct ends, or how a
//! probe looks in the output.

use std::borrow::Cow;

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

impl Language {
    /// A word as the tables spell it. In C and C++, where case matters, a word in capitals may be a macro.
    pub(crate) fn as_in_tables(self, word: &str) -> Cow<'_, str> {
        match self {
            Self::C | Self::Cxx => word.into(),
            Self::Fortran => word.to_ascii_lowercase().into(),
        }
    }
}
