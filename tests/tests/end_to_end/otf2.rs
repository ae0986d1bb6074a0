//! Traces exported to OTF2, and read by OTF2's own readers: what they see is what
//! the statistics of the trace say.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Output};

use profile::region_kind::PseudoRegion;
use tests::fixture::Fixture;
use tests::run::{Build, build, run};
use tests::toolchain::{Compiler, romp_bin_dir};
use trace::read::Trace;
use trace::stats::stats;

/// How often, and how long in nanoseconds.
type Spans = BTreeMap<String, (u64, u64)>;

fn export(trace: &Path, folder: &Path, library: &str) -> Output {
    Command::new(romp_bin_dir().unwrap().join("romp"))
        .args(["trace", "export", "--format", "otf2"])
        .arg(trace)
        .arg("--output")
        .arg(folder)
        .env("ROMP_OTF2", library)
        .output()
        .unwrap()
}

/// The library, under the name that this system has it.
fn library() -> &'static str {
    let names = ["libotf2.so.10", "libopen-trace-format2.so.10"];
    let listed = Command::new("/sbin/ldconfig").arg("-p").output().unwrap();
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let found = names.into_iter().find(|name| listed.contains(name));
    found.unwrap_or_else(|| panic!("libotf2 is not installed: run tests/setup"))
}

/// What otf2-print shows: entered regions, and the time to their ends. Also the regions that
/// were nested in themselves, whose time the statistics count only once.
fn printed(archive: &Path) -> (Spans, BTreeSet<String>) {
    let output = Command::new("otf2-print").arg(archive).output().unwrap();
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{output:?}"
    );
    let mut spans = Spans::new();
    let mut recursive = BTreeSet::new();
    let mut open: BTreeMap<String, Vec<(String, u64)>> = BTreeMap::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let mut words = line.split_whitespace();
        let event = words.next().unwrap_or_default().to_owned();
        if event != "ENTER" && event != "LEAVE" {
            continue;
        }
        let location = words.next().unwrap().to_owned();
        let at: u64 = words.next().unwrap().parse().unwrap();
        let name = line.split('"').nth(1).unwrap().to_owned();
        let open = open.entry(location).or_default();
        if event == "ENTER" {
            if let Some(outer) = open.iter().position(|(around, _)| *around == name) {
                recursive.extend(open[outer..].iter().map(|(around, _)| around.clone()));
            }
            open.push((name, at));
            continue;
        }
        let (entered, since) = open.pop().unwrap();
        assert_eq!(entered, name);
        let span = spans.entry(name).or_default();
        *span = (span.0 + 1, span.1 + at - since);
    }
    assert!(open.values().all(Vec::is_empty), "{open:?}");
    (spans, recursive)
}

/// Entered regions and the time to their ends, by the reader that OTF2 has for
/// Python: Debian's, wherever the user's own Python may be.
fn read_by_python(archive: &Path) -> Spans {
    const PROGRAM: &str = r#"
import collections, sys, otf2
spans = collections.defaultdict(lambda: [0, 0])
around = collections.defaultdict(list)
with otf2.reader.open(sys.argv[1]) as trace:
    for location, event in trace.events:
        if isinstance(event, otf2.events.Enter):
            around[location].append((event.region, event.time))
        elif isinstance(event, otf2.events.Leave):
            region, since = around[location].pop()
            assert region == event.region
            span = spans[region.name]
            span[0] += 1
            span[1] += event.time - since
assert not any(around.values())
for name, (count, time) in spans.items():
    print(count, time, name)
"#;
    let text = python(PROGRAM, archive);
    let lines = text.lines().map(|line| {
        let words: Vec<&str> = line.splitn(3, ' ').collect();
        let span = (words[0].parse().unwrap(), words[1].parse().unwrap());
        (words[2].to_owned(), span)
    });
    lines.collect()
}

