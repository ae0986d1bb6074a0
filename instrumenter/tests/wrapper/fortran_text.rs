//! `rompfc` and directives that a Fortran source does not show: those made by macros, those in
//! files that the preprocessor includes, and those in files of `include` lines.

use std::io::Write;
use std::process::Command;

use crate::support::{Invocation, Project, fake};

const MAIN: &str = "\
#define PARALLEL !$omp parallel
#define CLAUSES private(i) reduction(+:s)
program p
  implicit none
  integer :: i, s
  s = 0
PARALLEL num_threads(2) reduction(+:s)
  s = s + 1
!$omp end parallel
!$omp parallel do CLAUSES num_threads(2)
  do i = 1, 4
    s = s + 1
  end do
#include \"body.h\"
  include 'part.inc'
  call fixed(s)
  print '(i0,1x,i0,1x,a)', s, __LINE__, __FILE__
end program
";

const FIXED: &str = "\
C     In fixed form.
      subroutine fixed(s)
      integer s
c$omp parallel num_threads(2)
      include 'atomic.inc'
c$omp end parallel
      end
";

const REGIONS_OF_MAIN: [&str; 6] = [
    "atomic src/body.h:2",
    "barrier inc/deep.inc:2",
    "parallel inc/part.inc:1",
    "parallel src/body.h:1",
    "parallel src/main.F90:7",
    "paralleldo src/main.F90:10",
];

fn project() -> Project {
    Project::new(&[
        ("src/main.F90", MAIN),
        (
            "src/body.h",
            "!$omp parallel num_threads(2)\n!$omp atomic\n  s = s + 1\n!$omp end parallel\n",
        ),
        (
            "inc/part.inc",
            "!$omp parallel num_threads(2) reduction(+:s)\n  include \"deep.inc\"\n!$omp end parallel\n",
        ),
        ("inc/deep.inc", "  s = s + 1\n!$omp barrier"),
        ("src/fixed.f", FIXED),
        ("src/atomic.inc", "c$omp atomic\n      s = s + 1\n"),
    ])
}

fn rompfc(project: &Project, text: &str) -> Invocation {
    let mut command = crate::support::rompfc();
    command.args(text.split_whitespace());
    project.invocation(command)
}

/// The regions of an object file or program, read from its string literals.
fn regions(project: &Project, file: &str) -> Vec<String> {
    let bytes = std::fs::read(project.path(file)).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    let records = text.split("*regionType=").skip(1);
    let region = |record: &str| {
        let mut keys = record.split('*');
        let kind = keys.next().unwrap();
        let begin = keys.next().unwrap().strip_prefix("sscl=").unwrap();
        let begin = begin.rsplit_once(':').unwrap().0;
        format!("{kind} {begin}")
    };
    let mut regions: Vec<String> = records.map(region).collect();
    regions.sort();
    regions
}

#[test]
fn what_the_source_does_not_show_is_measured() {
    let project = project();
    let strict = |text: &str| rompfc(&project, text).env("ROMP_STRICT", "1").quietly();
    strict("-fopenmp -Wall -Wextra -Werror -std=f2018 -Iinc -c src/main.F90");
    strict("-fopenmp -Wall -Wextra -Werror -c src/fixed.f");
    strict("-fopenmp main.o fixed.o -o program");
    assert_eq!(project.execute("program"), "12 17 src/main.F90\n");
    assert!(project.is_measured("program"));
    let of_fixed = ["atomic src/atomic.inc:1", "parallel src/fixed.f:4"];
    let mut expected = [&REGIONS_OF_MAIN[..], &of_fixed].concat();
    expected.sort_unstable();
    assert_eq!(regions(&project, "program"), expected);
}

/// Flang takes no flags about warnings, so it gets none that would silence it.
#[test]
fn flang_preprocesses_too() {
    let project = project();
    let compile = rompfc(&project, "-fopenmp -Iinc -c src/main.F90");
    let strict = compile.env("ROMP_STRICT", "1");
    strict.env("ROMP_FC", fake("flang")).quietly();
    let regions = regions(&project, "main.o");
    assert!(regions.contains(&"parallel src/main.F90:7".to_owned()));
    assert!(regions.contains(&"barrier inc/deep.inc:2".to_owned()));
}

/// Flang accepts both directives that this one is split into, with the clause on them.
#[test]
fn flang_is_asked_about_the_source() {
    let text = |clause: &str| {
        format!(
            "subroutine f(n)\n  integer :: n\n!$omp parallel masked {clause}\n  n = 1\n\
             !$omp end parallel masked\nend subroutine\n"
        )
    };
    let refused = text("if(parallel: n > 1)");
    let project = Project::new(&[("a.f90", &refused), ("b.f90", &text("if(n > 1)"))]);
    let run = |call: Invocation| call.env("ROMP_FC", fake("flang")).run();
    let refused = run(rompfc(&project, "-fopenmp -c a.f90"));
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    assert_eq!(
        refused.stderr,
        "error: Unmatched directive name modifier PARALLEL on the IF clause\n"
    );
    assert!(!project.directory().join("a.o").exists());
    let accepted = run(rompfc(&project, "-fopenmp -c b.f90").env("ROMP_STRICT", "1"));
    assert_eq!((accepted.code, accepted.stderr.as_str()), (Some(0), ""));
    assert!(project.is_measured("b.o"));
}

