//! The teams of a trace: their members, the region that each was forked for, and the team that
//! it was forked in. They are found before events are written, since events refer to them.

use std::collections::{BTreeMap, HashMap};

use otf2::Team;
use trace::export::{Lane, region};
use trace::read::{ReadError, Trace};
use trace::replay::{Event, Listener, Open, Role, replay};

use super::Regions;

/// All threads of the process, for events outside known teams.
const EVERYBODY: u32 = 0;

/// The largest depth of nested teams; deeper nesting means damage.
const DEEPEST: usize = 64;

/// The data of one instance of a parallel region.
#[derive(Default)]
struct Instance {
    region: u32,
    /// The label of the team in which it was forked.
    parent: u64,
    /// Its threads' places among the streams, by the threads' numbers in it.
    members: BTreeMap<u32, u32>,
    /// The number of its threads according to its join; 0 if unknown.
    size: u64,
}

/// The teams of a trace.
pub(super) struct Teams {
    /// By label: the number of the team, and its number of threads.
    instances: HashMap<u64, (u32, u32)>,
    /// By number, from 1. Instances with the same threads are one team.
    pub(super) all: Vec<Team>,
    /// The names of streams.
    pub(super) lanes: Vec<String>,
}

/// Reads the teams from a trace.
struct Reader<'a> {
    trace: &'a Trace,
    instances: HashMap<u64, Instance>,
    /// The place of the stream that is read.
    place: u32,
    lane: Lane,
}

impl Listener for Reader<'_> {
    fn event(&mut self, _: u64, open: &[Open], event: &Event) {
        let Some(top) = open.last() else { return };
        let is_begin = matches!(event, Event::Begin { .. } | Event::Known);
        if is_begin {
            self.lane.serves(open);
        }
        match (top.role, event) {
            _ if top.label == 0 => {}
            (Role::Member, _) if is_begin => {
                let steps = top.path.and_then(|path| self.trace.forked_by(path));
                let number = steps.map_or(0, |(_, number)| number);
                let instance = self.instances.entry(top.label).or_default();
                instance.members.insert(number, self.place);
            }
            (Role::Fork, Event::End { size, .. }) => {
                self.instances.entry(top.label).or_default().size = *size;
            }
            (Role::Fork, _) if is_begin => {
                let parent = team_of(&open[..open.len() - 1]);
                let instance = self.instances.entry(top.label).or_default();
                (instance.region, instance.parent) = (top.region, parent);
            }
            _ => {}
        }
    }
}

/// The label of the innermost team; 0 outside of any.
pub(super) fn team_of(open: &[Open]) -> u64 {
    let member = open.iter().rev().find(|open| open.role == Role::Member);
    member.map_or(0, |member| member.label)
}

impl Teams {
    pub(super) fn read(trace: &Trace, regions: &mut Regions) -> Result<Self, ReadError> {
        let mut reader = Reader {
            trace,
            instances: HashMap::new(),
            place: 0,
            lane: Lane::default(),
        };
        let mut lanes = Vec::new();
        for (place, stream) in (0..).zip(trace.streams()) {
            reader.place = place;
            replay(trace, stream, &mut reader)?;
            lanes.push(std::mem::take(&mut reader.lane).name(trace, stream));
        }
        let mut teams = Self {
            instances: HashMap::new(),
            all: Vec::new(),
            lanes,
        };
        teams.number_all(trace, &reader.instances, regions);
        Ok(teams)
    }

    /// Numbers the teams, outer ones first.
    fn number_all(
        &mut self,
        trace: &Trace,
        instances: &HashMap<u64, Instance>,
        regions: &mut Regions,
    ) {
        let mut known: HashMap<Team, u32> = HashMap::new();
        let mut labels: Vec<u64> = instances.keys().copied().collect();
        labels.sort_unstable();
        for label in labels {
            let around = |label: &u64| instances.get(label).map(|instance| instance.parent);
            let mut path: Vec<u64> = std::iter::successors(Some(label), around)
                .take_while(|label| instances.contains_key(label))
                .take(DEEPEST)
                .collect();
            while let Some(label) = path.pop() {
                if self.instances.contains_key(&label) {
                    continue;
                }
                let Some(instance) = instances.get(&label) else {
                    continue;
                };
                let team = Team {
                    name: regions.strings.number(&region(trace, instance.region)),
                    members: instance.members.values().copied().map(u64::from).collect(),
                    parent: self.number(instance.parent),
                };
                let next = u32::try_from(known.len() + 1).unwrap_or(EVERYBODY);
                let number = *known.entry(team).or_insert_with_key(|team| {
                    self.all.push(team.clone());
                    next
                });
                let size = u64::try_from(instance.members.len()).unwrap_or(0);
                let size = u32::try_from(instance.size.max(size)).unwrap_or(u32::MAX);
                self.instances.insert(label, (number, size));
            }
        }
    }

    /// The number of the team with this label.
    pub(super) fn number(&self, label: u64) -> u32 {
        self.instances
            .get(&label)
            .map_or(EVERYBODY, |(number, _)| *number)
    }

    /// The number of threads of the team with this label; 0 if unknown.
    pub(super) fn size(&self, label: u64) -> u32 {
        self.instances.get(&label).map_or(0, |(_, size)| *size)
    }

    /// The number in a team of the thread with this place among the streams.
    pub(super) fn member(&self, team: u32, place: u32) -> u32 {
        let index = (team as usize).checked_sub(1);
        let known = index.and_then(|index| self.all.get(index));
        let found = known.and_then(|team| {
            team.members
                .iter()
                .position(|member| *member == u64::from(place))
        });
        found
            .and_then(|number| u32::try_from(number).ok())
            .unwrap_or(place)
    }
}
