//! Groups of constructs that are switched off together: `romp instrument
//! --disable`, `ROMP_INSTRUMENT_DISABLE` and `ROMP_DISABLE`.

use std::fmt;

pub use crate::region_kind::GROUPS;
use crate::region_kind::RegionKind;

/// The group of a kind of region.
#[must_use]
pub fn of(kind: RegionKind) -> &'static str {
    kind.group()
}

/// A set of groups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Groups(Vec<&'static str>);

/// A name that is not the name of a group.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct UnknownGroup(String);

impl fmt::Display for UnknownGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = GROUPS.iter().map(|(name, _)| *name);
        write!(f, "'{}' is no group", self.0)?;
        let near = names
            .clone()
            .min_by_key(|name| strsim::osa_distance(&self.0, name));
        if let Some(near) = near.filter(|name| strsim::osa_distance(&self.0, name) <= 2) {
            write!(f, "; is {near} meant?")?;
        } else {
            write!(f, ".")?;
        }
        let all: Vec<&str> = names.collect();
        write!(f, " The groups are: {}", all.join(", "))
    }
}

impl Groups {
    /// Reads names separated by commas.
    ///
    /// # Errors
    /// If a name is not the name of a group.
    pub fn parse(list: &str) -> Result<Self, UnknownGroup> {
        let words = list.split(',').map(|word| word.trim().to_ascii_lowercase());
        words
            .filter(|word| !word.is_empty())
            .map(|word| {
                let group = GROUPS.iter().find(|(name, _)| *name == word);
                group.map(|(name, _)| *name).ok_or(UnknownGroup(word))
            })
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Whether a group is in the set.
    #[must_use]
    pub fn contain(&self, group: &str) -> bool {
        self.0.contains(&group)
    }

    /// The groups in the set, in the order in which they were named.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().copied()
    }

    /// Whether the set is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::region_kind::REGION_KINDS;

    #[test]
    fn every_kind_is_in_a_group_that_is_listed() {
        for row in REGION_KINDS {
            assert!(GROUPS.iter().any(|(name, _)| *name == of(row.kind)));
        }
        for (name, _) in GROUPS {
            assert!(
                REGION_KINDS.iter().any(|row| of(row.kind) == *name),
                "{name}"
            );
        }
    }

    #[test]
    fn lists_are_read_and_slips_are_named() {
        let groups = Groups::parse("atomic, Flush,").unwrap();
        assert!(groups.contain("atomic") && groups.contain("flush") && !groups.contain("task"));
        assert!(Groups::parse("").unwrap().is_empty());
        let message = Groups::parse("atomics").unwrap_err().to_string();
        assert!(
            message
                .starts_with("'atomics' is no group; is atomic meant? The groups are: parallel,"),
            "{message}"
        );
        let message = Groups::parse("everything").unwrap_err().to_string();
        assert!(
            message.starts_with("'everything' is no group. The groups are: parallel,"),
            "{message}"
        );
    }
}
