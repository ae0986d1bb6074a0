//! The flags of each compiler family: one row per flag, saying how its value
//! is spelled ([`Shape`]) and what the wrapper does with it ([`Meaning`]).
//!
//! A flag needs a row only if its next word belongs to it, or if it changes what the wrapper
//! does. Every other flag is handed on as it is. A family names the
//! one that it `extends`; its own rows win.

use crate::source::Form;
use Meaning as M;
use Shape::{Flag, Joined, JoinedOrSeparate, Separate};

/// How a flag and its value are spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `-c`: no value.
    Flag,
    /// `-std=c99`: the value follows in the same word.
    Joined,
    /// `-MF file`: the value is the next word.
    Separate,
    /// `-Idir` or `-I dir`.
    JoinedOrSeparate,
}

/// The meaning of a flag for the wrapper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// Nothing that concerns the wrapper.
    Nothing,
    /// Prints something about the compiler; nothing is built.
    Query,
    /// Stops after preprocessing or checking, so no object is built.
    StopsBeforeCompiling,
    /// Stops at assembly text (`-S`).
    StopsAtCompiling,
    /// Stops at object files (`-c`).
    StopsAtAssembling,
    /// Names the output.
    Output,
    /// Switches OpenMP on or off.
    OpenMp(bool),
    /// Links OpenMP's runtime without enabling directives.
    OpenMpLibrary,
    /// Writes a dependency file beside the normal output.
    WritesDependencies,
    /// Names the dependency file.
    DependencyFile,
    /// Other flags about dependency files.
    DependencyDetail,
    /// Names Clang's compilation database.
    CompilationDatabase,
    /// `-x`: the language of the inputs that follow.
    Language,
    /// A directory of headers.
    IncludeDirectory,
    /// A header included before the first line.
    ForcedInclude,
    /// `-I-`: the directory of the including file is not searched.
    NoCurrentDirectory,
    /// Replaces a prefix of file names in the object, in names of one kind or of all.
    PrefixMap(PrefixMap),
    /// A library to link.
    Library,
    /// Concerns only the linker; the value may hold flags of the linker.
    Linker,
    /// Hands flags to the preprocessor (`-Wp,`), which may be dependency flags.
    Preprocessor,
    /// Hands one flag to the front end (`-Xclang`), which may be OpenMP's.
    FrontEnd,
    /// Makes a shared library.
    Shared,
    /// Links objects into one object.
    PartialLink,
    /// Links without the standard libraries.
    NoStandardLibraries,
    /// Writes files beside the output, named after it and the source.
    SideFiles,
    /// Romp's own flag: functions are measured too. No compiler knows it.
    Functions,
    /// Decides about colours of diagnostics.
    Colour,
    /// The form of Fortran sources, whatever their names say.
    SourceForm(Form),
    /// The number of significant columns of a Fortran line in this source form; 0 or `none` for
    /// all.
    LineLength(Form),
    /// The number of significant columns of a fixed-form line.
    FixedLineLength(usize),
    /// Whether Fortran sources are preprocessed, whatever their names say.
    Preprocesses(bool),
}

/// The kind of file names in which a flag replaces a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PrefixMap {
    /// All names.
    All,
    /// Names in debug information.
    Debug,
    /// Names that macros such as `__FILE__` expand to.
    Macro,
}

impl Meaning {
    /// Whether the flag concerns the command's result as a whole, and not how one of its
    /// sources is compiled.
    pub(crate) const fn is_of_whole_command(self) -> bool {
        matches!(
            self,
            M::StopsAtCompiling
                | M::StopsAtAssembling
                | M::Output
                | M::OpenMpLibrary
                | M::Library
                | M::Linker
                | M::Shared
                | M::PartialLink
                | M::NoStandardLibraries
        )
    }

    /// Whether the flag is about dependency files.
    pub(crate) const fn is_of_dependencies(self) -> bool {
        matches!(
            self,
            M::WritesDependencies | M::DependencyFile | M::DependencyDetail
        )
    }
}

/// One flag.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) spelling: &'static str,
    pub(crate) shape: Shape,
    pub(crate) meaning: Meaning,
}

/// The rows of a family.
#[derive(Debug)]
pub(crate) struct FlagTable {
    rows: &'static [Row],
    extends: Option<&'static FlagTable>,
}

/// Makes a row of a table.
pub(crate) const fn row(spelling: &'static str, shape: Shape, meaning: Meaning) -> Row {
    Row {
        spelling,
        shape,
        meaning,
    }
}

