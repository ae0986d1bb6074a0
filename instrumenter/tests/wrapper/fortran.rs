//! `rompfc` with gfortran: modules, includes, source forms, messages and all other files are
//! the same as without it.

use std::path::Path;
use std::process::Command;

use crate::support::{Invocation, Project, ROMPCC, Run};

const MODULE: &str = "\
module sums
  implicit none (type)
contains
  subroutine add(n, total)
    integer, intent(in) :: n
    integer, intent(inout) :: total
    include 'near.inc'
    integer :: i
    !$omp parallel do reduction(+:total) &
    !$omp   schedule(static)
    do i = 1, n * factor
      total = total + 1
    end do
  end subroutine
end module
";

const MAIN: &str = "\
#define TOTAL total
program main
  use sums, only: add
  implicit none
  integer :: total
#include \"near.h\"
  TOTAL = start
!$omp critical (name)
  call add(100, TOTAL)
!$omp end critical (name)
  print '(i0,1x,a,1x,i0)', TOTAL, __FILE__, __LINE__
  call fixed(TOTAL)
end program
";

const FIXED: &str = "\
C     Everything that fixed form allows.
      subroutine fixed(n)
      integer n
c$omp parallel default(none)
c$omp&  shared(n)
c$omp single
      n = n
     &    + 1
c$omp end single
c$omp end parallel
      write (*, '(i0)') n
      end
";

fn project() -> Project {
    Project::new(&[
        ("src/sums.f90", MODULE),
        ("src/main.F90", MAIN),
        ("src/near.inc", "    integer, parameter :: factor = 3\n"),
        ("src/near.h", "integer, parameter :: start = 7\n"),
        ("old/fixed.f", FIXED),
        ("mods/keep", ""),
    ])
}

fn rompfc(project: &Project, text: &str) -> Invocation {
    let mut command = crate::support::rompfc();
    command.args(text.split_whitespace());
    project.invocation(command).env("ROMP_STRICT", "1")
}

fn gfortran(project: &Project, text: &str) -> Run {
    let mut command = Command::new("gfortran");
    command.args(text.split_whitespace());
    project.invocation(command).run()
}

/// Runs the same commands with and without Romp and compares the files and messages.
fn same(commands: &[&str], run: &str) -> Project {
    let (plain, measured) = (project(), project());
    for text in commands {
        let expected = gfortran(&plain, text);
        let found = rompfc(&measured, text).run();
        assert_eq!(
            (found.code, &found.stdout, &found.stderr),
            (expected.code, &expected.stdout, &expected.stderr),
            "{text}"
        );
    }
    assert_eq!(measured.files(), plain.files());
    measured.assert_clean();
    if !run.is_empty() {
        assert_eq!(measured.execute(run), plain.execute(run));
        assert!(measured.is_measured(run));
    }
    measured
}

const STRICT: &str = "-fopenmp -Wall -Wextra -pedantic -Werror";

#[test]
fn modules_and_includes_are_found_in_every_form() {
    let compile = |text: &str| format!("{STRICT} -c {text}");
    same(
        &[
            &compile("-std=f2018 -J mods src/sums.f90 -o sums.o"),
            &compile("-std=f2018 -I mods src/main.F90 -o main.o"),
            &compile("old/fixed.f"),
            "-fopenmp main.o sums.o fixed.o -o program",
        ],
        "program",
    );
}

#[test]
fn one_command_may_do_everything() {
    same(
        &[&format!(
            "{STRICT} src/sums.f90 src/main.F90 old/fixed.f -o program"
        )],
        "program",
    );
}

#[test]
fn flags_decide_about_form_and_preprocessing() {
    let project = project();
    let long = FIXED.replace("c$omp&  shared(n)", &format!("c$omp&{:70}shared(n)", ""));
    project.write("long.f90", &long);
    project.write("free.f", &MODULE.replace("near.inc", "src/near.inc"));
    project.write("text.txt", &MAIN.replace("near.h", "src/near.h"));
    for text in [
        "-ffixed-form -ffixed-line-length-132 long.f90 -o long.o",
        "-ffixed-form -ffixed-line-length-none long.f90 -o longer.o",
        "-ffree-form free.f -o free.o",
        "-cpp -ffree-form free.f -o again.o",
    ] {
        rompfc(&project, &format!("{STRICT} -c {text}")).quietly();
        let object = text.rsplit(' ').next().unwrap();
        assert!(project.is_measured(object), "{text}");
    }
    let named = "-fopenmp -c -x f95-cpp-input text.txt -o text.o";
    let run = rompfc(&project, named).run();
    assert_eq!(
        (run.code, run.stderr),
        (Some(0), gfortran(&project, named).stderr)
    );
    rompfc(&project, named).run();
    assert!(project.is_measured("text.o"));
}

