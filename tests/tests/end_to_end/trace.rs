//! Traces of real programs: what must be true of every trace, that it says the
//! same as the profile of the same run, and what happens at its limits.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use profile::load::load;
use tests::fixture::Fixture;
use tests::run::{Build, build, run};
use tests::toolchain::{Compiler, romp_bin_dir};
use trace::check::check;
use trace::read::Trace;
use trace::replay::{Event, Instance, Level, Listener, Open, replay};
use trace::schedule::Kind;
use trace::stats::{differences, stats};

/// Programs that are traced with both compilers. They have nesting, tasks, locks, regions that
/// are left early, several initial threads, pauses.
const FIXTURES: &[&str] = &[
    "c/nested_constructs.c",
    "c/tasks.c",
    "c/locks.c",
    "c/cancel.c",
    "c/pthreads.c",
    "c/inst_switches.c",
    "trace/recursion.c",
];

#[test]
fn a_trace_says_what_the_profile_says() {
    for name in FIXTURES {
        let fixture = Fixture::read(name).unwrap();
        for compiler in ["gcc", "clang"] {
            let bin = romp_bin_dir().unwrap();
            let compiler = Compiler::find(compiler).unwrap();
            let std = fixture.header.standards.last().unwrap();
            let program = build(&fixture, &compiler, std, Build::Instrumented(&bin)).unwrap();
            let ran = run(&fixture, &program, &[("ROMP_TRACE", "on")]).unwrap();
            ran.must_be_right().unwrap();
            let path = ran.profiles[0].with_extension("trace");
            let trace = Trace::open(&path).unwrap();
            assert!(trace.header.is_complete);
            let findings = check(&trace).unwrap();
            assert_eq!(findings.described, Vec::<String>::new(), "{name}");
            let stats = stats(&trace).unwrap();
            assert!(stats.events >= 8, "{name}");
            let profile = load(&ran.profiles[0]).unwrap();
            assert_eq!(differences(&trace, &stats, &profile), [], "{name}");
        }
    }
}

#[test]
fn without_being_asked_nothing_is_traced() {
    let events = Events::build();
    let output = events.run(&["1000"], &[]);
    assert!(output.status.success());
    assert_eq!(events.files("trace"), Vec::<PathBuf>::new());
}

/// The events of 100,000 flushes on each thread, two for each flush.
const FLUSHES: u64 = 200_000;

#[test]
fn a_trace_that_is_full_keeps_the_first_events_and_says_how_many_are_missing() {
    let events = Events::build();
    let settings = [("ROMP_TRACE", "on"), ("ROMP_TRACE_LIMIT", "1M")];
    let output = events.run(&["100000"], &settings);
    let trace = events.trace();
    let findings = check(&trace).unwrap();
    assert_eq!(findings.described, Vec::<String>::new());
    let stats = stats(&trace).unwrap();
    assert!(events.size() <= 1 << 20);
    assert!(trace.header.dropped > 0);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    let said = format!("{} events are not in the trace", trace.header.dropped);
    assert!(message.contains(&said), "{message}");
    // Fork, join and what each of two threads has: begin, flushes, end of its part; and
    // the end of the member that forked. The other member reports nothing more.
    let happened = 2 + 2 * (1 + FLUSHES + 1) + 1;
    let recorded = stats.events + trace.header.dropped;
    assert!(recorded >= happened, "{recorded} of {happened}");
}

#[test]
fn the_last_events_can_be_kept_instead() {
    let events = Events::build();
    let settings = [
        ("ROMP_TRACE", "on"),
        ("ROMP_TRACE_LIMIT", "1M"),
        ("ROMP_TRACE_KEEP", "last"),
        ("ROMP_TRACE_MEMORY", "256M"),
    ];
    events.run(&["100000"], &settings);
    let trace = events.trace();
    let findings = check(&trace).unwrap();
    assert_eq!(findings.described, Vec::<String>::new());
    assert!(events.size() <= 1 << 20);
    assert!(trace.header.replaced > 0 && trace.header.is_complete);
    let stats = stats(&trace).unwrap();
    assert!(stats.missing > 0);
}

#[test]
fn a_program_that_is_killed_leaves_a_trace_that_can_be_read() {
    let events = Events::build();
    let output = events.run(&["kill"], &[("ROMP_TRACE", "on")]);
    assert_eq!(output.status.code(), None);
    let trace = events.trace();
    assert!(!trace.header.is_complete);
    let findings = check(&trace).unwrap();
    assert_eq!(findings.described, Vec::<String>::new());
    assert!(findings.events > 30_000, "{}", findings.events);
}

/// A program with many events, and the files that its latest run left.
struct Events {
    folder: tempfile::TempDir,
}

