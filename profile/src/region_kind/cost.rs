//! Time that is lost, and ompP's names for the reasons.

use super::{Quantity, RegionKind};

/// ompP's four kinds of overhead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// Waiting for other threads where the program asks for it.
    Synch,
    /// Waiting because work was spread unevenly.
    Imbal,
    /// Waiting because there was not work enough for all.
    Limpar,
    /// What the OpenMP library does itself.
    Mgmt,
}

impl Category {
    /// All of them, in ompP's order; the discriminant is the index.
    pub const ALL: [Self; 4] = [Self::Synch, Self::Imbal, Self::Limpar, Self::Mgmt];

    /// ompP's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        ["Synch", "Imbal", "Limpar", "Mgmt"][self as usize]
    }

    /// What it is, in one line.
    #[must_use]
    pub fn help(self) -> &'static str {
        [
            "waiting at barriers and for tasks, critical sections, locks, atomics and ordered \
             parts",
            "waiting at implicit barriers since work was spread unevenly",
            "waiting at implicit barriers since there was too little parallel work",
            "starting and ending teams, creating tasks, handing out sections, leaving critical \
             sections",
        ][self as usize]
    }

    /// The name in a sentence.
    #[must_use]
    pub fn in_words(self) -> &'static str {
        [
            "synchronisation",
            "imbalance",
            "too little parallel work",
            "management",
        ][self as usize]
    }
}

/// To which category a cost goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charge {
    /// Always to this one.
    To(Category),
    /// To `Limpar` if fewer sections than executions by threads were counted,
    /// so that some thread had none; else to `Imbal`.
    BySections,
}

/// A time of a construct that is lost.
#[derive(Debug, PartialEq, Eq)]
pub struct Cost {
    /// The construct.
    pub kind: RegionKind,
    /// The time that is lost there.
    pub quantity: Quantity,
    /// To which category it goes.
    pub charge: Charge,
    /// Where that is, in words; the construct's name follows.
    pub place: &'static str,
}
