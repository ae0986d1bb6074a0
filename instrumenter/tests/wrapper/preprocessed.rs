//! Directives that only the preprocessor shows are measured, and the build stays the same.

use std::process::Command;

use crate::support::{COMPILERS, Project, Run};

const IN_MACROS: &str = "\
#include <stdio.h>
#define PARALLEL _Pragma(\"omp parallel\")
#define DO(x) _Pragma(#x)
#define SUM(total, n) \\
  DO(omp for reduction(+ : total)) \\
  for (int at = 0; at < (n); at++) total += at;
int main(void) {
  int sum = 0;
  PARALLEL
  { SUM(sum, 10) }
  printf(\"%d %s %s %d\\n\", sum, __FILE__, __BASE_FILE__, __LINE__);
  return 0;
}
";

const HEADER: &str = "\
#include <stdio.h>
static void in_header(void) {
#pragma omp parallel num_threads(1)
  printf(\"%s %d\\n\", __FILE__, __LINE__);
}
";

const INCLUDER: &str = "#include <header.h>\nint main(void) { in_header(); return 0; }\n";

const BRANCHES: &str = "\
int f(int n) {
  int sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; i++) {
    sum += i;
#ifdef TWICE
  }
  for (int i = 0; i < n; i++) {
#endif
    sum += 1;
  }
  return sum;
}
";

/// Whether a region at this place is in an object. Region descriptors give the places.
fn has_region(project: &Project, object: &str, place: &str) -> bool {
    let bytes = project.bytes(object);
    let text = String::from_utf8_lossy(&bytes);
    text.contains(&format!("sscl={place}"))
}

#[test]
fn directives_that_macros_make_are_measured() {
    for compiler in COMPILERS {
        let project = Project::new(&[("src/a.c", IN_MACROS)]);
        let text = "-fopenmp -Wall -Wextra -Werror -g src/a.c -o app";
        project.rompcc(compiler, text).quietly();
        assert!(has_region(&project, "app", "src/a.c:9:"), "{compiler}");
        assert!(has_region(&project, "app", "src/a.c:10:"), "{compiler}");
        assert_eq!(project.execute("app"), "45 src/a.c src/a.c 11\n");
        assert!(!project.read("app").contains("/romp-"), "{compiler}");
        project.assert_clean();
    }
}

