//! Merges the lists beside the tree of several profiles: distributions, arrivals and
//! contention.
//!
//! A critical section or atomic that occurs in several processes is one thing in the source. So
//! it is one entry here too, although no process excludes another one from it. A lock is
//! identified by its address, which has no meaning in another process. So the rank is put in
//! front of the address.

use std::collections::HashMap;
use std::hash::Hash;

use crate::model::{
    Arrivals, Contention, ContentionSite, Distribution, GuardKind, Holder, Profile, Serial,
};
use crate::order;

/// The new indices of a profile's regions and threads; none for threads that were left out.
pub(super) struct Places<'a> {
    pub(super) regions: &'a [usize],
    pub(super) threads: &'a [Option<usize>],
}

/// The lists under construction.
#[derive(Debug, Default)]
pub(super) struct WaitLists {
    pub(super) serial: Vec<Serial>,
    pub(super) distributions: Vec<Distribution>,
    pub(super) arrivals: Vec<Arrivals>,
    pub(super) contention: Vec<Contention>,
}

impl WaitLists {
    /// Adds the lists of a profile of one process, or of a merged profile that is added as a
    /// whole. The names of locks get the rank.
    pub(super) fn add(&mut self, profile: &Profile, places: &Places<'_>, rank: Option<u32>) {
        self.add_threads(profile, places);
        let place = |region: Option<usize>| region.map(|region| places.regions[region]);
        self.serial.extend(profile.serial.iter().map(|of| Serial {
            after: place(of.after),
            before: place(of.before),
            ..*of
        }));
        // Several entries may be parts of one distribution. Readers add them up.
        let of_all = profile.distributions.iter();
        let of_all = of_all.filter(|of| of.thread.is_none());
        self.distributions.extend(of_all.map(|of| Distribution {
            region: places.regions[of.region],
            ..of.clone()
        }));
        for guard in &profile.contention {
            let mut guard = guard.clone();
            if let (GuardKind::Lock, Some(rank)) = (guard.kind, rank) {
                guard.name = format!("r{rank}:{}", guard.name);
            }
            for site in &mut guard.sites {
                places.relocate(site);
            }
            self.add_guard(guard);
        }
    }

    /// Adds the entries about single threads that are taken.
    pub(super) fn add_threads(&mut self, profile: &Profile, places: &Places<'_>) {
        for of in &profile.distributions {
            let Some(thread) = of.thread.and_then(|thread| places.threads[thread]) else {
                continue;
            };
            self.distributions.push(Distribution {
                region: places.regions[of.region],
                thread: Some(thread),
                ..of.clone()
            });
        }
        for of in &profile.arrivals {
            let Some(thread) = places.threads[of.thread] else {
                continue;
            };
            self.arrivals.push(Arrivals {
                region: places.regions[of.region],
                thread,
                ..*of
            });
        }
    }

    fn add_guard(&mut self, guard: Contention) {
        // All atomics have the same, empty name. Each one is identified by its site.
        let same = |known: &&mut Contention| {
            known.kind == guard.kind
                && known.name == guard.name
                && (guard.kind != GuardKind::Atomic || regions(known) == regions(&guard))
        };
        match self.contention.iter_mut().find(same) {
            Some(known) => known.sites.extend(guard.sites),
            None => self.contention.push(guard),
        }
    }

    /// Sums up entries about the same thing.
    pub(super) fn finish(&mut self) {
        sum(
            &mut self.serial,
            |of| (of.after, of.before),
            |of, more| {
                of.count = of.count.saturating_add(more.count);
                of.ns = of.ns.saturating_add(more.ns);
            },
        );
        order::sort_by_key(&mut self.serial, |of| {
            (std::cmp::Reverse(of.ns), of.after, of.before)
        });
        sum(
            &mut self.arrivals,
            |of| (of.region, of.part, of.thread),
            |of, more| {
                of.last += more.last;
                of.late_ns += more.late_ns;
                of.after_first_ns += more.after_first_ns;
            },
        );
        for guard in &mut self.contention {
            sum(&mut guard.sites, |site| site.region, add_site);
            for site in &mut guard.sites {
                let key = |of: &Holder| (of.region, of.thread);
                sum(&mut site.holders, key, |of, more| {
                    of.waited += more.waited;
                    of.wait_ns += more.wait_ns;
                });
                order::sort_by_key(&mut site.holders, |of| std::cmp::Reverse(of.waited));
            }
        }
    }
}

fn regions(guard: &Contention) -> Vec<usize> {
    guard.sites.iter().map(|site| site.region).collect()
}

impl Places<'_> {
    fn relocate(&self, site: &mut ContentionSite) {
        site.region = self.regions[site.region];
        for holder in &mut site.holders {
            holder.region = self.regions[holder.region];
            holder.thread = holder.thread.and_then(|thread| self.threads[thread]);
        }
    }
}

fn add_site(site: &mut ContentionSite, more: ContentionSite) {
    site.acquisitions += more.acquisitions;
    site.waited += more.waited;
    site.wait_ns += more.wait_ns;
    site.max_wait_ns = site.max_wait_ns.max(more.max_wait_ns);
    site.hold_ns += more.hold_ns;
    site.holders.extend(more.holders);
}

/// Adds the entries with the same key to the first of them.
fn sum<T, K: Eq + Hash>(all: &mut Vec<T>, key: impl Fn(&T) -> K, add: impl Fn(&mut T, T)) {
    let mut places: HashMap<K, usize> = HashMap::new();
    let mut kept: Vec<T> = Vec::with_capacity(all.len());
    for one in all.drain(..) {
        let place = *places.entry(key(&one)).or_insert(kept.len());
        match kept.get_mut(place) {
            Some(known) => add(known, one),
            None => kept.push(one),
        }
    }
    *all = kept;
}
