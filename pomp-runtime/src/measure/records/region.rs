//! Regions: each construct's static record, registered once and never freed,
//! since the library or program part that it came from may be unloaded.
//!
//! Records with the same content are one region: those of a construct in a header that several
//! sources include, or of a library that is loaded twice.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock};

use profile::descriptor::Descriptor;
use profile::functions::{self, Filter};
use profile::group::{self, Groups};
use profile::region_kind::{Barrier, PseudoRegion, RegionKind};

use super::{ForkingThreads, Region};
use crate::measure::collector_counts::Occupants;
use crate::measure::config;
use crate::measure::errno;
use crate::measure::mutex::lock;
use crate::measure::shared::{SharedRef, leak};

impl Region {
    /// A parallel region that is a loop or sections at the same time.
    #[inline(always)]
    pub(crate) fn is_combined(&self) -> bool {
        is_combined(self.kind)
    }

    /// A construct that may have a `reduction` clause. Of programs that were not built with Romp the clauses are
    /// not known.
    pub(in crate::measure) fn may_reduce(&self) -> bool {
        self.descriptor.other.contains_key("hasReduction") || self.descriptor.code.is_some()
    }

    /// A parallel region whose implicit barrier has no events of its own. An instrumenter that puts
    /// its own barrier in front of that one reports it before any member ends.
    #[inline(always)]
    pub(crate) fn hides_barrier(&self) -> bool {
        self.kind.is_parallel() && !self.reports_barrier.load(Ordering::Relaxed)
    }

    /// Whether the region is a loop of which only the head is seen: the program asks for the
    /// thread's number there, and no call marks the end.
    #[inline(always)]
    pub(crate) fn is_known_by_its_head(&self) -> bool {
        // Nothing else has both: other loops have a call of their own, or come from the source.
        self.kind == RegionKind::Loop
            && !self.is_from_source()
            && self.descriptor.schedule.is_some()
    }

    /// Whether it is a loop or `workshare` that is passed over with the part of a team that it is in. Its
    /// source asks [`is_work_passed_over`] or [`passes_over_begin_of_loop`] then.
    ///
    /// [`is_work_passed_over`]: crate::measure::passed_members::is_work_passed_over
    /// [`passes_over_begin_of_loop`]: crate::measure::passed_members::passes_over_begin_of_loop
    pub(in crate::measure) fn may_be_counted_in_part(&self) -> bool {
        let is_work_in_source = || {
            matches!(self.kind, RegionKind::Loop | RegionKind::Workshare)
                && self.is_from_source()
                && self.descriptor.unsplit.is_none()
        };
        self.is_known_by_its_head()
            || is_work_in_source()
            || self.is_counted_in_part.load(Ordering::Relaxed)
    }

    /// Whether each instance has this pseudo-region. One thread of a team executes the body of a
    /// `single` construct. Whether an instance of a construct that was found by its code has a barrier at
    /// its end is known in each instance only. Such parts are counted as they begin.
    #[inline(always)]
    pub(in crate::measure) fn has_in_each_instance(&self, part: PseudoRegion) -> bool {
        match part {
            PseudoRegion::Body => self.kind != RegionKind::Single,
            PseudoRegion::Ibarr => self.is_from_source(),
            _ => true,
        }
    }

    /// From now on it may be counted in parts.
    #[cfg_attr(test, allow(dead_code, reason = "its users are not built"))]
    pub(crate) fn set_counted_in_part(&self) {
        self.is_counted_in_part.store(true, Ordering::Relaxed);
    }

    /// Whether some of its instances may be passed over. In an instance of what a whole team executes
    /// nothing else may happen, and its source must ask whether it is passed over
    /// ([`set_asked_about`](Self::set_asked_about)).
    pub(in crate::measure) fn may_be_passed_over(&self) -> bool {
        let is_alone = || {
            let is_split = self.descriptor.unsplit.is_none();
            let is_asked_about = self.is_from_source() || self.is_asked_about();
            is_asked_about && is_split && !self.asks_for_chunks() && !self.holds_others()
        };
        self.kind.may_be_passed_over() && (!self.kind.is_shared_by_a_team() || is_alone())
    }

    fn is_asked_about(&self) -> bool {
        self.is_asked_about.load(Ordering::Relaxed)
    }

