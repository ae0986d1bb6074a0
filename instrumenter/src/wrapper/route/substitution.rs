//! The command that makes the compiler read the instrumented texts in the place of the user's
//! files.
//!
//! | how | what the compiler is given | names come out right through |
//! | --- | --- | --- |
//! | standard input | the new text on stdin | `#line` |
//! | remapped file | the user's command and `-remap-file` | the compiler |
//! | temporary file | its path in the place of the user's | `#line`, `-iquote`, `-ffile-prefix-map`, corrected dependency files |
//! | preprocessed file | its path in the place of the user's | line markers |

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::{expanded, fortran_text};
use crate::names;
use crate::openmp;
use crate::wrapper::command::classify::{Argument, CommandLine};
use crate::wrapper::compilers::flags::{Meaning, PrefixMap};
use crate::wrapper::compilers::{FILE_MAP, MACRO_MAP};
use crate::wrapper::unit::{HERE, Route, Unit};

/// The command that compiles the units' new texts, with the flag that names the
/// user's files in debug information, if the compiler has one.
pub(crate) fn substituted(
    line: &CommandLine,
    units: &[&Unit],
    prefix_map: Option<&str>,
) -> Vec<OsString> {
    let mut before = Vec::new();
    let mut after = Vec::new();
    let mut line = line.clone();
    let maps = |line: &CommandLine, unit: &Unit, path: &Path| {
        prefix_map.map_or_else(Vec::new, |flag| mapped(flag, line, unit, path))
    };
    for unit in units {
        match &unit.route {
            None | Some(Route::StandardInput) => {}
            Some(Route::Preprocessed(path)) => {
                if unit.language == openmp::Language::Fortran {
                    replace_input(&mut line.arguments, unit.index, path);
                    before.extend(searched_first(unit));
                    after.extend(maps(&line, unit, path));
                    after.push(fortran_text::NOT_AGAIN.into());
                    continue;
                }
                let words = expanded::input_words(&line, unit.index, path);
                if let Some(argument) = line.arguments.get_mut(unit.index) {
                    argument.words = words;
                }
            }
            Some(Route::Remapped(path)) => after.extend(remap_flags(&unit.name, path)),
            Some(Route::TemporaryFile(path)) => {
                replace_input(&mut line.arguments, unit.index, path);
                let here = unit.is_here && prefix_map == Some(FILE_MAP);
                let searched = match here {
                    true => searched_here(path),
                    false => searched_first(unit).to_vec(),
                };
                if !line.has(Meaning::NoCurrentDirectory) && !before.ends_with(&searched) {
                    before.extend(searched);
                }
                after.extend(maps(&line, unit, path));
                after.extend(here.then(|| [FILE_MAP, HERE, "/="].concat().into()));
            }
        }
    }
    before.extend(line.without_end_of_flags().words());
    before.extend(after);
    before
}

/// Makes the compiler search the source's directory right after that of the temporary file. The
/// temporary directory holds nothing else, so in effect the source's directory is searched
/// first. In Fortran the directory is also searched for `include` lines and modules.
pub(crate) fn searched_first(unit: &Unit) -> [OsString; 2] {
    let flag = match unit.language {
        openmp::Language::Fortran => "-I",
        openmp::Language::C | openmp::Language::Cxx => "-iquote",
    };
    [flag.into(), unit.directory().as_os_str().to_owned()]
}

/// Makes the compiler search the current directory first, under the name [`HERE`]. The compiler
/// drops the last `-iquote` directory if the next directory in its search is the same one. So
/// the last one must be the temporary directory.
fn searched_here(temporary: &Path) -> Vec<OsString> {
    let [own, last] = [Path::new(HERE), names::directory(temporary)];
    let words = [own, last].map(|path| ["-iquote".into(), path.as_os_str().to_owned()]);
    words.into_iter().flatten().collect()
}

fn replace_input(arguments: &mut [Argument], index: usize, path: &Path) {
    if let Some(argument) = arguments.get_mut(index) {
        argument.words = vec![path.as_os_str().to_owned()];
    }
}

pub(crate) fn remap_flags(name: &OsStr, path: &Path) -> Vec<OsString> {
    let mut pair = OsString::from(name);
    pair.push(";");
    pair.push(path);
    vec![
        "-Xclang".into(),
        "-remap-file".into(),
        "-Xclang".into(),
        pair,
    ]
}

/// Maps the temporary file's name to the user's in debug information and in `__BASE_FILE__`,
/// which don't follow `#line`. The compiler maps a name only once, so the user's own maps are
/// applied here. The maps for debug information and for macros may differ.
fn mapped(flag: &str, line: &CommandLine, unit: &Unit, path: &Path) -> Vec<OsString> {
    let word = |flag: &str, kind| {
        let maps = line.prefix_maps(&[PrefixMap::All, kind]);
        let name = maps.mapped(unit.name.as_bytes());
        let parts = [flag.as_bytes(), path.as_os_str().as_bytes(), b"=", &name];
        OsStr::from_bytes(&parts.concat()).to_owned()
    };
    let mut words = vec![word(flag, PrefixMap::Debug)];
    if flag == FILE_MAP && line.has(Meaning::PrefixMap(PrefixMap::Macro)) {
        words.push(word(MACRO_MAP, PrefixMap::Macro));
    }
    words
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::wrapper::command::classify::classified;

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
}
