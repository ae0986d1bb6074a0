//! Programs that end in every way under every limit, plain and measured. Both must end
//! alike, print the same and leave the same files. The expected profiles must be there.

pub mod conditions;
pub mod ways;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::Outcome;
use crate::fixture::fixtures;
use crate::processors;
use crate::toolchain::{Compiler, romp_bin_dir};
use conditions::Condition;
use ways::Way;

/// Time after which a run counts as hanging, far longer than any run takes.
const SECONDS: &str = "20";
/// The status of `timeout` if the run hangs.
const HANGS: i32 = 124;
/// The status of the launcher where the machine does not let it set up a condition.
const IMPOSSIBLE: i32 = 77;

/// Ways of measuring a program: the name of each, and its environment variables.
const MODES: &[(&str, &[(&str, &str)])] = &[
    ("off", &[("ROMP_MEASURE", "off")]),
    ("profile", &[]),
    ("trace", &[("ROMP_TRACE", "on")]),
];

/// The programs of one compiler.
struct Programs {
    folder: TempDir,
    compiler: String,
}

/// The results of all runs.
#[derive(Debug, Default)]
pub struct Summary {
    /// Pairs of runs that were compared.
    pub compared: usize,
    /// Conditions that can't be set up on this machine.
    pub impossible: BTreeSet<&'static str>,
    /// Plain programs that do not end in time: there is nothing to compare with.
    pub hanging: BTreeSet<String>,
    /// What differed.
    pub failures: Vec<String>,
}

/// How a run ended, and what it left.
#[derive(Debug, PartialEq, Eq)]
struct End {
    status: Option<i32>,
    stdout: String,
    /// The lines that are not Romp's.
    stderr: Vec<String>,
    /// The files that are not Romp's.
    files: BTreeSet<String>,
}

/// A run: its end, our files, and our messages.
struct Ran {
    end: End,
    own: Vec<PathBuf>,
    said: Vec<String>,
    /// Holds the files.
    _folder: TempDir,
}

/// One cell of the matrix.
struct Case<'a> {
    programs: &'a Programs,
    way: &'a Way,
    condition: &'static Condition,
}

/// Runs all ways under all conditions that `wants` takes, several at a time.
///
/// # Errors
/// If the programs can't be built, or run at all.
pub fn compare_all(
    compilers: &[&str],
    wants: impl Fn(&Way, &Condition) -> bool,
) -> Outcome<Summary> {
    let programs: Vec<Programs> = compilers
        .iter()
        .map(|name| Programs::build(name))
        .collect::<Outcome<_>>()?;
    let ways = ways::all();
    let mut cases = Vec::new();
    for programs in &programs {
        for condition in conditions::ALL {
            let ways = ways.iter().filter(|way| wants(way, condition));
            cases.extend(ways.map(|way| Case {
                programs,
                way,
                condition,
            }));
        }
    }
    let compared = processors::for_each(&cases, |case| {
        let mut summary = Summary::default();
        case.compare(&mut summary).map(|()| summary)
    });
    let mut all = Summary::default();
    for part in compared {
        let part = part?;
        all.compared += part.compared;
        all.impossible.extend(part.impossible);
        all.hanging.extend(part.hanging);
        all.failures.extend(part.failures);
    }
    Ok(all)
}

impl Programs {
    fn build(compiler: &str) -> Outcome<Self> {
        Compiler::find(compiler)?;
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        // Some runs are made as another user, who must be able to run the programs.
        open_to(folder.path(), 0o755)?;
        let path = |name: &str| folder.path().join(name);
        let source = |name: &str| fixtures().join("ends").join(name);
        let flags = ["-O1", "-Wall", "-Wextra", "-Werror", "-o"];
        let plain = |target: &str, text: &str, flag: &[&str]| {
            let mut command = Command::new(compiler);
            command.args(flag).args(flags);
            succeed(command.arg(path(target)).arg(source(text)))
        };
        plain("launch", "launch.c", &[])?;
        plain("plain", "ends.c", &["-fopenmp"])?;
        let mut measured = Command::new(romp_bin_dir()?.join("rompcc"));
        measured.env("ROMP_CC", compiler).env("ROMP_STRICT", "1");
        measured.arg("-fopenmp").args(flags);
        succeed(measured.arg(path("measured")).arg(source("ends.c")))?;
        Ok(Self {
            folder,
            compiler: compiler.to_owned(),
        })
    }
}

fn succeed(command: &mut Command) -> Outcome<()> {
    let output = command.output().map_err(|e| format!("{command:?}: {e}"))?;
    if output.status.success() {
        return Ok(());
    }
    let messages = String::from_utf8_lossy(&output.stderr);
    Err(format!("{command:?}\n{messages}"))
}

fn open_to(path: &Path, mode: u32) -> Outcome<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).map_err(|e| e.to_string())
}

