//! Finds the construct of a source that a call belongs to, by kind and order.
//!
//! The lines that debug information gives for calls of the OpenMP runtime are often wrong: they
//! belong to an earlier statement, or to a function that was inlined into this one. But the
//! body of a parallel region, task or taskloop is a function, and it begins at its directive.
//! And in such a function, or one of the user's, the calls of a kind are in the order of the
//! directives. So if there are as many calls as directives, each call belongs to the directive
//! with the same number.

use profile::descriptor::Descriptor;
use profile::event::Event;
use profile::region_kind::RegionKind;

/// Begin of the name of a critical section of which only a number is known.
pub(super) const UNNAMED: char = '?';

/// A part of the source from which one function of the machine code was made.
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
    /// It belongs to the construct with this number.
    Certain(usize),
    /// It waits at the end of the construct with this number.
    EndOf(usize),
    /// Only its line is known.
    Near,
    /// It belongs to no construct: the user made it.
    None,
}

/// The properties of calls.
#[derive(Clone, Copy, Debug)]
pub(super) struct Of<'a> {
    pub(super) kind: RegionKind,
    /// For a critical section its name. For `ordered`, whether it waits (`sink`) or is done
    /// (`source`).
    pub(super) name: Option<&'a str>,
    /// For a loop, whether it only asks for the thread's number.
    pub(super) is_head: bool,
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
    /// The call is a part of the construct, which is measured as another kind. So only the line of
    /// the call is known.
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

/// Whether a region measured as one kind may be a construct of another kind.
pub(super) fn may_be(measured: RegionKind, construct: RegionKind) -> bool {
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
        K::Loop => matches!(construct, K::Loop | K::ParallelLoop),
        K::Sections => matches!(construct, K::Sections | K::ParallelSections),
        _ => measured == construct,
    }
}

/// The construct whose body begins at a line.
pub(super) fn of_body(all: &[Descriptor], kind: RegionKind, line: u32) -> Found {
    match at_directive(all, kind, None, (line, None)) {
        Found::Near if !is_directive(all, line) => around(all, kind, line),
        found => found,
    }
}

fn is_directive(all: &[Descriptor], line: u32) -> bool {
    let mut lines = all.iter().map(|one| one.begin.first..=one.begin.last);
    lines.any(|lines| lines.contains(&line))
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
        construct.kind().is_some_and(|it| may_be(kind, it))
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

/// The innermost construct of a kind whose lines contain this line. If the directive itself has
/// no code, a body begins with its first statement.
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

/// The construct for which a body calls the runtime as its last act. It is known if only one
/// construct of the kind is in the body.
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
    let mut places = places.filter(|place| place.belongs == Belongs::Itself);
    match (places.next(), places.next()) {
        (Some(place), None) if !may_be_more => place.found(),
        _ => Found::Near,
    }
}

/// The constructs of all calls of a kind in a scope, in the order of the calls.
pub(super) fn of_calls(
    all: &[Descriptor],
    may_be_more: bool,
    scope: Scope<'_>,
    of: Of<'_>,
    calls: &[Call],
) -> Vec<Found> {
    // A runtime may not give the name of a critical section; then it only tells which calls
    // belong to the same one.
    let is_known = !of.name.is_some_and(|name| name.starts_with(UNNAMED));
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
        for (call, place) in order.iter().zip(places) {
            found[*call] = place.found();
        }
        return found;
    }
    let found = calls.iter().map(|call| at_line(&places, call.line));
    let found = each_end_once(found.collect(), &order);
    match may_be_more {
        true => found,
        false => with_the_last(found, &places),
    }
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

/// If all calls but one have places of their own, the remaining call gets the remaining place.
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

/// The construct at a line, if there is exactly one.
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
        match self.belongs {
            Belongs::Itself => Found::Certain(self.construct),
            Belongs::Waits => Found::EndOf(self.construct),
            Belongs::Within => Found::Near,
        }
    }
}

