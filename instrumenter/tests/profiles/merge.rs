//! `romp merge`

use crate::support::{Folder, after, before};

#[test]
fn ranks_become_one_profile_that_every_report_shows() {
    let folder = Folder::new();
    folder.save("app.r0.0.romp.json", &before());
    folder.save("app.r1.0.romp.json", &after());
    let merged = folder.romp("merge app.r1.0.romp.json app.r0.0.romp.json -o job.json");
    assert_eq!(merged.all(), "--- stderr\n--- status 0\n");
    let text = folder.romp("report job.json");
    assert_eq!((text.status, text.stderr.as_str()), (0, ""));
    assert!(text.stdout.contains("r1:0->3"), "{}", text.stdout);
    let csv = folder.romp("report job.json -f csv");
    let ranks: Vec<&str> = csv
        .stdout
        .lines()
        .skip_while(|line| *line != "##BEG ranks")
        .take_while(|line| !line.is_empty())
        .collect();
    insta::assert_snapshot!("ranks.csv", ranks.join("\n"));
    let json = folder.romp("report job.json -f json");
    assert_eq!(json.stdout, folder.read("job.json"));
}

#[test]
fn nothing_is_overwritten() {
    let folder = Folder::new();
    folder.save("app.r0.0.romp.json", &before());
    folder.write("job.json", "precious");
    let ran = folder.romp("merge app.r0.0.romp.json -o job.json");
    insta::assert_snapshot!("merge_taken", ran.all());
    assert_eq!(folder.read("job.json"), "precious");
    let ran = folder.romp("merge app.r0.0.romp.json -o missing/job.json");
    insta::assert_snapshot!("merge_nowhere", ran.all());
}

#[test]
fn files_without_rank_are_numbered_on_request() {
    let folder = Folder::with_both();
    let ran = folder.romp("merge before.json after.json -o job.json");
    insta::assert_snapshot!("merge_no_rank", ran.all());
    let ran = folder.romp("merge --number before.json after.json -o job.json");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let csv = folder.romp("report job.json -f csv").stdout;
    assert!(csv.contains("\nr1:0->3,"), "{csv}");
}
