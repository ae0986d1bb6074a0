//! What the machine code tells of the places of calls: constructs that the compiler removed, calls that it
//! copied, and calls without a line.

use std::collections::BTreeSet;

use profile::descriptor::Descriptor;

use super::{Belongs, Call, CallKind, CallSite, Found, Scope};

/// What the machine code of a scope tells.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct InCode<'a> {
    /// The number of calls of an entry: for critical sections, those of sections with any name.
    pub(in super::super) calls: usize,
    /// The lines of the scope's file of which there is code.
    pub(in super::super) lines: &'a BTreeSet<u32>,
    /// The places of constructs with a body that stands in the file several times.
    pub(in super::super) repeated: &'a BTreeSet<(u32, u32)>,
}

/// Leaves out the places of constructs that the compiler removed, since they are never executed: there
/// is no code of their lines, and there are as many calls as other places. Nothing is left out if
/// the numbers differ, or if the body stands somewhere else as well: a compiler may also make one of two
/// equal bodies, which has the lines of one of them.
pub(super) fn leave_out_removed(
    all: &[Descriptor],
    scope: Scope<'_>,
    places: &mut Vec<CallSite>,
    code: InCode<'_>,
) {
    let is_removed = |place: &CallSite| {
        let construct = &all[place.construct];
        let lines = construct.begin.first..=construct.end.last;
        // A directive without a body, such as a barrier, may have no line of its own.
        let has_body = construct.begin.last < construct.end.last;
        let at = (construct.begin.first, construct.column);
        let is_call = matches!(place.belongs, Belongs::Itself | Belongs::Waits);
        let has_no_code = code.lines.range(lines).next().is_none();
        is_call && has_body && has_no_code && !code.repeated.contains(&at)
    };
    let numbers = |places: &[CallSite]| {
        let is_certain = |place: &&CallSite| place.belongs != Belongs::Begins;
        let most = places.iter().filter(is_certain).count();
        most.saturating_sub(usize::from(scope.may_lack(all, places)))..=most
    };
    let left: Vec<CallSite> = places
        .iter()
        .filter(|it| !is_removed(it))
        .copied()
        .collect();
    if code.calls < *numbers(places).start() && numbers(&left).contains(&code.calls) {
        *places = left;
    }
}

/// The places of calls of which a compiler made copies, such as one in each branch in front of it:
/// copies have the same line. They are known if there are as many lines as places, and each line is
/// behind the place before and in front of the next one.
pub(super) fn of_copies(
    places: &[CallSite],
    calls: &[Call],
    order: &[usize],
) -> Option<Vec<Found>> {
    let lines: BTreeSet<u32> = calls.iter().map(|call| call.line).collect();
    if lines.len() != places.len() || calls.len() <= places.len() {
        return None;
    }
    let begins = || places.iter().map(|place| place.lines[0]);
    let before = std::iter::once(0).chain(begins());
    let next = begins().skip(1).chain([u32::MAX]);
    let mut between = before.zip(next).zip(places).zip(&lines);
    let is_in_order = between.all(|(((before, next), place), line)| {
        let end = place.lines[1].max(next - 1);
        (before + 1..=end).contains(line)
    });
    let number = |call: &Call| lines.range(..call.line).count();
    let place_of = |call: &Call| places[number(call)].found();
    // The compiler moved a call that stands behind the call of a later place, unless it is a copy.
    let is_moved = |pair: &[usize]| {
        let [before, call] = [pair[0], pair[1]].map(|call| number(&calls[call]));
        let copies = calls.iter().filter(|other| number(other) == call);
        before > call && copies.count() == 1
    };
    let is_in_order = is_in_order && !order.windows(2).any(is_moved);
    is_in_order.then(|| calls.iter().map(place_of).collect())
}

/// The call that asks for the thread's number for a loop that is the first statement of a body, and the
/// loop's place. Compilers give such a call no line, so it has that of the code before: of the body's
/// directive.
pub(super) fn head_at_begin<'a>(
    scope: Scope<'_>,
    of: CallKind<'_>,
    places: &'a [CallSite],
    calls: &[Call],
) -> Option<(usize, &'a CallSite)> {
    let Scope::Body(body) = scope else {
        return None;
    };
    let first = places.first()?;
    let is_next = first.belongs == Belongs::Itself && first.lines[0] == body.begin.last + 1;
    let begin = body.begin.first..=body.begin.last;
    let mut heads = (0..calls.len()).filter(|call| begin.contains(&calls[*call].line));
    match (heads.next(), heads.next()) {
        (Some(head), None) if of.is_head && is_next => Some((head, first)),
        _ => None,
    }
}

/// Whether each call has the line of exactly one place, and that is not the last one.
pub(super) fn are_at_others(places: &[CallSite], calls: &[Call]) -> bool {
    let last = places.len().saturating_sub(1);
    let is_at_other = |call: &Call| {
        let mut at = (0..places.len()).filter(|place| places[*place].has_line(call.line));
        at.next().is_some_and(|place| place < last) && at.next().is_none()
    };
    calls.iter().all(is_at_other)
}
