//! The kinds of causes, as one table.

/// Why a run took longer than it had to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Threads were ready and had no processor.
    NoProcessor,
    /// More threads were active than the process had processors.
    Oversubscription,
    /// Threads were bound to fewer processors than the process had.
    Affinity,
    /// Only one thread had work, outside of all teams.
    SerialPart,
    /// Some teams had fewer threads than other teams of the run.
    SmallTeams,
    /// Parallel regions do less work than their teams cost.
    SmallRegions,
    /// Threads of other teams start parallel regions with teams of one thread.
    TeamsOfOne,
    /// Worksharing constructs do less work than their barriers cost.
    SmallLoops,
    /// Chunks of loops do less work than handing them out costs.
    SmallChunks,
    /// Tasks do less work than they cost.
    SmallTasks,
    /// Threads waited for tasks that other threads executed.
    TooFewTasks,
    /// The work of a team was spread unevenly.
    Imbalance,
    /// Threads waited at the barrier between two constructs whose uneven loads even each other
    /// out.
    BarrierBetween,
    /// Threads waited for each other at a barrier.
    Barrier,
    /// Threads waited for the thread that executed a `single`.
    Single,
    /// Threads waited for the thread that executed a `master`.
    Master,
    /// There were fewer sections than threads, or one section took longer than the others.
    Sections,
    /// Members of a team began late.
    LateThreads,
    /// Threads combined their parts of a reduction.
    Reduction,
    /// Threads queued for a critical section.
    Critical,
    /// Threads queued for a lock.
    Lock,
    /// Threads competed for one place in memory.
    Atomic,
    /// Threads waited for their turn in an ordered region.
    Ordered,
    /// A thread polled until another one had gone on.
    Spinning,
    /// Starting and ending teams.
    Teams,
    /// Many places, none of which matters alone.
    Spread,
}

/// The names and words for one kind of cause.
#[derive(Debug)]
pub struct KindRow {
    /// The kind.
    pub kind: Kind,
    /// The name in machine-readable outputs.
    pub name: &'static str,
    /// A description in few words.
    pub title: &'static str,
}

const fn row(kind: Kind, name: &'static str, title: &'static str) -> KindRow {
    KindRow { kind, name, title }
}

/// The table, in the order of [`Kind`].
pub const CAUSE_KINDS: &[KindRow] = &[
    row(
        Kind::NoProcessor,
        "no_processor",
        "threads without a processor",
    ),
    row(
        Kind::Oversubscription,
        "oversubscription",
        "more threads than processors",
    ),
    row(
        Kind::Affinity,
        "affinity",
        "threads bound to too few places",
    ),
    row(Kind::SerialPart, "serial_part", "serial part"),
    row(Kind::SmallTeams, "small_teams", "teams of too few threads"),
    row(Kind::SmallRegions, "small_regions", "regions too small"),
    row(
        Kind::TeamsOfOne,
        "teams_of_one",
        "inner regions with teams of one thread",
    ),
    row(
        Kind::SmallLoops,
        "small_loops",
        "worksharing constructs too small",
    ),
    row(Kind::SmallChunks, "small_chunks", "chunks too small"),
    row(Kind::SmallTasks, "small_tasks", "tasks too small"),
    row(Kind::TooFewTasks, "too_few_tasks", "too few tasks"),
    row(Kind::Imbalance, "imbalance", "uneven work"),
    row(
        Kind::BarrierBetween,
        "barrier_between",
        "barrier between two loops",
    ),
    row(Kind::Barrier, "barrier", "wait at a barrier"),
    row(Kind::Single, "single", "wait for a single"),
    row(Kind::Master, "master", "wait for the master thread"),
    row(Kind::Sections, "sections", "uneven sections"),
    row(Kind::LateThreads, "late_threads", "threads that come late"),
    row(Kind::Reduction, "reduction", "combining a reduction"),
    row(Kind::Critical, "critical", "contended critical section"),
    row(Kind::Lock, "lock", "contended lock"),
    row(Kind::Atomic, "atomic", "hot atomic"),
    row(Kind::Ordered, "ordered", "waiting for a turn"),
    row(Kind::Spinning, "spinning", "polling for another thread"),
    row(Kind::Teams, "teams", "starting and ending teams"),
    row(Kind::Spread, "spread", "many small losses"),
];

impl Kind {
    /// Its row of the table.
    #[must_use]
    pub fn row(self) -> &'static KindRow {
        &CAUSE_KINDS[self as usize]
    }

    /// The kind and a place, `uneven work in the LOOP at a.c:15`. Some places already say what
    /// they are: `in the serial part, after the LOOP at a.c:15`.
    #[must_use]
    pub fn at(self, place: &str) -> String {
        let title = self.row().title;
        let rest = place.strip_prefix("in the ");
        match rest.is_some_and(|rest| rest.starts_with(title)) {
            true => place.trim_start_matches("in ").to_owned(),
            false => format!("{title} {place}"),
        }
    }

    /// Whether the profile counts the lost time as work, so that it is part of no overhead.
    pub(crate) fn is_counted_as_work(self) -> bool {
        matches!(self, Self::SmallChunks | Self::Spinning | Self::Reduction)
    }

    /// Whether causes of this kind in several runs are the same cause, wherever they are.
    pub(crate) fn is_of_whole_run(self) -> bool {
        matches!(
            self,
            Self::NoProcessor
                | Self::Oversubscription
                | Self::Affinity
                | Self::SerialPart
                | Self::SmallTeams
                | Self::SmallRegions
                | Self::TeamsOfOne
                | Self::SmallLoops
                | Self::Spread
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_says_what_it_is_needs_no_title() {
        let after = "the serial part, after the LOOP at a.c:15";
        assert_eq!(Kind::SerialPart.at(&format!("in {after}")), after);
        let uneven = "uneven work in the LOOP at a.c:15";
        assert_eq!(Kind::Imbalance.at("in the LOOP at a.c:15"), uneven);
    }

    #[test]
    fn rows_stand_in_enumeration_order_with_names_of_their_own() {
        for (index, row) in CAUSE_KINDS.iter().enumerate() {
            assert_eq!(row.kind as usize, index);
            let before = &CAUSE_KINDS[..index];
            assert!(before.iter().all(|other| other.name != row.name));
        }
    }
}
