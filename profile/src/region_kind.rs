//! The kinds of region, as one table (`table.rs`): how a descriptor names them, how ompP
//! names them in reports, and what reports, analyses and interfaces must know of them.

mod cost;
mod quantity;
mod table;

pub use cost::{Category, Charge, Cost};
pub use quantity::{Columns, Quantity};
pub(crate) use table::SMALLER_CHUNKS;
pub use table::{BARRIER, GROUPS, KINDS, RegionKind};

use serde::{Deserialize, Serialize};

/// A part of a region with exactly two events, enter and exit (ompP's idea).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum PseudoRegion {
    /// The whole region, from its first to its last event.
    Main = 0,
    /// Getting in: waiting for a critical section or lock; starting a team.
    Enter = 1,
    /// The structured block.
    Body = 2,
    /// The implicit barrier at the end, made explicit by the instrumenter; of a
    /// taskgroup the wait for its tasks.
    Ibarr = 3,
    /// Getting out: leaving a critical section or lock; ending a team.
    Exit = 4,
    /// A parallel region as the encountering thread sees it, fork to join.
    Seq = 5,
}

impl PseudoRegion {
    /// How many pseudo-regions there are; their discriminants are below it.
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

/// What the table says of the names of one kind.
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
    /// It cannot be told from the work.
    Hidden,
}

/// Whose a time is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// The program's own work.
    Program,
    /// What the OpenMP library does, or a wait.
    Runtime,
}

/// What the libraries for POMP2 are told of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pomp2 {
    /// They know its region types.
    Same,
    /// They know no such construct. Where a thread may go on with another task, they
    /// must be told; or the construct is nearly this one.
    As(&'static str),
    /// They are told nothing.
    Unknown,
}

/// Makes of the table the kinds, their names, and a function for each other column, so
/// that a program which asks for one column has no other.
macro_rules! kinds {
    ($(
        $(#[$about:meta])*
        $kind:ident {
            region_types: $region_types:expr,
            names: ($full_name:literal, $short_name:literal),
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
        pub const KINDS: &[super::KindRow] = &[$(
            super::KindRow {
                kind: RegionKind::$kind,
                region_types: $region_types,
                full_name: $full_name,
                short_name: $short_name,
            },
        )+];

        $crate::region_kind::column! {
            /// The group that it is switched off with.
            group -> &'static str = "";
            $($kind = ($group))+
        }
        $crate::region_kind::column! {
            /// Its columns in a region profile.
            columns -> super::Columns = super::Columns::Point;
            $($kind = ($columns))+
        }
        $crate::region_kind::column! {
            /// The times that are lost in it.
            costs -> &'static [super::Cost] = &[];
            $($kind = ($(&[$(super::Cost {
                kind: RegionKind::$kind,
                quantity: $quantity,
                charge: $charge,
                place: $place,
            }),+])?))+
        }
        $crate::region_kind::column! {
            /// What to try where time is lost in it.
            advice -> &'static [(super::Category, &'static str)] = &[];
            $($kind = ($($advice)?))+
        }
        $crate::region_kind::column! {
            /// How the time at its barrier is known where it could not be split.
            unsplit -> super::Barrier = super::Barrier::Measured;
            $($kind = ($($unsplit)?))+
        }
        $crate::region_kind::column! {
            /// Whether its time is told in POMPROF's parts: parallel regions, work that
            /// is shared in them, and other regions that the user marked.
            has_parts -> bool = false;
            $($kind = ($($has_parts)?))+
        }
        $crate::region_kind::column! {
            /// Whose the time is that a thread spends there and in no smaller part.
            main -> super::Whose = super::Whose::Program;
            $($kind = ($($main)?))+
        }
        $crate::region_kind::column! {
            /// What the libraries for POMP2 are told of it.
            pomp2 -> super::Pomp2 = super::Pomp2::Unknown;
            $($kind = ($($pomp2)?))+
        }
    };
}
use kinds;

/// Defines a function that gives what each kind's row says, or else the same for all.
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
        KINDS
            .iter()
            .find(|row| row.region_types.contains(&region_type))
            .map(|row| row.kind)
    }

    /// The kind that a `regionType` names; for one that this version does not know the
    /// nearest kind: what matters is whether it starts teams.
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
        // The table is in enumeration order; the test below holds it to that.
        &KINDS[self as usize]
    }

    /// Whether the region starts a team.
    #[must_use]
    pub fn is_parallel(self) -> bool {
        matches!(
            self,
            Self::Parallel | Self::ParallelLoop | Self::ParallelSections | Self::ParallelWorkshare
        )
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

    /// Whether only some of many short instances are timed (`ROMP_BUDGET`): of constructs
    /// that none waits for at a barrier, and of tasks that stay on their thread.
    #[must_use]
    pub const fn may_be_sampled(self) -> bool {
        matches!(
            self,
            Self::Atomic
                | Self::Critical
                | Self::Flush
                | Self::Lock
                | Self::Master
                | Self::Ordered
                | Self::Task
                | Self::UntiedTask
                | Self::TaskExec
                | Self::Taskyield
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
        for (index, row) in KINDS.iter().enumerate() {
            assert_eq!(row.kind as usize, index);
            assert!(row.short_name.len() <= 8, "{}", row.short_name);
            for name in row.region_types {
                assert_eq!(RegionKind::from_region_type(name), Some(row.kind));
            }
        }
    }
}