/// The places for calls of a kind in a scope, in the order of the source.
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
                    belongs: Belongs::Itself,
                });
            }
            if holds_calls(construct, it, of) {
                return Some(CallSite {
                    construct: number,
                    at: (construct.begin.first, construct.column),
                    lines: [construct.begin.first, construct.end.last],
                    belongs: Belongs::Within,
                });
            }
            let waits = kind == RegionKind::Barrier && waits_in_a_barrier(it, construct);
            waits.then_some(CallSite {
                construct: number,
                at: (construct.end.last, u32::MAX),
                lines: [construct.begin.first, construct.end.last],
                belongs: Belongs::Waits,
            })
        })
        .collect();
    places.sort_by_key(|place| place.at);
    places
}

/// Whether calls measured as a kind may belong to a construct.
pub(super) fn may_be_of(kind: RegionKind, construct: &Descriptor) -> bool {
    construct.kind().is_some_and(|it| {
        may_be(kind, it) || kind == RegionKind::Barrier && waits_in_a_barrier(it, construct)
    })
}

/// Whether a construct that is measured as another kind may make such calls in its parts: the other
/// constructs of a combined directive, and the assignments in a `workshare`.
fn holds_calls(construct: &Descriptor, kind: RegionKind, of: Of<'_>) -> bool {
    use RegionKind as K;
    let is_device = matches!(kind, K::Target | K::Teams);
    let is_workshare = matches!(kind, K::Workshare | K::ParallelWorkshare);
    match of.kind {
        K::Parallel | K::ParallelLoop => is_device && has(construct, "parallel"),
        K::Loop if of.is_head => {
            is_workshare
                || is_device && (has(construct, "distribute") || has(construct, "parallel"))
        }
        _ => false,
    }
}

/// Whether the schedule alone distributes a loop's iterations.
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

/// The effect of a stand-alone `ordered` directive: it waits for an iteration (`sink`), or
/// reports that one is done (`source`). The runtimes have different entries for these.
fn dependence(construct: &Descriptor) -> Option<&'static str> {
    ["sink", "source"]
        .into_iter()
        .find(|which| has(construct, which))
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
        RegionKind::GenericLoop => has(construct, "parallel"),
        kind => Event::behind_barrier(kind).is_some(),
    }
}

impl Scope<'_> {
    /// Whether a construct is in the scope, and not in a function inside the scope.
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
                // A combined construct is inside its own body.
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

/// Whether two names belong to one function. Either of them may lack the names of its scopes.
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
        // A question for the thread's number that the user asks belongs to no loop.
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
        // A body may also begin with its first statement, but not with one in a nested
        // function.
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
        // The ends of the first single construct and of the loop, and an explicit barrier.
        assert_eq!(
            find(RegionKind::Barrier, &[8, 14, 30]),
            [Found::EndOf(1), Found::EndOf(2), Found::Certain(6)]
        );
        // One of them was not called: only the call at a directive's line is certain.
        assert_eq!(
            find(RegionKind::Barrier, &[16, 30]),
            [Found::Near, Found::Certain(6)]
        );
        // The ends of the loop and of a later construct may have the line of the loop.
        assert_eq!(
            find(RegionKind::Barrier, &[14, 14]),
            [Found::EndOf(2), Found::Near]
        );
        // One call's line fits no place, but only one place is left.
        assert_eq!(
            find(RegionKind::Barrier, &[8, 30, 16]),
            [Found::EndOf(1), Found::Certain(6), Found::EndOf(2)]
        );
        // The lines are not in the order of the addresses: nothing is certain about these
        // calls.
        assert_eq!(
            find(RegionKind::Single, &[14, 1]),
            [Found::Near, Found::Near]
        );
    }

    #[test]
    fn calls_in_parts_of_another_construct_are_not_those_of_the_only_one() {
        let all = [
            construct("parallelfor", [5, 6], "omp parallel for"),
            construct("target", [8, 9], "omp target teams distribute parallel for"),
            construct("for", [20, 22], "omp do"),
            construct("workshare", [23, 25], "omp workshare"),
        ];
        let find =
            |of, lines: &[u32]| of_calls(&all, false, Scope::Function("f"), of, &calls(lines));
        let parallel = of(RegionKind::Parallel);
        assert_eq!(find(parallel, &[5, 8]), [Found::Certain(0), Found::Near]);
        assert_eq!(find(parallel, &[8]), [Found::Near]);
        let head = Of {
            is_head: true,
            ..of(RegionKind::Loop)
        };
        let found = find(head, &[20, 24, 25]);
        assert_eq!(found, [Found::Certain(2), Found::Near, Found::Near]);
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
