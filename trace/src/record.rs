//! A record: one event as a head word, and operands where the event has more to
//! tell than fits into it.
//!
//! ```text
//! bits of the head   63                    28 27             8 7     5 4   0
//!                    ticks since the record    region           phase   op
//!                    before (36)               (20)             (3)     (5)
//! ```
//!
//! The usual event is a head alone: eight bytes, written by one store. If the ticks do not fit, or
//! the time is before that of the previous record, a `Time` record comes first.

use profile::region_kind::PseudoRegion;

/// The kinds of records. The operands are named in the order in which they follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Op {
    /// The time, in ticks, from which the following records count.
    Time = 1,
    /// A construct is entered, in this phase.
    Enter = 2,
    /// The innermost region goes on to this phase.
    SwitchPhase = 3,
    /// The innermost construct is left.
    Exit = 4,
    /// A team is about to be made: its label.
    Fork = 5,
    /// The team that was forked is gone: its size, 0 if unknown.
    Join = 6,
    /// This thread starts in a team: the team's label, the thread's path, the
    /// time of the fork. In the phase `enter` it goes on to wait for work.
    Begin = 7,
    /// This thread leaves its team.
    End = 8,
    /// A task starts to be executed: its label, the label that its creation
    /// had (0 if unknown).
    Task = 9,
    /// The construct just entered creates a task: its label.
    Create = 10,
    /// A lock was set: begin of the call, address of the lock.
    LockSet = 11,
    /// A lock was not set, being taken: begin of the call.
    LockRefused = 12,
    /// A routine that neither sets nor unsets was called: begin of the call.
    LockCalled = 13,
    /// A lock was set once more by the thread that has it: begin of the call.
    LockNested = 14,
    /// A lock is about to be unset, which the region had set: its address.
    LockUnset = 15,
    /// The call that unset it has returned: its address.
    LockFree = 16,
    /// At the begin of a page: a region that is open. Its role, begin, begin of its phase, label,
    /// path.
    Open = 17,
    /// The innermost region is a loop whose iterations begin: see
    /// [`crate::replay::LoopInstance`] for its eight operands.
    Loop = 18,
    /// A chunk starts: how many iterations the one before had, number of its
    /// first iteration.
    Chunk = 19,
    /// As `Chunk`, with both numbers in the region's bits; see [`near_chunk`].
    NearChunk = 20,
    /// The last chunk of this thread ends: how many iterations it had.
    LastChunk = 21,
    /// In front of `Loop`, for each inner loop of those that are collapsed: first
    /// value, bound, step, number of iterations.
    Level = 22,
    /// In front of a begin or an end: how far a counter of this thread has counted. Its
    /// number, in the order of the fact `counters`, stands in the region's bits.
    Counter = 23,
    /// A task that this thread creates depends on something: the task's label, and an address. The
    /// phase is the type of the dependence, see [`crate::depend::Kind`]. Behind `Create`, one for
    /// each item of the task's `depend` clauses.
    Depend = 24,
}

impl Op {
    const ALL: [Self; 24] = [
        Self::Time,
        Self::Enter,
        Self::SwitchPhase,
        Self::Exit,
        Self::Fork,
        Self::Join,
        Self::Begin,
        Self::End,
        Self::Task,
        Self::Create,
        Self::LockSet,
        Self::LockRefused,
        Self::LockCalled,
        Self::LockNested,
        Self::LockUnset,
        Self::LockFree,
        Self::Open,
        Self::Loop,
        Self::Chunk,
        Self::NearChunk,
        Self::LastChunk,
        Self::Level,
        Self::Counter,
        Self::Depend,
    ];

    /// The number of words that follow the head.
    #[must_use]
    pub const fn operands(self) -> usize {
        match self {
            Self::Enter | Self::SwitchPhase | Self::Exit | Self::End | Self::NearChunk => 0,
            Self::Time
            | Self::Fork
            | Self::Join
            | Self::Create
            | Self::LockRefused
            | Self::LockCalled
            | Self::LockNested
            | Self::LockUnset
            | Self::LockFree
            | Self::LastChunk
            | Self::Counter => 1,
            Self::Task | Self::LockSet | Self::Chunk | Self::Depend => 2,
            Self::Begin => 3,
            Self::Level => 4,
            Self::Open => 5,
            Self::Loop => 8,
        }
    }
}

/// Most operands that a record has.
pub const MOST_OPERANDS: usize = 8;

const PHASE_AT: u32 = 5;
const REGION_AT: u32 = 8;
const TICKS_AT: u32 = 28;

/// The first number of ticks that does not fit.
pub const TICKS_LIMIT: u64 = 1 << (64 - TICKS_AT);
/// The region number of records that belong to no region, or to a region whose number does not
/// fit.
pub const NO_REGION: u32 = (1 << (TICKS_AT - REGION_AT)) - 1;

