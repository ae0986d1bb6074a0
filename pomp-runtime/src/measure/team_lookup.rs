//! How a member finds its team if it gets no handle: by the place of the thread that forked. That
//! is the member's own place without the member's own number.
//!
//! A place identifies a thread among all those that descend from one initial thread. At each place
//! at most one team of a region is open at a time. But initial threads, such as those that the
//! program makes itself, all have the same place. If several of them have a team of one region open
//! at the same place, the member takes the team of that initial thread from which it was last known
//! to descend. If that is not known either, the choice is a guess, which is counted.

use super::records::Region;
use super::records::TeamPath;
use super::records::frame::Role;
use super::records::team::TeamHandle;
use super::thread::Thread;
use crate::measure::records::Node;

impl Region {
    /// The node of the fork at a place, if its team is passed over and no other team could be
    /// meant.
    #[inline(always)]
    pub(crate) fn passed_at(&self, forked: impl FnOnce() -> TeamPath) -> Option<&'static Node> {
        let only = self.forkers.0.get()?;
        let fork = only.open.passed.get()?;
        (only.next.get().is_none() && only.place == forked()).then_some(fork)
    }
}

impl Thread {
    /// As `fork`, if the members can get no handle. `may_pass`: they may be passed over.
    pub(crate) fn fork_announced(
        &'static self,
        region: &'static Region,
        place: TeamPath,
        may_pass: bool,
        now: impl Fn() -> u64,
    ) {
        let handle = self.fork_for_handle(region, may_pass, now);
        let team = self.top().and_then(|fork| fork.team.get());
        let (Some(handle), Some(team)) = (handle, team) else {
            return;
        };
        if let Some(forker) = region.forkers.entry(place, self.initial.get()) {
            forker.open.team.set(Some(team));
            forker.open.passed.set(match handle {
                TeamHandle::PassedOver(fork) => Some(fork),
                TeamHandle::Team(_) => None,
            });
            team.announce(forker);
        }
    }

    /// The handle of the team of a region in which a thread begins. `may_have_forked`: the thread
    /// is the team's first member, so it may have forked the team itself. `forked` gives the place
    /// of the thread that forked.
    #[inline(always)]
    pub(crate) fn announced(
        &self,
        region: &'static Region,
        may_have_forked: bool,
        forked: impl FnOnce() -> TeamPath,
    ) -> Option<TeamHandle> {
        let top = self.top().filter(|_| may_have_forked);
        let Some(fork) = top.filter(|top| top.is(Role::Fork, region)) else {
            return self.forked_at(region, forked());
        };
        let team = fork.team.get()?;
        match team.is_passed() {
            true => fork.node().map(TeamHandle::PassedOver),
            false => Some(TeamHandle::Team(team)),
        }
    }

    fn forked_at(&self, region: &'static Region, place: TeamPath) -> Option<TeamHandle> {
        let mut open = region
            .forkers
            .iter()
            .filter(|forker| forker.place == place)
            .filter_map(|forker| Some((forker.initial, forker.open.handle()?)));
        let first = open.next()?;
        let (initial, handle) = match open.next() {
            None => first,
            Some(second) => {
                let mut all = [first, second].into_iter().chain(open);
                match all.find(|(initial, _)| *initial == self.home.get()) {
                    Some(known) => known,
                    None => {
                        self.guessed.add(1);
                        return Some(first.1);
                    }
                }
            }
        };
        self.home.set(initial);
        Some(handle)
    }
}
