//! Building and running one fixture, plain and instrumented.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use profile::model::{Profile, SCHEMA, VERSION};
use tempfile::TempDir;

use crate::fixture::Fixture;
use crate::toolchain::Compiler;
use crate::{NO_HELPERS, Outcome};

/// Every build uses these flags: instrumentation must cause no new warning.
const WARNINGS: &[&str] = &["-Wall", "-Wextra", "-Werror"];

/// Time limit: a program that takes as long hangs.
const SECONDS: &str = "60";

/// How a program is built.
#[derive(Clone, Copy, Debug)]
pub enum Build<'a> {
    /// By the compiler alone.
    Plain,
    /// By `rompcc` in this folder.
    Instrumented(&'a Path),
    /// By `rompcc --chunks` in this folder.
    Chunked(&'a Path),
    /// By `rompcc` in this folder, for a library that may lack functions.
    Asking(&'a Path),
}

/// A program that was built.
#[derive(Debug)]
pub struct Program {
    folder: TempDir,
    path: PathBuf,
}

/// What a program left behind.
#[derive(Debug)]
pub struct Ran {
    /// What it printed, and its status.
    pub output: Output,
    /// Profiles that it wrote.
    pub profiles: Vec<PathBuf>,
}

/// Builds a fixture with every warning an error.
///
/// # Errors
/// If the compiler fails, or says anything at all and the fixture has no gap.
pub fn build(
    fixture: &Fixture,
    compiler: &Compiler,
    std: &str,
    how: Build<'_>,
) -> Outcome<Program> {
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let path = folder.path().join(fixture.name());
    let mut command = match how {
        Build::Plain => Command::new(&compiler.name),
        Build::Instrumented(bin) | Build::Chunked(bin) | Build::Asking(bin) => {
            let (wrapper, variable) = compiler.wrapper();
            let mut command = Command::new(bin.join(wrapper));
            let strict = if fixture.header.gap.is_none() {
                "1"
            } else {
                "0"
            };
            command
                .env(variable, &compiler.name)
                .env("ROMP_STRICT", strict);
            match how {
                Build::Chunked(_) => command.env("ROMP_CHUNKS", "on"),
                Build::Asking(_) => command.env("ROMP_PARTIAL_LIBRARY", "on"),
                Build::Plain | Build::Instrumented(_) => &mut command,
            };
            command
        }
    };
    command
        .current_dir(folder.path())
        .args(["-fopenmp", "-O1"])
        // Some compilers know neither these warnings nor the standards.
        .args(compiler.judges().then_some(WARNINGS).into_iter().flatten())
        .args(compiler.judges().then(|| format!("-std={std}")))
        // In Fortran this flag warns of every old feature, and some fixtures are about those.
        .args((compiler.wrapper().0 != "rompfc").then_some("-pedantic"))
        .args(&fixture.header.flags)
        .arg("-o")
        .arg(&path)
        .arg(fs::canonicalize(&fixture.path).map_err(|e| e.to_string())?)
        .arg("-lm");
    let output = command.output().map_err(|e| format!("{command:?}: {e}"))?;
    let messages =
        String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    if !output.status.success() || !(messages.is_empty() || fixture.header.gap.is_some()) {
        return Err(format!(
            "{command:?}\nended with {}\n{messages}",
            output.status
        ));
    }
    Ok(Program { folder, path })
}

/// Runs a program in a folder of its own, in an environment without settings of
/// OpenMP or of ours but those of the fixture.
///
/// # Errors
/// If it can't be started or doesn't end.
pub fn run(fixture: &Fixture, program: &Program, settings: &[(&str, &str)]) -> Outcome<Ran> {
    let folder = tempfile::tempdir_in(program.folder.path())
        .map_err(|e| e.to_string())?
        .keep();
    let mut command = Command::new("timeout");
    command.arg(SECONDS).arg(&program.path).current_dir(&folder);
    for (name, _) in std::env::vars_os().filter(|(name, _)| is_a_setting(name)) {
        command.env_remove(name);
    }
    // Waiting threads sleep: on a small machine they would take the processors
    // from those that work.
    command
        .env("OMP_WAIT_POLICY", "passive")
        .envs([NO_HELPERS])
        .env("OMP_NUM_THREADS", fixture.header.threads.to_string());
    command.envs(
        fixture
            .header
            .environment
            .iter()
            .map(|(name, value)| (name, value)),
    );
    command.envs(settings.iter().copied());
    let output = command.output().map_err(|e| format!("{command:?}: {e}"))?;
    if output.status.code() == Some(124) {
        return Err(format!(
            "{} did not end within {SECONDS} seconds",
            fixture.name()
        ));
    }
    let mut profiles = Vec::new();
    for entry in fs::read_dir(&folder).map_err(|e| e.to_string())? {
        let path = entry.map_err(|e| e.to_string())?.path();
        if path.to_string_lossy().ends_with(".romp.json") {
            profiles.push(path);
        }
    }
    profiles.sort();
    Ok(Ran { output, profiles })
}

fn is_a_setting(name: &OsString) -> bool {
    let name = name.to_string_lossy();
    ["OMP_", "GOMP_", "KMP_", "ROMP_", "OMPP_"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
}

impl Ran {
    /// What it printed on stdout.
    #[must_use]
    pub fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.output.stdout).into_owned()
    }

    /// What it printed on stderr.
    #[must_use]
    pub fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }

    /// Whether it ended with status 0: a fixture checks its own results.
    ///
    /// # Errors
    /// If it did not; the message has what it printed.
    pub fn must_be_right(&self) -> Outcome<()> {
        if self.output.status.success() {
            return Ok(());
        }
        Err(format!(
            "ended with {}\n{}{}",
            self.output.status,
            self.stdout(),
            self.stderr()
        ))
    }

    /// The one profile that it wrote.
    ///
    /// # Errors
    /// If there is none, or another one, or it can't be read.
    pub fn profile(&self) -> Outcome<Profile> {
        let [path] = self.profiles.as_slice() else {
            return Err(format!("one profile expected, not {:?}", self.profiles));
        };
        let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let profile: Profile =
            serde_json::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))?;
        if profile.schema != SCHEMA || profile.version != VERSION {
            return Err(format!(
                "schema {} version {}",
                profile.schema, profile.version
            ));
        }
        Ok(profile)
    }
}
