//! Finds the construct whose directive is at a line.

use std::ops::RangeInclusive;

use profile::descriptor::Descriptor;
use profile::region_kind::RegionKind;

use super::align::{Found, has, has_function, is_measured_as};

/// The construct whose body begins at a line.
pub(super) fn of_body(all: &[Descriptor], may_be_more: bool, kind: RegionKind, line: u32) -> Found {
    match at_directive(all, kind, None, (line, None)) {
        // A construct that is not known may begin there.
        Found::Near if !may_be_more => around(all, kind, line),
        found => found,
    }
}

/// The construct of a kind whose directive is at a line, if there is exactly one, or exactly one at
/// this column. For a lock it is the call of the routine.
pub(super) fn at_directive(
    all: &[Descriptor],
    kind: RegionKind,
    routine: Option<&str>,
    (line, column): (u32, Option<u32>),
) -> Found {
    let is_there = |construct: &Descriptor| {
        is_measured_as(kind, construct)
            && (kind != RegionKind::Lock || construct.name.as_deref() == routine)
            && (construct.begin.first..=construct.begin.last).contains(&line)
    };
    let found: Vec<usize> = (0..all.len())
        .filter(|number| is_there(&all[*number]))
        .collect();
    let at_column = |number: &&usize| Some(all[**number].column) == column;
    match found[..] {
        [number] => Found::Certain(number),
        _ => match found.iter().filter(at_column).collect::<Vec<_>>()[..] {
            [number] => Found::Certain(*number),
            _ => Found::Near,
        },
    }
}

/// Whether calls that are measured as a kind only combine the parts of a reduction: of the constructs that begin
/// in these lines, none is of that kind, and one has a reduction.
pub(super) fn only_reduce(
    all: &[Descriptor],
    kind: RegionKind,
    lines: RangeInclusive<u32>,
) -> bool {
    let mut there = all.iter().filter(|one| lines.contains(&one.begin.first));
    !there.clone().any(|one| is_measured_as(kind, one)) && there.any(|one| has(one, "reduction"))
}

/// The innermost construct of a kind whose lines contain this line. If the directive itself has
/// no code, a body begins with its first statement, or the first directive in it.
fn around(all: &[Descriptor], kind: RegionKind, line: u32) -> Found {
    let holds = |construct: &Descriptor| {
        construct.kind().is_some_and(has_function)
            && (construct.begin.first..=construct.end.last).contains(&line)
    };
    let found = all.iter().enumerate().filter(|(_, one)| holds(one));
    let innermost = found.max_by_key(|(_, one)| (one.begin.first, one.column));
    match innermost {
        Some((number, one)) if is_measured_as(kind, one) => Found::Certain(number),
        _ => Found::Near,
    }
}