/// The phase of an exit that was not the region's own: the region was left by `cancel`, a jump or
/// the end of measurement.
pub const TRUNCATED: u8 = 1;

/// The phase of an exit from a region deep in a recursion: the profile counts its time for the
/// enclosing instance of the same region. May come with [`TRUNCATED`].
pub const RECURSIVE: u8 = 2;

/// A head without its ticks.
#[inline(always)]
#[must_use]
pub const fn head(op: Op, phase: u8, region: u32) -> u64 {
    let region = if region < NO_REGION {
        region
    } else {
        NO_REGION
    };
    op as u64 | ((phase as u64 & 7) << PHASE_AT) | ((region as u64) << REGION_AT)
}

/// A head with its ticks, which must be below the limit.
#[inline(always)]
#[must_use]
pub const fn timed(head: u64, ticks: u64) -> u64 {
    head | (ticks << TICKS_AT)
}

/// Both numbers of a chunk in the bits of a region, if they fit: its gap from
/// the end of the one before, and that one's length.
#[inline(always)]
#[must_use]
pub const fn near_chunk(length: u64, gap: i64) -> Option<u32> {
    if length < 1 << 8 && gap >= -(1 << 11) && gap < (1 << 11) - 1 {
        Some((length as u32) << 12 | (gap as u32 & 0xfff))
    } else {
        None
    }
}

/// The length and the gap that [`near_chunk`] packed.
#[must_use]
pub const fn far_chunk(region: u32) -> (u64, i64) {
    let gap = (region & 0xfff) as i64;
    let gap = if gap >= 1 << 11 { gap - (1 << 12) } else { gap };
    ((region >> 12) as u64, gap)
}

/// A record that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its kind.
    pub op: Op,
    /// The discriminant of a pseudo-region, or flags.
    pub phase: u8,
    /// The region, or [`NO_REGION`].
    pub region: u32,
    /// Ticks since the record before.
    pub ticks: u64,
    /// The operands; zero beyond those that it has.
    pub operands: [u64; MOST_OPERANDS],
}

impl Record {
    /// Reads the first record of some words, with the number of words that it takes; none if they
    /// are no record.
    #[must_use]
    pub fn read(words: &[u64]) -> Option<(Self, usize)> {
        let head = *words.first()?;
        let number = (head & ((1 << PHASE_AT) - 1)) as usize;
        let op = *Op::ALL.get(number.checked_sub(1)?)?;
        let mut operands = [0; MOST_OPERANDS];
        let given = words.get(1..=op.operands())?;
        operands[..given.len()].copy_from_slice(given);
        let record = Self {
            op,
            phase: (head >> PHASE_AT & 7) as u8,
            region: (head >> REGION_AT) as u32 & NO_REGION,
            ticks: head >> TICKS_AT,
            operands,
        };
        Some((record, 1 + given.len()))
    }

    /// The phase as the pseudo-region that it names.
    #[must_use]
    pub fn pseudo_region(&self) -> PseudoRegion {
        pseudo_region(self.phase)
    }
}

/// The pseudo-region of a discriminant; `Main` for any other number.
#[must_use]
pub fn pseudo_region(discriminant: u8) -> PseudoRegion {
    let all = PseudoRegion::ALL;
    all.get(usize::from(discriminant))
        .copied()
        .unwrap_or(PseudoRegion::Main)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_numbered_in_order() {
        for (index, op) in Op::ALL.into_iter().enumerate() {
            assert_eq!(op as usize, index + 1);
            assert!(op.operands() <= MOST_OPERANDS);
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let word = timed(head(Op::Begin, 3, 77), TICKS_LIMIT - 1);
        let (record, words) = Record::read(&[word, 1, 2, 3, 9]).unwrap();
        let expected = Record {
            op: Op::Begin,
            phase: 3,
            region: 77,
            ticks: TICKS_LIMIT - 1,
            operands: [1, 2, 3, 0, 0, 0, 0, 0],
        };
        assert_eq!((record, words), (expected, 4));
        assert_eq!(Record::read(&[word, 1, 2]), None);
        assert_eq!(Record::read(&[0]), None);
        assert_eq!(Record::read(&[31]), None);
    }

    #[test]
    fn a_region_that_does_not_fit_is_none() {
        let (record, _) = Record::read(&[head(Op::Enter, 0, u32::MAX)]).unwrap();
        assert_eq!(record.region, NO_REGION);
    }

    #[test]
    fn near_chunks_come_back() {
        for (length, gap) in [(0, 0), (255, -2048), (1, 2046), (7, -1)] {
            let packed = near_chunk(length, gap).unwrap();
            assert!(packed < NO_REGION);
            assert_eq!(far_chunk(packed), (length, gap));
        }
        assert_eq!(near_chunk(256, 0), None);
        assert_eq!(near_chunk(0, 2047), None);
        assert_eq!(near_chunk(0, -2049), None);
    }
}
