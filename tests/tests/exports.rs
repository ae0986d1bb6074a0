//! Traces exported for Perfetto and Paraver: their formats, and that they say what the
//! statistics of the trace say.

#![allow(clippy::unwrap_used)] // A test fails by panicking, also in its helpers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use profile::region_kind::PseudoRegion;
use serde_json::Value;
use tests::fixture::Fixture;
use tests::run::{Build, build, run};
use tests::toolchain::{Compiler, romp_bin_dir};
use trace::read::Trace;
use trace::replay::{Event, Listener, Open, replay};
use trace::stats::stats;

/// Runs a fixture with its chunks in the trace; gives the trace and an export of it.
fn exported(fixture: &str, format: &str, check: impl Fn(&Trace, &Path)) {
    let bin = romp_bin_dir().unwrap();
    let fixture = Fixture::read(fixture).unwrap();
    let compiler = Compiler::find("gcc").unwrap();
    let std = fixture.header.standards.last().unwrap();
    let program = build(&fixture, &compiler, std, Build::Chunked(&bin)).unwrap();
    let ran = run(&fixture, &program, &[("ROMP_TRACE", "on")]).unwrap();
    let path = ran.profiles[0].with_extension("trace");
    check(&Trace::open(&path).unwrap(), &export(&path, format));
}

/// Exports a trace to a file or folder beside it.
fn export(path: &Path, format: &str) -> PathBuf {
    let output = path.with_extension(format);
    let status = Command::new(romp_bin_dir().unwrap().join("romp"))
        .args(["trace", "export", "--format", format])
        .arg(path)
        .arg("--output")
        .arg(&output)
        .status();
    assert!(status.unwrap().success());
    output
}

/// The number of records of counters.
#[derive(Default)]
struct Told(usize);

impl Listener for Told {
    fn event(&mut self, _: u64, _: &[Open], event: &Event) {
        self.0 += usize::from(matches!(event, Event::Counter { .. }));
    }
}

/// Every value of every counter is in every export that has a place for it.
#[test]
fn counters_are_exported() {
    let bin = romp_bin_dir().unwrap();
    let fixture = Fixture::read("c/nested_constructs.c").unwrap();
    let compiler = Compiler::find("gcc").unwrap();
    let std = fixture.header.standards.last().unwrap();
    let program = build(&fixture, &compiler, std, Build::Instrumented(&bin)).unwrap();
    let settings = [("ROMP_TRACE", "on"), ("ROMP_COUNTERS", "task-clock")];
    let ran = run(&fixture, &program, &settings).unwrap();
    let path = ran.profiles[0].with_extension("trace");
    let trace = Trace::open(&path).unwrap();
    if trace.counters().count() == 0 {
        assert!(ran.stderr().contains("the kernel refuses task-clock"));
        return;
    }
    let mut told = Told::default();
    for stream in trace.streams() {
        replay(&trace, stream, &mut told).unwrap();
    }
    assert!(told.0 > 10);
    let chrome = std::fs::read_to_string(export(&path, "chrome")).unwrap();
    let events: Value = serde_json::from_str(&chrome).unwrap();
    let events = events["traceEvents"].as_array().unwrap();
    let named = events.iter().filter(|event| event["name"] == "task-clock");
    assert_eq!(named.count(), told.0);
    let paraver = export(&path, "paraver");
    let names = std::fs::read_to_string(paraver.with_extension("pcf")).unwrap();
    assert!(names.contains("60000100    task-clock"), "{names}");
    let records = std::fs::read_to_string(paraver.with_extension("prv")).unwrap();
    assert_eq!(records.matches(":60000100:").count(), told.0);
    let archive = export(&path, "otf2").join("traces.otf2");
    let printed = Command::new("otf2-print").arg(archive).output().unwrap();
    assert!(printed.stderr.is_empty(), "{printed:?}");
    let printed = String::from_utf8(printed.stdout).unwrap();
    let metrics = printed.lines().filter(|line| line.starts_with("METRIC "));
    assert_eq!(metrics.count(), told.0);
}

/// How often regions are entered, by kind and place as exports name them.
fn entered(trace: &Trace) -> BTreeMap<String, u64> {
    let mut entered = BTreeMap::new();
    for ((_, region), parts) in &stats(trace).unwrap().spans {
        let region = trace.region(*region).unwrap();
        let place = &region.begin;
        let name = format!("{} {}:{}", region.region_type, place.file, place.first);
        // A team's fork is a slice of its own beside those of its members.
        let forks = parts[PseudoRegion::Seq as usize].count;
        *entered.entry(name).or_default() += parts[PseudoRegion::Main as usize].count + forks;
    }
    entered
}

/// The open slices on each lane, and the arrows between lanes.
#[derive(Default)]
struct Lanes {
    open: BTreeMap<u64, Vec<f64>>,
    begun: BTreeMap<String, u64>,
    starts: BTreeSet<String>,
    ends: BTreeSet<String>,
}

