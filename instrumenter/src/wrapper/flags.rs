//! The flags of each compiler family: one row per flag, saying how its value
//! is spelled ([`Shape`]) and what it means to us ([`Meaning`]).
//!
//! A flag needs a row only if its next word belongs to it, or if it changes
//! what we do; every other flag is handed on as it is. A family names the one
//! that it `extends`; its own rows win.

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

/// What a flag means for a build with us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// Nothing that concerns us.
    Nothing,
    /// Prints something about the compiler; nothing is built.
    Query,
    /// Builds no object: stops after preprocessing or checking.
    StopsBeforeCompiling,
    /// Stops at assembly text (`-S`).
    StopsAtCompiling,
    /// Stops at object files (`-c`).
    StopsAtAssembling,
    /// Names the output.
    Output,
    /// Switches OpenMP on or off.
    OpenMp(bool),
    /// Makes OpenMP's runtime a library of the link, without switching on the
    /// directives.
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
    /// Replaces a prefix of file names in the object, wherever one kind of them stands.
    PrefixMap(PrefixMap),
    /// Names the directory of the compilation in debug information.
    CompilationDirectory,
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
    /// Our own: functions are measured too. No compiler knows it.
    Functions,
    /// Decides about colours of diagnostics.
    Colour,
    /// The form of Fortran sources, whatever their names say.
    SourceForm(Form),
    /// How many columns of a Fortran line count in a form: a number; 0 or
    /// `none` for all.
    LineLength(Form),
    /// How many columns of a fixed-form line count.
    FixedLineLength(usize),
    /// Whether Fortran sources are preprocessed, whatever their names say.
    Preprocesses(bool),
}

/// Which names of files a flag replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PrefixMap {
    /// All.
    All,
    /// Those of debug information.
    Debug,
    /// Those that macros make, as `__FILE__`.
    Macro,
    /// Those of profiles and coverage.
    Profile,
}

impl Meaning {
    /// Says something about the command's result as a whole, and nothing about
    /// how one of its sources is compiled.
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

