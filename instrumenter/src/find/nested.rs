//! Nested ranges, for finding those around an offset.

use std::ops::Range;

/// Ranges of which any two are nested or disjoint.
#[derive(Clone, Debug, Default)]
pub(in crate::find) struct Nested {
    /// Sorted by begin, outer ranges first. Each has its number in the original list, and the
    /// index of the range around it.
    ranges: Vec<(Range<usize>, usize, Option<usize>)>,
}

impl Nested {
    /// Ranges in any order.
    pub(in crate::find) fn new(ranges: impl IntoIterator<Item = Range<usize>>) -> Self {
        let numbered = ranges.into_iter().enumerate();
        let mut ranges: Vec<_> = numbered
            .map(|(number, range)| (range, number, None))
            .collect();
        // Of equal ranges, the first in the list counts as the innermost.
        ranges.sort_by_key(|(range, number, _)| {
            use std::cmp::Reverse;
            (range.start, Reverse(range.end), Reverse(*number))
        });
        let mut open: Vec<usize> = Vec::new();
        for at in 0..ranges.len() {
            let start = ranges[at].0.start;
            while open
                .last()
                .is_some_and(|outer| ranges[*outer].0.end <= start)
            {
                open.pop();
            }
            ranges[at].2 = open.last().copied();
            open.push(at);
        }
        Self { ranges }
    }

    /// The numbers of the ranges around an offset, innermost first.
    pub(in crate::find) fn around(&self, offset: usize) -> impl Iterator<Item = usize> {
        let begun = self
            .ranges
            .partition_point(|(range, ..)| range.start <= offset);
        let outer = |at: &usize| self.ranges[*at].2;
        std::iter::successors(begun.checked_sub(1), outer)
            .filter(move |at| self.ranges[*at].0.contains(&offset))
            .map(|at| self.ranges[at].1)
    }

    /// The number of the innermost range around an offset.
    pub(in crate::find) fn innermost(&self, offset: usize) -> Option<usize> {
        self.around(offset).next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_comes_first() {
        let nested = Nested::new([2..3, 1..5, 0..9, 6..8, 6..8]);
        let around = |at| nested.around(at).collect::<Vec<_>>();
        assert_eq!(around(2), [0, 1, 2]);
        assert_eq!(around(5), [2]);
        assert_eq!(around(7), [3, 4, 2]);
        assert_eq!(nested.innermost(9), None);
    }
}
