//! Everything that names a file must name the user's file.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::process::Command;

use crate::support::{COMPILERS, PROGRAM, Project, function, rompfc, wrapper};

#[test]
fn the_source_knows_its_own_name() {
    for compiler in COMPILERS {
        for (source, options) in [
            ("a.c", ""),
            ("src/a.c", "-g"),
            ("./src/../src/a.c", "-O2 -g3"),
        ] {
            let project = Project::new(&[("a.c", PROGRAM), ("src/a.c", PROGRAM)]);
            project
                .rompcc(compiler, &format!("-fopenmp {options} {source} -o app"))
                .quietly();
            assert!(project.is_measured("app"));
            assert_eq!(
                project.execute("app"),
                format!("45 {source} {source} 6\n"),
                "{compiler}"
            );
            let object = project.bytes("app");
            let temporary = b"/romp-";
            let named = object
                .windows(temporary.len())
                .any(|part| part == temporary);
            assert!(
                !named,
                "{compiler} {source}: the program names a temporary file"
            );
            project.assert_clean();
        }
    }
}

#[test]
fn an_absolute_name_and_a_name_with_spaces_are_kept() {
    for compiler in COMPILERS {
        let project = Project::new(&[("my src/a b.c", PROGRAM)]);
        for name in [
            "my src/a b.c".to_owned(),
            project.path("my src/a b.c").display().to_string(),
        ] {
            let call = project.rompcc(compiler, "-fopenmp -g -MMD -MF deps -o app");
            call.arg(&name).quietly();
            assert_eq!(
                project.execute("app"),
                format!("45 {name} {name} 6\n"),
                "{compiler}"
            );
            assert_eq!(
                project.read("deps").trim_end(),
                format!("app: {}", name.replace(' ', "\\ "))
            );
        }
    }
}

#[test]
fn the_same_command_makes_the_same_object() {
    for compiler in COMPILERS {
        let project = Project::new(&[("a.c", PROGRAM)]);
        let mut made = Vec::new();
        for _ in 0..2 {
            project.rompcc(compiler, "-fopenmp -g -O2 -c a.c").quietly();
            made.push(project.bytes("a.o"));
        }
        assert!(made[0] == made[1], "{compiler}");
    }
}

/// Words of a dependency file, without the makefile's line ends.
fn words(text: &str) -> Vec<String> {
    text.replace("\\\n", " ")
        .split_whitespace()
        .map(str::to_owned)
        .collect()
}

#[test]
fn dependency_files_are_those_of_the_compiler() {
    let source = format!(
        "#include \"x.h\"\n#include <stddef.h>\n{}",
        function("f", "X")
    );
    let files = [
        ("src/a.c", &*source),
        ("src/x.h", "#define X 1\n"),
        ("x.h", "#error no\n"),
    ];
    for compiler in COMPILERS {
        for (options, file) in [
            ("-MD", "a.d"),
            ("-MMD -MP", "a.d"),
            ("-MMD -o x.o", "x.d"),
            ("-MD -MF deps.mk", "deps.mk"),
            ("-MMD -MFdeps.mk -MT target -MQ $(x)", "deps.mk"),
            ("-Wp,-MMD,.deps/a.d", ".deps/a.d"),
        ] {
            let made = ["1", "0"].map(|off| {
                let project = Project::new(&files);
                project.write(".deps/x", "");
                let text = format!("-fopenmp -c ./src/a.c {options}");
                project
                    .rompcc(compiler, &text)
                    .env("ROMP_OFF", off)
                    .quietly();
                words(&project.read(file))
            });
            assert_eq!(made[1], made[0], "{compiler} {options}");
        }
    }
}

#[test]
fn a_dependency_file_may_be_standard_output() {
    let project = Project::new(&[("a.c", &function("f", "1"))]);
    for flag in ["-MF /dev/stdout", "-MF -", "-MF-", "-Wp,-MF,-"] {
        let text = format!("-fopenmp -c a.c -MMD {flag} -o {}.o", flag.len());
        let run = project.rompcc("gcc", &text).run();
        let expected = format!("{}.o: a.c\n", flag.len());
        assert_eq!(
            (run.code, &*run.stdout, &*run.stderr),
            (Some(0), &*expected, ""),
            "{flag}"
        );
    }
}

/// `/dev/stdout` is a link, which root could replace by a file.
#[test]
fn a_dependency_file_may_be_a_link() {
    let project = Project::new(&[("src/a.c", &function("f", "1")), ("real.d", "")]);
    let link = project.path("link.d");
    std::os::unix::fs::symlink("real.d", &link).unwrap();
    let made = ["1", "0"].map(|off| {
        let text = "-fopenmp -c ./src/a.c -MMD -MF link.d";
        project.rompcc("gcc", text).env("ROMP_OFF", off).quietly();
        assert!(link.is_symlink(), "{off}");
        project.read("real.d")
    });
    assert_eq!(made[1], made[0]);
}

