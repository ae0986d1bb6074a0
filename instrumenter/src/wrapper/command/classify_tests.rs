//! Every spelling of the flags that a command line may use.

use super::*;

fn classify(compiler: &str, words: &[&str]) -> CommandLine {
    let words: Vec<OsString> = words.iter().map(Into::into).collect();
    CommandLine::classify(&Compiler::named(compiler), &words)
}

fn inputs(line: &CommandLine) -> Vec<(&str, InputKind)> {
    let inputs = line
        .arguments
        .iter()
        .filter_map(|argument| match argument.role {
            Role::Input(language) => Some((argument.name().to_str().unwrap(), language)),
            _ => None,
        });
    inputs.collect()
}

#[test]
fn values_are_joined_or_separate() {
    for words in [
        &["-I", "dir", "-o", "file", "a.c"][..],
        &["-Idir", "-ofile", "a.c"],
    ] {
        let line = classify("gcc", words);
        assert_eq!(
            line.values(Meaning::IncludeDirectory).collect::<Vec<_>>(),
            ["dir"]
        );
        assert_eq!(line.output(), Some(OsStr::new("file")));
        assert_eq!(inputs(&line), [("a.c", C)]);
    }
    let line = classify("gcc", &["--output=x.o", "--include-directory", "d", "a.c"]);
    assert_eq!(line.output(), Some(OsStr::new("x.o")));
    assert_eq!(inputs(&line), [("a.c", C)]);
}

#[test]
fn a_value_is_never_an_input_or_a_flag() {
    let text = "-MF a.c -MT b.c -include c.h -isystem d.c -Xlinker -o -Xlinker e.c -D f.c -L g.c \
                -l h.c -U -c -x c -T i.c --param j.c -Xpreprocessor -E main.c";
    let line = classify("gcc", &text.split_whitespace().collect::<Vec<_>>());
    assert_eq!(inputs(&line), [("main.c", C)]);
    assert_eq!(line.stage(), Stage::Link);
    assert_eq!(line.output(), None);
}

#[test]
fn words_keep_their_order_and_their_text() {
    let given = [
        "-DNAME=\"a b\"",
        "-D",
        "X='1 2'",
        "-funknown-flag",
        "--unknown",
        "a.c",
        "-o",
        "out dir/x",
        "-Wl,-rpath,/x y",
        "lib.a",
        "-lfoo",
        "-ounused",
        "",
        "@absent",
    ];
    let line = classify("gcc", &given);
    assert_eq!(line.words(), given.map(OsString::from));
    assert!(!line.from_response_file);
}

#[test]
fn a_response_file_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("args");
    std::fs::write(&file, "-fopenmp '-DA=\"x y\"' -c\n\"my file.c\"").unwrap();
    let line = classify("gcc", &[&format!("@{}", file.display()), "-O2"]);
    assert_eq!(
        line.words(),
        ["-fopenmp", "-DA=\"x y\"", "-c", "my file.c", "-O2"].map(OsString::from)
    );
    assert!(line.from_response_file && line.openmp());
    assert_eq!(inputs(&line), [("my file.c", C)]);
}

#[test]
fn languages_follow_the_extension_or_x() {
    use InputKind::Linked;
    let given = [
        "a.c", "-x", "c", "b.txt", "-", "-xc++", "c.c", "-x", "none", "d.c", "e.o", "f.so.1", "g",
    ];
    let expected = [
        ("a.c", C),
        ("b.txt", C),
        ("-", C),
        ("c.c", CXX),
        ("d.c", C),
        ("e.o", Linked),
        ("f.so.1", Linked),
        ("g", Linked),
    ];
    assert_eq!(inputs(&classify("gcc", &given)), expected);
    let other = classify("gcc", &["a.go", "b.s"]);
    assert!(
        inputs(&other)
            .iter()
            .all(|(_, kind)| *kind == InputKind::OtherSource)
    );
    let fortran = classify("gcc", &["a.f90", "b.F", "-x", "f77-cpp-input", "c.inc"]);
    let is_fortran =
        |(_, kind): &(&str, InputKind)| *kind == InputKind::Measured(Language::Fortran);
    assert!(inputs(&fortran).iter().all(is_fortran));
    assert_eq!(inputs(&classify("g++", &["a.c"])), [("a.c", CXX)]);
    assert_eq!(
        inputs(&classify("gcc", &["a.cc", "dir.c/b"])),
        [("a.cc", CXX), ("dir.c/b", Linked)]
    );
}

#[test]
fn after_two_dashes_everything_is_an_input() {
    let line = classify("clang", &["-c", "--", "-odd.c", "-"]);
    assert!(line.has_end_of_flags());
    assert_eq!(inputs(&line)[0], ("./-odd.c", C));
    assert_eq!(line.without_end_of_flags().words()[..2], ["-c", "./-odd.c"]);
}

#[test]
fn the_earliest_stage_wins() {
    assert_eq!(classified("-c a.c").stage(), Stage::Assemble);
    assert_eq!(classified("-c -S a.c").stage(), Stage::Compile);
    assert_eq!(classified("-E -c a.c").stage(), Stage::Preprocess);
    assert_eq!(classified("-MD a.c").stage(), Stage::Link);
    assert_eq!(classified("-MM a.c").stage(), Stage::Preprocess);
}

#[test]
fn openmp_is_what_the_last_flag_says() {
    for text in [
        "-fopenmp",
        "-fopenmp=libomp",
        "-fno-openmp -fopenmp",
        "-Xclang -fopenmp",
    ] {
        assert!(classified(text).openmp(), "{text}");
    }
    assert!(classified("-Xpreprocessor -fopenmp -lomp").openmp());
    for text in [
        "-fopenmp-simd",
        "-fopenmp -fno-openmp",
        "-lgomp",
        "-Wl,-fopenmp",
        "-DX -O2",
    ] {
        assert!(!classified(text).openmp(), "{text}");
    }
}

#[test]
fn the_linker_s_words_are_found_in_every_form() {
    let line = classified("-Wl,-z,defs -Xlinker --no-undefined -z now -Wl,-rpath,/x");
    let expected: [&[u8]; 6] = [b"-z", b"defs", b"--no-undefined", b"now", b"-rpath", b"/x"];
    assert_eq!(line.linker_words(), expected);
}

#[test]
fn a_flag_without_its_value_is_left_to_the_compiler() {
    let line = classify("gcc", &["a.c", "-o"]);
    assert_eq!(line.words(), ["a.c", "-o"].map(OsString::from));
}
