//! The kinds of region, as one table (`table.rs`): their names in descriptors, their names in
//! ompP's reports, and the properties that reports, analyses and interfaces need.

mod cost;
mod quantity;
mod table;

pub use cost::{Category, Charge, Cost};
pub use quantity::{Columns, Quantity};
pub(crate) use table::SMALLER_CHUNKS;
pub use table::{BARRIER, GROUPS, REGION_KINDS, RegionKind};

use serde::{Deserialize, Serialize};

/// A part of a region with exactly two events, enter and exit (ompP's idea).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum PseudoRegion {
    /// The whole region, from its first to its last event.
    Main = 0,
    /// Getting in, such as waiting for a critical section or lock, or starting a team.
    Enter = 1,
    /// The structured block.
    Body = 2,
    /// The implicit barrier at the end, which the instrumenter made explicit. For a taskgroup,
    /// the wait for its tasks.
    Ibarr = 3,
    /// Getting out, such as leaving a critical section or lock, or ending a team.
    Exit = 4,
    /// A parallel region as the encountering thread sees it, fork to join.
    Seq = 5,
}

impl PseudoRegion {
    /// The number of pseudo-regions. The discriminants are smaller.
    pub const COUNT: usize = 6;
    /// All of them, in discriminant order.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Main,
        Self::Enter,
        Self::Body,
        Self::Ibarr,
        Self::Exit,
        Self::Seq,
    ];
}

/// The names of one kind.
#[derive(Debug)]
pub struct KindRow {
    /// The kind that the row is about.
    pub kind: RegionKind,
    /// Values of `regionType` in a descriptor that mean this kind.
    pub region_types: &'static [&'static str],
    /// ompP's full name, as in the region overview.
    pub full_name: &'static str,
    /// ompP's short name (at most 8 characters), as in the call graph.
    pub short_name: &'static str,
}

/// How the time at a barrier is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Barrier {
    /// It was measured.
    Measured,
    /// It was estimated.
    Estimated,
    /// There is none.
    None,
    /// It cannot be separated from the work.
    Hidden,
}

/// To which side a time belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// The program's own work.
    Program,
    /// Work of the OpenMP library, or a wait.
    Runtime,
}

/// How a kind of region is reported to measurement libraries for POMP2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pomp2 {
    /// The libraries know its region types.
    Same,
    /// The libraries do not know this construct, so it is reported as another one. This is
    /// necessary where a thread may continue with another task, or possible because the
    /// construct is nearly the same.
    As(&'static str),
    /// It is not reported to the libraries.
    Unknown,
}

/// Generates from the table the kinds, their names, and one function for each other column. So
/// a program that uses one column does not contain the others.
macro_rules! kinds {
    ($(
        $(#[$about:meta])*
        $kind:ident {
            region_types: $region_types:expr,
            names: ($full_name:literal, $short_name:literal),
            help: $help:literal,
            group: $group:literal,
            columns: $columns:expr,
            $(costs: [$(($quantity:expr, $charge:expr, $place:expr)),+ $(,)?],)?
            $(advice: $advice:expr,)?
            $(unsplit: $unsplit:expr,)?
            $(has_parts: $has_parts:expr,)?
            $(main: $main:expr,)?
            $(pomp2: $pomp2:expr,)?
        }
    )+) => {
        /// The kind of a region.
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash,
            serde::Serialize, serde::Deserialize,
        )]
        #[serde(rename_all = "snake_case")]
        pub enum RegionKind {$(
            $(#[$about])*
            $kind,
        )+}

        /// One row per kind, in ompP's order.
        pub const REGION_KINDS: &[super::KindRow] = &[$(
            super::KindRow {
                kind: RegionKind::$kind,
                region_types: $region_types,
                full_name: $full_name,
                short_name: $short_name,
            },
        )+];

        $crate::region_kind::column! {
            /// Its meaning, as a sentence that follows its name.
            help -> &'static str = "";
            $($kind = ($help))+
        }
        $crate::region_kind::column! {
            /// The group with which it can be switched off.
            group -> &'static str = "";
            $($kind = ($group))+
        }
        $crate::region_kind::column! {
            /// Its set of columns in a region profile.
            columns -> super::Columns = super::Columns::Point;
            $($kind = ($columns))+
        }
        $crate::region_kind::column! {
            /// Its times that are lost.
            costs -> &'static [super::Cost] = &[];
            $($kind = ($(&[$(super::Cost {
                kind: RegionKind::$kind,
                quantity: $quantity,
                charge: $charge,
                place: $place,
            }),+])?))+
        }
        $crate::region_kind::column! {
            /// Advice for time lost in it, by category.
            advice -> &'static [(super::Category, &'static str)] = &[];
            $($kind = ($($advice)?))+
        }
        $crate::region_kind::column! {
            /// How the time at its barrier is known if the construct could not be split.
            unsplit -> super::Barrier = super::Barrier::Measured;
            $($kind = ($($unsplit)?))+
        }
        $crate::region_kind::column! {
            /// Whether its time is divided into POMPROF's parts. This holds for parallel
            /// regions, worksharing constructs in them, and other regions that the user marked.
            has_parts -> bool = false;
            $($kind = ($($has_parts)?))+
        }
        $crate::region_kind::column! {
            /// To which side the time belongs that a thread spends there outside all smaller
            /// parts.
            main -> super::Whose = super::Whose::Program;
            $($kind = ($($main)?))+
        }
        $crate::region_kind::column! {
            /// How it is reported to libraries for POMP2.
            pomp2 -> super::Pomp2 = super::Pomp2::Unknown;
            $($kind = ($($pomp2)?))+
        }
    };
}
use kinds;

