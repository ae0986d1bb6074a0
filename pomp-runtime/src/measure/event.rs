//! The event table: what each event does to the frame of its region.
//!
//! A frame stands for one instance of a region on one thread. Besides `main`,
//! which lasts as long as the frame, at most one more pseudo-region runs in it,
//! its phase; the phase `Main` means that none does.

use profile::region_kind::PseudoRegion;

/// What a source can report about a region that is no team and no lock. The
/// begin of a task is in `task`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    ImplicitBarrierEnter,
    ImplicitBarrierExit,
    LoopEnter,
    LoopExit,
    SectionsEnter,
    SectionsExit,
    SectionBegin,
    SectionEnd,
    SingleEnter,
    SingleBegin,
    SingleEnd,
    SingleExit,
    WorkshareEnter,
    WorkshareExit,
    ScopeEnter,
    ScopeBegin,
    ScopeEnd,
    ScopeExit,
    MasterBegin,
    MasterEnd,
    CriticalEnter,
    CriticalBegin,
    CriticalEnd,
    CriticalExit,
    OrderedEnter,
    OrderedBegin,
    OrderedEnd,
    OrderedExit,
    AtomicEnter,
    AtomicExit,
    BarrierEnter,
    BarrierExit,
    FlushEnter,
    FlushExit,
    TaskCreateEnter,
    TaskCreateExit,
    TaskEnd,
    TaskwaitEnter,
    TaskwaitExit,
    TaskyieldEnter,
    TaskyieldExit,
    TaskgroupEnter,
    TaskgroupBegin,
    TaskgroupEnd,
    TaskgroupExit,
    TaskloopEnter,
    TaskloopExit,
    GenericLoopEnter,
    GenericLoopExit,
    DistributeEnter,
    DistributeExit,
    TeamsEnter,
    TeamsExit,
    TargetEnter,
    TargetExit,
    ConstructEnter,
    ConstructExit,
    UserBegin,
    UserEnd,
    FunctionEnter,
    FunctionExit,
}

/// What an event does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Opens a frame, in this phase.
    Open(PseudoRegion),
    /// Ends the frame's phase and starts this one.
    Turn(PseudoRegion),
    /// Ends the frame.
    Close,
    /// Opens a frame with its body; in a combined region, which has its frame
    /// already, starts the body.
    OpenWork,
    /// Ends what `OpenWork` began.
    CloseWork,
}

impl Event {
    /// The event that stands for all that do the same. Probes of one effect are one
    /// piece of code then, which every program carries once.
    #[inline(always)]
    pub(super) const fn alike(self) -> Self {
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
                Action::Turn(PseudoRegion::Body) => Self::ScopeBegin,
                Action::Turn(PseudoRegion::Main) => Self::ScopeEnd,
                Action::Turn(PseudoRegion::Ibarr) => Self::TaskgroupEnd,
                Action::Close => Self::ConstructExit,
                Action::OpenWork => Self::LoopEnter,
                Action::CloseWork => Self::LoopExit,
                Action::Open(_) | Action::Turn(_) => self,
            },
        }
    }

    /// The table. Its callers pass constants, so that it costs nothing.
    #[inline(always)]
    pub(crate) const fn action(self) -> Action {
        use Action::{Close, CloseWork, Open, OpenWork, Turn};
        use PseudoRegion::{Body, Enter, Exit, Ibarr, Main};
        match self {
            Self::ImplicitBarrierEnter => Turn(Ibarr),
            Self::ImplicitBarrierExit => Turn(Main),
            Self::LoopEnter | Self::SectionsEnter | Self::WorkshareEnter => OpenWork,
            Self::LoopExit | Self::SectionsExit | Self::WorkshareExit => CloseWork,
            Self::SingleEnter | Self::ScopeEnter | Self::TaskgroupEnter => Open(Main),
            Self::SingleBegin | Self::ScopeBegin | Self::TaskgroupBegin => Turn(Body),
            Self::SingleEnd | Self::ScopeEnd => Turn(Main),
            Self::TaskgroupEnd => Turn(Ibarr),
            Self::SingleExit | Self::ScopeExit | Self::TaskgroupExit => Close,
            Self::CriticalEnter | Self::OrderedEnter => Open(Enter),
            Self::CriticalBegin | Self::OrderedBegin => Turn(Body),
            Self::CriticalEnd | Self::OrderedEnd => Turn(Exit),
            Self::CriticalExit | Self::OrderedExit => Close,
            Self::SectionBegin
            | Self::MasterBegin
            | Self::AtomicEnter
            | Self::BarrierEnter
            | Self::FlushEnter
            | Self::TaskCreateEnter
            | Self::TaskwaitEnter
            | Self::TaskyieldEnter
            | Self::TaskloopEnter
            | Self::GenericLoopEnter
            | Self::DistributeEnter
            | Self::TeamsEnter
            | Self::TargetEnter
            | Self::ConstructEnter
            | Self::UserBegin
            | Self::FunctionEnter => Open(Main),
            Self::SectionEnd
            | Self::MasterEnd
            | Self::AtomicExit
            | Self::BarrierExit
            | Self::FlushExit
            | Self::TaskCreateExit
            | Self::TaskEnd
            | Self::TaskwaitExit
            | Self::TaskyieldExit
            | Self::TaskloopExit
            | Self::GenericLoopExit
            | Self::DistributeExit
            | Self::TeamsExit
            | Self::TargetExit
            | Self::ConstructExit
            | Self::UserEnd
            | Self::FunctionExit => Close,
        }
    }
}