#[test]
fn quoted_headers_are_those_beside_the_source() {
    let source = format!("#include \"x.h\"\n{}", function("f", "X"));
    let main =
        "#include <stdio.h>\nint f(void);\nint main(void) { printf(\"%d\\n\", f()); return 0; }\n";
    let files = [
        ("src/a.c", &*source),
        ("src/x.h", "#include \"y.h\"\n"),
        ("src/y.h", "#define X 7\n"),
        ("x.h", "#define X 1\n"),
        ("include/y.h", "#define X 2\n"),
        ("main.c", main),
    ];
    for compiler in COMPILERS {
        let project = Project::new(&files);
        let text = "-fopenmp -I . -Iinclude -iquote include src/a.c main.c -o app";
        project.rompcc(compiler, text).quietly();
        assert!(project.is_measured("app"), "{compiler}");
        assert_eq!(project.execute("app"), "7\n", "{compiler}");
    }
}

#[test]
fn a_header_elsewhere_never_meets_one_beside_the_source() {
    let source = format!("#include <api.h>\n{}", function("f", "CONFIG"));
    let files = [
        ("src/a.c", &*source),
        (
            "src/config.h",
            "#define CONFIG not_this\nextern int not_this;\n",
        ),
        ("include/api.h", "#include \"config.h\"\n"),
        ("build/config.h", "#define CONFIG 1\n"),
    ];
    for (compiler, measured) in [("gcc", false), ("clang", true)] {
        let project = Project::new(&files);
        let run = project
            .rompcc(compiler, "-fopenmp -c src/a.c -Iinclude -Ibuild")
            .run();
        assert_eq!(run.code, Some(0), "{compiler}: {}", run.stderr);
        assert_eq!(project.is_measured("a.o"), measured, "{compiler}");
        assert_eq!(
            run.stderr.contains("has a namesake"),
            !measured,
            "{}",
            run.stderr
        );
        let object = project.bytes("a.o");
        assert!(
            !object.windows(8).any(|part| part == b"not_this"),
            "{compiler}"
        );
        project.assert_clean();
    }
}

#[test]
fn a_namesake_that_is_not_met_does_no_harm() {
    let source = format!("#include \"config.h\"\n{}", function("f", "CONFIG"));
    let files = [
        ("my src/a.c", &*source),
        ("my src/config.h", "#define CONFIG 1\n"),
        ("build/config.h", "#define CONFIG wrong\n"),
    ];
    for compiler in COMPILERS {
        let project = Project::new(&files);
        let call = project.rompcc(compiler, "-fopenmp -c -Ibuild -MD");
        call.arg("./my src/a.c").quietly();
        assert!(project.is_measured("a.o"), "{compiler}");
    }
}

#[test]
fn a_header_that_is_met_twice_does_no_harm() {
    let files = [
        (
            "a.c",
            &*format!(
                "#include \"outer.h\"\n#include \"inner.h\"\n{}",
                function("f", "N")
            ),
        ),
        ("outer.h", "#include \"inner.h\"\n"),
        ("inner.h", "#ifndef N\n#define N 1\n#endif\n"),
        ("other/inner.h", "#define N wrong\n"),
    ];
    for compiler in COMPILERS {
        let project = Project::new(&files);
        project
            .rompcc(compiler, "-fopenmp -c -Iother a.c")
            .quietly();
        assert!(project.is_measured("a.o"), "{compiler}");
    }
}

#[test]
fn a_source_that_includes_itself_still_compiles() {
    let source = "#ifndef ONCE\n#define ONCE\n#define NAME f\n#include __FILE__\n#undef NAME\n\
                  #define NAME g\n#endif\nint NAME(void) {\n#pragma omp barrier\n  return 1;\n}\n";
    for compiler in COMPILERS {
        let project = Project::new(&[("a.c", source)]);
        project.rompcc(compiler, "-fopenmp -c a.c").quietly();
        assert!(project.is_measured("a.o"), "{compiler}");
        let call = project.rompcc(compiler, "-fopenmp -c a.c");
        let run = call.env("ROMP_PREPROCESS", "never").run();
        assert_eq!(run.code, Some(0), "{compiler}: {}", run.stderr);
        assert!(
            run.stderr
                .contains("a.c is not measured: it includes itself"),
            "{}",
            run.stderr
        );
        assert!(project.exists("a.o"));
    }
}

