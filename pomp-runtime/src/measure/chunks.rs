//! Chunks of loops: the bounds of a loop as the program reports them, and the moments at which a
//! thread goes on to another chunk.
//!
//! The program keeps a few words for each loop and thread, which [`Words`] describes. It compares
//! the innermost loop variable with its next value, and with the value at which the chunk is over.
//! So the library is not called while iterations follow one another.

use profile::descriptor::Descriptor;
use trace::schedule::{How, Kind};

use super::frame::{Frame, Role};
use super::omp;
use super::region::Region;
use super::thread::Thread;
use crate::measure::trace::{Chunk, LoopRecord};
use trace::replay::MOST_LEVELS;

/// Words in front of those of the levels.
pub(crate) const FIRST_LEVEL: usize = 8;
/// Words of a level: first value, bound, step, relation, value now. The library
/// turns the relation into the number of iterations.
pub(crate) const LEVEL: usize = 5;

const LEVELS: usize = 0;
/// The chunk size that the schedule clause asks for, 0 if none is known.
const SIZE: usize = 1;
/// Whether chunks are traced. If requests for chunks mark the loop, it is the number of teams
/// that are around it, plus one.
const TRACED: usize = 2;
/// First iteration of the chunk, or -1 before the first.
const FIRST: usize = 3;
/// Not 0: the runtime has handed another chunk to the thread.
const ASKED: usize = 4;
/// Iteration of the latest call.
const LATEST: usize = 5;
/// Value of the innermost variable at the latest call.
const KEPT: usize = 6;
/// Address of the words of the loop around it that requests for chunks mark; 0 if none.
const AROUND: usize = 7;

/// The words of a loop.
pub(crate) struct Words<'a>(pub(crate) &'a mut [i64]);

impl Words<'_> {
    fn levels(&self) -> usize {
        usize::try_from(self.0[LEVELS])
            .unwrap_or(1)
            .clamp(1, MOST_LEVELS)
    }

    fn level(&self, level: usize) -> &[i64] {
        &self.0[FIRST_LEVEL + level * LEVEL..][..LEVEL]
    }

    /// First value and step of the innermost loop.
    pub(crate) fn inner(&self) -> (i64, i64) {
        let level = self.level(self.levels() - 1);
        (level[0], level[2])
    }

    /// Computes the step and the number of iterations of each level from the words that the program
    /// has set. Returns the number of all iterations, and a value that the innermost variable never
    /// has.
    pub(crate) fn prepare(&mut self) -> (u64, i64) {
        let mut count = 1u64;
        for level in 0..self.levels() {
            let words = &mut self.0[FIRST_LEVEL + level * LEVEL..][..LEVEL];
            let [lower, upper, second, relation, _] = *words else {
                continue;
            };
            let step = step(lower, second, relation);
            let iterations = iterations(lower, upper, step, relation);
            words[2] = step;
            words[3] = iterations.cast_signed();
            count = count.saturating_mul(iterations);
        }
        self.0[FIRST] = -1;
        self.0[ASKED] = 0;
        self.0[LATEST] = 0;
        let (lower, step) = self.inner();
        (count, lower.wrapping_sub(step))
    }

    /// Whether chunks are traced.
    pub(crate) fn are_traced(&self) -> bool {
        self.0[TRACED] != 0
    }

    /// The number of the iteration to which the values of the variables belong.
    fn iteration(&self) -> i64 {
        (0..self.levels()).fold(0, |number, level| {
            let [lower, _, step, count, value] = *self.level(level) else {
                return number;
            };
            let ahead = value.wrapping_sub(lower).checked_div(step).unwrap_or(0);
            number.wrapping_mul(count).wrapping_add(ahead)
        })
    }

    /// The iteration that would be next, if the innermost variable were `next`.
    fn after(&self, next: i64) -> i64 {
        let (_, step) = self.inner();
        let ahead = next.wrapping_sub(self.0[KEPT]).checked_div(step);
        self.0[LATEST].wrapping_add(ahead.unwrap_or(0))
    }

    /// The value of the innermost variable at which the chunk is over, if the chunk ends in this
    /// row; otherwise a value that the variable never has.
    pub(crate) fn stop(&self) -> i64 {
        let (lower, step) = self.inner();
        let never = lower.wrapping_sub(step);
        let size = self.0[SIZE];
        if size <= 0 {
            return never;
        }
        let left = self.0[FIRST]
            .wrapping_add(size)
            .wrapping_sub(self.0[LATEST]);
        self.0[KEPT].wrapping_add(left.wrapping_mul(step))
    }
}

