//! Folded stacks, from which flame graphs are made. The thread is the outermost frame, below the
//! open regions; a phase is a frame of its own.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::Write;

use super::{ExportError, phase, region};
use crate::read::Trace;
use crate::replay::{Event, Listener, Open, Role, path, replay_closed};

/// Writes a line for each stack that time was spent in.
///
/// # Errors
/// If the trace cannot be read, or the export not written.
pub fn folded(trace: &Trace, out: &mut dyn Write) -> Result<(), ExportError> {
    let mut folded = Folded::new(trace);
    for stream in trace.streams() {
        folded.since = None;
        replay_closed(trace, stream, &mut folded)?;
    }
    let scale = trace.scale();
    for (stack, (_, ticks)) in folded.all.iter().enumerate() {
        if *ticks > 0 {
            writeln!(out, "{} {}", folded.text(stack), scale.to_ns(*ticks))?;
        }
    }
    Ok(())
}

/// A frame of a stack.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Frame {
    /// The number of a thread's path, outermost.
    Thread(Option<u32>),
    /// A region, and the name of its phase.
    Region(u32, Option<&'static str>),
}

/// A stack: the number of the stack around its innermost frame, and that frame.
type Stack = (Option<usize>, Frame);

/// The largest number of stacks that are told apart. Nobody looks at more, and a file that was
/// changed may have any number.
const MOST_STACKS: usize = 1 << 20;

/// The largest number of frames of a stack. Deeper regions count for the one around them.
/// Otherwise the cost of an event and the length of a line would grow with the depth.
const MOST_FRAMES: usize = 512;

/// Stacks by number, so that an event makes no text.
struct Folded<'a> {
    trace: &'a Trace,
    /// By region: the first one of the same name, by which stacks are told apart.
    same: HashMap<u32, u32>,
    first: HashMap<String, u32>,
    numbers: HashMap<Stack, usize>,
    /// Per number: the stack, and its ticks.
    all: Vec<(Stack, u64)>,
    /// The stack since the last event, and the time of that event.
    since: Option<(usize, u64)>,
}

impl<'a> Folded<'a> {
    fn new(trace: &'a Trace) -> Self {
        Self {
            trace,
            same: HashMap::new(),
            first: HashMap::new(),
            numbers: HashMap::new(),
            all: Vec::new(),
            since: None,
        }
    }

    /// The number of a stack; none if there are too many.
    fn number(&mut self, stack: Stack) -> Option<usize> {
        let next = self.all.len();
        match self.numbers.entry(stack) {
            Entry::Occupied(known) => Some(*known.get()),
            Entry::Vacant(_) if next >= MOST_STACKS => None,
            Entry::Vacant(new) => {
                self.all.push((stack, 0));
                Some(*new.insert(next))
            }
        }
    }

    fn frame(&mut self, open: &Open) -> Frame {
        let same = self.same.entry(open.region).or_insert_with(|| {
            let name = region(self.trace, open.region);
            *self.first.entry(name).or_insert(open.region)
        });
        Frame::Region(*same, phase(open))
    }

    /// The number of the stack of open regions; none if there is no region.
    fn stack(&mut self, open: &[Open]) -> Option<usize> {
        let mut regions = open
            .iter()
            .filter(|open| open.role != Role::Base)
            .peekable();
        regions.peek()?;
        let mut stack = self.number((None, Frame::Thread(path(open))))?;
        for open in regions.take(MOST_FRAMES) {
            let frame = self.frame(open);
            // Stacks that are not told apart count for the stack around them.
            let Some(inner) = self.number((Some(stack), frame)) else {
                break;
            };
            stack = inner;
        }
        Some(stack)
    }

    /// A stack as it is written.
    fn text(&self, stack: usize) -> String {
        let mut frames = Vec::new();
        let mut at = Some(stack);
        while let Some(number) = at {
            let ((around, frame), _) = self.all[number];
            frames.push(match frame {
                Frame::Thread(path) => self.trace.thread(path),
                // A region's name must not look like a separator.
                Frame::Region(number, phase) => {
                    let phase = phase.map_or_else(String::new, |phase| format!(";{phase}"));
                    region(self.trace, number).replace(';', ",") + &phase
                }
            });
            at = around;
        }
        frames.reverse();
        frames.join(";")
    }
}

impl Listener for Folded<'_> {
    fn event(&mut self, time: u64, open: &[Open], event: &Event) {
        if let Some((stack, since)) = self.since.take() {
            let ticks = &mut self.all[stack].1;
            *ticks = ticks.saturating_add(time.saturating_sub(since));
        }
        let stack = match (event, open.split_last()) {
            (Event::End { .. }, Some((_, around))) => self.stack(around),
            (Event::SwitchPhase(phase), Some((top, around))) => {
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
