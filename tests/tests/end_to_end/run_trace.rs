//! Traces of programs that were not built with Romp: their regions are those of the profile, and
//! their events hold what must hold for every trace.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::process::Output;

use super::program_folder::ProgramFolder;
use trace::check::check;
use trace::read::Trace;
use trace::replay::{Event, Instance, Listener, LoopInstance, Open, path, replay_merged};
use trace::schedule::Kind;

const COMPILERS: [&str; 2] = ["gcc", "clang"];
const TRACE: &str = "app.0.romp.trace";
const PROFILE: &str = "app.0.romp.json";

/// Builds a fixture and traces it.
fn traced(compiler: &str, fixture: &str, words: &[&str]) -> ProgramFolder {
    let folder = ProgramFolder::new();
    folder.build(compiler, fixture, &["-O1", "-g"], "app");
    let ran = folder.romp_run(
        words,
        &[("ROMP_TRACE", "on"), ("OMP_MAX_ACTIVE_LEVELS", "2")],
    );
    assert!(ran.status.success(), "{ran:?}");
    folder
}

/// What a command of `romp` says of the trace.
fn romp(folder: &ProgramFolder, words: &[&str]) -> Output {
    let romp = folder.bin.join("romp");
    let mut command = folder.command(&[romp.to_str().unwrap()]);
    command.args(words).output().unwrap()
}

fn told(output: &Output) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

/// Counts and times of all regions are those of the profile, under the same names.
fn is_that_of_its_profile(compiler: &str, fixture: &str) {
    let folder = traced(compiler, fixture, &["./app"]);
    for words in [
        &["trace", "check", TRACE][..],
        &["trace", "stats", "--against", PROFILE, TRACE],
    ] {
        let output = romp(&folder, words);
        let said = told(&output);
        assert!(output.status.success(), "{compiler}, {fixture}: {said}");
    }
}

#[test]
fn a_trace_is_that_of_its_profile() {
    for compiler in COMPILERS {
        for fixture in [
            "run/traced.c",
            "run/regions.c",
            "run/static_loops.c",
            "run/reductions.c",
        ] {
            is_that_of_its_profile(compiler, fixture);
        }
    }
}

/// Most workers of nested teams, and of teams whose sizes change, never serve again in the same
/// place, or end.
#[test]
fn workers_that_serve_no_more_waited_until_their_team_was_released() {
    for compiler in ["gcc", "clang", "romp:gcc", "romp:clang"] {
        is_that_of_its_profile(compiler, "run/nested.c");
    }
}

#[test]
fn everything_that_reads_a_trace_names_the_constructs() {
    for compiler in COMPILERS {
        let folder = traced(compiler, "run/traced.c", &["./app"]);
        for (words, expected) in [
            (&["trace", "stats", TRACE][..], "parallelfor "),
            (&["trace", "dump", TRACE], "traced.c:15:"),
            (&["trace", "waits", TRACE], "run/traced.c:15"),
            (&["trace", "tasks", TRACE], "run/traced.c:33"),
            (&["trace", "periods", TRACE], "run/traced.c:33"),
        ] {
            let output = romp(&folder, words);
            let said = told(&output);
            assert!(output.status.success() && said.contains(expected), "{said}");
            assert!(!said.contains("machine code"), "{compiler}: {said}");
        }
        let export = [
            "trace", "export", "--format", "chrome", "-o", "out.json", TRACE,
        ];
        let output = romp(&folder, &export);
        assert!(output.status.success(), "{}", told(&output));
        let exported = fs::read_to_string(folder.path("out.json")).unwrap();
        assert!(exported.contains("run/traced.c:37"), "{compiler}");
        let output = romp(&folder, &["view", PROFILE, TRACE, "-o", "page.html"]);
        assert!(output.status.success(), "{}", told(&output));
    }
}

/// A trace whose program was replaced is not whole, but its regions have names.
#[test]
fn a_program_that_replaces_itself_leaves_a_trace_with_names() {
    for compiler in COMPILERS {
        let folder = traced(compiler, "run/traced.c", &["./app", "x"]);
        let said = told(&romp(&folder, &["trace", "stats", TRACE]));
        assert!(said.contains("is incomplete"), "{compiler}: {said}");
        assert!(said.contains("run/traced.c:15:"), "{compiler}: {said}");
    }
}

