//! Chunks of loops: the bounds of a loop as the program reports them, and the moments at which a
//! thread goes on to another chunk.
//!
//! The program keeps a record of each loop and thread, which [`Loop`] describes. It compares
//! the innermost loop variable with its next value, and with the value at which the chunk is over.
//! So the library is not called while iterations follow one another.

use profile::descriptor::Descriptor;
use trace::schedule::{How, Kind};

use super::omp;
use super::records::Frame;
use super::records::Region;
use super::records::frame::Role;
use super::shared_loop::size_of_chunks;
use super::thread::Thread;
use crate::measure::trace::{Chunk, LoopRecord};
use trace::replay::MOST_LEVELS;

mod rows;

use rows::{Row, Rows};

/// The part of a record that describes the loop as a whole; `struct romp_loop` of `pomp_lib.h` without its
/// levels. Where the comment names nobody else, the library sets the field.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Head {
    /// How many levels follow, plus [`WITH_ROWS`] if rows follow behind [`MOST_LEVELS`] levels. The
    /// program sets it.
    levels: i64,
    /// The chunk size that the schedule clause asks for, 0 if none is known. The program sets it;
    /// the library corrects it.
    chunk_size: i64,
    /// Whether chunks are traced. If requests for chunks mark the loop, it is the number of teams
    /// that are around it, plus one. The program sets it to 0.
    is_traced: i64,
    /// First iteration of the chunk, or -1 before the first.
    chunk_first: i64,
    /// Not 0: the runtime has handed another chunk to the thread. The program sets it to 0.
    asked: i64,
    /// Iteration of the latest call.
    latest: i64,
    /// Value of the innermost variable at the latest call.
    latest_value: i64,
    /// The address of the record of the loop around it that requests for chunks mark; 0 if none.
    around: i64,
}

/// One of the collapsed loops; `struct romp_loop_level` of `pomp_lib.h`. The program sets all
/// fields.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Level {
    /// The first value of the loop variable.
    first: i64,
    bound: i64,
    /// The value that would come second. `Loop::prepare` replaces it with the step.
    second_then_step: i64,
    /// How the bound is compared. `Loop::prepare` replaces it with the number of iterations.
    relation_then_count: i64,
    /// The loop variable at the latest call.
    value: i64,
}

/// The record of a loop.
pub(crate) struct Loop<'a> {
    head: &'a mut Head,
    /// At least one.
    levels: &'a mut [Level],
    /// One for each level, or none at all if no bounds depend on a loop around them.
    rows: &'a mut [Row],
}

/// Bounds of an inner loop depend on one around it.
const WITH_ROWS: i64 = 1 << 8;

impl<'a> Loop<'a> {
    /// The record at a place. None if the place is null.
    ///
    /// # Safety
    /// The place is null or that of a record with as many levels and rows as it says. Nobody else uses the
    /// record for the lifetime, which the caller chooses.
    #[inline(always)]
    pub(crate) unsafe fn at(place: *mut Head) -> Option<Self> {
        // SAFETY: as the caller promises. The levels are behind the head, not in it.
        unsafe {
            let levels = place.as_ref()?.levels;
            let has_rows = levels & WITH_ROWS != 0;
            let levels = usize::try_from(levels & !WITH_ROWS).ok()?;
            let levels = levels.clamp(1, MOST_LEVELS);
            let first = place.add(1).cast::<Level>();
            let rows: &mut [Row] = match has_rows {
                true => {
                    let rows = first.add(MOST_LEVELS).cast::<Row>();
                    std::slice::from_raw_parts_mut(rows, levels)
                }
                false => &mut [],
            };
            Some(Self {
                head: &mut *place,
                levels: std::slice::from_raw_parts_mut(first, levels),
                rows,
            })
        }
    }
}

