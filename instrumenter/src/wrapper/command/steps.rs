//! Decides what to do with a command line: leave it alone, link it with the library, or
//! instrument its sources.

use std::ffi::OsStr;
use std::path::Path;

use crate::wrapper::command::classify::{Argument, CommandLine, InputKind, Role, Stage};
use crate::wrapper::compilers::flags::Meaning;

/// What to do with a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Run the compiler with the arguments exactly as given.
    AsGiven,
    /// Nothing is instrumented, but the library is linked.
    Link,
    /// Instrument the sources; link if the command links.
    Build,
}

/// Decides about a command that runs in `directory`.
pub(crate) fn decide(line: &CommandLine, directory: &Path) -> Decision {
    if line.stage() == Stage::Preprocess || !line.has_inputs() {
        return Decision::AsGiven;
    }
    let probe = is_configure_probe(line, directory);
    // Configure tools read the linker's command, which `-v` shows, to learn what a language or
    // OpenMP needs. The library must not be part of it.
    if probe && line.words().iter().any(|word| word == "-v") {
        return Decision::AsGiven;
    }
    let measured = line
        .sources()
        .any(|source| matches!(source.role, Role::Input(InputKind::Measured(_))));
    if line.openmp() && measured && has_wrong_output(line, directory) {
        Decision::AsGiven
    } else if line.openmp() && measured && !probe {
        Decision::Build
    } else if wants_library(line) {
        Decision::Link
    } else {
        Decision::AsGiven
    }
}

/// Whether a compiler may refuse the output: one object for several sources, or an output that
/// is one of the sources. The compiler would not recognise that source in another place.
fn has_wrong_output(line: &CommandLine, directory: &Path) -> bool {
    let Some(name) = line.output() else {
        return false;
    };
    let several = line.stage() != Stage::Link && line.sources().count() > 1;
    let file = |name: &OsStr| std::fs::canonicalize(directory.join(name)).ok();
    let output = file(name);
    let is_output = |source: &Argument| file(source.name()) == output;
    several || (output.is_some() && line.sources().any(is_output))
}

/// Whether the command compiles a program with which a configure tool tests the compiler. Such
/// programs must behave as they do without Romp; measuring them would also leave profiles
/// behind.
pub(crate) fn is_configure_probe(line: &CommandLine, directory: &Path) -> bool {
    let is_input = |argument: &&Argument| matches!(argument.role, Role::Input(_));
    line.arguments.iter().filter(is_input).any(|input| {
        let path = directory.join(input.name());
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        PROBE_FILES.iter().any(|start| file.starts_with(start))
            || path.iter().any(|part| {
                PROBE_DIRECTORIES
                    .iter()
                    .any(|name| part == OsStr::new(name))
            })
    })
}

static PROBE_FILES: &[&str] = &[
    "conftest.",
    "CMakeCCompilerId.",
    "CMakeCXXCompilerId.",
    "CMakeFortranCompilerId.",
];
static PROBE_DIRECTORIES: &[&str] = &["CMakeScratch", "CMakeTmp", "meson-private"];

/// Whether the command makes a program or shared library that may call the library.
pub(crate) fn wants_library(line: &CommandLine) -> bool {
    line.stage() == Stage::Link
        && (line.openmp() || line.has(Meaning::OpenMpLibrary) || names_openmp_library(line))
        && !makes_relocatable(line)
        && !line.sources().any(|source| source.role == Role::Input(InputKind::Header))
        // A command without the standard libraries names everything that it links.
        && !line.has(Meaning::NoStandardLibraries)
        // Shared libraries get the library, too: the programs that link or open them need not
        // use OpenMP. In a process the first definitions win over other copies, so that there
        // is one state, unless a library keeps its symbols to itself.
        && !names_library(line)
}

/// Whether the command makes a program from sources alone, without objects and libraries among
/// its inputs.
pub(crate) fn makes_whole_program(line: &CommandLine) -> bool {
    let is_linked = |argument: &Argument| argument.role == Role::Input(InputKind::Linked);
    wants_library(line) && !line.has(Meaning::Shared) && !line.arguments.iter().any(is_linked)
}

fn makes_relocatable(line: &CommandLine) -> bool {
    let flags: [&[u8]; 3] = [b"-r", b"--relocatable", b"-i"];
    line.has(Meaning::PartialLink) || line.linker_words().iter().any(|w| flags.contains(w))
}

/// A build written by hand may name the library itself.
fn names_library(line: &CommandLine) -> bool {
    line.values(Meaning::Library).any(|name| name == "pomp") || has_input(line, &["libpomp"])
}

/// CMake's `OpenMP::OpenMP_C` names OpenMP's runtime as a file.
fn names_openmp_library(line: &CommandLine) -> bool {
    has_input(line, &["libgomp", "libomp", "libiomp5"])
}

