//! The callbacks: regions and waits are timed, and those that lasted long enough get a
//! call stack.

use std::cell::Cell;
use std::ffi::c_int;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::api::Interface;
use crate::kinds::{IMPLICIT_BARRIER, KINDS};
use crate::stacks::{self, Key, Stack};
use crate::waiting;

/// The largest depth of nested regions that are timed on a thread.
const DEEPEST: usize = 32;

/// The settings of the user.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// Regions and waits that take less time get no call stack.
    pub(crate) least: Duration,
    kinds: Vec<usize>,
}

struct Session {
    api: Interface,
    wanted: Wanted,
    start: Instant,
}

static SESSION: OnceLock<Session> = OnceLock::new();

thread_local! {
    /// When the forks that are open began, in nanoseconds.
    static FORKS: [Cell<u64>; DEEPEST] = const { [const { Cell::new(0) }; DEEPEST] };
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    /// The region in which the outermost of these forks was: this thread's stack ends there.
    static BASE: Cell<u64> = const { Cell::new(0) };
    /// When the wait of each kind began.
    static WAITS: [Cell<u64>; 8] = const { [const { Cell::new(0) }; 8] };
}

impl Wanted {
    fn from_environment() -> Self {
        Self::new(|name| std::env::var(name).ok())
    }

    fn new(get: impl Fn(&str) -> Option<String>) -> Self {
        let micros = get("ROMP_COLLECTOR_MIN").and_then(|text| text.parse().ok());
        let listed = get("ROMP_COLLECTOR_EVENTS");
        let is_listed = |name: &str| match &listed {
            Some(list) => list.split(',').any(|listed| listed.trim() == name),
            None => true,
        };
        let kinds = (0..KINDS.len()).filter(|kind| is_listed(KINDS[*kind].0));
        Self {
            least: Duration::from_micros(micros.unwrap_or(10)),
            kinds: kinds.collect(),
        }
    }
}

/// Starts a session, if the program has the interface.
pub(crate) fn begin() {
    let wanted = Wanted::from_environment();
    let Some(api) = Interface::find().filter(|api| api.start()) else {
        return;
    };
    let events: Vec<c_int> = wanted.kinds.iter().map(|kind| KINDS[*kind].2).collect();
    let session = Session {
        api,
        wanted,
        start: Instant::now(),
    };
    if SESSION.set(session).is_err() {
        return;
    }
    // Forks and joins are always needed: the stacks of nested regions are joined at their joins.
    let regions = [1, 2].into_iter();
    let waits = events
        .iter()
        .filter(|event| **event > 2)
        .flat_map(|event| [*event, event + 1]);
    for event in regions.chain(waits) {
        api.register(event, on_event);
    }
}

/// The settings of the session; none if there was none.
pub(crate) fn wanted() -> Option<&'static Wanted> {
    SESSION.get().map(|session| &session.wanted)
}

extern "C" fn on_event(event: c_int) {
    if let Some(session) = SESSION.get() {
        let _ = std::panic::catch_unwind(|| session.event(event));
    }
}

impl Session {
    fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn event(&self, event: c_int) {
        match event {
            1 => self.fork(),
            2 => self.join(),
            _ => self.wait(event),
        }
    }

    fn fork(&self) {
        let depth = DEPTH.get();
        if depth == 0 {
            BASE.set(self.api.regions().1);
        }
        FORKS.with(|forks| {
            if let Some(place) = forks.get(depth) {
                place.set(self.now());
            }
        });
        DEPTH.set(depth + 1);
    }

    fn join(&self) {
        let Some(depth) = DEPTH.get().checked_sub(1) else {
            return;
        };
        DEPTH.set(depth);
        let began = FORKS.with(|forks| forks.get(depth).map(Cell::get));
        let ns = began.map_or(0, |began| self.now().saturating_sub(began));
        let (region, around) = (self.api.regions().0, BASE.get());
        let is_wanted = self.wanted.kinds.first() == Some(&0);
        let (long, short) = self.waits_that_end(region);
        for _ in 0..short {
            stacks::skip(IMPLICIT_BARRIER);
        }
        let is_long = is_wanted && self.is_long(ns);
        // The stacks of threads that waited in the region go on from here.
        if is_long || !long.is_empty() || stacks::has_pending(region) {
            let stack = Stack::here();
            stacks::join(region, around, &stack);
            for ns in long {
                let (kind, stack) = (IMPLICIT_BARRIER, stack.clone());
                stacks::add(around, Key { kind, stack }, ns);
            }
            if is_long {
                return stacks::add(around, Key { kind: 0, stack }, ns);
            }
        }
        if is_wanted {
            stacks::skip(0);
        }
    }

    /// The waits of members that end with their team: the times of those that get a stack, and how
    /// many get none.
    fn waits_that_end(&self, region: u64) -> (Vec<u64>, usize) {
        let now = self.now();
        let waits = waiting::close(region).into_iter();
        let (long, short): (Vec<u64>, Vec<u64>) = waits
            .map(|since| now.saturating_sub(since))
            .partition(|ns| self.is_long(*ns));
        (long, short.len())
    }

    fn is_long(&self, ns: u64) -> bool {
        u128::from(ns) >= self.wanted.least.as_nanos()
    }

    fn wait(&self, event: c_int) {
        let begins = event % 2 == 1;
        let begin = if begins { event } else { event - 1 };
        let Some(kind) = KINDS.iter().position(|kind| kind.2 == begin) else {
            return;
        };
        let now = self.now();
        let began = WAITS.with(|waits| waits[kind].replace(now));
        match (begins, kind == IMPLICIT_BARRIER) {
            (true, true) => return waiting::begin(self.api.regions().0, now),
            (true, false) => return,
            (false, true) if !waiting::end() => return,
            (false, _) => {}
        }
        let ns = now.saturating_sub(began);
        match self.is_long(ns) {
            true => {
                let stack = Stack::here();
                let ends_in = match DEPTH.get() {
                    0 => self.api.regions().0,
                    _ => BASE.get(),
                };
                stacks::add(ends_in, Key { kind, stack }, ns);
            }
            false => stacks::skip(kind),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_chooses_events_and_the_least_time() {
        let all = Wanted::new(|_| None);
        assert_eq!(
            (all.kinds.len(), all.least),
            (KINDS.len(), Duration::from_micros(10))
        );
        let some = Wanted::new(|name| {
            let value = if name.ends_with("MIN") {
                "250"
            } else {
                "ctwt, join,what"
            };
            Some(value.to_owned())
        });
        assert_eq!(
            (some.kinds, some.least),
            (vec![0, 4], Duration::from_micros(250))
        );
    }
}
