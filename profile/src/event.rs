//! THE table of the events that POMP's functions report: the name of each in C and in Fortran,
//! its effect on the frame of its region, and whether it ends a construct after the construct's
//! implicit barrier. To add an event, add a row.
//!
//! A frame stands for one instance of a region on one thread. The pseudo-region `main` lasts as
//! long as the frame. At most one more pseudo-region, the frame's phase, is active at the same
//! time. The phase `Main` means that there is none.

use crate::region_kind::{PseudoRegion, RegionKind};

/// The effect of an event on frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Opens a frame, in this phase.
    Open(PseudoRegion),
    /// Ends the frame's phase and starts this one.
    SwitchPhase(PseudoRegion),
    /// Ends the frame.
    Close,
    /// Opens a frame whose phase is the body. In a combined region, which already has its
    /// frame, only starts the body.
    OpenWork,
    /// Ends what `OpenWork` began.
    CloseWork,
}

/// The table, which is passed to the macro `define!`. The functions of these events take only
/// the descriptor of their region. Events of teams, locks and chunks, and the begin of a task,
/// have no rows.
#[macro_export]
macro_rules! for_events {
    ($define:ident) => {
        $define! {
            POMP_Implicit_barrier_enter, "implicit_barrier_enter" => ImplicitBarrierEnter: SwitchPhase(Ibarr);
            POMP_Implicit_barrier_exit, "implicit_barrier_exit" => ImplicitBarrierExit: SwitchPhase(Main);
            POMP_For_enter, "for_enter" => LoopEnter: OpenWork;
            POMP_For_exit, "for_exit" => LoopExit: CloseWork, behind the barrier of Loop;
            POMP_Sections_enter, "sections_enter" => SectionsEnter: OpenWork;
            POMP_Sections_exit, "sections_exit" => SectionsExit: CloseWork, behind the barrier of Sections;
            POMP_Section_begin, "section_begin" => SectionBegin: Open(Main);
            POMP_Section_end, "section_end" => SectionEnd: Close;
            POMP_Single_enter, "single_enter" => SingleEnter: Open(Main);
            POMP_Single_begin, "single_begin" => SingleBegin: SwitchPhase(Body);
            POMP_Single_end, "single_end" => SingleEnd: SwitchPhase(Main);
            POMP_Single_exit, "single_exit" => SingleExit: Close, behind the barrier of Single;
            POMP_Workshare_enter, "workshare_enter" => WorkshareEnter: OpenWork;
            POMP_Workshare_exit, "workshare_exit" => WorkshareExit: CloseWork, behind the barrier of Workshare;
            POMP_Scope_enter, "scope_enter" => ScopeEnter: Open(Main);
            POMP_Scope_begin, "scope_begin" => ScopeBegin: SwitchPhase(Body);
            POMP_Scope_end, "scope_end" => ScopeEnd: SwitchPhase(Main);
            POMP_Scope_exit, "scope_exit" => ScopeExit: Close, behind the barrier of Scope;
            POMP_Master_begin, "master_begin" => MasterBegin: Open(Main);
            POMP_Master_end, "master_end" => MasterEnd: Close;
            POMP_Critical_enter, "critical_enter" => CriticalEnter: Open(Enter);
            POMP_Critical_begin, "critical_begin" => CriticalBegin: SwitchPhase(Body);
            POMP_Critical_end, "critical_end" => CriticalEnd: SwitchPhase(Exit);
            POMP_Critical_exit, "critical_exit" => CriticalExit: Close;
            POMP_Ordered_enter, "ordered_enter" => OrderedEnter: Open(Enter);
            POMP_Ordered_begin, "ordered_begin" => OrderedBegin: SwitchPhase(Body);
            POMP_Ordered_end, "ordered_end" => OrderedEnd: SwitchPhase(Exit);
            POMP_Ordered_exit, "ordered_exit" => OrderedExit: Close;
            POMP_Atomic_enter, "atomic_enter" => AtomicEnter: Open(Main);
            POMP_Atomic_exit, "atomic_exit" => AtomicExit: Close;
            POMP_Barrier_enter, "barrier_enter" => BarrierEnter: Open(Main);
            POMP_Barrier_exit, "barrier_exit" => BarrierExit: Close;
            POMP_Flush_enter, "flush_enter" => FlushEnter: Open(Main);
            POMP_Flush_exit, "flush_exit" => FlushExit: Close;
            POMP_Task_create_enter, "task_create_enter" => TaskCreateEnter: Open(Main);
            POMP_Task_create_exit, "task_create_exit" => TaskCreateExit: Close;
            POMP_Task_end, "task_end" => TaskEnd: Close;
            POMP_Taskwait_enter, "taskwait_enter" => TaskwaitEnter: Open(Main);
            POMP_Taskwait_exit, "taskwait_exit" => TaskwaitExit: Close;
            POMP_Taskyield_enter, "taskyield_enter" => TaskyieldEnter: Open(Main);
            POMP_Taskyield_exit, "taskyield_exit" => TaskyieldExit: Close;
            POMP_Taskgroup_enter, "taskgroup_enter" => TaskgroupEnter: Open(Main);
            POMP_Taskgroup_begin, "taskgroup_begin" => TaskgroupBegin: SwitchPhase(Body);
            POMP_Taskgroup_end, "taskgroup_end" => TaskgroupEnd: SwitchPhase(Ibarr);
            POMP_Taskgroup_exit, "taskgroup_exit" => TaskgroupExit: Close;
            POMP_Taskloop_enter, "taskloop_enter" => TaskloopEnter: Open(Main);
            POMP_Taskloop_exit, "taskloop_exit" => TaskloopExit: Close;
            POMP_Loop_enter, "loop_enter" => GenericLoopEnter: Open(Main);
            POMP_Loop_exit, "loop_exit" => GenericLoopExit: Close;
            POMP_Distribute_enter, "distribute_enter" => DistributeEnter: Open(Main);
            POMP_Distribute_exit, "distribute_exit" => DistributeExit: Close;
            POMP_Teams_enter, "teams_enter" => TeamsEnter: Open(Main);
            POMP_Teams_exit, "teams_exit" => TeamsExit: Close;
            POMP_Target_enter, "target_enter" => TargetEnter: Open(Main);
            POMP_Target_exit, "target_exit" => TargetExit: Close;
            POMP_Construct_enter, "construct_enter" => ConstructEnter: Open(Main);
            POMP_Construct_exit, "construct_exit" => ConstructExit: Close;
            POMP_Begin, "begin" => UserBegin: Open(Main);
        }
    };
}

