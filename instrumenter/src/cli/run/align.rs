//! Finds the construct of a source that a call belongs to, by kind and order.
//!
//! The lines that debug information gives for calls of the OpenMP runtime are often wrong: they
//! belong to an earlier statement, or to a function that was inlined into this one. But the
//! body of a parallel region, task or taskloop is a function, and it begins at its directive.
//! And in such a function, or one of the user's, the calls of a kind are in the order of the
//! directives. So if there are as many calls as directives, each call belongs to the directive
//! with the same number.

mod clauses;
mod code;
mod scope;

use std::collections::BTreeSet;

use profile::descriptor::Descriptor;
use profile::event::Event;
use profile::region_kind::RegionKind;

pub(super) use clauses::{END, LAST, has};
pub(super) use code::InCode;
pub(super) use scope::{Scope, body_around, ignores_case, is_same};

use clauses::{
    copies_in_and_out, dependence, flushes, is_named, is_static, may_call, reduces_by_own_operator,
};
use code::{are_at_others, head_at_begin, leave_out_removed, of_copies};

/// Begin of the name of a critical section of which only a number is known.
pub(super) const UNNAMED: char = '?';

/// The construct of a call, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// It belongs to the construct with this number.
    Certain(usize),
    /// It waits at the end of the construct with this number.
    EndOf(usize),
    /// It is a part of the construct with this number, which is measured as another kind.
    PartOf(usize),
    /// Only its line is known.
    Near,
    /// It belongs to no construct: the user made it.
    None,
}

impl Found {
    /// Forgets the construct, unless the call `is_its`.
    pub(super) fn forget_unless(&mut self, is_its: impl Fn(usize) -> bool) {
        if let Self::Certain(number) | Self::EndOf(number) | Self::PartOf(number) = *self
            && !is_its(number)
        {
            *self = Self::Near;
        }
    }
}

/// The properties of calls.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallKind<'a> {
    pub(super) kind: RegionKind,
    /// For a critical section its name. For `ordered`, whether it waits (`sink`) or is done
    /// (`source`). For what has several entries, what the entry tells of the directive, if that is known.
    pub(super) name: Option<&'a str>,
    /// For a loop, whether it only asks for the thread's number.
    pub(super) is_head: bool,
}

impl CallKind<'_> {
    /// The calls of this kind, whichever entry they call.
    fn of_any_entry(self) -> Self {
        match self.kind {
            RegionKind::Ordered => self,
            _ => Self { name: None, ..self },
        }
    }

    /// Whether it is a critical section with a name. All of them have one entry, and that of a call
    /// which was not executed is not known.
    pub(super) fn is_named_critical(self) -> bool {
        self.kind == RegionKind::Critical && self.name.is_some()
    }
}

/// A call in a scope.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub(super) address: u64,
    pub(super) line: u32,
}

/// A place in the source where a call of a kind belongs.
#[derive(Clone, Copy, Debug)]
struct CallSite {
    construct: usize,
    at: (u32, u32),
    lines: [u32; 2],
    belongs: Belongs,
}

/// How a call belongs to the construct at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Belongs {
    /// The call is the construct itself.
    Itself,
    /// The call is the barrier at the construct's end.
    Waits,
    /// The call may be a barrier at the construct's begin, which is measured with nothing.
    Begins,
    /// The call is a part of the construct, which is measured as another kind.
    Within,
}

/// Whether the body of a construct becomes a function of its own.
pub(super) fn has_function(kind: RegionKind) -> bool {
    kind.is_parallel()
        || matches!(
            kind,
            RegionKind::Task
                | RegionKind::UntiedTask
                | RegionKind::Taskloop
                | RegionKind::Teams
                | RegionKind::Target
        )
}

/// Whether the calls of a kind stand in the function that the body of their construct became, if it
/// became one.
fn is_called_inside(kind: RegionKind) -> bool {
    matches!(kind, RegionKind::Loop | RegionKind::Sections)
}

/// Whether a call always has the line of its directive. At a line without one, a macro made it.
fn has_own_line(kind: RegionKind) -> bool {
    matches!(kind, RegionKind::Target | RegionKind::TargetUpdate)
}

