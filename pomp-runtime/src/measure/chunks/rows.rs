//! Numbers of iterations of collapsed loops whose bounds depend on a loop around them.
//!
//! The bounds are linear in one outer variable. A row is one execution of an inner loop; how many
//! iterations are in front of it is a sum over the rows before. A thread keeps the sum of its
//! latest row and walks on from there. Threads go through their iterations in order, so all of a
//! loop's rows cost a thread one walk.

use trace::replay::MOST_LEVELS;

use super::{Level, UNTIL, iterations, last_allowed};

/// The part of a record that describes a loop whose bounds may depend on a loop around it; `struct romp_row` of
/// `pomp_lib.h`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Row {
    /// The loop on whose variable the bounds depend, counted from one; 0 if they do not. The
    /// program sets it.
    outer: i64,
    /// The first value, where the variable of that loop has its second value. The program sets it.
    /// `prepare` replaces it with the change for each unit of that variable.
    first_then_slope: i64,
    /// The bound, in the same way.
    bound_then_slope: i64,
    /// The iteration of this loop at which the latest walk ended.
    at: i64,
    /// The iterations in front of it, of this loop and those within it.
    before: i64,
}

/// Nests with more rows are not traced: the walk would take longer than a user waits.
const MOST_ROWS: u64 = 1 << 24;

/// The loops of a nest, outermost first, and their rows.
pub(super) struct Rows<'a> {
    pub(super) levels: &'a mut [Level],
    pub(super) rows: &'a mut [Row],
}

/// The values of the variables of the loops around one.
type Values = [i64; MOST_LEVELS];

