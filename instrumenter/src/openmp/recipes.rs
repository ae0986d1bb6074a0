//! The recipe of each measured leaf construct: the events and their places.
//!
//! A leaf construct without a recipe is not changed, for the reason that
//! [`pass_through_reason`] gives.

use profile::event::Event as E;
use profile::group;
use profile::region_kind::RegionKind;

use super::events::{CONSTRUCT, EventPair, MEMBER, TASK, TASK_EXECUTION, TEAM, pair};
use super::{Directive, Leaf};

/// The place of a construct's implicit barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImplicitBarrier {
    /// It has none.
    None,
    /// At the end of its block, before the threads leave it. A barrier can be inserted there;
    /// the construct's own one remains.
    Inside,
    /// After its block, unless `nowait`: the clause is added, and a barrier is inserted behind
    /// the construct.
    Outside,
}

/// The events around and in a construct, and its barrier.
#[derive(Debug)]
pub struct Recipe {
    /// The construct.
    pub leaf: Leaf,
    /// The `regionType` of its descriptor in C. In Fortran `for` becomes `do`.
    pub region_type: &'static str,
    /// Events before and after the construct.
    pub outside: Option<EventPair>,
    /// Events at the begin and the end of its structured block.
    pub inside: Option<EventPair>,
    /// Its implicit barrier.
    pub barrier: ImplicitBarrier,
    /// Whether control may leave the surrounding code at it. Then all events are in front of
    /// it, and tell only how often it was reached.
    pub may_leave: bool,
}

/// A recipe with events around the construct and in its block.
const fn both(
    leaf: Leaf,
    region_type: &'static str,
    outside: EventPair,
    inside: EventPair,
) -> Recipe {
    Recipe {
        leaf,
        region_type,
        outside: Some(outside),
        inside: Some(inside),
        barrier: NoBarrier,
        may_leave: false,
    }
}

/// A recipe with events around the construct only.
const fn outside(leaf: Leaf, region_type: &'static str, events: EventPair) -> Recipe {
    Recipe {
        leaf,
        region_type,
        outside: Some(events),
        inside: None,
        barrier: NoBarrier,
        may_leave: false,
    }
}

/// A recipe with events in its block only.
const fn inside(leaf: Leaf, region_type: &'static str, events: EventPair) -> Recipe {
    Recipe {
        leaf,
        region_type,
        outside: None,
        inside: Some(events),
        barrier: NoBarrier,
        may_leave: false,
    }
}

/// A recipe with events in front of the construct, which control may leave.
const fn ahead(leaf: Leaf, region_type: &'static str, events: EventPair) -> Recipe {
    Recipe {
        may_leave: true,
        ..outside(leaf, region_type, events)
    }
}

const fn with(barrier: ImplicitBarrier, recipe: Recipe) -> Recipe {
    Recipe { barrier, ..recipe }
}

use ImplicitBarrier::{Inside, None as NoBarrier, Outside};

/// The recipes.
#[rustfmt::skip]
pub const RECIPES: &[Recipe] = &[
    with(Inside, both(Leaf::Parallel, "parallel", TEAM, MEMBER)),
    with(Outside, outside(Leaf::Loop, "for", pair(E::LoopEnter, E::LoopExit))),
    with(Outside, outside(Leaf::Sections, "sections", pair(E::SectionsEnter, E::SectionsExit))),
    inside(Leaf::Section, "section", pair(E::SectionBegin, E::SectionEnd)),
    with(Outside, both(Leaf::Single, "single", pair(E::SingleEnter, E::SingleExit), pair(E::SingleBegin, E::SingleEnd))),
    with(Outside, outside(Leaf::Workshare, "workshare", pair(E::WorkshareEnter, E::WorkshareExit))),
    inside(Leaf::Master, "master", pair(E::MasterBegin, E::MasterEnd)),
    both(Leaf::Critical, "critical", pair(E::CriticalEnter, E::CriticalExit), pair(E::CriticalBegin, E::CriticalEnd)),
    both(Leaf::Ordered, "ordered", pair(E::OrderedEnter, E::OrderedExit), pair(E::OrderedBegin, E::OrderedEnd)),
    outside(Leaf::Atomic, "atomic", pair(E::AtomicEnter, E::AtomicExit)),
    outside(Leaf::Barrier, "barrier", pair(E::BarrierEnter, E::BarrierExit)),
    outside(Leaf::Flush, "flush", pair(E::FlushEnter, E::FlushExit)),
    inside(Leaf::Masked, "masked", pair(E::MasterBegin, E::MasterEnd)),
    with(Outside, both(Leaf::Scope, "scope", pair(E::ScopeEnter, E::ScopeExit), pair(E::ScopeBegin, E::ScopeEnd))),
    both(Leaf::Task, "task", TASK, TASK_EXECUTION),
    both(Leaf::Taskgroup, "taskgroup", pair(E::TaskgroupEnter, E::TaskgroupExit), pair(E::TaskgroupBegin, E::TaskgroupEnd)),
    outside(Leaf::Taskwait, "taskwait", pair(E::TaskwaitEnter, E::TaskwaitExit)),
    outside(Leaf::Taskyield, "taskyield", pair(E::TaskyieldEnter, E::TaskyieldExit)),
    // Measured only from outside, including their barrier.
    outside(Leaf::Taskloop, "taskloop", pair(E::TaskloopEnter, E::TaskloopExit)),
    outside(Leaf::GenericLoop, "loop", pair(E::GenericLoopEnter, E::GenericLoopExit)),
    outside(Leaf::Distribute, "distribute", pair(E::DistributeEnter, E::DistributeExit)),
    outside(Leaf::Teams, "teams", pair(E::TeamsEnter, E::TeamsExit)),
    // The host's side of the work of a device.
    outside(Leaf::Target, "target", pair(E::TargetEnter, E::TargetExit)),
    outside(Leaf::TargetData, "targetdata", pair(E::TargetEnter, E::TargetExit)),
    outside(Leaf::TargetEnterData, "targetenterdata", pair(E::TargetEnter, E::TargetExit)),
    outside(Leaf::TargetExitData, "targetexitdata", pair(E::TargetEnter, E::TargetExit)),
    outside(Leaf::TargetUpdate, "targetupdate", pair(E::TargetEnter, E::TargetExit)),
    // Measured from outside, for the number and duration of executions.
    outside(Leaf::Taskgraph, "taskgraph", CONSTRUCT),
    outside(Leaf::Dispatch, "dispatch", CONSTRUCT),
    outside(Leaf::Interop, "interop", CONSTRUCT),
    outside(Leaf::Depobj, "depobj", CONSTRUCT),
    ahead(Leaf::Cancel, "cancel", CONSTRUCT),
    ahead(Leaf::CancellationPoint, "cancellationpoint", CONSTRUCT),
];

