//! Why elapsed time was lost, as the first screen says it.

use crate::analysis::Report;
use crate::analysis::words::percent;

/// The most causes on the first screen.
const MOST: usize = 5;

/// One reason.
pub(super) struct Cause {
    /// Index of its region.
    pub(super) region: usize,
    /// Elapsed time to win, in nanoseconds.
    pub(super) gain_ns: u64,
    /// What was lost, where, and what to try.
    pub(super) sentences: Vec<String>,
}

/// The causes, most elapsed time to win first.
pub(super) fn causes(report: &Report<'_>) -> Vec<Cause> {
    let overheads = &report.overheads;
    let places = overheads.places.iter();
    let worth = places.filter(|place| place.lost.percent >= crate::analysis::NEGLIGIBLE);
    worth
        .take(MOST)
        .map(|place| {
            let label = &report.labels[place.region];
            let region = &report.profile.regions[place.region];
            let what = format!(
                "{} of the thread time is lost {} the {}{}{}.",
                percent(place.lost.percent),
                place.cost.place,
                label.in_words(),
                label.in_function(),
                match place.is_estimated {
                    true => " (estimated)",
                    false => "",
                }
            );
            let schedule = region.schedule.as_deref();
            let remedy = crate::advice::advice(region.kind, place.category, schedule);
            Cause {
                region: place.region,
                gain_ns: place.lost.ns / overheads.threads.max(1),
                sentences: std::iter::once(what)
                    .chain(remedy.map(str::to_owned))
                    .collect(),
            }
        })
        .collect()
}