#[test]
fn kept_texts_stand_beside_the_output() {
    let project = Project::new(&[("src/a.c", PROGRAM), ("obj/x", "")]);
    let call = project.rompcc("gcc", "-fopenmp -c src/a.c -o obj/a.o");
    call.env("ROMP_KEEP", "1").quietly();
    assert!(project.read("obj/a.c.romp").contains("#line 1 \"src/a.c\""));
}

/// A name in Latin-1.
fn latin(name: &str) -> OsString {
    let bytes = name
        .chars()
        .map(|character| u8::try_from(character).unwrap());
    OsString::from_vec(bytes.collect())
}

#[test]
fn a_name_is_bytes() {
    let header = "static inline int two(void) {\n#pragma omp barrier\n  return 2;\n}\n";
    let source = |include: &str| {
        let text = format!("{include}{}", function("f", "__LINE__"));
        text.into_bytes()
    };
    let sources: [(&str, Vec<u8>); 3] = [
        ("plainly.c", source("")),
        (
            "with a header.c",
            [b"#include \"h\xe9.h\"\n", &*source("")].concat(),
        ),
        (
            "with a line.c",
            [b"#line 7 \"other\xe9.c\"\n", &*source("")].concat(),
        ),
    ];
    for compiler in COMPILERS {
        for (name, text) in &sources {
            let [plain, measured] = ["1", "0"].map(|off| {
                let project = Project::new(&[]);
                let folder = project.directory().join(latin("d\u{e9}"));
                std::fs::create_dir(&folder).unwrap();
                std::fs::write(folder.join(latin("h\u{e9}.h")), header).unwrap();
                let name = latin(&format!("d\u{e9}/\u{e4}{name}"));
                std::fs::write(project.directory().join(&name), text).unwrap();
                let words = [
                    b"-fopenmp -g -MMD -Wall -c '".as_slice(),
                    name.as_bytes(),
                    b"'",
                ];
                std::fs::write(project.path("words"), words.concat()).unwrap();
                let object = latin("d\u{e9}/\u{f6}.o");
                let call = project.rompcc(compiler, "@words -o").arg(&object);
                let run = call.env("ROMP_OFF", off).env("ROMP_STRICT", "1").run();
                assert_eq!(run.code, Some(0), "{run:?}");
                let object = std::fs::read(project.directory().join(object)).unwrap();
                let files = std::fs::read(folder.join(latin("\u{f6}.d"))).unwrap();
                project.assert_clean();
                (
                    object,
                    String::from_utf8_lossy(&files).into_owned(),
                    run.stderr,
                )
            });
            let calls = |object: &[u8]| object.windows(5).any(|part| part == b"POMP_");
            assert!(!calls(&plain.0) && calls(&measured.0), "{compiler} {name}");
            assert_eq!(words(&measured.1), words(&plain.1), "{compiler} {name}");
            assert_eq!(measured.2, plain.2, "{compiler} {name}");
        }
    }
}

#[test]
fn a_source_of_fortran_may_have_any_name() {
    let source = "      program p\n      include 'h\u{e9}.inc'\n!$omp parallel\n!$omp end parallel\n\
                  \x20     print '(a)', 'done'\n      end program\n";
    let source = latin(source).into_vec();
    for name in ["\u{e4}.f90", "\u{e4}.F90", "\u{e4}.f"] {
        let project = Project::new(&[]);
        let name = latin(name);
        std::fs::write(project.directory().join(&name), &source).unwrap();
        let included = "      integer :: i\n";
        std::fs::write(project.directory().join(latin("h\u{e9}.inc")), included).unwrap();
        let mut command = rompfc();
        command.args(["-fopenmp", "-Wall", "-o", "app"]).arg(&name);
        let call = project.invocation(command).env("ROMP_STRICT", "1");
        let run = call.run();
        assert_eq!(run.code, Some(0), "{run:?}");
        assert!(project.is_measured("app"), "{name:?}");
        assert_eq!(project.execute("app"), "done\n");
        project.assert_clean();
    }
}

#[test]
fn the_command_romp_takes_any_name() {
    let project = Project::new(&[]);
    let name = latin("\u{e4}.c");
    let source = [b"#line 3 \"\xfc.c\"\n".as_slice(), PROGRAM.as_bytes()].concat();
    std::fs::write(project.directory().join(&name), source).unwrap();
    for words in [
        &["list"][..],
        &["list", "--format", "json"],
        &["instrument", "--verify"],
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_romp"));
        command.args(words).arg(&name);
        let run = project.invocation(command).run();
        assert_eq!(run.code, Some(0), "{run:?}");
        let says = format!("{}{}", run.stdout, run.stderr);
        assert!(says.contains("\u{FFFD}.c"), "{says}");
    }
    let out = latin("\u{f6}.c");
    let mut command = Command::new(env!("CARGO_BIN_EXE_romp"));
    command.arg("instrument").arg(&name).arg("-o").arg(&out);
    project.invocation(command).quietly();
    let text = std::fs::read(project.directory().join(out)).unwrap();
    let text = String::from_utf8_lossy(&text);
    assert!(text.contains("#line 1 \"\\344.c\"\n"), "{text}");
    assert!(text.contains(" \"\\374.c\"\n"), "{text}");
}

