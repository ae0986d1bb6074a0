//! The compiler's messages about a source are the same with Romp, and never more. They cost no
//! second compilation if that can be known.

use crate::support::{COMPILERS, Project};

/// Compares a compiler's messages with and without Romp. Returns the messages, and the number
/// of commands that Romp ran.
fn said(compiler: &str, flags: &str, source: &str) -> (String, usize) {
    let project = Project::new(&[("a.c", source)]);
    let text = format!("-fopenmp {flags} -c a.c");
    let run = |name: &str, value: &str| {
        let run = project.rompcc(compiler, &text).env(name, value).run();
        assert_eq!(run.code, Some(0), "{compiler}: {}", run.stderr);
        run.stderr
    };
    let plain = run("ROMP_OFF", "1");
    assert_eq!(run("ROMP_STRICT", "1"), plain, "{compiler}");
    let told = run("ROMP_VERBOSE", "1");
    let commands = told.lines().filter(|line| line.contains("-fopenmp"));
    (plain, commands.count())
}

/// Sources for which GCC warns about layout and Clang about an empty statement, as long as the
/// text has no `#line`.
const OF_LAYOUT: &[&str] = &[
    // An `else` behind a directive.
    "  if (a)\n    for (int i = 0; i < 3; i++)\n#pragma omp critical\n      if (b()) c(); else b();\n",
    "#pragma omp barrier\n  if (a) b();\n         c();\n",
    "  PARALLEL b();\n  if (a) b();\n         c();\n",
    "  PARALLEL b();\n  if (a) TWICE(c());\n",
    "#pragma omp barrier\n  if (a);\n  b();\n",
    "  PARALLEL b();\n  if (a);\n  b();\n",
];

/// GCC's warnings may be lost, but none is added. `ROMP_MESSAGES=exact` shows all of them.
#[test]
fn warnings_of_layout_are_never_more_than_the_compiler_s() {
    for (compiler, body) in COMPILERS
        .iter()
        .flat_map(|compiler| OF_LAYOUT.iter().map(move |body| (compiler, body)))
    {
        let source = format!(
            "#define PARALLEL _Pragma(\"omp parallel\")\n#define TWICE(x) x; x\n\
             int b(void), c(void);\nvoid f(int a) {{\n{body}}}\n"
        );
        let project = Project::new(&[("a.c", source.as_str())]);
        let text = "-fopenmp -Wall -Wextra -c a.c";
        let run = |name: &str, value: &str| {
            let run = project.rompcc(compiler, text).env(name, value).run();
            assert_eq!(run.code, Some(0), "{compiler}: {}", run.stderr);
            run.stderr
        };
        let plain = run("ROMP_OFF", "1");
        assert_eq!(run("ROMP_MESSAGES", "exact"), plain, "{compiler}");
        assert!(project.is_measured("a.o"), "{compiler}");
        let said = run("ROMP_STRICT", "1");
        let lost = said.is_empty() && *compiler == "gcc";
        assert!(lost || said == plain, "{compiler}: {said}");
        assert!(project.is_measured("a.o"), "{compiler}");
    }
}

/// Other versions of Clang that are installed.
fn clangs() -> Vec<String> {
    let version = |number: u32| format!("clang-{number}");
    let others = (15..40).map(version).filter(|name| {
        let found = std::process::Command::new(name).arg("--version").output();
        found.is_ok_and(|output| output.status.success())
    });
    std::iter::once("clang".to_owned()).chain(others).collect()
}

/// Clang puts included files in place and leaves macros alone. Its messages about that text are
/// those about the source, whatever the macros are, so no second compilation is needed.
#[test]
fn clang_says_of_included_files_what_it_says_of_the_source() {
    let header = "\
#pragma once
#include <stdio.h>
#define ZERO 0
#define LESS(n, m) sum = n < m
#define NEXT(n) n++; n--
#if __has_include(<omp.h>) && !defined(WITHOUT)
#include <omp.h>
#endif
static int unused(void) { return 1; }
static inline int twice(int n) {
  int here = __LINE__, sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; i++) sum += i;
  { int n = ZERO; unsigned m = 1; if (n < m) LESS(n, m); }
  if (n) NEXT(n);
         sum++;
  return sum;
}
";
    let source = "\
#include \"inc/twice.h\"
#include \"inc/twice.h\"
#define ONE 1
#define ONE 2
int main(void) {
  int *p = EOF;
#ifdef ABSENT
  int nothing;
#elif ZERO
  int zero;
#else
  int other = ONE;
#endif
  #pragma   region A  b
  printf(\"%d %ld %s\\n\", twice(3), 1, __FILE__);
}
";
    let files = [("src/a.c", source), ("src/inc/twice.h", header)];
    for compiler in clangs() {
        for flags in ["-Wall -Wextra -Wshadow", "-Weverything -O2 -g", "-w"] {
            let project = Project::new(&files);
            let text = format!("-fopenmp -Wno-error=int-conversion {flags} src/a.c -o app");
            let run = |name: &str, value: &str| {
                let run = project.rompcc(&compiler, &text).env(name, value).run();
                assert_eq!(run.code, Some(0), "{compiler}: {}", run.stderr);
                run.stderr
            };
            let plain = run("ROMP_OFF", "1");
            assert_eq!(run("ROMP_STRICT", "1"), plain, "{compiler} {flags}");
            assert_eq!(plain.contains("LESS"), flags != "-w", "{plain}");
            assert!(project.read("app").contains("sscl=src/inc/twice.h:12"));
            assert!(project.execute("app").ends_with(" 1 src/a.c\n"));
            let told = run("ROMP_VERBOSE", "1");
            let commands = told.lines().filter(|line| line.contains("-fopenmp"));
            // `-Weverything` could warn about macros in the added text, so the source is
            // compiled, too.
            let commands_needed = if flags.starts_with("-We") { 3 } else { 2 };
            assert_eq!(commands.count(), commands_needed, "{told}");
        }
        let project = Project::new(&files);
        let text = "-fopenmp -Wall -Wextra -Werror src/a.c -o app";
        let [plain, measured] = ["1", "0"].map(|off| {
            let run = project.rompcc(&compiler, text).env("ROMP_OFF", off).run();
            (run.code, run.stderr)
        });
        assert_eq!(measured, plain, "{compiler}");
        assert_eq!(plain.0, Some(1), "{compiler}");
    }
}

