//! The parts of a construct that are measured on their own: its begin, and the barrier at its end.
//!
//! Threads come to the end of a construct as often as to its begin. So one part shows whether the other one
//! was found rightly. A compiler may ask for the thread's number once for the loops in two branches, and
//! may make copies of a barrier or one barrier of several.

use std::collections::{BTreeMap, BTreeSet};

use profile::model::Profile;
use profile::region_kind::RegionKind;
use trace::layout::Meaning;

use super::sources::Sources;
use super::wanted::{note_part, set};

/// A construct by its file and number.
type Place = (String, usize);

/// The regions that seem to be parts of constructs.
#[derive(Default)]
pub(super) struct Parts {
    begins: BTreeMap<Place, Vec<usize>>,
    ends: BTreeMap<Place, Vec<usize>>,
    /// The regions that are parts of their constructs only if the other part agrees.
    doubtful: BTreeSet<usize>,
}

impl Parts {
    /// Adds a region that seems to be the begin of a construct.
    pub(super) fn begins(&mut self, place: Place, region: usize, needs_other_part: bool) {
        self.begins.entry(place).or_default().push(region);
        self.doubtful.extend(needs_other_part.then_some(region));
    }

    /// Adds a region that seems to be the barrier at the end of a construct.
    pub(super) fn ends(&mut self, place: Place, region: usize, needs_other_part: bool) {
        self.ends.entry(place).or_default().push(region);
        self.doubtful.extend(needs_other_part.then_some(region));
    }

    /// Turns the regions into parts of their constructs, as far as these are certain. `executed` is how often
    /// each region of the profile was executed.
    pub(super) fn set(
        self,
        executed: &[u64],
        profile: &mut Profile,
        sources: &mut Sources,
        meanings: &mut [Meaning],
    ) {
        let times = |regions: &Vec<usize>| -> u64 { regions.iter().map(|it| executed[*it]).sum() };
        let is_doubtful =
            |regions: &Vec<usize>| regions.iter().any(|it| self.doubtful.contains(it));
        let mut begun: BTreeMap<&Place, u64> = BTreeMap::new();
        for (place, regions) in &self.begins {
            let ended = self.ends.get(place).map(times);
            if is_doubtful(regions) && Some(times(regions)) != ended {
                continue;
            }
            begun.insert(place, times(regions));
            let construct = &sources.of(&place.0).all[place.1];
            for &region in regions {
                meanings[region] = Meaning::Itself;
                note_part(
                    profile.regions[region].kind,
                    construct,
                    &mut meanings[region],
                );
                set(&mut profile.regions[region], construct);
            }
        }
        for (place, regions) in &self.ends {
            let construct = &sources.of(&place.0).all[place.1];
            let kind = construct.kind();
            // A compiler may ask for the thread's number once in front of a loop around a loop: then
            // the loop ends more often than it seems to begin. A `workshare` has any number of barriers.
            let may_be_copied = kind == Some(RegionKind::Loop) && is_doubtful(regions);
            let needs_begin = kind == Some(RegionKind::Single) || may_be_copied;
            let is_begun = || {
                begun
                    .get(place)
                    .is_some_and(|begun| *begun >= times(regions))
            };
            let is_its = !needs_begin || is_begun();
            if is_its {
                for &region in regions {
                    meanings[region] = Meaning::Barrier;
                    set(&mut profile.regions[region], construct);
                }
            }
        }
    }
}
