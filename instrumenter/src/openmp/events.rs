//! The events of the POMP interface, in pairs: the first event opens the region or phase that
//! the second closes.

use profile::event::Event as E;

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

/// The events of constructs in which nothing else happens. The program counts most instances
/// itself. It calls the function for the first event only if this instance may have to be timed,
/// and that function tells whether the second event is to be reported ([`OR_PASS`]).
pub const MOMENTARY: &[EventPair] = &[
    pair(E::AtomicEnter, E::AtomicExit),
    pair(E::FlushEnter, E::FlushExit),
];
/// What the name of such a function ends with.
pub const OR_PASS: &str = "_or_pass";

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

    /// Whether nothing else happens between the events of its pair.
    #[must_use]
    pub fn is_momentary(self) -> bool {
        MOMENTARY.contains(&self.pair)
    }

    /// The opening event of the pair, if this is the closing one.
    #[must_use]
    pub fn opened_by(self) -> Option<Event> {
        self.closes.then(|| self.pair.opening())
    }
}
