//! The names of a trace's streams, and of the machine and program that made it, as all formats
//! use them.

use std::collections::BTreeMap;

use crate::read::{ReadError, Trace};
use crate::replay::{Event, Listener, Open, path, replay};

/// The largest number of threads that are named on one lane.
const NAMED: usize = 3;

/// Where a program ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// The kind of machine.
    pub machine: String,
    /// The machine's name.
    pub node: String,
    /// The process: its rank if it has one, its name and its number.
    pub process: String,
}

/// Where the program of a trace ran.
#[must_use]
pub fn place(trace: &Trace) -> Host {
    let fact = |name: &str, other: &str| {
        let value = trace.facts().get(name).filter(|value| !value.is_empty());
        value.map_or_else(|| other.to_owned(), Clone::clone)
    };
    let rank = trace.facts().get("rank");
    let rank = rank.map_or_else(String::new, |rank| format!("rank {rank}, "));
    let (application, pid) = (fact("application", "process"), trace.header.pid);
    Host {
        machine: fact("system", "machine"),
        node: fact("host", "node"),
        process: format!("{rank}{application} ({pid})"),
    }
}

/// The threads of the program that a stream has served, in the order of their first
/// events there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lane {
    paths: Vec<u32>,
}

impl Lane {
    /// Notes the thread of an event, by the regions that are open around it.
    pub fn serves(&mut self, open: &[Open]) {
        if let Some(path) = path(open)
            && !self.paths.contains(&path)
            && self.paths.len() <= NAMED
        {
            self.paths.push(path);
        }
    }

    /// Its name, such as `thread 0->1`.
    #[must_use]
    pub fn name(&self, trace: &Trace, stream: u64) -> String {
        let named: Vec<String> = self
            .paths
            .iter()
            .map(|path| trace.thread(Some(*path)))
            .collect();
        match named.get(..NAMED) {
            _ if named.is_empty() => format!("stream {stream}"),
            Some(first) if named.len() > NAMED => format!("thread {}, ...", first.join(", ")),
            _ => format!("thread {}", named.join(", ")),
        }
    }
}

impl Listener for Lane {
    fn event(&mut self, _: u64, open: &[Open], event: &Event) {
        if matches!(event, Event::Begin { .. } | Event::Known) {
            self.serves(open);
        }
    }
}

/// The names of all streams.
///
/// # Errors
/// If the file cannot be read.
pub fn lanes(trace: &Trace) -> Result<BTreeMap<u64, String>, ReadError> {
    let mut names = BTreeMap::new();
    for stream in trace.streams() {
        let mut lane = Lane::default();
        replay(trace, stream, &mut lane)?;
        names.insert(stream, lane.name(trace, stream));
    }
    Ok(names)
}
