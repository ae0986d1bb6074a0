//! If the compiler refuses a directive as written, the build fails. That holds even if the
//! compiler would accept the directives that a combined directive is split into.

use crate::support::{COMPILERS, Project, fake};

fn loop_with(directive: &str) -> String {
    format!("void f(int n) {{\n#pragma omp {directive}\n  for (int i = 0; i < 4; i++) ;\n}}\n")
}

#[test]
fn a_clause_that_only_a_part_may_have_is_refused() {
    for (directive, word) in [
        ("parallel for nowait", "nowait"),
        (
            "parallel master taskloop in_reduction(+ : n)",
            "in_reduction",
        ),
        ("parallel for private(n) shared(n)", "n"),
    ] {
        for compiler in COMPILERS {
            let project = Project::new(&[("a.c", &loop_with(directive))]);
            let run = project.rompcc(compiler, "-fopenmp -c a.c").run();
            assert_eq!(run.code, Some(1), "{compiler}, {directive}: {}", run.stderr);
            assert!(run.stderr.contains(word), "{}", run.stderr);
            assert!(!run.stderr.contains("romp"), "{}", run.stderr);
        }
    }
}

#[test]
fn a_combination_that_the_compiler_does_not_know_is_refused() {
    let source = loop_with("parallel masked taskloop simd");
    let project = Project::new(&[("a.c", &source)]);
    let compiler = fake("no-masked");
    let run = project.rompcc(&compiler, "-fopenmp -c a.c").run();
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(!run.stderr.contains("romp"), "{}", run.stderr);
    // Directives that the compiler knows are measured, even beside one that it ignores.
    let passed_over = "void g(void) {\n#pragma omp masked\n  f(1);\n}\n";
    project.write("b.c", &(loop_with("parallel for") + passed_over));
    let strict = project.rompcc(&compiler, "-fopenmp -c b.c");
    strict.env("ROMP_STRICT", "1").quietly();
    assert!(project.is_measured("b.o"));
    // A compiler that knows all directives measures the first source, too.
    let strict = project.rompcc("gcc", "-fopenmp -c a.c");
    strict.env("ROMP_STRICT", "1").quietly();
    assert!(project.is_measured("a.o"));
}

#[test]
fn words_that_the_compiler_passes_over_stay_words() {
    let project = Project::new(&[("a.c", &loop_with("parallel masked unheard_of"))]);
    for compiler in COMPILERS {
        let plain = std::process::Command::new(compiler)
            .args(["-fopenmp", "-c", "a.c"])
            .env("LC_ALL", "C")
            .current_dir(project.directory())
            .output()
            .unwrap();
        let run = project.rompcc(compiler, "-fopenmp -c a.c").run();
        assert_eq!(run.code, plain.status.code(), "{compiler}");
        assert_eq!(
            run.stderr,
            String::from_utf8_lossy(&plain.stderr),
            "{compiler}"
        );
    }
}

#[test]
fn only_what_not_every_compiler_knows_makes_us_ask() {
    for (directive, asks) in [
        ("parallel for simd", false),
        ("parallel master taskloop", true),
    ] {
        let project = Project::new(&[("a.c", &loop_with(directive))]);
        let build = project.rompcc("gcc", "-fopenmp -c a.c");
        let run = build.env("ROMP_VERBOSE", "1").run();
        assert_eq!(
            run.commands_of("gcc"),
            1 + usize::from(asks),
            "{}",
            run.stderr
        );
    }
}
