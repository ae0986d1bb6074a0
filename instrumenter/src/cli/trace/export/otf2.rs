//! OTF2, which Vampir, Scalasca and Cube's tools read. There is a location for each stream and
//! a region for each construct and each of its phases. Forks, teams and tasks use OTF2's own
//! events, and barriers are collective operations of their teams. OTF2 has no event for chunks.

mod teams;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use otf2::{
    Archive, Definitions, Error, Events, Host, Library, Location, Region, Role as Stands, Strings,
};
use profile::region_kind::{PseudoRegion, RegionKind};
use trace::export::{phase, place, region};
use trace::layout::label_parts;
use trace::read::Trace;
use trace::replay::{Event, Listener, LockEvent, Open, Role, replay_closed};

use super::{Failure, failure};
use teams::{Teams, team_of};

/// The name under which Score-P puts an archive into its folder.
const NAME: &str = "traces";

/// The number of a thread's implicit task.
const IMPLICIT: u32 = 0;

/// Writes the folder `output` with an archive in it.
pub(super) fn write(trace: &Trace, output: &Path) -> Result<(), Failure> {
    let taken = |why: &str| failure(format!("'{}': {why}", output.display()));
    if output.symlink_metadata().is_ok() {
        return Err(taken("it is there already"));
    }
    let library = Library::load(std::env::var_os("ROMP_OTF2").as_deref()).map_err(failure)?;
    // The archive is moved to its place when it is complete.
    let scratch = tempfile::Builder::new()
        .prefix(".romp-otf2-")
        .tempdir_in(crate::names::directory(output))
        .map_err(|error| taken(&error.to_string()))?;
    let folder = scratch.path().join("otf2");
    archive(trace, &library, &folder)?;
    std::fs::rename(&folder, output).map_err(|error| taken(&error.to_string()))
}

fn archive(trace: &Trace, library: &Library, folder: &Path) -> Result<(), Failure> {
    let mut archive = Archive::create(library, folder, NAME).map_err(failure)?;
    let mut regions = Regions::default();
    let teams = Teams::read(trace, &mut regions).map_err(failure)?;
    let mut locations = Vec::new();
    let ranks: BTreeMap<u64, u32> = trace.streams().zip(0..).collect();
    for (stream, name) in trace.streams().zip(&teams.lanes) {
        let mut lane = Lane {
            trace,
            events: archive.events(stream).map_err(failure)?,
            regions: &mut regions,
            ranks: &ranks,
            teams: &teams,
            own: ranks.get(&stream).copied().unwrap_or_default(),
            team: 0,
            tasks: Vec::new(),
            counted: vec![0; trace.counters().count()],
            failed: Ok(()),
        };
        replay_closed(trace, stream, &mut lane).map_err(failure)?;
        lane.failed.map_err(failure)?;
        locations.push(Location {
            number: stream,
            events: lane.events.finish().map_err(failure)?,
            name: regions.strings.number(name),
        });
    }
    let place = place(trace);
    let [machine, node, process] =
        [place.machine, place.node, place.process].map(|name| regions.strings.number(&name));
    let counters = trace.counters().map(|name| regions.strings.number(name));
    let counters = counters.collect();
    let place = Host {
        machine,
        node,
        process,
    };
    archive
        .finish(Definitions {
            length: trace.ns(trace.header.end.ticks),
            started: trace.header.start_unix_ns,
            strings: regions.strings,
            regions: regions.all,
            locations,
            teams: teams.all,
            place,
            counters,
        })
        .map_err(failure)
}

/// The number of threads that a region asks for, if the source gives it as a number.
fn requested(trace: &Trace, region: u32) -> Option<u32> {
    let directive = trace.region(region)?.directive.as_deref()?;
    let (_, argument) = directive.split_once("num_threads(")?;
    argument.split_once(')')?.0.trim().parse().ok()
}

/// The regions of the archive; they are added when first used.
#[derive(Default)]
struct Regions {
    numbers: HashMap<(u32, Part), u32>,
    all: Vec<Region>,
    strings: Strings,
}

/// The part of a region of ours that is a region in OTF2.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Part {
    Whole,
    /// A parallel region as the forking thread sees it.
    Fork,
    Phase(&'static str, PseudoRegion),
}

