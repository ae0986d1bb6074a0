//! Sorting with little machine code.
//!
//! `slice::sort_by_key` makes several kilobytes of code for each type and key. The measurement
//! library is linked with every program, and sorts some dozens of short lists for its report.
//! The functions here share their code among all types. They are stable, too.

use std::cmp::Ordering;

/// Sorts by a key.
pub fn sort_by_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    sort_by(items, |a, b| key(a).cmp(&key(b)));
}

/// Sorts by a comparison function.
pub fn sort_by<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let mut order = argsort(items.len(), &|a, b| compare(&items[a], &items[b]));
    for place in 0..items.len() {
        // The item for this place may have been swapped away before: follow the swaps to its
        // current place.
        let mut from = order[place];
        while from < place {
            from = order[from];
        }
        order[place] = from;
        items.swap(place, from);
    }
}

/// The order of items that are identified by their indices. The first element is the index of
/// the smallest item.
#[must_use]
pub fn argsort(number: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..number).collect();
    order.sort_by(|a, b| compare(*a, *b));
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn as_the_standard_library_sorts(keys in proptest::collection::vec(0u8..20, 0..100)) {
            let mut ours: Vec<(u8, usize)> = keys.into_iter().zip(0..).collect();
            let mut theirs = ours.clone();
            sort_by_key(&mut ours, |(key, _)| std::cmp::Reverse(*key));
            theirs.sort_by_key(|(key, _)| std::cmp::Reverse(*key));
            prop_assert_eq!(ours, theirs);
        }
    }
}
