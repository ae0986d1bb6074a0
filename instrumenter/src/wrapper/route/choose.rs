//! Chooses the route of a source: whether it has constructs that only the preprocessor shows,
//! because macros make them or because they are in the user's headers.
//!
//! Headers are found as the compiler finds them, in the directories that the command names.
//! System headers are not read: nothing in them is measured. Conditionals are evaluated only
//! around the constructs that were found, and only with macros that are known to be undefined.
//! So more files may be read than the compiler includes. That costs time, and nothing else.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::find::Hidden;
use crate::find::c::file::{File, IsUndefined};
use crate::find::c::scan::{self, Include};
use crate::names;
use crate::openmp::Language;
use crate::source::UndefinedMacros;
use crate::wrapper::command::classify::{Argument, CommandLine, Role};
use crate::wrapper::command::flags::Meaning;
use crate::wrapper::compilers::Compiler;
use crate::wrapper::route::fortran_text;
use crate::wrapper::route::headers::environment_directories;
use crate::wrapper::route::undefined_macros::Macros;
use crate::wrapper::unit::Unit;

/// The largest number of headers that are read. With more of them, preprocessing is cheaper.
const MOST_FILES: usize = 1_000;

/// Directories that compilers search without being told to. The compilers ignore an `-I` of one
/// of them.
const SYSTEM: &[&str] = &["/usr/include", "/usr/local/include"];

/// How much the preprocessor has to do so that everything a source hides is visible.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Needs {
    /// Put the text of included files in place.
    Includes,
    /// Do that, and expand macros.
    #[default]
    Expansion,
}

/// Why a source has to be preprocessed.
#[derive(Clone, Debug)]
pub(crate) struct Reason {
    pub(crate) needs: Needs,
    /// The reason in words.
    pub(crate) why: String,
}

impl Reason {
    /// A reason for expanding macros.
    pub(crate) fn expansion(why: impl Into<String>) -> Self {
        Self {
            needs: Needs::Expansion,
            why: why.into(),
        }
    }
}

/// Returns why the source has to be preprocessed, if it has to.
pub(crate) fn reason(compiler: &Compiler, line: &CommandLine, unit: &Unit) -> Option<Reason> {
    if unit.language == Language::Fortran {
        return fortran_text::hidden(line, unit).map(Reason::expansion);
    }
    let headers = unit.headers(line);
    if headers.too_many {
        return Some(Reason::expansion("it includes a great many headers"));
    }
    if headers.computed {
        return Some(Reason::expansion("a macro names an included file"));
    }
    let macros = Macros::new(compiler, line, headers);
    let is_undefined = |name: &str| macros.is_undefined(name);
    // A brace hidden by a macro matters only if the source has constructs.
    let has_constructs = unit.text != unit.original;
    let mut hiding = BTreeMap::new();
    let mut in_header = None;
    for (number, (path, file)) in headers.files.iter().enumerate() {
        let placed = |hidden: Hidden| hidden.in_file(&path.to_string_lossy(), file.text());
        if number > 0 {
            let brace = || scan::hidden_brace(file, &is_undefined).map(placed);
            if let Some(why) = has_constructs.then(brace).flatten() {
                return Some(Reason::expansion(why));
            }
            let why = || scan::hidden_in_header(file, &is_undefined).map(placed);
            in_header = in_header.or_else(why);
        }
        let names = scan::names_that_hide(file, &is_undefined).into_iter();
        hiding.extend(names.map(|(name, hidden)| (name, placed(hidden))));
    }
    let by_macro = used(line, headers, hiding, &is_undefined).map(Reason::expansion);
    by_macro.or(in_header.map(|why| Reason {
        needs: Needs::Includes,
        why,
    }))
}

/// The macros that decide conditionals in a source and are known to be undefined.
pub(crate) fn undefined_macros(
    compiler: &Compiler,
    line: &CommandLine,
    unit: &Unit,
) -> UndefinedMacros {
    Macros::new(compiler, line, unit.headers(line)).undefined_in(&unit.original)
}

