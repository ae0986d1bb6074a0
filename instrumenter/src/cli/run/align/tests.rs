//! What is found for calls and bodies in small lists of constructs.

use std::sync::LazyLock;

use super::*;
use profile::descriptor::SourceLines;

pub(super) fn construct(region_type: &str, lines: [u32; 2], directive: &str) -> Descriptor {
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

/// The constructs of calls with these lines, in the order of their addresses, if the source has no further
/// constructs.
pub(super) fn of_lines(
    all: &[Descriptor],
    scope: Scope<'_>,
    of: CallKind<'_>,
    lines: &[u32],
    in_code: Option<InCode<'_>>,
) -> Vec<Found> {
    of_calls(all, false, scope, of, &calls(lines), (in_code, NONE))
}

pub(super) fn calls(lines: &[u32]) -> Vec<Call> {
    let numbered = (1..).zip(lines);
    numbered
        .map(|(address, line)| Call {
            address,
            line: *line,
        })
        .collect()
}

pub(super) const NONE: &BTreeSet<usize> = &BTreeSet::new();

const NOWHERE: &BTreeSet<(u32, u32)> = &BTreeSet::new();

/// So many calls in the machine code, which has code of all lines.
pub(super) fn in_code(calls: usize) -> Option<InCode<'static>> {
    static LINES: LazyLock<BTreeSet<u32>> = LazyLock::new(|| (1..100).collect());
    let lines = &LINES;
    Some(InCode {
        calls,
        lines,
        repeated: NOWHERE,
    })
}

pub(super) fn of(kind: RegionKind) -> CallKind<'static> {
    CallKind {
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
    let head = CallKind {
        is_head: true,
        ..of(RegionKind::Loop)
    };
    assert_eq!(
        of_calls(&all, false, scope, head, &one, (None, NONE)),
        [Found::Certain(2)]
    );
    let asked = of(RegionKind::Loop);
    assert_eq!(
        of_calls(&all, false, scope, asked, &one, (None, NONE)),
        [Found::Certain(7)]
    );
    // A question for the thread's number that the user asks belongs to no loop.
    let in_task = Scope::Body(&all[3]);
    assert_eq!(
        of_calls(&all, false, in_task, head, &one, (None, NONE)),
        [Found::None]
    );
}

/// A combined construct calls the runtime for its loop in its own body, and not where it stands.
#[test]
fn a_combined_construct_makes_no_call_of_its_loop_around_it() {
    let dynamic = |region_type, lines, directive| Descriptor {
        schedule: Some("dynamic".into()),
        ..construct(region_type, lines, directive)
    };
    let all = [
        construct("parallel", [1, 20], "omp parallel"),
        dynamic("for", [3, 5], "omp for schedule(dynamic)"),
        dynamic("parallelfor", [7, 9], "omp parallel for schedule(dynamic)"),
        dynamic("for", [30, 32], "omp for schedule(dynamic)"),
        dynamic(
            "parallelfor",
            [34, 36],
            "omp parallel for schedule(dynamic)",
        ),
    ];
    let of_loop = of(RegionKind::Loop);
    for (scope, found) in [
        (Scope::Body(&all[0]), 1),
        (Scope::Body(&all[2]), 2),
        (Scope::Function("f"), 3),
        (Scope::Body(&all[4]), 4),
    ] {
        let found_for = of_lines(&all, scope, of_loop, &[99], None);
        assert_eq!(found_for, [Found::Certain(found)]);
    }
}

pub(super) fn source() -> Vec<Descriptor> {
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
    let of_body = |kind, line| crate::cli::run::directives::of_body(&all, false, kind, line);
    assert_eq!(of_body(RegionKind::Parallel, 1), Found::Certain(0));
    assert_eq!(of_body(RegionKind::Task, 5), Found::Certain(3));
    assert_eq!(of_body(RegionKind::Parallel, 5), Found::Near);
    // A body may also begin with its first statement, but not with one in a nested
    // function.
    assert_eq!(of_body(RegionKind::Task, 7), Found::Certain(3));
    assert_eq!(of_body(RegionKind::Parallel, 7), Found::Near);
    assert_eq!(of_body(RegionKind::Parallel, 35), Found::Certain(0));
    assert_eq!(of_body(RegionKind::Parallel, 10), Found::Certain(0));
    // A macro may make another parallel region there.
    let body = crate::cli::run::directives::of_body(&all, true, RegionKind::Parallel, 10);
    assert_eq!(body, Found::Near);
}

