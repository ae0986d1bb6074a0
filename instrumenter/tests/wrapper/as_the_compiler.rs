//! Where `rompcc` has nothing to add, it behaves as the compiler; elsewhere it leaves the same
//! files and messages as the compiler.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use crate::support::{COMPILERS, PROGRAM, Project, ROMPCC, Run, fake, library};

/// The arguments that a fake compiler receives.
fn recorded(project: &Project, text: &str) -> Vec<String> {
    let run = record(project, text);
    assert_eq!(run.code, Some(0), "{run:?}");
    project.read("record").lines().map(str::to_owned).collect()
}

fn record(project: &Project, text: &str) -> Run {
    let record = project.path("record");
    let _ = std::fs::remove_file(&record);
    project
        .rompcc(&fake("record-arguments"), text)
        .env("RECORD", record)
        .run()
}

#[test]
fn arguments_pass_unchanged_where_nothing_is_measured() {
    let project = Project::new(&[("a.c", PROGRAM), ("plain.c", "int x;\n"), ("a.s", PROGRAM)]);
    for text in [
        "--version",
        "-v",
        "-dumpmachine -fopenmp",
        "-print-file-name=libgomp.spec -fopenmp",
        "-fopenmp -E a.c",
        "-fopenmp -MM a.c -MT x",
        "-fopenmp -c plain.c -o plain.o -funknown -Wl,-x -Xlinker -o",
        "-O2 -c a.c -o a.o",
        "-fopenmp-simd -c a.c",
        "-fopenmp -fno-openmp a.c",
        "-fopenmp -c a.s",
        "-fopenmp -c absent.c",
        "-fopenmp -r x.o y.o -o z.o",
        "-shared x.o -o libx.so",
        "x.o -o program",
        "",
    ] {
        let expected: Vec<&str> = text.split_whitespace().collect();
        assert_eq!(recorded(&project, text), expected);
    }
    project.assert_clean();
}

#[test]
fn words_with_spaces_and_quotes_pass_unchanged() {
    let project = Project::new(&[]);
    let words = ["-c", "-DTEXT=\"a b\"", "", "$HOME `x` *", "my file.c"];
    let mut call = project.rompcc(&fake("record-arguments"), "");
    for word in words {
        call = call.arg(word);
    }
    assert_eq!(
        call.env("RECORD", project.path("record")).run().code,
        Some(0)
    );
    assert_eq!(project.read("record").lines().collect::<Vec<_>>(), words);
}