/// Whether a region measured as one kind may be a construct of another kind.
fn may_be(measured: RegionKind, construct: RegionKind) -> bool {
    use RegionKind as K;
    match measured {
        K::Parallel => construct.is_parallel(),
        K::Task | K::UntiedTask => matches!(construct, K::Task | K::UntiedTask),
        K::TaskExec | K::UntiedTaskExec => {
            matches!(construct, K::Task | K::UntiedTask | K::Taskloop)
        }
        K::Section => matches!(construct, K::Sections | K::ParallelSections),
        // GNU's compilers merge a parallel region with a loop or sections, if that is all it
        // contains.
        K::ParallelLoop | K::ParallelSections => construct == measured || construct == K::Parallel,
        // Where a compiler makes something of a `loop` that the runtime sees, it is a `for`.
        K::Loop => matches!(construct, K::Loop | K::ParallelLoop | K::GenericLoop),
        K::Sections => matches!(construct, K::Sections | K::ParallelSections),
        _ => measured == construct,
    }
}

/// Whether a region measured as one kind may be this construct, or a part of it.
pub(super) fn is_measured_as(measured: RegionKind, construct: &Descriptor) -> bool {
    construct
        .kind()
        .is_some_and(|it| may_be(measured, it) || is_part(measured, construct))
}

/// Whether a region measured as one kind may be a part of a construct that is one region in the
/// source: one of the constructs of a combined `target` or `teams`, or the `flush` of an `atomic` with
/// a memory order.
pub(super) fn is_part(measured: RegionKind, construct: &Descriptor) -> bool {
    use RegionKind as K;
    let words: &[&str] = match measured {
        K::Parallel => &["parallel"],
        K::Loop => &["for", "do", "loop"],
        K::Distribute => &["distribute"],
        K::Teams => &["teams"],
        K::Flush => return flushes(construct),
        _ => return false,
    };
    let kind = construct.kind();
    let is_combined = kind == Some(K::Target) || kind == Some(K::Teams) && measured != K::Teams;
    is_combined && words.iter().any(|word| is_named(construct, word))
}

/// The construct for which a body calls the runtime as its last act. It is known if only one
/// construct of the kind is in the body.
pub(super) fn last_of_body(
    all: &[Descriptor],
    may_be_more: bool,
    body: &Descriptor,
    kind: RegionKind,
) -> Found {
    let of = CallKind {
        kind,
        name: None,
        is_head: false,
    };
    let places = places(all, Scope::Body(body), of, None).into_iter();
    let mut places = places.filter(|place| place.belongs == Belongs::Itself);
    match (places.next(), places.next()) {
        (Some(place), None) if !may_be_more => place.found(),
        _ => Found::Near,
    }
}

