//! The edit engine: it applies a set of edits to the original bytes, and gives the new text and
//! the map between both. It knows bytes and order, and nothing of OpenMP.
//!
//! Offsets are those of the original text. Several insertions at one offset are ordered by
//! their keys. All other edits must not overlap.

use std::ops::Range;

use crate::names;

/// The order of an insertion among those at the same offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Order {
    /// It closes something that began before: deeper ones come first.
    Close {
        /// The nesting depth of the closed part, negated.
        minus_depth: i32,
    },
    /// It opens something that follows: deeper ones come last.
    Open {
        /// The nesting depth of the opened part.
        depth: i32,
    },
}

impl Order {
    /// An insertion that closes something at this depth.
    #[must_use]
    pub fn close(depth: usize) -> Self {
        Self::Close {
            minus_depth: -i32::try_from(depth).unwrap_or(i32::MAX),
        }
    }

    /// An insertion that opens something at this depth.
    #[must_use]
    pub fn open(depth: usize) -> Self {
        Self::Open {
            depth: i32::try_from(depth).unwrap_or(i32::MAX),
        }
    }
}

/// One edit: `range` of the original is replaced by `text`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Edit {
    range: Range<usize>,
    order: Option<Order>,
    text: String,
}

impl Edit {
    /// The sort key: an insertion comes before a replacement at the same offset.
    fn key(&self) -> (usize, usize, Option<Order>, &str) {
        (self.range.start, self.range.end, self.order, &self.text)
    }
}

/// Edits of one text, in any order.
#[derive(Clone, Debug, Default)]
pub struct EditSet {
    edits: Vec<Edit>,
}

/// Why a set of edits can't be applied: an internal error of the caller.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// Two edits touch the same bytes.
    #[error("edits of bytes {first:?} and {second:?} overlap")]
    Overlap {
        /// The edit that comes first.
        first: Range<usize>,
        /// The other one.
        second: Range<usize>,
    },
    /// An edit is not within the text.
    #[error("an edit of bytes {range:?} is outside the text")]
    Outside {
        /// The edit's range.
        range: Range<usize>,
    },
}

/// An edit that was applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppliedEdit {
    /// The replaced bytes of the original.
    pub original: Range<usize>,
    /// The bytes of the new text that replace them.
    pub new: Range<usize>,
    /// The removed text.
    removed: Vec<u8>,
}

/// A new text, and the edits that led to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// The new text.
    pub text: Vec<u8>,
    /// The position map: the edits in the order of the text.
    pub edits: Vec<AppliedEdit>,
}

impl EditSet {
    /// Adds an insertion.
    pub fn insert(&mut self, at: usize, order: Order, text: String) {
        self.edits.push(Edit {
            range: at..at,
            order: Some(order),
            text,
        });
    }

    /// Adds a replacement; an empty text removes the range.
    pub fn replace(&mut self, range: Range<usize>, text: String) {
        self.edits.push(Edit {
            range,
            order: None,
            text,
        });
    }

    /// Applies all edits at once.
    ///
    /// # Errors
    /// If edits overlap, or reach beyond the end of the text.
    pub fn apply(mut self, original: &[u8]) -> Result<Applied, EditError> {
        self.edits.sort_by(|a, b| a.key().cmp(&b.key()));
        self.check(original.len())?;
        let mut applied = Applied {
            text: Vec::with_capacity(original.len()),
            edits: Vec::new(),
        };
        let mut from = 0;
        for edit in self.edits {
            applied
                .text
                .extend_from_slice(&original[from..edit.range.start]);
            let start = applied.text.len();
            applied.text.extend_from_slice(&names::bytes(&edit.text));
            applied.edits.push(AppliedEdit {
                new: start..applied.text.len(),
                removed: original[edit.range.clone()].to_vec(),
                original: edit.range.clone(),
            });
            from = edit.range.end;
        }
        applied.text.extend_from_slice(&original[from..]);
        Ok(applied)
    }

    fn check(&self, length: usize) -> Result<(), EditError> {
        let outside = |edit: &&Edit| edit.range.end > length || edit.range.start > edit.range.end;
        if let Some(edit) = self.edits.iter().find(outside) {
            return Err(EditError::Outside {
                range: edit.range.clone(),
            });
        }
        let overlap = self
            .edits
            .windows(2)
            .find(|pair| pair[0].range.end > pair[1].range.start);
        match overlap {
            Some([first, second]) => Err(EditError::Overlap {
                first: first.range.clone(),
                second: second.range.clone(),
            }),
            _ => Ok(()),
        }
    }
}