/// Leaf constructs behind which a combined directive is split: their blocks may begin with
/// calls, and the rest of the directive is a construct of its own.
pub const SPLIT_BEHIND: &[Leaf] = &[Leaf::Parallel, Leaf::Master, Leaf::Masked];

/// Leaf constructs that share their region with the `parallel` of a combined directive: POMP
/// has a combined region type for them.
pub const SHARE_WITH_PARALLEL: &[Leaf] = &[Leaf::Loop, Leaf::Sections, Leaf::Workshare];

/// The recipe of a leaf construct.
#[must_use]
pub fn find(leaf: Leaf) -> Option<&'static Recipe> {
    RECIPES.iter().find(|recipe| recipe.leaf == leaf)
}

impl Recipe {
    /// The group with which the construct is switched off.
    #[must_use]
    pub fn group(&self) -> Option<&'static str> {
        RegionKind::from_region_type(self.region_type).map(group::of)
    }
}

/// The reason for a leaf construct without a recipe.
#[must_use]
pub fn pass_through_reason(leaf: Leaf) -> &'static str {
    match leaf {
        Leaf::Simd | Leaf::Scan => "no call may stand in a simd construct",
        Leaf::Transformation => "a loop transformation has nothing to measure",
        Leaf::Metadirective | Leaf::Variant => "what it stands for is chosen by the compiler",
        Leaf::DeclareTarget | Leaf::BeginDeclareTarget | Leaf::EndDeclareTarget => {
            "it declares device code"
        }
        Leaf::Declarative | Leaf::Informational | Leaf::Allocators => {
            "it executes nothing that could be measured"
        }
        _ => "this version does not measure it yet",
    }
}

/// Whether calls may be inserted in the block of this construct, as far as the construct itself
/// is concerned (design: "Where").
pub fn admits_calls(leaf: Leaf) -> Result<(), &'static str> {
    match leaf {
        Leaf::Simd => Err("it stands in a simd construct"),
        Leaf::Workshare | Leaf::Workdistribute => Err("it stands in a workshare construct"),
        Leaf::Atomic => Err("it stands in an atomic construct"),
        Leaf::GenericLoop => Err("it stands in a loop construct, which is order(concurrent)"),
        Leaf::Transformation => Err("it stands in a loop transformation"),
        _ => Ok(()),
    }
}

/// Whether a construct inside a `simd` construct keeps the compiler from vectorising it anyway, so
/// that calls beside it do no harm. An `atomic` that writes has this effect; `atomic` is the only
/// measured construct that may stand there (OpenMP 5.2, 10.4). Some compilers do vectorise an
/// `atomic read`.
#[must_use]
pub fn runs_lane_by_lane(directive: &Directive) -> bool {
    directive.writes_atomically()
}

#[cfg(test)]
mod tests {
    use super::*;
    use profile::region_kind::RegionKind;

    #[test]
    fn every_recipe_has_a_kind_that_the_profile_knows() {
        for recipe in RECIPES {
            assert!(
                RegionKind::from_region_type(recipe.region_type).is_some(),
                "{recipe:?}"
            );
        }
    }
}
