//! Which construct of a source a call is of, by kind and order.
//!
//! The lines that debug information gives for calls of the OpenMP runtime are often those
//! of a statement before, or of a function that was compiled into this one. But the body
//! of a parallel region, task or taskloop is a function, which begins at its directive; and
//! in such a function, or one of the user's, the calls of a kind stand in the order of
//! the directives. So where there are as many of both, each is the one of its place.

use profile::descriptor::Descriptor;
use profile::event::Event;
use profile::region_kind::RegionKind;

/// Where a construct may stand: what one function of the machine code was made of.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scope<'a> {
    /// The body of this construct.
    Body(&'a Descriptor),
    /// A function of the user's, by its name.
    Function(&'a str),
}

/// The construct of a call, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// It is this one, by its number.
    Certain(usize),
    /// It waits at the end of this one.
    EndOf(usize),
    /// Nothing better than its line is known.
    Near,
    /// It is of no construct: the user's own.
    None,
}

/// What calls are of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Of<'a> {
    pub(super) kind: RegionKind,
    /// Of a critical section; of `ordered` whether it waits (`sink`) or is done (`source`).
    pub(super) name: Option<&'a str>,
    /// Of a loop: whether it asks only for the number of the thread.
    pub(super) is_head: bool,
}

/// A call in a scope.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub(super) address: u64,
    pub(super) line: u32,
}