#[test]
fn links_get_the_library_after_the_user_s_words() {
    let project = Project::new(&[("args", "-fopenmp x.o")]);
    let library = library().to_str().unwrap();
    let expected = |text: &str| {
        let words = format!("{text} -Wl,{library} -lpthread -ldl");
        words
            .split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    for text in [
        "-fopenmp x.o -lm -o program",
        "x.o -lgomp",
        "@args -o program",
    ] {
        assert_eq!(recorded(&project, text), expected(text));
    }
}

#[test]
fn switched_off_it_is_transparent() {
    let project = Project::new(&[("a.c", PROGRAM)]);
    let record = project.path("record");
    let call = project.rompcc(&fake("record-arguments"), "-fopenmp a.c -o a");
    call.env("RECORD", &record)
        .env("ROMP_OFF", "yes")
        .env("ROMP_LIB", "")
        .quietly();
    assert_eq!(project.read("record"), "-fopenmp\na.c\n-o\na\n");
}

#[test]
fn the_status_is_the_compiler_s() {
    let project = Project::new(&[("a.c", PROGRAM)]);
    for text in ["-c a.c", "-fopenmp -c a.c", "-fopenmp a.c b.o"] {
        let call = project.rompcc(&fake("record-arguments"), text);
        let run = call
            .env("RECORD", project.path("record"))
            .env("STATUS", "42")
            .run();
        assert_eq!(run.code, Some(42), "{text}");
    }
    project.assert_clean();
}

#[test]
fn a_signal_is_passed_on() {
    let project = Project::new(&[("a.c", PROGRAM)]);
    let die = |text| {
        project
            .rompcc(&fake("die"), text)
            .env("SIGNAL", "TERM")
            .run()
    };
    assert_eq!(die("-c a.c").signal, Some(15));
    assert_eq!(die("-fopenmp -c a.c").signal, Some(15));
    assert_eq!(die("-fopenmp a.c -o app").signal, Some(15));
    project.assert_clean();
}

/// A shell command in which `"$@"` calls a compiler.
fn in_shell(project: &Project, text: &str, call: &[&str]) -> Run {
    let mut command = Command::new("sh");
    command.args(["-c", text, "sh"]).args(call);
    let call = project.invocation(command).env("RECORD", "record");
    call.env("ROMP_CC", fake("record-inherited")).run()
}

#[test]
fn the_compiler_begins_with_the_signals_and_streams_that_we_got() {
    let project = Project::new(&[("a.c", PROGRAM), ("plain.c", "int x;\n")]);
    let compiler = fake("record-inherited");
    for text in [
        "exec \"$@\"",
        "exec env --ignore-signal=PIPE \"$@\"",
        "exec env --ignore-signal=CHLD \"$@\"",
        "exec env --ignore-signal=HUP,INT,QUIT,TERM,XFSZ,PIPE,CHLD \"$@\"",
        "exec env --block-signal=INT,TERM,CHLD \"$@\"",
        "exec \"$@\" <&-",
        "exec \"$@\" 7<a.c >&-",
        "exec \"$@\" <&- 2>&-",
        "umask 77; ulimit -n 50; exec \"$@\"",
    ] {
        for words in [["-c", "plain.c"], ["-fopenmp", "a.c"]] {
            let state = |program: &str| {
                let _ = std::fs::remove_file(project.path("record"));
                let run = in_shell(&project, text, &[&[program], words.as_slice()].concat());
                assert_eq!(run.code, Some(0), "{text}: {run:?}");
                project.read("record")
            };
            let held_back = words[0] == "-fopenmp";
            let of_interest = |state: String| {
                let lines = state.lines().map(str::to_owned);
                // Held-back messages go through pipes.
                let outputs = ["1", "2"];
                let kept = lines.filter(|line| !held_back || !outputs.contains(&line.as_str()));
                kept.collect::<Vec<_>>()
            };
            let expected = of_interest(state(&compiler));
            assert_eq!(of_interest(state(ROMPCC)), expected, "{text} {words:?}");
        }
    }
    project.assert_clean();
}

#[test]
fn a_parent_that_waits_for_no_child_makes_no_difference() {
    let project = Project::new(&[("a.c", PROGRAM)]);
    // Clang itself can't wait for a linker in this case.
    for (compiler, text, result) in [
        ("gcc", "-fopenmp -Wall a.c -o app", "app"),
        ("gcc", "-fopenmp -c a.c -o x.o", "x.o"),
        ("clang", "-fopenmp -c a.c -o y.o", "y.o"),
    ] {
        let mut command = Command::new("env");
        command.args(["--ignore-signal=CHLD", ROMPCC]);
        command.args(text.split(' '));
        let call = project.invocation(command);
        call.env("ROMP_CC", compiler).quietly();
        assert!(project.is_measured(result), "{compiler} {text}");
    }
    project.assert_clean();
}

#[test]
fn what_may_not_be_written_does_not_end_us() {
    let project = Project::new(&[("a.c", PROGRAM)]);
    let mut command = Command::new("sh");
    let text = "ulimit -f 0; exec \"$@\"";
    command.args(["-c", text, "sh", ROMPCC, "-fopenmp", "-c", "a.c"]);
    let run = project.invocation(command).env("ROMP_CC", "true").run();
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(
        run.stderr.contains("cannot write temporary files"),
        "{run:?}"
    );
    project.assert_clean();
}

/// Files, messages and status of a command, with and without measurement.
fn both(files: &[(&str, &str)], compiler: &str, text: &str) -> [(Vec<String>, Run); 2] {
    ["1", "0"].map(|off| {
        let project = Project::new(files);
        let run = project.rompcc(compiler, text).env("ROMP_OFF", off).run();
        project.assert_clean();
        (project.files(), run)
    })
}

#[test]
fn the_same_files_are_made_whatever_the_flags() {
    let files = [("src/a.c", PROGRAM), ("b.c", "int b(void) { return 1; }\n")];
    for compiler in COMPILERS {
        for text in [
            "-c src/a.c",
            "-S src/a.c",
            "-c src/a.c -o x.o",
            "-c src/a.c -g -gsplit-dwarf",
            "-c src/a.c --coverage -o x.o",
            "-c src/a.c -save-temps",
            "-c src/a.c -MD",
            "-c src/a.c -MMD -MF deps -o x.o",
            "-c src/a.c -flto -g",
            "src/a.c",
            "src/a.c -o app -MD --coverage",
            "src/a.c -o app -g -save-temps",
            // With a single input, GCC names files after the source alone if it can.
            "src/a.c --coverage",
            "src/a.c -o a --coverage",
            "src/a.c -o src/a -save-temps",
            "-c src/a.c b.c",
            "-S src/a.c b.c",
        ] {
            let text = format!("-fopenmp {text}");
            let [(expected, plain), (found, measured)] = both(&files, compiler, &text);
            assert_eq!(plain.code, Some(0), "{compiler} {text}: {plain:?}");
            assert_eq!(measured.code, Some(0), "{compiler} {text}: {measured:?}");
            assert_eq!(found, expected, "{compiler} {text}");
        }
    }
}

#[test]
fn a_source_is_not_written_over_where_the_compiler_refuses_to() {
    let files = [("src/a.c", PROGRAM)];
    for text in ["-c src/a.c -o src/a.c", "src/a.c -o src/../src/a.c"] {
        let project = Project::new(&files);
        let run = project.rompcc("gcc", &format!("-fopenmp {text}")).run();
        assert_eq!(run.code, Some(1), "{run:?}");
        assert!(run.stderr.contains("is the same as output file"), "{run:?}");
        assert_eq!(project.read("src/a.c"), PROGRAM);
    }
}

#[test]
fn warnings_and_errors_are_the_compiler_s() {
    let warns = "int f(void) {\n  int unused;\n#pragma omp barrier\n  return 0;\n}\n";
    let fails = "int f(void) {\n#pragma omp barrier\n  return undeclared;\n}\n";
    // The message points into the string.
    let format = "#include <stdio.h>\nint f(long n) {\n#pragma omp barrier\n  \
                  return printf(\"n is %d here\", n);\n}\n";
    for compiler in COMPILERS {
        for (source, code) in [(warns, 0), (fails, 1), (format, 0)] {
            let files = [("src/a.c", source)];
            let [(_, plain), (_, measured)] = both(&files, compiler, "-fopenmp -Wall -c src/a.c");
            assert_eq!((plain.code, measured.code), (Some(code), Some(code)));
            assert_eq!(measured.stderr, plain.stderr, "{compiler}");
            assert!(measured.stderr.contains("src/a.c"), "{compiler}");
        }
    }
}

/// Counts for each source line how often debug information begins a statement there.
fn lines_that_begin(project: &Project, object: &str) -> BTreeMap<u32, usize> {
    let path = project.path(object);
    let mut command = Command::new("objdump");
    let output = command.arg("--dwarf=decodedline").arg(path).output();
    let text = String::from_utf8(output.unwrap().stdout).unwrap();
    let mut lines = BTreeMap::new();
    for row in text.lines() {
        let words: Vec<&str> = row.split_whitespace().collect();
        if let ["a.c", line, _, .., "x"] = words[..] {
            *lines.entry(line.parse().unwrap()).or_default() += 1;
        }
    }
    lines
}

#[test]
fn a_debugger_stops_at_the_user_s_lines_behind_constructs_and_at_nothing_of_ours() {
    let source = "int a(void), b(void), c(void);\nint s;\nvoid f(void) {\n\
                  #pragma omp parallel for\n  for (int i = 0; i < 4; i++)\n    s += a();\n  \
                  a();\n  b();\n  c();\n\
                  #pragma omp parallel\n  {\n\
                  #pragma omp for\n    for (int i = 0; i < 4; i++)\n      a();\n    \
                  a();\n    b();\n    c();\n  }\n  a();\n  b();\n  c();\n}\n";
    for compiler in COMPILERS {
        let [plain, measured] = ["1", "0"].map(|off| {
            let project = Project::new(&[("a.c", source)]);
            let call = project.rompcc(compiler, "-fopenmp -g -O0 -c a.c");
            call.env("ROMP_OFF", off).quietly();
            assert_eq!(project.is_measured("a.o"), off == "0");
            lines_that_begin(&project, "a.o")
        });
        for line in [7, 8, 9, 15, 16, 17, 19, 20, 21] {
            assert!(plain.contains_key(&line), "{compiler} {line}: {plain:?}");
            assert_eq!(measured[&line], plain[&line], "{compiler} {line}");
        }
    }
}

/// A combined directive keeps some variables to itself; its parts pass them on.
#[test]
fn no_variable_is_said_to_be_uninitialized_that_is_not() {
    let source = "void f(int n, double (*a)[64]) {\n  int i, j, it;\n\
                  #pragma omp teams distribute private(i, j)\n\
                  for (it = 0; it < n; it++) {\n\
                  #pragma omp parallel for simd collapse(2)\n    for (i = 0; i < 8; i++)\n      \
                  for (j = 0; j < 8; j++)\n        a[i][j] += it;\n  }\n}\n";
    let files = [("a.c", source)];
    for compiler in COMPILERS {
        let text = "-fopenmp -O2 -Wall -Wextra -c a.c";
        let [(_, plain), (_, measured)] = both(&files, compiler, text);
        assert_eq!(measured.stderr, plain.stderr, "{compiler}");
    }
}

#[test]
fn a_compiler_that_comes_back_to_us_ends_at_the_real_one() {
    let project = Project::new(&[("a.c", PROGRAM)]);
    let record = project.path("record");
    let call = project.rompcc(&fake("mpicc"), "-fopenmp a.c -o app");
    let call = call
        .env("RECORD", &record)
        .env("ROMPCC", crate::support::ROMPCC);
    let run = call.env("ROMP_VERBOSE", "1").run();
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(project.read("record").lines().count(), 1);
    // The compiler commands of our call and of the nested call, which adds nothing.
    let commands: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(commands.len(), 2, "{}", run.stderr);
    assert_eq!(
        commands[1].matches("-ffile-prefix-map").count(),
        1,
        "{}",
        run.stderr
    );
    assert!(project.is_measured("app"));
    assert!(project.execute("app").starts_with("45 a.c a.c"));
}

#[test]
fn a_link_with_a_compiler_s_name_finds_that_compiler() {
    let project = Project::new(&[("a.c", PROGRAM)]);
    let path = std::env::var("PATH").unwrap();
    for name in ["gcc", "rompcc-gcc"] {
        let link = project.path("bin").join(name);
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(crate::support::ROMPCC, &link).unwrap();
        let call = project.invocation(std::process::Command::new(name));
        let path = format!("{}:{path}", project.path("bin").display());
        call.arg("-fopenmp")
            .arg("-c")
            .arg("a.c")
            .env("PATH", path)
            .quietly();
        assert!(project.is_measured("a.o"), "{name}");
        std::fs::remove_file(project.path("a.o")).unwrap();
    }
}

/// The compiler names headers beside a source of the current directory without the directory.
#[test]
fn headers_are_named_as_the_compiler_names_them() {
    let source = "#include <stdio.h>\n#include \"near.h\"\n#include <near.h>\n#include \"./dot.h\"\n\
                  #include \"sub/deep.h\"\nint main(void) {\n#pragma omp parallel\n  { }\n\
                  puts(near()); puts(dot()); puts(deep()); puts(far()); return 0;\n}\n";
    let names = |name: &str| {
        format!(
            "static const char *{name}(void) {{ return __FILE__; }}\n\
             static int unused_{name}(void) {{ return 1; }}\n"
        )
    };
    let near = format!("#ifndef NEAR\n#define NEAR\n{}#endif\n", names("near"));
    let deep = format!("#include \"../far.h\"\n{}", names("deep"));
    let files = [
        ("a.c", source),
        ("near.h", &near),
        ("dot.h", &names("dot")),
        ("far.h", &names("far")),
        ("sub/deep.h", &deep),
    ];
    for compiler in COMPILERS {
        for flags in ["-I.", "-I. -I./sub", "-iquote sub -I.", "-Isub -I ."] {
            for source in ["a.c", "./a.c"] {
                let text = format!("{flags} -g -Wall -fopenmp -MMD -MF a.d {source} -o app");
                let [(plain, theirs), (run, project)] = ["1", "0"].map(|off| {
                    let project = Project::new(&files);
                    let call = project.rompcc(compiler, &text);
                    (call.env("ROMP_OFF", off).run(), project)
                });
                assert_eq!(run.stderr, plain.stderr, "{compiler} {text}");
                assert!(run.stderr.contains("unused_near"), "{compiler} {text}");
                let names = theirs.execute("app");
                assert_eq!(project.execute("app"), names, "{compiler} {text}");
                // GCC lists a file once for each name, and breaks lines according to their
                // length.
                let files = |project: &Project| -> BTreeSet<String> {
                    let text = project.read("a.d").replace(" \\\n", "");
                    text.split_whitespace().map(str::to_owned).collect()
                };
                assert_eq!(files(&project), files(&theirs), "{text}");
                assert!(project.is_measured("app"), "{compiler} {text}");
            }
        }
    }
}

/// The parts of a split directive have other columns, and the second part another line.
#[test]
fn warnings_about_rewritten_directives_name_the_user_s_places() {
    let text = "\
int f(int n, int *a) {
  int t = 0;
#pragma omp parallel for num_threads(n / 0)
  for (int i = 0; i < n; i++) a[i] = n;
#pragma omp parallel for schedule(static, 1 / 0 + 1)
  for (int i = 0; i < n; i++) a[i] += n;
  return t;
}
";
    for compiler in COMPILERS {
        for sources in ["a.c", "a.c b.c"] {
            let words = format!("-fopenmp -Wall -c {sources}");
            let [plain, measured] = [(); 2].map(|()| Project::new(&[("a.c", text), ("b.c", text)]));
            let mut command = Command::new(compiler);
            command.args(words.split(' '));
            let expected = plain.invocation(command).run();
            let found = measured.rompcc(compiler, &words).run();
            assert_eq!(
                (found.code, &found.stderr),
                (Some(0), &expected.stderr),
                "{compiler} {sources}"
            );
            for source in sources.split(' ') {
                for line in [3, 5] {
                    let place = format!("{source}:{line}:");
                    assert!(expected.stderr.contains(&place), "{}", expected.stderr);
                }
                assert!(measured.is_measured(&source.replace(".c", ".o")));
            }
        }
    }
}