impl Regions {
    fn number(&mut self, trace: &Trace, of: u32, part: Part) -> u32 {
        if let Some(number) = self.numbers.get(&(of, part)) {
            return *number;
        }
        let mut name = region(trace, of);
        match part {
            Part::Whole => {}
            Part::Fork => name.push_str(" (fork to join)"),
            Part::Phase(phase, _) => name.push_str(&format!(" ({phase})")),
        }
        let descriptor = trace.region(of);
        let kind = descriptor.and_then(|known| RegionKind::from_region_type(&known.region_type));
        let number = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        let name = self.strings.number(&name);
        self.all.push(Region {
            name,
            role: stands_for(kind, part),
            file: self
                .strings
                .number(descriptor.map_or("", |known| &known.begin.file)),
            lines: descriptor.map_or((0, 0), |known| (known.begin.first, known.end.last)),
        });
        self.numbers.insert((of, part), number);
        number
    }
}

/// The role of a region in OTF2.
fn stands_for(kind: Option<RegionKind>, part: Part) -> Stands {
    use RegionKind as K;
    let phase = match part {
        Part::Fork => return Stands::Parallel,
        Part::Whole => None,
        Part::Phase(_, phase) => Some(phase),
    };
    match (kind, phase) {
        (Some(K::Taskgroup), Some(PseudoRegion::Ibarr)) => Stands::TaskWait,
        (_, Some(PseudoRegion::Ibarr)) => Stands::ImplicitBarrier,
        (Some(K::Critical), Some(PseudoRegion::Body)) => Stands::CriticalBlock,
        (Some(K::Single), Some(PseudoRegion::Body)) => Stands::SingleBlock,
        (Some(K::Ordered), Some(PseudoRegion::Body)) => Stands::OrderedBlock,
        (_, Some(_)) => Stands::Code,
        (Some(kind), None) => match kind {
            K::Parallel | K::ParallelLoop | K::ParallelSections | K::ParallelWorkshare => {
                Stands::Parallel
            }
            K::Loop | K::Taskloop | K::GenericLoop | K::Distribute => Stands::Loop,
            K::Sections => Stands::Sections,
            K::Section => Stands::Section,
            K::Workshare => Stands::Workshare,
            K::Single => Stands::Single,
            K::Master => Stands::Master,
            K::Critical => Stands::Critical,
            K::Atomic => Stands::Atomic,
            K::Barrier => Stands::Barrier,
            K::Flush => Stands::Flush,
            K::Ordered => Stands::Ordered,
            K::Task | K::UntiedTask => Stands::TaskCreate,
            K::TaskExec | K::UntiedTaskExec => Stands::Task,
            K::Taskwait | K::Taskgroup => Stands::TaskWait,
            K::Function => Stands::Function,
            _ => Stands::Code,
        },
        (None, None) => Stands::Code,
    }
}

/// One stream while it is written.
struct Lane<'a, 'e> {
    trace: &'a Trace,
    events: Events<'e>,
    regions: &'a mut Regions,
    ranks: &'a BTreeMap<u64, u32>,
    teams: &'a Teams,
    /// Its own rank.
    own: u32,
    /// The number of the innermost team that it is in.
    team: u32,
    /// The tasks that are being executed, by the labels of their creation.
    tasks: Vec<u64>,
    /// The values of the counters so far.
    counted: Vec<u64>,
    failed: Result<(), Error>,
}

