//! The interface that instrumented text calls, and what it can't do.

use crate::find::Traits;
use crate::openmp::api::RoutineRow;

/// The interface whose functions are called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Api {
    /// Ours: libpomp
    #[default]
    Pomp,
    /// OPARI2's: Score-P, TAU and other libraries
    Pomp2,
}

impl Api {
    /// Whether a task is handed what its creation was told of it, also where that
    /// takes a declaration.
    pub(crate) fn declares_tasks(self) -> bool {
        self == Self::Pomp2
    }

    /// Whether only threads of which it was told, as members of a team, may report
    /// anything, from their begin to their end: no task may run in a barrier behind
    /// that, and no `cancel` pass it over. Score-P ends the program at any other.
    pub(crate) fn must_know_threads(self) -> bool {
        self == Self::Pomp2
    }

    /// Why no function of the interface stands in for a lock routine, if none does.
    pub(crate) fn lacks(self, routine: &RoutineRow, traits: Traits) -> Option<&'static str> {
        if self == Self::Pomp {
            return None;
        }
        if traits.own_nest_locks && routine.name.contains("nest") {
            // So does Score-P's, and writes behind the variable.
            return Some("libraries for POMP2 may take it for a lock of C");
        }
        if traits.types_functions && routine.result != "void" {
            return Some("a function in its place would have to be declared");
        }
        let hint = routine.without_hint().filter(|_| traits.has_no_locals);
        hint.map(|_| "POMP2 has no locks with hints")
    }
}
