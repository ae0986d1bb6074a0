//! One source of the command, instrumented.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::api::Api;
use crate::find::front_end;
use crate::names::{self, PrefixMaps};
use crate::openmp;
use crate::plan::Decision;
use crate::source::{Layout, UndefinedMacros};
use crate::wrapper::command::classify::{Argument, CommandLine, Language, Role};
use crate::wrapper::command::flags::PrefixMap;
use crate::wrapper::command::known::Known;
use crate::wrapper::command::layout;
use crate::wrapper::command::offload::Offload;
use crate::wrapper::compilers::{Compiler, Substitution};
use crate::wrapper::finish::coverage;
use crate::wrapper::finish::dependencies::Renamed;
use crate::wrapper::finish::scratch::Scratch;
use crate::wrapper::route::choose::{self, Headers, Needs};
use crate::wrapper::route::expanded;
use crate::wrapper::route::substitution::prefix_maps;
use crate::wrapper::settings::{DISABLE, Preprocess, Settings};
use crate::{Disabled, Instrumented, Options, Source};

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

/// A source and its instrumented text.
#[derive(Clone, Debug)]
pub(crate) struct Unit {
    /// Its place among the command's arguments.
    pub(crate) index: usize,
    /// Its name as given on the command line.
    pub(crate) name: OsString,
    pub(crate) language: openmp::Language,
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
    /// Reads and instruments the source at `index`. `None` leaves the source to the compiler:
    /// it can't be read, or its language is not instrumented.
    pub(crate) fn read(line: &CommandLine, index: usize, how: &Instrumenting<'_>) -> Option<Self> {
        let argument = line.arguments.get(index)?;
        let Role::Input(Language::Measured(language)) = argument.role else {
            return None;
        };
        let given = argument.name();
        let (name, original) = if given == "-" {
            (STDIN.into(), read_stdin())
        } else {
            (given.to_owned(), std::fs::read(given).ok()?)
        };
        let mut unit = Self {
            index,
            name,
            language,
            layout: layout::of(line, index),
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
        };
        unit.instrument(line, how);
        Some(unit)
    }

    /// Instruments the source as it is. A part that is not clear or depends on a device may be
    /// in a branch that needs undefined macros. Then such macros are looked up, and the source
    /// is instrumented again.
    fn instrument(&mut self, line: &CommandLine, how: &Instrumenting<'_>) {
        let mut source = Source {
            name: self.text_name(),
            language: self.language,
            text: self.original.clone(),
            layout: self.layout,
            undefined: UndefinedMacros::new(),
        };
        let asks = how.settings.preprocess == Preprocess::Auto;
        let mut made = instrumented(how, &source, line, self.index, asks);
        let depends = |made: &Instrumented| made.plan.depends_on_device || self.is_unclear(made);
        if asks && made.as_ref().is_ok_and(depends) {
            source.undefined = choose::undefined_macros(how.compiler, line, self);
            let on_device = made.as_ref().is_ok_and(|made| made.plan.depends_on_device);
            if on_device || !source.undefined.is_empty() {
                made = instrumented(how, &source, line, self.index, false);
            }
        }
        self.defective = made.is_err();
        self.incomplete = made.as_ref().is_ok_and(|made| self.is_unclear(made));
        if let Ok(made) = made {
            self.compiled_as_written = compiled_as_written(&made);
            (self.text, self.warnings) = (made.applied.text, made.warnings);
        }
    }

    fn is_unclear(&self, made: &Instrumented) -> bool {
        leaves_something(made) || (self.layout.preprocessed_by_compiler && hides_clauses(made))
    }

    /// The headers that the source may include.
    pub(crate) fn headers(&self, line: &CommandLine) -> &Headers {
        self.headers.get_or_init(|| Headers::of(line, self))
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
        let name = expanded::file_name(self);
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
            && self.language != openmp::Language::Fortran
            && !self.name.as_bytes().contains(&b'/');
        self.route = Some(route);
        Ok(())
    }