impl Rows<'_> {
    /// Makes slopes of the second values, and inclusive bounds of those that depend. The levels are
    /// prepared behind it, except for `relations`, which are those that the program set.
    pub(super) fn prepare(&mut self, relations: Values) {
        for (index, relation) in relations.iter().enumerate().take(self.rows.len()) {
            let row = &mut self.rows[index];
            (row.at, row.before) = (0, 0);
            let outer = usize::try_from(row.outer - 1).ok();
            // Only a loop around it can be meant.
            let outer = outer.filter(|outer| *outer < index);
            row.outer = outer.map_or(0, |outer| outer as i64 + 1);
            let Some(outer) = outer else { continue };
            let by = self.levels[outer].second_then_step;
            let level = &mut self.levels[index];
            let slope = |second: i64, first: i64| {
                let change = second.wrapping_sub(first);
                change.checked_div(by).unwrap_or(0)
            };
            row.first_then_slope = slope(row.first_then_slope, level.first);
            row.bound_then_slope = slope(row.bound_then_slope, level.bound);
            let sign = level.second_then_step.signum();
            let last = last_allowed(level.bound.into(), sign.into(), *relation);
            level.bound = i64::try_from(last).unwrap_or(level.bound);
        }
    }

    /// The loop on whose variable the bounds of a loop depend.
    fn outer(&self, level: usize) -> Option<usize> {
        usize::try_from(self.rows[level].outer - 1).ok()
    }

    /// Whether the bounds of a loop within this one depend on its variable.
    fn is_outer(&self, level: usize) -> bool {
        (level + 1..self.levels.len()).any(|inner| self.outer(inner) == Some(level))
    }

    /// The first value of a loop, with these values of the loops around it.
    fn first(&self, level: usize, values: &Values) -> i64 {
        let (first, slope) = (self.levels[level].first, self.rows[level].first_then_slope);
        first.wrapping_add(slope.wrapping_mul(self.distance(level, values)))
    }

    /// How far the variable on which a loop depends is from its first value.
    fn distance(&self, level: usize, values: &Values) -> i64 {
        self.outer(level).map_or(0, |outer| {
            values[outer].wrapping_sub(self.levels[outer].first)
        })
    }

    /// The iterations of a loop, with these values of the loops around it.
    fn count(&self, level: usize, values: &Values) -> u64 {
        let head = &self.levels[level];
        if self.rows[level].outer == 0 {
            return head.relation_then_count.cast_unsigned();
        }
        let rise = self.rows[level].bound_then_slope;
        let bound = rise.wrapping_mul(self.distance(level, values));
        let bound = head.bound.wrapping_add(bound);
        iterations(
            self.first(level, values),
            bound,
            head.second_then_step,
            UNTIL,
        )
    }

    /// The iterations of a loop and those within it, with these values of the loops around it.
    /// None if there are more rows than these.
    fn below(&self, level: usize, values: &Values, most_rows: &mut u64) -> Option<u64> {
        if level == self.levels.len() {
            return Some(1);
        }
        let count = self.count(level, values);
        let mut values = *values;
        values[level] = self.first(level, &values);
        if !self.is_outer(level) {
            return Some(count.saturating_mul(self.below(level + 1, &values, most_rows)?));
        }
        *most_rows = most_rows.checked_sub(count)?;
        let mut sum = 0u64;
        for _ in 0..count {
            sum = sum.saturating_add(self.below(level + 1, &values, most_rows)?);
            values[level] = values[level].wrapping_add(self.levels[level].second_then_step);
        }
        Some(sum)
    }

    /// The number of all iterations; none if there are too many rows to count them.
    pub(super) fn all(&self) -> Option<u64> {
        self.below(0, &Values::default(), &mut MOST_ROWS.clone())
    }

    /// The number of the iteration to which the values of the variables belong.
    pub(super) fn iteration(&mut self) -> i64 {
        let mut values = Values::default();
        let mut number = 0i64;
        let mut is_other_row = false;
        for level in 0..self.levels.len() {
            let head = self.levels[level];
            let distance = head.value.wrapping_sub(self.first(level, &values));
            let at = distance.checked_div(head.second_then_step).unwrap_or(0);
            if is_other_row {
                (self.rows[level].at, self.rows[level].before) = (0, 0);
            }
            is_other_row |= self.rows[level].at != at;
            let before = self.walk(level, at, &values);
            (self.rows[level].at, self.rows[level].before) = (at, before);
            number = number.wrapping_add(before);
            values[level] = head.value;
        }
        number
    }

    /// The iterations in front of an iteration of a loop, from those in front of the latest.
    fn walk(&self, level: usize, at: i64, values: &Values) -> i64 {
        let mut values = *values;
        let first = self.first(level, &values);
        let step = self.levels[level].second_then_step;
        let within = |values: &Values| {
            let within = self.below(level + 1, values, &mut MOST_ROWS.clone());
            within.unwrap_or(0).cast_signed()
        };
        if !self.is_outer(level) {
            values[level] = first;
            return at.wrapping_mul(within(&values));
        }
        let Row {
            at: from, before, ..
        } = self.rows[level];
        let mut before = before;
        for passed in from.min(at)..from.max(at) {
            values[level] = first.wrapping_add(passed.wrapping_mul(step));
            let row = within(&values);
            before = before.wrapping_add(if at > from { row } else { row.wrapping_neg() });
        }
        before
    }
}

#[cfg(test)]
mod tests {
    use super::super::{GREATER, LESS, LESS_OR_EQUAL, step};
    use super::*;

    /// A loop of a nest: its bounds as functions of the variables around it, step and relation.
    type Head = (fn(&[i64]) -> [i64; 2], i64, i64, i64);

    /// The rows of a nest as a program would state them: outer loop (from 1), and each level.
    fn stated(nest: &[Head]) -> (Vec<Level>, Vec<Row>) {
        let mut firsts = Vec::new();
        let (mut levels, mut rows) = (Vec::new(), Vec::new());
        for (bounds, by, relation, outer) in nest {
            let [first, bound] = bounds(&firsts);
            levels.push(Level {
                first,
                bound,
                second_then_step: first + by,
                relation_then_count: *relation,
                value: 0,
            });
            let mut seconds = firsts.clone();
            if let Ok(outer) = usize::try_from(outer - 1) {
                seconds[outer] += nest[outer].1;
            }
            let [first_then_slope, bound_then_slope] = bounds(&seconds);
            rows.push(Row {
                outer: *outer,
                first_then_slope,
                bound_then_slope,
                ..Row::default()
            });
            firsts.push(first);
        }
        (levels, rows)
    }