/// A place where a call of a kind belongs.
#[derive(Clone, Copy, Debug)]
struct CallSite {
    construct: usize,
    at: (u32, u32),
    lines: [u32; 2],
    is_end: bool,
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

/// Whether what was measured as one kind may be a construct of another.
pub(super) fn may_be(measured: RegionKind, construct: RegionKind) -> bool {
    use RegionKind as K;
    match measured {
        K::Parallel => construct.is_parallel(),
        K::Task | K::UntiedTask => matches!(construct, K::Task | K::UntiedTask),
        K::TaskExec | K::UntiedTaskExec => {
            matches!(construct, K::Task | K::UntiedTask | K::Taskloop)
        }
        K::Section => matches!(construct, K::Sections | K::ParallelSections),
        // GNU's compilers make one of a parallel region that has nothing else in it.
        K::ParallelLoop | K::ParallelSections => construct == measured || construct == K::Parallel,
        K::Loop => matches!(construct, K::Loop | K::ParallelLoop),
        K::Sections => matches!(construct, K::Sections | K::ParallelSections),
        _ => measured == construct,
    }
}

/// The construct whose body begins at a line.
pub(super) fn of_body(all: &[Descriptor], kind: RegionKind, line: u32) -> Found {
    match at_directive(all, kind, None, line) {
        Found::Near if !is_directive(all, line) => around(all, kind, line),
        found => found,
    }
}

fn is_directive(all: &[Descriptor], line: u32) -> bool {
    let mut lines = all.iter().map(|one| one.begin.first..=one.begin.last);
    lines.any(|lines| lines.contains(&line))
}

/// The construct of a kind whose directive is at a line, if that is one; of a lock it is the
/// call of the routine.
pub(super) fn at_directive(
    all: &[Descriptor],
    kind: RegionKind,
    routine: Option<&str>,
    line: u32,
) -> Found {
    let is_there = |construct: &Descriptor| {
        construct.kind().is_some_and(|it| may_be(kind, it))
            && (kind != RegionKind::Lock || construct.name.as_deref() == routine)
            && (construct.begin.first..=construct.begin.last).contains(&line)
    };
    let mut found = all.iter().enumerate().filter(|(_, one)| is_there(one));
    match (found.next(), found.next()) {
        (Some((number, _)), None) => Found::Certain(number),
        _ => Found::Near,
    }
}

/// The innermost construct of a kind whose lines hold one: where nothing is done at the
/// directive itself, a body begins with its first statement.
fn around(all: &[Descriptor], kind: RegionKind, line: u32) -> Found {
    let holds = |construct: &Descriptor| {
        construct.kind().is_some_and(has_function)
            && (construct.begin.first..=construct.end.last).contains(&line)
    };
    let found = all.iter().enumerate().filter(|(_, one)| holds(one));
    let innermost = found.max_by_key(|(_, one)| (one.begin.first, one.column));
    match innermost {
        Some((number, one)) if one.kind().is_some_and(|it| may_be(kind, it)) => {
            Found::Certain(number)
        }
        _ => Found::Near,
    }
}

/// The construct of a kind that a body calls the runtime for as its last act, if it is the only
/// one there.
pub(super) fn last_of_body(
    all: &[Descriptor],
    may_be_more: bool,
    body: &Descriptor,
    kind: RegionKind,
) -> Found {
    let of = Of {
        kind,
        name: None,
        is_head: false,
    };
    let places = places(all, Scope::Body(body), of, None).into_iter();
    let mut places = places.filter(|place| !place.is_end);
    match (places.next(), places.next()) {
        (Some(place), None) if !may_be_more => place.found(),
        _ => Found::Near,
    }
}

/// The constructs of all calls of a kind in a scope, in their order.
pub(super) fn of_calls(
    all: &[Descriptor],
    may_be_more: bool,
    scope: Scope<'_>,
    of: Of<'_>,
    calls: &[Call],
) -> Vec<Found> {
    // A runtime may not tell the name of a critical section, but which are of one.
    let is_known = !of.name.is_some_and(|name| name.starts_with('?'));
    let places = places(all, scope, of, is_known.then_some(of.name));
    if places.is_empty() && !may_be_more && of.is_head {
        return vec![Found::None; calls.len()];
    }
    let mut order: Vec<usize> = (0..calls.len()).collect();
    order.sort_by_key(|call| calls[*call].address);
    if !may_be_more && places.len() == 1 {
        return vec![places[0].found(); calls.len()];
    }
    let rise = order
        .windows(2)
        .all(|pair| calls[pair[0]].line <= calls[pair[1]].line);
    if !may_be_more && rise && places.len() == calls.len() {
        let mut found = vec![Found::Near; calls.len()];
        for (call, place) in order.into_iter().zip(places) {
            found[call] = place.found();
        }
        return found;
    }
    let found: Vec<Found> = calls
        .iter()
        .map(|call| at_line(&places, call.line))
        .collect();
    match may_be_more {
        true => found,
        false => with_the_last(found, &places),
    }
}

/// Where all calls but one are of a place of their own, that one is of the place that is left.
fn with_the_last(mut found: Vec<Found>, places: &[CallSite]) -> Vec<Found> {
    let is_left = |place: &&CallSite| !found.contains(&place.found());
    let mut left = places.iter().filter(is_left);
    if let (Some(place), None) = (left.next(), left.next())
        && found.len() == places.len()
        && let Some(call) = found.iter().position(|found| *found == Found::Near)
    {
        found[call] = place.found();
    }
    found
}

/// What stands at a line, if that is one.
fn at_line(places: &[CallSite], line: u32) -> Found {
    let is_there = |place: &&CallSite| (place.lines[0]..=place.lines[1]).contains(&line);
    let mut found = places.iter().filter(is_there);
    match (found.next(), found.next()) {
        (Some(place), None) => place.found(),
        _ => Found::Near,
    }
}

impl CallSite {
    fn found(&self) -> Found {
        match self.is_end {
            true => Found::EndOf(self.construct),
            false => Found::Certain(self.construct),
        }
    }
}

/// Where calls of a kind belong in a scope, in the order of the source.
fn places(
    all: &[Descriptor],
    scope: Scope<'_>,
    of: Of<'_>,
    name: Option<Option<&str>>,
) -> Vec<CallSite> {
    let kind = of.kind;
    let mut places: Vec<CallSite> = all
        .iter()
        .enumerate()
        .filter(|(_, construct)| scope.holds(all, construct))
        .filter_map(|(number, construct)| {
            let it = construct.kind()?;
            let is_named = match kind {
                RegionKind::Ordered => of.name == dependence(construct),
                _ => name.is_none_or(|name| construct.name.as_deref() == name),
            };
            let is_scheduled = kind != RegionKind::Loop || is_static(construct) == of.is_head;
            let is_its = may_be(kind, it) && is_named && is_scheduled;
            if is_its {
                return Some(CallSite {
                    construct: number,
                    at: (construct.begin.first, construct.column),
                    lines: [construct.begin.first, construct.begin.last],
                    is_end: false,
                });
            }
            let waits = kind == RegionKind::Barrier && waits_in_a_barrier(it, construct);
            waits.then_some(CallSite {
                construct: number,
                at: (construct.end.last, u32::MAX),
                lines: [construct.begin.first, construct.end.last],
                is_end: true,
            })
        })
        .collect();
    places.sort_by_key(|place| place.at);
    places
}

/// Whether calls of what was measured as a kind may be of a construct.
pub(super) fn may_be_of(kind: RegionKind, construct: &Descriptor) -> bool {
    construct.kind().is_some_and(|it| {
        may_be(kind, it) || kind == RegionKind::Barrier && waits_in_a_barrier(it, construct)
    })
}

/// Whether a loop is spread by its schedule alone.
fn is_static(construct: &Descriptor) -> bool {
    let schedule = construct.schedule.as_deref().unwrap_or("static");
    let kinds = ["static", "auto"];
    let is_kind = schedule
        .split(|c: char| !c.is_alphanumeric())
        .any(|word| kinds.iter().any(|kind| word.eq_ignore_ascii_case(kind)));
    is_kind && !has(construct, "ordered")
}

/// Whether a directive has a clause.
fn has(construct: &Descriptor, clause: &str) -> bool {
    let directive = construct.directive.as_deref().unwrap_or_default();
    directive
        .split(|c: char| !c.is_alphanumeric())
        .any(|word| word.eq_ignore_ascii_case(clause))
}

/// What an `ordered` directive does that stands alone: waits for an iteration, or says that one
/// is done. So runtimes' entries are told apart.
fn dependence(construct: &Descriptor) -> Option<&'static str> {
    ["sink", "source"]
        .into_iter()
        .find(|which| has(construct, which))
}