    /// The directory in which the compiler looks first for quoted headers.
    pub(crate) fn directory(&self) -> &Path {
        directory(&self.name)
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

/// The instrumenter, or one with an injected fault in tests.
pub(crate) type Instrument = fn(&Source, &Options) -> Instrumented;

/// How the sources of a command are instrumented.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instrumenting<'a> {
    pub(crate) instrument: Instrument,
    pub(crate) offload: &'a Offload<'a>,
    pub(crate) known: &'a Known<'a>,
    pub(crate) settings: &'a Settings,
    pub(crate) compiler: &'a Compiler,
}

/// The instrumenter panicked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Defect;

/// Runs the instrumenter; a panic must not fail the user's build. With `may_change`, the result
/// may still change, so the compiler is not asked about devices.
pub(crate) fn instrumented(
    how: &Instrumenting<'_>,
    source: &Source,
    line: &CommandLine,
    index: usize,
    may_change: bool,
) -> Result<Instrumented, Defect> {
    let mut options = Options {
        unique: unique(line, index, source),
        prefix_maps: named_in_objects(line),
        disabled: Disabled {
            groups: how.settings.disabled.clone(),
            by: DISABLE,
            ..Disabled::default()
        },
        chunks: how.settings.chunks,
        host_only: false,
        unknown: BTreeSet::new(),
        explicit_interfaces: layout::wants_interfaces(line),
        without_blocks: !layout::has_blocks(line),
        whole_statements: how.compiler.family.whole_statements,
        without_lines: false,
        apart: coverage::is_asked(line),
        has_hashes: true,
        api: Api::Pomp,
    };
    let instrument = how.instrument;
    let instrument = |options: &Options| {
        std::panic::catch_unwind(|| instrument(source, options)).map_err(|_| Defect)
    };
    let mut made = instrument(&options)?;
    options.unknown = how.known.unknown(source.language, &made.plan.asked);
    if !options.unknown.is_empty() {
        made = instrument(&options)?;
    }
    // Asking the compiler takes longer than instrumenting, so it is asked only if the answer
    // matters.
    if made.plan.depends_on_device && !may_change && how.offload.is_host_only() {
        options.host_only = true;
        return instrument(&options);
    }
    Ok(made)
}

pub(crate) fn leaves_something(made: &Instrumented) -> bool {
    let mut listed = made.plan.listing.iter();
    listed.any(|listed| matches!(listed.outcome, Decision::LeftAlone { .. }))
}

/// The first construct that is compiled as written.
fn compiled_as_written(made: &Instrumented) -> Option<String> {
    let mut listed = made.plan.listing.iter();
    let passed = listed.find(|listed| matches!(listed.outcome, Decision::PassedThrough { .. }));
    passed.map(|listed| listed.construct.clone())
}

/// Whether a word in the place of a clause may be a macro.
fn hides_clauses(made: &Instrumented) -> bool {
    let mut listed = made.plan.listing.iter();
    listed.any(|listed| {
        let mut clauses = listed.clauses.iter();
        clauses.any(|name| !openmp::clauses::is_name(name))
    })
}

/// Reads standard input. A failed read gives an empty text, and the compiler will report that.
fn read_stdin() -> Vec<u8> {
    let mut text = Vec::new();
    let _ = std::io::Read::read_to_end(&mut std::io::stdin(), &mut text);
    text
}

/// The directory of a file; `.` if its name has no directory.
pub(crate) fn directory(name: &OsStr) -> &Path {
    let parent = Path::new(name).parent().unwrap_or(Path::new("."));
    if parent.as_os_str().is_empty() {
        Path::new(".")
    } else {
        parent
    }
}

/// The maps for file names in region descriptors: as the compiler maps names in the object.
fn named_in_objects(line: &CommandLine) -> PrefixMaps {
    prefix_maps(line, &[PrefixMap::All, PrefixMap::Macro, PrefixMap::Debug])
}

/// A name for the definitions of a translation unit. It depends on the unit's contents and not
/// on the build directory, so that builds are reproducible. It is made from the text, the
/// source's name in the object, and the macros of the command. A program may have several units
/// with the same name; their visible definitions are weak and mean the same in each.
fn unique(line: &CommandLine, index: usize, source: &Source) -> String {
    let mut hash = Fnv::new();
    let preprocessed = front_end(source.language).is_preprocessed(&source.text);
    let lines = source.text.split(|byte| *byte == b'\n');
    // Line markers contain names of directories, so they are left out.
    lines
        .filter(|line| !(preprocessed && is_marker(line)))
        .for_each(|line| hash.add(line));
    let maps = named_in_objects(line);
    hash.add(&maps.mapped(&names::bytes(&source.name)));
    // A command may name a source twice.
    let name = line.arguments[index].name();
    let before = line.arguments[..index].iter().filter(|a| a.is_source());
    let before = before.filter(|argument| argument.name() == name).count();
    hash.add(before.to_string().as_bytes());
    let macros = line.arguments.iter().filter(|argument| defines(argument));
    for word in macros.flat_map(|argument| &argument.words) {
        hash.add(&maps.mapped(word.as_bytes()));
    }
    format!("{:016x}", hash.0)
}

fn is_marker(line: &[u8]) -> bool {
    let number = line.strip_prefix(b"# ").or(line.strip_prefix(b"#line "));
    number.is_some_and(|rest| rest.first().is_some_and(u8::is_ascii_digit))
}

/// Whether an argument may define macros on which conditionals depend.
fn defines(argument: &Argument) -> bool {
    const DEFINING: [&[u8]; 5] = [b"-D", b"-U", b"-Wp,", b"-include", b"-imacros"];
    let word = argument.name().as_bytes();
    DEFINING.iter().any(|flag| word.starts_with(flag))
}

/// FNV-1a: the same on every machine and with every version of Rust.
struct Fnv(u64);

impl Fnv {
    const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, word: &[u8]) {
        // A zero separates words; words hardly ever contain one.
        for byte in word.iter().chain(&[0]) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

#[cfg(test)]
#[path = "unit_tests.rs"]
mod tests;
