//! What the machine is used for: builds, or runs of programs, of one kind at a time.
//!
//! A compiler beside a program would take the program's processors. Programs may run beside each
//! other: most of what they do is sleep.

use std::sync::{Condvar, Mutex};

use tests::Outcome;

/// A use of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Builds,
    Runs,
}

/// The use that goes on, if there is one, and in how many places.
static NOW: Mutex<Option<(Use, usize)>> = Mutex::new(None);
static IDLE: Condvar = Condvar::new();

/// The machine is used until this is dropped.
pub(super) struct Machine(());

impl Use {
    /// Waits until the machine has no other use.
    pub(super) fn begin(self) -> Outcome<Machine> {
        let now = NOW.lock().map_err(|e| e.to_string())?;
        let is_other = |now: &mut Option<(Use, usize)>| now.is_some_and(|(kind, _)| kind != self);
        let mut now = IDLE.wait_while(now, is_other).map_err(|e| e.to_string())?;
        let places = now.map_or(0, |(_, places)| places);
        *now = Some((self, places + 1));
        Ok(Machine(()))
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let Ok(mut now) = NOW.lock() else { return };
        *now = now.and_then(|(kind, places)| (places > 1).then_some((kind, places - 1)));
        if now.is_none() {
            IDLE.notify_all();
        }
    }
}
