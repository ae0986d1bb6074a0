//! Programs that are built as they are, and run with and without `romp run`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use profile::model::Profile;
use tempfile::TempDir;
use tests::NO_HELPERS;
use tests::toolchain::romp_bin_dir;

pub(super) fn fixtures() -> PathBuf {
    fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures")).unwrap()
}

/// A folder with programs, where they run.
pub(super) struct ProgramFolder {
    pub(super) directory: TempDir,
    pub(super) bin: PathBuf,
}

impl ProgramFolder {
    pub(super) fn new() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
            bin: romp_bin_dir().unwrap(),
        }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Builds a fixture. With `romp:` in front of the compiler's name it is built with us.
    pub(super) fn build(&self, compiler: &str, fixture: &str, flags: &[&str], program: &str) {
        let command = match compiler.strip_prefix("romp:") {
            Some(compiler) => {
                let (wrapper, variable) = match compiler {
                    "gfortran" => ("rompfc", "ROMP_FC"),
                    _ => ("rompcc", "ROMP_CC"),
                };
                let mut command = Command::new(self.bin.join(wrapper));
                command.env(variable, compiler).env("ROMP_STRICT", "1");
                command
            }
            None => Command::new(compiler),
        };
        let mut command = command;
        command
            .current_dir(self.directory.path())
            .args(["-fopenmp", "-w", "-o", program])
            .args(flags)
            .arg(fixtures().join(fixture))
            .args(["-pthread", "-ldl"]);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{command:?}: {output:?}");
    }

    pub(super) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new("timeout");
        command
            .arg("100")
            .args(words)
            .current_dir(self.directory.path());
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if ["OMP_", "GOMP_", "ROMP_"]
                .iter()
                .any(|start| text.starts_with(start))
            {
                command.env_remove(&name);
            }
        }
        command
            .env("OMP_WAIT_POLICY", "passive")
            .envs([NO_HELPERS])
            .env("OMP_NUM_THREADS", "4");
        command
    }

    /// Runs a program under `romp run`.
    pub(super) fn romp_run(&self, words: &[&str], settings: &[(&str, &str)]) -> Output {
        let romp = self.bin.join("romp");
        let mut command = self.command(&[romp.to_str().unwrap(), "run"]);
        command.args(words).envs(settings.iter().copied());
        command.output().unwrap()
    }

    /// Runs a program as it is and under `romp run`: its behaviour must not differ.
    pub(super) fn runs_the_same(&self, words: &[&str], settings: &[(&str, &str)]) -> String {
        let plain = self
            .command(words)
            .envs(settings.iter().copied())
            .output()
            .unwrap();
        let measured = self.romp_run(words, settings);
        let said = String::from_utf8_lossy(&measured.stderr).into_owned();
        assert_eq!(measured.status, plain.status, "{words:?}: {said}");
        assert_eq!(measured.stdout, plain.stdout, "{words:?}: {said}");
        said
    }

    /// Reads the profiles of a program in the folder, and removes them.
    pub(super) fn profiles(&self, program: &str) -> Vec<Profile> {
        let mut found = Vec::new();
        for entry in fs::read_dir(self.directory.path()).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if name.starts_with(&format!("{program}.")) && name.ends_with(".romp.json") {
                found.push(Profile::open(&path).unwrap());
                fs::remove_file(&path).unwrap();
            }
        }
        found
    }

    pub(super) fn profile(&self, program: &str) -> Profile {
        let mut profiles = self.profiles(program);
        assert_eq!(profiles.len(), 1, "{program}");
        profiles.remove(0)
    }
}
