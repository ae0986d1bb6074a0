//! The compilers and our own tools. A missing one is a failure that says what to
//! do, never a reason to pass over a test.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
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
        match self.command() {
            "gfortran" => ("rompfc", "ROMP_FC"),
            name if name.starts_with("flang") => ("rompfc", "ROMP_FC"),
            name if name.contains("++") => ("rompcxx", "ROMP_CXX"),
            _ => ("rompcc", "ROMP_CC"),
        }
    }

    /// LLVM's compiler for Fortran, if one is here that can build an OpenMP program
    /// (`LIBRARY_PATH` may have to say where its runtime is).
    ///
    /// # Errors
    /// If there is none; the message says why. Tests may do without, but have to say so.
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
        !self.command().starts_with("flang")
    }

    /// Whether its programs call LLVM's runtime.
    #[must_use]
    pub fn is_llvm(&self) -> bool {
        ["clang", "flang"]
            .iter()
            .any(|name| self.command().starts_with(name))
    }

    /// Its name without the folder.
    fn command(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or_default()
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

/// The folder with `romp` and `rompcc`, and `libpomp.a` in it or where an installation
/// has it: `ROMP_BIN_DIR`, or else that of a build in the profile `quick`, which is made
/// here or found to be up to date.
///
/// # Errors
/// If a part is absent from `ROMP_BIN_DIR`, or the build fails.
pub fn romp_bin_dir() -> Outcome<PathBuf> {
    static FOLDER: OnceLock<Outcome<PathBuf>> = OnceLock::new();
    FOLDER
        .get_or_init(|| match env::var_os("ROMP_BIN_DIR") {
            Some(folder) => complete(PathBuf::from(folder)),
            None => quick_build(),
        })
        .clone()
}

/// The folder, if every command and library is in it.
fn complete(folder: PathBuf) -> Outcome<PathBuf> {
    let parts = [
        "romp",
        "rompcc",
        "rompcxx",
        "rompfc",
        "libpomp.a",
        "libpomp.so",
        "libromp_run.so",
    ];
    let is_there = |part: &str| {
        [folder.join(part), folder.join("../lib").join(part)]
            .iter()
            .any(|path| path.exists())
    };
    match parts.iter().find(|part| !is_there(part)) {
        None => Ok(folder),
        Some(part) => Err(format!(
            "{} is not there: run `packaging/build`, or unset ROMP_BIN_DIR",
            folder.join(part).display()
        )),
    }
}

/// One program serves under four names.
fn quick_build() -> Outcome<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let status = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .current_dir(root)
        .args(["build", "--quiet", "--profile", "quick", "--lib"])
        .args(["--package", "instrumenter", "--bin", "romp"])
        .args(["--package", "collector", "--package", "pomp-run"])
        .args(["--package", "pomp-runtime", "--target-dir"])
        .arg(target_dir()?)
        .status()
        .map_err(|e| format!("cargo can't be started: {e}"))?;
    if !status.success() {
        return Err(format!("the build of romp and libpomp failed: {status}"));
    }
    let folder = target_dir()?.join("quick");
    make_archive(&folder)?;
    for name in ["rompcc", "rompcxx", "rompfc"] {
        match std::os::unix::fs::symlink("romp", folder.join(name)) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                return Err(format!("{name}: {error}"));
            }
            _ => {}
        }
    }
    complete(folder)
}

/// Makes the archive that users get, if it is not there already, so that programs are linked
/// with it. With the library as cargo leaves it a link takes ten times as long.
fn make_archive(folder: &Path) -> Outcome<()> {
    let made = folder.join("lib");
    let age = |folder: &Path| {
        let data = folder.join("libpomp.a").metadata();
        data.and_then(|data| data.modified()).ok()
    };
    if age(&made) > age(folder) {
        return Ok(());
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../packaging/archive");
    let output = Command::new(script).arg(folder).arg(&made).output();
    let output = output.map_err(|error| format!("packaging/archive: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// The folder with `romp` and `rompcc` of the build that this test belongs to. Unlike release
/// builds, they can be told to fail.
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

/// The target directory: this program is `<target>/<profile>/deps/<name>`.
fn target_dir() -> Outcome<PathBuf> {
    let program = env::current_exe().map_err(|e| e.to_string())?;
    let target = program.ancestors().nth(3);
    target
        .map(Path::to_owned)
        .ok_or_else(|| format!("{} is in no target directory", program.display()))
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
}
