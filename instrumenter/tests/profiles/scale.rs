//! `romp scale`

use profile::model::{Profile, Row, Span, Thread};
use profile::region_kind::PseudoRegion;

use crate::support::{Folder, before};

/// A run with this many threads, whose loop takes `factor` times its thread time.
fn wide(threads: u32, factor: f64) -> Profile {
    let mut profile = before();
    let times = |ns: u64| (ns as f64 * factor * 4.0 / f64::from(threads)).round() as u64;
    profile.run.max_threads = threads;
    profile.threads = vec![Thread::default()];
    profile.threads[0].path = vec![0];
    profile.threads.extend((0..threads).map(|thread| Thread {
        rank: None,
        path: vec![0, thread],
    }));
    for node in &mut profile.nodes {
        let busy = node.rows.iter().find(|row| row.main.ns > 0).unwrap();
        let scaled = |row: &Row, part| Span {
            count: row.span(part).count,
            ns: times(row.span(part).ns),
        };
        let parts = PseudoRegion::ALL.map(|part| scaled(busy, part));
        let forker = node.rows.iter().find(|row| row.seq().ns > 0).cloned();
        let mut rows: Vec<Row> = forker
            .map(|row| {
                let seq = scaled(&row, PseudoRegion::Seq);
                Row::of(0).with(PseudoRegion::Seq, seq)
            })
            .into_iter()
            .collect();
        rows.extend((1..=threads as usize).map(|thread| {
            Row::of(thread)
                .with_all(parts)
                .with(PseudoRegion::Seq, Span::default())
        }));
        node.rows = rows;
    }
    profile.run.duration_ns = times(profile.run.duration_ns);
    profile.distributions.clear();
    profile.arrivals.clear();
    profile.contention.clear();
    profile
}

fn folder() -> Folder {
    let folder = Folder::new();
    for (threads, factor) in [(1, 1.0), (2, 1.5), (4, 2.0)] {
        folder.save(&format!("{threads}.json"), &wide(threads, factor));
    }
    folder
}

#[test]
fn text() {
    let ran = folder().romp("scale 4.json 1.json 2.json");
    insta::assert_snapshot!("scale.txt", ran.all());
}

#[test]
fn csv_and_json_say_the_same() {
    let folder = folder();
    let csv = folder.romp("scale 1.json 2.json 4.json -f csv").stdout;
    insta::assert_snapshot!("scale.csv", csv);
    let json = folder.romp("scale 1.json 2.json 4.json -f json").stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let places = json["places"].as_array().unwrap().len();
    let widths = json["widths"].as_array().unwrap();
    assert_eq!(csv.lines().count(), 1 + widths.len() * (1 + places));
    let lost = widths[2]["lost"]["work"].as_i64().unwrap() as f64 / 1e9;
    let line = csv
        .lines()
        .find(|line| line.starts_with("4,") && line.contains("PROGRAM"));
    assert!(
        line.unwrap().contains(&format!("{lost:.9}")),
        "{line:?} {lost}"
    );
}

#[test]
fn one_number_of_threads_is_an_error() {
    let ran = folder().romp("scale 2.json 2.json");
    assert_eq!(ran.status, 1);
    assert!(
        ran.stderr.contains("all runs had 2 threads"),
        "{}",
        ran.stderr
    );
    let ran = folder().romp("scale");
    assert_eq!(ran.status, 2, "{}", ran.stderr);
}

/// A program that prints how it was run, and leaves the profile of such a run.
const PROGRAM: &str = "#!/bin/sh\n\
    echo \"$OMP_NUM_THREADS $1\"\n\
    test \"$1\" = fails && exit 3\n\
    test \"$1\" = plain && exit 0\n\
    cp $OMP_NUM_THREADS.json \"$ROMP_OUTPUT/app.0.romp.json\"\n";

fn with_program() -> Folder {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    folder.write("app", PROGRAM);
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(folder.path().join("app"), mode).unwrap();
    folder
}

#[test]
fn a_program_is_run_with_each_number_of_threads_and_its_output_goes_through() {
    let folder = with_program();
    let of_files = folder.romp("scale 1.json 2.json 4.json").stdout;
    let ran = folder.romp("scale --threads 1,2,4 -- ./app here");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert_eq!(ran.stdout, format!("1 here\n2 here\n4 here\n{of_files}"));
    assert!(
        ran.stderr.contains("run 3 of 3: 4 threads"),
        "{}",
        ran.stderr
    );

    let ran = folder.romp("scale --threads 1,2 --repeat 2 --keep kept -f json -- ./app -");
    // A busy period must not slow down only one number of threads.
    assert!(
        ran.stdout.starts_with("1 -\n2 -\n1 -\n2 -\n{"),
        "{}",
        ran.stdout
    );
    for name in ["threads-1.1", "threads-1.2", "threads-2.1", "threads-2.2"] {
        let kept = folder.path().join("kept").join(name);
        assert!(kept.join("app.0.romp.json").exists(), "{name}");
    }
    // Profiles of earlier runs are not mixed in.
    let ran = folder.romp("scale --threads 1,2 --keep kept -- ./app -");
    assert_eq!(ran.status, 1);
    assert!(
        ran.stderr.contains("profiles of earlier runs"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_run_that_fails_or_leaves_nothing_is_an_error() {
    let folder = with_program();
    for (words, said) in [
        (
            "--threads 1,2 -- ./app fails",
            "'./app' with 1 thread ended with exit status: 3",
        ),
        ("--threads 1,2 -- ./app plain", "left no profile"),
        ("--threads 1,2 -- ./missing", "./missing"),
        ("1.json -- ./app", "say with how many threads"),
    ] {
        let ran = folder.romp(&format!("scale {words}"));
        assert_eq!(ran.status, 1, "{words}");
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
    }
    for words in ["--threads 1,2", "--threads 0 -- ./app", "--repeat 2 1.json"] {
        assert_eq!(folder.romp(&format!("scale {words}")).status, 2, "{words}");
    }
}
