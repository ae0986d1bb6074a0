//! Programs to build and run, shared by the end-to-end tests.

#![allow(dead_code)] // Each test needs a part of it.

use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use profile::load::load;
use profile::model::Profile;
use profile::region_kind::PseudoRegion;

const COMPILERS: &[&str] = &["gcc", "clang"];

/// The compilers that this machine has with OpenMP; one at least.
pub(crate) fn compilers() -> Vec<&'static str> {
    let found: Vec<_> = COMPILERS
        .iter()
        .copied()
        .filter(|compiler| Command::new(compiler).arg("--version").output().is_ok())
        .collect();
    assert!(
        !found.is_empty(),
        "no C compiler of {COMPILERS:?} is installed"
    );
    found
}

/// As `compilers`, for Fortran.
pub(crate) fn fortran_compilers() -> Vec<&'static str> {
    let found = Command::new("gfortran").arg("--version").output();
    assert!(found.is_ok(), "gfortran is not installed");
    vec!["gfortran"]
}

/// A program that was built in a directory of its own.
pub(crate) struct Program {
    pub(crate) directory: tempfile::TempDir,
    file: PathBuf,
}

/// A run: what it printed and what was saved.
pub(crate) struct Run {
    pub(crate) output: Output,
    pub(crate) profiles: Vec<Profile>,
}

impl Program {
    pub(crate) fn build(compiler: &str, source: &str, options: &[&str]) -> Self {
        let library = library();
        let options = [options, &[library.to_str().unwrap()]].concat();
        Self::build_plain(compiler, source, &options)
    }

    /// Without the library.
    pub(crate) fn build_plain(compiler: &str, source: &str, options: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("program");
        compile(compiler, source, &file, options);
        Self { directory, file }
    }

    pub(crate) fn run(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Run {
        self.run_by(Command::new(&self.file), arguments, environment)
    }

    /// As `run`, for a program that may never end: it is killed after a minute.
    pub(crate) fn run_in_time(&self, arguments: &[&str]) -> Run {
        let mut command = Command::new("timeout");
        command.args(["--signal=KILL", "60"]).arg(&self.file);
        self.run_by(command, arguments, &[])
    }

    /// As `run`, for a program to which `lend_rights` was applied.
    ///
    /// LLVM's runtime keeps a file for each process in /dev/shm, and a program that is killed
    /// leaves it there. A later process may have the same number: root opens that file again, the
    /// lent user may not, and the runtime ends the program. So such a file is removed first.
    pub(crate) fn run_with_rights(&self, environment: &[(&str, &str)]) -> Run {
        const START: &str = r#"rm -f /dev/shm/__KMP_REGISTERED_LIB_$$_*; exec "$0""#;
        let mut command = Command::new("sh");
        command.args(["-c", START]).arg(&self.file);
        self.run_by(command, &[], environment)
    }

    fn run_by(
        &self,
        mut command: Command,
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> Run {
        let here = self.directory.path();
        let output = command
            .args(arguments)
            .current_dir(here)
            .envs(environment.iter().copied())
            .output()
            .unwrap();
        let mut files: Vec<PathBuf> = std::fs::read_dir(here)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.to_string_lossy().ends_with(".romp.json"))
            .collect();
        files.sort();
        let profiles = files.iter().map(|file| load(file).unwrap()).collect();
        for file in &files {
            std::fs::remove_file(file).unwrap();
            // Else the next run would take the next number.
            let _ = std::fs::remove_file(file.with_extension("txt"));
        }
        Run { output, profiles }
    }
}

impl Program {
    /// What it prints, from a directory of its own, so that several tests can run
    /// one program.
    pub(crate) fn output(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Output {
        let here = tempfile::tempdir().unwrap();
        Command::new(&self.file)
            .args(arguments)
            .current_dir(here.path())
            .envs(environment.iter().copied())
            .output()
            .unwrap()
    }
}

impl Run {
    pub(crate) fn stdout(&self) -> &str {
        std::str::from_utf8(&self.output.stdout).unwrap()
    }

