//! Checks of loops: every iteration is in exactly one chunk, and the chunks follow the
//! schedule where the OpenMP specification defines them.
//!
//! Events come in the order of time, and a loop is forgotten as soon as its whole team
//! has met it and its iterations are there: memory does not grow with the trace.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::Findings;
use crate::layout::label_parts;
use crate::read::{ReadError, Trace};
use crate::replay::{Chunk, Event, Instance, Listener, LoopInstance, Open, path, replay_merged};
use crate::schedule::{Kind, is_static_chunk, static_member};

/// Checks the loops of a complete trace.
pub(super) fn check(trace: &Trace, findings: &mut Findings) -> Result<(), ReadError> {
    let mut checker = Checker {
        trace,
        findings,
        loops: HashMap::new(),
    };
    replay_merged(trace, &mut checker)?;
    let rest: BTreeMap<_, _> = std::mem::take(&mut checker.loops).into_iter().collect();
    for known in rest.into_values() {
        checker.end(&known);
    }
    Ok(())
}

/// A loop instance that is under way.
#[derive(Debug)]
struct LoopInProgress {
    instance: LoopInstance,
    /// Members of the team that have met it.
    met: u32,
    /// Iterations that were executed, as ranges from the first to the one after the last.
    covered: BTreeMap<u64, u64>,
    /// Whether an iteration was in two chunks.
    is_twice: bool,
    /// Under `static` without a size: the members that had their chunk.
    served: BTreeSet<u32>,
    /// Whether all chunks are as the schedule says.
    agrees: bool,
    /// Whether a member may have left it before its end, as by `cancel` or `exit`.
    is_cut: bool,
}

impl LoopInProgress {
    fn new(instance: LoopInstance) -> Self {
        Self {
            instance,
            met: 0,
            covered: BTreeMap::new(),
            is_twice: false,
            served: BTreeSet::new(),
            agrees: true,
            is_cut: false,
        }
    }

    /// Whether the iterations of all chunks are those of the loop.
    fn is_covered(&self) -> bool {
        let whole = match self.instance.count {
            0 => self.covered.is_empty(),
            count => self.covered.first_key_value() == Some((&0, &count)),
        };
        whole && self.covered.len() <= 1 && !self.is_twice
    }

    /// Whether nothing more can come.
    fn is_done(&self) -> bool {
        self.met >= self.instance.how.team && self.is_covered()
    }

    fn executes(&mut self, chunk: &Chunk, member: Option<u32>) {
        self.cover(chunk);
        self.agrees &= self.is_as_scheduled(chunk, member);
    }

    /// Adds the iterations of a chunk; neighbours become one range.
    fn cover(&mut self, chunk: &Chunk) {
        let (mut first, mut end) = (chunk.first, chunk.first.saturating_add(chunk.length));
        if first == end {
            return;
        }
        if let Some((before, &its_end)) = self.covered.range(..=first).next_back() {
            self.is_twice |= its_end > first;
            if its_end == first {
                first = *before;
            }
        }
        if let Some((behind, its_end)) = self.covered.range(chunk.first.saturating_add(1)..).next()
        {
            let (behind, its_end) = (*behind, *its_end);
            self.is_twice |= behind < end;
            if behind == end {
                self.covered.remove(&behind);
                end = its_end;
            }
        }
        self.covered.insert(first, end);
    }

    fn is_as_scheduled(&mut self, chunk: &Chunk, member: Option<u32>) -> bool {
        let LoopInstance {
            how,
            chunk: size,
            count,
            ..
        } = self.instance;
        let (first, length) = (chunk.first, chunk.length);
        match (how.kind, size) {
            (Kind::Static, 0) => member.is_none_or(|member| self.served.insert(member)),
            (Kind::Static, size) => {
                let right = static_member(first, size, how.team);
                is_static_chunk(first, length, count, size)
                    && member.is_none_or(|member| u64::from(member) == right)
            }
            (Kind::Dynamic, size) => {
                length == size.max(1) || first.checked_add(length) == Some(count)
            }
            _ => true,
        }
    }
}

struct Checker<'a> {
    trace: &'a Trace,
    findings: &'a mut Findings,
    loops: HashMap<Instance, LoopInProgress>,
}

impl Listener for Checker<'_> {
    fn event(&mut self, _time: u64, open: &[Open], event: &Event) {
        let instance = match event {
            Event::Loop(found) => {
                self.meets(*found);
                found.instance
            }
            Event::Chunk(chunk) => {
                let step = path(open).and_then(|path| self.trace.forked_by(path));
                let member = step.map(|(_, member)| member);
                if let Some(known) = self.loops.get_mut(&chunk.instance) {
                    known.executes(chunk, member);
                }
                chunk.instance
            }
            Event::End { is_cut: true, .. } => {
                return self.cut(open.last());
            }
            Event::Begin { .. } if self.cancels(open) => {
                return self.cut(open.iter().rev().find(|open| open.chunk.is_some()));
            }
            _ => return,
        };
        if self
            .loops
            .get(&instance)
            .is_some_and(LoopInProgress::is_done)
            && let Some(known) = self.loops.remove(&instance)
        {
            self.end(&known);
        }
    }
}

