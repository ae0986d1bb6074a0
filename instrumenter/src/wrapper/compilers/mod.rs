//! Which compiler to run, and which family it belongs to.
//!
//! One file per compiler names its programs, its flags, and the way to make it read our text. A
//! compiler that is nearly like another one extends it. Two more tables list our own commands,
//! with the variable and default compiler of each, and the launchers.

pub(crate) mod clang;
pub(crate) mod flags;
pub(crate) mod flang;
pub(crate) mod gcc;
pub(crate) mod gfortran;
pub(crate) mod intel;
pub(crate) mod nvidia;
mod unknown;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::wrapper::compilers::flags::FlagTable;

/// The language that a driver takes `.c` files for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Driver {
    /// `.c` is C.
    C,
    /// `.c` is C++.
    Cxx,
    /// A Fortran driver; it compiles `.c` as C.
    Fortran,
}

/// A way to make a family read our text in the place of the user's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Substitution {
    /// The command names a temporary file instead of the user's.
    TemporaryFile,
    /// The command stays as it is. The front end is told to take the contents of the user's
    /// file from ours, so that all file names stay right.
    RemapFile,
}

/// The mapping flag of GCC 8 and Clang 10 and later; it also maps `__FILE__`.
pub(crate) const FILE_MAP: &str = "-ffile-prefix-map=";

/// The part of [`FILE_MAP`] that concerns macros alone.
pub(crate) const MACRO_MAP: &str = "-fmacro-prefix-map=";

/// [`FILE_MAP`], and the flag of older compilers.
const BOTH_MAPS: &[&str] = &[FILE_MAP, "-fdebug-prefix-map="];
const OLD_MAP: &[&str] = &["-fdebug-prefix-map="];

/// Clang's flag against warnings about unused flags.
pub(crate) const NO_REMARKS: Option<&str> = Some("-Wno-unused-command-line-argument");

/// The common properties of the compilers of a family.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Family {
    pub(crate) name: &'static str,
    /// Names of programs, without target prefix and version suffix.
    names: &'static [(&'static str, Driver)],
    pub(crate) flags: &'static FlagTable,
    pub(crate) substitution: Substitution,
    /// Flags that give a file another name in debug information, the best first. Older
    /// compilers of a family don't know all of them.
    pub(crate) prefix_maps: &'static [&'static str],
    /// The flag that asks for colours.
    pub(crate) colour: Option<&'static str>,
    /// Whether the compiler accepts no line marker between the lines of a Fortran statement.
    pub(crate) whole_statements: bool,
    /// The flag that keeps the compiler from warning about flags for another stage.
    pub(crate) no_remarks: Option<&'static str>,
    /// Whether messages show the lines of the user's file, whatever text the compiler has read.
    pub(crate) shows_file: bool,
    /// The flag that makes the preprocessor put included files in place and leave macros alone.
    pub(crate) places_includes: Option<&'static str>,
    /// The flag that makes a separate assembler read the assembly text while it is written.
    pub(crate) pipe: Option<&'static str>,
    /// The flag with which the compiler only checks a source. It is set only for compilers that
    /// may refuse a clause on a combined directive and accept it on the directive's parts.
    pub(crate) check: Option<&'static str>,
    /// The flag with which only the compiler's front end runs, if it gives all messages but a few. Those of other
    /// compilers depend on the optimiser.
    pub(crate) front_end: Option<&'static str>,
    /// Whether an uncompiled branch behind a `__LINE__` changes the compiler's value of it.
    pub(crate) moves_line_macro: bool,
}

/// All families, including the unknown ones.
static FAMILIES: &[Family] = &[
    gcc::GCC,
    gfortran::GFORTRAN,
    clang::CLANG,
    flang::FLANG,
    intel::INTEL,
    intel::INTEL_FORTRAN,
    nvidia::NVIDIA,
    nvidia::NVIDIA_FORTRAN,
    unknown::UNKNOWN,
    unknown::UNKNOWN_FORTRAN,
];

/// The family of programs whose names are not known.
static UNKNOWN: Family = unknown::UNKNOWN;

/// Our own commands: the variable that names their compiler, and the default.
static COMMANDS: &[(&str, &str, &str)] = &[
    ("rompcc", "ROMP_CC", "cc"),
    ("rompcxx", "ROMP_CXX", "c++"),
    ("rompfc", "ROMP_FC", "gfortran"),
];

/// Programs that run the compiler named after them.
static LAUNCHERS: &[&str] = &["ccache", "sccache", "distcc", "icecc"];

/// The compiler to run.
#[derive(Debug)]
pub(crate) struct Compiler {
    /// The program to start.
    pub(crate) program: OsString,
    /// Words before the user's arguments, such as `gcc` in `ROMP_CC="ccache gcc"`.
    pub(crate) leading: Vec<OsString>,
    pub(crate) family: &'static Family,
    pub(crate) driver: Driver,
    /// The variable that may name the compiler, unless the command names it.
    pub(crate) variable: Option<&'static str>,
}

