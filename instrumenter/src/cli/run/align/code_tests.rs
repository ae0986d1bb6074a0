//! What the machine code tells of calls in small lists of constructs.

use profile::descriptor::Descriptor;
use profile::region_kind::RegionKind;

use super::tests::{NONE, calls, construct, in_code, in_first_body, of, of_lines};
use super::{CallKind, Found, InCode, Scope, of_calls};

#[test]
fn copies_of_a_call_are_one_construct() {
    let all = [
        construct("parallel", [1, 40], "omp parallel"),
        construct("taskgroup", [3, 9], "omp taskgroup"),
        construct("taskgroup", [20, 22], "omp taskgroup"),
    ];
    let find = |lines: &[u32]| in_first_body(&all, of(RegionKind::Taskgroup), lines);
    assert_eq!(
        find(&[1, 14, 14]),
        [Found::Certain(1), Found::Certain(2), Found::Certain(2)]
    );
    // The second line is in front of the first construct.
    assert_eq!(find(&[1, 2, 1]), [Found::Near; 3]);
    // A third line belongs to neither.
    assert_eq!(find(&[1, 14, 15]), [Found::Near; 3]);
    // The compiler moved the first call, so that the calls of other lines may be moved, too.
    assert_eq!(find(&[14, 14, 1]), [Found::Near; 3]);
    let both = [0, 1, 0, 1].map(|number| Found::Certain([1, 2][number]));
    assert_eq!(find(&[1, 14, 1, 14]), both);
    // Two calls with one line are copies, also if there are as many calls as constructs.
    assert_eq!(find(&[2, 2]), [Found::Near; 2]);
}

/// A compiler may move a call in front of others.
#[test]
fn a_call_with_the_line_of_another_directive_is_not_told_by_order() {
    let barriers = [10, 17, 26].map(|line| construct("barrier", [line, line], "omp barrier"));
    let find = |lines: &[u32]| {
        let scope = Scope::Function("f");
        of_lines(&barriers, scope, of(RegionKind::Barrier), lines, in_code(3))
    };
    let certain = [0, 1, 2].map(Found::Certain);
    assert_eq!(find(&[9, 16, 25]), certain);
    // The others have the lines of their directives, so the first one is the rest.
    let moved = [2, 0, 1].map(Found::Certain);
    assert_eq!(find(&[9, 10, 17]), moved);
}

/// A compiler leaves out what is never executed: then there is no code of its lines.
#[test]
fn constructs_that_the_compiler_removed_have_no_calls() {
    let all = [
        construct("single", [2, 4], "omp single"),
        construct("single", [6, 8], "omp single"),
        construct("single", [10, 12], "omp single"),
    ];
    let find_if = |repeated: &[(u32, u32)], calls_in_code, lines: &[u32], has_code: &[u32]| {
        let scope = Scope::Function("f");
        let code = InCode {
            calls: calls_in_code,
            lines: &has_code.iter().copied().collect(),
            repeated: &repeated.iter().copied().collect(),
        };
        let single = of(RegionKind::Single);
        of_lines(&all, scope, single, lines, Some(code))
    };
    let find = |calls_in_code, lines: &[u32], has_code: &[u32]| {
        find_if(&[], calls_in_code, lines, has_code)
    };
    let certain = [Found::Certain(0), Found::Certain(2)];
    let near = [Found::Near; 2];
    assert_eq!(find(2, &[1, 9], &[1, 3, 9, 11]), certain);
    // All have code, so one of two calls stands for two constructs.
    assert_eq!(find(2, &[1, 9], &[1, 3, 7, 9, 11]), near);
    // The second body is as the third one, of which there is code: one call may stand for both.
    let repeated = [(6, 0), (10, 0)];
    assert_eq!(find_if(&repeated, 2, &[1, 9], &[1, 3, 9, 11]), near);
    // Two were removed, but not their calls.
    assert_eq!(find(2, &[1, 9], &[1, 3, 9]), near);
    // One call is not executed.
    assert_eq!(find(3, &[2, 10], &[1, 3, 9, 11]), certain);
}

/// Of equal calls in two branches, a compiler makes one. It has the line of one of them.
#[test]
fn with_fewer_calls_than_places_no_line_is_certain() {
    let critical = |line, name: &str| Descriptor {
        name: Some(name.into()),
        ..construct("critical", [line, line + 1], "omp critical")
    };
    let all = [
        construct("barrier", [2, 2], "omp barrier"),
        construct("barrier", [4, 4], "omp barrier"),
        critical(6, "a"),
        critical(8, "a"),
        critical(10, "b"),
    ];
    let find = |of, lines: &[u32], number: Option<usize>| {
        let scope = Scope::Function("f");
        let code = number.and_then(in_code);
        of_lines(&all, scope, of, lines, code)
    };
    let barrier = of(RegionKind::Barrier);
    assert_eq!(find(barrier, &[4], Some(1)), [Found::Near]);
    // The other one is in the code, but was not executed; or the code tells nothing.
    assert_eq!(find(barrier, &[4], Some(2)), [Found::Certain(1)]);
    assert_eq!(find(barrier, &[4], None), [Found::Certain(1)]);
    let found = find(barrier, &[1, 3], Some(2));
    assert_eq!(found, [Found::Certain(0), Found::Certain(1)]);
    // All critical sections with a name have one entry.
    let named = |name| CallKind {
        name: Some(name),
        ..of(RegionKind::Critical)
    };
    assert_eq!(find(named("a"), &[8], Some(2)), [Found::Near]);
    assert_eq!(find(named("a"), &[8], Some(3)), [Found::Certain(3)]);
    assert_eq!(find(named("b"), &[8], Some(2)), [Found::Certain(4)]);
}

/// The call for a loop right behind the directive of a region has the line of that directive.
#[test]
fn a_loop_that_is_the_first_statement_of_a_region_is_begun_at_its_directive() {
    let head = CallKind {
        is_head: true,
        ..of(RegionKind::Loop)
    };
    let of_first = |loop_at: u32, lines: &[u32]| {
        let all = [
            construct("parallel", [1, 20], "omp parallel"),
            construct("for", [loop_at, 9], "omp for"),
            construct("for", [11, 14], "omp for"),
        ];
        let scope = Scope::Body(&all[0]);
        of_calls(&all, true, scope, head, &calls(lines), (None, NONE))
    };
    assert_eq!(
        of_first(2, &[1, 11]),
        [Found::Certain(1), Found::Certain(2)]
    );
    // A statement before the loop may call a function with a loop of its own.
    assert_eq!(of_first(3, &[1]), [Found::Near]);
    assert_eq!(of_first(2, &[1, 1]), [Found::Near, Found::Near]);
}