/// Whether one of these libraries is an input, in any form: `libx.a`, `libx.so.1`.
fn has_input(line: &CommandLine, libraries: &[&str]) -> bool {
    line.arguments.iter().any(|argument| {
        let file = Path::new(argument.name()).file_name().unwrap_or_default();
        let name = file.to_string_lossy();
        let stem = name.split_once('.').filter(|(_, rest)| {
            *rest == "a" || *rest == "dylib" || *rest == "so" || rest.starts_with("so.")
        });
        matches!(argument.role, Role::Input(_))
            && stem.is_some_and(|(stem, _)| libraries.contains(&stem))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wrapper::command::classify::classified;

    fn decision(text: &str) -> Decision {
        decide(&classified(text), Path::new("/home/user/project"))
    }

    #[test]
    fn a_program_of_sources_alone() {
        let is_whole = |text| makes_whole_program(&classified(text));
        assert!(is_whole("-fopenmp a.c b.c -lm -o app"));
        for text in [
            "-fopenmp -c a.c",
            "-fopenmp a.c b.o",
            "-fopenmp -shared a.c",
            "a.c",
        ] {
            assert!(!is_whole(text), "{text}");
        }
    }

    #[test]
    fn only_openmp_sources_are_built_by_us() {
        assert_eq!(decision("-fopenmp -c a.c"), Decision::Build);
        assert_eq!(decision("-fopenmp a.c b.o -o app"), Decision::Build);
        assert_eq!(decision("-c a.c"), Decision::AsGiven);
        assert_eq!(decision("-fopenmp -fno-openmp -c a.c"), Decision::AsGiven);
        assert_eq!(decision("-fopenmp-simd -c a.c"), Decision::AsGiven);
        assert_eq!(decision("-fopenmp -c a.cc"), Decision::Build);
        assert_eq!(decision("-fopenmp -x c++ -c a.c"), Decision::Build);
        assert_eq!(decision("-fopenmp -c a.s"), Decision::AsGiven);
        assert_eq!(decision("-fopenmp -x c -c -"), Decision::Build);
        assert_eq!(decision("-Xclang -fopenmp -c a.c"), Decision::Build);
    }

    #[test]
    fn queries_and_preprocessing_are_left_alone() {
        for text in [
            "--version",
            "-v",
            "-fopenmp -v",
            "-print-prog-name=ld -fopenmp a.c",
            "-###",
        ] {
            assert_eq!(decision(text), Decision::AsGiven, "{text}");
        }
        for flag in ["-E", "-M", "-MM", "-fsyntax-only", "-c -E"] {
            assert_eq!(
                decision(&format!("-fopenmp {flag} a.c")),
                Decision::AsGiven,
                "{flag}"
            );
        }
    }

    #[test]
    fn programs_get_the_library_and_objects_do_not() {
        assert_eq!(decision("-fopenmp a.o -o app"), Decision::Link);
        assert_eq!(decision("a.o -lgomp -o app"), Decision::Link);
        assert_eq!(decision("a.o /usr/lib/libgomp.so -o app"), Decision::Link);
        assert_eq!(decision("a.o /usr/lib/libomp.so.5 -o app"), Decision::Link);
        assert_eq!(decision("a.o libgomp.o -o app"), Decision::AsGiven);
        assert_eq!(decision("a.o -o app"), Decision::AsGiven);
        assert_eq!(decision("-fopenmp a.h"), Decision::AsGiven);
        assert_eq!(
            decision("-fopenmp -x c++-header a -o a.gch"),
            Decision::AsGiven
        );
        for flags in ["-r", "-Wl,-r", "-nostdlib", "-nostdlib -shared"] {
            assert_eq!(
                decision(&format!("-fopenmp {flags} a.o")),
                Decision::AsGiven,
                "{flags}"
            );
        }
        assert_eq!(decision("-fopenmp -shared a.o"), Decision::Link);
        assert_eq!(decision("-shared a.o -o liba.so"), Decision::AsGiven);
        assert_eq!(decision("-fopenmp a.o -lpomp"), Decision::AsGiven);
        assert_eq!(
            decision("-fopenmp a.o /opt/lib/libpomp.a"),
            Decision::AsGiven
        );
    }

    #[test]
    fn configure_probes_are_not_instrumented() {
        assert_eq!(decision("-fopenmp -c conftest.c"), Decision::AsGiven);
        assert_eq!(decision("-fopenmp conftest.c -o conftest"), Decision::Link);
        let line = classified("-fopenmp -c OpenMPTryFlag.c");
        let directory = Path::new("/b/CMakeFiles/CMakeScratch/TryCompile-x");
        assert_eq!(decide(&line, directory), Decision::AsGiven);
        let link = |text| decide(&classified(text), directory);
        assert_eq!(link("-fopenmp try.o -o try"), Decision::Link);
        assert_eq!(link("-fopenmp try.o -o try -v"), Decision::AsGiven);
        assert_eq!(decision("-fopenmp conftest.c -v"), Decision::AsGiven);
        assert_eq!(decision("-fopenmp a.o -v"), Decision::Link);
    }
}