impl Compiler {
    /// Selects the compiler for a call under the name `invoked`. A nested call is one by the
    /// compiler that we started. It ignores the variable, which would lead back to the wrapper.
    pub(crate) fn select(invoked: &OsStr, nested: bool) -> Self {
        let own = base_name(invoked);
        let command = COMMANDS.iter().find(|(name, ..)| *name == own);
        let (variable, default) = match command {
            Some((_, variable, default)) => (*variable, (*default).to_owned()),
            None => (variable_for(&own), compiler_in(&own)),
        };
        let chosen = std::env::var_os(variable).filter(|value| !nested && !value.is_empty());
        Self {
            variable: Some(variable),
            ..Self::from_words(chosen.map_or_else(|| vec![default.into()], words))
        }
    }

    /// The compiler that a command names, with the arguments after it.
    pub(crate) fn given(command: &[OsString]) -> Option<(Self, &[OsString])> {
        let (first, arguments) = command.split_first()?;
        let name = base_name(first);
        if COMMANDS.iter().any(|(own, ..)| *own == name) {
            return Some((Self::select(first, false), arguments));
        }
        let launched = LAUNCHERS.contains(&&*name) && !arguments.is_empty();
        let words = if launched { 2 } else { 1 };
        let (words, arguments) = command.split_at(words);
        Some((Self::from_words(words.to_vec()), arguments))
    }

    /// The compiler that the first argument names, if it names one, with the arguments after
    /// it.
    pub(crate) fn leading(arguments: &[OsString]) -> Option<(Self, &[OsString])> {
        let name = base_name(arguments.first()?);
        let names_compiler = by_name(&name).is_some() || LAUNCHERS.contains(&&*name);
        names_compiler.then(|| Self::given(arguments)).flatten()
    }

    fn from_words(mut words: Vec<OsString>) -> Self {
        let leading = words.split_off(1);
        let program = words.pop().unwrap_or_default();
        let launched = leading
            .first()
            .filter(|_| LAUNCHERS.contains(&&*base_name(&program)));
        let (family, driver) = recognise(launched.unwrap_or(&program));
        Self {
            program: without_ourselves(program),
            leading,
            family,
            driver,
            variable: None,
        }
    }

    /// Whether this is the system's own compiler. It searches headers only in the directories
    /// of the command and the system's default directories.
    pub(crate) fn is_system_s(&self) -> bool {
        let launcher = LAUNCHERS.contains(&&*base_name(&self.program));
        let launched = self.leading.first().filter(|_| launcher);
        let path = find_program(launched.unwrap_or(&self.program));
        let Some(path) = path.and_then(|path| path.canonicalize().ok()) else {
            return false;
        };
        let known =
            by_name(&base_name(path.as_os_str())).is_some_and(|(family, _)| !is_unknown(family));
        known
            && ["/usr/bin", "/usr/lib"]
                .iter()
                .any(|place| path.starts_with(place))
    }
}

#[cfg(test)]
impl Compiler {
    /// For tests: the compiler of that name.
    pub(crate) fn named(name: &str) -> Self {
        Self::from_words(vec![name.into()])
    }
}

/// The variable for a command that carries a compiler's name.
fn variable_for(name: &str) -> &'static str {
    let (_, driver) = by_name(&compiler_in(name)).unwrap_or((&UNKNOWN, Driver::C));
    match driver {
        Driver::C => "ROMP_CC",
        Driver::Cxx => "ROMP_CXX",
        Driver::Fortran => "ROMP_FC",
    }
}

/// Whether this is the name of one of our own commands.
pub(crate) fn is_own(name: &str) -> bool {
    COMMANDS.iter().any(|(own, ..)| *own == name) || name.starts_with(CARRIES)
}

/// The prefix before a compiler's name in the names of our commands.
const CARRIES: &str = "rompcc-";

/// `rompcc-gcc` and a link called `gcc` both mean `gcc`.
fn compiler_in(name: &str) -> String {
    name.strip_prefix(CARRIES).unwrap_or(name).to_owned()
}

/// Splits a variable's value into words, unless it names an existing file.
fn words(value: OsString) -> Vec<OsString> {
    let several = value.to_str().filter(|_| !Path::new(&value).exists());
    let words: Vec<OsString> = several.map_or_else(Vec::new, |text| {
        text.split_whitespace().map(Into::into).collect()
    });
    if words.is_empty() { vec![value] } else { words }
}

/// Returns the family and driver of a program, by its name or, for a name such as `cc`, by the
/// file that it links to.
fn recognise(program: &OsStr) -> (&'static Family, Driver) {
    let named = by_name(&base_name(program));
    let target = || {
        let path = find_program(program)?.canonicalize().ok()?;
        by_name(&base_name(path.as_os_str()))
    };
    match named {
        // The name determines the driver; the link may still determine the family.
        Some((family, driver)) if is_unknown(family) => {
            (target().map_or(family, |(family, _)| family), driver)
        }
        Some(known) => known,
        None => target().unwrap_or((&UNKNOWN, Driver::C)),
    }
}

