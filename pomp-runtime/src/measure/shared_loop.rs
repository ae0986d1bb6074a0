//! Loops as a runtime is given them, and the chunks that it hands out.
//!
//! Values of loop variables are 64 bits, with or without a sign. Distances between them are not
//! negative, so they are computed without a sign, and wrap.

use trace::schedule::Kind;

use super::shared::SharedU64;

/// The schedule of a loop: the one that the program names, the one in force, and the chunk size.
pub(crate) type Schedule = (Kind, Kind, i64);

/// A loop as a runtime is given it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shared {
    pub(super) first: u64,
    /// Behind the last value.
    pub(super) bound: u64,
    pub(super) step: u64,
    is_up: bool,
    pub(super) count: u64,
    pub(super) schedule: Schedule,
}

/// Where a chunk ends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    /// Before this value.
    Before(u64),
    /// With this value.
    With(u64),
}

/// A new chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    /// Iterations of the chunk before.
    pub(super) length: u64,
    /// How far the new one is from the end of the one before.
    pub(super) gap: i64,
    /// The first iteration of the new one.
    pub(super) first: u64,
}

/// How many steps lead from a value to another one, and whether they lead exactly there.
fn steps(is_up: bool, step: u64, from: u64, to: u64) -> (u64, bool) {
    let (distance, step) = match is_up {
        true => (to.wrapping_sub(from), step),
        false => (from.wrapping_sub(to), step.wrapping_neg()),
    };
    let step = step.max(1);
    (distance / step, distance.is_multiple_of(step))
}

/// How many iterations there are from a value to the end.
fn iterations(is_up: bool, step: u64, from: u64, end: End) -> u64 {
    match end {
        End::Before(bound) => match steps(is_up, step, from, bound) {
            (whole, true) => whole,
            (whole, false) => whole.saturating_add(1),
        },
        End::With(last) => steps(is_up, step, from, last).0.saturating_add(1),
    }
}

impl Shared {
    /// A loop that counts up or down by a step. Whether it has iterations at all depends on the sign of
    /// the values, so the caller says that.
    pub(crate) fn new(
        (first, end, step): (u64, End, u64),
        is_up: bool,
        has_iterations: bool,
        schedule: Schedule,
    ) -> Self {
        let count = match has_iterations {
            true => iterations(is_up, step, first, end),
            false => 0,
        };
        let bound = match end {
            End::Before(bound) => bound,
            End::With(last) if is_up => last.wrapping_add(1),
            End::With(last) => last.wrapping_sub(1),
        };
        Self {
            first,
            bound,
            step,
            is_up,
            count,
            schedule,
        }
    }

    /// A loop over values with a sign.
    pub(crate) fn signed(first: i64, end: End, step: i64, schedule: Schedule) -> Self {
        let is_up = step > 0;
        let is_left = |bound: u64| match is_up {
            true => first < bound.cast_signed(),
            false => first > bound.cast_signed(),
        };
        let has_iterations = has_iterations(first.cast_unsigned(), end, is_left);
        let values = (first.cast_unsigned(), end, step.cast_unsigned());
        Self::new(values, is_up, has_iterations, schedule)
    }

    /// A loop over values without a sign. A step down is given as what wraps to the same.
    pub(crate) fn unsigned(
        is_up: bool,
        (first, end, step): (u64, End, u64),
        schedule: Schedule,
    ) -> Self {
        let is_left = |bound: u64| match is_up {
            true => first < bound,
            false => first > bound,
        };
        let has_iterations = has_iterations(first, end, is_left);
        Self::new((first, end, step), is_up, has_iterations, schedule)
    }
}

fn has_iterations(first: u64, end: End, is_left: impl Fn(u64) -> bool) -> bool {
    match end {
        End::Before(bound) => is_left(bound),
        End::With(last) => first == last || is_left(last),
    }
}

/// The size of chunks as far as the schedule fixes it; otherwise 0.
pub(crate) fn size_of_chunks(kind: Kind, size: i64) -> u64 {
    let size = match kind {
        Kind::Dynamic => size.max(1),
        Kind::Static => size.max(0),
        // With these schedules the runtime chooses where a chunk ends.
        _ => 0,
    };
    size.cast_unsigned()
}

/// The loop that a member of a team is in, and its chunk.
#[derive(Debug, Default)]
pub(crate) struct Current {
    /// 0 if there is no such loop.
    is_open: SharedU64,
    first: SharedU64,
    step: SharedU64,
    is_up: SharedU64,
    count: SharedU64,
    /// 0 before the first chunk.
    has_chunk: SharedU64,
    chunk_first: SharedU64,
    chunk_length: SharedU64,
}