impl Loop<'_> {
    fn innermost(&self) -> Level {
        self.levels.last().copied().unwrap_or_default()
    }

    /// The step of the innermost loop.
    pub(crate) fn step(&self) -> i64 {
        self.innermost().second_then_step
    }

    /// A value that the innermost variable never has. Where its first value depends on a loop
    /// around it, no other is in front of all first values.
    fn never(&self) -> i64 {
        match self.rows.is_empty() {
            true => self.innermost().first.wrapping_sub(self.step()),
            false => i64::MIN,
        }
    }

    /// Computes the step and the number of iterations of each level from what the program has set.
    /// Returns a value that the innermost variable never has.
    pub(crate) fn prepare(&mut self) -> i64 {
        let mut relations = [0; MOST_LEVELS];
        for (level, kept) in self.levels.iter_mut().zip(&mut relations) {
            let (first, relation) = (level.first, level.relation_then_count);
            *kept = relation;
            let step = step(first, level.second_then_step, relation);
            let iterations = iterations(first, level.bound, step, relation);
            level.second_then_step = step;
            level.relation_then_count = iterations.cast_signed();
        }
        self.nest().prepare(relations);
        self.head.chunk_first = -1;
        self.head.asked = 0;
        self.head.latest = 0;
        self.never()
    }

    fn nest(&mut self) -> Rows<'_> {
        Rows {
            levels: self.levels,
            rows: self.rows,
        }
    }

    /// The number of all iterations; none if counting them would take too long.
    fn count(&mut self) -> Option<u64> {
        if !self.rows.is_empty() {
            return self.nest().all();
        }
        let counts = self.levels.iter();
        let counts = counts.map(|level| level.relation_then_count.cast_unsigned());
        Some(counts.fold(1, u64::saturating_mul))
    }

    /// Whether chunks are traced.
    pub(crate) fn is_traced(&self) -> bool {
        self.head.is_traced != 0
    }

    /// Whether only requests show where a chunk ends.
    pub(crate) fn wants_requests(&self) -> bool {
        self.is_traced() && self.head.chunk_size <= 0
    }

    /// The number of the iteration to which the values of the variables belong.
    fn iteration(&mut self) -> i64 {
        if !self.rows.is_empty() {
            return self.nest().iteration();
        }
        self.levels.iter().fold(0, |number, level| {
            let distance = level.value.wrapping_sub(level.first);
            let ahead = distance.checked_div(level.second_then_step).unwrap_or(0);
            let outer = number.wrapping_mul(level.relation_then_count);
            outer.wrapping_add(ahead)
        })
    }

    /// The iteration that would be next, if the innermost variable were `next`.
    fn after(&self, next: i64) -> i64 {
        let distance = next.wrapping_sub(self.head.latest_value);
        let ahead = distance.checked_div(self.step()).unwrap_or(0);
        self.head.latest.wrapping_add(ahead)
    }

    /// The value of the innermost variable at which the chunk is over, if the chunk ends in this
    /// row; otherwise a value that the variable never has.
    pub(crate) fn stop(&self) -> i64 {
        let size = self.head.chunk_size;
        if size <= 0 {
            return self.never();
        }
        let end = self.head.chunk_first.wrapping_add(size);
        let left = end.wrapping_sub(self.head.latest);
        let distance = left.wrapping_mul(self.step());
        self.head.latest_value.wrapping_add(distance)
    }

    /// The program calls this because the variables differ from the next ones (`next` is the
    /// innermost one's value), because the chunk is over, or because another one was handed out.
    /// Returns the new chunk, if one begins.
    pub(crate) fn turn(&mut self, next: i64) -> Option<Chunk> {
        let number = self.iteration();
        let (first, size) = (self.head.chunk_first, self.head.chunk_size);
        let end = if first < 0 { 0 } else { self.after(next) };
        self.head.latest_value = self.innermost().value;
        self.head.latest = number;
        let is_asked = std::mem::take(&mut self.head.asked) != 0;
        let goes_on = first >= 0 && number == end && !is_asked;
        if goes_on && (size <= 0 || number - first < size) {
            return None;
        }
        let length = if first < 0 {
            0
        } else {
            end.wrapping_sub(first)
        };
        self.head.chunk_first = number;
        Some(Chunk {
            length: u64::try_from(length).unwrap_or(0),
            gap: number.wrapping_sub(end),
            first: u64::try_from(number).unwrap_or(0),
        })
    }

    /// The loop is over for this thread: how many iterations its last chunk
    /// had; none if it had no chunk.
    pub(crate) fn last(&self, next: i64) -> Option<u64> {
        let first = self.head.chunk_first;
        if first < 0 {
            return None;
        }
        u64::try_from(self.after(next).wrapping_sub(first)).ok()
    }
}

/// The use of a loop's record by requests for chunks. The thread of the loop may be using the record, too.
impl Head {
    /// # Safety
    /// The place is that of the record of a loop, and nobody else uses it meanwhile.
    pub(crate) unsafe fn stand_within(place: *mut Self, around: *mut Self, level: i32) {
        // SAFETY: as the caller promises.
        unsafe {
            (*place).around = around.expose_provenance().cast_signed() as i64;
            (*place).is_traced = i64::from(level) + 1;
        }
    }