#[test]
fn marks_below_a_line_with_a_macro_and_hints_at_headers_are_shown() {
    let source = "\
#include <stdio.h>
#define STEP 2
void *g(unsigned n, int m) {
  void *p = malloc(n);
#pragma omp parallel
  puts(\"\");
  for (unsigned i = 0; i < m / STEP; i++) puts(\"\");
  free(p);
  return p;
}
";
    for compiler in COMPILERS {
        let flags = "-Wall -Wextra -Wno-error=implicit-function-declaration";
        let (plain, _) = said(compiler, flags, source);
        assert!(plain.contains("sign-compare"), "{compiler}: {plain}");
    }
}

#[test]
fn unknown_pragmas_are_no_reason_to_compile_twice() {
    let source = "\
#include <stdio.h>
#define ONE 1
#define ONE 2
void f(int a) {
#pragma omp parallel
  {
#pragma unroll_and_run 4
    for (int i = 0; i < a; i++) puts(\"\");
  }
}
";
    for compiler in COMPILERS {
        let (plain, commands) = said(compiler, "-Wall", source);
        assert!(plain.contains("unknown-pragmas"), "{compiler}: {plain}");
        assert!(plain.contains("redefined"), "{compiler}: {plain}");
        assert_eq!(commands, 1, "{compiler}");
    }
}

/// Clang's front end gives all of its messages here, so the source need not be compiled a second time. A text whose
/// macros are expanded has a warning of its own.
#[test]
fn clang_only_checks_a_source_if_its_front_end_said_all() {
    let source = "\
#define EQUAL(a, b) ((a) == (b))
#define HEADER \"b.h\"
#include HEADER
int f(int a) {
  int n = 0, unused;
#pragma omp parallel for reduction(+ : n)
  for (int i = 0; i < a; i++) if (EQUAL(i, a)) n += g();
  return n;
}
";
    let project = Project::new(&[("a.c", source), ("b.h", "int g(void);\n")]);
    let run = |name: &str, value: &str, flags: &str| {
        let text = format!("-fopenmp -O2 -Wall {flags} -c a.c");
        let run = project.rompcc("clang", &text).env(name, value).run();
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        run.stderr
    };
    for (flags, checks) in [("", true), ("-Wframe-larger-than=0", false)] {
        let plain = run("ROMP_OFF", "1", flags);
        assert!(plain.contains("unused-variable"), "{plain}");
        assert!(!plain.contains("parentheses-equality"), "{plain}");
        let shown = run("ROMP_STRICT", "1", flags);
        assert_eq!(shown, plain, "{flags}");
        let told = run("ROMP_VERBOSE", "1", flags);
        assert_eq!(told.contains("-fsyntax-only"), checks, "{told}");
    }
}

/// Redirected calls and the text behind them have other columns.
#[test]
fn columns_behind_a_call_of_a_lock_routine_are_the_user_s() {
    let source = "\
#include <omp.h>
#define ADD(a, b) do { unsigned t_ = (b); _Pragma(\"omp atomic\") a += t_; } while (0)
omp_nest_lock_t l;
unsigned v;
int main(void) {
  unsigned g = 3;
#pragma omp parallel
  {
    ADD(v, g);
    omp_set_nest_lock(&l); v += (g+1u^5u); omp_unset_nest_lock(&l); int unused;
  }
  return 0;
}
";
    for compiler in COMPILERS {
        let (plain, _) = said(compiler, "-Wall -Wextra", source);
        let column = ":10:";
        assert!(plain.contains(column), "{compiler}: {plain}");
    }
}