    /// The values of all iterations, in order.
    fn executed(nest: &[Head], around: &[i64], all: &mut Vec<Vec<i64>>) {
        let Some(((bounds, by, relation, _), inner)) = nest.split_first() else {
            all.push(around.to_vec());
            return;
        };
        let [mut value, bound] = bounds(around);
        while match *relation {
            LESS => value < bound,
            LESS_OR_EQUAL => value <= bound,
            GREATER => value > bound,
            _ => value >= bound,
        } {
            executed(inner, &[around, &[value]].concat(), all);
            value += by;
        }
    }

    /// Triangles up and down, rows without iterations, a loop that does not depend between two
    /// that do, and loops that depend on one another in a chain.
    const NESTS: &[&[Head]] = &[
        &[(|_| [0, 9], 1, LESS, 0), (|v| [v[0], 9], 1, LESS, 1)],
        &[
            (|_| [10, 0], -3, GREATER, 0),
            (|v| [2 * v[0] + 1, 2 - v[0]], -2, 3, 1),
        ],
        &[
            (|_| [3, 12], 1, LESS_OR_EQUAL, 0),
            (|v| [9, v[0]], 2, LESS, 1),
        ],
        &[
            (|_| [2, 7], 1, LESS, 0),
            (|_| [0, 3], 1, LESS, 0),
            (|v| [0, v[0]], 1, LESS, 1),
        ],
        &[
            (|_| [0, 6], 1, LESS, 0),
            (|v| [-v[0], v[0]], 2, LESS_OR_EQUAL, 1),
            (|v| [v[1], 3], 1, LESS, 2),
        ],
        &[
            (|_| [0, 3], 1, LESS, 0),
            (|_| [0, 5], 1, LESS, 0),
            (|v| [3, v[1]], -1, GREATER, 2),
            (|v| [v[0], 4], 1, LESS, 1),
        ],
    ];

    /// A nest as the library prepares it.
    fn prepared(nest: &[Head]) -> (Vec<Level>, Vec<Row>) {
        let (mut levels, mut rows) = stated(nest);
        let mut relations = Values::default();
        for (level, kept) in levels.iter_mut().zip(&mut relations) {
            *kept = level.relation_then_count;
            let by = step(level.first, level.second_then_step, *kept);
            let count = iterations(level.first, level.bound, by, *kept);
            level.second_then_step = by;
            level.relation_then_count = count.cast_signed();
        }
        let (levels_of, rows_of) = (&mut levels, &mut rows);
        Rows {
            levels: levels_of,
            rows: rows_of,
        }
        .prepare(relations);
        (levels, rows)
    }

    #[test]
    fn iterations_of_rows_have_the_numbers_of_their_order() {
        for (number, nest) in NESTS.iter().enumerate() {
            let mut all = Vec::new();
            executed(nest, &[], &mut all);
            assert!(all.len() >= 4, "{number}");
            let (mut levels, mut rows) = prepared(nest);
            let mut nest = Rows {
                levels: &mut levels,
                rows: &mut rows,
            };
            assert_eq!(nest.all(), Some(all.len() as u64), "{number}");
            // In order, backwards, and with leaps.
            let leaps = (0..all.len()).map(|at| at * 7 % all.len());
            let order = (0..all.len()).chain((0..all.len()).rev()).chain(leaps);
            for at in order {
                for (level, value) in nest.levels.iter_mut().zip(&all[at]) {
                    level.value = *value;
                }
                assert_eq!(nest.iteration(), at as i64, "{number}: {:?}", all[at]);
            }
        }
    }

    #[test]
    fn nests_with_too_many_rows_are_not_counted() {
        let nest: &[Head] = &[
            (|_| [0, 1 << 40], 1, LESS, 0),
            (|v| [v[0], 1 << 40], 1, LESS, 1),
        ];
        let (mut levels, mut rows) = prepared(nest);
        let nest = Rows {
            levels: &mut levels,
            rows: &mut rows,
        };
        assert_eq!(nest.all(), None);
    }
}
