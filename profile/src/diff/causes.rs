//! Compares the lists of causes of both sides: which causes vanished, appeared or changed.

use serde::{Serialize, Serializer};

use super::side::Analysed;
use super::{ComparedRegion, Status};
use crate::analysis::{Cause, CauseKind};
use crate::identity::Pair;
use crate::runs::{CommonCause, Sample, partners};

/// A cause on both sides.
#[derive(Clone, Debug, Serialize)]
pub struct CauseChange {
    /// The kind of cause.
    #[serde(serialize_with = "name")]
    pub kind: CauseKind,
    /// Its kind, in few words.
    pub title: &'static str,
    /// Where, in words with their preposition, as the second program names it.
    #[serde(rename = "where")]
    pub place: String,
    /// The region to look at first, if the cause is at a region.
    pub region: Option<ComparedRegion>,
    /// Whether it is a cause on both sides.
    pub status: Status,
    /// Elapsed time to win in the first runs, in nanoseconds; 0 if it is no cause there.
    pub before: Sample,
    /// The same in the second runs.
    pub after: Sample,
    /// Median after minus median before.
    pub change_ns: i128,
    /// Whether the change is too small to say anything.
    pub noise: bool,
}

impl CauseChange {
    /// The kind and the place, such as `uneven work in the LOOP at a.c:15`.
    #[must_use]
    pub fn in_words(&self) -> String {
        self.kind.at(&self.place)
    }
}

fn name<S: Serializer>(kind: &CauseKind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(kind.row().name)
}

/// Compares the causes of two sides, largest change first. `pairs` says which regions belong
/// together, `region` gives the form in which a region is shown, and `is_noise` says whether
/// the difference of two times is only noise.
pub(super) fn changes(
    [old, new]: [&Analysed<'_>; 2],
    pairs: &[Pair],
    region: impl Fn(Pair) -> Option<ComparedRegion>,
    is_noise: impl Fn(Sample, Sample) -> bool,
) -> Vec<CauseChange> {
    // Regions of both sides get the number of their pair.
    let numbered = |causes: &[CommonCause<'_>], side: fn(&Pair) -> Option<usize>| {
        let number = |region: &usize| pairs.iter().position(|pair| side(pair) == Some(*region));
        let of_cause = |cause: &CommonCause<'_>| -> (CauseKind, Vec<usize>) {
            (
                cause.kind,
                cause.regions.iter().filter_map(number).collect(),
            )
        };
        causes.iter().map(of_cause).collect::<Vec<_>>()
    };
    let [before, after] = [old, new].map(|side| CommonCause::list(&side.reports, &side.common));
    let regions_before = numbered(&before, |pair| pair.before);
    let regions_after = numbered(&after, |pair| pair.after);
    let [first_list, second_list] = [&regions_before, &regions_after].map(|list| {
        let slices = list
            .iter()
            .map(|(kind, regions)| (*kind, regions.as_slice()));
        slices.collect::<Vec<_>>()
    });
    let partners = partners(&first_list, &second_list);
    let change = |one: Option<usize>, other: Option<usize>| {
        let (cause, regions) = match (one, other) {
            (_, Some(other)) => (&after[other], &regions_after[other].1),
            (Some(one), None) => (&before[one], &regions_before[one].1),
            (None, None) => return None,
        };
        let times = |side: &Analysed<'_>, cause: Option<&CommonCause<'_>>| {
            cause.map_or_else(|| side.sample_of_nothing(), CommonCause::to_win)
        };
        let first = times(old, one.map(|one| &before[one]));
        let second = times(new, other.map(|other| &after[other]));
        let (run, shown): (usize, &Cause) = cause.shown()?;
        let side = if other.is_some() { new } else { old };
        let first_region = shown.place.regions.first().copied();
        let in_function = first_region.map_or_else(String::new, |region| {
            side.reports[run].labels[region].in_function_after(&shown.place.words)
        });
        Some(CauseChange {
            kind: cause.kind,
            title: cause.kind.row().title,
            place: shown.place.words.clone() + &in_function,
            region: regions.first().and_then(|&pair| region(pairs[pair])),
            status: match (one, other) {
                (Some(_), Some(_)) => Status::Both,
                (None, _) => Status::New,
                (_, None) => Status::Vanished,
            },
            before: first,
            after: second,
            change_ns: i128::from(second.median) - i128::from(first.median),
            noise: is_noise(first, second),
        })
    };
    let gone = (0..before.len()).filter(|one| !partners.contains(&Some(*one)));
    let here = partners.iter().enumerate();
    let mut changes: Vec<CauseChange> = here
        .map(|(other, one)| (*one, Some(other)))
        .chain(gone.map(|one| (Some(one), None)))
        .filter_map(|(one, other)| change(one, other))
        .collect();
    changes.sort_by_key(|change| {
        let largest = change.before.median.max(change.after.median);
        let size = change.change_ns.unsigned_abs();
        (change.noise, std::cmp::Reverse((size, largest)))
    });
    changes
}
