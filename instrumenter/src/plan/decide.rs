//! Decides about each construct: instrumented, passed through or left alone, and why.

use std::collections::HashSet;

use serde::Serialize;

use super::Planner;
use super::split::SplitResult;
use crate::find::{Extent, Found, FoundDirective, Placement};
use crate::nest::{Construct, Nesting};
use crate::openmp::parse::DirectiveToken;
use crate::openmp::recipes::{self, ImplicitBarrier, Recipe};
use crate::openmp::{Association, Directive, Leaf};

/// The outcome for a directive or call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Decision {
    /// It has probes.
    Instrumented {
        /// Why its implicit barrier is not measured separately; none if it is, or if there is
        /// none.
        #[serde(skip_serializing_if = "Option::is_none")]
        unsplit: Option<String>,
    },
    /// There is nothing to measure, or nothing may be inserted.
    PassedThrough {
        /// The reason.
        reason: String,
    },
    /// It should be measured but can't be; this gives a warning.
    LeftAlone {
        /// The reason.
        reason: String,
    },
}

pub(super) fn passed(reason: impl Into<String>) -> Decision {
    Decision::PassedThrough {
        reason: reason.into(),
    }
}

fn left(reason: impl Into<String>) -> Decision {
    Decision::LeftAlone {
        reason: reason.into(),
    }
}