impl Current {
    pub(super) fn begin(&self, shared: &Shared) {
        self.first.set(shared.first);
        self.step.set(shared.step);
        self.is_up.set(shared.is_up.into());
        self.count.set(shared.count);
        self.has_chunk.set(0);
        self.is_open.set(1);
    }

    /// Goes on to another chunk. None if it has no iterations.
    pub(super) fn turn(&self, from: u64, end: End) -> Option<Turn> {
        let (is_up, step) = (self.is_up.get() != 0, self.step.get());
        let (first, _) = steps(is_up, step, self.first.get(), from);
        // A compiler may leave it to the program to end the last chunk where the loop ends.
        let left = self.count.get().saturating_sub(first);
        let length = iterations(is_up, step, from, end).min(left);
        if length == 0 {
            return None;
        }
        let before = match self.has_chunk.get() {
            0 => (0, 0),
            _ => (self.chunk_first.get(), self.chunk_length.get()),
        };
        self.has_chunk.set(1);
        self.chunk_first.set(first);
        self.chunk_length.set(length);
        Some(Turn {
            length: before.1,
            gap: first
                .wrapping_sub(before.0.wrapping_add(before.1))
                .cast_signed(),
            first,
        })
    }

    pub(super) fn is_open(&self) -> bool {
        self.is_open.get() != 0
    }

    /// Forgets the loop.
    pub(super) fn close(&self) {
        self.is_open.set(0);
    }

    /// The loop is over: the length of the last chunk, if there was one.
    pub(super) fn end(&self) -> Option<u64> {
        let is_open = self.is_open();
        self.close();
        (is_open && self.has_chunk.get() != 0).then(|| self.chunk_length.get())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DYNAMIC: Schedule = (Kind::Dynamic, Kind::Dynamic, 1);

    fn before(value: i64) -> End {
        End::Before(value.cast_unsigned())
    }

    fn with(value: i64) -> End {
        End::With(value.cast_unsigned())
    }

    #[test]
    fn iterations_are_counted_in_both_directions() {
        for (first, end, step, count) in [
            (0, before(10), 1, 10),
            (0, before(10), 3, 4),
            (0, before(9), 3, 3),
            (9, before(-1), -1, 10),
            (10, before(0), -3, 4),
            (5, before(5), 1, 0),
            (6, before(5), 1, 0),
            (5, before(6), -1, 0),
            (-5, before(5), 2, 5),
            (0, with(9), 1, 10),
            (0, with(0), 1, 1),
            (0, with(-1), 1, 0),
            (9, with(0), -3, 4),
            (9, with(10), -3, 0),
            (i64::MIN, with(i64::MAX), 1, u64::MAX),
        ] {
            let shared = Shared::signed(first, end, step, DYNAMIC);
            assert_eq!(shared.count, count, "{first} {end:?} {step}");
        }
        let large = 1 << 63;
        let up = Shared::unsigned(true, (1, End::Before(large + 1), 1), DYNAMIC);
        assert_eq!(up.count, large);
        let down = Shared::unsigned(false, (7, End::Before(0), 2u64.wrapping_neg()), DYNAMIC);
        assert_eq!(down.count, 4);
        let none = Shared::unsigned(true, (large, End::Before(1), 1), DYNAMIC);
        assert_eq!(none.count, 0);
    }

    #[test]
    fn chunks_are_numbered_by_iterations() {
        let current = Current::default();
        current.begin(&Shared::signed(20, before(0), -2, DYNAMIC));
        let chunk = |length, gap, first| Turn { length, gap, first };
        let got = [
            current.turn(16, before(12)),
            current.turn(12, before(10)),
            current.turn(4, before(-4)),
            current.turn(0, before(-2)),
        ];
        let expected = [
            Some(chunk(0, 2, 2)),
            Some(chunk(2, 0, 4)),
            Some(chunk(1, 3, 8)),
            // Behind the end there is nothing.
            None,
        ];
        assert_eq!(got, expected);
        assert_eq!(current.end(), Some(2));
        assert_eq!(current.end(), None);
    }

    #[test]
    fn a_size_is_known_where_the_schedule_fixes_it() {
        let sizes = [
            (Kind::Dynamic, 0, 1),
            (Kind::Dynamic, 4, 4),
            (Kind::Static, 0, 0),
            (Kind::Static, 4, 4),
            (Kind::Guided, 4, 0),
        ];
        for (kind, given, size) in sizes {
            assert_eq!(size_of_chunks(kind, given), size, "{kind:?}");
        }
    }
}