impl Events {
    fn build() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/trace/events.c");
        let status = Command::new(romp_bin_dir().unwrap().join("rompcc"))
            .args(["-O1", "-fopenmp", "-o", "events"])
            .arg(std::fs::canonicalize(source).unwrap())
            .env("ROMP_STRICT", "1")
            .current_dir(&folder)
            .status();
        assert!(status.unwrap().success());
        Self { folder }
    }

    fn run(&self, arguments: &[&str], settings: &[(&str, &str)]) -> Output {
        Command::new(self.folder.path().join("events"))
            .args(arguments)
            .envs(settings.iter().copied())
            .current_dir(&self.folder)
            .output()
            .unwrap()
    }

    fn files(&self, extension: &str) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&self.folder).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        let ending = format!(".romp.{extension}");
        paths
            .filter(|path| path.to_string_lossy().ends_with(&ending))
            .collect()
    }

    fn trace(&self) -> Trace {
        let [path] = self.files("trace").try_into().unwrap();
        Trace::open(&path).unwrap()
    }

    fn size(&self) -> u64 {
        let [path] = self.files("trace").try_into().unwrap();
        path.metadata().unwrap().len()
    }
}

/// What a listener learns of tasks: the region that created each, and those that
/// were executed.
#[derive(Default)]
struct Tasks {
    created: BTreeMap<u64, u32>,
    executed: Vec<u64>,
}

impl Listener for Tasks {
    fn event(&mut self, _: u64, open: &[Open], event: &Event) {
        match event {
            Event::Create(task) => {
                let region = open.last().unwrap().region;
                assert_eq!(self.created.insert(*task, region), None);
            }
            Event::Executes(task) => self.executed.push(*task),
            _ => {}
        }
    }
}

#[test]
fn every_task_that_is_executed_names_its_creation() {
    let bin = romp_bin_dir().unwrap();
    for (fixture, compiler, how) in [
        ("c/tasks.c", "gcc", Build::Instrumented(&bin)),
        ("c/tasks.c", "clang", Build::Instrumented(&bin)),
        ("fortran/tasks.f90", "gfortran", Build::Chunked(&bin)),
    ] {
        let fixture = Fixture::read(fixture).unwrap();
        let compiler = Compiler::find(compiler).unwrap();
        let std = fixture.header.standards.last().unwrap();
        let program = build(&fixture, &compiler, std, how).unwrap();
        let ran = run(&fixture, &program, &[("ROMP_TRACE", "on")]).unwrap();
        let trace = Trace::open(&ran.profiles[0].with_extension("trace")).unwrap();
        assert_eq!(check(&trace).unwrap().described, Vec::<String>::new());
        let mut tasks = Tasks::default();
        for stream in trace.streams() {
            replay(&trace, stream, &mut tasks).unwrap();
        }
        // The runtime makes the tasks of a taskloop: there is no event of their creation.
        let of_taskloops = tasks
            .executed
            .iter()
            .filter(|created| **created == 0)
            .count();
        assert!(of_taskloops > 0);
        tasks.executed.retain(|created| *created != 0);
        tasks.executed.sort_unstable();
        let created: Vec<u64> = tasks.created.keys().copied().collect();
        assert_eq!(tasks.executed, created);
        assert!(created.len() > 3);
        for region in tasks.created.values() {
            let descriptor = trace.region(*region).unwrap();
            assert!(["task", "taskuntied"].contains(&descriptor.region_type.as_str()));
        }
    }
}