    /// Is about dependency files.
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

const fn row(spelling: &'static str, shape: Shape, meaning: Meaning) -> Row {
    Row {
        spelling,
        shape,
        meaning,
    }
}

impl FlagTable {
    /// The row for a word of the command line. A word that is exactly a
    /// spelling beats one that only begins with it; then the longest wins;
    /// then the family's own row.
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

/// GCC, and what every compiler that imitates its command line understands.
pub(crate) static GCC: FlagTable = FlagTable {
    rows: GCC_ROWS,
    extends: None,
};

/// Clang understands GCC's flags and adds its own.
pub(crate) static CLANG: FlagTable = FlagTable {
    rows: CLANG_ROWS,
    extends: Some(&GCC),
};

/// Intel's compilers are Clang with more names for OpenMP.
pub(crate) static INTEL: FlagTable = FlagTable {
    rows: INTEL_ROWS,
    extends: Some(&CLANG),
};

/// NVIDIA's compilers.
pub(crate) static NVIDIA: FlagTable = FlagTable {
    rows: NVIDIA_ROWS,
    extends: Some(&GCC),
};

/// GNU's compiler for Fortran.
pub(crate) static GFORTRAN: FlagTable = FlagTable {
    rows: GFORTRAN_ROWS,
    extends: Some(&GCC),
};

/// LLVM's compiler for Fortran follows GNU's, and Clang's.
pub(crate) static FLANG: FlagTable = FlagTable {
    rows: FLANG_ROWS,
    extends: Some(&GFORTRAN),
};

/// Intel's compilers for Fortran.
pub(crate) static INTEL_FORTRAN: FlagTable = FlagTable {
    rows: INTEL_FORTRAN_ROWS,
    extends: Some(&INTEL),
};

/// NVIDIA's compiler for Fortran.
pub(crate) static NVIDIA_FORTRAN: FlagTable = FlagTable {
    rows: NVIDIA_FORTRAN_ROWS,
    extends: Some(&NVIDIA),
};

const GCC_ROWS: &[Row] = &[
    row("--functions", Flag, M::Functions),
    // Queries.
    row("--version", Flag, M::Query),
    row("--help", Joined, M::Query),
    row("--target-help", Flag, M::Query),
    row("-dumpversion", Flag, M::Query),
    row("-dumpfullversion", Flag, M::Query),
    row("-dumpmachine", Flag, M::Query),
    row("-dumpspecs", Flag, M::Query),
    row("-print-", Joined, M::Query),
    row("--print-", Joined, M::Query),
    row("-###", Flag, M::Query),
    // Where the compiler stops.
    row("-E", Flag, M::StopsBeforeCompiling),
    row("--preprocess", Flag, M::StopsBeforeCompiling),
    row("-M", Flag, M::StopsBeforeCompiling),
    row("-MM", Flag, M::StopsBeforeCompiling),
    row("--dependencies", Flag, M::StopsBeforeCompiling),
    row("--user-dependencies", Flag, M::StopsBeforeCompiling),
    row("-fsyntax-only", Flag, M::StopsBeforeCompiling),
    row("-S", Flag, M::StopsAtCompiling),
    row("--assemble", Flag, M::StopsAtCompiling),
    row("-c", Flag, M::StopsAtAssembling),
    row("--compile", Flag, M::StopsAtAssembling),
    // Outputs.
    row("-o", JoinedOrSeparate, M::Output),
    row("--output", Separate, M::Output),
    row("--output=", Joined, M::Output),
    row("-MD", Flag, M::WritesDependencies),
    row("-MMD", Flag, M::WritesDependencies),
    row("--write-dependencies", Flag, M::WritesDependencies),
    row("--write-user-dependencies", Flag, M::WritesDependencies),
    row("-MF", JoinedOrSeparate, M::DependencyFile),
    row("-MT", JoinedOrSeparate, M::DependencyDetail),
    row("-MQ", JoinedOrSeparate, M::DependencyDetail),
    row("-MP", Flag, M::DependencyDetail),
    row("-MG", Flag, M::DependencyDetail),
    // OpenMP. `-fopenmp-simd` is another flag and needs no row.
    row("-fopenmp", Flag, M::OpenMp(true)),
    row("-fno-openmp", Flag, M::OpenMp(false)),
    row("-lgomp", Flag, M::OpenMpLibrary),
    row("-lomp", Flag, M::OpenMpLibrary),
    row("-liomp5", Flag, M::OpenMpLibrary),
    // Language and preprocessor.
    row("-x", JoinedOrSeparate, M::Language),
    row("--language", Separate, M::Language),
    row("--language=", Joined, M::Language),
    row("-I-", Flag, M::NoCurrentDirectory),
    row("-I", JoinedOrSeparate, M::IncludeDirectory),
    row("--include-directory", Separate, M::IncludeDirectory),
    row("--include-directory=", Joined, M::IncludeDirectory),
    row("-iquote", JoinedOrSeparate, M::IncludeDirectory),
    row("-isystem", JoinedOrSeparate, M::IncludeDirectory),
    row("-idirafter", JoinedOrSeparate, M::IncludeDirectory),
    row("-include", JoinedOrSeparate, M::ForcedInclude),
    row("--include", Separate, M::ForcedInclude),
    row("--include=", Joined, M::ForcedInclude),
    row("-imacros", JoinedOrSeparate, M::ForcedInclude),
    row("--imacros", Separate, M::ForcedInclude),
    row("--imacros=", Joined, M::ForcedInclude),
    row("-ffile-prefix-map=", Joined, M::PrefixMap(PrefixMap::All)),
    row(
        "-fdebug-prefix-map=",
        Joined,
        M::PrefixMap(PrefixMap::Debug),
    ),
    row(
        "-fmacro-prefix-map=",
        Joined,
        M::PrefixMap(PrefixMap::Macro),
    ),
    row(
        "-fprofile-prefix-map=",
        Joined,
        M::PrefixMap(PrefixMap::Profile),
    ),
    row(
        "-fcoverage-prefix-map=",
        Joined,
        M::PrefixMap(PrefixMap::Profile),
    ),
    row("-fdebug-compilation-dir=", Joined, M::CompilationDirectory),
    row(
        "-fcoverage-compilation-dir=",
        Joined,
        M::CompilationDirectory,
    ),
    row("-ffile-compilation-dir=", Joined, M::CompilationDirectory),
    row("-D", JoinedOrSeparate, M::Nothing),
    row("--define-macro", Separate, M::Nothing),
    row("-U", JoinedOrSeparate, M::Nothing),
    row("--undefine-macro", Separate, M::Nothing),
    row("-A", JoinedOrSeparate, M::Nothing),
    row("--assert", Separate, M::Nothing),
    row("-iprefix", JoinedOrSeparate, M::Nothing),
    row("-iwithprefix", JoinedOrSeparate, M::Nothing),
    row("-iwithprefixbefore", JoinedOrSeparate, M::Nothing),
    row("-isysroot", JoinedOrSeparate, M::Nothing),
    row("-imultilib", JoinedOrSeparate, M::Nothing),
    row("--sysroot", Separate, M::Nothing),
    row("-Wp,", Joined, M::Preprocessor),
    row("-Xpreprocessor", Separate, M::FrontEnd),
    // Other flags with a value of their own.
    row("--param", Separate, M::Nothing),
    row("-aux-info", Separate, M::Nothing),
    row("-dumpbase", Separate, M::Nothing),
    row("-dumpbase-ext", Separate, M::Nothing),
    row("-dumpdir", Separate, M::Nothing),
    row("-B", JoinedOrSeparate, M::Nothing),
    row("--prefix", Separate, M::Nothing),
    row("-specs", Separate, M::Nothing),
    row("--specs", Separate, M::Nothing),
    row("-wrapper", Separate, M::Nothing),
    row("-Xassembler", Separate, M::Nothing),
    row("-arch", Separate, M::Nothing),
    row("-save-temps", Joined, M::SideFiles),
    row("--save-temps", Joined, M::SideFiles),
    row("--coverage", Flag, M::SideFiles),
    row("-coverage", Flag, M::SideFiles),
    row("-ftest-coverage", Flag, M::SideFiles),
    row("-fprofile-arcs", Flag, M::SideFiles),
    row("-fprofile-generate", Joined, M::SideFiles),
    row("-fprofile-use", Joined, M::SideFiles),
    row("-gsplit-dwarf", Joined, M::SideFiles),
    row("-fstack-usage", Flag, M::SideFiles),
    row("-fcallgraph-info", Joined, M::SideFiles),
    row("-fdump-", Joined, M::SideFiles),
    row("-fdiagnostics-color", Joined, M::Colour),
    row("-fno-diagnostics-color", Flag, M::Colour),
    row("-fdiagnostics-plain-output", Flag, M::Colour),
    row("-fdiagnostics-format=", Joined, M::Colour),
    // Linking.
    row("-l", JoinedOrSeparate, M::Library),
    row("-L", JoinedOrSeparate, M::Linker),
    row("--library-directory", Separate, M::Linker),
    row("-Wl,", Joined, M::Linker),
    row("-Xlinker", Separate, M::Linker),
    row("--for-linker", Separate, M::Linker),
    row("-z", JoinedOrSeparate, M::Linker),
    row("-u", JoinedOrSeparate, M::Linker),
    row("-T", JoinedOrSeparate, M::Linker),
    row("-Tbss", Separate, M::Linker),
    row("-Tdata", Separate, M::Linker),
    row("-Ttext", Separate, M::Linker),
    row("-e", Separate, M::Linker),
    row("--entry", Separate, M::Linker),
    row("-rpath", Separate, M::Linker),
    row("-framework", Separate, M::Linker),
    row("-shared", Flag, M::Shared),
    row("--shared", Flag, M::Shared),
    row("-r", Flag, M::PartialLink),
    row("-nostdlib", Flag, M::NoStandardLibraries),
    row("--no-standard-libraries", Flag, M::NoStandardLibraries),
    row("-nodefaultlibs", Flag, M::NoStandardLibraries),
];

const CLANG_ROWS: &[Row] = &[
    row("-cc1", Joined, M::Query),
    row("--autocomplete=", Joined, M::Query),
    row("--analyze", Flag, M::StopsBeforeCompiling),
    row("-verify-pch", Flag, M::StopsBeforeCompiling),
    row("-emit-ast", Flag, M::StopsBeforeCompiling),
    row("-fopenmp=", Joined, M::OpenMp(true)),
    row("-Xclang", Separate, M::FrontEnd),
    row("-Xanalyzer", Separate, M::Nothing),
    row("-Xopenmp-target", Separate, M::Nothing),
    row("-Xopenmp-target=", Separate, M::Nothing),
    row("-mllvm", Separate, M::Nothing),
    row("-target", Separate, M::Nothing),
    row("-mthread-model", Separate, M::Nothing),
    row("-gcc-toolchain", Separate, M::Nothing),
    row("--config", Separate, M::Nothing),
    row("-ivfsoverlay", JoinedOrSeparate, M::Nothing),
    row("-working-directory", Separate, M::Nothing),
    row("-include-pch", Separate, M::Nothing),
    row("-iframework", JoinedOrSeparate, M::Nothing),
    row("-F", JoinedOrSeparate, M::Nothing),
    row("-cxx-isystem", JoinedOrSeparate, M::IncludeDirectory),
    row("-serialize-diagnostics", Separate, M::Nothing),
    row("--serialize-diagnostics", Separate, M::Nothing),
    row("-MJ", JoinedOrSeparate, M::CompilationDatabase),
    row("-fcolor-diagnostics", Flag, M::Colour),
    row("-fno-color-diagnostics", Flag, M::Colour),
    row("-install_name", Separate, M::Linker),
    row("-dynamiclib", Flag, M::Shared),
];

const INTEL_ROWS: &[Row] = &[
    row("-qopenmp", Flag, M::OpenMp(true)),
    row("-fiopenmp", Flag, M::OpenMp(true)),
    row("-qno-openmp", Flag, M::OpenMp(false)),
    // `-xHost` and its kin name a processor, not a language.
    row("-xC", Joined, M::Nothing),
    row("-xH", Joined, M::Nothing),
    row("-xS", Joined, M::Nothing),
    row("-xA", Joined, M::Nothing),
];

const NVIDIA_ROWS: &[Row] = &[
    row("-mp", Flag, M::OpenMp(true)),
    row("-mp=", Joined, M::OpenMp(true)),
    row("-nomp", Flag, M::OpenMp(false)),
];

const GFORTRAN_ROWS: &[Row] = &[
    row("-ffixed-form", Flag, M::SourceForm(Form::Fixed)),
    row("-ffree-form", Flag, M::SourceForm(Form::Free)),
    row("-ffixed-line-length-", Joined, M::LineLength(Form::Fixed)),
    row("-ffree-line-length-", Joined, M::LineLength(Form::Free)),
    row("-cpp", Flag, M::Preprocesses(true)),
    row("-nocpp", Flag, M::Preprocesses(false)),
    // Where modules are written; they are looked for there too.
    row("-J", JoinedOrSeparate, M::Nothing),
    row("-fintrinsic-modules-path", Separate, M::Nothing),
];

const FLANG_ROWS: &[Row] = &[
    row("-ffixed-line-length=", Joined, M::LineLength(Form::Fixed)),
    row("-Mfixed", Flag, M::SourceForm(Form::Fixed)),
    row("-Mfree", Joined, M::SourceForm(Form::Free)),
    row("-Mextend", Flag, M::FixedLineLength(132)),
    row("-module-dir", Separate, M::Nothing),
    row("-fopenmp=", Joined, M::OpenMp(true)),
    row("-Xflang", Separate, M::FrontEnd),
    row("-mllvm", Separate, M::Nothing),
    row("-target", Separate, M::Nothing),
    row("-fcolor-diagnostics", Flag, M::Colour),
    row("-fno-color-diagnostics", Flag, M::Colour),
];

const INTEL_FORTRAN_ROWS: &[Row] = &[
    row("-openmp", Flag, M::OpenMp(true)),
    row("-fixed", Flag, M::SourceForm(Form::Fixed)),
    row("-free", Flag, M::SourceForm(Form::Free)),
    row("-72", Flag, M::FixedLineLength(72)),
    row("-80", Flag, M::FixedLineLength(80)),
    row("-132", Flag, M::FixedLineLength(132)),
    row("-extend-source", Flag, M::FixedLineLength(132)),
    row("-extend-source:", Joined, M::LineLength(Form::Fixed)),
    row("-fpp", Joined, M::Preprocesses(true)),
    row("-nofpp", Flag, M::Preprocesses(false)),
    row("-cpp", Flag, M::Preprocesses(true)),
    row("-module", Separate, M::Nothing),
];

const NVIDIA_FORTRAN_ROWS: &[Row] = &[
    row("-Mfixed", Flag, M::SourceForm(Form::Fixed)),
    row("-Mfree", Joined, M::SourceForm(Form::Free)),
    row("-Mextend", Flag, M::FixedLineLength(132)),
    row("-Mpreprocess", Flag, M::Preprocesses(true)),
    row("-cpp", Flag, M::Preprocesses(true)),
    row("-module", Separate, M::Nothing),
    row("-J", JoinedOrSeparate, M::Nothing),
];

#[cfg(test)]
mod tests {
    use super::*;

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