/// Returns why one of the macros that hide something matters: code uses the macro, or uses
/// another macro whose definition names it. A header for all sources of a project often has
/// macros that few sources use.
fn used(
    line: &CommandLine,
    headers: &Headers,
    mut hiding: BTreeMap<String, String>,
    is_undefined: IsUndefined<'_>,
) -> Option<String> {
    let first = hiding.values().next()?.clone();
    let mut known = 0;
    while known < hiding.len() {
        known = hiding.len();
        for file in headers.files() {
            let found = scan::mentions(file, &hiding, is_undefined);
            if let Some(name) = found.in_code {
                return hiding.remove(&name);
            }
            for (alias, name) in found.aliases {
                let why = name.and_then(|name| hiding.get(&name)).unwrap_or(&first);
                let why = why.clone();
                hiding.entry(alias).or_insert(why);
            }
        }
    }
    let words = line.words();
    let mut words = words.iter().map(|word| word.to_string_lossy());
    words
        .any(|word| hiding.keys().any(|name| defines(&word, name)))
        .then_some(first)
}

/// Whether a word of the command may define a macro whose value names another macro. This is
/// rare, so a rough test is enough.
fn defines(word: &str, name: &str) -> bool {
    let value = word.split_once('=').map(|(_, value)| value);
    value.is_some_and(|value| value.contains(name))
}

/// A source and the headers that it may include.
#[derive(Clone, Debug)]
pub(crate) struct Headers {
    pub(crate) language: Language,
    /// The source is the first of them.
    files: Vec<(PathBuf, File)>,
    /// Whether there are more headers than [`MOST_FILES`].
    too_many: bool,
    /// Whether a macro names an included file.
    pub(crate) computed: bool,
    /// The names of included files that are not among the user's files.
    pub(crate) elsewhere: BTreeSet<String>,
}

impl Headers {
    /// Reads the source's headers.
    pub(crate) fn of(line: &CommandLine, unit: &Unit) -> Self {
        let mut search = Search::new(line, unit);
        let source = (PathBuf::from(&unit.name), unit.original.clone());
        let headers = std::iter::from_fn(|| search.next_header());
        let texts = std::iter::once(source).chain(headers.take(MOST_FILES + 1));
        let files = texts.map(|(path, text)| (path, File::new(unit.language, text)));
        let files: Vec<_> = files.collect();
        Self {
            language: unit.language,
            too_many: files.len() > MOST_FILES,
            files,
            computed: search.computed,
            elsewhere: search.elsewhere,
        }
    }

    /// The source and all headers that it may include.
    pub(crate) fn files(&self) -> impl Iterator<Item = &File> {
        self.files.iter().map(|(_, file)| file)
    }
}

/// Headers that were found and those still to be read.
pub(crate) struct Search {
    /// Directories searched for `"name"` only.
    quoted: Vec<PathBuf>,
    /// Directories searched for both `"name"` and `<name>`.
    angled: Vec<PathBuf>,
    known: HashSet<PathBuf>,
    /// The real names of directories, by the names in use.
    real: HashMap<PathBuf, PathBuf>,
    pending: Vec<PathBuf>,
    /// Whether a macro names an included file.
    pub(crate) computed: bool,
    /// The names of included files that are not among the user's files.
    pub(crate) elsewhere: BTreeSet<String>,
}

impl Search {
    /// The directories that the command names with `-I`, and those in `CPATH`.
    pub(crate) fn directories(line: &CommandLine) -> Vec<PathBuf> {
        Self::empty(line).angled
    }

    /// Begins with the files that the command and the source include.
    pub(crate) fn new(line: &CommandLine, unit: &Unit) -> Self {
        let mut search = Self::empty(line);
        for name in line.values(Meaning::ForcedInclude) {
            search.queue_quoted(Path::new("."), &names::text(name.as_bytes()));
        }
        search.queue_included(unit.directory(), &unit.original);
        search
    }

    fn empty(line: &CommandLine) -> Self {
        let directories = |wanted: fn(&Argument) -> bool| {
            let arguments = line.arguments.iter().filter(|argument| wanted(argument));
            let values = arguments.filter_map(|argument| match &argument.role {
                Role::Known(Meaning::IncludeDirectory, value) => Some(PathBuf::from(value)),
                _ => None,
            });
            values
                .filter(|directory| !is_systems(directory))
                .collect::<Vec<_>>()
        };
        let angled = directories(|argument| {
            spelled(argument, "-I") || spelled(argument, "--include-directory")
        });
        Self {
            quoted: directories(|argument| spelled(argument, "-iquote")),
            angled: angled
                .into_iter()
                .chain(environment_directories(&["CPATH"]))
                .filter(|directory| !is_systems(directory))
                .collect(),
            known: HashSet::new(),
            real: HashMap::new(),
            pending: Vec::new(),
            computed: false,
            elsewhere: BTreeSet::new(),
        }
    }

