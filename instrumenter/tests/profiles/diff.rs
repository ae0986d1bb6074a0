//! `romp diff`

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
    assert_eq!(csv.lines().count(), 1 + rows("program") + rows("regions"));
    // The region that vanished changed most.
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
        noise.iter().all(|line| line.ends_with(",true")),
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