/// Builds and runs every fixture of a folder with its chunks traced. It computes the same,
/// and the loops in its trace obey the rules for loops.
fn all_with_chunks(folder: &str, compiler: &str) {
    let compiler = Compiler::find(compiler).unwrap();
    let bin = romp_bin_dir().unwrap();
    let mut failures = Vec::new();
    let mut loops = 0;
    for fixture in Fixture::all_in(folder).unwrap() {
        if !fixture.header.compilers.contains(&compiler.name) {
            continue;
        }
        let std = fixture.header.standards.last().unwrap();
        let found = (|| {
            let program = build(&fixture, &compiler, std, Build::Chunked(&bin))?;
            let ran = run(&fixture, &program, &[("ROMP_TRACE", "on")])?;
            ran.must_be_right()?;
            for profile in &ran.profiles {
                let trace = Trace::open(&profile.with_extension("trace"));
                let findings = trace.and_then(|trace| check(&trace));
                let findings = findings.map_err(|error| error.to_string())?;
                loops += findings.loops;
                if findings.faults > 0 {
                    return Err(findings.described.join("\n"));
                }
            }
            Ok(())
        })();
        failures.extend(found.err().map(|why| format!("{}: {why}", fixture.name())));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    assert!(loops > 10, "{loops}");
}

#[test]
fn every_program_in_c_can_have_its_chunks_traced() {
    all_with_chunks("c", "gcc");
    all_with_chunks("cxx", "g++");
}

#[test]
fn every_program_in_fortran_can_have_its_chunks_traced() {
    all_with_chunks("fortran", "gfortran");
}

/// Builds a fixture with chunks, every warning an error.
fn with_chunks(source: &str, compiler: &str, flags: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/trace");
    let (wrapper, variable) = Compiler::find(compiler).unwrap().wrapper();
    let status = Command::new(romp_bin_dir().unwrap().join(wrapper))
        .args(["--chunks", "-O2", "-fopenmp", "-Wall", "-Wextra", "-Werror"])
        .args(flags)
        .args(["-o", "program"])
        .arg(std::fs::canonicalize(here.join(source)).unwrap())
        .env("ROMP_STRICT", "1")
        .env(variable, compiler)
        .current_dir(&folder)
        .status();
    assert!(status.unwrap().success(), "{compiler} {source}");
    folder
}

/// Runs a program with its trace on, and returns the chunks of each loop
/// instance: first iteration and length.
fn chunks(folder: &tempfile::TempDir, settings: &[(&str, &str)]) -> Vec<(Kind, Vec<(u64, u64)>)> {
    let status = Command::new(folder.path().join("program"))
        .envs([
            ("ROMP_TRACE", "on"),
            ("ROMP_QUIET", "on"),
            ("OMP_DYNAMIC", "false"),
        ])
        .envs(settings.iter().copied())
        .current_dir(folder)
        .status();
    assert!(status.unwrap().success());
    let path = folder.path().join("program.0.romp.trace");
    let trace = Trace::open(&path).unwrap();
    let findings = check(&trace).unwrap();
    assert_eq!(findings.described, Vec::<String>::new());
    let profile = load(&path.with_extension("json")).unwrap();
    assert_eq!(differences(&trace, &stats(&trace).unwrap(), &profile), []);
    let mut loops = Loops::default();
    for stream in trace.streams() {
        replay(&trace, stream, &mut loops).unwrap();
    }
    for extension in ["trace", "json", "txt"] {
        std::fs::remove_file(path.with_extension(extension)).unwrap();
    }
    let found = loops.0.into_values();
    found
        .map(|(kind, mut chunks)| {
            chunks.sort_unstable();
            (kind, chunks)
        })
        .collect()
}

/// The inner loops of collapsed loops.
#[derive(Default)]
struct Inner(BTreeMap<Instance, Level>);

impl Listener for Inner {
    fn event(&mut self, _: u64, _: &[Open], event: &Event) {
        if let Event::Loop(found) = event {
            let inner = found.inner[0].map(|inner| (found.instance, inner));
            self.0.extend(inner);
            assert_eq!(found.inner[0].is_some(), found.how.levels == 2);
        }
    }
}

#[test]
fn collapsed_loops_say_the_bounds_of_each() {
    let level = |lower, upper, step| Level {
        lower,
        upper,
        step,
        count: 3,
    };
    for (source, compiler, flags, expected) in [
        ("loops.c", "gcc", &[] as &[&str], vec![level(0, 3, 1); 2]),
        (
            "loops.f90",
            "gfortran",
            &["-std=legacy"],
            vec![level(3, 1, -1)],
        ),
    ] {
        let folder = with_chunks(source, compiler, flags);
        let status = Command::new(folder.path().join("program"))
            .envs([("ROMP_TRACE", "on"), ("ROMP_QUIET", "on")])
            .current_dir(&folder)
            .status();
        assert!(status.unwrap().success());
        let trace = Trace::open(&folder.path().join("program.0.romp.trace")).unwrap();
        let mut inner = Inner::default();
        for stream in trace.streams() {
            replay(&trace, stream, &mut inner).unwrap();
        }
        let inner: Vec<Level> = inner.0.into_values().collect();
        assert_eq!(inner, expected, "{source}");
    }
}

#[derive(Default)]
struct Loops(BTreeMap<Instance, (Kind, Vec<(u64, u64)>)>);

impl Listener for Loops {
    fn event(&mut self, _: u64, _: &[Open], event: &Event) {
        match event {
            Event::Loop(found) => {
                self.0.entry(found.instance).or_default().0 = found.how.kind;
            }
            Event::Chunk(chunk) => {
                let chunks = &mut self.0.entry(chunk.instance).or_default().1;
                chunks.push((chunk.first, chunk.length));
            }
            _ => {}
        }
    }
}

#[test]
fn every_chunk_of_every_instance_is_seen() {
    let expected: Vec<(u64, u64)> = (0..16).map(|chunk| (2 * chunk, 2)).collect();
    for (source, compiler) in [
        ("listing.c", "gcc"),
        ("listing.c", "clang"),
        ("listing.f90", "gfortran"),
    ] {
        let folder = with_chunks(source, compiler, &[]);
        for threads in ["2", "4", "8"] {
            let found = chunks(&folder, &[("OMP_NUM_THREADS", threads)]);
            assert_eq!(found.len(), 4);
            for (kind, chunks) in &found {
                assert!(matches!(kind, Kind::Static | Kind::Dynamic));
                assert_eq!(*chunks, expected, "{compiler} {threads} {kind:?}");
            }
        }
    }
}

/// Loops of every shape: a fixture, its compiler and flags, and how many loop instances it
/// has; of these, one has no iteration in `loops.c` and `loops.f90`.
#[test]
fn loops_of_every_shape_have_their_chunks_and_results() {
    const PEDANTIC: &str = "-pedantic";
    for (source, compiler, flags, loops, empty) in [
        ("loops.c", "gcc", &["-std=c90", PEDANTIC] as &[&str], 14, 1),
        ("loops.c", "clang", &["-std=c17", PEDANTIC], 14, 1),
        ("loops.cpp", "g++", &["-std=c++98", PEDANTIC], 7, 0),
        ("loops.cpp", "clang++", &["-std=c++17", PEDANTIC], 7, 0),
        (
            "loops.f90",
            "gfortran",
            &["-Wimplicit-interface", "-std=legacy"],
            8,
            1,
        ),
        ("loops.f", "gfortran", &["-std=legacy"], 2, 0),
        ("ranges.cpp", "g++", &["-std=c++11", PEDANTIC], 13, 0),
        ("ranges.cpp", "clang++", &["-std=c++17", PEDANTIC], 13, 0),
        ("rows.c", "gcc", &["-std=c99", PEDANTIC], 7, 0),
        ("rows.c", "clang", &["-std=c17", PEDANTIC], 7, 0),
        ("rows.c", "g++", &["-std=c++11", PEDANTIC], 7, 0),
        (
            "rows.c",
            "clang++",
            &["-x", "c++", "-std=c++17", PEDANTIC],
            7,
            0,
        ),
    ] {
        let folder = with_chunks(source, compiler, flags);
        for schedule in ["static,2", "guided", "dynamic"] {
            let found = chunks(&folder, &[("OMP_SCHEDULE", schedule)]);
            let chunked = found.iter().filter(|(_, chunks)| !chunks.is_empty());
            let counts = (found.len(), chunked.count());
            assert_eq!(counts, (loops, loops - empty), "{source} {compiler}");
        }
    }
}

/// Builds a library that stands in front of the runtime and notes the chunks that it hands out.
fn requests(folder: &tempfile::TempDir) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/trace/requests.c");
    let status = Command::new("gcc")
        .args(["-shared", "-fPIC", "-O2", "-o", "requests.so"])
        .arg(std::fs::canonicalize(here).unwrap())
        .current_dir(folder)
        .status();
    assert!(status.unwrap().success());
}