const CLAUSE_BY_MACRO: &str = "\
#include <stdio.h>
#include \"schedule.h\"
int main(void) {
  int sum = 0;
#pragma omp parallel for reduction(+ : sum) SCHEDULE
  for (int i = 0; i < 10; i++) sum += i;
  printf(\"%d %d\\n\", sum, __LINE__);
  return 0;
}
";

/// The loop's barrier is measured, since the clause is known.
#[test]
fn macros_may_stand_for_clauses() {
    for (definition, shown) in [
        ("#define SCHEDULE schedule(static)\n", "schedule(static)"),
        ("#define SCHEDULE\n", "hasReduction=1*"),
    ] {
        for compiler in COMPILERS {
            let project = Project::new(&[("a.c", CLAUSE_BY_MACRO), ("schedule.h", definition)]);
            let text = "-fopenmp -Wall -Wextra -Werror a.c -o app";
            project.rompcc(compiler, text).quietly();
            assert!(has_region(&project, "app", "a.c:5:"), "{compiler}");
            let bytes = project.bytes("app");
            let object = String::from_utf8_lossy(&bytes);
            assert!(object.contains(shown), "{compiler} {shown}");
            assert!(!object.contains("*unsplit="), "{compiler} {shown}");
            assert_eq!(project.execute("app"), "45 7\n");
        }
    }
}

#[test]
fn directives_in_the_user_s_headers_are_measured() {
    for compiler in COMPILERS {
        for flag in ["-I", "-isystem "] {
            let project = Project::new(&[("a.c", INCLUDER), ("inc/header.h", HEADER)]);
            let text = format!("-fopenmp {flag}inc a.c -o app");
            project.rompcc(compiler, &text).quietly();
            let measured = has_region(&project, "app", "inc/header.h:3:");
            assert_eq!(measured, flag == "-I", "{compiler} {flag}");
            assert_eq!(project.execute("app"), "inc/header.h 4\n", "{compiler}");
        }
    }
}

#[test]
fn a_construct_is_measured_as_the_branch_in_force_has_it() {
    for compiler in COMPILERS {
        for (flag, place) in [
            ("-DTWICE", "a.c:3:3*escl=a.c:7"),
            ("-DONCE", "a.c:3:3*escl=a.c:11"),
        ] {
            let project = Project::new(&[("a.c", BRANCHES)]);
            let text = format!("-fopenmp -c a.c {flag}");
            project.rompcc(compiler, &text).quietly();
            assert!(has_region(&project, "a.o", place), "{compiler} {flag}");
        }
    }
}

#[test]
fn the_mode_can_be_chosen() {
    let project = Project::new(&[("a.c", IN_MACROS)]);
    for (mode, measured) in [("auto", true), ("always", true), ("never", false)] {
        let call = project.rompcc("gcc", "-fopenmp -c a.c");
        call.env("ROMP_PREPROCESS", mode).quietly();
        assert_eq!(project.is_measured("a.o"), measured, "{mode}");
    }
    let call = project.rompcc("gcc", "-fopenmp -c a.c");
    let run = call.env("ROMP_PREPROCESS", "sometimes").run();
    assert_eq!(run.code, Some(0));
    assert!(
        run.stderr.contains("say ROMP_PREPROCESS=auto or"),
        "{run:?}"
    );
}

/// The files and messages of a command, with and without measurement.
fn both(files: &[(&str, &str)], compiler: &str, text: &str) -> [(Vec<String>, Run, Project); 2] {
    ["1", "0"].map(|off| {
        let project = Project::new(files);
        std::fs::create_dir_all(project.path("obj")).unwrap();
        let run = project.rompcc(compiler, text).env("ROMP_OFF", off).run();
        project.assert_clean();
        (project.files(), run, project)
    })
}

#[test]
fn dependency_files_are_the_compiler_s() {
    let files = [("src/a.c", INCLUDER), ("src/inc/header.h", HEADER)];
    for compiler in COMPILERS {
        for (flags, file) in [
            ("-MD", "a.d"),
            ("-MMD -o obj/b.o", "obj/b.d"),
            ("-MD -MP -MF deps -MT target -o obj/b.o", "deps"),
            ("-MMD -MFdeps -MQ '$x'", "deps"),
            ("-S -MD -o b.s", "b.d"),
        ] {
            let stage = if flags.starts_with("-S") { "" } else { "-c" };
            let text = format!("-fopenmp -Isrc/inc {stage} src/a.c {flags}");
            let [plain, measured] = both(&files, compiler, &text);
            assert_eq!(measured.0, plain.0, "{compiler} {flags}");
            let names = measured.2.read(file);
            assert_eq!(names, plain.2.read(file), "{compiler} {flags}");
            let object = measured
                .0
                .iter()
                .find(|name| name.ends_with(".o") || name.ends_with(".s"));
            assert!(
                measured.2.is_measured(object.unwrap()),
                "{compiler} {flags}"
            );
        }
    }
}

#[test]
fn messages_are_those_about_the_source() {
    let warns = IN_MACROS.replace("int sum = 0;", "int sum = 0, unused;");
    let fails = IN_MACROS.replace("int sum = 0;", "int sum = absent;");
    // NULL is no reason for a warning if the compiler knows that a system header defines it.
    let sheltered = IN_MACROS.replace("return 0;", "{ void *p = NULL; return p != NULL; }");
    // A macro of a system header that is a reason for a warning.
    let converted = IN_MACROS.replace("return 0;", "{ int *p = EOF; return p == 0; }");
    for compiler in COMPILERS {
        for (source, code, silent) in [
            (&warns, 0, false),
            (&fails, 1, false),
            (&sheltered, 0, true),
            (&converted, 0, false),
        ] {
            for (flags, result) in [("-c src/a.c", "a.o"), ("src/a.c -o app", "app")] {
                let files = [("src/a.c", source.as_str())];
                let text = format!("-fopenmp -Wall -Wextra {flags}");
                let [(_, plain, _), (_, run, project)] = both(&files, compiler, &text);
                assert_eq!((run.code, plain.code), (Some(code), Some(code)));
                assert_eq!(run.stderr, plain.stderr, "{compiler}");
                assert_eq!(run.stderr.is_empty(), silent, "{compiler}");
                assert!(code != 0 || project.is_measured(result), "{compiler}");
                let call = project
                    .rompcc(compiler, &text)
                    .env("ROMP_VERBOSE", "1")
                    .run();
                let made = call.stderr.lines().filter(|line| line.contains("/a.i"));
                assert_eq!(made.count(), 1, "{}", call.stderr);
            }
        }
    }
}

/// If the macro is undefined, the source holds no directive, so nothing is missing.
#[test]
fn what_is_not_compiled_is_not_missing() {
    let source = "\
#undef _OPENMP
extern int shared;
void f(int n) {
#ifdef _OPENMP
#pragma omp critical
  {
#endif
    shared += n;
#ifdef _OPENMP
  }
#endif
}
";
    for compiler in COMPILERS {
        for (source, measured) in [(source, false), (source.split_at(15).1, true)] {
            let project = Project::new(&[("a.c", source)]);
            let text = "-fopenmp -Wall -Wextra -Werror -c a.c";
            let call = project.rompcc(compiler, text).env("ROMP_STRICT", "1");
            call.quietly();
            assert_eq!(project.is_measured("a.o"), measured, "{compiler}");
        }
    }
}

#[test]
fn cxx_and_standard_input_are_preprocessed_too() {
    let source = "#include <vector>\n#define P _Pragma(\"omp parallel\")\n\
                  int main() {\n  std::vector<int> v(1);\n  P\n  {\n    int n = v[0];\n    (void)n;\n  }\n}\n";
    for compiler in ["g++", "clang++"] {
        let project = Project::new(&[("a.cc", source)]);
        let call = project.rompcc(compiler, "-fopenmp -Wall -Wextra -Werror -c a.cc -g");
        call.env("ROMP_CXX", compiler).quietly();
        assert!(has_region(&project, "a.o", "a.cc:5:"), "{compiler}");
    }
    for compiler in COMPILERS {
        let project = Project::new(&[]);
        let call = project.rompcc(compiler, "-fopenmp -x c - -o app");
        call.input(IN_MACROS).quietly();
        assert!(project.is_measured("app"), "{compiler}");
        assert!(
            project.execute("app").starts_with("45 <stdin>"),
            "{compiler}"
        );
    }
}

#[test]
fn several_sources_may_be_mixed() {
    let plain = crate::support::function("plain", "1");
    let files = [
        ("src/a.c", IN_MACROS),
        ("lib/b.c", plain.as_str()),
        ("c.c", "int c;\n"),
    ];
    for compiler in COMPILERS {
        let project = Project::new(&files);
        let text = "-fopenmp src/a.c lib/b.c c.c -o app";
        project.rompcc(compiler, text).quietly();
        assert!(has_region(&project, "app", "src/a.c:9:"), "{compiler}");
        assert!(has_region(&project, "app", "lib/b.c:2:"), "{compiler}");
        assert!(
            project.execute("app").starts_with("45 src/a.c"),
            "{compiler}"
        );
    }
}

#[test]
fn hidden_braces_matter_to_sources_with_constructs_only() {
    let project = Project::new(&[
        ("begin.h", "#define BEGIN {\n"),
        (
            "none.c",
            "#include \"begin.h\"\nint f(void) BEGIN return 1; }\n",
        ),
        (
            "one.c",
            "#include \"begin.h\"\nvoid f(void) BEGIN\n#pragma omp barrier\n}\n",
        ),
    ]);
    for (source, preprocessed) in [("none.c", false), ("one.c", true)] {
        let text = format!("-fopenmp -c {source}");
        let call = project.rompcc("gcc", &text).env("ROMP_VERBOSE", "1");
        let said = call.run().stderr;
        assert!(!said.contains("error"), "{said}");
        assert_eq!(said.contains("hides a brace"), preprocessed, "{said}");
    }
}

#[test]
fn macros_of_headers_matter_where_they_are_used() {
    let project = Project::new(&[
        (
            "macros.h",
            "#define PRAGMA(x) _Pragma(#x)\n#define BARRIER PRAGMA(omp barrier)\n\
             #define JOIN(a, b) a##b\n",
        ),
        ("deep.h", "#include \"macros.h\"\n#define SYNC BARRIER\n"),
        (
            "inline.h",
            "#include \"macros.h\"\nstatic inline void wait(void) {\nBARRIER\n}\n",
        ),
        ("none.c", "#include \"deep.h\"\nint f(void) { return 1; }\n"),
        (
            "direct.c",
            "#include \"deep.h\"\nvoid f(void) {\nBARRIER\n}\n",
        ),
        ("alias.c", "#include \"deep.h\"\nvoid f(void) {\nSYNC\n}\n"),
        (
            "own.c",
            "#include \"deep.h\"\n#define HERE SYNC\nvoid f(void) {\nHERE\n}\n",
        ),
        (
            "pasted.c",
            "#include \"deep.h\"\nvoid f(void) {\nJOIN(SY, NC)\n}\n",
        ),
        (
            "header.c",
            "#include \"inline.h\"\nvoid f(void) { wait(); }\n",
        ),
        (
            "command.c",
            "#include \"deep.h\"\nvoid f(void) {\nGIVEN\n}\n",
        ),
    ]);
    for (source, measured) in [
        ("none", false),
        ("direct", true),
        ("alias", true),
        ("own", true),
        ("pasted", true),
        ("header", true),
        ("command", true),
    ] {
        let defined = if source == "command" {
            "-DGIVEN=BARRIER"
        } else {
            ""
        };
        let text = format!("-fopenmp {defined} -S {source}.c -o {source}.s");
        let call = project.rompcc("gcc", &text).env("ROMP_VERBOSE", "1");
        let run = call.run();
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let made = project.read(&format!("{source}.s"));
        assert_eq!(made.contains("POMP_Barrier_enter"), measured, "{source}");
        let preprocessed = run.stderr.contains("is preprocessed");
        assert_eq!(preprocessed, measured, "{source}");
    }
}

/// Messages about a text with expanded macros are never shown. The source is compiled for its
/// messages. If there are no messages, nothing is compiled again.
#[test]
fn what_is_said_of_expanded_text_has_the_source_compiled_to_the_side() {
    const IGNORED: &str = "#pragma GCC diagnostic ignored \"-Wcpp\"\n";
    const COMPARES: &str = "int sum = 0; { int n = ZERO; unsigned m = 1; if (n < m) LESS(n, m); }";
    let header =
        "static inline int twice(int n) {\n  int unused; // in a header\n  return 2 * n;\n}\n";
    for (head, line) in [
        ("", "int sum = 0;"),
        ("", "int sum = 0, unused;"),
        ("", "int sum = 0; int *p = EOF;"),
        ("", COMPARES),
        ("", "int sum = 0;\n  #pragma   unroll_and_run A  b"),
        ("#include \"twice.h\"\n", "int sum = 0;"),
        ("#warning old\n#define ZERO 1\n", "int sum = 0;"),
        (&format!("{IGNORED}#warning old\n"), "int sum = 0;"),
    ] {
        let macros = "#define ZERO 0\n#define LESS(n, m) sum = n < m\n";
        let source = format!("#include <stdio.h>\n{macros}{head}{IN_MACROS}");
        let source = source.replace("int sum = 0;", line);
        let files = [("src/a.c", source.as_str()), ("src/twice.h", header)];
        for compiler in COMPILERS {
            let text = "-O2 -fopenmp -Wall -Wextra -Wno-error=int-conversion -c src/a.c";
            let [(_, plain, _), (_, run, project)] = both(&files, compiler, text);
            assert_eq!(run.stderr, plain.stderr, "{compiler}");
            assert!(project.is_measured("a.o"), "{compiler}");
            let call = project.rompcc(compiler, text).env("ROMP_VERBOSE", "1");
            let said = call.run();
            let ignored = head.starts_with(IGNORED);
            let silent = ignored || (head.is_empty() && line == "int sum = 0;");
            assert_eq!(plain.stderr.is_empty(), silent, "{compiler}: {plain:?}");
            // GCC's preprocessor ignores the pragma.
            let commands = match silent && !(ignored && *compiler == "gcc") {
                true => 2,
                false => 3,
            };
            assert_eq!(said.commands_of(compiler), commands, "{}", said.stderr);
        }
    }
}

/// GCC suppresses some warnings because of a comment, or of a macro in an operand. Preprocessed
/// text has neither, and the warning's place looks the same.
#[test]
fn what_a_comment_or_a_macro_keeps_back_is_not_said() {
    let at = |line: &str| IN_MACROS.replace("int sum = 0;", line);
    let macros = "#define NEXT sum = n + 1\n#define SAME n + 1\n#define LARGE n > 4\n";
    for statements in [
        "int sum = 0, n = 3; switch (n) {\n  case 1:\n    sum++;\n    /* fall through */\n  case 2:\n    sum--; }",
        "int sum = 0, n = 3; if (n)\n    NEXT;\n  else\n    sum = n + 1;",
        "int sum = 0, n = 3; if (n + 1 == SAME) sum = 0;",
        "int sum = 0, n = 3; if (n > 4 ||\n      LARGE) sum = 0;",
    ] {
        let source = format!("{macros}{}", at(statements));
        let text = "-fopenmp -Wall -Wextra -Wduplicated-branches -Wlogical-op -c a.c";
        let [(_, plain, _), (_, run, project)] = both(&[("a.c", &source)], "gcc", text);
        assert_eq!(run.stderr, plain.stderr, "{source}");
        assert!(project.is_measured("a.o"));
    }
}

#[test]
fn what_the_driver_says_is_no_reason_to_look_twice() {
    let text = "-fexpensive-optimizations -fopenmp -c a.c";
    let project = Project::new(&[("a.c", IN_MACROS)]);
    let plain = Command::new("clang")
        .args(text.split(' '))
        .current_dir(project.directory())
        .output()
        .unwrap();
    let warned = String::from_utf8_lossy(&plain.stderr);
    assert!(warned.starts_with("clang: warning: "), "{warned}");
    assert_eq!(project.rompcc("clang", text).run().stderr, warned);
    let call = project.rompcc("clang", text).env("ROMP_VERBOSE", "1");
    let said = call.run();
    assert_eq!(said.commands_of("clang"), 2, "{}", said.stderr);
}

/// Branches that only an undefined macro would include need no preprocessor and no question
/// about devices.
#[test]
fn branches_of_absent_macros_are_no_reason_to_preprocess() {
    let header = "\
#ifdef WITH_LOCKS
#ifdef WITH_THREADS
#define CONCURRENT
#endif
#endif
#ifdef CONCURRENT
static inline void f(void) {
#pragma omp flush
}
#endif
";
    let source = "\
#include <math.h>
#include <stdio.h>
#include \"locks.h\"
int main(void) {
  int sum = 0;
#ifdef OFFLOAD
#pragma omp target map(tofrom : sum)
  {
#endif
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 10; i++) sum += i;
#ifdef OFFLOAD
  }
#endif
  return sum != 45;
}
";
    // Cases where the macro is defined, may be defined, or can't be looked up.
    let doubts = [
        ("", "", false),
        ("-DWITH_LOCKS", "", false),
        ("-DWITH_LOCKS -DWITH_THREADS", "", true),
        ("-DOFFLOAD", "", true),
        ("", "#define OFFLOAD\n", true),
        ("", "#ifdef EOF\n#define OFFLOAD\n#endif\n", true),
        ("", "#ifdef ABSENT\n#define OFFLOAD\n#endif\n", false),
        ("-include offload.h", "", true),
        ("", "#include HEADER\n", true),
        ("", "#ifdef ABSENT\n#include <absent.h>\n#endif\n", false),
        ("-I. --sysroot=/", "", true),
    ];
    for compiler in COMPILERS {
        for (flags, before, looks) in doubts {
            let text = format!("{before}{source}");
            let files = [
                ("a.c", text.as_str()),
                ("locks.h", header),
                ("offload.h", "#define OFFLOAD\n"),
            ];
            let project = Project::new(&files);
            let command = format!("{flags} -DHEADER=\"locks.h\" -fopenmp a.c -o app");
            let call = project.rompcc(compiler, command.trim());
            let said = call.env("ROMP_VERBOSE", "1").run();
            assert_eq!(said.code, Some(0), "{}", said.stderr);
            assert_eq!(
                said.commands_of(compiler) > 1,
                looks,
                "{flags} {before}: {}",
                said.stderr
            );
            assert!(project.is_measured("app"), "{flags} {before}");
            project.execute("app");
        }
    }
}
