//! A command line as typed arguments, in the user's order. Arguments that no row of the flag
//! tables knows are kept as they are.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use crate::names::PrefixMaps;
use crate::openmp::Language;
use crate::wrapper::command::response;
use crate::wrapper::compilers::flags::{Meaning, PrefixMap, Row, Shape};
use crate::wrapper::compilers::{Compiler, Driver};

/// The kind of an input file, as far as the wrapper treats kinds differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InputKind {
    /// Source in a language that the instrumenter reads.
    Measured(Language),
    /// A header: it is compiled to a precompiled header, never to a program.
    Header,
    /// Source in another language.
    OtherSource,
    /// An object, a library, a linker script: anything for the linker.
    Linked,
}

const C: InputKind = InputKind::Measured(Language::C);
const CXX: InputKind = InputKind::Measured(Language::Cxx);

const FORTRAN: InputKind = InputKind::Measured(Language::Fortran);

/// Kinds by the value of `-x`; any other value is another language.
static KINDS: &[(&str, InputKind)] = &[
    ("c", C),
    ("c++", CXX),
    ("f77", FORTRAN),
    ("f77-cpp-input", FORTRAN),
    ("f95", FORTRAN),
    ("f95-cpp-input", FORTRAN),
    ("c-header", InputKind::Header),
    ("c++-header", InputKind::Header),
    ("c++-system-header", InputKind::Header),
    ("c++-user-header", InputKind::Header),
];

/// Kinds by extension, for drivers that take `.c` for C. Files with any other extension go
/// to the linker, as with the compilers.
static EXTENSIONS: &[(&[&str], InputKind)] = &[
    (&["c"], C),
    (&["cc", "cp", "cxx", "cpp", "CPP", "c++", "C"], CXX),
    (
        &["h", "hh", "hp", "hpp", "hxx", "h++", "H", "HPP", "tcc"],
        InputKind::Header,
    ),
    (
        &[
            "f", "for", "ftn", "f77", "f90", "f95", "f03", "f08", "F", "FOR", "FTN", "F77", "F90",
            "F95", "F03", "F08", "fpp", "FPP",
        ],
        FORTRAN,
    ),
    (
        &[
            "i", "ii", "m", "mi", "mm", "M", "mii", "s", "S", "sx", "cu", "d", "go", "adb", "ads",
            "bc", "ll", "cl", "cppm",
        ],
        InputKind::OtherSource,
    ),
];

/// One argument: a flag with its value, or an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Argument {
    /// The words as they were given.
    pub(crate) words: Vec<OsString>,
    pub(crate) role: Role,
}

/// The role of an argument in the command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// An input file, or `-` for standard input.
    Input(InputKind),
    /// A flag that a row knows, with its value if it has one.
    Known(Meaning, OsString),
    /// A flag that no row knows.
    Unknown,
    /// `--`: all following arguments are inputs.
    EndOfFlags,
}

impl Argument {
    pub(crate) fn is_source(&self) -> bool {
        matches!(
            self.role,
            Role::Input(InputKind::Measured(_) | InputKind::Header | InputKind::OtherSource)
        )
    }

    pub(crate) fn is_of_dependencies(&self) -> bool {
        matches!(self.role, Role::Known(meaning, _) if meaning.is_of_dependencies())
    }

    /// `-x`.
    pub(crate) fn is_language(&self) -> bool {
        matches!(self.role, Role::Known(Meaning::Language, _))
    }

    /// The name of the input, or the flag itself: the argument's first word.
    pub(crate) fn name(&self) -> &OsStr {
        self.words
            .first()
            .map_or(OsStr::new(""), OsString::as_os_str)
    }

    /// Whether its first word begins with one of these.
    pub(crate) fn begins_with(&self, flags: &[&str]) -> bool {
        let word = self.name().as_bytes();
        flags.iter().any(|flag| word.starts_with(flag.as_bytes()))
    }

    /// Takes the argument out of the command. Its place stays, since sources are identified by
    /// their place.
    pub(crate) fn clear(&mut self) {
        *self = Self {
            words: Vec::new(),
            role: Role::Unknown,
        };
    }
}

/// The stage after which the compiler stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// Preprocessing or checking: nothing that could be measured is made.
    Preprocess,
    /// Assembly text.
    Compile,
    /// Objects.
    Assemble,
    /// A linked program or library.
    Link,
}

/// A classified command line.
#[derive(Clone, Debug)]
pub(crate) struct CommandLine {
    pub(crate) arguments: Vec<Argument>,
    /// Whether some of the words came from a response file.
    pub(crate) from_response_file: bool,
}

