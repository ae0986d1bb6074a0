//! A cell: the cost of some neighbouring iterations. It holds their sum and a sample of single
//! executions; one interruption by the operating system does not change the sample's median.

/// The number of executions that are kept as a sample.
const KEPT: usize = 8;

/// Some neighbouring iterations.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Cell {
    /// How many iterations were executed here, in all instances.
    pub executed: f64,
    /// How long they took, in ticks.
    pub ticks: f64,
    /// Ticks of one iteration, in the executions that are kept.
    sample: [f32; KEPT],
    kept: u8,
    /// One of this many executions is kept, as a power of two.
    sparseness: u8,
    /// Executions, each one chunk or a part of one.
    seen: u32,
}

impl Cell {
    /// A chunk, or a part of it, was executed here: this many iterations in this many ticks.
    pub(super) fn execute(&mut self, iterations: f64, ticks: f64) {
        self.executed += iterations;
        self.ticks += ticks;
        if iterations <= 0.0 {
            return;
        }
        if self.is_next() && usize::from(self.kept) == KEPT {
            self.thin_out();
        }
        if self.is_next() {
            self.sample[usize::from(self.kept)] = (ticks / iterations) as f32;
            self.kept += 1;
        }
        self.seen = self.seen.wrapping_add(1);
    }

    fn is_next(&self) -> bool {
        self.seen.trailing_zeros() >= u32::from(self.sparseness)
    }

    /// Drops every other execution, and keeps only half as many from now on.
    fn thin_out(&mut self) {
        for at in 0..KEPT / 2 {
            self.sample[at] = self.sample[2 * at];
        }
        self.kept = (KEPT / 2) as u8;
        self.sparseness += 1;
    }

    /// Ticks of one iteration in the median execution; if two are in the middle, in the smaller
    /// one.
    #[must_use]
    pub fn cost(&self) -> f64 {
        let mut sorted = self.sample;
        let sorted = &mut sorted[..usize::from(self.kept)];
        sorted.sort_unstable_by(f32::total_cmp);
        let middle = sorted.len().saturating_sub(1) / 2;
        sorted.get(middle).copied().map_or(0.0, f64::from)
    }

    /// The ticks that it would have taken if each iteration had cost the median.
    #[must_use]
    pub fn typical(&self) -> f64 {
        self.cost() * self.executed
    }

    /// Two neighbouring cells become one.
    pub(super) fn join(&mut self, other: &Self) {
        self.executed += other.executed;
        self.ticks += other.ticks;
        let [one, more] = [*self, *other];
        let both = |at: usize| [one.sample(at), more.sample(at)];
        let both = (0..KEPT).flat_map(both).flatten();
        self.kept = 0;
        for (place, cost) in self.sample.iter_mut().zip(both) {
            *place = cost;
            self.kept += 1;
        }
        self.sparseness = one.sparseness.max(more.sparseness);
        self.seen = one.seen.wrapping_add(more.seen);
    }

    fn sample(&self, at: usize) -> Option<f32> {
        self.sample[..usize::from(self.kept)].get(at).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_interruption_does_not_change_what_an_iteration_costs() {
        for interrupted in [0, 1, 50, 99] {
            let mut cell = Cell::default();
            for at in 0..100 {
                let ticks = if at == interrupted { 1e9 } else { 20.0 };
                cell.execute(2.0, ticks);
            }
            assert_eq!(cell.cost(), 10.0);
            assert_eq!((cell.executed, cell.ticks), (200.0, 1e9 + 99.0 * 20.0));
        }
    }

    #[test]
    fn many_executions_are_sampled_over_the_whole_run() {
        let mut cell = Cell::default();
        for at in 0..1000 {
            cell.execute(1.0, f64::from(at));
        }
        let kept = &cell.sample[..usize::from(cell.kept)];
        assert!(kept.len() >= KEPT / 2 && kept.iter().any(|cost| *cost >= 500.0));
        assert_eq!(kept[0], 0.0);
    }

    #[test]
    fn neighbours_that_become_one_keep_the_costs_of_both() {
        let (mut one, mut other) = (Cell::default(), Cell::default());
        for _ in 0..3 {
            one.execute(1.0, 10.0);
            other.execute(1.0, 30.0);
        }
        one.join(&other);
        assert_eq!((one.executed, one.ticks, one.cost()), (6.0, 120.0, 10.0));
        assert_eq!(usize::from(one.kept), 6);
    }
}