/// Whether the runtime's barrier is called at the end of a construct. Loops with other
/// schedules, and sections, end with a call of their own.
fn waits_in_a_barrier(kind: RegionKind, construct: &Descriptor) -> bool {
    if has(construct, "nowait") {
        return false;
    }
    match kind {
        RegionKind::Sections => false,
        RegionKind::Loop => is_static(construct),
        RegionKind::GenericLoop => has(construct, "parallel"),
        kind => Event::behind_barrier(kind).is_some(),
    }
}

impl Scope<'_> {
    /// Whether a construct stands in it, and in no function inside it.
    fn holds(self, all: &[Descriptor], construct: &Descriptor) -> bool {
        let is_around = |outer: &Descriptor| {
            (outer.begin.last, outer.column) < (construct.begin.first, construct.column)
                && construct.end.last <= outer.end.last
        };
        let functions = all
            .iter()
            .filter(|outer| outer.kind().is_some_and(has_function) && is_around(outer));
        let innermost = functions.max_by_key(|outer| (outer.begin.first, outer.column));
        match self {
            Self::Body(body) => {
                // A combined construct is in its own body.
                std::ptr::eq(body, construct)
                    || innermost.is_some_and(|innermost| std::ptr::eq(innermost, body))
            }
            Self::Function(name) => {
                innermost.is_none()
                    && construct
                        .function
                        .as_deref()
                        .is_some_and(|own| is_same(own, name))
            }
        }
    }
}

