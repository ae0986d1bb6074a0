//! The page in a real browser: Chromium, driven by playwright. The checks are in
//! `tests/page`; this file makes the runs for the pages.

mod browser;
mod generated;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use browser::{are_tools_missing, in_browser};
use generated::generated;
use profile::analysis::Report;
use profile::diff::{self, WRITERS, diff_runs};
use profile::model::{Contention, ContentionSite, GuardKind, Profile};
use profile::region_kind::PseudoRegion;
use profile::report::html::Page;
use profile::report::writer;
use tests::fixture::fixtures;
use tests::memory::taken;
use tests::toolchain::romp_bin_dir;
use trace::read::Trace;
use trace::timeline::timeline;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn saved(name: &str) -> Profile {
    profile::load::load(
        &root()
            .join("fixtures/profiles")
            .join(format!("{name}.romp.json")),
    )
    .unwrap()
}

/// A file that stands beside each page.
const SOURCE: &str = "source.c";

/// A folder with the page of a run, and the data that the page is compared with.
fn folder_of(profile: &Profile, others: &[Profile]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let report = Report::new(profile);
    let write = |name: &str, text: Vec<u8>| std::fs::write(folder.path().join(name), text).unwrap();
    write(SOURCE, attempt("text").into_bytes());
    let mut page = Vec::new();
    let reports: Vec<Report<'_>> = others.iter().map(Report::new).collect();
    let mut page_of = Page::new(&report).with_sources(&[folder.path().to_owned()]);
    for (index, other) in reports.iter().enumerate() {
        let mut text = Vec::new();
        (writer("analysis").unwrap().write)(other, &mut text).unwrap();
        write(&format!("other{index}.json"), text);
    }
    if !others.is_empty() {
        let diff = diff_runs(
            others,
            std::slice::from_ref(profile),
            diff::Noise::default(),
        );
        let as_json = WRITERS.iter().find(|writer| writer.name == "json").unwrap();
        let mut text = Vec::new();
        (as_json.write)(&diff, &mut text).unwrap();
        write("diff.json", text);
        page_of = page_of.with_others(&reports, diff);
    }
    page_of.write(&mut page).unwrap();
    write("page.html", page);
    for (name, format) in [("profile.json", "json"), ("analysis.json", "analysis")] {
        let mut text = Vec::new();
        (writer(format).unwrap().write)(&report, &mut text).unwrap();
        write(name, text);
    }
    folder
}

fn check(name: &str, profile: &Profile) -> String {
    let folder = folder_of(profile, &[]);
    in_browser(name, folder.path())
}