impl CommandLine {
    /// Classifies the words after the compiler's name.
    pub(crate) fn classify(compiler: &Compiler, words: &[OsString]) -> Self {
        let (words, from_response_file) = response::expand(words);
        let mut classifier = Classifier {
            compiler,
            language_of_x: None,
            only_inputs: false,
        };
        let mut arguments = Vec::with_capacity(words.len());
        let mut rest = words.into_iter();
        while let Some(word) = rest.next() {
            arguments.push(classifier.argument(word, &mut rest));
        }
        Self {
            arguments,
            from_response_file,
        }
    }

    /// The meanings and values of the known flags, in order.
    pub(crate) fn flags(&self) -> impl DoubleEndedIterator<Item = (Meaning, &OsStr)> {
        self.arguments
            .iter()
            .filter_map(|argument| match &argument.role {
                Role::Known(meaning, value) => Some((*meaning, value.as_os_str())),
                _ => None,
            })
    }

    pub(crate) fn has(&self, wanted: Meaning) -> bool {
        self.flags().any(|(meaning, _)| meaning == wanted)
    }

    /// The values of all flags with this meaning.
    pub(crate) fn values(&self, wanted: Meaning) -> impl DoubleEndedIterator<Item = &OsStr> {
        self.flags()
            .filter(move |(meaning, _)| *meaning == wanted)
            .map(|(_, value)| value)
    }

    pub(crate) fn sources(&self) -> impl Iterator<Item = &Argument> {
        self.arguments
            .iter()
            .filter(|argument| argument.is_source())
    }

    pub(crate) fn has_inputs(&self) -> bool {
        self.arguments
            .iter()
            .any(|a| matches!(a.role, Role::Input(_) | Role::Known(Meaning::Library, _)))
    }

    pub(crate) fn stage(&self) -> Stage {
        let stages = self.flags().map(|(meaning, _)| match meaning {
            Meaning::StopsBeforeCompiling | Meaning::Query => Stage::Preprocess,
            Meaning::StopsAtCompiling => Stage::Compile,
            Meaning::StopsAtAssembling => Stage::Assemble,
            _ => Stage::Link,
        });
        stages.min().unwrap_or(Stage::Link)
    }

    /// The last flag about OpenMP wins.
    pub(crate) fn openmp(&self) -> bool {
        let mut switches = self
            .flags()
            .rev()
            .filter_map(|(meaning, value)| match meaning {
                Meaning::OpenMp(on) => Some(on),
                // The spelling for Apple's Clang: `-Xclang -fopenmp`.
                Meaning::FrontEnd if value == "-fopenmp" => Some(true),
                _ => None,
            });
        switches.next().unwrap_or(false)
    }

    /// The maps of file names, of these kinds.
    pub(crate) fn prefix_maps(&self, kinds: &[PrefixMap]) -> PrefixMaps {
        PrefixMaps::new(self.flags().filter_map(|(meaning, value)| match meaning {
            Meaning::PrefixMap(kind) if kinds.contains(&kind) => Some(value),
            _ => None,
        }))
    }

    pub(crate) fn output(&self) -> Option<&OsStr> {
        self.values(Meaning::Output).next_back()
    }

    /// The words for the linker: those in `-Wl,a,b`, `-Xlinker a` and `-z a`.
    pub(crate) fn linker_words(&self) -> Vec<&[u8]> {
        self.values(Meaning::Linker)
            .flat_map(|v| v.as_bytes().split(|b| *b == b','))
            .collect()
    }

    /// The words of the command, as the compiler sees them.
    pub(crate) fn words(&self) -> Vec<OsString> {
        self.words_of(|_| true)
    }

    /// The words of some of the arguments.
    pub(crate) fn words_of(&self, is_meant: impl Fn(&Argument) -> bool) -> Vec<OsString> {
        let arguments = self.arguments.iter();
        let meant = arguments.filter(|argument| is_meant(argument));
        meant.flat_map(|of| of.words.iter().cloned()).collect()
    }

    /// The command for one of the sources, up to the object: without other inputs, flags of the
    /// linker, outputs, and flags for the stage.
    pub(crate) fn only_source(&self, index: usize) -> Self {
        let mut line = self.clone();
        for (at, argument) in line.arguments.iter_mut().enumerate() {
            let dropped = match argument.role {
                Role::Input(_) => at != index,
                Role::Known(meaning, _) => meaning.is_of_whole_command(),
                Role::Unknown | Role::EndOfFlags => false,
            };
            if dropped {
                argument.clear();
            }
        }
        line
    }

    /// The same command without flags for dependency files, and without `--`.
    pub(crate) fn without_dependencies(self) -> Self {
        let mut line = self.without_end_of_flags();
        for argument in &mut line.arguments {
            if argument.is_of_dependencies() {
                argument.clear();
            }
        }
        line
    }