impl FlagTable {
    pub(crate) const fn new(rows: &'static [Row], extends: Option<&'static Self>) -> Self {
        Self { rows, extends }
    }

    /// Finds the row for a word of the command line. A word that equals a spelling beats a word
    /// that only begins with one. Then the longest spelling wins, then the family's own row.
    pub(crate) fn find(&self, word: &[u8]) -> Option<&'static Row> {
        let own = self
            .rows
            .iter()
            .filter(|row| row.matches(word))
            .reduce(|best, row| {
                if row.spelling.len() > best.spelling.len() {
                    row
                } else {
                    best
                }
            });
        let inherited = self.extends.and_then(|table| table.find(word));
        match (own, inherited) {
            (Some(own), Some(other)) if other.spelling.len() > own.spelling.len() => Some(other),
            (Some(own), _) => Some(own),
            (None, other) => other,
        }
    }
}

impl Row {
    fn matches(&self, word: &[u8]) -> bool {
        match self.shape {
            Flag | Separate => word == self.spelling.as_bytes(),
            Joined | JoinedOrSeparate => word.starts_with(self.spelling.as_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wrapper::compilers::clang::FLAGS as CLANG;
    use crate::wrapper::compilers::flang::FLAGS as FLANG;
    use crate::wrapper::compilers::gcc::FLAGS as GCC;
    use crate::wrapper::compilers::gfortran::FLAGS as GFORTRAN;
    use crate::wrapper::compilers::intel::{FLAGS as INTEL, FORTRAN_FLAGS as INTEL_FORTRAN};
    use crate::wrapper::compilers::nvidia::{FLAGS as NVIDIA, FORTRAN_FLAGS as NVIDIA_FORTRAN};

    fn meaning(table: &FlagTable, word: &str) -> Option<Meaning> {
        table.find(word.as_bytes()).map(|row| row.meaning)
    }

    #[test]
    fn no_spelling_stands_twice_in_a_table() {
        let tables = [
            &GCC,
            &CLANG,
            &INTEL,
            &NVIDIA,
            &GFORTRAN,
            &FLANG,
            &INTEL_FORTRAN,
            &NVIDIA_FORTRAN,
        ];
        for table in tables {
            for (at, row) in table.rows.iter().enumerate() {
                let again = table.rows[at + 1..]
                    .iter()
                    .any(|r| r.spelling == row.spelling);
                assert!(!again, "{} has two rows", row.spelling);
            }
        }
    }

    #[test]
    fn the_longest_spelling_wins() {
        assert_eq!(meaning(&GCC, "-I-"), Some(M::NoCurrentDirectory));
        assert_eq!(meaning(&GCC, "-I-x"), Some(M::IncludeDirectory));
        assert_eq!(meaning(&GCC, "-MD"), Some(M::WritesDependencies));
        assert_eq!(meaning(&GCC, "-MFx.d"), Some(M::DependencyFile));
        assert_eq!(meaning(&GCC, "-lgomp"), Some(M::OpenMpLibrary));
        assert_eq!(meaning(&GCC, "-lgomp2"), Some(M::Library));
        assert_eq!(meaning(&GCC, "-imacros"), Some(M::ForcedInclude));
    }

    #[test]
    fn openmp_is_on_only_for_its_own_flags() {
        assert_eq!(meaning(&GCC, "-fopenmp"), Some(M::OpenMp(true)));
        assert_eq!(meaning(&GCC, "-fno-openmp"), Some(M::OpenMp(false)));
        assert_eq!(meaning(&GCC, "-fopenmp-simd"), None);
        assert_eq!(meaning(&CLANG, "-fopenmp-simd"), None);
        assert_eq!(meaning(&CLANG, "-fopenmp=libgomp"), Some(M::OpenMp(true)));
        assert_eq!(meaning(&CLANG, "-fopenmp-targets=nvptx64"), None);
        assert_eq!(meaning(&INTEL, "-qopenmp"), Some(M::OpenMp(true)));
        assert_eq!(meaning(&NVIDIA, "-mp=multicore"), Some(M::OpenMp(true)));
        assert_eq!(meaning(&NVIDIA, "-mpopcnt"), None);
    }

    #[test]
    fn a_family_inherits_and_overrides() {
        assert_eq!(meaning(&CLANG, "-c"), Some(M::StopsAtAssembling));
        assert_eq!(meaning(&INTEL, "-xHost"), Some(M::Nothing));
        assert_eq!(meaning(&INTEL, "-xc"), Some(M::Language));
    }
}