    /// Of what a whole team executes, and `romp run` found by its code: the functions that report its
    /// events ask whether an instance is passed over.
    #[cfg_attr(
        any(test, not(target_arch = "x86_64")),
        allow(dead_code, reason = "its users are not built")
    )]
    pub(crate) fn set_asked_about(&self) {
        self.is_asked_about.store(true, Ordering::Relaxed);
    }

    /// Whether an instrumenter found it in the source, and not `romp run` by its code.
    pub(in crate::measure) fn is_from_source(&self) -> bool {
        self.descriptor.code.is_none()
    }

    /// Whether it is a loop whose threads ask for chunks. The requests are recorded at its frame.
    pub(in crate::measure) fn asks_for_chunks(&self) -> bool {
        let schedule = self.descriptor.schedule.as_deref();
        schedule.is_some_and(|schedule| !schedule.starts_with("static"))
    }

    /// The length of a window, in instances (see the field).
    pub(in crate::measure) fn window(&self) -> u64 {
        u64::from(self.window.load(Ordering::Relaxed))
    }

    /// Sets the length of the windows.
    pub(in crate::measure) fn set_window(&self, instances: u32) {
        self.window.store(instances, Ordering::Relaxed);
    }

    /// Whether anything else happened in an instance that was passed over: of a parallel region, in a
    /// member's part.
    #[inline(always)]
    pub(in crate::measure) fn holds_others(&self) -> bool {
        self.holds_others.load(Ordering::Relaxed)
    }

    /// Notes that something else happens in such an instance.
    pub(in crate::measure) fn hold_others(&self) {
        self.holds_others.store(true, Ordering::Relaxed);
    }

    /// Whether instances of it may be passed over somewhere.
    #[inline(always)]
    pub(crate) fn is_sampled(&self) -> bool {
        self.is_sampled.load(Ordering::Relaxed)
    }

    /// From now on instances of it may be passed over.
    pub(in crate::measure) fn set_sampled(&self) {
        self.is_sampled.store(true, Ordering::Relaxed);
    }

    /// Whether instances of it are timed by the coarse clock somewhere.
    #[inline(always)]
    pub(in crate::measure) fn has_coarse_times(&self) -> bool {
        self.has_coarse_times.load(Ordering::Relaxed)
    }

    /// From now on instances of it may be timed by the coarse clock.
    pub(in crate::measure) fn set_coarse_times(&self) {
        self.has_coarse_times.store(true, Ordering::Relaxed);
    }

    /// The program counts instances of it itself.
    #[inline(always)]
    pub(in crate::measure) fn set_lent(&self) {
        // Mostly it is set already. Then nothing is written to memory that all threads read.
        if !self.is_lent() {
            self.is_lent.store(true, Ordering::Relaxed);
        }
    }

    /// Whether the program counts instances of it itself.
    #[inline(always)]
    pub(crate) fn is_lent(&self) -> bool {
        self.is_lent.load(Ordering::Relaxed)
    }

    /// A thread reports that it waits at the end of this construct.
    #[inline(always)]
    pub(in crate::measure) fn reports_barrier(&self) {
        if self.hides_barrier() {
            self.reports_barrier.store(true, Ordering::Relaxed);
        }
    }

    /// A construct within a team that could not be split, so that its barrier has no events.
    pub(in crate::measure) fn is_unsplit(&self) -> bool {
        is_unsplit(self.kind, &self.descriptor)
    }

    /// The runtime reports the barrier at the end of this construct.
    pub(in crate::measure) fn reports_end(&self) {
        // Mostly it is set already. Then nothing is written to memory that all threads read.
        if !self.reports_barrier.load(Ordering::Relaxed) {
            self.reports_barrier.store(true, Ordering::Relaxed);
        }
    }

    /// Why the wait at its end cannot be separated from the rest; none if it can.
    pub(crate) fn hidden_end_reason(&self) -> Option<&str> {
        let is_reported = self.is_unsplit() && self.reports_barrier.load(Ordering::Relaxed);
        self.descriptor.unsplit.as_deref().filter(|_| !is_reported)
    }

    /// The region to which a section's events belong.
    #[inline(always)]
    pub(crate) fn section(&'static self) -> Option<&'static Region> {
        if self.kind == RegionKind::Section {
            Some(self)
        } else {
            self.part("section")
        }
    }

    /// The region of the section with this number, from 1, of this construct. Its name is the number.
    /// The part of a section is the next one.
    pub(crate) fn numbered_section(&'static self, number: u32) -> Option<&'static Region> {
        (1..=number).try_fold(self, |before, number| match before.part.get() {
            Some(section) => Some(section),
            None => before.new_part(Descriptor {
                name: Some(number.to_string()),
                num_sections: self.descriptor.num_sections,
                ..before.descriptor_of_part("section")
            }),
        })
    }

    /// The region to which the executions of a task belong.
    #[inline(always)]
    pub(crate) fn execution(&'static self) -> Option<&'static Region> {
        match self.kind {
            kind if kind.is_task_execution() => Some(self),
            RegionKind::UntiedTask => self.part("taskuntiedexec"),
            _ => self.part("taskexec"),
        }
    }

    /// The same, if it is known already.
    #[inline(always)]
    pub(crate) fn known_execution(&'static self) -> Option<&'static Region> {
        match self.kind.is_task_execution() {
            true => Some(self),
            false => self.part.get(),
        }
    }

    /// The count of threads in it. Critical sections of one name exclude each other and share it.
    pub(crate) fn occupants(&'static self) -> &'static Occupants {
        &self.namesake.get().unwrap_or(self).occupants
    }

    /// Whether `part` is the part of this region.
    pub(in crate::measure) fn has_part(&self, part: &'static Region) -> bool {
        self.part.is(part)
    }

    #[inline(always)]
    fn part(&self, region_type: &str) -> Option<&'static Region> {
        match self.part.get() {
            Some(part) => Some(part),
            None => self.new_part(self.descriptor_of_part(region_type)),
        }
    }

    #[cold]
    #[inline(never)]
    fn descriptor_of_part(&self, region_type: &str) -> Descriptor {
        Descriptor {
            region_type: region_type.to_owned(),
            variable: None,
            num_sections: None,
            schedule: None,
            ..self.descriptor.clone()
        }
    }

    #[cold]
    #[inline(never)]
    fn new_part(&self, descriptor: Descriptor) -> Option<&'static Region> {
        self.part.set(errno::keep(|| register(descriptor)));
        self.part.get()
    }
}

/// All regions in the order of their registration.
#[derive(Default)]
pub(crate) struct Registry {
    regions: Vec<&'static Region>,
    by_text: BTreeMap<String, &'static Region>,
    /// The names of critical sections, numbered from 1.
    critical_names: Vec<Option<String>>,
}

impl Registry {
    /// The number of a critical section's name; 0 of other regions. Numbers are small, so that none
    /// is the address of a lock.
    fn guard(&mut self, descriptor: &Descriptor) -> usize {
        if descriptor.kind() != Some(RegionKind::Critical) {
            return 0;
        }
        let known = self.critical_names.iter();
        match known.clone().position(|name| *name == descriptor.name) {
            Some(index) => index + 1,
            None => {
                self.critical_names.push(descriptor.name.clone());
                self.critical_names.len()
            }
        }
    }
}

/// The function that registers the regions that nothing has registered so far.
static MORE: Mutex<Option<fn()>> = Mutex::new(None);

/// Sets the function that registers regions that have not run. It is called whenever a profile is
/// made.
pub(crate) fn look_for_more(register: fn()) {
    *lock(&MORE) = Some(register);
}

/// Registers the regions that nothing has registered so far.
pub(crate) fn complete() {
    let more = *lock(&MORE);
    if let Some(register) = more {
        register();
    }
}

static REGISTRY: Mutex<Option<Registry>> = Mutex::new(None);

/// Held by a thread that identifies a new region, together with whatever else it locks. A thread
/// that forks the process holds it, too.
static NEW: Mutex<()> = Mutex::new(());

/// See [`NEW`].
pub(crate) fn new() -> MutexGuard<'static, ()> {
    lock(&NEW)
}

/// The registry, locked.
pub(crate) fn locked() -> MutexGuard<'static, Option<Registry>> {
    lock(&REGISTRY)
}

