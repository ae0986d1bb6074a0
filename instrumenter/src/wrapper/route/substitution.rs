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
use crate::names::{self, PrefixMaps};
use crate::openmp;
use crate::wrapper::command::classify::{Argument, CommandLine};
use crate::wrapper::command::flags::{Meaning, PrefixMap};
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
        let maps = prefix_maps(line, &[PrefixMap::All, kind]);
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

/// The command's maps of these kinds.
pub(crate) fn prefix_maps(line: &CommandLine, kinds: &[PrefixMap]) -> PrefixMaps {
    PrefixMaps::new(line.flags().filter_map(|(meaning, value)| match meaning {
        Meaning::PrefixMap(kind) if kinds.contains(&kind) => Some(value),
        _ => None,
    }))
}
