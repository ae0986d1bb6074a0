//! Failures of the wrapper do not become failures of the user's build.

use std::collections::HashMap;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::support::{COMPILERS, PROGRAM, Project, fake, function, rompfc};

const REJECTED: &str = "rompcc: warning: a.c is not measured: the compiler rejected the \
                        instrumented text (ROMP_KEEP=1 keeps it)\n";

#[test]
fn a_rejected_text_is_replaced_by_the_user_s() {
    let project = Project::new(&[("a.c", PROGRAM)]);
    let compiler = fake("reject-temporary-files");
    let run = project.rompcc(&compiler, "-fopenmp a.c -o app -MD").run();
    assert_eq!((run.code, &*run.stderr), (Some(0), REJECTED));
    assert!(!project.is_measured("app"));
    assert!(project.execute("app").starts_with("45 a.c a.c"));
    project.assert_clean();
    let run = project
        .rompcc(&compiler, "-fopenmp -c a.c")
        .env("ROMP_QUIET", "1")
        .run();
    assert_eq!((run.code, &*run.stderr), (Some(0), ""));
}

#[test]
fn an_object_that_is_there_outlives_a_source_with_errors() {
    let call = |project: &Project, text: &str| {
        let call = project.rompcc("gcc", text).env("ROMP_VERBOSE", "1");
        call.run()
    };
    let project = Project::new(&[("a.c", &function("a", "1"))]);
    // Without an existing object nothing can be lost, so compiler and assembler run in
    // parallel.
    let first = call(&project, "-fopenmp -c a.c");
    assert!(first.stderr.contains(" -pipe"), "{}", first.stderr);
    let object = project.bytes("a.o");
    let again = call(&project, "-fopenmp -c a.c");
    assert!(!again.stderr.contains(" -pipe"), "{}", again.stderr);
    assert_eq!(project.bytes("a.o"), object);
    project.write("a.c", &function("a", "wrong"));
    assert_eq!(call(&project, "-fopenmp -c a.c").code, Some(1));
    assert_eq!(project.bytes("a.o"), object);
    let none = call(&project, "-fopenmp -c a.c -o b.o");
    assert!(none.code == Some(1) && !project.exists("b.o"));
}

#[test]
fn only_the_rejected_one_of_several_is_not_measured() {
    let project = Project::new(&[("a.c", &function("a", "1")), ("b.c", &function("b", "2"))]);
    let call = project.rompcc(&fake("reject-temporary-files"), "-fopenmp -c a.c b.c");
    let run = call.env("REJECT", "a.c").run();
    assert_eq!((run.code, &*run.stderr), (Some(0), REJECTED));
    assert!(!project.is_measured("a.o") && project.is_measured("b.o"));
    project.assert_clean();
}

#[test]
fn a_program_that_can_not_be_linked_is_built_as_it_is() {
    let project = Project::new(&[
        ("a.c", &format!("int b(void);\n{PROGRAM}")),
        ("b.c", &function("b", "2")),
        ("elsewhere/b.c", &function("b", "2")),
        // An archive without members.
        ("libpomp.a", "!<arch>\n"),
    ]);
    for sources in ["a.c b.c", "a.c elsewhere/b.c"] {
        let text = format!("-fopenmp {sources} -o app");
        let call = |strict| {
            let call = project.rompcc("gcc", &text).env("ROMP_STRICT", strict);
            call.env("ROMP_LIB", project.path("libpomp.a")).run()
        };
        let run = call("0");
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let warnings = run.stderr.matches("the program can't be linked with its");
        assert_eq!(warnings.count(), 2, "{}", run.stderr);
        assert!(!project.is_measured("app"));
        let run = call("1");
        assert_eq!(run.code, Some(1));
        assert!(run.stderr.contains("undefined reference to `POMP_"));
        assert!(!project.exists("app"), "{sources}");
        project.assert_clean();
    }
}

#[test]
fn strictly_a_rejected_text_is_an_error() {
    let project = Project::new(&[("a.c", PROGRAM)]);
    let call = project.rompcc(&fake("reject-temporary-files"), "-fopenmp -c a.c");
    let run = call.env("ROMP_STRICT", "1").run();
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("rejected: a.c\n"), "{}", run.stderr);
    assert!(
        run.stderr.contains("rompcc: error: a.c is not measured: "),
        "{}",
        run.stderr
    );
    assert!(!project.exists("a.o"));
    project.assert_clean();
}

#[test]
fn strictly_an_error_of_the_user_is_still_his() {
    let project = Project::new(&[(
        "a.c",
        "int f(void) {\n#pragma omp barrier\n  return x;\n}\n",
    )]);
    let run = |strict| {
        project
            .rompcc("gcc", "-fopenmp -c a.c")
            .env("ROMP_STRICT", strict)
            .run()
    };
    let (strict, plain) = (run("1"), run("0"));
    assert_eq!((strict.code, &strict.stderr), (plain.code, &plain.stderr));
    assert!(!strict.stderr.contains("rompcc"));
}

