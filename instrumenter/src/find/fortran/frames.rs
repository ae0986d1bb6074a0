//! What is open while the token-level matcher runs.

use super::classify::{Compound, UnitHead};
use crate::openmp::{Association, Directive, Leaf};

/// Something open.
#[derive(Debug)]
pub(super) enum Frame {
    /// A construct of Fortran's.
    Construct(Construct),
    /// A program unit or subprogram.
    Unit(OpenUnit),
    /// What a directive governs.
    Directive(OpenDirective),
}

/// An open construct.
#[derive(Debug)]
pub(super) struct Construct {
    /// What it is; none for a loop.
    pub(super) compound: Option<Compound>,
    /// The label of a loop's last statement.
    pub(super) label: Option<u64>,
    /// Whether it is a `do concurrent`.
    pub(super) concurrent: bool,
    pub(super) start: usize,
}

/// An open unit.
#[derive(Debug)]
pub(super) struct OpenUnit {
    pub(super) head: UnitHead,
    pub(super) start: usize,
}

/// An open directive.
#[derive(Debug)]
pub(super) struct OpenDirective {
    pub(super) record: usize,
    pub(super) item: usize,
    pub(super) name: String,
    pub(super) wants: Wants,
    /// Whether what it governs has begun.
    pub(super) begun: bool,
    /// Whether that is a strictly structured block.
    pub(super) strict: bool,
    /// The item with which it was complete.
    pub(super) complete: Option<usize>,
    /// The `section` directives directly in it.
    pub(super) sections: Vec<usize>,
}

/// What completes what a directive governs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wants {
    /// A directive.
    End,
    /// The end of a loop.
    Loop,
    /// So many more statements or constructs.
    Statements(usize),
}

impl Wants {
    /// What completes the construct of a directive; none if it has none. Where
    /// the end directive is optional, `ended` says whether there is one.
    pub(super) fn of(directive: &Directive, ended: bool) -> Option<Self> {
        let row = directive.rows.last()?;
        match directive.association() {
            Association::LoopNest if row.name == "fuse" && ended => Some(Self::End),
            Association::LoopNest => Some(Self::Loop),
            Association::Block => Some(match row.leaf {
                Leaf::Atomic | Leaf::Dispatch | Leaf::Allocators if ended => Self::End,
                Leaf::Atomic if directive.clause("capture").is_some() => Self::Statements(2),
                Leaf::Atomic | Leaf::Dispatch | Leaf::Allocators => Self::Statements(1),
                _ => Self::End,
            }),
            _ => None,
        }
    }
}

impl Frame {
    pub(super) fn is_unit(&self) -> bool {
        matches!(self, Self::Unit(_))
    }

    pub(super) fn is_interface(&self) -> bool {
        matches!(self, Self::Construct(open) if open.compound == Some(Compound::Interface))
    }
}
