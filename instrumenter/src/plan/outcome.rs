//! What is done with a construct, and why not more.

use serde::Serialize;

use super::Planner;
use super::split::split;
use crate::find::{Extent, FoundDirective, Placement};
use crate::nest::Construct;
use crate::openmp::recipes::{self, ImplicitBarrier, Recipe};
use crate::openmp::{Association, Directive, Leaf};

/// What became of a directive or call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// It has probes.
    Instrumented {
        /// Why its implicit barrier is not measured separately, if it is not.
        #[serde(skip_serializing_if = "Option::is_none")]
        unsplit: Option<String>,
    },
    /// There is nothing to measure, or nothing may be inserted.
    PassedThrough {
        /// Why.
        reason: String,
    },
    /// It should be measured and could not be: a warning.
    LeftAlone {
        /// Why.
        reason: String,
    },
}

fn passed(reason: impl Into<String>) -> Outcome {
    Outcome::PassedThrough {
        reason: reason.into(),
    }
}

fn left(reason: impl Into<String>) -> Outcome {
    Outcome::LeftAlone {
        reason: reason.into(),
    }
}

impl Planner<'_> {
    /// Decides on a construct.
    pub(super) fn outcome(
        &self,
        construct: &Construct,
        found: &FoundDirective,
        directive: &Directive,
    ) -> Outcome {
        let Some(recipe) = recipe_of(construct, directive) else {
            let leaf = directive.leaves().next().unwrap_or(Leaf::Informational);
            return passed(recipes::pass_through_reason(leaf));
        };
        if found.branches.iter().any(|branch| branch.dead) {
            return passed("it stands in a branch that is never compiled");
        }
        if let Some(reason) = self.forbidden_by_surroundings(construct, found) {
            return passed(reason);
        }
        // Measured from outside, if it can be at all.
        if let (None, Err(reason)) = (recipe.outside, split(directive, self.found.traits)) {
            return left(reason);
        }
        match self.unclear(construct, found, directive) {
            Some(reason) => left(reason),
            None => Outcome::Instrumented {
                unsplit: self.unsplit(construct, directive, recipe),
            },
        }
    }

    /// Why no probe may stand here, whatever the construct.
    fn forbidden_by_surroundings(
        &self,
        construct: &Construct,
        found: &FoundDirective,
    ) -> Option<&'static str> {
        if let Some(reason) = self.closed_reason(found.range.start, found.function.as_ref()) {
            return Some(reason);
        }
        let mut next = construct.parent;
        while let Some(index) = next {
            let outer = &self.nesting.constructs[index];
            if let Ok(directive) = &self.found.directives[outer.directive].directive
                && let Some(reason) = forbidden_by(directive)
            {
                return Some(reason);
            }
            next = outer.parent;
        }
        None
    }

    /// Why the construct can't be instrumented safely, if so.
    fn unclear(
        &self,
        construct: &Construct,
        found: &FoundDirective,
        directive: &Directive,
    ) -> Option<String> {
        if let Extent::Unclear(reason) = &found.extent {
            return Some(reason.clone());
        }
        let needs_block = !matches!(directive.association(), Association::Standalone);
        if needs_block && construct.block.is_none() {
            return Some("its block was not found".into());
        }
        if let Some(reason) = self.section_reason(construct, found) {
            return Some(reason);
        }
        let ends = construct.block.iter().map(|block| block.end.at);
        let lost = |at: usize| self.found.lines.presumed(at).is_none();
        if lost(found.range.start) || ends.into_iter().any(lost) {
            return Some("which line it is on can't be told, because of a #line before it".into());
        }
        let guarded = construct.block.as_ref().is_some_and(|block| block.guarded);
        if guarded && found.placement == Placement::Inline {
            return Some("it is a _Pragma whose conditional ends before its block".into());
        }
        None
    }

    /// A section must end in the conditional branch in which it begins.
    fn section_reason(&self, construct: &Construct, found: &FoundDirective) -> Option<String> {
        let block = construct.block.as_ref()?;
        let is_section = found
            .directive
            .as_ref()
            .is_ok_and(|d| d.has_leaf(Leaf::Section));
        let crosses = found
            .branches
            .iter()
            .any(|branch| branch.end < block.end.at);
        (is_section && crosses).then(|| "its conditional ends before its block".into())
    }

    /// Why no barrier of ours may stand in for the implicit one, if so.
    fn unsplit(
        &self,
        construct: &Construct,
        directive: &Directive,
        recipe: &Recipe,
    ) -> Option<String> {
        if recipe.barrier == ImplicitBarrier::None || directive.clause("nowait").is_some() {
            return None;
        }
        let cancelled = || {
            self.cancelled(construct)
                .then(|| "it can be cancelled".to_owned())
        };
        let whole = split(directive, self.found.traits).err();
        whole
            .or_else(|| clause_reason(directive))
            .or_else(cancelled)
    }

    /// Whether a `cancel` for this construct stands in it.
    fn cancelled(&self, construct: &Construct) -> bool {
        let Some(index) = self
            .nesting
            .constructs
            .iter()
            .position(|other| std::ptr::eq(other, construct))
        else {
            return false;
        };
        self.nesting.constructs.iter().any(|other| {
            let directive = self.found.directives[other.directive].directive.as_ref();
            let cancel = directive
                .ok()
                .filter(|directive| directive.has_leaf(Leaf::Cancel));
            let kind = cancel.and_then(|cancel| cancel.clauses.first());
            kind.is_some_and(|kind| self.cancel_binds_to(other, &kind.name) == Some(index))
        })
    }

    /// The innermost construct around a `cancel` that has a leaf of that name.
    fn cancel_binds_to(&self, cancel: &Construct, name: &str) -> Option<usize> {
        let mut next = cancel.parent;
        while let Some(index) = next {
            let outer = &self.nesting.constructs[index];
            let directive = self.found.directives[outer.directive]
                .directive
                .as_ref()
                .ok()?;
            let binds = directive.rows.iter().any(|row| row.name == name);
            if binds && !outer.implicit_section {
                return Some(index);
            }
            next = outer.parent;
        }
        None
    }
}

/// The recipe that a construct is measured by: that of its outermost leaf.
fn recipe_of(construct: &Construct, directive: &Directive) -> Option<&'static Recipe> {
    if construct.implicit_section {
        return recipes::find(Leaf::Section);
    }
    directive.leaves().next().and_then(recipes::find)
}

/// Why a construct forbids probes in its block, if it does.
fn forbidden_by(directive: &Directive) -> Option<&'static str> {
    let by_leaf = directive
        .leaves()
        .find_map(|leaf| recipes::admits_calls(leaf).err());
    let concurrent = directive.clause("order").is_some_and(|clause| {
        clause
            .argument
            .iter()
            .flat_map(|a| &a.words)
            .any(|word| word.text == "concurrent")
    });
    by_leaf.or(concurrent.then_some("it stands in a construct with order(concurrent)"))
}

/// Clauses that tie the construct to its own implicit barrier.
fn clause_reason(directive: &Directive) -> Option<String> {
    if directive.clause("copyprivate").is_some() {
        return Some("copyprivate needs the barrier of the construct".into());
    }
    let mut reductions = directive
        .clauses
        .iter()
        .filter(|clause| clause.name == "reduction");
    if reductions.any(|clause| clause.has_modifier("task")) {
        return Some("task reductions end at the barrier of the construct".into());
    }
    let unknown = directive.clauses.iter().find(|clause| clause.row.is_none());
    unknown.map(|clause| format!("the clause {} is not known", clause.name))
}