/// Text inserted around a directive must not make an incorrect directive acceptable.
#[test]
fn a_directive_where_a_statement_must_be_is_an_error() {
    for head in [
        "if (a)",
        "if (a) f(0);\nelse",
        "while (a)",
        "for (;;)",
        "do",
    ] {
        for directive in ["barrier", "taskwait", "flush"] {
            let rest = if head == "do" { "while (a);" } else { "f(1);" };
            let source = format!("void f(int a) {{\n{head}\n#pragma omp {directive}\n{rest}\n}}\n");
            for compiler in COMPILERS {
                let [(_, plain), (_, measured)] =
                    both(&[("a.c", &source)], compiler, "-fopenmp -c a.c");
                assert_eq!((plain.code, measured.code), (Some(1), Some(1)), "{source}");
                let said = measured.stderr.contains(&plain.stderr);
                assert!(said, "{compiler} {source}: {}", measured.stderr);
            }
        }
    }
}

#[test]
fn one_object_of_several_sources_is_an_error() {
    let files = [("a.c", PROGRAM), ("b.c", PROGRAM), ("src/c.c", PROGRAM)];
    for compiler in COMPILERS {
        for sources in ["a.c b.c", "a.c src/c.c"] {
            let words = format!("-fopenmp -c {sources} -o x.o");
            let [(expected, plain), (found, measured)] = both(&files, compiler, &words);
            assert_eq!(plain.code, Some(1), "{plain:?}");
            assert_eq!(
                (measured.code, measured.stderr, found),
                (plain.code, plain.stderr, expected),
                "{words}"
            );
        }
    }
}
