//! The cross-check of what is taken from the tokens alone: see `check_tree`.
//! `--verify` and the tests ask the tree about every loop.

use super::Finder;
use super::directives::Meaning;

impl Finder<'_> {
    /// The first directive whose loop the tokens and the tree see end differently.
    pub(super) fn disputed(&self) -> Option<usize> {
        (0..self.records.len())
            .find(|index| self.is_disputed(*index))
            .map(|index| self.records[index].range.start)
    }

    fn is_disputed(&self, index: usize) -> bool {
        let record = &self.records[index];
        let Meaning::Begin(directive) = &record.meaning else {
            return false;
        };
        let Ok(view) = self.view_at(record.range.start) else {
            return false;
        };
        let Ok(span) = view.span(index) else {
            return false;
        };
        let Some((first, last)) = Self::looped(&view, span, directive) else {
            return false;
        };
        // Where there is doubt, the construct was left alone. In front of it, too, there may
        // be loops that have another end for the grammar, and then hold what follows.
        let (doubted, _) = view.doubts(0, last);
        // What the grammar does not know changes what it takes the rest for.
        let understood = || !view.tree(self).is_in_error(view.statements[first].keyword);
        !doubted && understood() && self.tree_contradicts(&view, span, first, last)
    }
}
