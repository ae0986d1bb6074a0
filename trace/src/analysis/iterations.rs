//! The cost of each iteration of a loop, over all instances of the loop.
//!
//! The time of a chunk is divided evenly among its iterations, so that costs are exact for
//! chunks of one iteration. The cost of an iteration is the median over the loop's instances:
//! one interruption by the operating system makes no iteration heavy. Memory is bounded: a
//! large iteration space is divided into cells of several iterations.

use std::collections::BTreeMap;

pub use super::cell::Cell;
use crate::read::{ReadError, Trace};
use crate::replay::{Chunk, Event, Level, Listener, LoopInstance, Open, replay};

/// The largest number of cells of a loop. Loops beyond the first [`LARGE_LOOPS`] have fewer cells.
const CELLS: usize = 4096;
const LARGE_LOOPS: usize = 128;
const FEW_CELLS: usize = 64;
/// An iteration is heavy if it costs more than this many times the usual iteration.
const HEAVY: f64 = 2.0;
/// The largest number of heavy ranges that are named.
const NAMED: usize = 8;

/// A loop in the source.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Loop {
    /// How often a team met it. Each member that was seen counts as its part of one.
    met: f64,
    /// Iterations of its largest instance.
    pub iterations: u64,
    /// Chunks of all instances.
    pub chunks: u64,
    /// Iterations of the largest chunk: its time is shared out evenly among them.
    pub largest_chunk: u64,
    /// The loops that it is made of, if all instances have the same.
    levels: Option<Vec<Level>>,
    /// Iterations in a cell.
    pub per_cell: u64,
    /// The cells, from the first iteration on.
    pub cells: Vec<Cell>,
    /// The largest number of cells.
    most_cells: usize,
}

/// Iterations that are more expensive than usual.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Heavy {
    /// Numbers of the first and the last, counted from 0.
    pub first: u64,
    /// The same if it is only one.
    pub last: u64,
    /// Their cost together.
    pub cell: Cell,
}

impl Loop {
    /// A new loop; `others` is the number of loops that are already known.
    fn new(others: usize) -> Self {
        Self {
            met: 0.0,
            iterations: 0,
            chunks: 0,
            largest_chunk: 0,
            levels: None,
            per_cell: 1,
            cells: Vec::new(),
            most_cells: if others < LARGE_LOOPS {
                CELLS
            } else {
                FEW_CELLS
            },
        }
    }

    /// How often it was executed by a team.
    #[must_use]
    pub fn instances(&self) -> u64 {
        self.met.round() as u64
    }

    /// Iterations that were executed, and the ticks that they took.
    #[must_use]
    pub fn total(&self) -> (f64, f64) {
        let sum = |of: fn(&Cell) -> f64| self.cells.iter().map(of).fold(0.0, |sum, one| sum + one);
        (sum(|cell| cell.executed), sum(|cell| cell.ticks))
    }

    /// The ticks that it would have taken if each iteration had cost its median. Any further time
    /// was spent in single slow executions.
    #[must_use]
    pub fn typical(&self) -> f64 {
        // The sum of nothing would be -0.
        self.cells
            .iter()
            .map(Cell::typical)
            .fold(0.0, |sum, one| sum + one)
    }