/// What requests for chunks do with a loop's words, which its thread may be using.
impl Words<'_> {
    /// Whether only requests tell where a chunk ends.
    pub(crate) fn want_requests(&self) -> bool {
        self.are_traced() && self.0[SIZE] <= 0
    }

    /// # Safety
    /// The place has the words of a loop, and nobody else uses them meanwhile.
    pub(crate) unsafe fn stand_within(place: *mut i64, around: *mut i64, level: i32) {
        // SAFETY: as the caller promises.
        unsafe {
            *place.add(AROUND) = around.expose_provenance().cast_signed() as i64;
            *place.add(TRACED) = i64::from(level) + 1;
        }
    }

    /// # Safety
    /// The place has the words of a loop, for which `stand_within` was called.
    pub(crate) unsafe fn around(place: *mut i64) -> *mut i64 {
        // SAFETY: as the caller promises.
        let around = unsafe { *place.add(AROUND) };
        std::ptr::with_exposed_provenance_mut(around.cast_unsigned() as usize)
    }

    /// Another chunk was handed to the thread in this many teams, within each other.
    ///
    /// # Safety
    /// As in `around`.
    pub(crate) unsafe fn mark(place: *mut i64, level: i32) {
        // SAFETY: as the caller promises.
        unsafe {
            if *place.add(TRACED) == i64::from(level) + 1 {
                *place.add(ASKED) = 1;
            }
        }
    }
}

impl Words<'_> {
    /// The program calls this because the variables differ from the next ones (`next` is the
    /// innermost one's value), because the chunk is over, or because another was handed out. Returns the new chunk, if one begins.
    pub(crate) fn turn(&mut self, next: i64) -> Option<Chunk> {
        let number = self.iteration();
        let value = self.0[FIRST_LEVEL + (self.levels() - 1) * LEVEL + 4];
        let (first, size) = (self.0[FIRST], self.0[SIZE]);
        let end = if first < 0 { 0 } else { self.after(next) };
        self.0[KEPT] = value;
        self.0[LATEST] = number;
        let asked = std::mem::take(&mut self.0[ASKED]) != 0;
        let goes_on = first >= 0 && number == end && !asked;
        if goes_on && (size <= 0 || number - first < size) {
            return None;
        }
        let length = if first < 0 {
            0
        } else {
            end.wrapping_sub(first)
        };
        self.0[FIRST] = number;
        Some(Chunk {
            length: u64::try_from(length).unwrap_or(0),
            gap: number.wrapping_sub(end),
            first: u64::try_from(number).unwrap_or(0),
        })
    }

    /// The loop is over for this thread: how many iterations its last chunk
    /// had; none if it had no chunk.
    pub(crate) fn last(&self, next: i64) -> Option<u64> {
        let first = self.0[FIRST];
        if first < 0 {
            return None;
        }
        u64::try_from(self.after(next).wrapping_sub(first)).ok()
    }
}

/// The step, from the first value and the value that would be the second. The latter may have
/// wrapped in 32-bit unsigned arithmetic.
fn step(lower: i64, second: i64, relation: i64) -> i64 {
    const WRAP: i64 = 1 << 32;
    let step = second.wrapping_sub(lower);
    let is_down = matches!(relation, GREATER | GREATER_OR_EQUAL);
    let is_up = matches!(relation, LESS | LESS_OR_EQUAL);
    match step {
        0 => 1,
        _ if is_down && step > 0 => step - WRAP,
        _ if is_up && step < 0 => step + WRAP,
        _ => step,
    }
}

// The relations, as the instrumenter numbers them.
const LESS: i64 = 0;
const LESS_OR_EQUAL: i64 = 1;
const GREATER: i64 = 2;
const GREATER_OR_EQUAL: i64 = 3;
const UNTIL: i64 = 5;

