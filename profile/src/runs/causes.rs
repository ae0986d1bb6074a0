//! The causes of several profiles in one list.

use super::{Common, Sample};
use crate::analysis::{Cause, CauseKind, Report};

/// A cause in several runs of one program.
#[derive(Debug)]
pub(crate) struct CommonCause<'r> {
    pub(crate) kind: CauseKind,
    /// Where it is, as indices of common regions; the first one is to be looked at first.
    pub(crate) regions: Vec<usize>,
    /// The cause in each run; none where it is no cause.
    pub(crate) of_run: Vec<Option<&'r Cause>>,
}

impl<'r> CommonCause<'r> {
    /// The causes of all runs, each once, most to win first.
    pub(crate) fn list(reports: &'r [Report<'_>], common: &Common) -> Vec<Self> {
        let mut list: Vec<Self> = Vec::new();
        for (run, report) in reports.iter().enumerate() {
            let numbers = common.numbers_of(run, report.labels.len());
            let found: Vec<(CauseKind, Vec<usize>, &Cause)> = report
                .causes
                .list
                .iter()
                .map(|cause| {
                    let regions = cause.place.regions.iter();
                    let regions = regions.filter_map(|&region| numbers[region]).collect();
                    (cause.kind, regions, cause)
                })
                .collect();
            let known: Vec<_> = list.iter().map(Self::identity).collect();
            let here: Vec<_> = found.iter().map(|it| (it.0, it.1.as_slice())).collect();
            let partners = partners(&known, &here);
            for ((kind, regions, cause), partner) in found.into_iter().zip(partners) {
                let at = partner.unwrap_or_else(|| {
                    list.push(Self {
                        kind,
                        regions,
                        of_run: vec![None; reports.len()],
                    });
                    list.len() - 1
                });
                list[at].of_run[run] = Some(cause);
            }
        }
        list.sort_by_key(|cause| std::cmp::Reverse(cause.to_win().median));
        list
    }

    /// The kind and the regions, which identify the cause.
    pub(crate) fn identity(&self) -> (CauseKind, &[usize]) {
        (self.kind, &self.regions)
    }

    /// The elapsed time that it would likely win, in nanoseconds. A run in which it is no cause
    /// counts as 0.
    pub(crate) fn to_win(&self) -> Sample {
        let likely = |cause: &Option<&Cause>| cause.map_or(0, |cause| cause.likely.ns);
        Sample::of(self.of_run.iter().map(likely).collect())
    }

    /// The first run that has the cause, and its cause.
    pub(crate) fn shown(&self) -> Option<(usize, &'r Cause)> {
        let mut runs = self.of_run.iter().enumerate();
        runs.find_map(|(run, cause)| Some((run, (*cause)?)))
    }
}

/// For each cause of the second list, the same cause in the first list. Both must have the same
/// kind. They must also be of a kind for the whole run, have the same first region, or else
/// share a region.
pub(crate) fn partners(
    first: &[(CauseKind, &[usize])],
    second: &[(CauseKind, &[usize])],
) -> Vec<Option<usize>> {
    type Fits = fn(&[usize], &[usize]) -> bool;
    let passes: [Fits; 2] = [
        |one, other| one.first() == other.first(),
        |one, other| one.iter().any(|region| other.contains(region)),
    ];
    let mut partners = vec![None; second.len()];
    for fits in passes {
        for (here, (kind, regions)) in second.iter().enumerate() {
            if partners[here].is_some() {
                continue;
            }
            let mut others = first.iter().enumerate();
            let partner = others.find(|(index, (other, places))| {
                other == kind
                    && (kind.is_of_whole_run() || fits(places, regions))
                    && !partners.contains(&Some(*index))
            });
            partners[here] = partner.map(|(index, _)| index);
        }
    }
    partners
}

#[cfg(test)]
mod tests {
    use super::*;
    use CauseKind::{Barrier, Imbalance, Lock, SerialPart};

    #[test]
    fn causes_are_the_same_by_kind_and_place() {
        let first: &[(CauseKind, &[usize])] = &[
            (Imbalance, &[1]),
            (Imbalance, &[2]),
            (Lock, &[4, 5]),
            (SerialPart, &[]),
        ];
        let second: &[(CauseKind, &[usize])] = &[
            (Barrier, &[1]),
            (Imbalance, &[2]),
            (Lock, &[5, 4]),
            (SerialPart, &[7]),
            (Imbalance, &[3]),
        ];
        let expected = [None, Some(1), Some(2), Some(3), None];
        assert_eq!(partners(first, second), expected);
    }

    #[test]
    fn a_cause_has_one_partner() {
        let twice: &[(CauseKind, &[usize])] = &[(Lock, &[1, 2]), (Lock, &[2])];
        assert_eq!(partners(&twice[1..], twice), [None, Some(0)]);
        assert_eq!(partners(twice, twice), [Some(0), Some(1)]);
    }
}
