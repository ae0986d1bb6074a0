//! The compilers and our own tools. A missing one is a failure that says what to
//! do, never a reason to pass over a test.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;
use std::{env, fs};

use crate::Outcome;

/// The compilers that must be there, with what to install.
const COMPILERS: &[(&str, &str)] = &[
    ("gcc", "install gcc (Debian: gcc)"),
    (
        "clang",
        "install clang and its OpenMP library (Debian: clang libomp-dev)",
    ),
    ("g++", "install g++ (Debian: g++)"),
    (
        "clang++",
        "install clang and its OpenMP library (Debian: clang libomp-dev g++)",
    ),
    ("gfortran", "install gfortran (Debian: gfortran)"),
];

/// A C or C++ compiler that can build OpenMP programs.
#[derive(Clone, Debug)]
pub struct Compiler {
    /// The command.
    pub name: String,
}

impl Compiler {
    /// The wrapper for its language, and the variable that tells the wrapper its
    /// name.
    #[must_use]
    pub fn wrapper(&self) -> (&'static str, &'static str) {
        match self.name.as_str() {
            "gfortran" => ("rompfc", "ROMP_FC"),
            name if name.starts_with("flang") => ("rompfc", "ROMP_FC"),
            name if name.ends_with("++") => ("rompcxx", "ROMP_CXX"),
            _ => ("rompcc", "ROMP_CC"),
        }
    }

    /// LLVM's compiler for Fortran, if one is here that can build an OpenMP program
    /// (`LIBRARY_PATH` may have to say where its runtime is).
    ///
    /// # Errors
    /// Why there is none. Tests may do without, but have to say so.
    pub fn flang() -> Outcome<Self> {
        const NAMES: [&str; 5] = [
            "flang",
            "flang-new",
            "flang-new-20",
            "flang-new-19",
            "flang-20",
        ];
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        let source = folder.path().join("try.f90");
        let text = "!$omp parallel\n!$omp end parallel\nend\n";
        fs::write(&source, text).map_err(|e| e.to_string())?;
        let mut why = format!("none of {} is there", NAMES.join(", "));
        for name in NAMES {
            let mut command = Command::new(name);
            command
                .args(["-fopenmp", "-o"])
                .arg(folder.path().join("try"));
            match command.arg(&source).output() {
                Ok(output) if output.status.success() => {
                    return Ok(Self { name: name.into() });
                }
                Ok(output) => why = String::from_utf8_lossy(&output.stderr).into_owned(),
                Err(_) => {}
            }
        }
        Err(why)
    }

    /// Whether it has the flags that judge a program: GNU's and Clang's have.
    #[must_use]
    pub fn judges(&self) -> bool {
        !self.name.starts_with("flang")
    }

    /// The compiler of this name, once it has compiled and linked an OpenMP
    /// program.
    ///
    /// # Errors
    /// If it can't; the message says what to install.
    pub fn find(name: &str) -> Outcome<Self> {
        let Some((_, advice)) = COMPILERS.iter().find(|(known, _)| *known == name) else {
            return Err(format!(
                "the compiler '{name}' is not one that the tests know"
            ));
        };
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        let source = folder.path().join("try.c");
        fs::write(
            &source,
            "#include <omp.h>\nint main(void) { return omp_get_level(); }\n",
        )
        .map_err(|e| e.to_string())?;
        let tried = Command::new(name)
            .args(["-fopenmp", "-o"])
            .args([folder.path().join("try"), source])
            .output()
            .map_err(|e| format!("{name} can't be started ({e}): {advice}"))?;
        if !tried.status.success() {
            let messages = String::from_utf8_lossy(&tried.stderr);
            return Err(format!(
                "{name} can't build an OpenMP program: {advice}\n{messages}"
            ));
        }
        Ok(Self {
            name: name.to_owned(),
        })
    }
}

/// The folder with `rompcc` and `romp`, and `libpomp.a` in it or where an
/// installation has it: `ROMP_BIN_DIR`, or else `release` in the target directory
/// that this test was built in.
///
/// # Errors
/// If one of them is absent or, without `ROMP_BIN_DIR`, older than a source that
/// it is built from.
pub fn romp_bin_dir() -> Outcome<PathBuf> {
    let named = env::var_os("ROMP_BIN_DIR").map(PathBuf::from);
    let folder = match &named {
        Some(folder) => folder.clone(),
        None => target_dir()?.join("release"),
    };
    for tool in [
        "romp",
        "rompcc",
        "rompcxx",
        "rompfc",
        "libpomp.a",
        "libpomp.so",
    ] {
        let installed = folder.join("../lib").join(tool);
        let path = match named.is_some() && installed.is_file() {
            true => installed,
            false => folder.join(tool),
        };
        let fault = match modified(&path) {
            None => Some("not there".to_owned()),
            Some(built) if named.is_none() => newer_source(&path, built),
            Some(_) => None,
        };
        if let Some(fault) = fault {
            return Err(format!(
                "{} is {fault}: run `cargo build --release`, or set ROMP_BIN_DIR to the folder to use",
                path.display()
            ));
        }
    }
    Ok(folder)
}

/// The folder with `romp` and `rompcc` of the build that this test belongs to:
/// they know how to fail, as release builds don't.
///
/// # Errors
/// If the test program is in no target directory.
pub fn test_bin_dir() -> Outcome<PathBuf> {
    let program = env::current_exe().map_err(|e| e.to_string())?;
    let folder = program.ancestors().nth(2);
    folder
        .map(Path::to_owned)
        .ok_or_else(|| format!("{} is in no target directory", program.display()))
}

/// Whether a source changed after a tool was built, by cargo's list of the
/// sources that it was built from.
fn newer_source(tool: &Path, built: SystemTime) -> Option<String> {
    let list = fs::read_to_string(tool.with_extension("d")).ok()?;
    let sources = list
        .lines()
        .filter_map(|line| line.split_once(": "))
        .flat_map(|(_, sources)| {
            let words = sources.replace("\\ ", "\0");
            words
                .split(' ')
                .map(|word| word.replace('\0', " "))
                .collect::<Vec<_>>()
        });
    let mut newer =
        sources.filter(|source| modified(Path::new(source)).is_some_and(|time| time > built));
    newer.next().map(|source| format!("older than {source}"))
}

/// The target directory: this program is `<target>/<profile>/deps/<name>`.
fn target_dir() -> Outcome<PathBuf> {
    let program = env::current_exe().map_err(|e| e.to_string())?;
    let target = program.ancestors().nth(3);
    target
        .map(Path::to_owned)
        .ok_or_else(|| format!("{} is in no target directory", program.display()))
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).ok()?.modified().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_compiler_is_refused() {
        assert!(Compiler::find("no-such-compiler").is_err());
    }

    #[test]
    fn the_target_directory_holds_this_program() {
        let target = target_dir().unwrap();
        assert!(env::current_exe().unwrap().starts_with(&target));
    }

    #[test]
    fn a_tool_older_than_its_sources_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let tool = folder.path().join("tool");
        let source = folder.path().join("a source.rs");
        fs::write(&source, "").unwrap();
        let list = format!(
            "{}: {}\n",
            tool.display(),
            source.display().to_string().replace(' ', "\\ ")
        );
        fs::write(tool.with_extension("d"), list).unwrap();
        let time = modified(&source).unwrap();
        assert_eq!(newer_source(&tool, time), None);
        assert!(
            newer_source(&tool, SystemTime::UNIX_EPOCH)
                .unwrap()
                .contains("a source.rs")
        );
    }
}