impl Lanes {
    fn event(&mut self, event: &Value) {
        let lane = event["tid"].as_u64().unwrap();
        let at = event["ts"].as_f64().unwrap();
        let open = self.open.entry(lane).or_default();
        let id = || format!("{} {}", event["cat"], event["id"]);
        match event["ph"].as_str().unwrap() {
            "B" => {
                assert!(open.last().is_none_or(|outer| *outer <= at), "{event}");
                open.push(at);
                let name = event["name"].as_str().unwrap().to_owned();
                *self.begun.entry(name).or_default() += 1;
            }
            "E" => assert!(open.pop().unwrap() <= at, "{event}"),
            "X" => assert!(event["dur"].as_f64().unwrap() >= 0.0),
            "s" => assert!(self.starts.insert(id())),
            "f" => _ = self.ends.insert(id()),
            kind => assert_eq!(kind, "M"),
        }
    }
}

#[test]
fn perfetto_gets_nested_slices_and_arrows_with_two_ends() {
    for fixture in ["c/nested_constructs.c", "c/tasks.c", "c/cancel.c"] {
        exported(fixture, "chrome", |trace, output| {
            let text = std::fs::read_to_string(output).unwrap();
            let whole: Value = serde_json::from_str(&text).unwrap();
            let mut lanes = Lanes::default();
            for event in whole["traceEvents"].as_array().unwrap() {
                assert_eq!(event["pid"], trace.header.pid);
                lanes.event(event);
            }
            let process = &whole["traceEvents"][0];
            assert_eq!(process["name"], "process_name");
            let (pid, facts) = (trace.header.pid, trace.facts());
            let [program, host, system] =
                ["application", "host", "system"].map(|name| &facts[name]);
            assert_eq!(
                process["args"]["name"],
                format!("{program} ({pid}) on {host}, {system}")
            );
            assert!(lanes.open.values().all(Vec::is_empty), "{fixture}");
            assert!(lanes.ends.is_subset(&lanes.starts), "{fixture}");
            assert!(!lanes.ends.is_empty());
            for (region, count) in entered(trace) {
                assert_eq!(
                    lanes.begun.get(&region),
                    Some(&count),
                    "{fixture}: {region}"
                );
            }
        });
    }
}

#[test]
fn paraver_gets_records_in_the_order_of_time_and_names_for_all_of_them() {
    for fixture in ["c/nested_constructs.c", "c/tasks.c", "c/pthreads.c"] {
        exported(fixture, "paraver", |trace, output| {
            let read =
                |extension| std::fs::read_to_string(output.with_extension(extension)).unwrap();
            let names = read("pcf");
            let named = |number: u64| {
                let begin = format!("{number} ");
                names.lines().any(|line| line.starts_with(&begin))
            };
            let threads = trace.streams().count() as u64;
            let duration = trace.ns(trace.header.end.ticks);
            let records = read("prv");
            let (header, records) = records.split_once('\n').unwrap();
            let resources = format!("{duration}_ns:1({threads}):1:1({threads}:1)");
            assert!(header.starts_with("#Paraver ("), "{header}");
            assert!(header.ends_with(&resources), "{header}");
            let row = read("row");
            let host = &trace.facts()["host"];
            assert!(
                row.starts_with(&format!("LEVEL NODE SIZE 1\n{host}\n\n")),
                "{row}"
            );
            let (_, lanes) = row.split_once("\nLEVEL THREAD SIZE ").unwrap();
            assert_eq!(lanes.lines().count() as u64, 1 + threads);
            assert!(
                lanes
                    .lines()
                    .skip(1)
                    .all(|name| name.starts_with("thread ")),
                "{row}"
            );
            let (mut last, mut states) = (0, BTreeMap::new());
            for record in records.lines() {
                let words: Vec<u64> = record
                    .split(':')
                    .map(|word| word.parse().unwrap())
                    .collect();
                let [kind, cpu, 1, 1, thread, at, second, third] = words[..] else {
                    panic!("{record}");
                };
                assert!(
                    at >= last && cpu == thread && (1..=threads).contains(&thread),
                    "{record}"
                );
                last = at;
                match kind {
                    1 => {
                        // The states of a thread follow one another without a gap.
                        let before = states.insert(thread, second).unwrap_or(0);
                        assert!(at == before && second > at && named(third), "{record}");
                    }
                    2 => assert!(names.contains(&second.to_string()), "{record}"),
                    _ => panic!("{record}"),
                }
                let is_region = kind == 2 && second == 60_000_001;
                assert!(!is_region || named(third), "{record}");
            }
            assert_eq!(states.len() as u64, threads);
            assert!(states.values().all(|end| *end == duration), "{fixture}");
        });
    }
}