fn iterations(lower: i64, upper: i64, step: i64, relation: i64) -> u64 {
    let (lower, upper, step) = (i128::from(lower), i128::from(upper), i128::from(step));
    let sign = step.signum();
    // The last value that is allowed.
    let last = match relation {
        LESS_OR_EQUAL | GREATER_OR_EQUAL | UNTIL => upper,
        _ => upper - sign,
    };
    let distance = (last - lower) * sign;
    if distance < 0 {
        return 0;
    }
    u64::try_from(distance / step.abs() + 1).unwrap_or(u64::MAX)
}

impl Thread {
    /// The iterations of a region's loop begin.
    pub(crate) fn begin_chunks(
        &'static self,
        region: &'static Region,
        words: &mut Words<'_>,
        count: u64,
        at: u64,
    ) {
        if !self.trace.is_on() {
            return;
        }
        let (how, size) = schedule(&region.descriptor, words.0[SIZE]);
        words.0[TRACED] = 1;
        words.0[SIZE] = size;
        let member = std::iter::successors(self.top(), |frame| frame.below())
            .find(|frame| !frame.role().is_construct())
            .filter(|frame| frame.role() == Role::Member);
        let (label, number) = match member {
            Some(member) => (member.label.get(), member.next_loop()),
            None => (self.trace.label(), 0),
        };
        let [lower, upper, step, ..] = *words.level(0) else {
            return;
        };
        let record = LoopRecord {
            label,
            number,
            lower,
            upper,
            step,
            how: How {
                team: u32::try_from(omp::omp_get_num_threads()).unwrap_or(1),
                levels: words.levels() as u8,
                ..how
            },
            chunk: u64::try_from(size).unwrap_or(0),
            count,
        };
        for level in 1..words.levels() {
            // `prepare` has replaced the relation by the number of iterations.
            let [lower, upper, step, count, _] = *words.level(level) else {
                continue;
            };
            self.trace_level([lower, upper, step, count], at);
        }
        self.trace_loop(region, record, at);
    }
}

impl Frame {
    /// The number of the next loop of a member.
    fn next_loop(&self) -> u64 {
        self.loops.add(1);
        self.loops.get()
    }
}

/// The schedule in force and its chunk size, from the clause's text and the size
/// that the program found; 0 if there is none.
fn schedule(descriptor: &Descriptor, size: i64) -> (How, i64) {
    let clause = Kind::of(descriptor.schedule.as_deref());
    let (kind, size) = match clause {
        Kind::Runtime => runtime_schedule(),
        kind => (kind, size),
    };
    let size = match kind {
        Kind::Dynamic => size.max(1),
        Kind::Static => size.max(0),
        // With these schedules the runtime chooses where a chunk ends.
        _ => 0,
    };
    let how = How {
        kind,
        clause,
        ..How::default()
    };
    (how, size)
}