    /// # Safety
    /// The place is that of the record of a loop, for which `stand_within` was called.
    pub(crate) unsafe fn around(place: *mut Self) -> *mut Self {
        // SAFETY: as the caller promises.
        let around = unsafe { (*place).around };
        std::ptr::with_exposed_provenance_mut(around.cast_unsigned() as usize)
    }

    /// Another chunk was handed to the thread in this many teams, within each other.
    ///
    /// # Safety
    /// As in `around`.
    pub(crate) unsafe fn mark(place: *mut Self, level: i32) {
        // SAFETY: as the caller promises.
        unsafe {
            if (*place).is_traced == i64::from(level) + 1 {
                (*place).asked = 1;
            }
        }
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

/// The last value that a bound allows.
fn last_allowed(upper: i128, sign: i128, relation: i64) -> i128 {
    match relation {
        LESS_OR_EQUAL | GREATER_OR_EQUAL | UNTIL => upper,
        _ => upper - sign,
    }
}

fn iterations(lower: i64, upper: i64, step: i64, relation: i64) -> u64 {
    let (lower, upper, step) = (i128::from(lower), i128::from(upper), i128::from(step));
    let sign = step.signum();
    let last = last_allowed(upper, sign, relation);
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
        record: &mut Loop<'_>,
        at: u64,
    ) {
        if !self.trace.is_on() {
            return;
        }
        let Some(count) = record.count() else {
            return;
        };
        let (how, size) = schedule(&region.descriptor, record.head.chunk_size);
        record.head.is_traced = 1;
        record.head.chunk_size = size;
        let member = std::iter::successors(self.top(), |frame| frame.below())
            .find(|frame| !frame.role().is_construct())
            .filter(|frame| frame.role() == Role::Member);
        let (label, number) = match member {
            Some(member) => (member.label.get(), member.next_loop()),
            None => (self.trace.label(), 0),
        };
        let Some((outermost, inner)) = record.levels.split_first() else {
            return;
        };
        let event = LoopRecord {
            label,
            number,
            lower: outermost.first,
            upper: outermost.bound,
            step: outermost.second_then_step,
            how: How {
                team: u32::try_from(omp::omp_get_num_threads()).unwrap_or(1),
                levels: record.levels.len() as u8,
                ..how
            },
            chunk: u64::try_from(size).unwrap_or(0),
            count,
        };
        // Bounds that depend on a loop around them are not one pair of numbers.
        let inner = if record.rows.is_empty() { inner } else { &[] };
        for level in inner {
            // `prepare` has made these the step and the number of iterations.
            let (step, count) = (level.second_then_step, level.relation_then_count);
            self.trace_level([level.first, level.bound, step, count], at);
        }
        self.trace_loop(region, event, at);
    }
}

impl Frame {
    /// The number of the next loop of a member.
    pub(super) fn next_loop(&self) -> u64 {
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
    let size = size_of_chunks(kind, size).cast_signed();
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
    use crate::measure::chunk_requests::{begin_requests, end_requests, handed_out, look};
    use crate::measure::request_count::is_looked_at;

    /// The memory of a record.
    struct Memory(Head, Vec<Level>, Vec<Row>);

    impl Memory {
        fn record(&mut self) -> Loop<'_> {
            Loop {
                head: &mut self.0,
                levels: &mut self.1,
                rows: &mut self.2,
            }
        }
    }

    fn memory(chunk_size: i64, levels: &[(i64, i64, i64, i64)]) -> Memory {
        let head = Head {
            levels: levels.len() as i64,
            chunk_size,
            ..Head::default()
        };
        let levels = levels.iter().map(|(first, bound, second, relation)| Level {
            first: *first,
            bound: *bound,
            second_then_step: *second,
            relation_then_count: *relation,
            value: 0,
        });
        Memory(head, levels.collect(), Vec::new())
    }

    /// Programs were built with these places.
    #[test]
    fn fields_stand_where_they_always_stood() {
        let mut words: Vec<i64> = (0..8 + 2 * 5).collect();
        words[0] = 2;
        // SAFETY: a record with two levels.
        let record = unsafe { Loop::at(words.as_mut_ptr().cast()) }.unwrap();
        let Head {
            chunk_size,
            is_traced,
            chunk_first,
            latest,
            latest_value,
            ..
        } = *record.head;
        let head = [chunk_size, is_traced, chunk_first, latest, latest_value];
        assert_eq!(head, [1, 2, 3, 5, 6]);
        let inner = record.innermost();
        let given = [inner.first, inner.bound, inner.value];
        assert_eq!(given, [13, 14, 17]);
        let changed = [inner.second_then_step, inner.relation_then_count];
        assert_eq!(changed, [15, 16]);
    }