/// The trace of a process that was killed has no profile, so nobody says where its regions are.
#[test]
fn a_trace_without_a_profile_names_machine_code() {
    let folder = ProgramFolder::new();
    folder.build("gcc", "run/traced.c", &["-O1", "-g"], "app");
    let library = folder.bin.join("libromp_run.so");
    let mut command = folder.command(&["./app", "x"]);
    command.env("LD_PRELOAD", &library).env("ROMP_TRACE", "on");
    assert!(command.status().unwrap().success());
    let said = told(&romp(&folder, &["trace", "stats", TRACE]));
    assert!(said.contains("only known by their machine code"), "{said}");
    assert!(said.contains("parallel at app+0x"), "{said}");
    let said = told(&romp(&folder, &["trace", "info", TRACE]));
    assert!(said.contains("known by machine code"), "{said}");
}

/// The loops of a trace that have iterations: each with its chunks, by their first iterations, and who
/// executed them.
struct Loops<'a> {
    trace: &'a Trace,
    order: Vec<LoopInstance>,
    chunks: HashMap<Instance, BTreeMap<u64, (u64, u32)>>,
}

impl Listener for Loops<'_> {
    fn event(&mut self, _: u64, open: &[Open], event: &Event) {
        match event {
            Event::Loop(found) if found.count > 0 => {
                let known = self.chunks.entry(found.instance);
                if let Entry::Vacant(new) = known {
                    new.insert(BTreeMap::new());
                    self.order.push(*found);
                }
            }
            Event::Chunk(chunk) => {
                let step = path(open).and_then(|path| self.trace.forked_by(path));
                let (_, member) = step.unwrap();
                let chunks = self.chunks.get_mut(&chunk.instance).unwrap();
                let before = chunks.insert(chunk.first, (chunk.length, member));
                assert_eq!(before, None, "{chunk:?}");
            }
            _ => {}
        }
    }
}

/// How a loop is shared out, its chunks (the first iteration and the number of iterations), and the
/// thread of each iteration, as the program prints it.
type TracedLoop = (LoopInstance, Vec<(u64, u64)>, String);

/// The loops of a folder's trace, in the order in which they began.
fn loops(folder: &ProgramFolder) -> Vec<TracedLoop> {
    let trace = Trace::open(&folder.path(TRACE)).unwrap();
    let findings = check(&trace).unwrap();
    assert_eq!(findings.described, Vec::<String>::new());
    let mut loops = Loops {
        trace: &trace,
        order: Vec::new(),
        chunks: HashMap::new(),
    };
    replay_merged(&trace, &mut loops).unwrap();
    let found = loops.order.iter().map(|instance| {
        let chunks = &loops.chunks[&instance.instance];
        let each = chunks.iter().map(|(first, (length, _))| (*first, *length));
        let (name, size) = (instance.how.clause.name(), instance.chunk);
        let mut line = match size {
            0 | 1 => name.to_owned(),
            size => format!("{name},{size}"),
        };
        for (length, member) in chunks.values() {
            line += &format!(" {member}").repeat(*length as usize);
        }
        (*instance, each.collect(), line)
    });
    found.collect()
}

/// The lines of a program that prints which thread executed which iteration.
fn printed(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().map(str::to_owned).collect()
}

const CHUNKS: [(&str, &str); 3] = [
    ("ROMP_TRACE", "on"),
    ("ROMP_CHUNKS", "on"),
    ("OMP_SCHEDULE", "guided,2"),
];

/// Iterations belong to the threads that executed them, and the chunks are those of the same program
/// built with Romp, where the schedule leaves no choice. GCC's compilers share out the iterations of a
/// static loop without the runtime.
#[test]
fn chunks_are_seen_where_the_runtime_hands_them_out() {
    for compiler in COMPILERS {
        let folder = ProgramFolder::new();
        folder.build(compiler, "run/handed_out.c", &["-O1", "-g"], "app");
        let ran = folder.romp_run(&["./app"], &CHUNKS);
        assert!(ran.status.success(), "{ran:?}");
        let mut expected = printed(&ran);
        if compiler == "gcc" {
            expected.retain(|line| !line.starts_with("static"));
        }
        let outside = loops(&folder);
        let seen: Vec<&String> = outside.iter().map(|(_, _, line)| line).collect();
        assert_eq!(seen, expected.iter().collect::<Vec<_>>(), "{compiler}");
        let runtime = outside.iter().find(|it| it.0.how.clause == Kind::Runtime);
        assert_eq!(runtime.unwrap().0.how.kind, Kind::Guided, "{compiler}");

        let folder = ProgramFolder::new();
        let flags = ["--chunks", "-O1", "-g"];
        folder.build(
            &format!("romp:{compiler}"),
            "run/handed_out.c",
            &flags,
            "app",
        );
        let ran = folder.command(&["./app"]).envs(CHUNKS).output().unwrap();
        assert!(ran.status.success(), "{ran:?}");
        let fixed = |loops: Vec<TracedLoop>| -> Vec<_> {
            let is_fixed =
                |kind| kind == Kind::Dynamic || kind == Kind::Static && compiler != "gcc";
            let fixed = loops.into_iter().filter(|it| is_fixed(it.0.how.kind));
            let fixed = fixed.map(|(it, chunks, _)| (it.how.kind, it.how.team, it.count, chunks));
            fixed.collect()
        };
        // The last loop has `ordered` directives that stand alone: its source is left as it is.
        let (outside, source) = (fixed(outside), fixed(loops(&folder)));
        let (last, outside) = outside.split_last().unwrap();
        assert_eq!(last.2, 8, "{compiler}");
        assert_eq!(outside, source, "{compiler}");
    }
}