impl Checker<'_> {
    fn meets(&mut self, found: LoopInstance) {
        let known = self.loops.entry(found.instance);
        let known = known.or_insert_with(|| LoopInProgress::new(found));
        known.met = known.met.saturating_add(1);
        if known.instance != found {
            let name = name(found.instance);
            self.findings
                .fault(|| format!("the loop {name} has other bounds on another thread"));
        }
    }

    /// Whether the innermost region is a `cancel` or a `cancellation point`.
    fn cancels(&self, open: &[Open]) -> bool {
        let region = open.last().and_then(|top| self.trace.region(top.region));
        region.is_some_and(|region| region.region_type.starts_with("cancel"))
    }

    /// A loop may be left before its end.
    fn cut(&mut self, open: Option<&Open>) {
        let chunk = open.and_then(|open| open.chunk);
        if let Some(known) = chunk.and_then(|chunk| self.loops.get_mut(&chunk.instance)) {
            known.is_cut = true;
        }
    }

    fn end(&mut self, known: &LoopInProgress) {
        self.findings.loops += 1;
        let name = || name(known.instance.instance);
        if known.is_cut {
            // Iterations that were not reached for this reason are no fault.
        } else if !known.is_covered() {
            self.findings
                .fault(|| format!("the chunks of the loop {} are not its iterations", name()));
        } else if !known.agrees {
            self.findings.fault(|| {
                format!(
                    "the chunks of the loop {} are not those of its schedule",
                    name()
                )
            });
        } else if matches!(known.instance.how.kind, Kind::Static | Kind::Dynamic) {
            self.findings.predicted += 1;
        }
    }
}

/// The instance of a loop as it is written.
fn name((label, number): Instance) -> String {
    let (stream, team) = label_parts(label);
    format!("{stream}:{team}.{number}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::Level;
    use crate::schedule::How;

    fn known(kind: Kind, chunk: u64, count: u64) -> LoopInProgress {
        LoopInProgress::new(LoopInstance {
            instance: (1, 1),
            outermost: Level::default(),
            inner: [None; 3],
            how: How {
                kind,
                team: 2,
                ..How::default()
            },
            chunk,
            count,
        })
    }

    fn chunk(first: u64, length: u64) -> Chunk {
        Chunk {
            instance: (1, 1),
            first,
            length,
            start: 0,
            end: 1,
        }
    }

    #[test]
    fn iterations_are_covered_in_any_order_and_kept_as_few_ranges() {
        let mut known = known(Kind::Guided, 0, 10);
        for (first, length) in [(4, 2), (0, 2), (8, 2), (6, 2)] {
            known.executes(&chunk(first, length), None);
            assert!(!known.is_covered());
        }
        assert_eq!(known.covered.len(), 2);
        known.executes(&chunk(2, 2), None);
        assert!(known.is_covered());
        assert_eq!(known.covered.len(), 1);
    }

    #[test]
    fn an_iteration_in_two_chunks_is_seen_from_either_side() {
        for chunks in [[(0, 6), (5, 5)], [(5, 5), (0, 6)], [(0, 10), (3, 1)]] {
            let mut known = known(Kind::Guided, 0, 10);
            for (first, length) in chunks {
                known.executes(&chunk(first, length), None);
            }
            assert!(!known.is_covered(), "{chunks:?}");
        }
    }

    #[test]
    fn schedules_are_held_against_the_specification() {
        for (kind, size, chunks, agrees) in [
            (Kind::Static, 2, [(0, 2, 0), (2, 1, 1)], true),
            (Kind::Static, 2, [(0, 2, 1), (2, 1, 0)], false),
            (Kind::Static, 2, [(0, 1, 0), (1, 2, 1)], false),
            (Kind::Static, 0, [(0, 2, 0), (2, 1, 1)], true),
            (Kind::Static, 0, [(0, 2, 0), (2, 1, 0)], false),
            (Kind::Dynamic, 2, [(0, 2, 1), (2, 1, 1)], true),
            (Kind::Dynamic, 2, [(0, 1, 1), (1, 2, 1)], false),
            (Kind::Guided, 0, [(0, 1, 1), (1, 2, 1)], true),
        ] {
            let mut known = known(kind, size, 3);
            for (first, length, member) in chunks {
                known.executes(&chunk(first, length), Some(member));
            }
            assert!(known.is_covered());
            assert_eq!(known.agrees, agrees, "{kind:?} {size} {chunks:?}");
        }
    }
}
