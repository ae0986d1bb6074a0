//! Lost times, and ompP's names for the reasons.

use super::{Quantity, RegionKind};

/// ompP's four kinds of overhead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// Waiting for other threads at synchronisation that the program asks for.
    Synch,
    /// Waiting because work was spread unevenly.
    Imbal,
    /// Waiting because there was not enough work for all threads.
    Limpar,
    /// Work of the OpenMP library itself.
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

    /// Its meaning, in one line.
    #[must_use]
    pub fn help(self) -> &'static str {
        [
            "waiting at barriers and for tasks, critical sections, locks, atomics and ordered regions",
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

/// The category of a cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charge {
    /// Always to this one.
    To(Category),
    /// `Limpar` if the number of sections is smaller than the number of executions by threads,
    /// so that some thread had no section; else `Imbal`.
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
    /// The place in words; the construct's name follows.
    pub place: &'static str,
}