impl Planner<'_> {
    /// Decides about the construct with this index.
    pub(super) fn decide(
        &self,
        index: usize,
        found: &FoundDirective,
        directive: &Directive,
        split: &SplitResult,
    ) -> Decision {
        let construct = &self.nesting.constructs[index];
        let Some(recipe) = recipe_of(construct, directive, split.is_err()) else {
            let leaf = directive.leaves().next().unwrap_or(Leaf::Informational);
            return passed(recipes::pass_through_reason(leaf));
        };
        if let Some(reason) = self.disabled_reason(recipe.group()) {
            return passed(reason);
        }
        if found.is_dead() {
            return passed("it stands in a branch that is never compiled");
        }
        if self.unknown.contains(&directive.name()) {
            return passed("the compiler does not know it");
        }
        if let Some(reason) = self.forbidden_by_surroundings(construct, found, directive) {
            return passed(reason);
        }
        let declares = self.must_pass_tasks && self.found.traits.has_no_locals;
        if declares && recipe.leaf == Leaf::Task && self.hides_blocks(construct, found) {
            return left("a variable that POMP2 needs would hide a common block from its clauses");
        }
        // Without a recipe for events outside the construct, a directive that can't be split
        // can't be measured.
        if let (None, Err(reason)) = (recipe.outside, split) {
            return left(reason);
        }
        if let Some(reason) = self.unclear(construct, found, directive) {
            return left(reason);
        }
        if self.api.must_know_threads()
            && recipe.inside.is_some()
            && self.passed_over.contains(&index)
        {
            return left("a cancel may pass over its end, of which POMP2 must be told");
        }
        match self.unsplit(index, directive, split, recipe) {
            Some(reason) if recipe.leaf == Leaf::Parallel && self.api.must_know_threads() => {
                left(format!("{reason}, and POMP2 must be told of its threads"))
            }
            unsplit => Decision::Instrumented { unsplit },
        }
    }

    /// Whether a task gets the handle of its creation. In Fortran that takes a scoping unit
    /// around the task. Then it is only done if chunks are traced too: most programs are not
    /// traced.
    pub(super) fn passes_task(&self, construct: &Construct, found: &FoundDirective) -> bool {
        let has_room = self.loops.is_some() && !self.without_blocks;
        let has_room = has_room && !self.hides_blocks(construct, found);
        self.passes_handles
            && (self.must_pass_tasks || !self.found.traits.has_no_locals || has_room)
    }

    /// Whether a common block is named in the construct. In Fortran a variable around the
    /// construct takes a scoping unit, and a common block named in that would not be the
    /// user's.
    fn hides_blocks(&self, construct: &Construct, found: &FoundDirective) -> bool {
        let block = construct.block.as_ref();
        let end = block.map_or(found.range.end, |block| block.range.end);
        let directives = &self.found.directives;
        let first = directives.partition_point(|inner| inner.range.start < found.range.start);
        let mut inside = directives[first..]
            .iter()
            .take_while(|inner| inner.range.start < end);
        inside.any(|inner| inner.words.iter().any(DirectiveToken::is_common_block))
    }

    /// Returns why no probe may be placed here, whatever the construct, if so.
    fn forbidden_by_surroundings(
        &self,
        construct: &Construct,
        found: &FoundDirective,
        directive: &Directive,
    ) -> Option<&'static str> {
        if let Some(reason) = self.closed_reason(found.range.start, found.function.as_ref()) {
            return Some(reason);
        }
        let around = match self.target_around(construct) {
            Some(target) => target.parent,
            None => construct.parent,
        };
        self.forbidden_in(around, Some(directive))
    }

    /// Returns why no call may be inserted in a construct, or in one around it. `measured` is
    /// the construct to be measured there, if the call is for one.
    pub(super) fn forbidden_in(
        &self,
        construct: Option<usize>,
        measured: Option<&Directive>,
    ) -> Option<&'static str> {
        if let Some(reason) = self.why_untold(construct) {
            return Some(reason);
        }
        let scalar = measured.is_some_and(recipes::runs_lane_by_lane);
        let mut next = construct;
        while let Some(index) = next {
            let outer = &self.nesting.constructs[index];
            if let Ok(directive) = &self.found.directives[outer.directive].directive
                && let Some(reason) = self.forbidden_by(directive, scalar)
            {
                return Some(reason);
            }
            next = outer.parent;
        }
        None
    }

    /// Returns why the threads of a construct, or of one around it, can't report events, if so.
    pub(super) fn why_untold(&self, construct: Option<usize>) -> Option<&'static str> {
        let parent = |index: &usize| self.nesting.constructs[*index].parent;
        let mut around = std::iter::successors(construct, parent);
        let untold = around.any(|index| self.untold.contains(&index));
        untold.then_some("it is executed by threads that POMP2 is not told of")
    }

    /// The `target` around a `teams`. A `target` that contains a `teams` may contain nothing
    /// else, so both are measured from outside the `target`.
    pub(super) fn target_around(&self, teams: &Construct) -> Option<&Construct> {
        let leaves = |construct: &Construct| {
            let directive = self.found.directives[construct.directive]
                .directive
                .as_ref();
            directive.map(|directive| directive.rows.iter().map(|row| row.leaf))
        };
        let is_teams = leaves(teams).ok()?.next() == Some(Leaf::Teams);
        let target = &self.nesting.constructs[teams.parent.filter(|_| is_teams)?];
        (leaves(target).ok()?.next_back() == Some(Leaf::Target)).then_some(target)
    }

    /// Returns why a construct forbids probes in its block, if so. `scalar`: the probes are for
    /// a construct that a `simd` construct executes lane by lane.
    fn forbidden_by(&self, directive: &Directive, scalar: bool) -> Option<&'static str> {
        if directive.has_leaf(Leaf::Target) && self.is_for_device() {
            return Some("it stands in device code");
        }
        let variants: Vec<Directive> = directive.variants().collect();
        let of_variants = variants
            .iter()
            .find_map(|variant| self.forbidden_by(variant, scalar));
        forbidden_by(directive, scalar).or(of_variants)
    }

    /// Returns why the construct can't be instrumented safely, if so.
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
        if let Some(target) = self.target_around(construct)
            && self.found.directives[target.directive].branches != found.branches
        {
            return Some("its target is in another branch of a conditional".into());
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

    /// Returns a reason if a section does not end in the conditional branch in which it begins.
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

    /// Returns why no explicit barrier may replace the implicit one, if so.
    fn unsplit(
        &self,
        index: usize,
        directive: &Directive,
        split: &SplitResult,
        recipe: &Recipe,
    ) -> Option<String> {
        if recipe.barrier == ImplicitBarrier::None || directive.clause("nowait").is_some() {
            return None;
        }
        let cancelled = || {
            let cancelled = self.cancelled.contains(&index);
            cancelled.then(|| "it can be cancelled".to_owned())
        };
        // If there is a barrier between a team's last task and its end, LLVM's runtime reports
        // the ends of implicit tasks to a tool during shutdown, without a task.
        let observed = || {
            self.is_tool
                .then(|| "the source is a tool that is told of each barrier".to_owned())
        };
        let whole = split.as_ref().err().cloned();
        whole
            .or_else(|| clause_reason(directive))
            .or_else(cancelled)
            .or_else(observed)
    }
}

/// Whether, given this outcome, a construct has threads that no event reports. These are the
/// threads of a league, and those of a team whose `parallel` is not the outermost leaf or is
/// not instrumented.
pub(super) fn has_untold_threads(directive: &Directive, outcome: &Decision) -> bool {
    let teams = |directive: &Directive| {
        let mut leaves = directive.leaves();
        leaves.any(|leaf| matches!(leaf, Leaf::Parallel | Leaf::Teams))
    };
    let told = matches!(outcome, Decision::Instrumented { .. })
        && directive.leaves().next() == Some(Leaf::Parallel);
    let of_variants = directive.variants().any(|variant| teams(&variant));
    of_variants || (teams(directive) && !told)
}

/// Directives with a clause for the construct that may be cancelled. Compilers reject both in a
/// construct with `nowait`.
const CANCELLATION: [Leaf; 2] = [Leaf::Cancel, Leaf::CancellationPoint];

