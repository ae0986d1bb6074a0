//! The regions of several profiles in one list.

use crate::analysis::{Label, Report};
use crate::identity::pairs;
use crate::model::Region;
use crate::printable::printable;
use crate::region_kind::RegionKind;

use serde::Serialize;

/// The regions of several profiles, each once.
#[derive(Debug, Default)]
pub(crate) struct Common {
    /// In the form of the first profile that has it.
    pub(crate) regions: Vec<Region>,
    /// The first profile that has each region, and the region's index there.
    first: Vec<(usize, usize)>,
    /// For each profile and each region of the list, the index in that profile.
    of_profile: Vec<Vec<Option<usize>>>,
}

impl Common {
    /// The regions of several profiles. In each profile, no two regions may have the same
    /// identity; [`crate::merge::fold`] ensures that.
    pub(crate) fn new<'a>(profiles: impl IntoIterator<Item = &'a [Region]>) -> Self {
        let mut common = Self::default();
        for (profile, regions) in profiles.into_iter().enumerate() {
            common.add(profile, regions);
        }
        common
    }

    fn add(&mut self, profile: usize, regions: &[Region]) {
        let mut found = vec![None; self.regions.len()];
        for pair in pairs(&self.regions.clone(), regions) {
            let Some(here) = pair.after else { continue };
            match pair.before {
                Some(known) => found[known] = Some(here),
                None => {
                    found.push(Some(here));
                    self.regions.push(regions[here].clone());
                    self.first.push((profile, here));
                }
            }
        }
        for earlier in &mut self.of_profile {
            earlier.resize(found.len(), None);
        }
        self.of_profile.push(found);
    }

    /// The index of a region of the list in a profile, if that has it.
    pub(crate) fn in_profile(&self, profile: usize, region: usize) -> Option<usize> {
        *self.of_profile.get(profile)?.get(region)?
    }

    /// For each region of a profile, its number in the list. `regions` is their number.
    pub(crate) fn numbers_of(&self, profile: usize, regions: usize) -> Vec<Option<usize>> {
        let mut numbers = vec![None; regions];
        let of_profile = self.of_profile.get(profile).into_iter().flatten();
        for (number, region) in of_profile.enumerate() {
            if let Some(slot) = region.and_then(|region| numbers.get_mut(region)) {
                *slot = Some(number);
            }
        }
        numbers
    }

    /// The name of a region, in the first profile that has it.
    pub(crate) fn label<'r>(&self, reports: &'r [Report<'_>], region: usize) -> &'r Label {
        let (profile, index) = self.first[region];
        &reports[profile].labels[index]
    }

    /// The place of a region.
    pub(crate) fn site(&self, reports: &[Report<'_>], region: usize) -> Site {
        let label = self.label(reports, region);
        let directive = self.regions[region].directive.as_deref();
        Site {
            kind: label.kind,
            file: label.file.clone(),
            short_file: label.short_file.clone(),
            line: label.first,
            function: label.function.clone(),
            name: label.name.clone(),
            directive: directive.map(|text| printable(text).into_owned()),
        }
    }
}

/// A region of the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Site {
    /// Its kind.
    pub kind: RegionKind,
    /// Its file.
    pub file: String,
    /// The file name, as short as possible.
    #[serde(skip)]
    pub short_file: String,
    /// Its first line; 0 if it is not known.
    pub line: u32,
    /// The enclosing function.
    pub function: Option<String>,
    /// Name of a critical section or user region.
    pub name: Option<String>,
    /// The directive.
    pub directive: Option<String>,
}

/// `a.c:35`; the file alone if the line is not known.
pub(crate) fn location(short_file: &str, line: u32) -> String {
    match line {
        0 => short_file.to_owned(),
        line => format!("{short_file}:{line}"),
    }
}

impl Site {
    /// `LOOP a.c:35 in main`.
    #[must_use]
    pub fn in_words(&self) -> String {
        let mut text = self.kind.row().full_name.to_owned();
        if let Some(name) = &self.name {
            text += &format!(" \"{name}\"");
        }
        text += &format!(" {}", location(&self.short_file, self.line));
        if let Some(function) = &self.function {
            text += &format!(" in {function}");
        }
        text
    }
}
