//! Dependences of tasks in traces: they are those that the programs say of themselves, whoever
//! built the program, and whether or not it was built with Romp.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use tests::fixture::fixtures;
use tests::toolchain::romp_bin_dir;
use trace::analysis::dependences::dependences;
use trace::check::check;
use trace::read::Trace;
use trace::replay::{Event, Listener, Open, replay_merged};

/// The compilers, and their programs.
const PROGRAMS: &[(&str, &str)] = &[
    ("gcc", "diamond.c"),
    ("clang", "diamond.c"),
    ("gcc", "detached.c"),
    ("clang", "detached.c"),
    ("g++", "diamond.cpp"),
    ("clang++", "diamond.cpp"),
    ("gfortran", "diamond.f90"),
];

/// An arrow: the line of the task that must end first, and of the task that waits for it.
type Arrow = (usize, usize);

/// A program, built in a folder of its own.
struct Built {
    folder: tempfile::TempDir,
    source: String,
}

impl Built {
    fn with(compiler: &str, program: &str, is_measured: bool, flags: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let source = fixtures().join("trace").join(program);
        std::fs::copy(&source, folder.path().join(program)).unwrap();
        let mut command = match is_measured {
            true => Command::new(romp_bin_dir().unwrap().join("romp")),
            false => Command::new(compiler),
        };
        if is_measured {
            command.args(["wrap", compiler]);
        }
        command.args(["-O1", "-g", "-fopenmp", "-o", "app", program]);
        let output = command
            .args(flags)
            .env("ROMP_STRICT", "1")
            .current_dir(&folder)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let source = std::fs::read_to_string(source).unwrap();
        Self { folder, source }
    }

    fn run(&self, command: &mut Command) -> Output {
        let output = command
            .env("ROMP_TRACE", "on")
            .env("OMP_NUM_THREADS", "2")
            .current_dir(&self.folder)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        output
    }

    /// The lines of the tasks, in the order in which they are created.
    fn lines(&self) -> Vec<(usize, &str)> {
        let lines = self.source.lines().enumerate();
        lines
            .filter(|(_, line)| line.contains("omp task ") || line.ends_with("omp task"))
            .map(|(index, line)| (index + 1, line))
            .collect()
    }

    /// The arrows of the trace that the last run left.
    fn arrows(&self) -> Vec<Arrow> {
        let trace = Trace::open(&self.folder.path().join("app.0.romp.trace")).unwrap();
        assert_eq!(check(&trace).unwrap().described, Vec::<String>::new());
        let mut created = Created::default();
        replay_merged(&trace, &mut created).unwrap();
        let lines = self.lines();
        assert_eq!(created.labels.len(), lines.len());
        let line: BTreeMap<u64, usize> = created
            .labels
            .iter()
            .zip(&lines)
            .map(|(label, (line, _))| (*label, *line))
            .collect();
        let found = dependences(&trace, 1000).unwrap().unwrap();
        let mut arrows: Vec<Arrow> = found
            .iter()
            .map(|one| {
                assert!(one.from.ticks <= one.to.ticks, "{one:?}");
                (line[&one.tasks[0]], line[&one.tasks[1]])
            })
            .collect();
        arrows.sort_unstable();
        arrows
    }
}

/// The labels of creations, in the order of time.
#[derive(Default)]
struct Created {
    labels: Vec<u64>,
}

impl Listener for Created {
    fn event(&mut self, _time: u64, _open: &[Open], event: &Event) {
        if let Event::Create(label) = event {
            self.labels.push(*label);
        }
    }
}

/// The arrows that a program prints.
fn printed(output: &Output) -> Vec<Arrow> {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let pairs = text.lines().filter_map(|line| line.split_once(' '));
    pairs
        .map(|(from, to)| (from.parse().unwrap(), to.parse().unwrap()))
        .collect()
}

#[test]
fn arrows_are_those_of_the_program() {
    for (compiler, program) in PROGRAMS {
        let built = Built::with(compiler, program, true, &[]);
        let output = built.run(&mut Command::new("./app"));
        let expected = printed(&output);
        assert!(expected.len() >= 5);
        assert_eq!(built.arrows(), expected, "{compiler} {program}");
    }
}

/// LLVM's runtime does not tell a tool on what a task depends that is executed at once.
#[test]
fn arrows_are_those_of_a_program_that_was_not_built_with_romp() {
    if cfg!(not(target_arch = "x86_64")) {
        return;
    }
    for (compiler, program) in PROGRAMS {
        let built = Built::with(compiler, program, false, &[]);
        let romp = romp_bin_dir().unwrap().join("romp");
        let output = built.run(Command::new(romp).args(["run", "./app"]));
        let mut expected = printed(&output);
        if compiler.starts_with("clang") {
            let lines = built.lines();
            let is_at_once = |line: usize| {
                lines
                    .iter()
                    .any(|(at, text)| *at == line && text.contains("if(0)"))
            };
            let before = expected.len();
            expected.retain(|(_, to)| !is_at_once(*to));
            assert!(expected.len() < before);
        }
        assert_eq!(built.arrows(), expected, "{compiler} {program}");
    }
}

/// Where the runtime is linked statically, its own functions are called: the program runs as
/// always, and no arrow is invented.
#[test]
fn a_static_runtime_has_no_arrows() {
    let archive = Command::new("gcc")
        .arg("-print-file-name=libgomp.a")
        .output()
        .unwrap();
    let archive = String::from_utf8(archive.stdout).unwrap();
    assert!(Path::new(archive.trim()).is_absolute(), "{archive}");
    let built = Built::with("gcc", "diamond.c", true, &["-static"]);
    built.run(&mut Command::new("./app"));
    assert_eq!(built.arrows(), []);
}