/// The constructs of calls at these lines, in the body of the first construct.
pub(super) fn in_first_body(all: &[Descriptor], of: CallKind<'_>, lines: &[u32]) -> Vec<Found> {
    of_lines(all, Scope::Body(&all[0]), of, lines, None)
}

#[test]
fn calls_and_directives_of_a_kind_are_in_one_order() {
    let all = source();
    let find = |kind, lines: &[u32]| in_first_body(&all, of(kind), lines);
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
fn a_region_may_end_without_the_barrier_of_its_last_construct() {
    let find = |end: u32, lines: &[u32]| {
        let all = [
            construct("parallel", [1, end], "omp parallel"),
            construct("for", [2, 3], "omp for"),
            construct("barrier", [4, 4], "omp barrier"),
            construct("single", [5, 6], "omp single"),
        ];
        let scope = Scope::Body(&all[0]);
        of_lines(&all, scope, of(RegionKind::Barrier), lines, None)
    };
    assert_eq!(find(7, &[1, 3]), [Found::EndOf(1), Found::Certain(2)]);
    let all = [Found::EndOf(1), Found::Certain(2), Found::EndOf(3)];
    assert_eq!(find(7, &[1, 3, 6]), all);
    // Other statements follow the last construct.
    assert_eq!(find(9, &[1, 3]), [Found::Near, Found::EndOf(1)]);
}

/// Conditions may end between it and the region's end. Then each call must have a line of its construct: a
/// compiler may also make one call of those in two branches.
#[test]
fn a_construct_in_a_condition_may_be_the_last_of_a_region() {
    let find = |line: u32, is_last: bool| {
        let mut all = [
            construct("parallel", [1, 12], "omp parallel"),
            construct("for", [3, 4], "omp for"),
            construct("for", [7, 8], "omp for"),
        ];
        if is_last {
            all[2].other.insert(LAST.to_owned(), String::new());
        }
        let scope = Scope::Body(&all[0]);
        of_lines(&all, scope, of(RegionKind::Barrier), &[line], in_code(1))
    };
    assert_eq!(find(4, true), [Found::EndOf(1)]);
    assert_eq!(find(7, true), [Found::Near]);
    assert_eq!(find(4, false), [Found::Near]);
}

#[test]
fn a_workshare_has_any_number_of_barriers() {
    let all = [
        construct("parallel", [1, 9], "omp parallel"),
        construct("workshare", [2, 5], "omp workshare"),
        construct("for", [6, 8], "omp do"),
    ];
    let scope = Scope::Body(&all[0]);
    let find = |lines: &[u32]| of_lines(&all, scope, of(RegionKind::Barrier), lines, None);
    assert_eq!(find(&[4, 5]), [Found::EndOf(1), Found::Near]);
    assert_eq!(find(&[5, 8]), [Found::EndOf(1), Found::EndOf(2)]);
}

/// In the body of a construct that shares the work of the whole region, no directive waits for the
/// team. So all barriers are the construct's.
#[test]
fn a_combined_construct_has_all_barriers_of_its_body() {
    let all = [
        construct("parallelworkshare", [1, 5], "omp parallel workshare"),
        construct(
            "parallelfor",
            [11, 15],
            "omp parallel for linear(a) reduction(inscan, + : b)",
        ),
        construct("parallel", [21, 29], "omp parallel"),
        construct(
            "for",
            [22, 26],
            "omp for linear(a) reduction(inscan, + : b)",
        ),
    ];
    let find = |body: usize, of: CallKind<'_>, lines: &[u32]| {
        let scope = Scope::Body(&all[body]);
        of_lines(&all, scope, of, lines, in_code(lines.len()))
    };
    let barriers = of(RegionKind::Barrier);
    assert_eq!(find(0, barriers, &[2, 1]), [Found::EndOf(0); 2]);
    assert_eq!(find(1, barriers, &[11, 99, 11]), [Found::EndOf(1); 3]);
    assert_eq!(find(2, barriers, &[22, 22, 22])[2], Found::Near);
    // A loop with `scan` is done in two, of which the runtime begins one.
    let begun = of(RegionKind::Loop);
    let head = CallKind {
        is_head: true,
        ..begun
    };
    assert_eq!(find(1, head, &[11, 11]), [Found::Certain(1); 2]);
    assert_eq!(find(1, begun, &[11]), [Found::Certain(1)]);
    assert_eq!(find(2, begun, &[22]), [Found::Near]);
}

