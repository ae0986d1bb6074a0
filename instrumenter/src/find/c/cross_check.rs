//! Checks the ends of statements that are found from tokens alone. For a construct with a plain
//! statement, the instrumenter does not ask the tree, since that would take longer than
//! everything else. `--verify` and the tests ask it.

use super::Finder;
use crate::find::tree::TreeAnswer;
use crate::openmp::Association;

impl Finder<'_> {
    /// The first directive for which tokens and tree give different ends. None if the text has
    /// a stray `#`: then no construct is instrumented, and only the tree takes the `#` for a
    /// directive of the preprocessor.
    pub(super) fn disputed(&self) -> Option<usize> {
        if self.has_stray_hash {
            return None;
        }
        let governs = |index: &usize| {
            let association = self.association(*index);
            matches!(
                association,
                Some(Association::Block | Association::LoopNest)
            )
        };
        (0..self.records.len())
            .filter(governs)
            .find(|index| self.is_disputed(*index))
            .map(|index| self.records[index].range.start)
    }

    fn is_disputed(&self, index: usize) -> bool {
        let record = &self.records[index].range;
        let Ok(view) = self.view_at(record.start) else {
            return false;
        };
        let first = view.token_from(record.end);
        let Some(start) = view.tokens.get(first).map(super::lexer::Token::start) else {
            return false;
        };
        let Some(matched) = view.match_statement(self, index, first) else {
            return false;
        };
        let tokens_say = view.tokens[matched.behind - 1].end();
        match view.tree(self, start).tree.statement_end(record.end, start) {
            TreeAnswer::Ends(tree_says) => matched.plain && tree_says != tokens_say,
            TreeAnswer::Unknown => false,
        }
    }
}
