//! Tests of unique names, and of commands in which the user's files are replaced.

use super::*;
use crate::wrapper::command::classify::classified;
use crate::wrapper::route::substitution::substituted;

const FILE_MAP: Option<&str> = Some("-ffile-prefix-map=");

fn unit(line: &CommandLine, route: Route) -> Unit {
    let index = line.arguments.iter().position(Argument::is_source).unwrap();
    let name = line.arguments[index].name().to_str().unwrap().to_owned();
    let mut unit = Unit::for_tests(&name, "");
    unit.index = index;
    unit.route = Some(route);
    unit
}

fn command(text: &str, route: fn(PathBuf) -> Route, prefix_map: Option<&str>) -> String {
    let line = classified(text);
    let unit = unit(&line, route("/t/a.c".into()));
    let words = substituted(&line, &[&unit], prefix_map);
    words
        .iter()
        .map(|word| word.to_str().unwrap())
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn a_temporary_file_stands_in_the_place_of_the_source() {
    assert_eq!(
        command(
            "-O2 -iquote q -c src/a.c -Wall",
            Route::TemporaryFile,
            FILE_MAP
        ),
        "-iquote src -O2 -iquote q -c /t/a.c -Wall -ffile-prefix-map=/t/a.c=src/a.c"
    );
    assert_eq!(
        command("-c a.c", Route::TemporaryFile, Some("-fdebug-prefix-map=")),
        "-iquote . -c /t/a.c -fdebug-prefix-map=/t/a.c=a.c"
    );
    assert_eq!(
        command("-I- -c -- a.c", Route::TemporaryFile, FILE_MAP),
        "-I- -c /t/a.c -ffile-prefix-map=/t/a.c=a.c"
    );
    assert_eq!(
        command("-c a.c", Route::TemporaryFile, None),
        "-iquote . -c /t/a.c"
    );
}

#[test]
fn the_user_s_prefix_maps_hold_for_the_name() {
    let text = "-ffile-prefix-map=/home/u=. -fdebug-prefix-map=/x=y -c /home/u/a.c";
    assert!(command(text, Route::TemporaryFile, FILE_MAP).ends_with("=/t/a.c=./a.c"));
    let text = "-fdebug-prefix-map=/home/u=D -fmacro-prefix-map=/home/u=M -c /home/u/a.c";
    let expected = "-ffile-prefix-map=/t/a.c=D/a.c -fmacro-prefix-map=/t/a.c=M/a.c";
    assert!(command(text, Route::TemporaryFile, FILE_MAP).ends_with(expected));
}

#[test]
fn a_remapped_file_leaves_the_command_as_it_is() {
    assert_eq!(
        command("-c src/a.c -o x.o", Route::Remapped, FILE_MAP),
        "-c src/a.c -o x.o -Xclang -remap-file -Xclang src/a.c;/t/a.c"
    );
}

/// The unique name of a command's source.
fn name_in(command: &str, text: &str) -> String {
    let line = classified(command);
    let index = line.arguments.iter().position(Argument::is_source).unwrap();
    let source = Source {
        name: line.arguments[index].name().to_str().unwrap().into(),
        language: openmp::Language::C,
        text: text.into(),
        layout: Layout::FREE,
        undefined: UndefinedMacros::new(),
    };
    unique(&line, index, &source)
}

#[test]
fn translation_units_get_names_of_their_own() {
    let names = [
        name_in("-c a.c", "f"),
        name_in("-c b.c", "f"),
        name_in("-c a.c", "g"),
        name_in("-c a.c -DX", "f"),
        name_in("-c a.c -Wp,-DX", "f"),
        name_in("-c a.c -include x.h", "f"),
    ];
    for (at, first) in names.iter().enumerate() {
        assert!(first.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        assert!(!names[at + 1..].contains(first), "{first}");
    }
}

#[test]
fn a_name_does_not_say_where_a_unit_is_built() {
    for (first, second) in [
        ("-c a.c -o b.o", "-c a.c -o c.o"),
        ("-c a.c -I/home/u -MD -MF x", "-c a.c -I/home/v"),
        // GCC and Clang find a function's profile by its name.
        (
            "-fprofile-generate -c a.c",
            "-fprofile-use -Wno-missing-profile -c a.c",
        ),
        (
            "-ffile-prefix-map=/u=. -c /u/a.c",
            "-ffile-prefix-map=/v/w=. -c /v/w/a.c",
        ),
        ("-fdebug-prefix-map=/u=. -c /u/a.c -DX=1", "-c ./a.c -DX=1"),
        ("-c b.c a.c", "-c b.c"),
    ] {
        assert_eq!(name_in(first, "f"), name_in(second, "f"), "{first}");
    }
    let marked = |name: &str| format!("# 1 \"{name}\"\nint f;\n# 2 \"{name}\" 2\n");
    let command = "-c a.c";
    assert_eq!(
        name_in(command, &marked("/u")),
        name_in(command, &marked("/v"))
    );
    assert_ne!(
        name_in(command, "#line 2 \"a\"\n"),
        name_in(command, "#line 2 \"b\"\n")
    );
}

#[test]
fn a_preprocessed_file_is_named_whatever_the_language_in_force() {
    assert_eq!(
        command("-O2 -c src/a.c -DX", Route::Preprocessed, FILE_MAP),
        "-O2 -c /t/a.c -DX"
    );
    assert_eq!(
        command("-x c -c src/a.c b.c", Route::Preprocessed, FILE_MAP),
        "-x c -c -x none /t/a.c -x c b.c"
    );
}

impl Unit {
    pub(crate) fn for_tests(name: &str, text: &str) -> Self {
        Self {
            index: 0,
            name: name.into(),
            layout: crate::source::Layout::FREE,
            language: crate::openmp::Language::C,
            original: text.into(),
            text: Vec::new(),
            warnings: Vec::new(),
            defective: false,
            incomplete: false,
            compiled_as_written: None,
            missing: None,
            route: None,
            preprocessed: None,
            is_here: false,
            headers: std::cell::OnceCell::new(),
        }
    }
}