/// Whether two names are of one function: either may be without what it is in.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    let last = |name: &str| name.rsplit("::").next().map(str::to_ascii_lowercase);
    last(one) == last(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use profile::descriptor::SourceLines;

    fn construct(region_type: &str, lines: [u32; 2], directive: &str) -> Descriptor {
        let at = |line| SourceLines {
            file: "a.c".into(),
            first: line,
            last: line,
        };
        Descriptor {
            region_type: region_type.into(),
            begin: at(lines[0]),
            end: at(lines[1]),
            function: Some("f".into()),
            directive: Some(directive.into()),
            ..Descriptor::default()
        }
    }

    fn calls(lines: &[u32]) -> Vec<Call> {
        let numbered = (1..).zip(lines);
        numbered
            .map(|(address, line)| Call {
                address,
                line: *line,
            })
            .collect()
    }

    fn of(kind: RegionKind) -> Of<'static> {
        Of {
            kind,
            name: None,
            is_head: false,
        }
    }

    #[test]
    fn loops_are_told_apart_by_how_they_are_spread() {
        let mut all = source();
        all.push(Descriptor {
            schedule: Some("dynamic,4".into()),
            ..construct("for", [24, 26], "omp for schedule(dynamic, 4)")
        });
        let scope = Scope::Body(&all[0]);
        let one = calls(&[1]);
        let head = Of {
            is_head: true,
            ..of(RegionKind::Loop)
        };
        assert_eq!(
            of_calls(&all, false, scope, head, &one),
            [Found::Certain(2)]
        );
        let asked = of(RegionKind::Loop);
        assert_eq!(
            of_calls(&all, false, scope, asked, &one),
            [Found::Certain(7)]
        );
        // What the user asks is of no loop.
        let in_task = Scope::Body(&all[3]);
        assert_eq!(of_calls(&all, false, in_task, head, &one), [Found::None]);
    }

    fn source() -> Vec<Descriptor> {
        vec![
            construct("parallel", [1, 40], "omp parallel"),
            construct("single", [3, 9], "omp single"),
            construct("for", [10, 14], "omp for"),
            construct("task", [5, 8], "omp task"),
            construct("taskwait", [6, 6], "omp taskwait"),
            construct("single", [20, 22], "omp single nowait"),
            construct("barrier", [30, 30], "omp barrier"),
        ]
    }

    #[test]
    fn a_body_begins_at_its_directive() {
        let all = source();
        assert_eq!(of_body(&all, RegionKind::Parallel, 1), Found::Certain(0));
        assert_eq!(of_body(&all, RegionKind::Task, 5), Found::Certain(3));
        assert_eq!(of_body(&all, RegionKind::Parallel, 5), Found::Near);
        // Or with its first statement, but not in what is a function itself.
        assert_eq!(of_body(&all, RegionKind::Task, 7), Found::Certain(3));
        assert_eq!(of_body(&all, RegionKind::Parallel, 7), Found::Near);
        assert_eq!(of_body(&all, RegionKind::Parallel, 35), Found::Certain(0));
    }

    #[test]
    fn calls_and_directives_of_a_kind_are_in_one_order() {
        let all = source();
        let find = |kind, lines: &[u32]| {
            of_calls(&all, false, Scope::Body(&all[0]), of(kind), &calls(lines))
        };
        assert_eq!(
            find(RegionKind::Single, &[1, 14]),
            [Found::Certain(1), Found::Certain(5)]
        );
        // The ends of the first single construct and of the loop, and an explicit one.
        assert_eq!(
            find(RegionKind::Barrier, &[8, 14, 30]),
            [Found::EndOf(1), Found::EndOf(2), Found::Certain(6)]
        );
        // One was not called: only what is at a line is certain.
        assert_eq!(
            find(RegionKind::Barrier, &[16, 30]),
            [Found::Near, Found::Certain(6)]
        );
        // The line of one is of none, but it is the only one that is left.
        assert_eq!(
            find(RegionKind::Barrier, &[8, 30, 16]),
            [Found::EndOf(1), Found::Certain(6), Found::EndOf(2)]
        );
        // Not in their order: nothing is known of those.
        assert_eq!(
            find(RegionKind::Single, &[14, 1]),
            [Found::Near, Found::Near]
        );
    }

    #[test]
    fn what_stands_in_another_function_does_not_count() {
        let all = source();
        let scope = Scope::Body(&all[0]);
        let one = calls(&[6]);
        let found = of_calls(&all, false, scope, of(RegionKind::Taskwait), &one);
        assert_eq!(found, [Found::Near]);
        let scope = Scope::Body(&all[3]);
        let found = of_calls(&all, false, scope, of(RegionKind::Taskwait), &one);
        assert_eq!(found, [Found::Certain(4)]);
    }

    #[test]
    fn with_directives_in_macros_only_lines_count() {
        let all = source();
        let one = calls(&[2]);
        let scope = Scope::Body(&all[3]);
        let found = of_calls(&all, true, scope, of(RegionKind::Taskwait), &one);
        assert_eq!(found, [Found::Near]);
    }
}
