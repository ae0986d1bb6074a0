//! Projects in temporary directories, and runs of `rompcc` in them.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use tempfile::TempDir;

pub(crate) const ROMPCC: &str = env!("CARGO_BIN_EXE_rompcc");

/// The wrapper under one of its names.
pub(crate) fn wrapper(name: &str) -> Command {
    let mut command = Command::new(ROMPCC);
    command.arg0(name);
    command
}

/// `rompfc`: the same program under another name.
pub(crate) fn rompfc() -> Command {
    wrapper("rompfc")
}

/// The real compilers that all tests run with.
pub(crate) const COMPILERS: &[&str] = &["gcc", "clang"];

/// A program in one file.
pub(crate) const PROGRAM: &str = "\
#include <stdio.h>
int main(void) {
  int sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 10; i++) sum += i;
  printf(\"%d %s %s %d\\n\", sum, __FILE__, __BASE_FILE__, __LINE__);
  return 0;
}
";

/// A function in a file of its own, with something to measure.
pub(crate) fn function(name: &str, result: &str) -> String {
    format!("int {name}(void) {{\n#pragma omp barrier\n  return {result};\n}}\n")
}

/// A directory with sources, and beside it one for temporary files.
pub(crate) struct Project {
    root: TempDir,
}

/// The outcome of a run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    /// How often a compiler was started, according to `ROMP_VERBOSE`.
    pub(crate) fn commands_of(&self, compiler: &str) -> usize {
        let begin = format!("rompcc: {compiler} ");
        let lines = self.stderr.lines();
        lines.filter(|line| line.starts_with(&begin)).count()
    }
}