/// The object that a command makes of a source in a directory of its own.
fn object_in(folder: &str, name: &str, compiler: &str, text: &str, output: &str) -> Vec<u8> {
    let directives = "!$omp parallel\n!$omp end parallel\n";
    let fortran = format!("subroutine s\n{directives}end subroutine\n");
    let header =
        "static inline const char *h(void) {\n#pragma omp barrier\n  return __FILE__;\n}\n";
    let source = "const char *f(void) {\n#pragma omp parallel\n  { }\n  return __FILE__;\n}\n";
    let both = format!("#include \"h.h\"\n{source}const char *g(void) {{ return h(); }}\n");
    let project = Project::new(&[]);
    let at = |name: &str| format!("{folder}/{name}");
    for (name, text) in [
        ("a.c", source),
        ("a.cc", source),
        ("b.c", &both),
        ("b.cc", &both),
        ("f.f90", &fortran),
        ("inc/h.h", header),
    ] {
        project.write(&at(name), text);
    }
    let folder = project.path(folder);
    let text = text.replace('@', folder.to_str().unwrap());
    let mut command = wrapper(name);
    command.args(text.split(' ')).args(["-o", output]);
    let mut call = project.invocation(command).env("ROMP_STRICT", "1");
    for variable in ["ROMP_CC", "ROMP_FC"] {
        call = call.env(variable, compiler);
    }
    call.command.current_dir(&folder);
    call.quietly();
    assert!(project.is_measured(&at(output)), "{compiler} {text}");
    std::fs::read(folder.join(output)).unwrap()
}

#[test]
fn an_object_does_not_say_where_it_was_built() {
    let compilers = [
        ("rompcc", "gcc", &["a.c", "b.c"][..]),
        ("rompcc", "clang", &["a.c", "b.c"]),
        ("rompcc", "g++", &["a.cc", "b.cc"]),
        ("rompcc", "clang++", &["a.cc", "b.cc"]),
        ("rompfc", "gfortran", &["f.f90"]),
    ];
    for (name, compiler, sources) in compilers {
        for source in sources {
            for flags in [
                format!("-Iinc -c {source}"),
                format!("-g -O2 -ffile-prefix-map=@=/x -Iinc -c {source}"),
                format!("-fdebug-prefix-map=@=. -g -Iinc -c {source}"),
                format!("-ffile-prefix-map=@=. -I@/inc -c @/{source}"),
            ] {
                // For these, the compiler itself does not make the same object in every
                // directory.
                if flags.contains("-c @") && name == "rompfc" {
                    continue;
                }
                let text = format!("-fopenmp {flags}");
                let first = object_in("one", name, compiler, &text, "x.o");
                let second = object_in("two/deep", name, compiler, &text, "other.o");
                assert!(first == second, "{compiler} {text}");
            }
        }
    }
}

/// Such objects come from builds that call themselves in each directory.
#[test]
fn a_program_may_have_a_source_twice() {
    let source = "#include \"name.h\"\ninline int twice(int n) {\n#pragma omp barrier\n  \
                  return 2 * n;\n}\nint NAME(int n) {\n#pragma omp parallel\n  { }\n  \
                  return twice(n);\n}\n";
    let main = "#include <stdio.h>\nint f(int), g(int);\nint twice(int n) { return 2 * n; }\n\
                int main(void) { printf(\"%d\\n\", f(1) + g(2)); return 0; }\n";
    for compiler in COMPILERS {
        for optimised in ["-O0", "-O2"] {
            let project = Project::new(&[
                ("f/u.c", source),
                ("f/name.h", "#define NAME f\n"),
                ("g/u.c", source),
                ("g/name.h", "#define NAME g\n"),
                ("main.c", main),
            ]);
            for folder in ["f", "g"] {
                let text = format!("-fopenmp {optimised} -c u.c -o ../{folder}.o");
                let mut call = project.rompcc(compiler, &text);
                call.command.current_dir(project.path(folder));
                call.quietly();
                assert!(project.is_measured(&format!("{folder}.o")), "{compiler}");
            }
            let text = "-fopenmp main.c f.o g.o -o app";
            project.rompcc(compiler, text).quietly();
            assert_eq!(project.execute("app"), "6\n", "{compiler}");
        }
    }
}
