//! Events of regions that turned out to be parts of other constructs, or none: see
//! [`Meaning`]. They become events of the constructs.
//!
//! The profile of such a program is changed in the same way (`romp run`), so that both agree.

use std::collections::BTreeMap;
use std::sync::Arc;

use profile::region_kind::PseudoRegion;

use super::{Open, Role};
use crate::layout::Meaning;
use crate::read::Trace;
use crate::record::{Op, Record};

/// A region: what its events are, and a number that all regions of its construct have.
#[derive(Clone, Copy, Debug)]
struct RegionMeaning {
    meaning: Meaning,
    construct: u32,
}

/// An open region whose events are not its own.
#[derive(Clone, Copy, Debug)]
struct Part {
    region: u32,
    /// How many regions are open around it.
    depth: usize,
    /// Whether it is the barrier at the end of the innermost of these.
    is_barrier: bool,
}

/// The treatment of a record.
pub(super) enum Becomes {
    Itself,
    Other(Record),
    Nothing,
}

/// The parts of constructs that are open on a thread.
#[derive(Debug, Default)]
pub(super) struct Constructs {
    /// By the number of the region; empty if all events are those of constructs themselves.
    known: Arc<[RegionMeaning]>,
    open: Vec<Part>,
    /// Those that a page states.
    context: Vec<Part>,
}

impl Constructs {
    pub(super) fn of(trace: &Trace) -> Self {
        let mut known = Vec::new();
        if trace.has_parts() {
            let mut numbers = BTreeMap::new();
            for (number, region) in (0u32..).zip(trace.regions()) {
                let name = region.map_or_else(String::new, crate::naming::name);
                let construct = *numbers.entry(name).or_insert(number);
                let meaning = trace.meaning(number);
                known.push(RegionMeaning { meaning, construct });
            }
        }
        Self {
            known: known.into(),
            ..Self::default()
        }
    }

    /// The treatment of a record inside these open regions.
    pub(super) fn change(&mut self, record: &Record, around: &[Open]) -> Becomes {
        match record.op {
            Op::Enter => self.enter(record, around),
            Op::SwitchPhase | Op::Exit => {
                let is_it =
                    |part: &&Part| part.region == record.region && part.depth == around.len();
                let Some(part) = self.open.last().filter(is_it).copied() else {
                    return Becomes::Itself;
                };
                if record.op == Op::SwitchPhase {
                    return Becomes::Nothing;
                }
                self.open.pop();
                match around.last().filter(|_| part.is_barrier) {
                    Some(construct) => switch(record, construct.region, PseudoRegion::Main),
                    None => Becomes::Nothing,
                }
            }
            _ => Becomes::Itself,
        }
    }

    fn enter(&mut self, record: &Record, around: &[Open]) -> Becomes {
        let Some(part) = self.part(record.region, around) else {
            return match self.meaning(record.region) {
                Meaning::Barrier => Becomes::Other(Record {
                    phase: PseudoRegion::Ibarr as u8,
                    ..*record
                }),
                _ => Becomes::Itself,
            };
        };
        self.open.push(part);
        match around.last().filter(|_| part.is_barrier) {
            Some(construct) => switch(record, construct.region, PseudoRegion::Ibarr),
            None => Becomes::Nothing,
        }
    }

    /// Takes an open region that a page states, inside others that it states; false if it is no
    /// region of its own.
    pub(super) fn state(&mut self, open: &mut Open, around: &mut [Open]) -> bool {
        if open.role != Role::Construct {
            return true;
        }
        let Some(part) = self.part(open.region, around) else {
            if self.meaning(open.region) == Meaning::Barrier {
                (open.phase, open.phase_start) = (PseudoRegion::Ibarr, open.start);
            }
            return true;
        };
        self.context.push(part);
        if let Some(construct) = around.last_mut().filter(|_| part.is_barrier) {
            (construct.phase, construct.phase_start) = (PseudoRegion::Ibarr, open.start);
        }
        false
    }

    /// A page begins.
    pub(super) fn begin_page(&mut self) {
        self.context.clear();
    }

    /// The open regions that the page states replace those that were open.
    pub(super) fn replace(&mut self) {
        self.open = std::mem::take(&mut self.context);
    }

    /// The region as a part of what is open around it, if it is one.
    fn part(&self, region: u32, around: &[Open]) -> Option<Part> {
        let known = self.known.get(region as usize)?;
        let outer = around.last().filter(|outer| outer.role != Role::Base);
        let outer = outer.and_then(|outer| self.known.get(outer.region as usize));
        let is_inside = outer.is_some_and(|outer| outer.construct == known.construct);
        let is_part = match known.meaning {
            Meaning::Itself => false,
            Meaning::Nothing => true,
            Meaning::PartOfItsParallel | Meaning::Barrier => is_inside,
        };
        is_part.then_some(Part {
            region,
            depth: around.len(),
            is_barrier: known.meaning == Meaning::Barrier,
        })
    }

    fn meaning(&self, region: u32) -> Meaning {
        let known = self.known.get(region as usize);
        known.map_or(Meaning::Itself, |known| known.meaning)
    }
}

/// A record by which a construct goes on to a phase.
fn switch(record: &Record, region: u32, phase: PseudoRegion) -> Becomes {
    Becomes::Other(Record {
        op: Op::SwitchPhase,
        phase: phase as u8,
        region,
        ..*record
    })
}