/// Registers what a descriptor says; none if memory is short.
pub(crate) fn register(descriptor: Descriptor) -> Option<&'static Region> {
    let mut guard = locked();
    let registry = guard.get_or_insert_default();
    let text = descriptor.to_text();
    if let Some(region) = registry.by_text.get(&text) {
        return Some(region);
    }
    let guard = registry.guard(&descriptor);
    let number = u32::try_from(registry.regions.len()).unwrap_or(u32::MAX);
    let region = new_region(descriptor, guard, number)?;
    let mut known = registry.regions.iter().copied();
    let namesake = known.find(|known| guard != 0 && known.guard == guard);
    region.namesake.set(namesake);
    registry.regions.push(region);
    registry.by_text.insert(text, region);
    Some(region)
}

/// Whether there is a construct within teams that could not be split.
static SOME_IS_UNSPLIT: AtomicBool = AtomicBool::new(false);

/// Whether there is a construct within teams that could not be split.
#[inline(always)]
pub(crate) fn some_is_unsplit() -> bool {
    SOME_IS_UNSPLIT.load(Ordering::Relaxed)
}

#[inline(always)]
const fn is_combined(kind: RegionKind) -> bool {
    matches!(
        kind,
        RegionKind::ParallelLoop | RegionKind::ParallelSections | RegionKind::ParallelWorkshare
    )
}