    /// Takes out the flags with this meaning.
    pub(crate) fn clear_all(&mut self, unwanted: Meaning) {
        for argument in &mut self.arguments {
            if matches!(argument.role, Role::Known(meaning, _) if meaning == unwanted) {
                argument.clear();
            }
        }
    }

    /// Adds a flag at the end.
    pub(crate) fn push(&mut self, meaning: Meaning, words: Vec<OsString>) {
        let value = words.last().cloned().unwrap_or_default();
        self.arguments.push(Argument {
            words,
            role: Role::Known(meaning, value),
        });
    }

    pub(crate) fn has_end_of_flags(&self) -> bool {
        self.arguments
            .iter()
            .any(|argument| argument.role == Role::EndOfFlags)
    }

    /// The same command without `--`, so that flags can be added at its end.
    pub(crate) fn without_end_of_flags(mut self) -> Self {
        for argument in &mut self.arguments {
            if argument.role == Role::EndOfFlags {
                argument.clear();
            }
        }
        self
    }
}

/// The state that is kept from one word to the next.
struct Classifier<'a> {
    compiler: &'a Compiler,
    /// The kind that the last `-x` names.
    language_of_x: Option<InputKind>,
    only_inputs: bool,
}

impl Classifier<'_> {
    fn argument(&mut self, word: OsString, rest: &mut impl Iterator<Item = OsString>) -> Argument {
        let bytes = word.as_bytes();
        if self.only_inputs || bytes == b"-" || !bytes.starts_with(b"-") {
            return self.input(word);
        }
        if bytes == b"--" {
            self.only_inputs = true;
            return Argument {
                words: vec![word],
                role: Role::EndOfFlags,
            };
        }
        match self.compiler.family.flags.find(bytes) {
            Some(row) => self.flag(row, word, rest),
            None => Argument {
                words: vec![word],
                role: Role::Unknown,
            },
        }
    }

    fn flag(
        &mut self,
        row: &Row,
        word: OsString,
        rest: &mut impl Iterator<Item = OsString>,
    ) -> Argument {
        let joined = word.as_bytes()[row.spelling.len()..].to_vec();
        let separate = match row.shape {
            Shape::Separate => true,
            Shape::JoinedOrSeparate => joined.is_empty(),
            Shape::Flag | Shape::Joined => false,
        };
        // The compiler will complain about a missing value.
        let next = if separate { rest.next() } else { None };
        let value = next.clone().unwrap_or_else(|| OsString::from_vec(joined));
        if row.meaning == Meaning::Language {
            self.language_of_x = kind_named(&value);
        }
        let words = std::iter::once(word).chain(next).collect();
        Argument {
            words,
            role: Role::Known(row.meaning, value),
        }
    }

    fn input(&self, word: OsString) -> Argument {
        let kind = self
            .language_of_x
            .unwrap_or_else(|| self.by_extension(&word));
        // After `--`, an input may look like a flag. The `--` is taken away later, so the name
        // must no longer look like one.
        let word = if self.only_inputs && word.as_bytes().starts_with(b"-") {
            OsString::from_vec([b"./", word.as_bytes()].concat())
        } else {
            word
        };
        Argument {
            words: vec![word],
            role: Role::Input(kind),
        }
    }

    fn by_extension(&self, word: &OsStr) -> InputKind {
        let Some(extension) = extension(word.as_bytes()) else {
            return InputKind::Linked;
        };
        let row = EXTENSIONS
            .iter()
            .find(|(all, _)| all.iter().any(|e| e.as_bytes() == extension));
        match row.map_or(InputKind::Linked, |(_, kind)| *kind) {
            C if self.compiler.driver == Driver::Cxx => CXX,
            kind => kind,
        }
    }
}

/// The kind that a `-x` sets. `None` for `-x none`: extensions count again.
fn kind_named(value: &OsStr) -> Option<InputKind> {
    if value == "none" {
        return None;
    }
    let row = KINDS.iter().find(|(name, _)| value == *name);
    Some(row.map_or(InputKind::OtherSource, |(_, kind)| *kind))
}

/// The text after the last dot of a file's base name.
fn extension(name: &[u8]) -> Option<&[u8]> {
    let base = name.rsplit(|byte| *byte == b'/').next()?;
    let dot = base.iter().rposition(|byte| *byte == b'.')?;
    base.get(dot + 1..)
}

/// For tests: classifies the words of `text` for an arbitrary compiler.
#[cfg(test)]
pub(crate) fn classified(text: &str) -> CommandLine {
    let words: Vec<OsString> = text.split(' ').map(Into::into).collect();
    CommandLine::classify(&Compiler::named("some-compiler"), &words)
}

#[cfg(test)]
#[path = "classify_tests.rs"]
mod tests;