    /// The mean ticks of an iteration, if each iteration had cost its median.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.typical() / f64::max(self.total().0, 1.0)
    }

    /// The values of the loop variables in an iteration, from the outside in; none if
    /// they are not known.
    #[must_use]
    pub fn values(&self, iteration: u64) -> Option<Vec<i64>> {
        let mut rest = iteration;
        let mut values = Vec::new();
        for level in self.levels.as_ref()?.iter().rev() {
            values.push(level.value(rest % level.count.max(1))?);
            rest /= level.count.max(1);
        }
        values.reverse();
        Some(values)
    }

    /// Iterations that cost more than twice the median and more than the mean, the most expensive
    /// first. Neighbours of equal cost, such as those of one chunk, are named together.
    #[must_use]
    pub fn heavy(&self) -> Vec<Heavy> {
        let mut costs: Vec<f64> = self.executed().map(|(_, cell)| cell.cost()).collect();
        costs.sort_by(f64::total_cmp);
        let median = costs.get(costs.len() / 2).copied().unwrap_or_default();
        let least = f64::max(HEAVY * median, self.mean());
        let mut heavy: Vec<Heavy> = Vec::new();
        for (at, cell) in self.executed().filter(|(_, cell)| cell.cost() > least) {
            let first = at as u64 * self.per_cell;
            let end = first.saturating_add(self.per_cell).min(self.iterations);
            let last = end.saturating_sub(1).max(first);
            match heavy.last_mut() {
                Some(before)
                    if before.last + 1 == first
                        && (before.cell.cost() - cell.cost()).abs() <= cell.cost() * 0.01 =>
                {
                    before.last = last;
                    before.cell.join(cell);
                }
                _ => heavy.push(Heavy {
                    first,
                    last,
                    cell: *cell,
                }),
            }
        }
        heavy.sort_by(|one, other| other.cell.typical().total_cmp(&one.cell.typical()));
        heavy.truncate(NAMED);
        heavy
    }

    fn executed(&self) -> impl Iterator<Item = (usize, &Cell)> {
        let cells = self.cells.iter().enumerate();
        cells.filter(|(_, cell)| cell.executed > 0.0)
    }

    /// The most expensive cell of each of this many columns, in ticks an iteration.
    #[must_use]
    pub fn columns(&self, most: usize) -> Vec<f64> {
        let columns = most.min(self.cells.len());
        let mut costs = vec![0.0; columns];
        for (at, cell) in self.cells.iter().enumerate() {
            let column = at * columns / self.cells.len();
            costs[column] = f64::max(costs[column], cell.cost());
        }
        costs
    }

    fn meet(&mut self, instance: &LoopInstance) {
        let levels = levels(instance);
        self.levels = match self.met == 0.0 {
            true => levels,
            false => self
                .levels
                .take()
                .filter(|known| levels.as_ref() == Some(known)),
        };
        self.met += 1.0 / f64::from(instance.how.team.max(1));
        self.iterations = self.iterations.max(instance.count);
        while self.iterations.div_ceil(self.per_cell) > self.most_cells as u64 {
            self.coarsen();
        }
        let cells = self.iterations.div_ceil(self.per_cell) as usize;
        self.cells.resize(cells, Cell::default());
    }

    /// Joins each cell with its neighbour.
    fn coarsen(&mut self) {
        self.per_cell *= 2;
        let pairs = self.cells.chunks(2).map(|pair| {
            let mut both = pair[0];
            pair[1..].iter().for_each(|cell| both.join(cell));
            both
        });
        self.cells = pairs.collect();
    }

    fn executes(&mut self, chunk: &Chunk) {
        self.chunks = self.chunks.saturating_add(1);
        self.largest_chunk = self.largest_chunk.max(chunk.length);
        let each = chunk.end.saturating_sub(chunk.start) as f64 / chunk.length.max(1) as f64;
        // Iterations beyond the end of the loop have no cell.
        let end = chunk.first.saturating_add(chunk.length);
        let end = end.min(self.iterations);
        let mut at = chunk.first;
        while at < end {
            let cell = at / self.per_cell;
            let next = (cell + 1).saturating_mul(self.per_cell).min(end);
            let executed = (next - at) as f64;
            if let Some(cell) = self.cells.get_mut(cell as usize) {
                cell.execute(executed, executed * each);
            }
            at = next;
        }
    }
}

/// The loops that are collapsed into a loop, if they are known.
fn levels(instance: &LoopInstance) -> Option<Vec<Level>> {
    let all = std::iter::once(instance.outermost).chain(instance.inner.into_iter().flatten());
    let all: Vec<Level> = all.collect();
    (all.len() == usize::from(instance.how.levels.max(1))).then_some(all)
}

#[derive(Default)]
struct Collector {
    loops: BTreeMap<u32, Loop>,
}

impl Listener for Collector {
    fn event(&mut self, _time: u64, open: &[Open], event: &Event) {
        let Some(top) = open.last() else { return };
        match event {
            Event::Loop(instance) => {
                let others = self.loops.len();
                let known = self.loops.entry(top.region);
                known.or_insert_with(|| Loop::new(others)).meet(instance);
            }
            Event::Chunk(chunk) => {
                if let Some(known) = self.loops.get_mut(&top.region) {
                    known.executes(chunk);
                }
            }
            _ => {}
        }
    }
}

