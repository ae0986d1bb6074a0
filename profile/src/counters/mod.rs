//! Hardware and software counters: the names that a user can ask for, and formulas over their
//! values.

mod formula;

pub use formula::{EXEC_COUNT, EXEC_TIME, Formula, FormulaError};

/// The most counters that a run can have.
pub const MOST_COUNTERS: usize = 8;

/// The kernel's numbers for types of events.
const HARDWARE: u32 = 0;
const SOFTWARE: u32 = 1;
const CACHE: u32 = 3;
const RAW: u32 = 4;

/// An event that the kernel can count for a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// The name, as `perf` calls it.
    pub name: &'static str,
    /// The kernel's number for the type of the event.
    pub kind: u32,
    /// The kernel's number for the event within that type.
    pub config: u64,
}

impl Counter {
    /// Whether the kernel itself counts the event. Such counters exist on every machine.
    #[must_use]
    pub fn is_software(&self) -> bool {
        self.kind == SOFTWARE
    }
}

const fn row(name: &'static str, kind: u32, config: u64) -> Counter {
    Counter { name, kind, config }
}

/// A counter of a cache, of an operation on it, and of accesses or misses.
const fn cache(name: &'static str, cache: u64, operation: u64, misses: u64) -> Counter {
    row(name, CACHE, cache | operation << 8 | misses << 16)
}

/// The counters.
pub const COUNTERS: &[Counter] = &[
    row("cycles", HARDWARE, 0),
    row("instructions", HARDWARE, 1),
    row("cache-references", HARDWARE, 2),
    row("cache-misses", HARDWARE, 3),
    row("branches", HARDWARE, 4),
    row("branch-misses", HARDWARE, 5),
    row("bus-cycles", HARDWARE, 6),
    row("stalled-cycles-frontend", HARDWARE, 7),
    row("stalled-cycles-backend", HARDWARE, 8),
    row("ref-cycles", HARDWARE, 9),
    cache("L1-dcache-loads", 0, 0, 0),
    cache("L1-dcache-load-misses", 0, 0, 1),
    cache("L1-dcache-stores", 0, 1, 0),
    cache("LLC-loads", 2, 0, 0),
    cache("LLC-load-misses", 2, 0, 1),
    cache("LLC-stores", 2, 1, 0),
    cache("LLC-store-misses", 2, 1, 1),
    cache("dTLB-loads", 3, 0, 0),
    cache("dTLB-load-misses", 3, 0, 1),
    cache("node-loads", 6, 0, 0),
    cache("node-load-misses", 6, 0, 1),
    row("cpu-clock", SOFTWARE, 0),
    row("task-clock", SOFTWARE, 1),
    row("page-faults", SOFTWARE, 2),
    row("context-switches", SOFTWARE, 3),
    row("cpu-migrations", SOFTWARE, 4),
    row("minor-faults", SOFTWARE, 5),
    row("major-faults", SOFTWARE, 6),
];

/// Column names for counters that have a number and no name.
const NUMBERED: [&str; MOST_COUNTERS] = [
    "OMPP_CTR1",
    "OMPP_CTR2",
    "OMPP_CTR3",
    "OMPP_CTR4",
    "OMPP_CTR5",
    "OMPP_CTR6",
    "OMPP_CTR7",
    "OMPP_CTR8",
];

/// The counter with this name. The name `r` with a hexadecimal number means a raw event of this
/// processor.
#[must_use]
pub fn find(name: &str) -> Option<Counter> {
    let known = COUNTERS.iter().find(|counter| counter.name == name);
    known.copied().or_else(|| {
        let config = u64::from_str_radix(name.strip_prefix('r')?, 16).ok()?;
        Some(row("", RAW, config))
    })
}

/// The counters in a list of names, and the names that are unknown.
#[must_use]
pub fn parse(list: &str) -> (Vec<(String, Counter)>, Vec<String>) {
    let mut known = Vec::new();
    let mut unknown = Vec::new();
    let words = list.split(',').map(str::trim);
    for word in words.filter(|word| !word.is_empty()) {
        match find(word) {
            Some(counter) => known.push((word.to_owned(), counter)),
            None => unknown.push(word.to_owned()),
        }
    }
    (known, unknown)
}

/// The column name for the counter with this name and index.
#[must_use]
pub fn column_name(name: &str, index: usize) -> &'static str {
    let known = COUNTERS.iter().find(|counter| counter.name == name);
    known.map_or_else(
        || NUMBERED.get(index).copied().unwrap_or("OMPP_CTR"),
        |counter| counter.name,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_or_told() {
        let (known, unknown) = parse("instructions, r01c2,page-fault,");
        let names: Vec<&str> = known.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["instructions", "r01c2"]);
        assert_eq!((known[1].1.kind, known[1].1.config), (RAW, 0x1c2));
        assert_eq!(unknown, ["page-fault"]);
        assert_eq!(column_name("cycles", 0), "cycles");
        assert_eq!(column_name("r01c2", 1), "OMPP_CTR2");
    }
}
