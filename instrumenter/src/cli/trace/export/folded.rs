//! Folded stacks: what flame graphs are made of. The thread stands below the
//! regions that are open; a phase is a frame of its own.

use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::path::Path;

use trace::read::Trace;
use trace::replay::{Event, Listener, Open, Role, path, replay_closed};

use super::{Failure, create, failure, phase, region, written};

pub(super) fn write(trace: &Trace, output: &Path) -> Result<(), Failure> {
    let mut folded = Folded::default();
    for stream in trace.streams() {
        folded.since = None;
        replay_closed(trace, stream, &mut folded).map_err(failure)?;
    }
    let scale = trace.scale();
    let mut lines: BTreeMap<String, u64> = BTreeMap::new();
    for (stack, (_, ticks)) in folded
        .all
        .iter()
        .enumerate()
        .filter(|(_, (_, ticks))| *ticks > 0)
    {
        *lines.entry(folded.text(trace, stack)).or_default() += ticks;
    }
    let mut out = create(output)?;
    let result = lines
        .iter()
        .try_for_each(|(stack, ticks)| writeln!(out, "{stack} {}", scale.to_ns(*ticks)));
    written(output, result.and_then(|()| out.flush()))
}

/// A frame of a stack.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Frame {
    /// The number of a thread's path, outermost.
    Thread(Option<u32>),
    /// A region, and the name of its phase.
    Region(u32, Option<&'static str>),
}

/// A stack: what it is made of but for its innermost frame, and that.
type Stack = (Option<usize>, Frame);

/// Stacks by number, so that an event makes no text.
#[derive(Default)]
struct Folded {
    numbers: HashMap<Stack, usize>,
    /// Per number: the stack, and its ticks.
    all: Vec<(Stack, u64)>,
    /// The stack since an event, and when that was.
    since: Option<(usize, u64)>,
}

impl Folded {
    fn number(&mut self, stack: Stack) -> usize {
        *self.numbers.entry(stack).or_insert_with(|| {
            self.all.push((stack, 0));
            self.all.len() - 1
        })
    }

    /// The number of the stack of open regions; none if there is no region.
    fn stack(&mut self, open: &[Open]) -> Option<usize> {
        let mut regions = open
            .iter()
            .filter(|open| open.role != Role::Base)
            .peekable();
        regions.peek()?;
        let mut stack = self.number((None, Frame::Thread(path(open))));
        for open in regions {
            stack = self.number((Some(stack), Frame::Region(open.region, phase(open))));
        }
        Some(stack)
    }

    /// A stack as it is written.
    fn text(&self, trace: &Trace, stack: usize) -> String {
        let mut frames = Vec::new();
        let mut at = Some(stack);
        while let Some(number) = at {
            let ((around, frame), _) = self.all[number];
            frames.push(match frame {
                Frame::Thread(path) => trace.thread(path),
                // A region's name must not look like a separator.
                Frame::Region(number, phase) => {
                    let phase = phase.map_or_else(String::new, |phase| format!(";{phase}"));
                    region(trace, number).replace(';', ",") + &phase
                }
            });
            at = around;
        }
        frames.reverse();
        frames.join(";")
    }
}

impl Listener for Folded {
    fn event(&mut self, time: u64, open: &[Open], event: &Event) {
        if let Some((stack, since)) = self.since.take() {
            self.all[stack].1 += time.saturating_sub(since);
        }
        let stack = match (event, open.split_last()) {
            (Event::End { .. }, Some((_, around))) => self.stack(around),
            (Event::Turn(phase), Some((top, around))) => {
                let top = Open {
                    phase: *phase,
                    ..*top
                };
                self.stack(&[around, &[top]].concat())
            }
            _ => self.stack(open),
        };
        self.since = stack.map(|stack| (stack, time));
    }
}