/// A thread that leaves a loop by `cancel` stays in its team.
#[test]
fn a_loop_behind_a_cancelled_one_belongs_to_the_same_team() {
    let mut settings = CHUNKS.to_vec();
    settings.push(("OMP_CANCELLATION", "true"));
    for compiler in COMPILERS {
        let folder = ProgramFolder::new();
        folder.build(compiler, "run/cancelled.c", &["-O1", "-g"], "app");
        let ran = folder.romp_run(&["./app"], &settings);
        assert_eq!(ran.stdout, b"16 1\n", "{ran:?}");
        // The trace is checked when it is read.
        let second = loops(&folder).into_iter().filter(|it| it.0.count == 16);
        assert_eq!(second.count(), 1, "{compiler}");
    }
}

/// Loops in teams of other loops keep their chunks apart.
#[test]
fn chunks_of_loops_within_each_other_are_told_apart() {
    for compiler in COMPILERS {
        let folder = ProgramFolder::new();
        folder.build(compiler, "run/handed_out.c", &["-O1", "-g"], "app");
        let ran = folder.romp_run(&["./app", "x"], &CHUNKS);
        assert!(ran.status.success(), "{ran:?}");
        let found = loops(&folder);
        let (inner, outer): (Vec<_>, Vec<_>) = found.iter().partition(|it| it.0.how.team == 2);
        assert_eq!(Some(&outer.last().unwrap().2), printed(&ran).last());
        let single: Vec<(u64, u64)> = (0..6).map(|first| (first, 1)).collect();
        assert_eq!(inner.len(), 8, "{compiler}");
        assert!(
            inner.iter().all(|it| it.1 == single),
            "{compiler}: {inner:?}"
        );
    }
}

/// Without the option no chunk is traced.
#[test]
fn chunks_are_an_option() {
    for compiler in COMPILERS {
        let folder = ProgramFolder::new();
        folder.build(compiler, "run/handed_out.c", &["-O1", "-g"], "app");
        let ran = folder.romp_run(&["./app"], &[("ROMP_TRACE", "on")]);
        assert!(ran.status.success(), "{ran:?}");
        assert_eq!(loops(&folder), [], "{compiler}");
    }
}

/// Everything that reads a trace takes these chunks as those of programs that were built with Romp.
#[test]
fn chunks_are_shown_by_everything_that_reads_a_trace() {
    let folder = ProgramFolder::new();
    folder.build("gcc", "run/handed_out.c", &["-O1", "-g"], "app");
    let ran = folder.romp_run(&["./app"], &CHUNKS);
    assert!(ran.status.success(), "{ran:?}");
    for (words, expected) in [
        (&["trace", "loops", TRACE][..], "run/handed_out.c:43"),
        (&["trace", "dump", TRACE], " chunk "),
        (
            &["trace", "stats", "--against", PROFILE, TRACE],
            "are equal",
        ),
    ] {
        let output = romp(&folder, words);
        let said = told(&output);
        assert!(output.status.success() && said.contains(expected), "{said}");
    }
    let export = ["trace", "export", "-f", "chrome", "-o", "out.json", TRACE];
    let output = romp(&folder, &export);
    assert!(output.status.success(), "{}", told(&output));
    let exported = fs::read_to_string(folder.path("out.json")).unwrap();
    assert!(exported.contains("iterations"), "{exported}");
}