/// The end of a team needs no barrier of its own to be known, unless that of a loop or of sections stands in
/// front of it. With `copyprivate`, threads wait in front of the barrier, too: that wait stays estimated.
fn is_unsplit(kind: RegionKind, descriptor: &Descriptor) -> bool {
    descriptor.unsplit.is_some()
        && !descriptor.other.contains_key("hasCopyPrivate")
        && (!kind.is_parallel() || is_combined(kind))
        && kind.unsplit() != Barrier::Measured
}

fn new_region(descriptor: Descriptor, guard: usize, number: u32) -> Option<&'static Region> {
    let kind = RegionKind::nearest(&descriptor.region_type);
    if is_unsplit(kind, &descriptor) {
        SOME_IS_UNSPLIT.store(true, Ordering::Relaxed);
    }
    leak(Region {
        off: disabled().contain(group::of(kind)) || !is_wanted(&descriptor),
        descriptor,
        kind,
        number,
        forkers: ForkingThreads::none(),
        guard,
        namesake: SharedRef::none(),
        occupants: Occupants::none(),
        part: SharedRef::none(),
        reports_barrier: AtomicBool::new(false),
        holds_others: AtomicBool::new(false),
        window: AtomicU32::new(0),
        is_counted_in_part: AtomicBool::new(false),
        is_asked_about: AtomicBool::new(false),
        is_lent: AtomicBool::new(false),
        is_sampled: AtomicBool::new(false),
        has_coarse_times: AtomicBool::new(false),
    })
}

/// A region that is in no registry.
pub(in crate::measure) fn unregistered(descriptor: Descriptor) -> Option<&'static Region> {
    new_region(descriptor, 0, u32::MAX)
}

/// The groups that the user switched off. A value that can't be read is reported together with the
/// problems of all other settings.
fn disabled() -> &'static Groups {
    static DISABLED: OnceLock<Groups> = OnceLock::new();
    DISABLED.get_or_init(|| {
        let list = config::variable("ROMP_DISABLE").unwrap_or_default();
        Groups::parse(&list.to_string_lossy()).unwrap_or_default()
    })
}

/// A note on the groups of constructs that the user has switched off; none if there are none.
pub(crate) fn switched_off() -> Option<String> {
    let names: Vec<&str> = disabled().names().collect();
    (!names.is_empty()).then(|| {
        let names = names.join(", ");
        format!("groups of constructs that are not measured (ROMP_DISABLE): {names}")
    })
}

/// Whether a region is measured, as far as the filter of functions says. It concerns functions
/// only.
fn is_wanted(descriptor: &Descriptor) -> bool {
    static FILTER: OnceLock<Filter> = OnceLock::new();
    let is_function = descriptor.kind() == Some(RegionKind::Function);
    let Some(code) = descriptor.code.as_ref().filter(|_| is_function) else {
        return true;
    };
    let symbol = code.symbol.as_deref().unwrap_or_default();
    let name = descriptor.name.as_deref().unwrap_or_default();
    let filter = FILTER.get_or_init(|| {
        let list = config::variable("ROMP_FUNCTIONS").unwrap_or_default();
        Filter::parse(&list.to_string_lossy())
    });
    !functions::is_outlined(symbol) && filter.wants(&[name, symbol])
}

