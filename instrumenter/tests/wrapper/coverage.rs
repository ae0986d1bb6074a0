//! Coverage shows the user's files and lines.

use std::process::Command;

use crate::support::{self, Project, function};

/// The files that gcov shows of a program, and their lines with execution counts. For Clang the
/// counts are replaced by whether a line was executed.
fn covered(name: &str, compiler: &str, source: (&str, &str), off: &str) -> Vec<String> {
    let header = "static inline int h(int n) {\n#pragma omp critical\n  n++;\n  return n;\n}\n";
    let project = Project::new(&[source, ("h.h", header)]);
    let mut command = support::wrapper(name);
    command.args(["-fopenmp", "--coverage", "-c", source.0, "-o", "x.o"]);
    command.arg("-fprofile-update=atomic");
    let mut call = project.invocation(command).env("ROMP_OFF", off);
    for variable in ["ROMP_CC", "ROMP_FC"] {
        call = call.env(variable, compiler);
    }
    call.quietly();
    assert_eq!(project.is_measured("x.o"), off == "0");
    let mut command = support::wrapper(name);
    command.args(["-fopenmp", "--coverage", "x.o", "-o", "app"]);
    let mut call = project.invocation(command);
    for variable in ["ROMP_CC", "ROMP_FC"] {
        call = call.env(variable, compiler);
    }
    call.quietly();
    project.execute("app");
    let gcov: &[&str] = match compiler {
        "clang" => &["llvm-cov", "gcov"],
        _ => &["gcov"],
    };
    let mut command = Command::new(gcov[0]);
    let gcov = command.args(&gcov[1..]).args(["-t", "x.gcda"]);
    let output = gcov.current_dir(project.directory()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.lines().filter_map(|line| {
        let (count, rest) = line.split_once(':')?;
        let word = match count.trim() {
            "-" if rest.contains(":Source:") => "",
            "-" => return None,
            "#####" | "=====" => "not executed",
            // Clang adds up the blocks of a line: 6 for a body that ran 4 times.
            _ if compiler == "clang" => "executed",
            count => count,
        };
        Some(format!("{word}:{rest}"))
    });
    lines.collect()
}

/// A program with constructs of several kinds: some pass no variables on, some are in a loop,
/// and some contain several calls.
const C: &str = "\
#include <omp.h>
#include <stdio.h>
#include \"h.h\"
static int g;
static int work(int n) {
  int s = 0;
#pragma omp parallel for reduction(+ : s)
  for (int i = 0; i < n; i++)
    s += i;
  return s;
}
static void nothing_is_passed_on(void) {
#pragma omp parallel
  {
#pragma omp atomic
    g++;
  }
#pragma omp parallel for
  for (int i = 0; i < 4; i++)
    h(i);
#pragma omp task
  g++;
#pragma omp taskwait
}
static int in_loops(int n) {
  for (int i = 0; i < n; i++) {
#pragma omp critical
    if (n > 3)
      g++;
    else
      g--;
  }
#pragma omp critical
  {
    n += fprintf(stderr, \"%s\", \"\");
    n += fprintf(stderr, \"%s\", \"\");
  }
#pragma omp single
  n++;
  for (int i = 0; i < n; i++)
#pragma omp master
    g++;
  return n;
}
int main(int c, char **v) {
  int t = 0;
  omp_lock_t l;
  omp_init_lock(&l);
  for (int i = 0; i < 4; i++) {
    omp_set_lock(&l);
    omp_unset_lock(&l);
  }
#pragma omp parallel num_threads(2)
  {
#pragma omp single
    t = work(c + 10);
#pragma omp sections
    {
      t++;
#pragma omp section
      work(3);
    }
  }
  nothing_is_passed_on();
  in_loops(3);
  in_loops(5);
#pragma omp for nowait
  for (int i = 0; i < 4; i++)
    if (i > c)
      t++;
  if (t < 0)
    work(6);
  return v == 0 || h(3) != 4;
}
";

/// Template instances, which gcov shows separately, and calls that may throw.
const TEMPLATES: &str = "\
static int g;
template <class T> T f(T n) {
#pragma omp critical
  n++;
#pragma omp parallel
  {
#pragma omp single
    g++;
  }
  if (n > 100)
    n = 3;
  return n;
}
struct Counted {
  ~Counted() { g++; }
};
int main() {
  Counted c;
  f(3);
  f(3.0);
  auto l = [&]() {
#pragma omp critical
    {
      Counted d;
      g++;
    }
  };
  l();
#pragma omp critical
  {
    try {
      if (g > 2)
        throw 1;
    } catch (...) {
      g = 3;
    }
  }
}
";

#[test]
fn files_and_lines_are_those_of_the_plain_program() {
    let fortran = "\
program p
  integer :: i, s
  s = 0
!$omp task
  call h()
!$omp end task
!$omp critical
  call h()
  call h()
!$omp end critical
!$omp parallel do reduction(+:s)
  do i = 1, 10
    s = s + i
  end do
!$omp critical
  s = s + 1
!$omp end critical
  if (s < 0) then
    print *, s
  end if
contains
  subroutine h()
!$omp parallel
!$omp end parallel
  end subroutine
end program
";
    for (name, compiler, source) in [
        ("rompcc", "gcc", ("a.c", C)),
        ("rompcc", "g++", ("a.cc", C)),
        ("rompcc", "g++", ("t.cc", TEMPLATES)),
        ("rompcc", "clang", ("a.c", C)),
        ("rompfc", "gfortran", ("f.f90", fortran)),
    ] {
        let plain = covered(name, compiler, source, "1");
        let measured = covered(name, compiler, source, "0");
        // Clang counts the brace that ends a region if nothing is added behind it.
        let counted = |line: &String| compiler != "clang" || !line.ends_with(":  }");
        let [plain, measured] = [plain, measured].map(|mut lines| {
            lines.retain(counted);
            lines
        });
        assert!(plain.iter().any(|line| line.starts_with("not executed")));
        assert!(plain.iter().any(|line| line.starts_with(['1', 'e'])));
        assert_eq!(measured, plain, "{compiler}");
    }
}

#[test]
fn coverage_that_knows_no_line_directives_is_left_right() {
    let project = Project::new(&[("a.c", &function("f", "1"))]);
    let text = "-fopenmp -fprofile-instr-generate -fcoverage-mapping -c a.c";
    let call = |strict| project.rompcc("clang", text).env("ROMP_STRICT", strict);
    let run = call("0").run();
    assert_eq!(run.code, Some(0), "{run:?}");
    let warnings = run
        .stderr
        .matches("a.c is not measured: -fcoverage-mapping");
    assert_eq!(warnings.count(), 1, "{run:?}");
    assert!(!project.is_measured("a.o"));
    assert_eq!(call("1").run().code, Some(1));
}