impl Lane<'_, '_> {
    fn then(&mut self, event: impl FnOnce(&mut Events<'_>) -> Result<(), Error>) {
        if self.failed.is_ok() {
            self.failed = event(&mut self.events);
        }
    }

    fn number(&mut self, region: u32, part: Part) -> u32 {
        self.regions.number(self.trace, region, part)
    }

    fn whole(open: &Open) -> Part {
        match open.role {
            Role::Fork => Part::Fork,
            _ => Part::Whole,
        }
    }

    fn begin(&mut self, at: u64, open: &Open) {
        let region = self.number(open.region, Self::whole(open));
        if open.role == Role::Member {
            let team = self.teams.number(open.label);
            self.then(|events| events.team_begin(at, team));
        }
        self.then(|events| events.enter(at, region));
        if open.role == Role::Fork {
            let wanted = requested(self.trace, open.region);
            let wanted = wanted.unwrap_or_else(|| self.teams.size(open.label));
            self.then(|events| events.fork(at, wanted));
        }
        if self.kind(open) == Some(RegionKind::Barrier) {
            self.arrive(at);
        }
        self.begin_phase(at, open);
    }

    fn kind(&self, open: &Open) -> Option<RegionKind> {
        RegionKind::from_region_type(&self.trace.region(open.region)?.region_type)
    }

    /// Whether a phase is the barrier of a construct.
    fn is_barrier(&self, open: &Open) -> bool {
        open.phase == PseudoRegion::Ibarr && self.kind(open) != Some(RegionKind::Taskgroup)
    }

    /// Begins a barrier of the team, if there is one.
    fn arrive(&mut self, at: u64) {
        if self.team != 0 {
            self.then(|events| events.collective_begin(at));
        }
    }

    fn depart(&mut self, at: u64) {
        let team = self.team;
        if team != 0 {
            self.then(|events| events.collective_end(at, team));
        }
    }

    fn begin_phase(&mut self, at: u64, open: &Open) {
        if let Some(name) = phase(open) {
            let region = self.number(open.region, Part::Phase(name, open.phase));
            self.then(|events| events.enter(at, region));
            if self.is_barrier(open) {
                self.arrive(at);
            }
        }
    }

    fn end_phase(&mut self, at: u64, open: &Open) {
        if let Some(name) = phase(open) {
            if self.is_barrier(open) {
                self.depart(at);
            }
            let region = self.number(open.region, Part::Phase(name, open.phase));
            self.then(|events| events.leave(at, region));
        }
    }

    /// `time` in ticks.
    fn end(&mut self, time: u64, open: &Open) {
        let at = self.trace.ns(time);
        self.end_phase(at, open);
        if let Some(task) = open.is_task().then(|| self.tasks.pop()).flatten() {
            let (team, thread, number) = self.task(task);
            self.then(|events| events.task_complete(at, team, thread, number));
            let around = self.tasks.last().map(|label| self.task(*label));
            let own = || (team, self.teams.member(team, self.own), IMPLICIT);
            let (team, thread, number) = around.unwrap_or_else(own);
            self.then(|events| events.task_switch(at, team, thread, number));
        }
        if self.kind(open) == Some(RegionKind::Barrier) {
            self.depart(at);
        }
        if open.role == Role::Fork {
            self.then(|events| events.join(at));
        }
        let region = self.number(open.region, Self::whole(open));
        self.then(|events| events.leave(at, region));
        if open.role == Role::Member {
            let team = self.teams.number(open.label);
            self.then(|events| events.team_end(at, team));
        }
    }

    /// The team of a task of the innermost team, the thread in it that created the task, and
    /// the task's number there.
    fn task(&self, label: u64) -> (u32, u32, u32) {
        let (stream, number) = label_parts(label);
        let rank = self.ranks.get(&stream).copied().unwrap_or(u32::MAX);
        let thread = self.teams.member(self.team, rank);
        (self.team, thread, u32::try_from(number).unwrap_or(u32::MAX))
    }

    /// The values of all counters are recorded one after the other, and written together.
    fn count(&mut self, at: u64, counter: usize, value: u64) {
        let is_last = counter + 1 == self.counted.len();
        if let Some(counted) = self.counted.get_mut(counter) {
            *counted = value;
        }
        if is_last && self.failed.is_ok() {
            self.failed = self.events.counters(at, &self.counted);
        }
    }

    /// Writes the call of a lock routine; it is known when it has ended.
    fn lock(&mut self, at: u64, lock: &LockEvent) {
        if lock.start != 0 {
            let start = self.trace.ns(lock.start);
            let region = self.number(lock.region, Part::Whole);
            self.then(|events| events.enter(start, region));
            self.then(|events| events.leave(at, region));
        }
    }
}

impl Listener for Lane<'_, '_> {
    fn event(&mut self, time: u64, open: &[Open], event: &Event) {
        let Some(top) = open.last() else { return };
        let at = self.trace.ns(time);
        self.team = self.teams.number(team_of(open));
        match event {
            Event::Begin { .. } | Event::Known => self.begin(at, top),
            Event::SwitchPhase(to) => {
                self.end_phase(at, top);
                self.begin_phase(at, &Open { phase: *to, ..*top });
            }
            Event::End { .. } => self.end(time, top),
            Event::Create(label) => {
                let (team, thread, number) = self.task(*label);
                self.then(|events| events.task_create(at, team, thread, number));
            }
            Event::Executes(created) => {
                let label = if *created == 0 { top.label } else { *created };
                self.tasks.push(label);
                let (team, thread, number) = self.task(label);
                self.then(|events| events.task_switch(at, team, thread, number));
            }
            Event::Lock(lock) => self.lock(at, lock),
            Event::Counter { counter, value } => self.count(at, *counter as usize, *value),
            Event::Depend(_) | Event::Loop(_) | Event::Chunk(_) | Event::Missing(_) => {}
        }
    }
}
