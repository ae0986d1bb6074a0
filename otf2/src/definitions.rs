//! The definitions of an archive: its strings, regions and locations.

use std::collections::HashMap;

/// `OTF2_RegionRole`: what a region stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names are those of the format")]
pub enum Role {
    Function = 1,
    Loop = 3,
    Code = 4,
    Parallel = 5,
    Sections = 6,
    Section = 7,
    Workshare = 8,
    Single = 9,
    SingleBlock = 10,
    Master = 11,
    Critical = 12,
    CriticalBlock = 13,
    Atomic = 14,
    Barrier = 15,
    ImplicitBarrier = 16,
    Flush = 17,
    Ordered = 18,
    OrderedBlock = 19,
    Task = 20,
    TaskCreate = 21,
    TaskWait = 22,
    Artificial = 31,
}

/// A region. Its number is its index among the regions that are given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// Number of the string.
    pub name: u32,
    /// Its role in the program.
    pub role: Role,
    /// Number of the string with its file.
    pub file: u32,
    /// First and last line.
    pub lines: (u32, u32),
}

/// A thread of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    /// Its number.
    pub number: u64,
    /// Number of the string.
    pub name: u32,
    /// How many events it has.
    pub events: u64,
}

/// A team of threads. Its number is its index among the teams that are given, counted from 1:
/// number 0 is all threads of the process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Team {
    /// Number of the string.
    pub name: u32,
    /// Indices of its threads among the locations, in the order of their numbers in the team.
    pub members: Vec<u64>,
    /// The team in which it was forked.
    pub parent: u32,
}

/// Where the program ran: numbers of strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Host {
    /// The kind of machine.
    pub machine: u32,
    /// Its name.
    pub node: u32,
    /// The process.
    pub process: u32,
}

/// All that an archive says besides events.
#[derive(Debug)]
pub struct Definitions {
    /// Nanoseconds, counted from the begin.
    pub length: u64,
    /// The begin in nanoseconds since 1970.
    pub started: u64,
    /// Strings by number.
    pub strings: Strings,
    /// Regions by number.
    pub regions: Vec<Region>,
    /// Threads.
    pub locations: Vec<Location>,
    /// Teams by number, from 1.
    pub teams: Vec<Team>,
    /// Where it ran.
    pub place: Host,
    /// Numbers of the strings that name the counters, in their order.
    pub counters: Vec<u32>,
}

/// Strings, each with a number.
#[derive(Debug, Default)]
pub struct Strings {
    numbers: HashMap<String, u32>,
    all: Vec<String>,
}

impl Strings {
    /// The number of a string.
    pub fn number(&mut self, text: &str) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        self.numbers.insert(text.to_owned(), number);
        self.all.push(text.to_owned());
        number
    }

    /// All strings, in the order of their numbers.
    pub(crate) fn all(&self) -> &[String] {
        &self.all
    }
}
