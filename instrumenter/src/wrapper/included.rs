//! The headers that a source may include, found as the compiler finds them: in the directories
//! that the command and the environment name.
//!
//! System headers are not read: nothing in them is measured. Conditionals are not evaluated. So
//! more files may be read than the compiler includes. That costs time, and nothing else.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::find::c::file::File;
use crate::find::c::scan::{self, Include};
use crate::names;
use crate::openmp::Language;
use crate::wrapper::command::classify::{Argument, CommandLine, Role};
use crate::wrapper::compilers::flags::Meaning;

/// The largest number of headers that are read. With more of them, preprocessing is cheaper.
const MOST_FILES: usize = 1_000;

/// Directories that compilers search without being told to. The compilers ignore an `-I` of one
/// of them.
pub(crate) const SYSTEM: &[&str] = &["/usr/include", "/usr/local/include"];

/// A source and the headers that it may include.
#[derive(Clone, Debug)]
pub(crate) struct Headers {
    pub(crate) language: Language,
    /// The source is the first of them.
    pub(crate) files: Vec<(PathBuf, File)>,
    /// Whether there are more headers than [`MOST_FILES`].
    pub(crate) too_many: bool,
    /// Whether a macro names an included file.
    pub(crate) computed: bool,
    /// The names of included files that are not among the user's files.
    pub(crate) elsewhere: BTreeSet<String>,
}

impl Headers {
    /// Reads the headers of a source.
    pub(crate) fn of(line: &CommandLine, name: &OsStr, language: Language, text: &[u8]) -> Self {
        let name = PathBuf::from(name);
        let mut search = Search::new(line, names::directory(&name), text);
        let source = (name, text.to_owned());
        let headers = std::iter::from_fn(|| search.next_header());
        let texts = std::iter::once(source).chain(headers.take(MOST_FILES + 1));
        let files = texts.map(|(path, text)| (path, File::new(language, text)));
        let files: Vec<_> = files.collect();
        Self {
            language,
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

    /// Begins with the files that the command and a source's text include.
    pub(crate) fn new(line: &CommandLine, directory: &Path, text: &[u8]) -> Self {
        let mut search = Self::empty(line);
        for name in line.values(Meaning::ForcedInclude) {
            search.queue_quoted(Path::new("."), &names::text(name.as_bytes()));
        }
        search.queue_included(directory, text);
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
        let angled = directories(|argument| argument.begins_with(&["-I", "--include-directory"]));
        Self {
            quoted: directories(|argument| argument.begins_with(&["-iquote"])),
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
                self.queue_included(names::directory(&file), &text);
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
        let directory = names::directory(file);
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

/// The header directories that environment variables name. An empty name means the current
/// directory.
pub(crate) fn environment_directories(variables: &[&str]) -> Vec<PathBuf> {
    let values = variables.iter().filter_map(std::env::var_os);
    let directories = values.filter(|value| !value.is_empty()).flat_map(|value| {
        std::env::split_paths(&value)
            .map(|path| {
                if path.as_os_str().is_empty() {
                    ".".into()
                } else {
                    path
                }
            })
            .collect::<Vec<_>>()
    });
    directories.collect()
}

fn is_systems(directory: &Path) -> bool {
    let real = directory.canonicalize();
    real.is_ok_and(|real| SYSTEM.iter().any(|system| real == Path::new(system)))
}
