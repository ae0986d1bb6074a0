//! The contents of a lane, and how they are written.

use profile::report::html::Columns;

use super::{CLASSES, State};

/// The part of a lane that belongs to one bin.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bin {
    ns: [u64; CLASSES],
    /// The region with the most time, as far as is known, and how far it is ahead of the others.
    region: u64,
    lead: u64,
}

/// The activity of one thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Lane {
    pub(super) bins: Vec<Bin>,
    pub(super) slices: Vec<(u64, u64, u64)>,
    pub(super) chunks: Vec<(u64, u64, u64, u64)>,
}

impl Bin {
    pub(super) fn add(&mut self, state: State, ns: u64) {
        let sum = &mut self.ns[state.class as usize];
        *sum = sum.saturating_add(ns);
        // A region with more time than all others together stays.
        if self.region == state.region {
            self.lead = self.lead.saturating_add(ns);
        } else if self.lead >= ns {
            self.lead -= ns;
        } else {
            self.region = state.region;
            self.lead = ns - self.lead;
        }
    }

    fn write(&self, columns: &mut Columns) {
        for ns in &self.ns[1..] {
            columns.push(*ns);
        }
        if self.ns[1..].iter().any(|ns| *ns > 0) {
            columns.push(self.region);
        }
    }
}

/// Writes the lanes: all bins, then all slices, then all chunks. Without `has_slices`
/// or `has_chunks` there are none of these.
pub(super) fn write(
    mut lanes: Vec<Lane>,
    bins: usize,
    has_slices: bool,
    has_chunks: bool,
) -> Columns {
    let mut columns = Columns::default();
    for lane in &mut lanes {
        lane.bins.resize(bins, Bin::default());
        lane.bins.iter().for_each(|bin| bin.write(&mut columns));
    }
    for lane in &mut lanes {
        write_slices(&mut lane.slices, has_slices, &mut columns);
    }
    for lane in &mut lanes {
        write_chunks(&mut lane.chunks, has_chunks, &mut columns);
    }
    columns
}

fn write_slices(slices: &mut [(u64, u64, u64)], has: bool, columns: &mut Columns) {
    slices.sort_unstable();
    let slices = if has { &*slices } else { &[] };
    columns.push(slices.len() as u64);
    let mut last = 0;
    for (from, length, what) in slices {
        columns.push(from.saturating_sub(last));
        columns.push(*length);
        columns.push(*what);
        last = (from + length).max(last);
    }
}

fn write_chunks(chunks: &mut [(u64, u64, u64, u64)], has: bool, columns: &mut Columns) {
    chunks.sort_unstable();
    let chunks = if has { &*chunks } else { &[] };
    columns.push(chunks.len() as u64);
    let mut last = 0;
    for (from, length, first, number) in chunks {
        for value in [from - last, *length, *first, *number] {
            columns.push(value);
        }
        last = *from;
    }
}

#[cfg(test)]
mod tests {
    use super::super::Class;
    use super::*;

    #[test]
    fn a_bin_names_the_region_that_has_most_of_it() {
        let state = |region| State {
            lane: None,
            class: Class::Work,
            region,
        };
        let mut bin = Bin::default();
        for (region, ns) in [(1, 30), (2, 50), (1, 40), (3, 5)] {
            bin.add(state(region), ns);
        }
        assert_eq!((bin.region, bin.ns[1]), (1, 125));
    }

    #[test]
    fn times_of_slices_are_told_by_what_is_between() {
        let numbers = |slices: &mut [(u64, u64, u64)], has| {
            let mut columns = Columns::default();
            write_slices(slices, has, &mut columns);
            columns.bytes().to_vec()
        };
        let mut slices = [(30, 5, 7), (10, 4, 6)];
        assert_eq!(numbers(&mut slices, true), [2, 10, 4, 6, 16, 5, 7]);
        assert_eq!(numbers(&mut slices, false), [0]);
    }
}