fn is_unknown(family: &Family) -> bool {
    family.name == unknown::NAME
}

/// Finds the program of a name: `x86_64-linux-gnu-gcc-12` is `gcc`, and `mpif90` is itself.
fn by_name(name: &str) -> Option<(&'static Family, Driver)> {
    let versioned = |c: char| c.is_ascii_digit() || c == '.' || c == '-';
    let spellings = [name, name.trim_end_matches(versioned)];
    let mut known = spellings.iter().filter_map(|spelling| {
        let last = spelling.rsplit('-').next()?;
        let named = |name: &str| {
            FAMILIES.iter().find_map(|family| {
                let known = family.names.iter().find(|(known, _)| *known == name);
                known.map(|(_, driver)| (family, *driver))
            })
        };
        named(spelling).or_else(|| named(last))
    });
    known.next()
}

fn base_name(path: &OsStr) -> String {
    let name = Path::new(path).file_name().unwrap_or(path);
    name.to_string_lossy().into_owned()
}

/// The path of a program as the shell would find it.
fn find_program(program: &OsStr) -> Option<PathBuf> {
    candidates(program).into_iter().find(|path| path.is_file())
}

fn candidates(program: &OsStr) -> Vec<PathBuf> {
    if program.as_encoded_bytes().contains(&b'/') {
        return vec![program.into()];
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|dir| dir.join(program))
        .collect()
}

/// Skips ourselves in `PATH`. If a directory with links to us comes first, the real compiler is
/// the next program of the same name.
fn without_ourselves(program: OsString) -> OsString {
    let ourselves = std::env::current_exe().and_then(std::fs::canonicalize).ok();
    let is_us = |path: &PathBuf| path.canonicalize().ok() == ourselves;
    match find_program(&program) {
        Some(first) if ourselves.is_some() && is_us(&first) => {
            let next = candidates(&program)
                .into_iter()
                .find(|p| p.is_file() && !is_us(p));
            next.map_or(program, PathBuf::into_os_string)
        }
        _ => program,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn family(name: &str) -> &'static str {
        by_name(name).map_or("none", |(family, _)| family.name)
    }

    #[test]
    fn prefixes_and_versions_do_not_hide_a_compiler() {
        for name in [
            "gcc",
            "gcc-12",
            "x86_64-linux-gnu-gcc",
            "aarch64-linux-gnu-gcc-12.2",
        ] {
            assert_eq!(family(name), "GCC", "{name}");
        }
        for name in ["clang", "clang-14", "clang++-17"] {
            assert_eq!(family(name), "Clang", "{name}");
        }
        for name in ["gfortran", "x86_64-linux-gnu-gfortran-12"] {
            assert_eq!(family(name), "gfortran", "{name}");
        }
        assert_eq!(family("flang-new-16"), "Flang");
        assert!(by_name("a.out").is_none());
        assert_eq!(by_name("g++-12").map(|found| found.1), Some(Driver::Cxx));
    }

    #[test]
    fn a_command_may_carry_its_compiler_in_its_name() {
        assert_eq!(compiler_in("rompcc-gcc-12"), "gcc-12");
        assert_eq!(compiler_in("gcc"), "gcc");
        assert_eq!(variable_for("rompcc-g++"), "ROMP_CXX");
        assert_eq!(variable_for("mpif90"), "ROMP_FC");
        assert_eq!(variable_for("cc"), "ROMP_CC");
    }

    #[test]
    fn a_compiler_may_lead_the_arguments() {
        let leading = |text: &str| {
            let words: Vec<OsString> = text.split(' ').map(Into::into).collect();
            let (compiler, rest) = Compiler::leading(&words)?;
            Some((compiler.program, compiler.leading, rest.to_vec()))
        };
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        let (program, before, rest) = leading("mpicc -c a.c").unwrap();
        assert_eq!((program, before), ("mpicc".into(), Vec::new()));
        assert_eq!(rest, words("-c a.c"));
        let (program, before, rest) = leading("ccache gcc-12 -c a.c").unwrap();
        assert_eq!((program, before), ("ccache".into(), words("gcc-12")));
        assert_eq!(rest, words("-c a.c"));
        for text in ["-c a.c", "a.c", "gcc.o", "main.c mpicc"] {
            assert_eq!(leading(text), None, "{text}");
        }
    }

    #[test]
    fn a_launcher_is_looked_through() {
        let compiler = Compiler::from_words(words("ccache clang-14".into()));
        assert_eq!(compiler.leading, ["clang-14"]);
        assert_eq!(compiler.family.name, "Clang");
    }
}