/// Generates the events and their properties from the table.
macro_rules! events {
    ($($function:ident, $fortran:literal => $event:ident: $action:expr
        $(, behind the barrier of $kind:ident)?;)+) => {
        /// Events of a region that is neither a team nor a lock. The begin of a task is
        /// reported in another way.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(missing_docs)] // Each is named after its function.
        pub enum Event {
            $($event,)+
            /// A region that the user marked ends. It is also reported while measurement is
            /// off.
            UserEnd,
            /// A function of the program begins; POMP has no function for this event.
            FunctionEnter,
            /// A function of the program ends.
            FunctionExit,
        }

        /// The functions that report one event of their region: the name in C, the name in
        /// Fortran without the prefix `pompf_`, and the event.
        pub const FUNCTIONS: &[(&str, &str, Event)] = &[
            $((stringify!($function), $fortran, Event::$event),)+
            ("POMP_End", "end", Event::UserEnd),
        ];

        impl Event {
            /// The effect of the event. If the event is a constant, this costs nothing.
            #[inline(always)]
            #[must_use]
            pub const fn action(self) -> Action {
                use Action::{Close, CloseWork, Open, OpenWork, SwitchPhase};
                use PseudoRegion::{Body, Enter, Exit, Ibarr, Main};
                match self {
                    $(Self::$event => $action,)+
                    Self::FunctionEnter => Open(Main),
                    Self::UserEnd | Self::FunctionExit => Close,
                }
            }

            /// The event that ends a construct after its implicit barrier; none if the
            /// construct has no events there.
            #[must_use]
            pub const fn behind_barrier(kind: RegionKind) -> Option<Self> {
                match kind {
                    $($(RegionKind::$kind => Some(Self::$event),)?)+
                    _ => None,
                }
            }

            /// The name of its function in C without the prefix `POMP_`; empty for
            /// functions of the program.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$event => stringify!($function).split_at("POMP_".len()).1,)+
                    Self::UserEnd => "End",
                    Self::FunctionEnter | Self::FunctionExit => "",
                }
            }
        }
    };
}

