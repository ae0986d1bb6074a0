//! One source of the command, instrumented.

use std::cell::OnceCell;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::names;
use crate::openmp::Language;
use crate::source::Layout;
use crate::wrapper::command::classify::{CommandLine, InputKind, Role};
use crate::wrapper::command::layout;
use crate::wrapper::compilers::{Compiler, Substitution};
use crate::wrapper::included::Headers;
use crate::wrapper::scratch::Scratch;

/// The name of a source that is standard input.
const STDIN: &str = "<stdin>";

/// A name of the current directory that no user gives it. The compiler builds header names with
/// it, so these can be told from the user's own names. They are then mapped to the names that
/// headers beside a source of the current directory have.
pub(crate) const HERE: &str = "./.";

/// How the compiler gets the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    StandardInput,
    Remapped(PathBuf),
    TemporaryFile(PathBuf),
    Preprocessed(PathBuf),
}

/// How much the preprocessor has to do so that everything a source hides is visible.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Needs {
    /// Put the text of included files in place.
    Includes,
    /// Do that, and expand macros.
    #[default]
    Expansion,
}

/// The preprocessed text of a source, instrumented.
#[derive(Clone, Debug, Default)]
pub(crate) struct Preprocessed {
    pub(crate) text: Vec<u8>,
    pub(crate) warnings: Vec<String>,
    /// The messages of the preprocessor.
    pub(crate) noise: Vec<u8>,
    /// How much the preprocessor has done.
    pub(crate) needs: Needs,
    /// Where the text is, once it is placed.
    pub(crate) path: Option<PathBuf>,
}

/// A file of ours, and the user's name for it.
#[derive(Clone, Debug)]
pub(crate) struct Renamed {
    pub(crate) from: PathBuf,
    pub(crate) to: Vec<u8>,
}

/// A source and its instrumented text.
#[derive(Clone, Debug)]
pub(crate) struct Unit {
    /// Its place among the command's arguments.
    pub(crate) index: usize,
    /// Its name as given on the command line.
    pub(crate) name: OsString,
    pub(crate) language: Language,
    pub(crate) layout: Layout,
    pub(crate) original: Vec<u8>,
    pub(crate) text: Vec<u8>,
    pub(crate) warnings: Vec<String>,
    /// Whether the instrumenter failed on it.
    pub(crate) defective: bool,
    /// Whether something in it could not be instrumented.
    pub(crate) incomplete: bool,
    /// The first construct in it that is compiled as written, such as `simd`.
    pub(crate) compiled_as_written: Option<String>,
    /// The warning for the case that the text without preprocessing is used.
    pub(crate) missing: Option<String>,
    /// Set for every unit that is instrumented.
    pub(crate) route: Option<Route>,
    /// Set if preprocessed text is preferred to the source as it is.
    pub(crate) preprocessed: Option<Preprocessed>,
    /// Whether the current directory has to be removed from header names. The compiler names
    /// headers without it if the source is in the current directory.
    pub(crate) is_here: bool,
    /// Read when first asked for.
    headers: OnceCell<Headers>,
}

impl Unit {
    /// Reads the source at `index`; its text is not yet instrumented. `None` leaves the source
    /// to the compiler: it can't be read, or its language is not instrumented.
    pub(crate) fn read(line: &CommandLine, index: usize) -> Option<Self> {
        let argument = line.arguments.get(index)?;
        let Role::Input(InputKind::Measured(language)) = argument.role else {
            return None;
        };
        let given = argument.name();
        let (name, original) = if given == "-" {
            (STDIN.into(), read_stdin())
        } else {
            (given.to_owned(), std::fs::read(given).ok()?)
        };
        let layout = layout::of(line, index);
        Some(Self::new(index, name, language, layout, original))
    }

    fn new(
        index: usize,
        name: OsString,
        language: Language,
        layout: Layout,
        original: Vec<u8>,
    ) -> Self {
        Self {
            index,
            name,
            language,
            layout,
            text: original.clone(),
            original,
            warnings: Vec::new(),
            defective: false,
            incomplete: false,
            compiled_as_written: None,
            missing: None,
            route: None,
            preprocessed: None,
            is_here: false,
            headers: OnceCell::new(),
        }
    }

    /// The headers that the source may include.
    pub(crate) fn headers(&self, line: &CommandLine) -> &Headers {
        let read = || Headers::of(line, &self.name, self.language, &self.original);
        self.headers.get_or_init(read)
    }

    pub(crate) fn changed(&self) -> bool {
        self.text != self.original
    }

