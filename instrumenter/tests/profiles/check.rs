//! `romp check`

use crate::support::Folder;

#[test]
fn violations_are_lines_with_their_place() {
    let ran = Folder::with_both().romp(
        "check before.json --max-overhead sync=5% --max-overhead total=15% --max-imbalance 10% \
         --min-coverage 80%",
    );
    insta::assert_snapshot!("check_violated", ran.all());
}

#[test]
fn what_holds_ends_with_status_0() {
    let ran = Folder::with_both()
        .romp("check before.json --max-overhead total=17% --max-imbalance 17 --min-coverage 99%");
    assert_eq!(
        ran.all(),
        "before.json: 4 checks passed\n--- stderr\n--- status 0\n"
    );
}

#[test]
fn regions_are_compared_with_their_baseline() {
    let folder = Folder::with_both();
    let ran =
        folder.romp("check after.json before.json --max-time-ratio 0.8 --max-region-ratio 0.9");
    insta::assert_snapshot!("check_baseline", ran.all());
    let ran = folder.romp("check before.json after.json --max-time-ratio 1.1");
    assert_eq!(ran.status, 1, "{}", ran.stdout);
    assert!(
        ran.stdout
            .contains("max-time-ratio: the run took 1.17 times (more than 1.1)")
    );
}

#[test]
fn options_override_the_file() {
    let folder = Folder::with_both();
    folder.write(
        "romp.toml",
        "max-imbalance = \"10%\"\nmin-coverage = 80\n[max-overhead]\nsynch = \"5%\"\ntotal = 1\n",
    );
    let ran = folder.romp("check before.json --thresholds romp.toml");
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    // One for each limit of the program, two for regions with implicit barriers.
    let ran = folder.romp(
        "check before.json --thresholds romp.toml --max-imbalance 20% --max-overhead total=20%",
    );
    assert_eq!(
        ran.all(),
        "before.json: 5 checks passed\n--- stderr\n--- status 0\n"
    );
    folder.write("later.toml", "max-imbalance = 20\nmax-time-ratio = 1.1\n");
    let ran = folder.romp("check before.json --thresholds later.toml");
    assert_eq!(
        ran.all(),
        "note: no baseline is given, so not checked: max-time-ratio\n\
         before.json: 2 checks passed\n--- stderr\n--- status 0\n"
    );
    folder.write("wrong.toml", "max-imbalances = 10\n");
    let ran = folder.romp("check before.json --thresholds wrong.toml");
    insta::assert_snapshot!("check_wrong_file", ran.all());
}

#[test]
fn errors_have_a_status_of_their_own() {
    let folder = Folder::with_both();
    let lines: Vec<String> = [
        "check before.json",
        "check before.json --min-share 5%",
        "check before.json --max-time-ratio 1.1",
        "check before.json after.json --max-imbalance 5%",
        "check missing.json --max-imbalance 5%",
        "check before.json --max-imbalance 5% --junit no/such/folder.xml",
        "check before.json --max-overhead sun=5%",
        "check before.json --max-imbalance lots",
    ]
    .into_iter()
    .map(|words| {
        let ran = folder.romp(words);
        assert_eq!(ran.status, 2, "{words}: {}", ran.all());
        format!("romp {words}\n{}", ran.stderr)
    })
    .collect();
    insta::assert_snapshot!("check_errors", lines.join("\n"));
}

#[test]
fn a_run_that_measured_nothing_does_not_pass() {
    let folder = Folder::with_both();
    let mut nothing = crate::support::before();
    nothing.nodes.clear();
    folder.save("nothing.json", &nothing);
    let ran = folder.romp("check nothing.json --max-overhead total=50%");
    assert_eq!(ran.status, 1);
    assert!(
        ran.stdout
            .starts_with("nothing.json: measured: no parallel region ran")
    );
}

#[test]
fn junit_has_a_test_case_per_check() {
    let folder = Folder::with_both();
    let words = "check after.json before.json --max-overhead total=1% --max-time-ratio 1.1 \
                 --max-region-ratio 1.2 --junit out.xml";
    assert_eq!(folder.romp(words).status, 1);
    let xml = folder.read("out.xml");
    insta::assert_snapshot!("junit.xml", xml);
    let report = quick_junit::Report::deserialize_from_str(&xml).unwrap();
    assert_eq!((report.failures, report.errors), (1, 0));
}

#[test]
fn several_runs_are_judged_by_their_medians() {
    let folder = Folder::with_both();
    let mut slow = crate::support::before();
    slow.run.duration_ns *= 3;
    folder.save("slow.json", &slow);
    let limits = "--max-overhead total=17% --max-time-ratio 1.1";
    let alone = folder.romp(&format!("check slow.json before.json {limits}"));
    assert_eq!(alone.status, 1, "{}", alone.stdout);
    let three = "before.json slow.json before.json";
    let ran = folder.romp(&format!("check {three} {limits} -- before.json"));
    assert_eq!(
        ran.all(),
        "before.json and 2 more: 2 checks passed\n--- stderr\n--- status 0\n"
    );
    let named = folder.romp(&format!(
        "check {three} {limits} --baseline before.json before.json"
    ));
    assert_eq!(named.status, 0, "{}", named.all());
    let ran = folder.romp(&format!(
        "check {three} --max-imbalance 1% --min-coverage 99%"
    ));
    insta::assert_snapshot!("check_runs", ran.all());
}
