//! `romp instrument`, called as users call it.

// The lint lets tests unwrap, but not their helpers.
#![allow(clippy::unwrap_used)]

use std::process::{Command, Output};

const PARALLEL: &str = "void f(void) {\n#pragma omp parallel\n  { }\n}\n";

/// Runs it in a folder with `a.c`, `b.c`, `c.f90` and `program`.
fn instrument(words: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("a.c", PARALLEL);
    write("b.c", "int x;\n");
    write(
        "c.f90",
        "!$omp parallel\n!$omp barrier\n!$omp end parallel\nend\n",
    );
    write("program", "\x7fELF\x02\x01\x01");
    let mut command = Command::new(env!("CARGO_BIN_EXE_romp"));
    command.arg("instrument").args(words.split(' '));
    let output = command.current_dir(folder.path()).output().unwrap();
    let left = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, 4, "{words} writes a file");
    output
}

fn said(words: &str) -> (Option<i32>, String) {
    let output = instrument(words);
    assert_eq!(output.stdout, b"", "{words}");
    let text = String::from_utf8(output.stderr).unwrap();
    (output.status.code(), text)
}

#[test]
fn several_files_are_verified() {
    let (status, text) = said("--verify a.c b.c c.f90");
    let expected =
        "a.c: verified, 1 region\nb.c: verified, 0 regions\nc.f90: verified, 2 regions\n";
    assert_eq!((status, &*text), (Some(0), expected));
    assert_eq!(said("--verify a.c").1, "a.c: verified, 1 region\n");
}

#[test]
fn one_that_fails_fails_all_and_hides_none() {
    let (status, text) = said("--verify a.c absent.c c.f90");
    assert_eq!(status, Some(1), "{text}");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "a.c: verified, 1 region");
    assert!(
        lines[1].starts_with("error: cannot read 'absent.c': "),
        "{text}"
    );
    assert!(lines.contains(&"c.f90: verified, 2 regions"), "{text}");
    let last = "error: 1 of 3 files could not be verified";
    assert_eq!(lines.last(), Some(&last), "{text}");
}

#[test]
fn machine_code_is_told_from_sources() {
    let (status, text) = said("--verify program");
    assert_eq!(status, Some(1), "{text}");
    assert!(
        text.starts_with("error: 'program' is machine code, not a source file\n  = help: "),
        "{text}"
    );
}

#[test]
fn several_files_are_not_instrumented_into_one() {
    for words in ["a.c b.c", "--verify -o out.c a.c b.c"] {
        let (status, text) = said(words);
        assert_eq!(status, Some(2), "{words}: {text}");
        assert!(text.contains("say --verify, without -o"), "{text}");
    }
    assert_ne!(instrument("a.c").stdout, b"");
}

/// Nothing stands in for functions of POMP2.
#[test]
fn libraries_for_pomp2_have_all_functions() {
    let (status, text) = said("--partial-library --api pomp2 a.c");
    assert_eq!(status, Some(2), "{text}");
    assert!(
        text.contains("--partial-library is for --api pomp"),
        "{text}"
    );
    let (status, text) = said("--partial-library --verify a.c c.f90");
    assert_eq!(status, Some(0), "{text}");
}

#[test]
fn what_is_no_ordinary_file_is_written_to() {
    use std::os::unix::fs::FileTypeExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("a.c"), PARALLEL).unwrap();
    std::fs::write(path("there.c"), "").unwrap();
    std::os::unix::fs::symlink("there.c", path("link.c")).unwrap();
    let made = Command::new("mkfifo").arg(path("pipe")).status().unwrap();
    assert!(made.success());
    let call = |output: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_romp"));
        command.args(["instrument", "a.c", "-o", output]);
        command.current_dir(folder.path()).status().unwrap()
    };
    let reader = Command::new("cat")
        .arg(path("pipe"))
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    assert!(call("pipe").success());
    // If the pipe had been replaced, its reader would wait for a writer forever.
    let kind = std::fs::symlink_metadata(path("pipe")).unwrap().file_type();
    assert!(kind.is_fifo());
    let read = reader.wait_with_output().unwrap().stdout;
    assert!(String::from_utf8(read).unwrap().contains("POMP_Parallel_"));
    assert!(call("link.c").success());
    assert!(path("link.c").is_symlink());
    let text = std::fs::read_to_string(path("there.c")).unwrap();
    assert!(text.contains("POMP_Parallel_"));
}

#[test]
fn statements_are_not_broken_where_every_column_counts() {
    for (length, broken) in [("0", false), ("132", true)] {
        let output = instrument(&format!("--line-length {length} c.f90"));
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("POMPF_Parallel_fork"));
        assert_eq!(text.contains("&\n"), broken, "{length}: {text}");
    }
}

/// The text that is written for a source with the given name.
fn rewritten(name: &str, source: &str) -> String {
    rewritten_with(&[], name, source)
}

fn rewritten_with(options: &[&str], name: &str, source: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(name), source).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_romp"));
    command.arg("instrument").args(options).arg(name);
    let output = command.current_dir(folder.path()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn pomp_s_own_directives_stand_only_where_calls_may() {
    let around = |directive: &str| {
        format!(
            "void f(int *a) {{\n  {directive}\n  for (int i = 0; i < 4; i++) {{\n\
             #pragma pomp inst begin(lane)\n    a[i]++;\n#pragma pomp inst end(lane)\n  }}\n}}\n"
        )
    };
    for (directive, is_measured) in [("", true), ("#pragma omp simd", false)] {
        let text = rewritten("a.c", &around(directive));
        assert_eq!(text.contains("POMP_Begin(romp"), is_measured, "{text}");
    }
    let around = |begin: &str, end: &str| {
        format!(
            "program p\ninteger :: i, k\nk = 0\n{begin}\ndo i = 1, 4\n!$pomp inst begin(lane)\n\
             k = k + i\n!$pomp inst end(lane)\nend do\n{end}\nend program\n"
        )
    };
    for (begin, end, is_measured) in [("", "", true), ("!$omp simd", "!$omp end simd", false)] {
        let text = rewritten("a.f90", &around(begin, end));
        assert_eq!(text.contains("POMPF_Begin"), is_measured, "{text}");
    }
    let outside = rewritten("b.f90", "!$pomp inst on\nprogram p\nend program\n");
    assert!(!outside.contains("POMPF_On"), "{outside}");
}

/// Some compilers take such loops. In front of the loop, the inner bounds are those of no row.
#[test]
fn fortran_s_loops_with_bounds_that_depend_on_one_another_have_no_chunks() {
    for (bounds, is_traced) in [
        ("2, n", true),
        ("i, n", false),
        ("1, 2 * I - 1, 2", false),
        ("n, i, -1", false),
        ("1, n, i", false),
    ] {
        let text = format!(
            "      subroutine s(n, k)\n      integer :: i, j, k, n\n!$omp do collapse(2)\n\
             \x20     do i = 1, n\n      do j = {bounds}\n      k = k + j\n\
             \x20     end do\n      end do\n      end subroutine\n"
        );
        for name in ["a.f90", "a.f"] {
            let text = rewritten_with(&["--chunks"], name, &text);
            assert_eq!(text.contains("POMPF_Chunks_begin"), is_traced, "{text}");
        }
    }
}
