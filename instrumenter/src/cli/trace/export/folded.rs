//! Folded stacks: what flame graphs are made of. The thread stands below the
//! regions that are open; a phase is a frame of its own.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use trace::read::Trace;
use trace::replay::{Event, Listener, Open, Role, path, replay};

use super::{Failure, create, failure, phase, region, written};

pub(super) fn write(trace: &Trace, output: &Path) -> Result<(), Failure> {
    let mut folded = Folded {
        trace,
        ticks: BTreeMap::new(),
        since: None,
    };
    for stream in trace.streams() {
        folded.since = None;
        replay(trace, stream, &mut folded).map_err(failure)?;
    }
    let scale = trace.scale();
    let mut out = create(output)?;
    let lines = folded
        .ticks
        .iter()
        .try_for_each(|(stack, ticks)| writeln!(out, "{stack} {}", scale.to_ns(*ticks)));
    written(output, lines.and_then(|()| out.flush()))
}

struct Folded<'a> {
    trace: &'a Trace,
    ticks: BTreeMap<String, u64>,
    /// The stack since an event, and when that was.
    since: Option<(String, u64)>,
}

impl Folded<'_> {
    fn stack(&self, open: &[Open]) -> String {
        let mut stack = self.trace.thread(path(open));
        for open in open.iter().filter(|open| open.role != Role::Base) {
            // A region's name must not look like a separator.
            stack.push(';');
            stack.push_str(&region(self.trace, open.region).replace(';', ","));
            if let Some(phase) = phase(open) {
                stack.push(';');
                stack.push_str(phase);
            }
        }
        stack
    }
}

impl Listener for Folded<'_> {
    fn event(&mut self, time: u64, open: &[Open], event: &Event) {
        if let Some((stack, since)) = self.since.take() {
            *self.ticks.entry(stack).or_default() += time.saturating_sub(since);
        }
        let open = match event {
            Event::End { .. } => &open[..open.len().saturating_sub(1)],
            _ => open,
        };
        let mut open = open.to_vec();
        if let (Event::Turn(phase), Some(top)) = (event, open.last_mut()) {
            top.phase = *phase;
        }
        if open.iter().any(|open| open.role != Role::Base) {
            self.since = Some((self.stack(&open), time));
        }
    }
}
