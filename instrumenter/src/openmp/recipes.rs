//! The recipe of each leaf construct that is measured: which events, where.
//!
//! A leaf construct without a recipe passes through untouched, for the reason
//! that [`pass_through_reason`] gives.

use super::{Event, Leaf};

/// Where a construct's implicit barrier is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImplicitBarrier {
    /// It has none.
    None,
    /// At the end of its block, before the threads leave it: a barrier can be
    /// put there, the construct's own remains.
    Inside,
    /// After its block, unless `nowait`: the clause is added and a barrier put
    /// behind.
    Outside,
}

/// What is placed around and in a construct.
#[derive(Debug)]
pub struct Recipe {
    /// The construct.
    pub leaf: Leaf,
    /// `regionType` of its descriptor in C; Fortran says `do` for `for`.
    pub region_type: &'static str,
    /// Events before and after the construct.
    pub outside: Option<(Event, Event)>,
    /// Events at the begin and the end of its structured block.
    pub inside: Option<(Event, Event)>,
    /// Its implicit barrier.
    pub barrier: ImplicitBarrier,
}

const fn recipe(
    leaf: Leaf,
    region_type: &'static str,
    outside: Option<(Event, Event)>,
    inside: Option<(Event, Event)>,
    barrier: ImplicitBarrier,
) -> Recipe {
    Recipe {
        leaf,
        region_type,
        outside,
        inside,
        barrier,
    }
}

use Event as E;
use ImplicitBarrier::{Inside, None as NoBarrier, Outside};

/// The recipes.
pub const RECIPES: &[Recipe] = &[
    recipe(
        Leaf::Parallel,
        "parallel",
        Some((E::ParallelFork, E::ParallelJoin)),
        Some((E::ParallelBegin, E::ParallelEnd)),
        Inside,
    ),
    recipe(
        Leaf::Loop,
        "for",
        Some((E::LoopEnter, E::LoopExit)),
        None,
        Outside,
    ),
    recipe(
        Leaf::Sections,
        "sections",
        Some((E::SectionsEnter, E::SectionsExit)),
        None,
        Outside,
    ),
    recipe(
        Leaf::Section,
        "section",
        None,
        Some((E::SectionBegin, E::SectionEnd)),
        NoBarrier,
    ),
    recipe(
        Leaf::Single,
        "single",
        Some((E::SingleEnter, E::SingleExit)),
        Some((E::SingleBegin, E::SingleEnd)),
        Outside,
    ),
    recipe(
        Leaf::Master,
        "master",
        None,
        Some((E::MasterBegin, E::MasterEnd)),
        NoBarrier,
    ),
    recipe(
        Leaf::Critical,
        "critical",
        Some((E::CriticalEnter, E::CriticalExit)),
        Some((E::CriticalBegin, E::CriticalEnd)),
        NoBarrier,
    ),
    recipe(
        Leaf::Ordered,
        "ordered",
        Some((E::OrderedEnter, E::OrderedExit)),
        Some((E::OrderedBegin, E::OrderedEnd)),
        NoBarrier,
    ),
    recipe(
        Leaf::Atomic,
        "atomic",
        Some((E::AtomicEnter, E::AtomicExit)),
        None,
        NoBarrier,
    ),
    recipe(
        Leaf::Barrier,
        "barrier",
        Some((E::BarrierEnter, E::BarrierExit)),
        None,
        NoBarrier,
    ),
    recipe(
        Leaf::Flush,
        "flush",
        Some((E::FlushEnter, E::FlushExit)),
        None,
        NoBarrier,
    ),
];

/// The recipe of a leaf construct.
#[must_use]
pub fn find(leaf: Leaf) -> Option<&'static Recipe> {
    RECIPES.iter().find(|recipe| recipe.leaf == leaf)
}

/// Why a leaf construct without a recipe passes through.
#[must_use]
pub fn pass_through_reason(leaf: Leaf) -> &'static str {
    match leaf {
        Leaf::Cancel | Leaf::CancellationPoint => "cancellation has no event of its own",
        Leaf::Simd | Leaf::Scan => "no call may stand in a simd construct",
        Leaf::Transformation => "a loop transformation has nothing to measure",
        Leaf::Metadirective | Leaf::Variant => "what it stands for is chosen by the compiler",
        Leaf::DeclareTarget | Leaf::BeginDeclareTarget | Leaf::EndDeclareTarget => {
            "it declares device code"
        }
        Leaf::Declarative | Leaf::Informational | Leaf::Depobj | Leaf::Allocators => {
            "it executes nothing that could be measured"
        }
        _ => "this version does not measure it yet",
    }
}

/// Whether calls of ours may stand in the block of this construct, as far as
/// the construct itself is concerned (design: "Where").
pub fn admits_calls(leaf: Leaf) -> Result<(), &'static str> {
    match leaf {
        Leaf::Simd => Err("it stands in a simd construct"),
        Leaf::Target => Err("it stands in device code"),
        Leaf::Workshare | Leaf::Workdistribute => Err("it stands in a workshare construct"),
        Leaf::Atomic => Err("it stands in an atomic construct"),
        Leaf::GenericLoop => Err("it stands in a loop construct, which is order(concurrent)"),
        Leaf::Metadirective => Err("it stands in a metadirective"),
        Leaf::Variant => Err("it stands in a declare variant"),
        Leaf::Transformation => Err("it stands in a loop transformation"),
        _ => Ok(()),
    }
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