/// All regions so far.
pub(crate) fn all() -> Vec<&'static Region> {
    locked()
        .as_ref()
        .map_or_else(Vec::new, |registry| registry.regions.clone())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use profile::descriptor::SourceLines;

    pub(crate) fn descriptor(region_type: &str, line: u32) -> Descriptor {
        let lines = SourceLines {
            file: "a.c".into(),
            first: line,
            last: line,
        };
        Descriptor {
            region_type: region_type.into(),
            begin: lines.clone(),
            end: lines,
            ..Descriptor::default()
        }
    }

    /// A region that is in no registry.
    pub(crate) fn region(region_type: &str, line: u32) -> &'static Region {
        new_region(descriptor(region_type, line), 0, u32::MAX).unwrap()
    }

    /// A critical section that is in no registry, of a name with this number.
    pub(crate) fn critical(name: usize, line: u32) -> &'static Region {
        let mut descriptor = descriptor("critical", line);
        descriptor.name = Some(format!("name{name}"));
        new_region(descriptor, name, u32::MAX).unwrap()
    }

    /// An `atomic` construct that is in no registry and updates one variable.
    pub(crate) fn updating(variable: &str, line: u32) -> &'static Region {
        let mut descriptor = descriptor("atomic", line);
        descriptor.variable = Some(variable.to_owned());
        new_region(descriptor, 0, u32::MAX).unwrap()
    }

    /// An atomic read that is in no registry.
    pub(crate) fn reading(line: u32) -> &'static Region {
        let mut descriptor = descriptor("atomic", line);
        descriptor.directive = Some("omp atomic read".to_owned());
        new_region(descriptor, 0, u32::MAX).unwrap()
    }

    /// A loop that is in no registry and is known by its head.
    pub(crate) fn loop_at_head(line: u32) -> &'static Region {
        let mut descriptor = descriptor("for", line);
        descriptor.schedule = Some("static".to_owned());
        descriptor.code = Some(profile::model::Code {
            module: "a.out".to_owned(),
            offset: line.into(),
            symbol: None,
        });
        new_region(descriptor, 0, u32::MAX).unwrap()
    }

    /// A region with a reduction that is in no registry.
    pub(crate) fn reducing(region_type: &str, line: u32) -> &'static Region {
        let mut descriptor = descriptor(region_type, line);
        let other = &mut descriptor.other;
        other.insert("hasReduction".to_owned(), "1".to_owned());
        new_region(descriptor, 0, u32::MAX).unwrap()
    }

    #[test]
    fn the_same_record_is_one_region() {
        let one = register(descriptor("critical", 700)).unwrap();
        let same = register(descriptor("critical", 700)).unwrap();
        let other = register(descriptor("critical", 701)).unwrap();
        assert!(std::ptr::eq(one, same) && !std::ptr::eq(one, other));
        assert!(all().iter().any(|region| std::ptr::eq(*region, one)));
    }

    #[test]
    fn unknown_constructs_are_measured_as_the_nearest_kind() {
        assert_eq!(region("parallelshow", 1).kind, RegionKind::Parallel);
        assert_eq!(region("show", 1).kind, RegionKind::User);
    }

    #[test]
    fn sections_without_a_record_of_their_own_get_one() {
        let sections = region("sections", 702);
        let section = sections.section().unwrap();
        assert_eq!(section.kind, RegionKind::Section);
        assert!(std::ptr::eq(section, sections.section().unwrap()));
        assert!(std::ptr::eq(section, section.section().unwrap()));
    }

    #[test]
    fn sections_with_a_number_have_a_record_each() {
        let sections = region("sections", 703);
        let third = sections.numbered_section(3).unwrap();
        assert_eq!(third.kind, RegionKind::Section);
        assert_eq!(third.descriptor.name.as_deref(), Some("3"));
        let [first, again] = [1, 3].map(|number| sections.numbered_section(number).unwrap());
        assert_eq!(first.descriptor.name.as_deref(), Some("1"));
        assert!(std::ptr::eq(third, again) && !std::ptr::eq(third, first));
    }

    #[test]
    fn the_executions_of_a_task_are_a_region() {
        for (line, (task, kind)) in [
            ("task", RegionKind::TaskExec),
            ("taskuntied", RegionKind::UntiedTaskExec),
        ]
        .into_iter()
        .enumerate()
        {
            let task = region(task, 710 + line as u32);
            let execution = task.execution().unwrap();
            assert_eq!(execution.kind, kind);
            assert!(task.has_part(execution));
            assert!(std::ptr::eq(execution, execution.execution().unwrap()));
        }
    }
}
