//! The events of the POMP interface, in pairs: the first event opens the region or phase that
//! the second closes.

use profile::event::{Action, Event as E, FUNCTIONS};
use profile::region_kind::PseudoRegion;

/// Two events, by the names of their POMP functions without the prefix `POMP_`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventPair {
    opens: &'static str,
    closes: &'static str,
}

/// One event of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Event {
    pair: EventPair,
    closes: bool,
}

/// A team is created and ended, as the encountering thread sees it. The first function returns
/// the team's handle.
pub const TEAM: EventPair = named("Parallel_fork_team", "Parallel_join");
/// A member of a team starts and ends. The first function takes the team's handle.
pub const MEMBER: EventPair = named("Parallel_begin_team", "Parallel_end");
/// A task is created. If the task can get a handle, another function is called that returns the
/// handle of the creation.
pub const TASK: EventPair = pair(E::TaskCreateEnter, E::TaskCreateExit);
/// A task is executed; see [`TASK`].
pub const TASK_EXECUTION: EventPair = named("Task_begin", "Task_end");
/// The implicit barrier of a construct, made explicit.
pub const IMPLICIT_BARRIER: EventPair = pair(E::ImplicitBarrierEnter, E::ImplicitBarrierExit);
/// The event for the end of that barrier together with the end of its construct or of the team
/// member, if these two follow each other.
pub const BARRIER_LEAVE: &str = "Implicit_barrier_leave";
/// A construct of any kind that is measured from outside.
pub const CONSTRUCT: EventPair = pair(E::ConstructEnter, E::ConstructExit);
/// A region that the user marked.
pub const USER: EventPair = pair(E::UserBegin, E::UserEnd);

/// What the name of the function ends with that is called for the first event of a construct whose
/// instances the program may count itself. It says whether the other events are to be reported.
pub const OR_PASS: &str = "_or_pass";

/// What an event means for an instance that the program counts itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// Whether other constructs may begin in the instance. Then the program has to know whether the
    /// library has noticed one.
    pub has_inside: bool,
    /// What the instance does.
    pub step: PassageStep,
}

/// What an instance does with an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassageStep {
    /// It begins, in this phase.
    Begins(PseudoRegion),
    /// It goes on, in this phase.
    GoesOn(PseudoRegion),
    /// It ends.
    Ends,
}

/// A pair of events that the library's table has.
#[must_use]
pub const fn pair(opens: E, closes: E) -> EventPair {
    named(opens.name(), closes.name())
}

/// A pair of events in which a function does more than report an event of a region.
const fn named(opens: &'static str, closes: &'static str) -> EventPair {
    EventPair { opens, closes }
}

impl EventPair {
    /// The event that comes first.
    #[must_use]
    pub fn opening(self) -> Event {
        Event {
            pair: self,
            closes: false,
        }
    }

    /// The event that comes last.
    #[must_use]
    pub fn closing(self) -> Event {
        Event {
            pair: self,
            closes: true,
        }
    }
}

impl Event {
    /// Name of the POMP function, without its prefix.
    #[must_use]
    pub fn name(self) -> &'static str {
        if self.closes {
            self.pair.closes
        } else {
            self.pair.opens
        }
    }

    /// The step of this event in an instance that the program passes over itself; none if it is not
    /// an event of such a construct.
    #[must_use]
    pub fn passage(self) -> Option<Passage> {
        let mut events = FUNCTIONS.iter().map(|(_, _, event)| event);
        let event = events.find(|event| event.name() == self.name())?;
        let kind = event.passed_over_with()?;
        let step = match event.action() {
            Action::Open(phase) => PassageStep::Begins(phase),
            Action::SwitchPhase(phase) => PassageStep::GoesOn(phase),
            _ => PassageStep::Ends,
        };
        kind.is_counted_by_programs().then_some(Passage {
            has_inside: !kind.is_momentary(),
            step,
        })
    }

    /// The opening event of the pair, if this is the closing one.
    #[must_use]
    pub fn opened_by(self) -> Option<Event> {
        self.closes.then(|| self.pair.opening())
    }
}
