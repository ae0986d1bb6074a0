//! `romp diff`

use profile::model::Profile;
use profile::region_kind::PseudoRegion;

use crate::support::{Folder, before};

#[test]
fn text() {
    let ran = Folder::with_both().romp("diff before.json after.json");
    insta::assert_snapshot!("diff.txt", ran.all());
}

#[test]
fn csv() {
    let ran = Folder::with_both().romp("diff before.json after.json -f csv");
    insta::assert_snapshot!("diff.csv", ran.all());
    let fields: Vec<usize> = ran
        .stdout
        .lines()
        .map(|line| line.split(',').count())
        .collect();
    assert!(
        fields.iter().all(|number| *number == fields[0]),
        "{fields:?}"
    );
}

#[test]
fn json_has_what_csv_has() {
    let folder = Folder::with_both();
    let json = folder.romp("diff before.json after.json --format json");
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    let csv = folder
        .romp("diff before.json after.json --format csv")
        .stdout;
    let rows = |what: &str| json[what].as_array().unwrap().len();
    assert_eq!(
        csv.lines().count(),
        1 + rows("program") + rows("regions") + rows("causes")
    );
    assert!(
        json["causes"]
            .as_array()
            .unwrap()
            .iter()
            .any(|it| it["status"] == "vanished")
    );
    // The region that vanished has the largest change.
    assert_eq!(json["regions"][0]["region"]["status"], "vanished");
    let changed = &json["regions"][1];
    assert_eq!(changed["subject"], "Imbal");
    assert_eq!(changed["region"]["line_before"], 15);
    assert_eq!(changed["region"]["line"], 25);
    assert_eq!(changed["region"]["directive_before"], "#pragma omp for");
    let (before, after) = (&changed["before_ns"], &changed["after_ns"]);
    let change = after.as_i64().unwrap() - before.as_i64().unwrap();
    assert_eq!(changed["change_ns"], change);
}

#[test]
fn a_profile_does_not_differ_from_itself() {
    let ran = Folder::with_both().romp("diff before.json before.json -f csv");
    let noise: Vec<&str> = ran.stdout.lines().skip(1).collect();
    assert!(!noise.is_empty());
    assert!(
        noise.iter().all(|line| line.contains(",true,")),
        "{noise:?}"
    );
}

#[test]
fn what_is_noise_can_be_said() {
    let folder = Folder::with_both();
    let shown = |limits: &str| {
        let ran = folder.romp(&format!("diff before.json after.json {limits}"));
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        ran.stdout
            .lines()
            .filter(|line| line.contains(".c:"))
            .count()
    };
    assert!(shown("--noise 0%") > shown("--noise 20%"));
    assert!(shown("--noise 20%") > shown("--noise 20% --noise 2s"));
    let wrong = folder.romp("diff before.json after.json --noise much");
    insta::assert_snapshot!("noise", wrong.all());
}

#[test]
fn more_threads_are_pointed_out() {
    let folder = Folder::with_both();
    let mut wide = before();
    wide.run.max_threads = 8;
    folder.save("wide.json", &wide);
    let ran = folder.romp("diff before.json wide.json");
    assert!(
        ran.stdout
            .contains("\nnote:   the runs had 4 and 8 threads"),
        "{}",
        ran.stdout
    );
}

/// Runs of one program. Each run's times are this percentage of the first one's.
fn runs(folder: &Folder, name: &str, profile: &Profile, percents: &[u64]) -> String {
    let file = |(run, percent): (usize, &u64)| {
        let mut profile = profile.clone();
        let of = |ns: u64| ns * percent / 100;
        profile.run.duration_ns = of(profile.run.duration_ns);
        for row in profile.nodes.iter_mut().flat_map(|node| &mut node.rows) {
            for part in PseudoRegion::ALL {
                let mut span = row.span(part);
                span.ns = of(span.ns);
                *row = row.clone().with(part, span);
            }
        }
        let file = format!("{name}{run}.json");
        folder.save(&file, &profile);
        file
    };
    let files: Vec<String> = percents.iter().enumerate().map(file).collect();
    files.join(" ")
}

#[test]
fn several_runs_are_compared_by_their_medians() {
    let folder = Folder::new();
    let old = runs(&folder, "a", &before(), &[100, 150, 101]);
    let new = runs(&folder, "b", &before(), &[80, 79, 81]);
    // The run of 150 % is inside the interval, so the two other runs don't decide alone.
    let ran = folder.romp(&format!("diff {old} -- {new}"));
    assert!(ran.stdout.contains("Verdict: no change"), "{}", ran.stdout);
    let old = runs(&folder, "a", &before(), &[100, 103, 101]);
    let ran = folder.romp(&format!("diff {old} -- {new}"));
    insta::assert_snapshot!("diff_runs.txt", ran.all());
    let named = folder.romp(&format!("diff --before {old} --after {new}"));
    assert_eq!(named.all(), ran.all());
    let json = folder.romp(&format!("diff -f json {old} -- {new}")).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let wall = &json["program"][0];
    assert_eq!(wall["before"]["runs"], 3);
    assert_eq!(wall["before"]["median"], wall["before_ns"]);
    assert!(wall["after"]["high"].as_u64() < wall["before"]["low"].as_u64());
    assert_eq!(
        json["verdict"]
            .as_str()
            .map(|text| text.starts_with("faster by 21 %")),
        Some(true)
    );
}

#[test]
fn runs_of_one_binary_show_no_changes() {
    let folder = Folder::new();
    for (old, new) in [
        (&[100][..], &[107][..]),
        (&[100, 104], &[108, 112]),
        (&[100, 104, 99], &[108, 102, 103]),
        (&[100, 104, 99], &[108]),
    ] {
        let old = runs(&folder, "a", &before(), old);
        let new = runs(&folder, "b", &before(), new);
        let ran = folder.romp(&format!("diff {old} -- {new}"));
        assert!(ran.stdout.contains("Verdict: no change"), "{}", ran.stdout);
        assert!(!ran.stdout.contains(".c:"), "{}", ran.stdout);
    }
}

#[test]
fn which_runs_are_on_which_side_must_be_said() {
    let folder = Folder::with_both();
    for (words, status) in [
        ("diff before.json", 1),
        ("diff before.json after.json before.json", 1),
        ("diff", 1),
        ("diff --before before.json", 2),
        (
            "diff before.json --before before.json --after after.json",
            2,
        ),
    ] {
        let ran = folder.romp(words);
        assert_eq!(ran.status, status, "{words}: {}", ran.stderr);
        assert!(ran.stderr.starts_with("error: "), "{}", ran.stderr);
    }
}