/// LLVM's compilers call the runtime's `flush` for an `atomic` with a memory order.
#[test]
fn an_atomic_with_a_memory_order_flushes() {
    let atomic = |clause: &str| construct("atomic", [1, 1], &format!("omp atomic {clause}"));
    for clause in ["read acquire", "seq_cst", "ACQ_REL capture", "release"] {
        assert!(
            is_measured_as(RegionKind::Flush, &atomic(clause)),
            "{clause}"
        );
    }
    for clause in ["", "relaxed", "capture"] {
        assert!(
            !is_measured_as(RegionKind::Flush, &atomic(clause)),
            "{clause}"
        );
    }
    let critical = construct("critical", [1, 1], "omp critical (release)");
    assert!(!is_measured_as(RegionKind::Flush, &critical));
}

#[test]
fn constructs_of_a_combined_directive_are_in_one_another() {
    let mut all = vec![
        construct("parallel", [1, 4], "omp parallel loop"),
        construct("loop", [1, 4], "omp parallel loop"),
        construct("parallel", [5, 9], "omp parallel"),
        construct("loop", [6, 7], "omp loop bind(thread)"),
    ];
    let kind = all[1].kind();
    assert_eq!(kind, Some(RegionKind::GenericLoop));
    let head = CallKind {
        is_head: true,
        ..of(RegionKind::Loop)
    };
    let find = |all: &[Descriptor], of, body: usize| {
        of_lines(all, Scope::Body(&all[body]), of, &[1], None)
    };
    assert_eq!(find(&all, head, 0), [Found::Certain(1)]);
    assert_eq!(find(&all, of(RegionKind::Barrier), 0), [Found::EndOf(1)]);
    // A loop of one thread is not shared out.
    assert_eq!(find(&all, head, 2), [Found::None]);
    all[3].directive = Some("omp loop".into());
    assert_eq!(find(&all, head, 2), [Found::Certain(3)]);
}

#[test]
fn a_loop_with_a_reduction_of_tasks_is_begun_by_the_runtime() {
    let tasks = construct("for", [1, 2], "omp for reduction( task, +: s)");
    assert!(!is_static(&tasks));
    for clauses in ["private(task) reduction(+: s)", "reduction(+: task, s)"] {
        assert!(is_static(&construct("for", [1, 2], clauses)), "{clauses}");
    }
}

#[test]
fn calls_in_parts_of_another_construct_are_not_those_of_the_only_one() {
    let all = [
        construct("parallelfor", [5, 6], "omp parallel for"),
        construct("target", [8, 9], "omp target teams distribute parallel for"),
        construct("for", [20, 22], "omp do"),
        construct("workshare", [23, 25], "omp workshare"),
    ];
    let find = |of, lines: &[u32]| of_lines(&all, Scope::Function("f"), of, lines, None);
    let parallel = of(RegionKind::Parallel);
    assert_eq!(
        find(parallel, &[5, 8]),
        [Found::Certain(0), Found::PartOf(1)]
    );
    assert_eq!(find(parallel, &[8]), [Found::PartOf(1)]);
    let head = CallKind {
        is_head: true,
        ..of(RegionKind::Loop)
    };
    let found = find(head, &[20, 24, 25]);
    assert_eq!(
        found,
        [Found::Certain(2), Found::PartOf(3), Found::PartOf(3)]
    );
}

#[test]
fn a_reduction_may_be_combined_as_an_atomic_is_executed() {
    let all = [
        construct(
            "parallelfor",
            [5, 20],
            "omp parallel for reduction(+: bins[:n])",
        ),
        construct("atomic", [12, 12], "omp atomic"),
        construct(
            "parallelfor",
            [30, 40],
            "omp parallel for reduction(+: bins[:n])",
        ),
    ];
    let find = |body: usize, lines: &[u32]| {
        let scope = Scope::Body(&all[body]);
        of_lines(&all, scope, of(RegionKind::Atomic), lines, None)
    };
    assert_eq!(find(2, &[30, 3]), [Found::PartOf(2); 2]);
    // Beside an atomic construct, only the line tells.
    assert_eq!(find(0, &[5, 12]), [Found::PartOf(0), Found::Near]);
}

#[test]
fn what_stands_in_another_function_does_not_count() {
    let all = source();
    let scope = Scope::Body(&all[0]);
    let one = calls(&[6]);
    let found = of_calls(
        &all,
        false,
        scope,
        of(RegionKind::Taskwait),
        &one,
        (None, NONE),
    );
    assert_eq!(found, [Found::Near]);
    let scope = Scope::Body(&all[3]);
    let found = of_calls(
        &all,
        false,
        scope,
        of(RegionKind::Taskwait),
        &one,
        (None, NONE),
    );
    assert_eq!(found, [Found::Certain(4)]);
}

