//! What a saved profile says about one region: sums over its rows, per thread
//! and over all threads. Computed here from the rows alone, so that a test of
//! the measurement doesn't depend on the analyses.

use std::collections::BTreeMap;

use profile::model::{Profile, Region, Span};
use profile::region_kind::{PseudoRegion, RegionKind};

use crate::Outcome;

/// Regions of a profile that are looked at together, with all their call paths.
#[derive(Debug)]
pub struct Rows<'a> {
    profile: &'a Profile,
    regions: Vec<usize>,
}

/// What is wrong with a measured run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A count, a name, an order: wrong however busy the machine was.
    Fact(String),
    /// A share of time: a machine that is busy elsewhere can be the reason.
    Share(String),
}

impl From<String> for Fault {
    fn from(message: String) -> Self {
        Self::Fact(message)
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Fact(message) | Self::Share(message) => f.write_str(message),
        }
    }
}

/// A share that a profile must show.
#[derive(Debug)]
pub struct Expected {
    /// The share.
    pub share: f64,
    /// How far off it may be, either way.
    pub within: f64,
}

impl<'a> Rows<'a> {
    /// All regions of a kind.
    ///
    /// # Errors
    /// If there are none.
    pub fn of_kind(profile: &'a Profile, kind: RegionKind) -> Outcome<Self> {
        Self::matching(profile, kind, |_| true)
    }

    /// The first region of a kind that begins at or after a line.
    ///
    /// # Errors
    /// If there is none.
    pub fn from_line(profile: &'a Profile, kind: RegionKind, line: u32) -> Outcome<Self> {
        let mut rows = Self::matching(profile, kind, |region| region.begin[0] >= line)?;
        rows.regions
            .sort_by_key(|&region| profile.regions[region].begin);
        rows.regions.truncate(1);
        Ok(rows)
    }

    fn matching(
        profile: &'a Profile,
        kind: RegionKind,
        wanted: impl Fn(&Region) -> bool,
    ) -> Outcome<Self> {
        let regions: Vec<usize> = (0..profile.regions.len())
            .filter(|&at| profile.regions[at].kind == kind && wanted(&profile.regions[at]))
            .collect();
        if regions.is_empty() {
            let kinds: Vec<_> = profile
                .regions
                .iter()
                .map(|r| (r.kind, r.begin[0]))
                .collect();
            return Err(format!("no such {kind:?} among {kinds:?}"));
        }
        Ok(Self { profile, regions })
    }

    /// The regions of a kind that begin within the lines of these.
    ///
    /// # Errors
    /// If there are none.
    pub fn inside(&self, kind: RegionKind) -> Outcome<Self> {
        Self::matching(self.profile, kind, |inner| {
            let mut around = self
                .regions
                .iter()
                .map(|&region| &self.profile.regions[region]);
            around.any(|outer| outer.begin[0] < inner.begin[0] && inner.begin[0] <= outer.end[1])
        })
    }

    /// Where the first of them begins: `file:line`, without folders.
    #[must_use]
    pub fn place(&self) -> String {
        let first = self
            .regions
            .iter()
            .map(|&region| &self.profile.regions[region])
            .next();
        first.map_or_else(String::new, |region| {
            let file = region.file.rsplit('/').next().unwrap_or_default();
            format!("{file}:{}", region.begin[0])
        })
    }

    /// Time and count of a pseudo-region for each thread, by the thread's path.
    #[must_use]
    pub fn by_thread(&self, pseudo_region: PseudoRegion) -> BTreeMap<Vec<u32>, Span> {
        let mut sums: BTreeMap<Vec<u32>, Span> = BTreeMap::new();
        for node in self
            .profile
            .nodes
            .iter()
            .filter(|node| self.regions.contains(&node.region))
        {
            for row in &node.rows {
                let span = row.span(pseudo_region);
                if !span.is_zero() {
                    *sums
                        .entry(self.profile.threads[row.thread].path.clone())
                        .or_default() += span;
                }
            }
        }
        sums
    }

    /// Time and count of a pseudo-region, over all threads.
    #[must_use]
    pub fn sum(&self, pseudo_region: PseudoRegion) -> Span {
        let mut sum = Span::default();
        self.by_thread(pseudo_region)
            .into_values()
            .for_each(|span| sum += span);
        sum
    }

    /// The time of some pseudo-regions as a share of that of others, 0 to 1.
    #[must_use]
    pub fn share(&self, part: &[PseudoRegion], whole: &[PseudoRegion]) -> f64 {
        let time = |of: &[PseudoRegion]| of.iter().map(|&p| self.sum(p).ns).sum::<u64>();
        ratio(time(part), time(whole))
    }

    /// Implicit waiting as a share of the region's time: exitBarT / execT.
    #[must_use]
    pub fn exit_wait(&self) -> f64 {
        self.share(&[PseudoRegion::Ibarr], &[PseudoRegion::Main])
    }
}

/// A quotient of times; 0 of nothing.
#[must_use]
pub fn ratio(part: u64, whole: u64) -> f64 {
    #[allow(clippy::cast_precision_loss)] // a share needs no more than 52 bits
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

impl Expected {
    /// Holds a measured share against the expected one.
    ///
    /// # Errors
    /// If it is too far off.
    pub fn compare(&self, what: &str, measured: f64) -> Result<(), Fault> {
        if (measured - self.share).abs() <= self.within {
            return Ok(());
        }
        Err(Fault::Share(format!(
            "{what}: a share of {measured:.3}, not {} (within {})",
            self.share, self.within
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_that_is_off_is_refused() {
        let expected = Expected {
            share: 0.25,
            within: 0.1,
        };
        assert!(expected.compare("in reach", 0.34).is_ok());
        assert!(expected.compare("too large", 0.36).is_err());
        assert!(expected.compare("too small", 0.14).is_err());
        assert!(expected.compare("no number", f64::NAN).is_err());
    }
}