/// Flang counts an uncompiled branch as lines in front of an earlier `__LINE__`. So no text may
/// be inserted there.
#[test]
fn flang_s_line_macro_is_what_it_is_without_us() {
    let text = |line: &str| {
        format!(
            "program p\n  print *, {line}\n#ifdef NEVER\n!$omp parallel\n!$omp end parallel\n\
             #endif\n!$omp parallel\n!$omp end parallel\nend program\n"
        )
    };
    let project = Project::new(&[("a.F90", &text("__LINE__")), ("b.F90", &text("2"))]);
    let preprocesses = |file: &str| {
        let call = rompfc(&project, &format!("-fopenmp -c {file}"));
        let call = call.env("ROMP_FC", fake("flang")).env("ROMP_VERBOSE", "1");
        let run = call.env("ROMP_STRICT", "1").run();
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        run.stderr
            .contains("a.F90 is preprocessed: it uses __LINE__")
    };
    assert!(preprocesses("a.F90"));
    assert_eq!(regions(&project, "a.o"), ["parallel a.F90:7"]);
    assert!(!preprocesses("b.F90"));
}

/// Flang has its own form of line markers.
#[test]
fn flang_s_own_preprocessor_is_understood() {
    let compiler = match flang() {
        Ok(compiler) => compiler,
        Err(why) => {
            // Bypasses the test harness, which captures printed output.
            let text = format!("flang_s_own_preprocessor_is_understood: NOT TESTED: {why}\n");
            return std::io::stderr().write_all(text.as_bytes()).unwrap();
        }
    };
    let project = project();
    for text in ["-Iinc -c src/main.F90", "-cpp -c src/fixed.f"] {
        let call = rompfc(&project, &format!("-fopenmp {text}"));
        let strict = call.env("ROMP_STRICT", "1").env("ROMP_FC", compiler);
        strict.quietly();
    }
    assert_eq!(regions(&project, "main.o"), REGIONS_OF_MAIN);
    assert_eq!(
        regions(&project, "fixed.o"),
        ["atomic src/atomic.inc:1", "parallel src/fixed.f:4"]
    );
}

/// The name of LLVM's Fortran compiler, if it is installed.
fn flang() -> Result<&'static str, String> {
    const NAMES: [&str; 4] = ["flang", "flang-new", "flang-new-19", "flang-20"];
    let works = |name: &&str| Command::new(name).arg("--version").output().is_ok();
    let found = NAMES.into_iter().find(works);
    found.ok_or_else(|| format!("none of {} is there", NAMES.join(", ")))
}

/// A warning names each missing part once; with `ROMP_STRICT` it is an error.
#[test]
fn preprocessed_text_that_can_not_be_had_is_missed() {
    let project = Project::new(&[
        ("macro.F90", MACRO),
        ("wrong.F90", &MACRO.replace("a = 1", "a = (1")),
    ]);
    let missed = [
        ("fails", "its preprocessor fails"),
        ("unmarked", "what its preprocessor writes is not understood"),
        (
            "-MMD",
            "it can't be preprocessed by a command that makes dependency files",
        ),
    ];
    for (how, problem) in missed {
        let call = |source: &str, strict| {
            let (flag, fault) = match how.starts_with('-') {
                true => (how, "none"),
                false => ("-O0", how),
            };
            let call = rompfc(&project, &format!("-fopenmp {flag} -c {source}.F90"));
            let call = call.env("ROMP_FC", fake("no-preprocessor/gfortran"));
            call.env("FAULT", fault).env("ROMP_STRICT", strict).run()
        };
        let text = format!(
            "macro.F90 is not measured: macro.F90:1: the macro DIR makes directives, and {problem}"
        );
        let run = call("macro", "0");
        assert_eq!(run.code, Some(0), "{how}: {}", run.stderr);
        assert!(
            run.stderr.starts_with(&format!("rompfc: warning: {text}")),
            "{how}: {}",
            run.stderr
        );
        assert_eq!(run.stderr.lines().count(), 1, "{how}: {}", run.stderr);
        let run = call("macro", "1");
        assert_eq!(run.code, Some(1), "{how}: {}", run.stderr);
        assert!(
            run.stderr.starts_with(&format!("rompfc: error: {text}")),
            "{how}: {}",
            run.stderr
        );
        // The compiler reports errors in the user's source.
        let run = call("wrong", "0");
        assert_eq!(run.code, Some(1), "{how}: {}", run.stderr);
        assert!(run.stderr.contains("Error: "), "{how}: {}", run.stderr);
    }
}

