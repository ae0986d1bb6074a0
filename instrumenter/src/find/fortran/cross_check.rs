//! Checks the ends of loops that are found from tokens alone: see `check_tree`. `--verify` and
//! the tests ask the tree about every loop.

use super::Finder;
use super::directives::Meaning;

impl Finder<'_> {
    /// The first directive for whose loop tokens and tree give different ends.
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
        // If there was doubt, the construct was left alone. Doubtful loops in front of it
        // matter, too: the grammar may give them a later end, behind this loop.
        let (doubted, _) = view.doubts(0, last);
        // Code that the grammar does not know changes its reading of the code around it.
        let understood = || !view.tree(self).is_in_error(view.statements[first].keyword);
        !doubted && understood() && self.tree_contradicts(&view, span, first, last)
    }
}
