//! The thresholds, and the grammar of a file of thresholds. In TOML:
//!
//! ```toml
//! max-imbalance = "20%"      # of a region's thread time, at its implicit barrier
//! max-win = "10%"            # of the run, by one cause
//! min-coverage = "80%"       # of the run in parallel regions
//! max-time-ratio = 1.1       # duration / the baseline's
//! max-region-ratio = 1.25    # each region's thread time / the baseline's
//! min-share = "1%"           # smaller regions are not looked at one by one
//!
//! [max-overhead]             # of the program's thread time
//! synch = "5%"
//! total = "20%"
//! ```

use std::collections::BTreeMap;
use std::str::FromStr;

use serde::Deserialize;

use crate::overheads::Category;
use crate::units::{Factor, Percent};

/// Limits; none of them is set by default.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Thresholds {
    /// Largest part of the program's thread time that may be lost.
    pub max_overhead: BTreeMap<Overhead, Percent>,
    /// Largest part of a region's thread time that may be spent waiting at its
    /// implicit barrier because work was spread unevenly.
    pub max_imbalance: Option<Percent>,
    /// Largest part of the run that may be won by removing one cause (its likely win).
    pub max_win: Option<Percent>,
    /// Smallest part of the run that must be in parallel regions.
    pub min_coverage: Option<Percent>,
    /// Largest duration as a multiple of the baseline's.
    pub max_time_ratio: Option<Factor>,
    /// Largest thread time of a region as a multiple of the baseline's.
    pub max_region_ratio: Option<Factor>,
    /// Regions with a smaller part of the thread time are not looked at one by
    /// one; 1 % if not given.
    pub min_share: Option<Percent>,
}

impl Thresholds {
    /// These thresholds, where values that are set in `other` take precedence.
    #[must_use]
    pub fn overridden_by(mut self, other: Self) -> Self {
        self.max_overhead.extend(other.max_overhead);
        Self {
            max_overhead: self.max_overhead,
            max_imbalance: other.max_imbalance.or(self.max_imbalance),
            max_win: other.max_win.or(self.max_win),
            min_coverage: other.min_coverage.or(self.min_coverage),
            max_time_ratio: other.max_time_ratio.or(self.max_time_ratio),
            max_region_ratio: other.max_region_ratio.or(self.max_region_ratio),
            min_share: other.min_share.or(self.min_share),
        }
    }

    /// Whether no limit is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let limits = Self {
            min_share: None,
            ..self.clone()
        };
        limits == Self::default()
    }

    /// The thresholds that compare with a baseline.
    #[must_use]
    pub fn comparing(&self) -> Vec<&'static str> {
        let all = [
            (self.max_time_ratio, "max-time-ratio"),
            (self.max_region_ratio, "max-region-ratio"),
        ];
        let given = all.into_iter().filter(|(factor, _)| factor.is_some());
        given.map(|(_, name)| name).collect()
    }
}

/// The subject of a `max-overhead` limit: one category, or all together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub enum Overhead {
    /// One category.
    Of(Category),
    /// The sum of all.
    Total,
}

/// The words for each; the first one is used in output.
const WORDS: &[(Overhead, &[&str])] = &[
    (
        Overhead::Of(Category::Synch),
        &["synch", "sync", "synchronisation", "synchronization"],
    ),
    (Overhead::Of(Category::Imbal), &["imbal", "imbalance"]),
    (Overhead::Of(Category::Limpar), &["limpar"]),
    (Overhead::Of(Category::Mgmt), &["mgmt", "management"]),
    (Overhead::Total, &["total", "all"]),
];

impl Overhead {
    /// The word that is used in output.
    #[must_use]
    pub fn name(self) -> &'static str {
        WORDS
            .iter()
            .find(|(overhead, _)| *overhead == self)
            .map_or("", |(_, words)| words[0])
    }

    /// The name in a sentence.
    #[must_use]
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Of(category) => category.in_words(),
            Self::Total => "overhead",
        }
    }
}

impl FromStr for Overhead {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = WORDS.iter().find(|(_, words)| {
            words
                .iter()
                .any(|word| word.eq_ignore_ascii_case(text.trim()))
        });
        found.map(|(overhead, _)| *overhead).ok_or_else(|| {
            let known: Vec<&str> = WORDS.iter().map(|(_, words)| words[0]).collect();
            format!(
                "'{text}' is not an overhead; give one of {}",
                known.join(", ")
            )
        })
    }
}

impl TryFrom<String> for Overhead {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_category_has_a_word() {
        for category in Category::ALL {
            let overhead = Overhead::Of(category);
            assert_eq!(overhead.name().parse(), Ok(overhead));
            assert_eq!(category.name().parse(), Ok(overhead));
        }
        assert!("sun".parse::<Overhead>().is_err());
    }

    #[test]
    fn a_smallest_share_alone_is_no_limit() {
        let thresholds = Thresholds {
            min_share: Some(Percent(5.0)),
            ..Thresholds::default()
        };
        assert!(thresholds.is_empty());
    }
}