/// Defines a function that returns the value of each kind's row, or a default.
macro_rules! column {
    (
        $(#[$about:meta])* $name:ident -> $type:ty = $otherwise:expr;
        $($kind:ident = ($($value:expr)?))+
    ) => {
        impl RegionKind {
            $(#[$about])*
            #[must_use]
            pub const fn $name(self) -> $type {
                #[allow(unreachable_patterns)] // Where every row says something.
                match self {
                    $($(Self::$kind => $value,)?)+
                    _ => $otherwise,
                }
            }
        }
    };
}
use column;

impl RegionKind {
    /// The kind that a descriptor's `regionType` names.
    #[must_use]
    pub fn from_region_type(region_type: &str) -> Option<Self> {
        REGION_KINDS
            .iter()
            .find(|row| row.region_types.contains(&region_type))
            .map(|row| row.kind)
    }

    /// The kind for a `regionType`. For a type that this version does not know, the nearest
    /// kind: it only matters whether the construct starts teams.
    #[must_use]
    pub fn nearest(region_type: &str) -> Self {
        Self::from_region_type(region_type).unwrap_or_else(|| {
            match region_type.starts_with("parallel") {
                true => Self::Parallel,
                false => Self::User,
            }
        })
    }

    /// The row of this kind.
    #[must_use]
    pub fn row(self) -> &'static KindRow {
        // The table is in enumeration order. A test below checks this.
        &REGION_KINDS[self as usize]
    }

    /// Whether the region starts a team.
    #[must_use]
    pub fn is_parallel(self) -> bool {
        matches!(
            self,
            Self::Parallel | Self::ParallelLoop | Self::ParallelSections | Self::ParallelWorkshare
        )
    }

    /// The number of pairs of events (enter and exit) in instances whose pseudo-regions have these
    /// counts. Every pseudo-region ends with an event, but some of these events are the same: `enter`
    /// and `exit` share theirs with `main` and `body`. The body of worksharing begins with `main`, and
    /// ends where the barrier begins. For a parallel region, the wait of the members follows from their
    /// ends, and their `main` shares its events with `seq`, those of the thread that forked.
    #[must_use]
    pub fn pairs_of(self, counts: impl Fn(PseudoRegion) -> u64) -> u64 {
        use PseudoRegion::{Body, Ibarr, Main, Seq};
        let parts: &[PseudoRegion] = match self {
            _ if self.is_parallel() => &[Body, Seq],
            Self::Loop | Self::Sections | Self::Workshare => &[Body, Ibarr],
            _ => &[Main, Body, Ibarr],
        };
        parts.iter().map(|part| counts(*part)).sum()
    }

    /// Whether it is the execution of a task.
    #[must_use]
    pub fn is_task_execution(self) -> bool {
        matches!(self, Self::TaskExec | Self::UntiedTaskExec)
    }

    /// Whether it is the creation of explicit tasks, one at a time.
    #[must_use]
    pub const fn is_task_creation(self) -> bool {
        matches!(self, Self::Task | Self::UntiedTask)
    }

    /// Whether many short instances are measured at less cost (`ROMP_BUDGET`).
    #[must_use]
    pub const fn may_be_sampled(self) -> bool {
        self.may_be_passed_over() || self.may_have_coarse_times()
    }

    /// Whether only some of many short instances are timed. This holds for constructs in which others
    /// hardly ever happen.
    #[must_use]
    pub const fn may_be_passed_over(self) -> bool {
        self.is_shared_by_a_team()
            || matches!(
                self,
                Self::Atomic
                    | Self::Critical
                    | Self::Flush
                    | Self::Lock
                    | Self::Master
                    | Self::Ordered
                    | Self::Taskyield
            )
    }

    /// Whether a program counts instances of it itself, as far as they are passed over.
    #[must_use]
    pub const fn is_counted_by_programs(self) -> bool {
        use RegionKind::{Critical, Master, Ordered};
        self.is_momentary() || matches!(self, Critical | Master | Ordered)
    }

    /// Whether nothing else happens in an instance.
    #[must_use]
    pub const fn is_momentary(self) -> bool {
        matches!(self, Self::Atomic | Self::Flush)
    }

    /// Whether all threads of a team execute each instance. Only asked of constructs whose
    /// instances may be passed over.
    #[must_use]
    pub const fn is_shared_by_a_team(self) -> bool {
        matches!(
            self,
            Self::Barrier | Self::Loop | Self::Single | Self::Workshare
        )
    }

    /// Whether many short instances in which others happen may be timed by a coarse clock. This
    /// holds for constructs whose events are all of one thread. The expression of an atomic
    /// construct may call a function.
    #[must_use]
    pub const fn may_have_coarse_times(self) -> bool {
        matches!(
            self,
            Self::Atomic
                | Self::Task
                | Self::UntiedTask
                | Self::TaskExec
                | Self::UntiedTaskExec
                | Self::Taskwait
        )
    }

    /// Whether it is one directive without a structured block.
    #[must_use]
    pub fn is_point(self) -> bool {
        matches!(
            self,
            Self::Barrier
                | Self::Flush
                | Self::Taskwait
                | Self::Taskyield
                | Self::TargetEnterData
                | Self::TargetExitData
                | Self::TargetUpdate
                | Self::Interop
                | Self::Depobj
                | Self::Cancel
                | Self::CancellationPoint
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_in_enumeration_order_and_short_names_fit() {
        for (index, row) in REGION_KINDS.iter().enumerate() {
            assert_eq!(row.kind as usize, index);
            assert!(row.short_name.len() <= 8, "{}", row.short_name);
            for name in row.region_types {
                assert_eq!(RegionKind::from_region_type(name), Some(row.kind));
            }
        }
    }
}
