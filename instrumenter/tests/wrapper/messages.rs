//! What compilers say of a source is said of it with us, too, to the letter, and costs no
//! second compilation where that can be known.

use crate::support::{COMPILERS, Project};

/// What a compiler says of a source without us, after it was held against what it says
/// with us; and the commands that were run then.
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

#[test]
fn an_else_that_dangles_behind_a_directive_is_warned_of() {
    let source = "\
int b(void), c(void);
void f(int a) {
  if (a)
    for (int i = 0; i < 3; i++)
#pragma omp critical
      if (b()) c(); else b();
}
";
    for compiler in COMPILERS {
        let (plain, _) = said(compiler, "-Wall", source);
        let warns = plain.contains("dangling-else");
        assert_eq!(warns, *compiler == "gcc", "{compiler}: {plain}");
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

/// Clang compares the number of a line with the one that `#line` gave it.
#[test]
fn statements_that_are_empty_are_warned_of() {
    let source = "\
#include <omp.h>
int main(void) {
  omp_lock_t l;
  int n = 0;
  omp_init_lock(&l);
#pragma omp parallel
  {
    while (!omp_test_lock(&l)) ; omp_unset_lock(&l);
    if (n);
  }
  AGAIN
  return n;
}
";
    for compiler in COMPILERS {
        for macros in [
            "#define AGAIN\n",
            "#define AGAIN _Pragma(\"omp barrier\")\n",
        ] {
            for flags in ["-O0", "-Wextra"] {
                let (plain, _) = said(compiler, flags, &format!("{macros}{source}"));
                let warns = plain.contains("empty-body");
                assert!(warns || *compiler == "gcc", "{compiler}: {plain}");
            }
        }
    }
}

/// Calls that are redirected have other columns, and so has what follows them.
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
