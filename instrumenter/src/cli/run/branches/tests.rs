//! Which directives were compiled, by the code there is and by the words of conditions.

use super::*;
use profile::descriptor::SourceLines;

const SOURCE: &str = "#ifndef GUARD\nint a;\n#ifdef B\n#pragma omp for\nloop;\n#else\n\
    #pragma omp for\nloop;\n# if C\n#pragma omp barrier\n# endif\n#endif\n#endif\n";

fn construct_at(first: u32, last: u32) -> Descriptor {
    let at = |line| SourceLines {
        file: "a.c".into(),
        first: line,
        last: line,
    };
    Descriptor {
        begin: at(first),
        end: at(last),
        ..Descriptor::default()
    }
}

/// What becomes of constructs, if there is code for some lines.
fn kept(source: &str, constructs: &[[u32; 2]], code: &[u32], is_gnu: Option<bool>) -> Vec<Kept> {
    let all = constructs
        .iter()
        .map(|[first, last]| construct_at(*first, *last));
    let all: Vec<Descriptor> = all.collect();
    let branches = branches(source, &all);
    let compiled = Compiled {
        lines: code.iter().copied().collect(),
        is_gnu,
    };
    let kept = all.iter().map(|one| is_kept(one, &branches, &compiled));
    kept.collect()
}

#[test]
fn what_the_preprocessor_leaves_out_is_no_construct() {
    let all = [[4, 5], [7, 8], [10, 10]];
    let found = branches(SOURCE, &[construct_at(4, 5), construct_at(10, 10)]);
    let found: Vec<_> = found.iter().map(|one| (one.lines, one.of)).collect();
    assert_eq!(
        found,
        [([3, 6], 3), ([9, 11], 9), ([6, 12], 3), ([1, 13], 1)]
    );
    assert_eq!(
        kept(SOURCE, &all, &[2, 8, 10], None),
        [Kept::No, Kept::Yes, Kept::Yes]
    );
    // A directive without lines of its own may be there.
    assert_eq!(
        kept(SOURCE, &all, &[2, 5, 8], None),
        [Kept::Yes, Kept::Yes, Kept::Unknown]
    );
}

/// The block of a directive may begin behind the conditional. If another branch of the same `#if`
/// was compiled, the directive was not.
#[test]
fn a_directive_in_another_branch_than_the_compiled_one_was_left_out() {
    let source = "#if A\nfor\n#else\nfor\n#endif\nloop;\n";
    for (code, expected) in [
        (2, [Kept::Yes, Kept::No]),
        (4, [Kept::No, Kept::Yes]),
        (6, [Kept::Unknown, Kept::Unknown]),
    ] {
        assert_eq!(kept(source, &[[2, 6], [4, 6]], &[code, 6], None), expected);
    }
}

/// The words of a condition may tell that it holds, without any code.
#[test]
fn conditions_that_tell_need_no_code() {
    for (condition, is_gnu, expected) in [
        ("ifdef _OPENMP", None, [Kept::Yes, Kept::No]),
        ("ifndef _OPENMP", None, [Kept::No, Kept::Yes]),
        (
            "if defined(__clang__) && __clang_major__ < 19",
            Some(true),
            [Kept::No, Kept::Yes],
        ),
        (
            "if defined(__clang__) && __clang_major__ < 19",
            Some(false),
            [Kept::Unknown; 2],
        ),
        ("ifdef __clang__", None, [Kept::Unknown; 2]),
        ("ifdef NEVER", Some(true), [Kept::Unknown; 2]),
    ] {
        let source = format!("#{condition}\nfor\n#else\nfor\n#endif\nloop;\n");
        let found = kept(&source, &[[2, 6], [4, 6]], &[6], is_gnu);
        assert_eq!(found, expected, "{condition}");
    }
    // What is around a known condition decides.
    let source = "#if A\nx;\n#ifdef _OPENMP\nfor\n#endif\nloop;\n#else\ny;\n#endif\n";
    assert_eq!(kept(source, &[[4, 6]], &[2, 6], None), [Kept::Yes]);
    assert_eq!(kept(source, &[[4, 6]], &[8], None), [Kept::No]);
}

#[test]
fn values_of_conditions() {
    let gnu = |condition: &str| value("if", condition, Some(true));
    for condition in [
        "1",
        "_OPENMP",
        "defined _OPENMP // it is",
        "!defined(__clang__)",
        "(defined _OPENMP || A) && !(defined __clang__ && B(1, (2)) > 3)",
    ] {
        assert_eq!(gnu(condition), Some(true), "{condition}");
    }
    for condition in ["0", "!_OPENMP", "A && 0", "defined __clang__ || 0"] {
        assert_eq!(gnu(condition), Some(false), "{condition}");
    }
    for condition in [
        "_OPENMP >= 201511",
        "A",
        "A + 1",
        "0 == 0",
        "1 /* or */",
        "1 \\",
        "(1",
        "1)",
        "",
        "! defined A",
    ] {
        assert_eq!(gnu(condition), None, "{condition}");
    }
    assert_eq!(
        gnu(&format!("{}1{}", "(".repeat(50), ")".repeat(50))),
        Some(true)
    );
    assert_eq!(gnu(&"(".repeat(1_000_000)), None);
}