/// The constructs that a `cancel` or a cancellation point in them applies to.
pub(super) fn cancelled(found: &Found, nesting: &Nesting) -> HashSet<usize> {
    let binding = |(construct, cancel): (&Construct, &Directive)| {
        cancel_binds_to(found, nesting, construct, &cancel.clauses.first()?.name)
    };
    cancellations(found, nesting).filter_map(binding).collect()
}

/// The directives at which control may leave a construct.
fn cancellations<'a>(
    found: &'a Found,
    nesting: &'a Nesting,
) -> impl Iterator<Item = (&'a Construct, &'a Directive)> {
    nesting.constructs.iter().filter_map(|construct| {
        let directive = found.directives[construct.directive].directive.as_ref();
        let is_one = |directive: &&Directive| {
            let mut leaves = CANCELLATION.iter();
            !construct.implicit_section && leaves.any(|leaf| directive.has_leaf(*leaf))
        };
        Some((construct, directive.ok().filter(is_one)?))
    })
}

/// The constructs that a `cancel` in them may leave without reaching their ends. These are the
/// constructs from the innermost one around it up to the one that it cancels. For a `taskgroup`
/// they go up to the task that is left.
pub(super) fn passed_over(found: &Found, nesting: &Nesting) -> HashSet<usize> {
    let mut passed = HashSet::new();
    for (construct, directive) in cancellations(found, nesting) {
        let is_task = |index: &usize| {
            let directive = &found.directives[nesting.constructs[*index].directive].directive;
            matches!(directive, Ok(directive) if directive.has_leaf(Leaf::Task))
        };
        let parent = |index: &usize| nesting.constructs[*index].parent;
        let mut around = std::iter::successors(construct.parent, parent);
        let last = match directive.clauses.first().map(|clause| &*clause.name) {
            Some("taskgroup") => around.find(is_task),
            Some(name) => cancel_binds_to(found, nesting, construct, name),
            None => None,
        };
        let Some(last) = last else { continue };
        let around = std::iter::successors(construct.parent, parent);
        passed.extend(around.take_while(|index| *index != last));
        passed.insert(last);
    }
    passed
}

/// The innermost construct around a `cancel` that has a leaf of this name.
fn cancel_binds_to(
    found: &Found,
    nesting: &Nesting,
    cancel: &Construct,
    name: &str,
) -> Option<usize> {
    let mut next = cancel.parent;
    while let Some(index) = next {
        let outer = &nesting.constructs[index];
        let directive = found.directives[outer.directive].directive.as_ref().ok()?;
        let binds = directive.rows.iter().any(|row| row.name == name);
        if binds && !outer.implicit_section {
            return Some(index);
        }
        next = outer.parent;
    }
    None
}

/// The recipe for a construct: that of its outermost leaf. A combined directive that can't be
/// split is measured only from outside, with the recipe of the outermost leaf that has events
/// outside.
pub(super) fn recipe_of(
    construct: &Construct,
    directive: &Directive,
    whole: bool,
) -> Option<&'static Recipe> {
    if construct.implicit_section {
        return recipes::find(Leaf::Section);
    }
    let recipes = || directive.leaves().filter_map(recipes::find);
    let visible = recipes().find(|recipe| whole && recipe.outside.is_some());
    let first = || directive.leaves().next().and_then(recipes::find);
    visible.or_else(first)
}

/// Returns why a construct forbids probes in its block wherever it runs, if so.
fn forbidden_by(directive: &Directive, scalar: bool) -> Option<&'static str> {
    let by_leaf = directive
        .leaves()
        .filter(|leaf| !(scalar && *leaf == Leaf::Simd))
        .find_map(|leaf| recipes::admits_calls(leaf).err());
    let concurrent = directive
        .clause("order")
        .is_some_and(|clause| clause.mentions("concurrent"));
    by_leaf.or(concurrent.then_some("it stands in a construct with order(concurrent)"))
}

/// Returns a reason if a clause ties the construct to its own implicit barrier.
fn clause_reason(directive: &Directive) -> Option<String> {
    if directive.clause("copyprivate").is_some() {
        return Some("copyprivate needs the barrier of the construct".into());
    }
    // With `lastprivate(conditional:)` Clang has barriers of its own, also where there is `nowait`.
    for (name, modifier, reason) in [
        (
            "reduction",
            "task",
            "task reductions end at the barrier of the construct",
        ),
        (
            "lastprivate",
            "conditional",
            "conditional values are known at the barrier of the construct",
        ),
    ] {
        let mut clauses = directive
            .clauses
            .iter()
            .filter(|clause| clause.name == name);
        if clauses.any(|clause| clause.has_modifier(modifier)) {
            return Some(reason.into());
        }
    }
    let unknown = directive.clauses.iter().find(|clause| clause.row.is_none());
    unknown.map(|clause| format!("the clause {} is not known", clause.name))
}
