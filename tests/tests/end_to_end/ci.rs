//! The job of `docs/ci.md`, taken from there line by line and run on a project.
//! It passes. A new fault makes it fail and is named with its place, and a file that
//! can't be measured makes it fail too.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tests::Outcome;
use tests::fixture::fixtures;
use tests::toolchain::romp_bin_dir;

/// A copy of the project.
struct Project {
    folder: tempfile::TempDir,
    path: OsString,
}

impl Project {
    fn new() -> Outcome<Self> {
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        let copied = Command::new("cp")
            .arg("-r")
            .arg(fixtures().join("ci/."))
            .arg(folder.path())
            .status();
        copied.map_err(|e| e.to_string())?;
        let mut path = romp_bin_dir()?.into_os_string();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        Ok(Self { folder, path })
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Replaces words in a file that holds them.
    fn edit(&self, name: &str, from: &str, to: &str) {
        let text = std::fs::read_to_string(self.file(name)).unwrap();
        assert!(text.contains(from), "{name} has no '{from}'");
        std::fs::write(self.file(name), text.replace(from, to)).unwrap();
    }

    fn run(&self, job: &str) -> Output {
        Command::new("sh")
            .args(["-c", job])
            .current_dir(self.folder.path())
            .env("PATH", &self.path)
            .env("ROMP_CC", "gcc")
            .env("OMP_WAIT_POLICY", "passive")
            .env_remove("ROMP_STRICT")
            .output()
            .unwrap()
    }
}

/// The first block of shell in the manual.
fn job() -> String {
    let manual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/ci.md");
    let text = std::fs::read_to_string(manual).unwrap();
    let (_, rest) = text.split_once("```sh\n").unwrap();
    rest.split_once("```").unwrap().0.to_owned()
}

fn all(output: &Output) -> String {
    let [stdout, stderr] =
        [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    format!("{stdout}{stderr}{}\n", output.status)
}

#[test]
fn the_documented_job_passes_and_fails_as_it_says() {
    let (project, job) = (Project::new().unwrap(), job());

    let good = project.run(&job);
    assert!(good.status.success(), "{}", all(&good));
    let said = all(&good);
    assert!(said.contains("src/steps.c: verified, 2 regions"), "{said}");
    assert!(said.contains("note: no baseline is given"), "{said}");
    let limits = std::fs::read_to_string(project.file("romp.xml")).unwrap();
    assert!(limits.contains("failures=\"0\""), "{limits}");

    // The next run has a baseline, an edited source, and a fault.
    std::fs::rename(
        project.file("profiles/app.0.romp.json"),
        project.file("baseline.romp.json"),
    )
    .unwrap();
    project.edit(
        "src/steps.c",
        "#include <unistd.h>",
        "#define UNEVEN\n#include <unistd.h>",
    );
    let bad = project.run(&job);
    assert_eq!(bad.status.code(), Some(1), "{}", all(&bad));
    let said = String::from_utf8_lossy(&bad.stdout);
    // The loop is the cause, and the barrier is that of its region.
    for (line, limit) in [(23, "max-overhead total"), (21, "max-imbalance")] {
        let start = format!("src/steps.c:{line}: {limit}: ");
        let line = said.lines().find(|line| line.starts_with(&start));
        assert!(
            line.is_some_and(|line| line.contains("more than")),
            "{said}"
        );
    }
    // The region is matched although its line has moved.
    assert!(
        said.contains("PARALLEL steps.c:21 (was 20) in step"),
        "{said}"
    );
    assert!(!said.contains("is not in the baseline"), "{said}");
    let limits = std::fs::read_to_string(project.file("romp.xml")).unwrap();
    assert!(limits.contains("<failure message=\"waiting at"), "{limits}");
}

#[test]
fn a_file_that_cannot_be_measured_fails_the_job() {
    let project = Project::new().unwrap();
    // A compiler that rejects the instrumented text.
    let compiler = fixtures().join("compilers/reject-temporary-files");
    let job = job().replace(
        "make CC=rompcc",
        &format!("make CC='env ROMP_CC={} rompcc'", compiler.display()),
    );
    let ran = project.run(&job);
    assert_eq!(ran.status.code(), Some(2), "{}", all(&ran));
    let said = all(&ran);
    assert!(
        said.contains("error: src/steps.c is not measured"),
        "{said}"
    );
    assert!(!project.file("profiles").exists());
}