for_events!(events);

impl Event {
    /// Whether it is an event of an implicit barrier, which comes with the region of its construct.
    #[inline(always)]
    #[must_use]
    pub const fn is_of_implicit_barrier(self) -> bool {
        matches!(self, Self::ImplicitBarrierEnter | Self::ImplicitBarrierExit)
    }

    /// The construct of an event, if only such constructs have the event, and the library can pass
    /// their instances over.
    #[inline(always)]
    #[must_use]
    pub const fn passed_over_with(self) -> Option<RegionKind> {
        Some(match self {
            Self::AtomicEnter | Self::AtomicExit => RegionKind::Atomic,
            Self::BarrierEnter | Self::BarrierExit => RegionKind::Barrier,
            Self::CriticalEnter | Self::CriticalBegin | Self::CriticalEnd | Self::CriticalExit => {
                RegionKind::Critical
            }
            Self::FlushEnter | Self::FlushExit => RegionKind::Flush,
            Self::LoopEnter | Self::LoopExit => RegionKind::Loop,
            Self::MasterBegin | Self::MasterEnd => RegionKind::Master,
            Self::OrderedEnter | Self::OrderedBegin | Self::OrderedEnd | Self::OrderedExit => {
                RegionKind::Ordered
            }
            Self::SingleEnter | Self::SingleBegin | Self::SingleEnd | Self::SingleExit => {
                RegionKind::Single
            }
            Self::TaskyieldEnter | Self::TaskyieldExit => RegionKind::Taskyield,
            Self::WorkshareEnter | Self::WorkshareExit => RegionKind::Workshare,
            _ => return None,
        })
    }

    /// One representative for all events with the same effect on their frames. The probes of
    /// these events share one piece of code, which a program contains once.
    #[inline(always)]
    #[must_use]
    pub const fn representative(self) -> Self {
        match self {
            Self::ImplicitBarrierEnter
            | Self::ImplicitBarrierExit
            | Self::BarrierEnter
            | Self::BarrierExit
            | Self::CriticalEnd
            | Self::CriticalExit
            | Self::TaskEnd => self,
            _ => match self.action() {
                Action::Open(PseudoRegion::Enter) => Self::CriticalEnter,
                Action::Open(PseudoRegion::Main) => Self::ConstructEnter,
                Action::SwitchPhase(PseudoRegion::Body) => Self::ScopeBegin,
                Action::SwitchPhase(PseudoRegion::Main) => Self::ScopeEnd,
                Action::SwitchPhase(PseudoRegion::Ibarr) => Self::TaskgroupEnd,
                Action::Close => Self::ConstructExit,
                Action::OpenWork => Self::LoopEnter,
                Action::CloseWork => Self::LoopExit,
                Action::Open(_) | Action::SwitchPhase(_) => self,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_fortran_are_those_in_c_in_lower_case() {
        for (index, (c, fortran, event)) in FUNCTIONS.iter().enumerate() {
            assert_eq!(c.strip_prefix("POMP_"), Some(event.name()));
            assert_eq!(event.name().to_ascii_lowercase(), *fortran);
            assert!(FUNCTIONS[..index].iter().all(|(other, ..)| other != c));
        }
    }

    #[test]
    fn what_ends_a_construct_closes_its_frame() {
        for row in crate::region_kind::REGION_KINDS {
            if let Some(event) = Event::behind_barrier(row.kind) {
                assert!(matches!(event.action(), Action::Close | Action::CloseWork));
            }
        }
        assert_eq!(
            Event::behind_barrier(RegionKind::Scope),
            Some(Event::ScopeExit)
        );
        assert_eq!(Event::behind_barrier(RegionKind::Taskgroup), None);
    }
}
