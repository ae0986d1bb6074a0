//! Projects in `fixtures/projects`: each is a folder with a script `build`, which
//! builds a program `app` in the current directory with the compilers that `CC`
//! and `CXX` name, and checks for itself what it can.
//!
//! The script's first comment says what must come out of it:
//!
//! ```text
//! # romp-test: sources=main.c,part.c    files of which a region must have run
//! # romp-test: warnings=3               sources not measured if nothing can be
//! #                                     (default: one for each of `sources`; * for any)
//! ```

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use profile::model::Profile;
use tempfile::TempDir;

use crate::Outcome;
use crate::invariants;

/// Time limit, far longer than any project takes.
const SECONDS: &str = "300";

/// A project.
#[derive(Debug)]
pub struct Project {
    /// Its folder's name.
    pub name: String,
    sources: Vec<String>,
    warnings: Option<usize>,
}

/// A build of a project.
#[derive(Debug)]
pub struct Built {
    folder: TempDir,
    /// The script's status and everything that it printed.
    pub output: Output,
}

/// The environment variables of a build besides the compilers.
pub type Settings<'a> = &'a [(&'a str, &'a str)];

impl Project {
    /// Reads what a project's script says.
    ///
    /// # Errors
    /// If there is no such project, or its script says nothing about sources.
    pub fn read(name: &str) -> Outcome<Self> {
        let script = folder(name).join("build");
        let text = fs::read_to_string(&script).map_err(|e| format!("{}: {e}", script.display()))?;
        let words = text
            .lines()
            .filter_map(|line| line.strip_prefix("# romp-test: "));
        let words: Vec<&str> = words.flat_map(values).collect();
        let value = |key: &str| words.iter().find_map(|word| word.strip_prefix(key));
        let sources = value("sources=").ok_or(format!("{name}: no sources= in its script"))?;
        let sources: Vec<String> = sources.split(',').map(str::to_owned).collect();
        let warnings = match value("warnings=") {
            None => Some(sources.len()),
            Some("*") => None,
            Some(number) => Some(
                number
                    .parse()
                    .map_err(|e| format!("{name}: warnings: {e}"))?,
            ),
        };
        Ok(Self {
            name: name.to_owned(),
            sources,
            warnings,
        })
    }

    /// Builds the project with the compilers of an environment, from read-only sources.
    ///
    /// # Errors
    /// If the build can't be started.
    pub fn build(&self, path: &str, settings: Settings<'_>) -> Outcome<Built> {
        let folder = TempDir::new().map_err(|e| e.to_string())?;
        for part in ["build", "tmp"] {
            fs::create_dir(folder.path().join(part)).map_err(|e| e.to_string())?;
        }
        let source = folder.path().join("source");
        run(Command::new("cp")
            .arg("-r")
            .arg(self::folder(&self.name))
            .arg(&source))?;
        run(Command::new("chmod").args(["-R", "a-w"]).arg(&source))?;
        let mut command = Command::new("timeout");
        command.arg(SECONDS).arg(source.join("build"));
        command.current_dir(folder.path().join("build"));
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("ROMP_") {
                command.env_remove(name);
            }
        }
        command.env("SOURCE", &source).env("PATH", path);
        command.env("TMPDIR", folder.path().join("tmp"));
        // Programs that scripts run for themselves leave their profiles here.
        command.env("ROMP_OUTPUT", folder.path().join("scripts"));
        command.env("LC_ALL", "C.UTF-8").env("OMP_NUM_THREADS", "2");
        command.env("OMPI_ALLOW_RUN_AS_ROOT", "1");
        command.env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        command.envs(settings.iter().copied());
        let output = command.output().map_err(|e| e.to_string())?;
        Ok(Built { folder, output })
    }

    /// Checks a measured program against what the plain one printed.
    ///
    /// # Errors
    /// If it prints something else, or its profile lacks a source or does not
    /// agree with itself.
    pub fn check(&self, built: &Built, printed: &str) -> Outcome<()> {
        let (again, profiles) = built.run()?;
        if again != printed {
            return Err(format!(
                "it prints {again:?}, the plain program {printed:?}"
            ));
        }
        let [path] = profiles.as_slice() else {
            return Err(format!("one profile expected, not {profiles:?}"));
        };
        let text = fs::read_to_string(path).map_err(|e| e.to_string())?;
        let profile: Profile = serde_json::from_str(&text).map_err(|e| e.to_string())?;
        let contradictions = invariants::contradictions(&profile);
        if !contradictions.is_empty() {
            return Err(contradictions.join("\n"));
        }
        let ran: BTreeSet<&str> = profile
            .nodes
            .iter()
            .filter_map(|node| profile.regions.get(node.region))
            .map(|region| region.file.as_str())
            .collect();
        let missing: Vec<&String> = self
            .sources
            .iter()
            .filter(|source| !ran.iter().any(|file| Path::new(file).ends_with(source)))
            .collect();
        if missing.is_empty() {
            Ok(())
        } else {
            Err(format!(
                "{missing:?} are not among the measured sources {ran:?}"
            ))
        }
    }

    /// Checks that a build said once of every source that it is not measured.
    ///
    /// # Errors
    /// If it said so more or less often.
    pub fn check_warnings(&self, built: &Built) -> Outcome<()> {
        let text = built.text();
        let said = ours(&text)
            .filter(|said| said.starts_with("warning: "))
            .count();
        match self.warnings {
            Some(expected) if expected != said => Err(format!(
                "{said} warnings, not {expected}:\n{}",
                built.text()
            )),
            None if said == 0 => Err("no warning".into()),
            _ => Ok(()),
        }
    }
}

