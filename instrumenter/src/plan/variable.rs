//! Whether an `atomic` construct writes one variable, or a different one from one execution to
//! the next.

use super::Planner;
use crate::find::FoundDirective;
use crate::nest::Construct;
use crate::openmp::{Directive, Leaf, clauses};

impl Planner<'_> {
    /// The variable that all executions of an `atomic` construct in one parallel region write;
    /// none if that is not certain.
    ///
    /// Within the block of a `parallel` construct, a name that is neither declared nor
    /// privatised there denotes one variable.
    pub(super) fn variable(&self, construct: &Construct, found: &FoundDirective) -> Option<String> {
        let updated = found.updated.as_ref()?;
        let parent = |construct: &&Construct| Some(&self.nesting.constructs[construct.parent?]);
        let directive = |construct: &Construct| {
            let found = &self.found.directives[construct.directive];
            found.directive.as_ref().ok()
        };
        for around in std::iter::successors(parent(&construct), parent) {
            let Some(directive) = directive(around) else {
                continue;
            };
            if self.privatises(directive, &updated.base) {
                return None;
            }
            if directive.has_leaf(Leaf::Parallel) {
                let begin = around.block.as_ref()?.range.start;
                let is_renamed = updated.renamed.iter().any(|at| *at >= begin);
                return (!is_renamed).then(|| updated.text.clone());
            }
        }
        updated.is_global.then(|| updated.text.clone())
    }

    /// Whether a directive gives each thread or task a variable of this name.
    fn privatises(&self, directive: &Directive, name: &str) -> bool {
        let mut own = directive
            .clauses
            .iter()
            .filter(|clause| clauses::DATA_SHARING.contains(&clause.name.as_str()))
            .filter(|clause| clause.name != "shared");
        own.any(|clause| {
            let mut words = clause.argument.iter().flat_map(|argument| &argument.words);
            words.any(|word| self.found.traits.same_name(&word.text, name))
        })
    }
}