    /// Returns the next header that can be read, and queues the files that it includes.
    pub(crate) fn next_header(&mut self) -> Option<(PathBuf, Vec<u8>)> {
        loop {
            let file = self.pending.pop()?;
            if let Ok(text) = std::fs::read(&file) {
                self.queue_included(crate::wrapper::unit::directory(file.as_os_str()), &text);
                return Some((file, text));
            }
        }
    }

    /// Queues the files that a text in `directory` includes.
    fn queue_included(&mut self, directory: &Path, text: &[u8]) {
        for include in scan::includes(text) {
            match include {
                Include::Quoted(name) => self.queue_quoted(directory, &name),
                Include::Angled(name) => self.queue_angled(&name),
                Include::Computed => self.computed = true,
            }
        }
    }

    fn queue_quoted(&mut self, directory: &Path, name: &str) {
        let own = std::iter::once(directory.to_owned());
        let places = own.chain(self.quoted.iter().chain(&self.angled).cloned());
        let found = first_file(places, name);
        self.queue(found, name);
    }

    fn queue_angled(&mut self, name: &str) {
        let found = first_file(self.angled.iter().cloned(), name);
        self.queue(found, name);
    }

    fn queue(&mut self, found: Option<PathBuf>, name: &str) {
        match found {
            Some(file) => {
                let real = self.in_its_directory(&file);
                if self.known.insert(real) {
                    self.pending.push(file);
                }
            }
            None => drop(self.elsewhere.insert(name.to_owned())),
        }
    }

    /// Returns the name of a file with its directory's real name. Otherwise headers that
    /// include each other as `"../include/a.h"` would give ever longer names to the same files.
    fn in_its_directory(&mut self, file: &Path) -> PathBuf {
        let directory = crate::wrapper::unit::directory(file.as_os_str());
        let name = file.file_name().unwrap_or_default();
        if let Some(real) = self.real.get(directory) {
            return real.join(name);
        }
        let real = directory.canonicalize();
        let real = real.unwrap_or_else(|_| directory.to_owned());
        self.real.insert(directory.to_owned(), real.clone());
        real.join(name)
    }
}

pub(crate) fn first_file(mut places: impl Iterator<Item = PathBuf>, name: &str) -> Option<PathBuf> {
    places.find_map(|place| Some(names::joined(&place, name)).filter(|file| file.is_file()))
}

fn spelled(argument: &Argument, flag: &str) -> bool {
    let word = argument.name().to_string_lossy();
    word.starts_with(flag)
}

fn is_systems(directory: &Path) -> bool {
    let real = directory.canonicalize();
    real.is_ok_and(|real| SYSTEM.iter().any(|system| real == Path::new(system)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wrapper::command::classify::classified;

    #[test]
    fn headers_are_looked_up_as_the_compiler_does() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let constructs = "#pragma omp parallel\n{ }\n";
        write("src/a.c", "");
        write("src/near.h", "#include \"deep.h\"\n");
        write(
            "src/one.h",
            "#include \"../src/other.h\"\n#include \"./other.h\"\n",
        );
        write("src/other.h", "#include \"../src/one.h\"\n");
        write("quoted/deep.h", constructs);
        write("system/deep.h", constructs);
        let name = dir.path().join("src/a.c").display().to_string();
        let found = |flags: &str, text: &str| {
            let flags = flags.replace('@', dir.path().to_str().unwrap());
            let line = classified(&format!("{flags} -c {name}"));
            let unit = Unit::for_tests(&name, text);
            reason(&Compiler::named("gcc"), &line, &unit).is_some()
        };
        assert!(!found("-O2", "#include \"near.h\"\n"));
        assert!(!found("-O2", "#include \"one.h\"\n"));
        assert!(found("-iquote @/quoted", "#include \"near.h\"\n"));
        assert!(!found("-iquote @/quoted", "#include <deep.h>\n"));
        assert!(found("-I@/quoted", "#include <deep.h>\n"));
        assert!(!found("-isystem @/system", "#include <deep.h>\n"));
        assert!(found("-O2", "#include HEADER\n"));
        assert!(found("-O2", "#define P(x) _Pragma(#x)\nP(omp barrier)\n"));
        assert!(!found("-O2", "#define P(x) _Pragma(#x)\n"));
    }
}
