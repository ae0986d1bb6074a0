//! Names that differ, and commands with the user's files replaced.

use super::super::classify::classified;
use super::*;

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
}

#[test]
fn a_remapped_file_leaves_the_command_as_it_is() {
    assert_eq!(
        command("-c src/a.c -o x.o", Route::Remapped, FILE_MAP),
        "-c src/a.c -o x.o -Xclang -remap-file -Xclang src/a.c;/t/a.c"
    );
}

#[test]
fn translation_units_get_names_of_their_own() {
    let name = |text: &str| {
        let line = classified(text);
        let index = line.arguments.iter().position(Argument::is_source).unwrap();
        unique(&line, index)
    };
    let names = [
        name("-c a.c"),
        name("-c b.c"),
        name("-c a.c -DX"),
        name("-c a.c -o b.o"),
        name("-c a.c -o c.o"),
    ];
    for (at, first) in names.iter().enumerate() {
        assert!(first.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        assert!(!names[at + 1..].contains(first), "{first}");
    }
    assert_eq!(name("-c a.c"), name("-c a.c"));
    // GCC and Clang look a function's profile up by its name.
    assert_eq!(
        name("-fprofile-generate -c a.c"),
        name("-fprofile-use -Wno-missing-profile -c a.c")
    );
    assert_ne!(name("-c a.c"), name("-c a.c -Wp,-DX"));
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
            missing: None,
            route: None,
            preprocessed: None,
            is_here: false,
            headers: std::cell::OnceCell::new(),
        }
    }
}