    /// Whether an instrumented text is compiled.
    pub(crate) fn is_measured(&self) -> bool {
        self.changed() || self.preprocessed.is_some()
    }

    /// Leaves the source as it is: nothing of it is measured, and nothing is missing.
    pub(crate) fn leave(&mut self) {
        self.text.clone_from(&self.original);
        self.warnings.clear();
    }

    pub(crate) fn is_stdin(&self) -> bool {
        self.name == STDIN
    }

    /// The syntax of `-remap-file` ends a name at a semicolon.
    pub(crate) fn can_be_remapped(&self) -> bool {
        !self.name.as_bytes().contains(&b';')
    }

    /// The unit with the text and the route that are compiled.
    pub(crate) fn compiled(&self) -> Self {
        let mut unit = self.clone();
        if let Some(made) = &self.preprocessed {
            unit.text.clone_from(&made.text);
            unit.route = match (made.needs, &made.path) {
                (Needs::Includes, _) if self.is_stdin() => Some(Route::StandardInput),
                (Needs::Includes, Some(path)) => Some(Route::Remapped(path.clone())),
                (Needs::Expansion, Some(path)) => Some(Route::Preprocessed(path.clone())),
                (_, None) => None,
            };
        }
        unit
    }

    /// The source's name as it stands in a text.
    pub(crate) fn text_name(&self) -> String {
        names::text(self.name.as_bytes())
    }

    /// The source's name as shown to people.
    pub(crate) fn shown_name(&self) -> std::borrow::Cow<'_, str> {
        self.name.to_string_lossy()
    }

    /// Puts the text where the compiler will read it.
    pub(crate) fn place(&mut self, compiler: &Compiler, scratch: &Scratch) -> std::io::Result<()> {
        let name = self.preprocessed_name();
        if let Some(made) = &mut self.preprocessed {
            made.path = Some(scratch.write(&name, &made.text)?);
        }
        let route = if self.is_stdin() {
            Route::StandardInput
        } else {
            let name = Path::new(&self.name)
                .file_name()
                .unwrap_or(OsStr::new("source.c"));
            let path = scratch.write(name, &self.text)?;
            match compiler.family.substitution {
                Substitution::RemapFile if self.can_be_remapped() => Route::Remapped(path),
                _ => Route::TemporaryFile(path),
            }
        };
        self.is_here = matches!(route, Route::TemporaryFile(_))
            && compiler.family.shows_file
            && self.language != Language::Fortran
            && !self.name.as_bytes().contains(&b'/');
        self.route = Some(route);
        Ok(())
    }

    /// The name of the preprocessed text. In C and C++ the extension says that the text is
    /// preprocessed. In Fortran the source's own name is kept: its extension gives the source
    /// form, and module files record the name of the file that they were made from.
    fn preprocessed_name(&self) -> OsString {
        let path = Path::new(&self.name);
        let extension = match self.language {
            Language::C => ".i",
            Language::Cxx => ".ii",
            Language::Fortran => return path.file_name().unwrap_or_default().to_owned(),
        };
        let stem = path.file_stem().unwrap_or("source".as_ref());
        let mut name = stem.to_owned();
        name.push(extension);
        name
    }

    /// The directory in which the compiler looks first for quoted headers.
    pub(crate) fn directory(&self) -> &Path {
        names::directory(Path::new(&self.name))
    }

    /// The names to replace in the compiler's output: that of a temporary file, and that of the
    /// current directory.
    pub(crate) fn renamed(&self) -> Vec<Renamed> {
        let Some(Route::TemporaryFile(path)) = &self.route else {
            return Vec::new();
        };
        let here = Renamed {
            from: [HERE, "/"].concat().into(),
            to: Vec::new(),
        };
        let source = Renamed {
            from: path.clone(),
            to: self.name.as_bytes().to_vec(),
        };
        let here = self.is_here.then_some(here);
        std::iter::once(source).chain(here).collect()
    }
}

/// Reads standard input. A failed read gives an empty text, and the compiler will report that.
fn read_stdin() -> Vec<u8> {
    let mut text = Vec::new();
    let _ = std::io::Read::read_to_end(&mut std::io::stdin(), &mut text);
    text
}

#[cfg(test)]
impl Unit {
    pub(crate) fn for_tests(name: &str, text: &str) -> Self {
        Self {
            text: Vec::new(),
            ..Self::new(0, name.into(), Language::C, Layout::FREE, text.into())
        }
    }
}