/// The messages of our commands in a text that a build printed.
pub fn ours(text: &str) -> impl Iterator<Item = &str> {
    const NAMES: [&str; 4] = ["rompcc: ", "rompcxx: ", "rompfc: ", "romp wrap: "];
    text.lines()
        .filter_map(|line| NAMES.iter().find_map(|name| Some(line.split_once(name)?.1)))
}

impl Built {
    /// Everything that the build printed.
    #[must_use]
    pub fn text(&self) -> String {
        let out = String::from_utf8_lossy(&self.output.stdout).into_owned();
        out + &String::from_utf8_lossy(&self.output.stderr)
    }

    /// Fails if the build did, or left a temporary file of ours behind.
    ///
    /// # Errors
    /// As said, with all that was printed.
    pub fn succeeded(&self) -> Outcome<&Self> {
        if !self.output.status.success() {
            return Err(format!(
                "the build ends with {}:\n{}",
                self.output.status,
                self.text()
            ));
        }
        let left = fs::read_dir(self.folder.path().join("tmp")).map_err(|e| e.to_string())?;
        let mut names = left.flatten().map(|entry| entry.file_name());
        match names.find(|name| name.to_string_lossy().starts_with("romp-")) {
            Some(name) => Err(format!("{} is left behind", name.display())),
            None => Ok(self),
        }
    }

    /// What the program prints, and the profiles that it leaves.
    ///
    /// # Errors
    /// If it can't be run, or ends with an error.
    pub fn run(&self) -> Outcome<(String, Vec<PathBuf>)> {
        let profiles = self.folder.path().join("profiles");
        let output = Command::new("./app")
            .current_dir(self.folder.path().join("build"))
            .env("ROMP_OUTPUT", &profiles)
            .env("OMP_NUM_THREADS", "2")
            .output()
            .map_err(|e| format!("./app: {e}"))?;
        if !output.status.success() {
            return Err(format!("./app ends with {output:?}"));
        }
        let entries = fs::read_dir(&profiles).into_iter().flatten().flatten();
        let saved = entries.map(|entry| entry.path());
        let saved = saved.filter(|path| path.to_string_lossy().ends_with(".romp.json"));
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok((printed, saved.collect()))
    }
}

impl Drop for Built {
    /// Makes directories writable again: files in a read-only directory can't be removed.
    fn drop(&mut self) {
        let _ = run(Command::new("chmod")
            .args(["-R", "u+w"])
            .arg(self.folder.path()));
    }
}

/// The values of a line: a word without `=` belongs to the value before it.
fn values(line: &str) -> Vec<&str> {
    let mut begins: Vec<usize> = line
        .match_indices('=')
        .map(|(at, _)| line[..at].rfind(' ').map_or(0, |blank| blank + 1))
        .collect();
    begins.push(line.len());
    let ranges = begins.windows(2).map(|pair| line[pair[0]..pair[1]].trim());
    ranges.collect()
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../fixtures/projects")
        .join(name)
}

fn run(command: &mut Command) -> Outcome<()> {
    let status = command.status().map_err(|e| format!("{command:?}: {e}"))?;
    status
        .success()
        .then_some(())
        .ok_or(format!("{command:?}: {status}"))
}

/// Installs Romp from a folder of built commands, then moves the installation:
/// it must find its parts wherever it is.
///
/// # Errors
/// If that fails.
pub fn install(bin: &Path) -> Outcome<TempDir> {
    let folder = TempDir::new().map_err(|e| e.to_string())?;
    let first = folder.path().join("first");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../install");
    let output = Command::new(script)
        .arg("--prefix")
        .arg(&first)
        .arg("--bin-dir")
        .arg(bin)
        .output()
        .map_err(|e| format!("install: {e}"))?;
    if !output.status.success() {
        return Err(format!("install: {output:?}"));
    }
    fs::rename(&first, folder.path().join("romp")).map_err(|e| e.to_string())?;
    Ok(folder)
}

/// Puts the commands of a test build in place of an installation's. They can be told to fail
/// (`ROMP_FAULT`).
///
/// # Errors
/// If they are not there.
pub fn breakable(tools: &Path, into: &Path) -> Outcome<()> {
    fs::create_dir(into).map_err(|e| e.to_string())?;
    for (link, tool) in [
        ("rompcc", "rompcc"),
        ("rompcxx", "rompcc"),
        ("rompfc", "rompcc"),
        ("romp", "romp"),
    ] {
        let tool = tools.join(tool);
        let mode = fs::metadata(&tool).map(|data| data.permissions().mode());
        if !mode.is_ok_and(|mode| mode & 0o111 != 0) {
            return Err(format!(
                "{} is not there: run `cargo build`",
                tool.display()
            ));
        }
        std::os::unix::fs::symlink(tool, into.join(link)).map_err(|e| e.to_string())?;
    }
    Ok(())
}