#[test]
fn messages_are_about_the_user_s_lines() {
    let wrong = MODULE.replace("total = total + 1", "total = total + oops");
    let unused = MODULE.replace("integer :: i\n", "integer :: i, unused\n");
    for (text, flags) in [(&wrong, "-c"), (&unused, "-c -Wall -Wextra")] {
        let [plain, measured] = [project(), project()].map(|project| {
            project.write("src/sums.f90", text);
            project
        });
        let command = format!("-fopenmp {flags} src/sums.f90");
        let expected = gfortran(&plain, &command);
        let found = rompfc(&measured, &command).run();
        assert!(!expected.stderr.is_empty());
        assert_eq!((found.code, found.stderr), (expected.code, expected.stderr));
    }
}

#[test]
fn backtraces_and_debug_information_name_the_user_s_lines() {
    let [plain, measured] = [project(), project()].map(|project| {
        let stop = MODULE.replace(
            "    end do\n",
            "    end do\n    if (total > 0) error stop 3\n",
        );
        project.write("src/sums.f90", &stop);
        project
    });
    let command = "-fopenmp -g -O0 -fbacktrace src/sums.f90 src/main.F90 old/fixed.f -o program";
    assert_eq!(gfortran(&plain, command).code, Some(0));
    rompfc(&measured, command).quietly();
    let trace = |project: &Project| {
        let run = project
            .invocation(Command::new(project.path("program")))
            .run();
        let lines = run.stderr.lines().filter(|line| line.contains("src/"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let expected = trace(&plain);
    assert!(
        expected.iter().any(|line| line.ends_with("sums.f90:14")),
        "{expected:?}"
    );
    assert_eq!(trace(&measured), expected);
    let text = String::from_utf8_lossy(&measured.bytes("program")).into_owned();
    let temporary = measured.temporary();
    assert!(
        !text.contains(temporary.to_str().unwrap()),
        "a temporary name is in the program"
    );
}

#[test]
fn coverage_counts_the_user_s_lines() {
    let covered = |compile: &dyn Fn(&Project)| {
        let project = project();
        compile(&project);
        project.execute("program");
        let mut gcov = Command::new("gcov");
        gcov.args(["-t", "sums.gcda"]);
        let run = project.invocation(gcov).run();
        // Which lines have code, and whether they ran.
        let lines = run.stdout.lines().filter_map(|line| {
            let (count, rest) = line.split_once(':')?;
            let number: u32 = rest.split(':').next()?.trim().parse().ok()?;
            let state = match count.trim() {
                "-" => return None,
                "#####" => "missed",
                _ => "ran",
            };
            Some((number, state))
        });
        lines
            .filter(|(number, _)| *number > 0)
            .collect::<std::collections::BTreeMap<_, _>>()
    };
    let commands = [
        "-fopenmp --coverage -O0 -c src/sums.f90",
        "-fopenmp -c src/main.F90",
        "-fopenmp -c old/fixed.f",
        "-fopenmp --coverage sums.o main.o fixed.o -o program",
    ];
    let plain = covered(&|project| {
        commands
            .iter()
            .for_each(|text| assert_eq!(gfortran(project, text).code, Some(0)));
    });
    let measured = covered(&|project| {
        commands
            .iter()
            .for_each(|text| rompfc(project, text).quietly());
    });
    // Line 10 is not compared: the directive continues there, so probes may belong to it.
    for line in [4, 14] {
        assert_eq!(
            (plain.get(&line), measured.get(&line)),
            (Some(&"ran"), Some(&"ran"))
        );
    }
    // Probes belong to the lines of their construct: 9 and 13.
    let elsewhere = measured
        .keys()
        .filter(|line| ![4, 9, 13, 14].contains(line));
    assert_eq!(elsewhere.count(), 0, "{measured:?}");
}

#[test]
fn dependency_files_name_the_user_s_source() {
    let project = same(
        &[
            "-fopenmp -c -J mods src/sums.f90 -o sums.o",
            "-fopenmp -c -I mods -cpp -MMD -MF main.d src/main.F90 -o main.o",
        ],
        "",
    );
    let dependencies = project.read("main.d");
    assert!(dependencies.contains("src/main.F90") && dependencies.contains("src/near.h"));
    assert!(!dependencies.contains(project.temporary().to_str().unwrap()));
}

#[test]
fn c_and_fortran_link_with_either_command() {
    let project = project();
    project.write(
        "main.c",
        "extern void fixed_(int *);\nint main(void) {\n  int n = 3;\n#pragma omp parallel\n  \
         { }\n  fixed_(&n);\n  return n - 4;\n}\n",
    );
    rompfc(&project, "-fopenmp -c old/fixed.f").quietly();
    project.rompcc("gcc", "-fopenmp -c main.c").quietly();
    rompfc(&project, "-fopenmp main.o fixed.o -o one").quietly();
    let mut link = Command::new(ROMPCC);
    link.args("-fopenmp main.o fixed.o -lgfortran -o two".split(' '));
    project.invocation(link).env("ROMP_CC", "gcc").quietly();
    // The driver for Fortran compiles C too.
    rompfc(&project, "-fopenmp main.c old/fixed.f -o three").quietly();
    for program in ["one", "two", "three"] {
        assert_eq!(project.execute(program), "4\n", "{program}");
        assert!(project.is_measured(program));
    }
}

#[test]
fn the_module_s_header_names_the_source() {
    let project = project();
    rompfc(&project, "-fopenmp -c src/sums.f90").quietly();
    let header = Command::new("zcat")
        .arg("sums.mod")
        .current_dir(project.directory())
        .output();
    let header = String::from_utf8(header.unwrap().stdout).unwrap();
    assert!(
        header
            .lines()
            .next()
            .unwrap()
            .ends_with("created from sums.f90")
    );
    assert!(Path::new(&project.path("sums.mod")).exists());
}

/// Directives are rewritten. Warnings about their spelling and about places in them must still
/// be those about the user's lines.
#[test]
fn warnings_about_rewritten_lines_are_those_about_the_source() {
    let free = "\
subroutine s(n, unused)
  implicit none
  integer :: n, unused, i, j, k, total
  total = 0
\t!$omp\tparallel do\treduction(+:total) &
  !$omp & private(k)\tschedule(static)
  do i = 1, n
\tk = i
    total = total + k
  end do
  !$omp parallel do collapse(2) private(k) lastprivate(j) num_threads(int(2.5))
  do i = 1, n
    do j = 1, n
      total = total + k * j
    end do
  end do
  !$omp parallel num_threads(2)
  k = 1.5
  !$omp end parallel
  !$pomp noinstrument
\t!$omp parallel num_threads(2)
\t!$omp end parallel
  !$pomp instrument
\t!$omp parallel num_threads(2)
\t!$omp end parallel
  print *, total
end subroutine
";
    let fixed = "      subroutine s(n, total)
      integer n, i, k, total
C$OMP PARALLEL DO DEFAULT(NONE) SHARED(N)                               BEHIND 1
C$OMP& PRIVATE(I)\tPRIVATE(K) REDUCTION(+:TOTAL)
      do i = 1, n
        total = total + k
      end do
c$omp end parallel do                                                   BEHIND 2
      end
";
    for (name, text) in [("s.f90", free), ("s.f", fixed)] {
        for flags in [
            "-O2 -Wall -Wextra -pedantic",
            "-O0 -Wtabs -Wline-truncation",
        ] {
            let [plain, measured] = [(); 2].map(|()| Project::new(&[(name, text)]));
            let compile = format!("-fopenmp {flags} -c {name}");
            let expected = gfortran(&plain, &compile);
            // GCC gives no warnings about the directives themselves once they are rewritten.
            let call = rompfc(&measured, &compile).env("ROMP_MESSAGES", "exact");
            let found = call.run();
            assert!(expected.stderr.contains("-Wtabs"), "{}", expected.stderr);
            assert_eq!((found.code, found.stderr), (expected.code, expected.stderr));
            assert!(measured.is_measured("s.o"));
            measured.assert_clean();
        }
    }
}

/// The compiler names an included file as the `include` line names it.
#[test]
fn warnings_about_included_files_name_them_as_the_source_does() {
    let files = [
        (
            "s.f90",
            "subroutine s(a)\n  real :: a\n  include 'part.inc'\nend subroutine\n",
        ),
        ("inc/part.inc", "!$omp barrier\n  if (a == 1.5) a = 2\n"),
    ];
    let [plain, measured] = [(); 2].map(|()| Project::new(&files));
    let compile = "-fopenmp -Wall -Wextra -Iinc -c s.f90";
    let expected = gfortran(&plain, compile).stderr;
    assert!(expected.starts_with("part.inc:2"), "{expected}");
    assert_eq!(rompfc(&measured, compile).run().stderr, expected);
    assert!(measured.is_measured("s.o"));
}

/// Warnings about files that the compiler includes itself, and about fixed-form lines that it
/// reads as wider than written.
#[test]
fn what_it_says_of_files_that_it_reads_itself_is_said() {
    let source = "      subroutine s(a)
      include 'part.inc'
!$omp parallel do
      do i = 1, 5
      enddo
      if (i.eq.2) k = 1
      a = k
      end
";
    let files = [("s.f", source), ("part.inc", "      real a, b\n")];
    let [plain, measured] = [(); 2].map(|()| Project::new(&files));
    let compile = "-fopenmp -O2 -Wall -Wextra -c s.f";
    let expected = gfortran(&plain, compile).stderr;
    assert!(expected.starts_with("part.inc:1"), "{expected}");
    assert!(expected.contains("uninitialized"), "{expected}");
    assert_eq!(rompfc(&measured, compile).run().stderr, expected);
    assert!(measured.is_measured("s.o"));
}