impl Case<'_> {
    fn name(&self) -> String {
        let Self {
            programs,
            way,
            condition,
        } = self;
        let output = condition.output.map(|output| format!(" to {output}"));
        format!(
            "{} {}{} {}",
            programs.compiler,
            condition.word,
            output.unwrap_or_default(),
            way.word
        )
    }

    fn compare(&self, summary: &mut Summary) -> Outcome<()> {
        let plain = self.run("plain", &[])?;
        if plain.end.status == Some(IMPOSSIBLE) {
            summary.impossible.insert(self.condition.word);
            return Ok(());
        }
        if plain.end.status == Some(HANGS) {
            summary.hanging.insert(self.name());
            return Ok(());
        }
        for (mode, settings) in MODES {
            let measured = self.run("measured", settings)?;
            summary.compared += 1;
            let problems = self.problems(mode, &plain, &measured);
            let name = self.name();
            for problem in problems {
                let problem = format!("{name} ({mode}): {problem}");
                println!("{problem}");
                summary.failures.push(problem);
            }
        }
        Ok(())
    }

    fn run(&self, program: &str, settings: &[(&str, &str)]) -> Outcome<Ran> {
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        open_to(folder.path(), 0o755)?;
        let path = |name: &str| folder.path().join(name);
        let here = path("here");
        fs::create_dir(&here).map_err(|e| e.to_string())?;
        open_to(&here, 0o777)?;
        // Not a pipe: processes that the program leaves behind would keep it open.
        let create = |name: &str| fs::File::create(path(name)).map_err(|e| e.to_string());
        let status = Command::new("timeout")
            .args(["-k", "5", SECONDS])
            .arg(self.programs.folder.path().join("launch"))
            .arg(self.condition.word)
            .arg(self.programs.folder.path().join(program))
            .arg(&self.way.word)
            .current_dir(&here)
            .env("OMP_WAIT_POLICY", "passive")
            .env("ROMP_APPNAME", "ends")
            .envs(self.condition.output.map(|output| ("ROMP_OUTPUT", output)))
            .envs(settings.iter().copied())
            .stdin(Stdio::null())
            .stdout(create("stdout")?)
            .stderr(create("stderr")?)
            .status()
            .map_err(|e| format!("timeout: {e}"))?;
        let read = |name: &str| fs::read(path(name)).map_err(|e| e.to_string());
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let stderr = text(read("stderr")?);
        let lines = stderr.lines().map(str::to_owned);
        let (said, stderr) = lines.partition(|line| line.starts_with("romp: "));
        let (own, files) = files_below(&here);
        let end = End {
            status: status.code(),
            stdout: text(read("stdout")?),
            stderr,
            files,
        };
        Ok(Ran {
            end,
            own,
            said,
            _folder: folder,
        })
    }

    /// What is wrong with a measured run.
    fn problems(&self, mode: &str, plain: &Ran, measured: &Ran) -> impl Iterator<Item = String> {
        let mut problems = Vec::new();
        if plain.end != measured.end {
            problems.push(format!(
                "\n    plain:    {:?}\n    measured: {:?}",
                plain.end, measured.end
            ));
        }
        problems.extend(measured.own.iter().filter_map(|path| fault_of(path)));
        let internal = |line: &&String| line.contains("internal error");
        problems.extend(measured.said.iter().filter(internal).cloned());
        let is_json = |path: &&PathBuf| path.extension().is_some_and(|e| e == "json");
        let profiles = measured.own.iter().filter(is_json).count();
        let due = match (mode, self.condition.leaves_profile) {
            ("off", _) => Some(0),
            (_, true) => Some(self.way.due),
            (_, false) => None,
        };
        if due.is_some_and(|due| due != profiles) {
            problems.push(format!("{profiles} profiles, {due:?} are due"));
        }
        if mode == "off" && !(measured.said.is_empty() && measured.own.is_empty()) {
            problems.push(format!("{:?} {:?}", measured.said, measured.own));
        }
        problems.into_iter()
    }
}

/// Our files in a directory and below, and what else is there.
fn files_below(directory: &Path) -> (Vec<PathBuf>, BTreeSet<String>) {
    let (mut own, mut others) = (Vec::new(), BTreeSet::new());
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        let extensions = [".romp.json", ".romp.txt", ".romp.trace"];
        if extensions.iter().any(|extension| name.ends_with(extension)) {
            own.push(path);
        } else if path.is_dir() && name == "new" {
            own.extend(files_below(&path.join("directory")).0);
        } else {
            others.insert(name);
        }
    }
    (own, others)
}

/// What is wrong with a file of ours; none if it is whole.
fn fault_of(path: &Path) -> Option<String> {
    let name = path.to_string_lossy();
    let text = fs::read(path).ok()?;
    let fault = if name.ends_with(".json") {
        profile::load::load(path).err().map(|e| e.to_string())
    } else if name.ends_with(".trace") {
        trace::read::Trace::open(path).err().map(|e| e.to_string())
    } else {
        text.is_empty().then(|| "it is empty".to_owned())
    };
    fault.map(|fault| format!("{name}: {fault}"))
}