#[test]
fn an_old_compiler_gets_an_older_flag() {
    let project = Project::new(&[("a.c", PROGRAM)]);
    project
        .rompcc(&fake("old-gcc"), "-fopenmp -g -c a.c")
        .quietly();
    assert!(project.is_measured("a.o"));
}

#[test]
fn without_the_library_the_program_is_built_as_it_is() {
    let project = Project::new(&[("a.c", PROGRAM)]);
    for text in ["-fopenmp -c a.c -o app", "-fopenmp a.c -o app"] {
        let run = project.rompcc("gcc", text).env("ROMP_LIB", "/absent").run();
        let expected = "rompcc: warning: nothing is measured: ROMP_LIB=/absent has no libpomp.a; \
                        set ROMP_LIB to the file libpomp.a or its directory\n";
        assert_eq!((run.code, &*run.stderr), (Some(0), expected));
        assert!(!project.is_measured("app"));
    }
    let call = project
        .rompcc("gcc", "-fopenmp a.c")
        .env("ROMP_LIB", "/absent");
    assert_eq!(call.env("ROMP_STRICT", "1").run().code, Some(1));
}

#[test]
fn a_missing_compiler_is_named() {
    let project = Project::new(&[("a.c", PROGRAM)]);
    for text in ["-c a.c", "-fopenmp -c a.c"] {
        let run = project.rompcc("no-such-compiler", text).run();
        assert_eq!(run.code, Some(127));
        let start = "rompcc: error: cannot run the compiler 'no-such-compiler': ";
        assert!(run.stderr.starts_with(start), "{}", run.stderr);
        assert!(
            run.stderr.ends_with("name another in ROMP_CC\n"),
            "{}",
            run.stderr
        );
    }
    project.assert_clean();
    let rompfc = |text: &str| {
        let mut command = rompfc();
        command.args(text.split(' '));
        let call = project
            .invocation(command)
            .env("ROMP_FC", "no-such-compiler");
        call.run().stderr
    };
    let said = rompfc("-c a.f90");
    let start = "rompfc: error: cannot run the compiler 'no-such-compiler': ";
    assert!(said.starts_with(start), "{said}");
    assert!(said.ends_with("name another in ROMP_FC\n"), "{said}");
}

#[test]
fn a_place_for_temporary_files_that_is_not_there_is_no_reason_to_fail() {
    let project = Project::new(&[("a.c", PROGRAM)]);
    let call = project
        .rompcc("gcc", "-fopenmp -c a.c -o a.o -pipe")
        .env("TMPDIR", "/absent");
    let run = call.run();
    assert!(run.stderr.contains("in /absent"), "{}", run.stderr);
    assert!(run.stderr.contains("nothing is measured"), "{}", run.stderr);
}

#[test]
fn nothing_is_left_when_a_build_is_killed() {
    for signal in ["HUP", "INT", "TERM", "KILL"] {
        let project = Project::new(&[("a.c", PROGRAM)]);
        let record = project.path("record");
        let call = project
            .rompcc(&fake("wait"), "-fopenmp -c a.c")
            .env("RECORD", &record);
        let mut child = call.start();
        wait_until(|| std::fs::read(&record).is_ok_and(|text| text.ends_with(b"\n")));
        assert_ne!(project.temporary().read_dir().unwrap().count(), 0);
        let kill = std::process::Command::new("kill")
            .args(["-s", signal, &child.id().to_string()])
            .status();
        assert!(kill.unwrap().success());
        let status = child.wait().unwrap();
        let number = HashMap::from([("HUP", 1), ("INT", 2), ("KILL", 9), ("TERM", 15)])[signal];
        assert_eq!(status.signal(), Some(number));
        wait_until(|| project.temporary().read_dir().unwrap().count() == 0);
        // The compiler must not run on by itself.
        let compiler = project.read("record");
        let compiler = Path::new("/proc").join(compiler.trim());
        assert!(signal == "KILL" || !compiler.exists(), "{signal}");
    }
}

fn wait_until(condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(
            start.elapsed() < Duration::from_secs(120),
            "waited too long"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn switches_where_no_statement_may_stand_and_odd_lines_do_not_cost_the_file() {
    let source = "\
int f(int n) {
  int s = 0;
  for (int i = 0;
#pragma pomp inst off
       i < n; i++) s += i;
  s = s +
#pragma pomp inst on
      1;
#pragma omp parallel
  s++;
#line 4294967295
  return s;
}
void g(int *a) {
#pragma omp parallel
  a[0]++;
}
";
    for compiler in COMPILERS {
        let project = Project::new(&[("a.c", source)]);
        let run = project.rompcc(compiler, "-fopenmp -w -c a.c").run();
        assert_eq!(run.code, Some(0), "{compiler}: {}", run.stderr);
        assert!(project.is_measured("a.o"), "{compiler}: {}", run.stderr);
        assert!(!run.stderr.contains("rejected"), "{}", run.stderr);
    }
}