/// The loops of a trace whose chunks are in it, by their regions.
///
/// # Errors
/// If it cannot be read.
pub fn loops(trace: &Trace) -> Result<BTreeMap<u32, Loop>, ReadError> {
    let mut collector = Collector::default();
    for stream in trace.streams() {
        replay(trace, stream, &mut collector)?;
    }
    Ok(collector.loops)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::How;

    fn instance(count: u64) -> LoopInstance {
        LoopInstance {
            instance: (1, 1),
            outermost: Level {
                lower: 10,
                upper: 0,
                step: 3,
                count,
            },
            inner: [None; 3],
            how: How {
                team: 1,
                levels: 1,
                ..How::default()
            },
            chunk: 0,
            count,
        }
    }

    fn chunk(first: u64, length: u64, ticks: u64) -> Chunk {
        Chunk {
            instance: (1, 1),
            first,
            length,
            start: 1000,
            end: 1000 + ticks,
        }
    }

    #[test]
    fn expensive_iterations_are_named_by_number_and_value() {
        let mut known = Loop::new(0);
        for _ in 0..3 {
            known.meet(&instance(100));
            for at in 0..100 {
                let ticks = if at == 17 || at == 60 { 900 } else { 10 };
                known.executes(&chunk(at, 1, ticks));
            }
        }
        let heavy: Vec<(u64, u64)> = known.heavy().iter().map(|h| (h.first, h.last)).collect();
        assert_eq!(heavy, [(17, 17), (60, 60)]);
        assert_eq!(known.values(17), Some(vec![61]));
        assert_eq!(known.instances(), 3);
        let ticks = 3.0 * (2.0 * 900.0 + 98.0 * 10.0);
        assert_eq!(known.total(), (300.0, ticks));
        assert_eq!(known.typical(), ticks);
    }

    #[test]
    fn an_iteration_that_was_interrupted_once_is_not_heavy() {
        let mut known = Loop::new(0);
        for instance_number in 0..3 {
            known.meet(&instance(100));
            for at in 0..100 {
                let is_interrupted = (instance_number, at) == (1, 42);
                let ticks = if is_interrupted { 1_000_000 } else { 10 };
                known.executes(&chunk(at, 1, ticks));
            }
        }
        assert_eq!(known.heavy(), []);
        assert_eq!(known.typical(), 3000.0);
        assert_eq!(known.total(), (300.0, 2990.0 + 1e6));
    }

    #[test]
    fn a_loop_without_iterations_takes_no_time() {
        let mut known = Loop::new(0);
        known.meet(&instance(0));
        let times = [known.total().1, known.typical(), known.mean()];
        assert_eq!(times.map(|time| format!("{time:.1}")), ["0.0"; 3]);
    }

    #[test]
    fn numbers_that_no_loop_has_take_no_memory_and_no_time() {
        let mut known = Loop::new(LARGE_LOOPS);
        known.meet(&instance(u64::MAX));
        for (first, length) in [(0, u64::MAX), (u64::MAX, u64::MAX), (u64::MAX - 1, 1)] {
            known.executes(&chunk(first, length, 5));
        }
        assert!(known.cells.len() <= FEW_CELLS);
        assert!(known.heavy().len() <= NAMED);
        assert_eq!(known.values(u64::MAX - 1), None);
    }

    #[test]
    fn an_iteration_of_collapsed_loops_has_a_value_of_each_variable() {
        let mut found = instance(3 * 5);
        found.how.levels = 2;
        let mut known = Loop::new(0);
        known.meet(&found);
        assert_eq!(known.values(7), None, "the inner loop is not known");
        found.outermost.count = 3;
        found.inner[0] = Some(Level {
            lower: -1,
            upper: -11,
            step: -2,
            count: 5,
        });
        let mut known = Loop::new(0);
        known.meet(&found);
        assert_eq!(known.values(0), Some(vec![10, -1]));
        assert_eq!(known.values(7), Some(vec![13, -5]));
        assert_eq!(known.values(14), Some(vec![16, -9]));
    }

    #[test]
    fn the_iterations_of_one_chunk_are_named_together() {
        let mut known = Loop::new(0);
        known.meet(&instance(16));
        for at in 0..4 {
            known.executes(&chunk(at * 4, 4, if at == 2 { 4000 } else { 40 }));
        }
        let heavy: Vec<(u64, u64)> = known.heavy().iter().map(|h| (h.first, h.last)).collect();
        assert_eq!(heavy, [(8, 11)]);
    }

    #[test]
    fn a_large_loop_takes_bounded_memory_and_loses_nothing() {
        let mut known = Loop::new(0);
        known.meet(&instance(10));
        known.executes(&chunk(0, 10, 100));
        known.meet(&instance(1_000_000));
        known.executes(&chunk(0, 1_000_000, 5_000_000));
        assert!(known.cells.len() <= CELLS);
        let (executed, ticks) = known.total();
        assert!((executed - 1_000_010.0).abs() < 1e-3);
        assert!((ticks - 5_000_100.0).abs() < 1e-3);
        assert_eq!(known.columns(64).len(), 64);
    }
}