/// What a program for Debian's Python prints of an archive, without a warning.
fn python(program: &str, archive: &Path) -> String {
    let output = Command::new("/usr/bin/python3")
        .args(["-W", "error", "-c", program])
        .arg(archive)
        .output()
        .unwrap();
    let is_fine = output.status.success() && output.stderr.is_empty();
    assert!(is_fine, "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// What the trace says, under the names of the export.
fn counted(trace: &Trace) -> Spans {
    let mut spans = Spans::new();
    let scale = trace.scale();
    for ((_, region), parts) in &stats(trace).unwrap().spans {
        let region = trace.region(*region).unwrap();
        let place = &region.begin;
        let name = format!("{} {}:{}", region.region_type, place.file, place.first);
        for (part, span) in PseudoRegion::ALL.iter().zip(parts) {
            let suffix = match part {
                PseudoRegion::Main => "",
                PseudoRegion::Seq => " (fork to join)",
                PseudoRegion::Body => " (body)",
                PseudoRegion::Ibarr => " (implicit barrier)",
                // There is no event for a worker's way into its team.
                PseudoRegion::Enter | PseudoRegion::Exit => continue,
            };
            if span.count > 0 {
                let sum = spans.entry(format!("{name}{suffix}")).or_default();
                *sum = (sum.0 + span.count, sum.1 + scale.to_ns(span.ticks));
            }
        }
    }
    spans
}

#[test]
fn its_own_readers_see_the_counts_and_times_of_the_trace() {
    let bin = romp_bin_dir().unwrap();
    for (name, compiler) in [
        ("c/nested_constructs.c", "gcc"),
        ("c/tasks.c", "clang"),
        ("c/sections.c", "gcc"),
        ("fortran/synchronisation.f90", "gfortran"),
    ] {
        let fixture = Fixture::read(name).unwrap();
        let compiler = Compiler::find(compiler).unwrap();
        let std = fixture.header.standards.last().unwrap();
        let program = build(&fixture, &compiler, std, Build::Instrumented(&bin)).unwrap();
        let ran = run(&fixture, &program, &[("ROMP_TRACE", "on")]).unwrap();
        ran.must_be_right().unwrap();
        let path = ran.profiles[0].with_extension("trace");
        let folder = path.with_extension("otf2");
        let output = export(&path, &folder, library());
        assert!(output.status.success(), "{output:?}");
        let archive = folder.join("traces.otf2");
        let (read, recursive) = printed(&archive);
        assert_eq!(read_by_python(&archive), read, "{name}");
        let wanted = counted(&Trace::open(&path).unwrap());
        assert_eq!(
            wanted.keys().collect::<Vec<_>>(),
            read.keys()
                .filter(|region| !region.ends_with("(enter)") && !region.ends_with("(exit)"))
                .collect::<Vec<_>>(),
            "{name}"
        );
        for (region, (count, ns)) in wanted {
            let (seen, time) = read[&region];
            assert_eq!(seen, count, "{name}: {region}");
            // The statistics count a member's time from fork to join, for which an archive
            // has no events: it has those of the body and the barrier. In an archive, begins
            // and ends are whole nanoseconds.
            let is_member = region.starts_with("parallel") && !region.contains(" (");
            assert!(
                is_member || recursive.contains(&region) || time.abs_diff(ns) <= 2 * count,
                "{name}: {region}: {time} {ns}"
            );
        }
        what_cannot_be_written_leaves_nothing(&path, &folder);
    }
}

/// The places of the program, and its teams with what they did.
const TEAMS: &str = r#"
import collections, sys, otf2
with otf2.reader.open(sys.argv[1]) as trace:
    known = trace.definitions
    node, process = known.system_tree_nodes[1], known.location_groups[0]
    print(known.system_tree_nodes[0].class_name, node.class_name, node.name)
    print(process.name.split(" (")[0], process.system_tree_parent == node)
    depth = lambda comm: 0 if comm.parent is None else 1 + depth(comm.parent)
    told = collections.defaultdict(collections.Counter)
    for location, event in trace.events:
        kind = type(event).__name__
        if kind in ("ThreadTeamBegin", "MpiCollectiveEnd"):
            comm = event.thread_team if kind == "ThreadTeamBegin" else event.communicator
            members = list(comm.group.members)
            assert location in members, (location, members)
            told[depth(comm), len(members)][kind] += 1
        elif kind == "ThreadFork":
            told["forks for", event.number_of_requested_threads][kind] += 1
    for what, counts in sorted(told.items(), key=str):
        print(*what, *(f"{kind} {count}" for kind, count in sorted(counts.items())))
"#;

#[test]
fn nested_teams_are_teams_of_their_own_and_barriers_are_theirs() {
    let bin = romp_bin_dir().unwrap().canonicalize().unwrap();
    let place = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/programs/nested.c");
    let succeeds = |command: &mut Command| {
        let output = command.current_dir(place.path()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    };
    let mut compile = Command::new(bin.join("rompcc"));
    succeeds(
        compile
            .args(["-fopenmp", "-o", "nested", "-lm"])
            .arg(source),
    );
    let mut program = Command::new(place.path().join("nested"));
    succeeds(program.envs([("ROMP_TRACE", "on"), ("ROMP_QUIET", "1")]));
    let (trace, folder) = (
        place.path().join("nested.0.romp.trace"),
        place.path().join("otf2"),
    );
    assert!(export(&trace, &folder, library()).status.success());
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let expected = format!(
        "machine node {}\nnested True\n\
         forks for 2 ThreadFork 4\n\
         1 2 MpiCollectiveEnd 2 ThreadTeamBegin 2\n\
         2 2 MpiCollectiveEnd 6 ThreadTeamBegin 6\n",
        host.trim()
    );
    assert_eq!(python(TEAMS, &folder.join("traces.otf2")), expected);
}

fn what_cannot_be_written_leaves_nothing(trace: &Path, there: &Path) {
    let error = |folder: &Path, library: &str| {
        let output = export(trace, folder, library);
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let again = error(there, library());
    assert!(again.contains("it is there already"), "{again}");
    let new = there.with_extension("new");
    let absent = error(&new, "/absent/libotf2.so");
    assert!(absent.contains("ROMP_OTF2"), "{absent}");
    assert!(!new.exists());
    let entries = there.parent().unwrap().read_dir().unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let scratch: Vec<String> = names.filter(|name| name.starts_with('.')).collect();
    assert_eq!(scratch, Vec::<String>::new());
}