/// A tool that tests/setup installs below target/.
fn node_tool(command: &mut Command, folder: &str) {
    let output = command.current_dir(root().join(folder)).output();
    let output = output.unwrap_or_else(|_| panic!("{command:?} can't be run: run tests/setup"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (findings, errors) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{findings}{errors}");
}

#[test]
fn modules_compute_what_they_should() {
    node_tool(
        Command::new("node").args(["--test", "test/"]),
        "profile/page",
    );
}

#[test]
fn types_of_the_modules_fit() {
    if are_tools_missing("types_of_the_modules_fit") {
        return;
    }
    let compiler = root().join("target/page/node_modules/.bin/tsc");
    node_tool(Command::new(compiler).args(["-p", "."]), "profile/page");
}

#[test]
fn the_linter_finds_nothing_in_the_modules() {
    if are_tools_missing("the_linter_finds_nothing_in_the_modules") {
        return;
    }
    let linter = root().join("target/page/node_modules/.bin/biome");
    let mut command = Command::new(linter);
    let command = command.args(["lint", "--error-on-warnings"]);
    node_tool(command, "profile/page");
}

#[test]
fn trees_are_the_sums_of_the_profile() {
    for name in ["imbalance", "nested", "tasks"] {
        check("trees", &saved(name));
    }
}

#[test]
fn trees_of_all_kinds_of_regions_are_the_sums_of_the_profile() {
    check("trees", &saved("mixed"));
}

#[test]
fn trees_of_counters_are_the_sums_of_the_profile() {
    check("trees", &counted("mixed"));
}

/// A run with two counters.
fn counted(name: &str) -> Profile {
    let mut profile = saved(name);
    profile.run.counters = vec!["INSTRUCTIONS".to_owned(), "misses in L2".to_owned()];
    for node in &mut profile.nodes {
        for row in &mut node.rows {
            let counters = vec![row.main.ns / 7, row.main.ns / 1_000 + row.main.count];
            *row = row.clone().with_counters(counters);
        }
    }
    profile
}

#[test]
fn numbers_are_those_of_the_analyses() {
    for name in ["imbalance", "mixed", "nested", "tasks"] {
        check("numbers", &saved(name));
    }
}

#[test]
fn everything_can_be_done_with_keys() {
    check("keyboard", &saved("mixed"));
}

/// The regions by threads are more than a table that is always there could hold.
#[test]
fn a_screen_reader_can_name_everything() {
    check("names", &generated(70, 80));
    check("names", &saved("mixed"));
}

#[test]
fn a_link_shows_the_same_view() {
    check("fragments", &saved("tasks"));
}

#[test]
fn it_fits_into_screens_of_all_sizes() {
    check("sizes", &saved("mixed"));
}

/// Long directives, and more threads than a small screen has room for.
#[test]
fn what_is_too_wide_for_a_screen_says_so() {
    for (name, mut profile) in [
        ("edges", generated(20, 80)),
        ("excerpts", saved("imbalance")),
    ] {
        for region in &mut profile.regions {
            let directive = region.directive.get_or_insert_default();
            *directive += " schedule(dynamic, 16) reduction(+ : sum_of_forces, sum_of_energies)";
        }
        check(name, &profile);
    }
}

/// The page holds more than a small screen shows.
#[test]
fn it_can_be_read_light_dark_and_on_paper() {
    check("appearance", &generated(120, 8));
}

/// Runs that differ in one region by more than they differ among each other.
#[test]
fn what_changed_is_told_from_noise() {
    let now = saved("imbalance");
    let slowed = |percent: u64, all_of: Option<usize>| {
        let mut profile = now.clone();
        for node in &mut profile.nodes {
            let percent = if all_of == Some(node.region) {
                600
            } else {
                percent
            };
            for row in &mut node.rows {
                for part in PseudoRegion::ALL {
                    let mut span = row.span(part);
                    span.ns = span.ns / 1000 * (900 + percent);
                    *row = row.clone().with(part, span);
                }
            }
        }
        profile
    };
    let leaf = now.nodes.iter().rposition(|node| node.parent.is_some());
    let region = now.nodes[leaf.unwrap()].region;
    let others = [95, 100, 105].map(|percent| slowed(percent, None));
    let folder = folder_of(&slowed(100, Some(region)), &others);
    in_browser("compare", folder.path());
}

/// A run of another program, and one of another version of the same program: everything moved,
/// and a function with its constructs has another name.
#[test]
fn constructs_of_one_program_alone_are_not_compared() {
    let now = saved("mixed");
    let folder = folder_of(&now, &[saved("imbalance")]);
    in_browser("one_sided", folder.path());
    let mut before = now.clone();
    let renamed = before.regions[0].function.clone();
    for region in &mut before.regions {
        for line in region.begin.iter_mut().chain(&mut region.end) {
            *line += 100;
        }
        if region.function == renamed {
            region.function = Some("gone_since".to_owned());
        }
    }
    let folder = folder_of(&now, &[before]);
    in_browser("one_sided", folder.path());
}

/// A folder with the page of a program and its trace, and the data that the page is compared
/// with.
fn traced(program: &str) -> tempfile::TempDir {
    traced_as(program, program, &[])
}

/// The same for a program whose file gets another name, run with arguments.
fn traced_as(program: &str, name: &str, arguments: &[&str]) -> tempfile::TempDir {
    let folder = built(program, name);
    run_in(&folder, traced_run().args(arguments));
    view(
        &folder,
        &["app.0.romp.json", "app.0.romp.trace"],
        "page.html",
    );
    let path = |name: &str| folder.path().join(name);
    std::fs::copy(path("app.0.romp.json"), path("profile.json")).unwrap();
    folder
}

/// A folder with a program, built from a file of this name.
fn built(program: &str, name: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let source = fixtures().join("trace").join(program);
    std::fs::copy(source, folder.path().join(name)).unwrap();
    let compiler = romp_bin_dir().unwrap().join("rompcc");
    let mut command = Command::new(compiler);
    command.args(["--chunks", "-O1", "-fopenmp", "-o", "app"]);
    command.arg(Path::new(".").join(name)).env("ROMP_CC", "gcc");
    run_in(&folder, &mut command);
    folder
}

fn run_in(folder: &tempfile::TempDir, command: &mut Command) {
    let output = command.current_dir(folder.path()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{command:?}: {said}");
}

/// A run of the program that leaves a trace.
fn traced_run() -> Command {
    let mut command = Command::new("./app");
    command.envs([
        ("ROMP_TRACE", "on"),
        ("OMP_NUM_THREADS", "2"),
        ("OMP_MAX_ACTIVE_LEVELS", "2"),
    ]);
    command
}

/// Writes the page of these files.
fn view(folder: &tempfile::TempDir, files: &[&str], page: &str) {
    let mut command = Command::new(romp_bin_dir().unwrap().join("romp"));
    run_in(folder, command.arg("view").args(files).args(["-o", page]));
}

#[test]
fn the_timeline_holds_what_the_profile_holds() {
    let folder = traced("buckets.c");
    in_browser("timeline", folder.path());
    in_browser("selection", folder.path());
}

#[test]
fn locks_go_from_one_thread_to_the_other() {
    let folder = traced("handovers.c");
    in_browser("handovers", folder.path());
    in_browser("waits", folder.path());
}

/// The ranks run one after the other, so that their lanes begin at different times.
#[test]
fn the_lanes_of_a_rank_can_be_folded() {
    let folder = built("buckets.c", "buckets.c");
    for rank in ["0", "1"] {
        let mut command = traced_run();
        for name in ["OMPI_COMM_WORLD_RANK", "PMIX_RANK"] {
            command.env_remove(name);
        }
        run_in(&folder, command.env("PMI_RANK", rank));
    }
    let mut merge = Command::new(romp_bin_dir().unwrap().join("romp"));
    merge.args(["merge", "-o", "profile.json"]);
    run_in(
        &folder,
        merge.args(["app.r0.0.romp.json", "app.r1.0.romp.json"]),
    );
    let traces = ["app.r0.0.romp.trace", "app.r1.0.romp.trace"];
    view(
        &folder,
        &["profile.json", traces[1], traces[0]],
        "page.html",
    );
    for rank in ["0", "1"] {
        write_loops(
            &folder,
            &format!("app.r{rank}.0.romp.trace"),
            &format!("loops.r{rank}.txt"),
        );
    }
    in_browser("ranks", folder.path());
    in_browser("iterations_of_ranks", folder.path());
    for (files, why) in [
        (["app.r0.0.romp.json", traces[0], traces[1]], "romp merge"),
        (["profile.json", traces[0], traces[0]], "both of rank 0"),
    ] {
        let mut command = Command::new(romp_bin_dir().unwrap().join("romp"));
        command.current_dir(folder.path()).arg("view").args(files);
        let output = command.args(["-o", "none.html"]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(why), "{said}");
    }
}

/// A page of many events has bins. It takes no more room, and no more memory, if there are more
/// events.
#[test]
fn the_page_of_a_large_trace_does_not_grow() {
    let folder = built("many.c", "many.c");
    let mut sizes = Vec::new();
    for (number, times) in ["150000", "600000"].into_iter().enumerate() {
        run_in(&folder, traced_run().arg(times));
        let path = |ending| folder.path().join(format!("app.{number}.romp.{ending}"));
        let trace = Trace::open(&path("trace")).unwrap();
        let profile = profile::load::load(&path("json")).unwrap();
        let (made, memory) = taken(|| timeline(std::slice::from_ref(&trace), &profile).unwrap());
        sizes.push((trace.bytes(), made.lanes.len() as u64, memory));
    }
    let [small, large] = sizes[..] else { panic!() };
    assert!(large.0 > 3 * small.0, "{sizes:?}");
    let bound = |bytes: u64| bytes + bytes / 4;
    assert!(
        large.1 < bound(small.1) && large.2 < bound(small.2),
        "{sizes:?}"
    );
    view(
        &folder,
        &["app.1.romp.json", "app.1.romp.trace"],
        "page.html",
    );
    assert!(
        std::fs::metadata(folder.path().join("page.html"))
            .unwrap()
            .len()
            < 5_000_000
    );
    print!("{}", in_browser("large_trace", folder.path()));
}

/// The file is changed before the run, and gets its old text back after it: the times of these
/// changes would tell the opposite.
#[test]
fn a_file_that_was_changed_after_the_build_is_noticed() {
    let folder = built("handovers.c", "handovers.c");
    let source = folder.path().join("handovers.c");
    let text = std::fs::read(&source).unwrap();
    let changed = [&text, &b"/* Written after the build. */\n"[..]].concat();
    std::fs::write(&source, changed).unwrap();
    let an_hour_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    let file = std::fs::File::options().append(true).open(&source).unwrap();
    file.set_modified(an_hour_ago).unwrap();
    run_in(&folder, &mut traced_run());
    // On a machine that is too busy to judge the run, the first screen has no lines of the source.
    let path = folder.path().join("app.0.romp.json");
    let mut profile: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    profile["run"].as_object_mut().unwrap().remove("scheduling");
    std::fs::write(&path, profile.to_string()).unwrap();
    view(&folder, &["app.0.romp.json"], "changed.html");
    std::fs::write(&source, text).unwrap();
    let in_an_hour = an_hour_ago + std::time::Duration::from_secs(7200);
    file.set_modified(in_an_hour).unwrap();
    view(&folder, &["app.0.romp.json"], "same.html");
    in_browser("changed", folder.path());
}

#[test]
fn a_map_tells_what_iterations_cost() {
    let folder = traced("buckets.c");
    write_loops(&folder, "app.0.romp.trace", "loops.txt");
    in_browser("iterations", folder.path());
}

/// Writes what `romp trace loops` says of a trace.
fn write_loops(folder: &tempfile::TempDir, trace: &str, to: &str) {
    let loops = Command::new(romp_bin_dir().unwrap().join("romp"))
        .args(["trace", "loops", "--table", trace])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(loops.status.success());
    std::fs::write(folder.path().join(to), loops.stdout).unwrap();
}

/// A name that tries to inject a script into the page.
fn attempt(field: &str) -> String {
    format!(
        "<img src=x alt={field} onerror=window.harmed=1></script><script>window.harmed=1</script>\"' onload='window.harmed=1"
    )
}

#[test]
fn the_timeline_names_on_what_tasks_depend() {
    let folder = traced_as("sparselu.c", "sparselu.c", &["tasks", "4", "8"]);
    in_browser("dependences", folder.path());
}

/// The program prints the arrows: the lines of both tasks.
#[test]
fn a_line_leads_from_a_task_to_those_that_depend_on_it() {
    for program in ["diamond.c", "detached.c"] {
        let folder = built(program, program);
        let output = traced_run().current_dir(&folder).output().unwrap();
        assert!(output.status.success());
        std::fs::write(folder.path().join("arrows.txt"), output.stdout).unwrap();
        view(
            &folder,
            &["app.0.romp.json", "app.0.romp.trace"],
            "page.html",
        );
        in_browser("dependence_arrows", folder.path());
    }
}

#[test]
fn a_line_leads_to_a_task_from_any_thread() {
    let folder = traced("handed_back.c");
    in_browser("arrows", folder.path());
}

#[test]
fn names_of_a_trace_stay_text() {
    let folder = traced_as("handovers.c", "<img src=x onerror=window.harmed=1>.c", &[]);
    in_browser("hostile_trace", folder.path());
}

#[test]
fn names_stay_text() {
    let mut profile = saved("mixed");
    let run = &mut profile.run;
    (run.application, run.host, run.start) =
        (attempt("application"), attempt("host"), attempt("start"));
    (run.notes, run.counters) = (vec![attempt("note")], vec![attempt("counter")]);
    for region in &mut profile.regions {
        region.file = attempt("file");
        region.name = Some(attempt("name"));
        region.function = Some(attempt("function"));
        region.directive = Some(attempt("directive"));
        region.schedule = Some(attempt("schedule"));
        region.region_type = attempt("type");
        region.unsplit = region.unsplit.as_ref().map(|_| attempt("unsplit"));
    }
    for node in &mut profile.nodes {
        for row in &mut node.rows {
            *row = row.clone().with_counters(vec![7]);
        }
    }
    profile.contention.push(Contention {
        kind: GuardKind::Critical,
        name: attempt("guard"),
        members: 1,
        sites: vec![ContentionSite {
            region: 0,
            acquisitions: 3,
            waited: 1,
            wait_ns: 10,
            max_wait_ns: 10,
            hold_ns: 10,
            holders: Vec::new(),
        }],
    });
    let mut other = profile.clone();
    other.run.application = attempt("other");
    other.nodes.pop();
    profile.regions[1].file = SOURCE.to_owned();
    let folder = folder_of(&profile, &[other]);
    in_browser("hostile", folder.path());
}

/// Writes only the page, opens it, and returns its size in bytes.
fn opened(profile: &Profile) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.html");
    let mut out = std::io::BufWriter::new(std::fs::File::create(&file).unwrap());
    Page::new(&Report::new(profile)).write(&mut out).unwrap();
    out.flush().unwrap();
    print!("{}", in_browser("paint", folder.path()));
    std::fs::metadata(&file).unwrap().len()
}

#[test]
fn a_page_of_300_regions_by_64_threads_is_below_a_megabyte() {
    assert!(opened(&generated(300, 64)) < 1_000_000);
}

/// A fifth of 10,000 regions by 256 threads is enough: their cells already take all the room
/// that cells may have.
#[test]
fn a_page_of_a_large_run_is_below_5_megabytes() {
    let size = opened(&generated(2_000, 256));
    assert!((1_500_000..5_000_000).contains(&size), "{size}");
}
