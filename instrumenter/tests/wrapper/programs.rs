//! Programs of several files, in one command and in several.

use crate::support::{COMPILERS, PROGRAM, Project, function};

const MAIN: &str = "\
#include <math.h>
#include <stdio.h>
int a(void), b(void), c(void);
int main(void) {
  int number = a() * 100 + b() * 10 + c();
#pragma omp parallel
  {
#pragma omp master
    printf(\"%d %.0f\\n\", number, sqrt(16.0));
  }
  return 0;
}
";

fn project() -> Project {
    Project::new(&[
        ("main.c", MAIN),
        ("a.c", &function("a", "1")),
        ("b.c", &function("b", "2")),
        (
            "lib/c.c",
            &format!("#include \"c.h\"\n{}", function("c", "C")),
        ),
        ("lib/c.h", "#define C 3\n"),
        ("c.h", "#define C 9\n"),
    ])
}

#[test]
fn sources_objects_and_libraries_mix_in_one_command() {
    for compiler in COMPILERS {
        let project = project();
        project
            .rompcc(compiler, "-fopenmp -c b.c lib/c.c")
            .quietly();
        assert!(project.is_measured("b.o") && project.is_measured("c.o"));
        project.write("empty", "");
        let ar = std::process::Command::new("ar")
            .args(["rcs", "libc3.a", "c.o"])
            .current_dir(project.directory())
            .status();
        assert!(ar.unwrap().success());
        project
            .rompcc(compiler, "-fopenmp main.c b.o a.c -L. -lc3 -lm -o app")
            .quietly();
        assert_eq!(project.execute("app"), "123 4\n", "{compiler}");
        assert!(!project.exists("a.o") && !project.exists("main.o"));
        project.assert_clean();
    }
}

#[test]
fn sources_of_several_directories_find_their_own_headers() {
    for compiler in COMPILERS {
        let project = project();
        project
            .rompcc(compiler, "-fopenmp -O1 main.c lib/c.c a.c b.c -lm")
            .quietly();
        assert_eq!(project.execute("a.out"), "123 4\n", "{compiler}");
        assert!(project.is_measured("a.out"));
        project
            .rompcc(compiler, "-fopenmp -S main.c lib/c.c")
            .quietly();
        assert!(project.is_measured("main.s") && project.is_measured("c.s"));
        project.assert_clean();
    }
}

#[test]
fn coverage_of_several_directories_is_left_to_the_compiler() {
    let project = project();
    let run = project
        .rompcc(
            "gcc",
            "-fopenmp --coverage main.c lib/c.c a.c b.c -lm -o app",
        )
        .run();
    assert_eq!(run.code, Some(0));
    assert!(
        run.stderr.contains("main.c is not measured: --coverage"),
        "{}",
        run.stderr
    );
    assert!(project.exists("app-main.gcno") && project.exists("app-c.gcno"));
}

#[test]
fn one_source_may_be_compiled_several_times() {
    let source = "int NAME(void) {\n#pragma omp barrier\n  return VALUE;\n}\n";
    for compiler in COMPILERS {
        let project = Project::new(&[("main.c", MAIN), ("x.c", source)]);
        for (name, value) in [("a", 1), ("b", 2), ("c", 3)] {
            let text = format!("-fopenmp -c x.c -DNAME={name} -DVALUE={value} -o {name}.o");
            project.rompcc(compiler, &text).quietly();
        }
        project
            .rompcc(compiler, "-fopenmp main.c a.o b.o c.o -lm -o app")
            .quietly();
        assert_eq!(project.execute("app"), "123 4\n", "{compiler}");
    }
}

#[test]
fn a_unit_does_not_depend_on_the_directory_of_the_command() {
    let project = Project::new(&[("x.c", PROGRAM), ("p/x", ""), ("q/x", "")]);
    for directory in ["p", "q"] {
        let call = project.rompcc("gcc", "-fopenmp -o x.o -c");
        let mut call = call.arg(project.path("x.c")).env("ROMP_KEEP", "1");
        call.command.current_dir(project.path(directory));
        call.quietly();
    }
    assert_eq!(project.read("p/x.c.romp"), project.read("q/x.c.romp"));
}

#[test]
fn a_source_may_come_from_standard_input() {
    for compiler in COMPILERS {
        let project = Project::new(&[]);
        let call = project.rompcc(compiler, "-fopenmp -x c - -o app");
        call.input(PROGRAM).quietly();
        assert!(project.is_measured("app"), "{compiler}");
        assert!(
            project.execute("app").starts_with("45 <stdin>"),
            "{compiler}"
        );
        let call = project.rompcc(compiler, "-fopenmp -xc -c - -o plain.o");
        call.input("int nothing;\n").quietly();
        let run = project
            .rompcc(compiler, "-fopenmp -xc -c - -o x.o")
            .input("int 1;\n")
            .run();
        assert_eq!(run.code, Some(1), "{compiler}");
    }
}

#[test]
fn a_response_file_may_hold_the_sources() {
    for compiler in COMPILERS {
        let project = project();
        project.write(
            "args",
            "-fopenmp -DTEXT='\"a b\"' main.c\n a.c b.c lib/c.c -lm\n",
        );
        project.rompcc(compiler, "@args -o app").quietly();
        assert_eq!(project.execute("app"), "123 4\n", "{compiler}");
        assert!(project.is_measured("app"), "{compiler}");
    }
}

#[test]
fn two_dashes_end_the_flags() {
    let project = Project::new(&[("a.c", PROGRAM)]);
    project.rompcc("clang", "-fopenmp -o app -- a.c").quietly();
    assert!(project.is_measured("app"));
    assert!(project.execute("app").starts_with("45 "));
}

#[test]
fn builds_of_the_same_file_do_not_meet() {
    let project = Project::new(&[("a.c", PROGRAM)]);
    let children: Vec<_> = (0..8)
        .map(|n| {
            project
                .rompcc("gcc", &format!("-fopenmp -c a.c -o {}.o", n / 2))
                .start()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert!((0..4).all(|n| project.is_measured(&format!("{n}.o"))));
    project.assert_clean();
}

/// A loop with a directive in one line.
fn loop_with(directive: &str) -> String {
    format!(
        "#include <stdio.h>\nint main(void) {{\n  double a[8], s = 0;\n{directive}\n  \
         for (int i = 0; i < 8; i++)\n    s += a[i] = i;\n  printf(\"%.0f\\n\", s);\n  return 0;\n}}\n"
    )
}

#[test]
fn a_program_of_which_nothing_is_measured_is_named() {
    const SENTENCE: &str = "rompcc: warning: the program will write no profile: none of its \
                            directives is measured (the first is simd in a.c)\n";
    for compiler in COMPILERS {
        let project = Project::new(&[
            ("a.c", &loop_with("#pragma omp simd reduction(+: s)")),
            ("none.c", &loop_with("")),
            (
                "b.c",
                &loop_with("#pragma omp parallel for reduction(+: s)"),
            ),
            ("f.c", &function("f", "1")),
        ]);
        for (arguments, said) in [
            ("-fopenmp a.c -o app", SENTENCE),
            // Another object may have something that is measured.
            ("-fopenmp -c a.c", ""),
            ("-fopenmp a.o -o app", ""),
            ("-fopenmp a.c f.c -o app", ""),
            ("-fopenmp none.c -o app", ""),
            ("-fopenmp b.c -o app", ""),
            ("a.c -o app", ""),
        ] {
            let run = project.rompcc(compiler, arguments).run();
            assert_eq!(run.code, Some(0), "{}", run.stderr);
            assert_eq!(run.stderr, said, "{compiler} {arguments}");
        }
        for (name, value) in [("ROMP_QUIET", "1"), ("ROMP_INSTRUMENT_DISABLE", "parallel")] {
            let command = project.rompcc(compiler, "-fopenmp a.c -o app");
            assert_eq!(
                command.env(name, value).run().stderr,
                "",
                "{compiler} {name}"
            );
        }
    }
}
