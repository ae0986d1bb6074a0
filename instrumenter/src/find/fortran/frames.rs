//! The stack of the token-level matcher: constructs and program units that are open.

use std::collections::HashMap;

use super::classify::Compound;
use super::unit_heads::{UnitHead, UnitKind};
use crate::openmp::{Association, Directive, Leaf};

/// The open frames, outermost first. A frame is looked up by its kind, so that the number of
/// open frames does not matter.
#[derive(Debug, Default)]
pub(super) struct Frames {
    frames: Vec<Frame>,
    /// The places of the frames of each kind, in order.
    places: HashMap<Key, Vec<usize>>,
}

/// A kind of frame.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    /// A directive's name.
    Directive(String),
    /// A construct; none for a loop.
    Construct(Option<Compound>),
    /// A loop that ends at a label.
    Label(u64),
    /// Program units of a kind.
    Unit(UnitKind),
    /// Any program unit.
    AnyUnit,
}

impl Frames {
    pub(super) fn len(&self) -> usize {
        self.frames.len()
    }

    pub(super) fn last(&self) -> Option<&Frame> {
        self.frames.last()
    }

    /// The innermost frame, to be changed; its kind must stay.
    pub(super) fn innermost(&mut self) -> Option<&mut Frame> {
        self.frames.last_mut()
    }

    /// The frame around the innermost one, to be changed; its kind must stay.
    pub(super) fn around_innermost(&mut self) -> Option<&mut Frame> {
        let around = self.frames.len().checked_sub(2)?;
        self.frames.get_mut(around)
    }

    pub(super) fn push(&mut self, frame: Frame) {
        for key in frame.keys() {
            let places = self.places.entry(key).or_default();
            places.push(self.frames.len());
        }
        self.frames.push(frame);
    }

    pub(super) fn pop(&mut self) -> Option<Frame> {
        let frame = self.frames.pop()?;
        for key in frame.keys() {
            self.places.get_mut(&key).and_then(Vec::pop);
        }
        Some(frame)
    }

    /// Puts a frame around all others.
    pub(super) fn surround(&mut self, frame: Frame) {
        let inner = std::mem::take(self);
        self.push(frame);
        inner.frames.into_iter().for_each(|frame| self.push(frame));
    }

    fn places(&self, key: &Key) -> &[usize] {
        self.places.get(key).map_or(&[], Vec::as_slice)
    }

    /// The place of the innermost frame of a kind.
    pub(super) fn last_of(&self, key: &Key) -> Option<usize> {
        self.places(key).last().copied()
    }

    /// The place of the innermost frame of a kind, if it is in the innermost program unit.
    pub(super) fn last_in_unit(&self, key: &Key) -> Option<usize> {
        let unit = self.last_of(&Key::AnyUnit);
        self.last_of(key)
            .filter(|last| unit.is_none_or(|unit| *last > unit))
    }

    /// The place of the outermost frame of a kind in the innermost program unit.
    pub(super) fn first_in_unit(&self, key: &Key) -> Option<usize> {
        let from = self.last_of(&Key::AnyUnit).map_or(0, |unit| unit + 1);
        let places = self.places(key);
        let first = places.partition_point(|place| *place < from);
        places.get(first).copied()
    }
}

/// An open construct, unit or directive.
#[derive(Debug)]
pub(super) enum Frame {
    /// A construct of the language.
    Construct(Construct),
    /// A program unit or subprogram.
    Unit(OpenUnit),
    /// A directive and the code that it governs.
    Directive(OpenDirective),
}

/// An open construct.
#[derive(Debug)]
pub(super) struct Construct {
    /// The kind of the construct; none for a loop.
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
    /// Whether the code that it governs has begun.
    pub(super) begun: bool,
    /// Whether this code is a strictly structured block.
    pub(super) strict: bool,
    /// The item that completed this code.
    pub(super) complete: Option<usize>,
    /// The `section` directives directly in it.
    pub(super) sections: Vec<usize>,
}

/// The event that completes the code of a directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wants {
    /// An end directive.
    End,
    /// The end of a loop.
    Loop,
    /// The end of this many more statements or constructs.
    Statements(usize),
}

impl Wants {
    /// The event that completes the construct of a directive; none if it has no construct.
    /// Where the end directive is optional, `ended` tells whether there is one.
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
    /// The kinds by which the frame is looked up.
    fn keys(&self) -> impl Iterator<Item = Key> + use<> {
        let keys = match self {
            Self::Construct(open) => [
                Some(Key::Construct(open.compound)),
                open.label.map(Key::Label),
            ],
            Self::Unit(open) => [Some(Key::Unit(open.head.kind)), Some(Key::AnyUnit)],
            Self::Directive(open) => [Some(Key::Directive(open.name.clone())), None],
        };
        keys.into_iter().flatten()
    }

    pub(super) fn is_interface(&self) -> bool {
        matches!(self, Self::Construct(open) if open.compound == Some(Compound::Interface))
    }
}