#[test]
fn chunks_are_those_that_the_runtime_hands_out() {
    const UNKNOWN: &str = "-Wno-unknown-pragmas";
    for (source, compiler, flags, loops) in [
        ("handed_out.c", "gcc", &[UNKNOWN] as &[&str], 6),
        ("handed_out.c", "clang", &[UNKNOWN, "-O3"], 6),
        ("handed_out.c", "g++", &[UNKNOWN], 6),
        ("handed_out.f90", "gfortran", &["-O3"], 4),
    ] {
        let folder = with_chunks(source, compiler, flags);
        requests(&folder);
        let preloaded = ("LD_PRELOAD", "./requests.so");
        for schedule in ["guided", "guided,5", "dynamic,9", "auto", "static,4"] {
            let found = chunks(&folder, &[preloaded, ("OMP_SCHEDULE", schedule)]);
            assert_eq!(found.len(), loops, "{source} {compiler}");
            let (seen, noted) = (chunks_of(found), noted(&folder));
            assert!(noted.len() > 5 * loops, "{compiler}: {noted:?}");
            assert_eq!(seen, noted, "{source} {compiler} {schedule}");
        }
    }
}

/// The chunks of all loops, in order.
fn chunks_of(loops: Vec<(Kind, Vec<(u64, u64)>)>) -> Vec<(u64, u64)> {
    let mut all: Vec<_> = loops.into_iter().flat_map(|(_, chunks)| chunks).collect();
    all.sort_unstable();
    all
}

/// The chunks that the runtime handed out, in order.
fn noted(folder: &tempfile::TempDir) -> Vec<(u64, u64)> {
    let text = std::fs::read_to_string(folder.path().join("requests")).unwrap();
    let numbers = |line: &str| {
        let mut words = line.split(' ').map(|word| word.parse::<u64>().unwrap());
        (words.next().unwrap(), words.next().unwrap())
    };
    let mut all: Vec<_> = text.lines().map(numbers).collect();
    all.sort_unstable();
    all
}