    /// The words of a record of one loop over eight iterations, without a chunk size.
    fn eight_iterations() -> Vec<i64> {
        vec![1, 0, 0, 0, 0, 0, 0, 0, 0, 8, 1, LESS, 0]
    }

    /// Runs `action` on the record at a place, as each call of the program does.
    fn at<R>(place: *mut Head, action: impl FnOnce(&mut Loop<'_>) -> R) -> R {
        // SAFETY: the tests give places of records, which nobody else uses meanwhile.
        action(&mut unsafe { Loop::at(place) }.unwrap())
    }

    /// The chunk that begins at a value that was expected, if one does.
    fn expected(place: *mut Head, value: i64) -> Option<Chunk> {
        at(place, |record| {
            record.levels[0].value = value;
            record.turn(value)
        })
    }

    #[test]
    fn a_request_begins_a_chunk_of_the_innermost_loop_that_wants_it() {
        let mut words = [eight_iterations(), eight_iterations()];
        let [around, within] = words
            .each_mut()
            .map(|words| words.as_mut_ptr().cast::<Head>());
        for place in [around, within] {
            at(place, |record| record.prepare());
            assert!(expected(place, 0).is_some_and(|chunk| chunk.first == 0));
        }
        // SAFETY: the records stay where they are.
        unsafe { begin_requests(around) };
        assert!(is_looked_at());
        look();
        // SAFETY: as above.
        unsafe { begin_requests(within) };
        handed_out();
        let chunk = expected(within, 1).map(|chunk| (chunk.length, chunk.gap, chunk.first));
        assert_eq!(chunk, Some((1, 0, 1)));
        assert!(expected(within, 2).is_none());
        assert!(expected(around, 1).is_none());
        // SAFETY: as above.
        unsafe { end_requests(within) };
        handed_out();
        assert!(expected(within, 3).is_none());
        assert!(expected(around, 2).is_some());
        // SAFETY: as above.
        unsafe { end_requests(around) };
        handed_out();
        assert!(expected(around, 3).is_none());
        assert!(!is_looked_at());
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
            let mut memory = memory(0, &[level]);
            memory.record().prepare();
            assert_eq!(memory.record().count(), Some(count), "{level:?}");
        }
    }

    /// Runs the iterations as an instrumented program does.
    fn run(memory: &mut Memory, executed: &[i64]) -> Vec<(u64, u64)> {
        let mut record = memory.record();
        let mut next = record.prepare();
        let step = record.step();
        let (mut stop, mut chunks) = (next, Vec::new());
        let mut first = None;
        for value in executed {
            if *value != next || *value == stop {
                record.levels[0].value = *value;
                if let Some(chunk) = record.turn(next) {
                    chunks.extend(first.map(|first| (first, chunk.length)));
                    first = Some(chunk.first);
                }
                stop = record.stop();
            }
            next = value + step;
        }
        chunks.extend(first.zip(record.last(next)));
        chunks
    }

    #[test]
    fn chunks_are_told_apart_by_gaps_and_sizes() {
        let mut by_two = memory(2, &[(0, 8, 1, LESS)]);
        assert_eq!(
            run(&mut by_two, &[0, 1, 2, 3, 6, 7]),
            [(0, 2), (2, 2), (6, 2)]
        );
        let mut any = memory(0, &[(10, 0, 9, GREATER)]);
        assert_eq!(run(&mut any, &[10, 9, 8, 3, 2]), [(0, 3), (7, 2)]);
        assert_eq!(run(&mut memory(0, &[(10, 0, 9, GREATER)]), &[]), []);
    }

    #[test]
    fn rows_of_collapsed_loops_are_one_chunk() {
        let mut memory = memory(0, &[(0, 3, 1, LESS), (0, 2, 1, LESS)]);
        let mut record = memory.record();
        record.prepare();
        assert_eq!(record.count(), Some(6));
        let mut chunks = Vec::new();
        let mut next = -1;
        for (i, j) in [(0, 1), (1, 0), (1, 1), (2, 1)] {
            (record.levels[0].value, record.levels[1].value) = (i, j);
            if j != next || j == 0 || (i, j) == (2, 1) {
                chunks.extend(record.turn(next));
            }
            next = j + 1;
        }
        let starts: Vec<_> = chunks.iter().map(|c| (c.first, c.length, c.gap)).collect();
        assert_eq!(starts, [(1, 0, 1), (5, 3, 1)]);
        assert_eq!(record.last(next), Some(1));
    }
}