/// The constructs of all calls of a kind in a scope, in the order of the calls. `in_code` is what the
/// machine code tells of their entry, if that is known. `left_out` are constructs that are not in the
/// code.
pub(super) fn of_calls(
    all: &[Descriptor],
    may_be_more: bool,
    scope: Scope<'_>,
    of: CallKind<'_>,
    calls: &[Call],
    (in_code, left_out): (Option<InCode<'_>>, &BTreeSet<usize>),
) -> Vec<Found> {
    let mut places = places_for(all, scope, of);
    places.retain(|place| !left_out.contains(&place.construct));
    if !of.is_named_critical()
        && let Some(code) = in_code
    {
        leave_out_removed(all, scope, &mut places, code);
    }
    if let [place] = places[..]
        && place.belongs == Belongs::Within
        && !may_be_more
    {
        // All calls belong to it, whatever their lines.
        return vec![place.found(); calls.len()];
    }
    let may_be_more =
        may_be_more || has_own_line(of.kind) || places.iter().any(|place| place.may_repeat(all));
    if places.is_empty() && !may_be_more && of.is_head {
        return vec![Found::None; calls.len()];
    }
    let mut order: Vec<usize> = (0..calls.len()).collect();
    order.sort_by_key(|call| calls[*call].address);
    if !may_be_more && places.len() == 1 {
        return vec![places[0].found(); calls.len()];
    }
    let rise = rise(&places, calls, &order);
    let in_front = || {
        are_in_front_of_ends(all, &places, calls, &order)
            && are_behind(&places, calls, &order)
            && !are_moved((all, scope, of), &places, calls, &order)
    };
    if !may_be_more && rise && places.len() == calls.len() && in_front() {
        return in_order(&places, &order);
    }
    let begins = |place: &&CallSite| place.belongs == Belongs::Begins;
    let begins = places.iter().filter(begins).count();
    let by_lines = || scope.may_lack_by_lines(all, &places) && are_at_others(&places, calls);
    let may_lack = begins == 0 && (scope.may_lack(all, &places) || by_lines());
    if !may_be_more && rise && may_lack && places.len() == calls.len() + 1 && in_front() {
        // All but the last.
        return in_order(&places, &order);
    }
    if !may_be_more && let Some(found) = of_copies(&places, calls, &order) {
        return found;
    }
    // A compiler may merge equal calls of two branches into one call, which has the line of one of
    // them.
    let own = match of.is_named_critical() {
        true => named_places(all, scope, of),
        false => places.len() - begins,
    };
    if in_code.is_some_and(|code| code.calls + usize::from(may_lack) < own) {
        return vec![Found::Near; calls.len()];
    }
    let found = calls.iter().map(|call| at_line(&places, call.line));
    let mut found = each_end_once(found.collect(), &order);
    if let Some((call, place)) = head_at_begin(scope, of, &places, calls) {
        found[call] = place.found();
    }
    match may_be_more {
        true => found,
        false => with_the_last(found, &places, calls, all),
    }
}

/// The places for calls of a kind in a scope, by their name if that is known. A runtime may not give the
/// name of a critical section; then it only tells which calls belong to the same one.
fn places_for(all: &[Descriptor], scope: Scope<'_>, of: CallKind<'_>) -> Vec<CallSite> {
    let is_known = !of.name.is_some_and(|name| name.starts_with(UNNAMED));
    places(all, scope, of, is_known.then_some(of.name))
}

/// The constructs that have calls of a kind in a scope: one for each place.
pub(super) fn constructs_called(
    all: &[Descriptor],
    scope: Scope<'_>,
    of: CallKind<'_>,
) -> Vec<usize> {
    let places = places_for(all, scope, of);
    let certain = |place: &&CallSite| !matches!(place.belongs, Belongs::Begins | Belongs::Within);
    let places = places.iter().filter(certain);
    places.map(|place| place.construct).collect()
}

/// The number of calls of a kind that a compiler makes at least for a scope, if it makes no call of
/// several.
pub(super) fn least_calls(all: &[Descriptor], scope: Scope<'_>, of: CallKind<'_>) -> usize {
    let may_lack = scope.may_lack(all, &places(all, scope, of, None));
    constructs_called(all, scope, of)
        .len()
        .saturating_sub(usize::from(may_lack))
}

/// The number of places for critical sections with a name.
fn named_places(all: &[Descriptor], scope: Scope<'_>, of: CallKind<'_>) -> usize {
    let places = places(all, scope, of, None).into_iter();
    places
        .filter(|place| all[place.construct].name.is_some())
        .count()
}

/// Whether the lines of calls rise. Calls with one line may be copies of one call, unless their places
/// share a line as well.
fn rise(places: &[CallSite], calls: &[Call], order: &[usize]) -> bool {
    let mut pairs = order.windows(2).zip(places.windows(2));
    pairs.all(|(pair, places)| {
        let [before, call] = [pair[0], pair[1]].map(|call| calls[call].line);
        before < call || before == call && places[0].lines[0] == places[1].lines[0]
    })
}

/// Whether no call has a line behind the construct of its place. Such a line is that of a statement
/// with which the compiler moved the call, and tells no order.
fn are_in_front_of_ends(
    all: &[Descriptor],
    places: &[CallSite],
    calls: &[Call],
    order: &[usize],
) -> bool {
    let mut calls = order.iter().map(|call| calls[*call]).zip(places);
    calls.all(|(call, place)| is_in_front_of_end(all, place, call))
}

/// Whether the line of a call is not behind the construct of its place.
fn is_in_front_of_end(all: &[Descriptor], place: &CallSite, call: Call) -> bool {
    // A barrier at an end may have the line of what follows.
    place.belongs != Belongs::Itself
        || call.address == u64::MAX
        || call.line <= all[place.construct].end.last
}

/// Whether a call has the line of another directive than that of its place in the order, even of one that calls
/// another entry. Then the compiler may have moved a call in front of others.
fn are_moved(
    (all, scope, of): (&[Descriptor], Scope<'_>, CallKind<'_>),
    own: &[CallSite],
    calls: &[Call],
    order: &[usize],
) -> bool {
    let places = places(all, scope, of.of_any_entry(), None);
    let mut own = order.iter().map(|call| calls[*call].line).zip(own);
    own.any(|(line, own)| {
        let others = places.iter().filter(|it| it.belongs == Belongs::Itself);
        !own.has_line(line) && others.into_iter().any(|other| other.has_line(line))
    })
}

/// Whether each call has a line behind the begin of the place before. Otherwise both calls may have the
/// line of the same condition, and a compiler may have put the branches in the other order.
fn are_behind(places: &[CallSite], calls: &[Call], order: &[usize]) -> bool {
    let mut pairs = order.iter().skip(1).zip(places);
    pairs.all(|(call, before)| calls[*call].line >= before.lines[0])
}

/// The places of calls that are in the order of the source.
fn in_order(places: &[CallSite], order: &[usize]) -> Vec<Found> {
    let mut found = vec![Found::Near; order.len()];
    for (call, place) in order.iter().zip(places) {
        found[*call] = place.found();
    }
    found
}

/// The barriers at the ends of several constructs may have the line of the first one. Only the
/// first of them is certain.
fn each_end_once(mut found: Vec<Found>, order: &[usize]) -> Vec<Found> {
    let mut ended = Vec::new();
    for call in order {
        match found[*call] {
            Found::EndOf(construct) if ended.contains(&construct) => found[*call] = Found::Near,
            Found::EndOf(construct) => ended.push(construct),
            _ => {}
        }
    }
    found
}

/// If all calls but one have places of their own, the remaining call gets the remaining place, unless its
/// line is behind the construct.
fn with_the_last(
    mut found: Vec<Found>,
    places: &[CallSite],
    calls: &[Call],
    all: &[Descriptor],
) -> Vec<Found> {
    let is_left = |place: &&CallSite| !found.contains(&place.found());
    let mut left = places.iter().filter(is_left);
    if let (Some(place), None) = (left.next(), left.next())
        && found.len() == places.len()
        && let Some(call) = found.iter().position(|found| *found == Found::Near)
        && is_in_front_of_end(all, place, calls[call])
    {
        found[call] = place.found();
    }
    found
}

/// The construct at a line, if there is exactly one.
fn at_line(places: &[CallSite], line: u32) -> Found {
    let mut found = places.iter().filter(|place| place.has_line(line));
    match (found.next(), found.next()) {
        (Some(place), None) => place.found(),
        _ => Found::Near,
    }
}

impl CallSite {
    /// The place at a construct's directive.
    fn at_begin(all: &[Descriptor], construct: usize, belongs: Belongs) -> Self {
        let begin = &all[construct].begin;
        Self {
            construct,
            at: (begin.first, all[construct].column),
            lines: [begin.first, begin.last],
            belongs,
        }
    }

    fn has_line(&self, line: u32) -> bool {
        (self.lines[0]..=self.lines[1]).contains(&line)
    }

    /// Whether there may be any number of calls for it, such as for the parts of another construct:
    /// a `workshare` has a barrier behind each of its parts that the next one depends on.
    fn may_repeat(&self, all: &[Descriptor]) -> bool {
        let kind = all[self.construct].kind();
        self.belongs == Belongs::Within
            || self.belongs == Belongs::Waits && kind == Some(RegionKind::Workshare)
    }

    fn found(&self) -> Found {
        match self.belongs {
            Belongs::Itself => Found::Certain(self.construct),
            Belongs::Waits => Found::EndOf(self.construct),
            Belongs::Within => Found::PartOf(self.construct),
            Belongs::Begins => Found::Near,
        }
    }
}

/// The places for calls of a kind in a scope, in the order of the source.
fn places(
    all: &[Descriptor],
    scope: Scope<'_>,
    of: CallKind<'_>,
    name: Option<Option<&str>>,
) -> Vec<CallSite> {
    let held = (0..all.len()).filter(|number| scope.holds(all, *number));
    let mut places: Vec<CallSite> = held
        .flat_map(|number| {
            let begins = begins_in_a_barrier(&all[number], scope) && of.kind == RegionKind::Barrier;
            let begins = begins.then(|| CallSite::at_begin(all, number, Belongs::Begins));
            begins
                .into_iter()
                .chain(place(all, number, scope, of, name))
        })
        .collect();
    places.sort_by_key(|place| place.at);
    places
}

/// The place for calls of a kind that belong to a construct, or to the barrier at its end.
fn place(
    all: &[Descriptor],
    number: usize,
    scope: Scope<'_>,
    of: CallKind<'_>,
    name: Option<Option<&str>>,
) -> Option<CallSite> {
    use RegionKind as K;
    let kind = of.kind;
    let construct = &all[number];
    let it = construct.kind()?;
    let is_named = match kind {
        K::Ordered => of.name == dependence(construct),
        K::Loop | K::Single | K::Taskwait => of.name.is_none_or(|name| may_call(construct, name)),
        _ => name.is_none_or(|name| construct.name.as_deref() == name),
    };
    // A loop with `scan` is done in two loops, of which the runtime begins one.
    let is_scanned = has(construct, "inscan") && shares_its_body(construct, scope);
    let is_scheduled = kind != K::Loop || is_static(construct) == of.is_head || is_scanned;
    let is_of_team = it != K::GenericLoop || scope.binds_to_team(construct);
    let is_in_reach = !has_function(it) || !is_called_inside(kind) || scope.is_body(construct);
    let is_its = may_be(kind, it) && is_named && is_scheduled && is_of_team && is_in_reach;
    if is_its {
        return Some(CallSite::at_begin(all, number, Belongs::Itself));
    }
    if holds_calls(construct, it, of) {
        return Some(CallSite {
            lines: [construct.begin.first, construct.end.last],
            ..CallSite::at_begin(all, number, Belongs::Within)
        });
    }
    let waits =
        waits_in_a_barrier(it, construct) && is_of_team || shares_its_body(construct, scope);
    let waits = waits && kind == K::Barrier;
    waits.then_some(CallSite {
        construct: number,
        at: (construct.end.last, u32::MAX),
        lines: [construct.begin.first, construct.end.last],
        belongs: Belongs::Waits,
    })
}

/// Whether a scope is the body of a parallel region whose whole work this construct shares. Directives in
/// it may not wait for the team, so all barriers there are the construct's own: between the assignments of
/// a `workshare`, between the parts of a loop with `scan`, and for copies of variables.
fn shares_its_body(construct: &Descriptor, scope: Scope<'_>) -> bool {
    use RegionKind as K;
    let shares = |kind| {
        matches!(
            kind,
            K::ParallelLoop | K::ParallelSections | K::ParallelWorkshare
        )
    };
    scope.is_body(construct) && construct.kind().is_some_and(shares)
}

/// Whether calls measured as a kind may belong to a construct.
pub(super) fn may_be_of(kind: RegionKind, construct: &Descriptor) -> bool {
    construct.kind().is_some_and(|it| {
        may_be(kind, it) || kind == RegionKind::Barrier && waits_in_a_barrier(it, construct)
    })
}

/// Whether a construct that is measured as another kind may make such calls in its parts: the other
/// constructs of a combined directive, the assignments in a `workshare`, and reductions.
fn holds_calls(construct: &Descriptor, kind: RegionKind, of: CallKind<'_>) -> bool {
    use RegionKind as K;
    let is_device = matches!(kind, K::Target | K::Teams);
    let is_workshare = matches!(kind, K::Workshare | K::ParallelWorkshare);
    match of.kind {
        K::Parallel | K::ParallelLoop => is_device && has(construct, "parallel"),
        K::Loop if of.is_head => {
            is_workshare
                || is_device && (has(construct, "distribute") || has(construct, "parallel"))
        }
        // GNU's compilers add up several variables, or one that is no number, at once.
        K::Atomic => has(construct, "reduction"),
        _ => false,
    }
}

/// Whether GNU's compilers may have threads wait for each other when they have made their copies of
/// variables, before one of them changes the variable: at the end of a loop, or in the region.
fn begins_in_a_barrier(construct: &Descriptor, scope: Scope<'_>) -> bool {
    use RegionKind as K;
    if shares_its_body(construct, scope) {
        return false;
    }
    let is_its = construct.kind().is_some_and(|kind| match kind {
        K::Loop | K::GenericLoop | K::Sections | K::Scope => true,
        kind => kind.is_parallel() && scope.is_body(construct),
    });
    is_its
        && (has(construct, "linear")
            || has(construct, "copyin")
            || copies_in_and_out(construct)
            || reduces_by_own_operator(construct))
}

/// Whether the runtime's barrier is called at the end of a construct. Sections, and loops with
/// other schedules, end with a call of their own.
fn waits_in_a_barrier(kind: RegionKind, construct: &Descriptor) -> bool {
    if has(construct, "nowait") {
        return false;
    }
    match kind {
        RegionKind::Sections => false,
        RegionKind::Loop => is_static(construct),
        RegionKind::GenericLoop => true,
        kind => Event::behind_barrier(kind).is_some(),
    }
}

#[cfg(test)]
mod code_tests;
#[cfg(test)]
mod tests;