#[test]
fn a_call_with_a_line_of_its_own_needs_a_directive_there() {
    let all = [construct("target", [8, 9], "omp target")];
    let target = of(RegionKind::Target);
    let found = of_lines(&all, Scope::Function("f"), target, &[4, 8], None);
    assert_eq!(found, [Found::Near, Found::Certain(0)]);
}

#[test]
fn with_directives_in_macros_only_lines_count() {
    let all = source();
    let one = calls(&[2]);
    let scope = Scope::Body(&all[3]);
    let found = of_calls(
        &all,
        true,
        scope,
        of(RegionKind::Taskwait),
        &one,
        (None, NONE),
    );
    assert_eq!(found, [Found::Near]);
}

/// A loop with a linear clause begins with a barrier of the compiler's, which is not its end.
#[test]
fn a_barrier_at_the_begin_of_a_construct_is_not_its_end() {
    let find = |directive: &str, lines: &[u32]| {
        let all = [construct("for", [4, 6], directive)];
        let of = of(RegionKind::Barrier);
        of_lines(&all, Scope::Function("f"), of, lines, None)
    };
    for clauses in [
        "linear(a : 3)",
        "firstprivate(b, a) lastprivate(conditional: a)",
        "reduction(own : a)",
    ] {
        let directive = format!("omp for {clauses}");
        let found = find(&directive, &[4, 4]);
        assert_eq!(found, [Found::Near, Found::EndOf(0)], "{clauses}");
        // One of the two is in another function, or was not made.
        assert_eq!(find(&directive, &[4]), [Found::Near], "{clauses}");
        let found = find(&directive, &[4, 7, 7]);
        let ends = [Found::Near, Found::EndOf(0), Found::EndOf(0)];
        assert_eq!(found, ends, "{clauses}");
    }
    for clauses in [
        "firstprivate(a) lastprivate(b)",
        "reduction(inscan, + : a)",
        "reduction(max : a)",
    ] {
        let found = find(&format!("omp for {clauses}"), &[4]);
        assert_eq!(found, [Found::EndOf(0)], "{clauses}");
    }
}

/// A parallel region may begin so in its own body only.
#[test]
fn a_region_copies_variables_at_its_begin() {
    let all = [
        construct("parallel", [1, 9], "omp parallel copyin(a)"),
        construct("barrier", [4, 4], "omp barrier"),
        construct("parallel", [6, 8], "omp parallel copyin(a)"),
    ];
    let find = |lines: &[u32]| {
        let (scope, of) = (Scope::Body(&all[0]), of(RegionKind::Barrier));
        of_lines(&all, scope, of, lines, in_code(lines.len()))
    };
    assert_eq!(find(&[1, 3]), [Found::Near, Found::Certain(1)]);
    // Without a copy, the barrier is the directive.
    assert_eq!(find(&[4]), [Found::Certain(1)]);
    assert_eq!(find(&[3]), [Found::Near]);
}

/// Two calls in front of both directives may have the line of one condition. The compiler may have put the
/// branches in the other order.
#[test]
fn calls_with_the_line_of_a_condition_are_not_told_by_order() {
    let all = [
        construct("single", [3, 5], "omp single"),
        construct("single", [7, 9], "omp single"),
    ];
    let find = |lines: &[u32]| {
        let (scope, of) = (Scope::Function("f"), of(RegionKind::Single));
        of_lines(&all, scope, of, lines, in_code(lines.len()))
    };
    assert_eq!(find(&[1, 2]), [Found::Near; 2]);
    assert_eq!(find(&[1, 6]), [Found::Certain(0), Found::Certain(1)]);
    // One has the line of its directive, so the other one is the rest.
    assert_eq!(find(&[2, 7]), [Found::Certain(0), Found::Certain(1)]);
}

/// A compiler moves what seldom runs behind the rest. If the line of a call is behind the construct at
/// its place in the order, then the order is not that of the source.
#[test]
fn a_call_with_a_line_behind_its_construct_is_not_told_by_order() {
    let all = [
        construct("taskgroup", [3, 5], "omp taskgroup"),
        construct("taskgroup", [8, 10], "omp taskgroup"),
    ];
    let scope = Scope::Function("f");
    let groups = of(RegionKind::Taskgroup);
    for (lines, found) in [
        ([2, 7], [Found::Certain(0), Found::Certain(1)]),
        ([2, 12], [Found::Near, Found::Near]),
        ([6, 7], [Found::Near, Found::Near]),
    ] {
        let calls = calls(&lines);
        assert_eq!(
            of_calls(&all, false, scope, groups, &calls, (None, NONE)),
            found
        );
    }
}
