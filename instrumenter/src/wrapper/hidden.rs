//! Whether a source has something to measure that only the preprocessor shows:
//! made by macros, or standing in headers of the user's.
//!
//! Headers are looked up as the compiler would, in the directories that the
//! command names. The system's own are not looked at: nothing is measured in
//! them. Conditionals are evaluated only where something is found, and only as far as
//! macros are known to be absent: more may be read than is included, which costs time
//! and no more.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use super::absent;
use super::classify::{Argument, CommandLine, Role};
use super::compilers::Compiler;
use super::flags::Meaning;
use super::fortran_text;
use super::headers::environment_directories;
use super::unit::Unit;
use crate::find::Hidden;
use crate::find::c::conditions::without_dead;
use crate::find::c::governed;
use crate::find::c::scan::{self, Include, Mentions};
use crate::openmp::Language;
use crate::source::Absent;

/// More headers than this are not worth the time: preprocessing is cheaper.
const MOST_FILES: usize = 1_000;

/// Where the compilers look by themselves, and take `-I` for a repetition.
const SYSTEM: &[&str] = &["/usr/include", "/usr/local/include"];

/// A file of the user's.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    file: PathBuf,
    pub(crate) language: Language,
    pub(crate) text: Vec<u8>,
}

impl Text {
    fn place(&self, hidden: &Hidden) -> String {
        hidden.in_file(&self.file.to_string_lossy(), &self.text)
    }
}

/// What the preprocessor would show, in words.
pub(crate) fn reason(compiler: &Compiler, line: &CommandLine, unit: &Unit) -> Option<String> {
    if unit.language == Language::Fortran {
        return fortran_text::hidden(line, unit);
    }
    let mut search = Search::new(line, unit);
    let Some(texts) = search.texts(unit) else {
        return Some("it includes a great many headers".into());
    };
    if search.computed {
        return Some("a macro names an included file".into());
    }
    let absent = OnceCell::new();
    let absent = || absent.get_or_init(|| absent::macros(compiler, line, &search, &texts));
    // Braces are of no interest to a source without constructs.
    let has_constructs = unit.text != unit.original;
    let mut hiding = BTreeMap::new();
    for (number, text) in texts.iter().enumerate() {
        let look = |content: &[u8]| match number {
            0 => Findings::in_source(text, content),
            _ => Findings::in_header(text, content, has_constructs),
        };
        let mut found = look(&text.text);
        if found.is_something() && !absent().is_empty() {
            found = look(&without_dead(&text.text, text.language, absent()));
        }
        if found.why.is_some() {
            return found.why;
        }
        hiding.extend(found.hiding);
    }
    let mentions = |text: &Text, hiding: &BTreeMap<String, String>| {
        let found = scan::mentions(&text.text, hiding);
        match found == Mentions::default() || absent().is_empty() {
            true => found,
            false => scan::mentions(&without_dead(&text.text, text.language, absent()), hiding),
        }
    };
    used(line, &texts, hiding, mentions)
}

/// The macros that decide conditionals in a source and its headers and are known to be
/// absent.
pub(crate) fn absent(compiler: &Compiler, line: &CommandLine, unit: &Unit) -> Absent {
    let mut search = Search::new(line, unit);
    let texts = search.texts(unit).unwrap_or_default();
    absent::macros(compiler, line, &search, &texts)
}

/// What is found in a file.
struct Findings {
    /// What its code keeps from who does not read it.
    why: Option<String>,
    /// Macros that hide something, and what.
    hiding: Vec<(String, String)>,
}

impl Findings {
    fn in_source(text: &Text, content: &[u8]) -> Self {
        let named = |(name, hidden): (String, Hidden)| (name, text.place(&hidden));
        let hiding = scan::names_that_hide(content).into_iter();
        Self {
            why: None,
            hiding: hiding.map(named).collect(),
        }
    }

    fn in_header(text: &Text, content: &[u8], has_constructs: bool) -> Self {
        let brace = || scan::hidden_brace(content).filter(|_| has_constructs);
        let why = scan::hidden_in_header(content, text.language).or_else(brace);
        Self {
            why: why.map(|hidden| text.place(&hidden)),
            ..Self::in_source(text, content)
        }
    }

    fn is_something(&self) -> bool {
        self.why.is_some() || !self.hiding.is_empty()
    }
}

