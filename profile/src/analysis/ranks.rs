//! The ranks of a merged profile: one line with the overhead analysis of each, so that a slow
//! or idle rank can be seen.

use super::{OverheadRow, Share, estimate, overheads, wall};
use crate::merge;
use crate::model::{Profile, Run};

/// One rank.
#[derive(Clone, Debug)]
pub struct Rank {
    /// Its number.
    pub number: u32,
    /// Its run. The percentages below refer to this run.
    pub run: Run,
    /// Time in parallel regions; percent of the duration.
    pub coverage: Share,
    /// The sum of its overheads; percent of its thread time.
    pub overheads: OverheadRow,
}

/// The ranks of a merged profile, in their order.
pub(crate) fn ranks(profile: &Profile) -> Vec<Rank> {
    let rank = |run: &Run| {
        let number = run.rank?;
        let part = merge::of_rank(profile, number)?;
        let tree = estimate::tree(&part);
        let walls = wall::wall_times(&part, &tree);
        let overheads = overheads::analyse(&part, &tree, &walls);
        Some(Rank {
            number,
            run: run.clone(),
            coverage: overheads.coverage,
            overheads: overheads.whole_sum,
        })
    };
    profile.ranks.iter().filter_map(rank).collect()
}