impl Applied {
    /// The original text, restored from the new text and the edits.
    #[must_use]
    pub fn strip_back(&self) -> Vec<u8> {
        let mut original = Vec::with_capacity(self.text.len());
        let mut from = 0;
        for edit in &self.edits {
            original.extend_from_slice(&self.text[from..edit.new.start]);
            original.extend_from_slice(&edit.removed);
            from = edit.new.end;
        }
        original.extend_from_slice(&self.text[from..]);
        original
    }

    /// Whether a byte of the original was removed.
    #[must_use]
    pub fn removes(&self, at: usize) -> bool {
        let behind = self.edits.partition_point(|edit| edit.original.end <= at);
        let edit = self.edits.get(behind);
        edit.is_some_and(|edit| edit.original.contains(&at))
    }

    /// The offset in the original of a byte of the new text, unless the byte
    /// was inserted.
    #[must_use]
    pub fn original_offset(&self, new: usize) -> Option<usize> {
        let behind = self.edits.partition_point(|edit| edit.new.start <= new);
        match behind.checked_sub(1).map(|at| &self.edits[at]) {
            Some(edit) if new < edit.new.end => None,
            Some(edit) => Some(edit.original.end + (new - edit.new.end)),
            None => Some(new),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn insertions_at_one_offset_close_before_they_open() {
        let mut edits = EditSet::default();
        edits.insert(1, Order::open(1), "[inner".into());
        edits.insert(1, Order::close(0), "outer]".into());
        edits.insert(1, Order::open(0), "[outer".into());
        edits.insert(1, Order::close(1), "inner]".into());
        let applied = edits.apply(b"ab").unwrap();
        assert_eq!(applied.text, b"ainner]outer][outer[innerb");
    }

    #[test]
    fn overlaps_are_refused_with_both_ranges() {
        let mut edits = EditSet::default();
        edits.replace(0..2, "x".into());
        edits.replace(1..3, "y".into());
        assert_eq!(
            edits.apply(b"abc"),
            Err(EditError::Overlap {
                first: 0..2,
                second: 1..3
            })
        );
        let mut edits = EditSet::default();
        edits.replace(2..4, String::new());
        assert_eq!(edits.apply(b"abc"), Err(EditError::Outside { range: 2..4 }));
    }

    /// Disjoint edits of a text, as (gap before, removed length, text).
    fn disjoint() -> impl Strategy<Value = Vec<(usize, usize, String)>> {
        proptest::collection::vec((0usize..5, 0usize..4, "[a-z]{0,4}"), 0..8)
    }

    fn edit_set(parts: &[(usize, usize, String)], length: usize) -> EditSet {
        let mut edits = EditSet::default();
        let mut at = 0;
        for (index, (gap, removed, text)) in parts.iter().enumerate() {
            let start = (at + gap).min(length);
            let end = (start + removed).min(length);
            match end > start {
                true => edits.replace(start..end, text.clone()),
                false => edits.insert(start, Order::open(index), text.clone()),
            }
            at = end;
        }
        edits
    }

    proptest! {
        #[test]
        fn no_edit_changes_nothing(text in proptest::collection::vec(any::<u8>(), 0..50)) {
            let applied = EditSet::default().apply(&text).unwrap();
            prop_assert_eq!(&applied.text, &text);
        }

        #[test]
        fn removing_the_edits_gives_the_input_back(
            text in proptest::collection::vec(any::<u8>(), 0..40),
            parts in disjoint(),
        ) {
            let applied = edit_set(&parts, text.len()).apply(&text).unwrap();
            prop_assert_eq!(applied.strip_back(), text);
        }

        #[test]
        fn what_is_not_edited_keeps_its_bytes(
            text in proptest::collection::vec(any::<u8>(), 0..40),
            parts in disjoint(),
        ) {
            let applied = edit_set(&parts, text.len()).apply(&text).unwrap();
            for (at, byte) in applied.text.iter().enumerate() {
                if let Some(original) = applied.original_offset(at) {
                    prop_assert_eq!(*byte, text[original]);
                }
            }
        }

        #[test]
        fn the_order_of_adding_does_not_matter(
            text in proptest::collection::vec(any::<u8>(), 0..40),
            parts in disjoint(),
        ) {
            let mut reversed = edit_set(&parts, text.len());
            reversed.edits.reverse();
            prop_assert_eq!(edit_set(&parts, text.len()).apply(&text), reversed.apply(&text));
        }
    }
}