/// Why one of the macros that hide something matters: code names it, or a macro that
/// names it. A header for all sources of a project often has macros that few use.
fn used(
    line: &CommandLine,
    texts: &[Text],
    mut hiding: BTreeMap<String, String>,
    mentions: impl Fn(&Text, &BTreeMap<String, String>) -> Mentions,
) -> Option<String> {
    let first = hiding.values().next()?.clone();
    let mut known = 0;
    while known < hiding.len() {
        known = hiding.len();
        for text in texts {
            let found = mentions(text, &hiding);
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

/// Whether a word of the command may define a macro that names another: too rare to look
/// closer.
fn defines(word: &str, name: &str) -> bool {
    let value = word.split_once('=').map(|(_, value)| value);
    value.is_some_and(|value| value.contains(name))
}

/// Whether compilers may warn of what conditions and loops without braces govern, in
/// the source or in a header of the user's, and whether by what its macros make, if
/// that matters.
pub(crate) fn governs_oddly(line: &CommandLine, unit: &Unit, by_macros: bool) -> bool {
    let mut search = Search::new(line, unit);
    let headers = std::iter::from_fn(|| search.next_header().map(|(_, text)| text));
    let texts: Vec<Vec<u8>> = std::iter::once(unit.original.clone())
        .chain(headers.take(MOST_FILES))
        .collect();
    search.computed
        || texts.iter().any(|text| governed::may_mislead(text))
        || (by_macros && governs_statements(&texts))
}

/// Whether a condition or a loop may govern a macro that makes several statements.
fn governs_statements(texts: &[Vec<u8>]) -> bool {
    let of_file = |text: &Vec<u8>| governed::statement_macros(text);
    let mut names: HashSet<String> = texts.iter().flat_map(of_file).collect();
    let mut known = 0;
    while known < names.len() {
        known = names.len();
        for text in texts {
            let uses = governed::uses(text, &names);
            if uses.governed {
                return true;
            }
            names.extend(uses.aliases);
        }
    }
    false
}

/// Headers that were found and those still to be read.
pub(crate) struct Search {
    /// Searched for `"name"` only.
    quoted: Vec<PathBuf>,
    /// Searched for both.
    angled: Vec<PathBuf>,
    known: HashSet<PathBuf>,
    pending: Vec<PathBuf>,
    /// Whether a macro names an included file.
    pub(crate) computed: bool,
    /// The names of included files that are none of the user's.
    pub(crate) elsewhere: BTreeSet<String>,
}

impl Search {
    /// The directories that the command names for included files of all kinds.
    pub(crate) fn directories(line: &CommandLine) -> Vec<PathBuf> {
        Self::empty(line).angled
    }

    /// Begins with what the command and the source include.
    pub(crate) fn new(line: &CommandLine, unit: &Unit) -> Self {
        let mut search = Self::empty(line);
        for name in line.values(Meaning::ForcedInclude) {
            search.queue_quoted(Path::new("."), &name.to_string_lossy());
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
            pending: Vec::new(),
            computed: false,
            elsewhere: BTreeSet::new(),
        }
    }

    /// A source and its headers; none if there are too many.
    fn texts(&mut self, unit: &Unit) -> Option<Vec<Text>> {
        let of = |file: PathBuf, text| Text {
            file,
            language: unit.language,
            text,
        };
        let mut texts = vec![of(PathBuf::from(&unit.name), unit.original.clone())];
        while let Some((file, text)) = self.next_header() {
            if self.known.len() > MOST_FILES {
                return None;
            }
            texts.push(of(file, text));
        }
        Some(texts)
    }

    /// The next header that can be read; what it includes follows later.
    pub(crate) fn next_header(&mut self) -> Option<(PathBuf, Vec<u8>)> {
        loop {
            let file = self.pending.pop()?;
            if let Ok(text) = std::fs::read(&file) {
                self.queue_included(super::unit::directory(file.as_os_str()), &text);
                return Some((file, text));
            }
        }
    }

    /// Notes what a text in `directory` includes.
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
            Some(file) if self.known.insert(in_its_directory(&file)) => self.pending.push(file),
            Some(_) => {}
            None => drop(self.elsewhere.insert(name.to_owned())),
        }
    }
}

/// A file by its directory's real name: headers that include each other as
/// `"../include/a.h"` would lead to ever longer names of the same files.
fn in_its_directory(file: &Path) -> PathBuf {
    let directory = super::unit::directory(file.as_os_str()).canonicalize();
    match (directory, file.file_name()) {
        (Ok(directory), Some(name)) => directory.join(name),
        _ => file.to_owned(),
    }
}

pub(crate) fn first_file(mut places: impl Iterator<Item = PathBuf>, name: &str) -> Option<PathBuf> {
    places.find_map(|place| Some(place.join(name)).filter(|file| file.is_file()))
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
    use super::super::classify::classified;
    use super::*;

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
