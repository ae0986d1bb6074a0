//! The interface that instrumented text calls, and its limits.

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
    /// Whether a task must get the handle of its creation, even where that takes a declaration.
    pub(crate) fn declares_tasks(self) -> bool {
        self == Self::Pomp2
    }

    /// Whether only threads that were reported as members of a team may report events, and only
    /// between their begin and their end. Then no task may run in a barrier behind that end,
    /// and no `cancel` may pass over it. Score-P aborts the program when another thread
    /// reports.
    pub(crate) fn must_know_threads(self) -> bool {
        self == Self::Pomp2
    }

    /// Returns why no function of the interface can replace a lock routine, if none can.
    pub(crate) fn lacks(self, routine: &RoutineRow, traits: Traits) -> Option<&'static str> {
        if self == Self::Pomp {
            return None;
        }
        if traits.own_nest_locks && routine.name.contains("nest") {
            // Score-P's library does so, and writes beyond the variable.
            return Some("libraries for POMP2 may take it for a lock of C");
        }
        if traits.types_functions && routine.result != "void" {
            return Some("a function in its place would have to be declared");
        }
        let hint = routine.without_hint().filter(|_| traits.has_no_locals);
        hint.map(|_| "POMP2 has no locks with hints")
    }
}