    pub(crate) fn stderr(&self) -> &str {
        std::str::from_utf8(&self.output.stderr).unwrap()
    }

    pub(crate) fn profile(&self) -> &Profile {
        assert_eq!(self.profiles.len(), 1, "{}", self.stderr());
        assert_eq!(self.stderr().lines().count(), 1, "{}", self.stderr());
        &self.profiles[0]
    }
}

/// Has the system run a program with the rights of another user or, where we may not make that, of
/// another group of ours. Returns whether the system will; if not, a message says so.
pub(crate) fn lend_rights(program: &Program) -> bool {
    const NOBODY: u32 = 65534;
    let path = program.directory.path();
    let mode = |path: &Path, mode| std::fs::set_permissions(path, Permissions::from_mode(mode));
    mode(path, 0o777).unwrap();
    let own = std::fs::metadata(path).unwrap();
    let lent = match own.uid() {
        0 => chown(&program.file, Some(NOBODY), None).and_then(|()| mode(&program.file, 0o4755)),
        _ => {
            let groups = Command::new("id").arg("-G").output().unwrap();
            let groups = String::from_utf8(groups.stdout).unwrap();
            let other = groups
                .split_whitespace()
                .filter_map(|group| group.parse().ok());
            let other = other.into_iter().find(|group| *group != own.gid());
            let given = other.map(|group| chown(&program.file, None, Some(group)));
            let given = given.unwrap_or_else(|| Err(std::io::Error::other("one group only")));
            given.and_then(|()| mode(&program.file, 0o2755))
        }
    };
    let said = lent.map(|()| {
        let run = program.run_with_rights(&[("ROMP_MEASURE", "off")]);
        run.output.stderr
    });
    let is_lent = said.as_deref().is_ok_and(|said| said == b"1\n");
    if !is_lent {
        println!("NOT TESTED: this system lends a program no rights: {said:?}");
    }
    is_lent
}

pub(crate) fn compile(compiler: &str, source: &str, to: &Path, options: &[&str]) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (folder, include) = match source.ends_with(".c") {
        true => ("tests/c", "include"),
        false => ("tests/fortran", "tests/fortran"),
    };
    let status = Command::new(compiler)
        .args(["-O1", "-g", "-fopenmp", "-Wall", "-Werror", "-I"])
        .arg(here.join(include))
        .arg(here.join(folder).join(source))
        .arg("-o")
        .arg(to)
        .args(options)
        .status()
        .unwrap();
    assert!(status.success(), "{compiler} {source}");
}

/// The static library, which cargo builds beside the tests, made into one object as for an
/// installation: a link takes a fifth of the time.
pub(crate) fn library() -> PathBuf {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(made_into_one_object).clone()
}

/// Makes it unless it was made since the library was built, and since the script was changed.
fn made_into_one_object() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let built = tests.parent().unwrap();
    let folder = built.join("one-object");
    let library = folder.join("libpomp.a");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../packaging/archive");
    let changed = |file: &Path| file.metadata().and_then(|data| data.modified()).ok();
    let made_of = [built.join("libpomp.a"), script.clone()];
    if made_of.iter().any(|it| changed(&library) <= changed(it)) {
        let status = Command::new(script).arg(built).arg(folder).status();
        assert!(status.unwrap().success(), "packaging/archive");
    }
    library
}

/// Counts without times: `atomic@3 0->1->0: main 5`.
pub(crate) fn counts(profile: &Profile) -> Vec<String> {
    let mut lines = Vec::new();
    for node in &profile.nodes {
        let region = &profile.regions[node.region];
        for row in &node.rows {
            let spans: Vec<String> = PseudoRegion::ALL
                .into_iter()
                .filter(|part| row.span(*part).count > 0)
                .map(|part| format!("{part:?} {}", row.span(part).count).to_lowercase())
                .collect();
            let thread = &profile.threads[row.thread];
            let (kind, line) = (&region.region_type, region.begin[0]);
            lines.push(format!("{kind}@{line} {thread}: {}", spans.join(" ")));
        }
    }
    lines
}