fn runtime_schedule() -> (Kind, i64) {
    let (mut kind, mut size) = (0, 0);
    // SAFETY: both are valid places to write to.
    unsafe { omp::omp_get_schedule(&raw mut kind, &raw mut size) };
    (Kind::of_runtime(kind), i64::from(size))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::chunk_requests::{
        begin_requests, end_requests, handed_out, is_looked_at, is_timed,
    };

    fn words(size: i64, levels: &[(i64, i64, i64, i64)]) -> Vec<i64> {
        let mut words = vec![0; FIRST_LEVEL + LEVEL * levels.len()];
        words[LEVELS] = levels.len() as i64;
        words[SIZE] = size;
        for (level, (lower, upper, second, relation)) in levels.iter().enumerate() {
            let at = FIRST_LEVEL + level * LEVEL;
            words[at..at + 4].copy_from_slice(&[*lower, *upper, *second, *relation]);
        }
        words
    }

    #[test]
    fn iterations_are_counted_in_every_direction() {
        for (level, count) in [
            ((0, 10, 1, LESS), 10),
            ((0, 10, 3, LESS), 4),
            ((0, 10, 5, LESS_OR_EQUAL), 3),
            ((10, 0, 9, GREATER), 10),
            ((10, 0, 8, GREATER_OR_EQUAL), 6),
            ((5, 5, 6, LESS), 0),
            ((0, 8, 2, 4), 4),
            ((1, 8, 3, UNTIL), 4),
            ((8, 1, 5, UNTIL), 3),
            ((1, 8, 0, UNTIL), 0),
            // Unsigned: 1 - 2 is 4294967295.
            ((1, 0, (1 << 32) - 1, GREATER), 1),
            ((i64::MIN, i64::MAX, i64::MIN + 1, LESS), u64::MAX),
        ] {
            let mut words = words(0, &[level]);
            assert_eq!(Words(&mut words).prepare().0, count, "{level:?}");
        }
    }

    /// Runs the iterations as an instrumented program does.
    fn run(words: &mut [i64], executed: &[i64]) -> Vec<(u64, u64)> {
        let mut words = Words(words);
        let (_, mut next) = words.prepare();
        let step = words.inner().1;
        let (mut stop, mut chunks) = (next, Vec::new());
        let mut first = None;
        for value in executed {
            if *value != next || *value == stop {
                words.0[FIRST_LEVEL + 4] = *value;
                if let Some(chunk) = words.turn(next) {
                    chunks.extend(first.map(|first| (first, chunk.length)));
                    first = Some(chunk.first);
                }
                stop = words.stop();
            }
            next = value + step;
        }
        chunks.extend(first.zip(words.last(next)));
        chunks
    }

    #[test]
    fn chunks_are_told_apart_by_gaps_and_sizes() {
        let mut by_two = words(2, &[(0, 8, 1, LESS)]);
        assert_eq!(
            run(&mut by_two, &[0, 1, 2, 3, 6, 7]),
            [(0, 2), (2, 2), (6, 2)]
        );
        let mut any = words(0, &[(10, 0, 9, GREATER)]);
        assert_eq!(run(&mut any, &[10, 9, 8, 3, 2]), [(0, 3), (7, 2)]);
        assert_eq!(run(&mut any.clone(), &[]), []);
    }

    /// The chunk that begins at a value that was expected, if one does.
    fn expected(words: &mut [i64], value: i64) -> Option<Chunk> {
        words[FIRST_LEVEL + 4] = value;
        Words(words).turn(value)
    }

    #[test]
    fn a_request_begins_a_chunk_of_the_innermost_loop_that_wants_it() {
        let mut around = words(0, &[(0, 8, 1, LESS)]);
        let mut within = around.clone();
        for words in [&mut around, &mut within] {
            Words(words).prepare();
            assert!(expected(words, 0).is_some_and(|chunk| chunk.first == 0));
        }
        // SAFETY: the words stay where they are.
        unsafe { begin_requests(around.as_mut_ptr()) };
        assert!(is_looked_at());
        is_timed();
        // SAFETY: as above.
        unsafe { begin_requests(within.as_mut_ptr()) };
        handed_out();
        let chunk = expected(&mut within, 1).map(|chunk| (chunk.length, chunk.gap, chunk.first));
        assert_eq!(chunk, Some((1, 0, 1)));
        assert!(expected(&mut within, 2).is_none());
        assert!(expected(&mut around, 1).is_none());
        // SAFETY: as above.
        unsafe { end_requests(within.as_mut_ptr()) };
        handed_out();
        assert!(expected(&mut within, 3).is_none());
        assert!(expected(&mut around, 2).is_some());
        // SAFETY: as above.
        unsafe { end_requests(around.as_mut_ptr()) };
        handed_out();
        assert!(expected(&mut around, 3).is_none());
        assert!(!is_looked_at());
    }

    #[test]
    fn rows_of_collapsed_loops_are_one_chunk() {
        let mut memory = words(0, &[(0, 3, 1, LESS), (0, 2, 1, LESS)]);
        let mut words = Words(&mut memory);
        assert_eq!(words.prepare().0, 6);
        let mut chunks = Vec::new();
        let mut next = -1;
        for (i, j) in [(0, 1), (1, 0), (1, 1), (2, 1)] {
            words.0[FIRST_LEVEL + 4] = i;
            words.0[FIRST_LEVEL + LEVEL + 4] = j;
            if i != words.level(0)[4] || j != next || j == 0 || (i, j) == (2, 1) {
                chunks.extend(words.turn(next));
            }
            next = j + 1;
        }
        let starts: Vec<_> = chunks.iter().map(|c| (c.first, c.length, c.gap)).collect();
        assert_eq!(starts, [(1, 0, 1), (5, 3, 1)]);
        assert_eq!(words.last(next), Some(1));
    }
}
