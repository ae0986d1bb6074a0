//! What a profile holds beyond sums, with new numbers for its regions and
//! threads. Lists are strung together: readers add up what is about one region.

use super::{Builder, Select};
use crate::model::{Contention, ContentionSite, Holder, Profile};

impl Builder {
    /// Adds the lists of a profile. What is about all threads of a merged profile
    /// together says nothing of a single rank.
    pub(super) fn add_waits(
        &mut self,
        profile: &Profile,
        select: Select,
        regions: &[usize],
        threads: &[Option<usize>],
    ) {
        let whole = !matches!(select, Select::OnlyRank(_));
        for distribution in &profile.distributions {
            let thread = match distribution.thread {
                Some(thread) => threads[thread],
                None => None,
            };
            if thread.is_some() || distribution.thread.is_none() && whole {
                let mut distribution = distribution.clone();
                distribution.region = regions[distribution.region];
                distribution.thread = thread;
                self.distributions.push(distribution);
            }
        }
        for arrivals in &profile.arrivals {
            let Some(thread) = threads[arrivals.thread] else {
                continue;
            };
            let mut arrivals = *arrivals;
            arrivals.region = regions[arrivals.region];
            arrivals.thread = thread;
            self.arrivals.push(arrivals);
        }
        if whole {
            let contention = profile.contention.iter();
            self.contention
                .extend(contention.map(|contention| renumbered(contention, regions, threads)));
        }
    }
}

fn renumbered(contention: &Contention, regions: &[usize], threads: &[Option<usize>]) -> Contention {
    let holder = |holder: &Holder| Holder {
        region: regions[holder.region],
        thread: holder.thread.and_then(|thread| threads[thread]),
        ..*holder
    };
    let site = |site: &ContentionSite| ContentionSite {
        region: regions[site.region],
        holders: site.holders.iter().map(holder).collect(),
        ..site.clone()
    };
    Contention {
        sites: contention.sites.iter().map(site).collect(),
        ..contention.clone()
    }
}
