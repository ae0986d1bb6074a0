//! Loops that hand out one iteration at a time. What the runtime takes to hand them out
//! happens within the loop and cannot be told from its work.

use super::{Cause, Facts};
use crate::region_kind::RegionKind;

/// Percent of the run from which such a loop is worth a word.
const MUCH: f64 = 25.0;

/// A sentence for each such loop in which much of the run was and of which no cause says
/// anything.
pub(super) fn notes(facts: &Facts<'_, '_>, causes: &[Cause]) -> Vec<String> {
    let explained = |region: usize| {
        let mut places = causes.iter().flat_map(|cause| &cause.place.regions);
        places.any(|place| *place == region)
    };
    let mut elapsed = vec![0.0; facts.profile.regions.len()];
    for (node, wall) in facts.tree.nodes.iter().zip(&facts.walls.nodes) {
        if !node.inside_itself {
            elapsed[node.region] += wall.inclusive;
        }
    }
    let loops = (0..elapsed.len()).filter(|&region| {
        let it = &facts.profile.regions[region];
        matches!(it.kind, RegionKind::Loop | RegionKind::ParallelLoop)
            && it.schedule.as_deref().is_some_and(is_one_at_a_time)
            && facts.share(elapsed[region]) >= MUCH
            && !explained(region)
    });
    let note = |region: usize| {
        format!(
            "{} hands out one iteration at a time. What that takes is not told from its work. \
             Where an iteration takes less than some microseconds, hand out more at once, as \
             with schedule(dynamic,100).",
            facts.labels[region].in_words()
        )
    };
    loops
        .map(|region| format!("The {}", note(region)))
        .collect()
}

/// Whether the argument of a `schedule` clause lets threads fetch single iterations
/// (OpenMP 5.2, 11.5.3: without a chunk size `dynamic` has 1).
fn is_one_at_a_time(schedule: &str) -> bool {
    let schedule = schedule.to_ascii_lowercase();
    let after_modifier = schedule.rsplit(':').next().unwrap_or_default();
    let (kind, chunk) = after_modifier
        .split_once(',')
        .unwrap_or((after_modifier, "1"));
    kind.trim() == "dynamic" && chunk.trim() == "1"
}

#[cfg(test)]
mod tests {
    use super::is_one_at_a_time;

    #[test]
    fn only_a_dynamic_schedule_with_chunks_of_one_is_meant() {
        for schedule in ["dynamic", "monotonic: DYNAMIC", "dynamic , 1"] {
            assert!(is_one_at_a_time(schedule), "{schedule}");
        }
        for schedule in [
            "",
            "static,1",
            "guided",
            "dynamic,100",
            "dynamic, n",
            "runtime",
        ] {
            assert!(!is_one_at_a_time(schedule), "{schedule}");
        }
    }
}