const MACRO: &str = "\
#define DIR !$omp parallel
subroutine s(a)
  integer :: a
DIR
  a = 1
!$omp end parallel
end
";

/// The preprocessor writes a line marker for a long part that is left out.
#[test]
fn a_long_conditional_in_a_directive_hides_nothing() {
    let left_out = "!$omp shared(absent) &\n".repeat(20);
    let text = format!(
        "program p\n  integer :: s, i\n  s = 0\n!$omp parallel default(none) &\n#ifdef ABSENT\n\
         {left_out}#endif\n!$omp private(i) shared(s)\n!$omp do reduction(+:s)\n  do i = 1, 4\n    \
         s = s + i\n  end do\n!$omp end parallel\n  print '(i0,1x,i0)', s, __LINE__\nend program\n"
    );
    let project = Project::new(&[("long.F90", &text)]);
    let strict = rompfc(&project, "-fopenmp -Wall -Werror long.F90 -o program");
    strict.env("ROMP_STRICT", "1").quietly();
    assert_eq!(project.execute("program"), "10 33\n");
    assert_eq!(
        regions(&project, "program"),
        ["do long.F90:28", "parallel long.F90:4"]
    );
}

/// A word that the specification lists as a clause of any construct is not taken for a macro.
#[test]
fn clauses_are_no_reason_to_preprocess() {
    let text = "\
subroutine s(a, n)
  integer :: n, a(n), i
!$omp target teams distribute parallel do num_teams(2) map(tofrom: a)
  do i = 1, n
!$omp atomic update hint(0) seq_cst
    a(1) = a(1) + 1
  end do
!$omp parallel
!$omp cancel parallel
!$omp task depend(in: a)
!$omp end task
!$omp do ordered
  do i = 1, n
!$omp ordered threads
    a(i) = i
!$omp end ordered
  end do
!$omp end CLOSING
end
";
    for (closing, preprocessed) in [("parallel", false), ("parallel X", true)] {
        let text = text.replace("CLOSING", closing);
        let project = Project::new(&[("s.F90", &text)]);
        let compile = rompfc(&project, "-fopenmp -DX= -c s.F90").env("ROMP_VERBOSE", "1");
        let run = compile.run();
        let said = run.stderr;
        assert_eq!(run.code, Some(0), "{said}");
        assert_eq!(said.contains("is preprocessed"), preprocessed, "{said}");
        assert!(regions(&project, "s.o").contains(&"task s.F90:10".to_owned()));
    }
}

#[test]
fn macros_and_included_files_may_call_lock_routines() {
    let project = project();
    project.write("src/set.inc", "  call omp_set_lock(l)\n");
    project.write(
        "src/locks.F90",
        "#define UNSET(l) call omp_unset_lock(l)\nsubroutine s(l)\n  use omp_lib\n  \
         integer(omp_lock_kind) :: l\n  include 'set.inc'\n  UNSET(l)\nend\n",
    );
    rompfc(&project, "-fopenmp -c src/locks.F90").quietly();
    assert_eq!(
        regions(&project, "locks.o"),
        ["lock src/locks.F90:6", "lock src/set.inc:1"]
    );
}

#[test]
fn messages_are_those_about_the_source() {
    let source = "\
#define PARALLEL !$omp parallel
subroutine s(a, unused)
  integer :: a, unused
  include 'atomic.inc'
PARALLEL
  a = 1
!$omp end parallel
end
";
    let compile = "-fopenmp -Wall -Wextra -c src/s.F90";
    let [plain, measured] = [(); 2].map(|()| project());
    for project in [&plain, &measured] {
        project.write("src/s.F90", source);
        project.write("src/atomic.inc", "!$omp atomic\n  a = a + 1\n");
    }
    let mut command = Command::new("gfortran");
    command.args(compile.split_whitespace());
    let expected = plain.invocation(command).run();
    let found = rompfc(&measured, compile).env("ROMP_STRICT", "1").run();
    assert!(expected.stderr.contains("unused"), "{}", expected.stderr);
    assert_eq!((found.code, found.stderr), (expected.code, expected.stderr));
    assert_eq!(measured.files(), plain.files());
    measured.assert_clean();
}

/// The compiler writes dependencies for `include` lines, too, so those lines must stay.
#[test]
fn where_dependency_files_are_made_a_warning_names_what_is_missing() {
    let project = project();
    let found = rompfc(&project, "-fopenmp -cpp -MMD -c src/fixed.f").run();
    assert_eq!(found.code, Some(0));
    assert!(
        found.stderr.contains("src/fixed.f") && found.stderr.contains("src/atomic.inc"),
        "{}",
        found.stderr
    );
    assert!(project.read("fixed.d").contains("src/atomic.inc"));
}