impl Project {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        for compiler in COMPILERS {
            let found = Command::new(compiler).arg("--version").output();
            assert!(
                found.is_ok(),
                "these tests need {compiler}: please install it"
            );
        }
        let project = Self {
            root: tempfile::tempdir().unwrap(),
        };
        std::fs::create_dir(project.directory()).unwrap();
        std::fs::create_dir(project.temporary()).unwrap();
        for (name, text) in files {
            project.write(name, text);
        }
        project
    }

    pub(crate) fn directory(&self) -> PathBuf {
        self.root.path().join("project")
    }

    pub(crate) fn temporary(&self) -> PathBuf {
        self.root.path().join("tmp")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        String::from_utf8_lossy(&self.bytes(name)).into_owned()
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn exists(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// The files of the project; sizes are left out.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut names = Vec::new();
        collect(&self.directory(), Path::new(""), &mut names);
        names.sort();
        names
    }

    /// Whether an object or program calls the library.
    pub(crate) fn is_measured(&self, name: &str) -> bool {
        let bytes = self.bytes(name);
        let in_c = bytes.windows(5).any(|part| part == b"POMP_");
        in_c || bytes.windows(6).any(|part| part == b"pompf_")
    }

    /// `rompcc` with the words of `text` as arguments, ready to run.
    pub(crate) fn rompcc(&self, compiler: &str, text: &str) -> Invocation {
        let mut command = Command::new(ROMPCC);
        command.args(text.split_whitespace());
        self.invocation(command).env("ROMP_CC", compiler)
    }

    pub(crate) fn invocation(&self, mut command: Command) -> Invocation {
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("ROMP_") {
                command.env_remove(name);
            }
        }
        command.current_dir(self.directory()).stdin(Stdio::null());
        command
            .env("TMPDIR", self.temporary())
            .env("LC_ALL", "C")
            .env("ROMP_LIB", library());
        Invocation {
            command,
            input: None,
        }
    }

    /// Runs a program that was built.
    pub(crate) fn execute(&self, name: &str) -> String {
        let output = Command::new(self.path(name))
            .current_dir(self.directory())
            .output()
            .unwrap();
        assert!(output.status.success(), "{name}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Fails if a temporary file is left.
    pub(crate) fn assert_clean(&self) {
        let left: Vec<_> = self.temporary().read_dir().unwrap().flatten().collect();
        assert!(left.is_empty(), "left behind: {left:?}");
    }
}

fn collect(root: &Path, inner: &Path, names: &mut Vec<String>) {
    for entry in root.join(inner).read_dir().unwrap().flatten() {
        let name = inner.join(entry.file_name());
        if entry.path().is_dir() {
            collect(root, &name, names);
        } else {
            names.push(name.to_string_lossy().into_owned());
        }
    }
}

/// A command about to run.
pub(crate) struct Invocation {
    pub(crate) command: Command,
    input: Option<String>,
}

impl Invocation {
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    pub(crate) fn arg(mut self, word: impl AsRef<std::ffi::OsStr>) -> Self {
        self.command.arg(word);
        self
    }

    pub(crate) fn input(mut self, text: &str) -> Self {
        self.input = Some(text.to_owned());
        self
    }

    /// Starts the command with the signal dispositions of a terminal. A shell starts background
    /// commands with SIGINT ignored, and this test's children would inherit that.
    pub(crate) fn start(self) -> Child {
        let given = self.command;
        let mut command = Command::new("/usr/bin/env");
        command
            .arg("--default-signal=HUP,INT,TERM")
            .arg(given.get_program())
            .args(given.get_args());
        for (name, value) in given.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        if let Some(folder) = given.get_current_dir() {
            command.current_dir(folder);
        }
        command.spawn().unwrap()
    }

    pub(crate) fn run(mut self) -> Run {
        if self.input.is_some() {
            self.command.stdin(Stdio::piped());
        }
        self.command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn().unwrap();
        if let (Some(mut pipe), Some(text)) = (child.stdin.take(), self.input) {
            std::io::Write::write_all(&mut pipe, text.as_bytes()).unwrap();
        }
        let output = child.wait_with_output().unwrap();
        Run {
            code: output.status.code(),
            signal: output.status.signal(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Runs the command and expects success without any output.
    pub(crate) fn quietly(self) {
        let run = self.run();
        assert_eq!((run.code, &*run.stdout, &*run.stderr), (Some(0), "", ""));
    }
}

/// A fake compiler from `fixtures/compilers`.
pub(crate) fn fake(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../fixtures/compilers")
        .join(name);
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_ne!(mode & 0o111, 0, "{} must be executable", path.display());
    path.to_str().unwrap().to_owned()
}

/// A library with every function of the interface, none of which does
/// anything: these tests are about building.
pub(crate) fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("wrapper-library");
        std::fs::create_dir_all(&directory).unwrap();
        // Test processes may run side by side: each makes its own and moves it.
        let private = tempfile::tempdir_in(&directory).unwrap();
        let run = |program: &str, words: &[&str]| {
            let status = Command::new(program)
                .args(words)
                .current_dir(private.path())
                .status();
            assert!(status.unwrap().success(), "{program}");
        };
        std::fs::write(private.path().join("stub.c"), stub()).unwrap();
        run("gcc", &["-c", "stub.c", "-fPIC", "-w"]);
        run("ar", &["rcs", "libpomp.a", "stub.o"]);
        let library = directory.join("libpomp.a");
        std::fs::rename(private.path().join("libpomp.a"), &library).unwrap();
        library
    })
}

fn stub() -> String {
    let header = Path::new(env!("CARGO_MANIFEST_DIR")).join("../pomp-runtime/include/pomp_lib.h");
    let text = std::fs::read_to_string(header).unwrap();
    let mut names = BTreeMap::new();
    for (at, _) in text.match_indices("POMP_") {
        let name: String = text[at..]
            .chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect();
        if text[at + name.len()..].starts_with('(') {
            names.insert(name, ());
        }
    }
    let in_fortran = |name: &String| format!("{}_", name.replace("POMP_", "POMPF_").to_lowercase());
    names
        .keys()
        .flat_map(|name| [name.clone(), in_fortran(name)])
        .map(|name| format!("void *{name}(void) {{ return 0; }}\n"))
        .collect()
}
