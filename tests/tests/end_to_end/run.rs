//! Programs that were not built with Romp, run by `romp run`. They behave as without it,
//! and their profiles are those of the same programs built with `rompcc`, but for things
//! that cannot be seen from outside.

mod changed_source;
mod chunk_requests;
mod copyprivate;
mod creations;
mod equal_code;
mod hot_team;
mod reductions;
mod small_teams;
mod split_taskloop;
mod starts;
mod without_debug_information;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use profile::model::{Profile, Region, Row};
use profile::outside::{Interface, ROWS, counted as counted_as};
use profile::region_kind::RegionKind as K;

use super::program_folder::{ProgramFolder, fixtures};

fn count(profile: &Profile, kind: K) -> u64 {
    let rows = rows_of(profile, |region| region.kind == kind);
    rows.map(|row| row.main.count).sum()
}

/// The rows of some regions.
fn rows_of(profile: &Profile, is_wanted: impl Fn(&Region) -> bool) -> impl Iterator<Item = &Row> {
    let nodes = profile.nodes.iter();
    let nodes = nodes.filter(move |node| is_wanted(&profile.regions[node.region]));
    nodes.flat_map(|node| &node.rows)
}

/// The counts that a program prints of its own constructs. They equal those in the profile of
/// the program built with us (`counts.rs`).
fn printed(stdout: &[u8]) -> BTreeMap<String, u64> {
    let text = String::from_utf8_lossy(stdout).into_owned();
    let words = text.lines().filter_map(|line| line.split_once(' '));
    words
        .map(|(kind, count)| (kind.to_owned(), count.parse().unwrap()))
        .collect()
}

fn counts_are_right(fixture: &str, compiler: &str, interface: Interface) {
    let folder = ProgramFolder::new();
    let mut wrong = Vec::new();
    folder.build(compiler, fixture, &["-O1", "-g"], "app");
    for threads in ["1", "4"] {
        let settings = [("OMP_NUM_THREADS", threads), ("OMP_MAX_ACTIVE_LEVELS", "2")];
        let ran = folder.romp_run(&["./app"], &settings);
        assert!(ran.status.success(), "{ran:?}");
        let profile = folder.profile("app");
        for (name, expected) in printed(&ran.stdout) {
            let Ok(kind) = serde_json::from_value::<K>(name.clone().into()) else {
                continue;
            };
            let counted = count(&profile, kind);
            if !counted_as(kind, interface).allows(counted, expected) {
                wrong.push(format!(
                    "{threads} threads, {name}: {counted} of {expected}"
                ));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new(), "{fixture}, {compiler}");
}

#[test]
fn counts_are_those_of_the_source_but_for_a_list() {
    for fixture in [
        "counts/every_construct.c",
        "counts/newer_constructs.c",
        "run/outlived.c",
    ] {
        counts_are_right(fixture, "gcc", Interface::Gnu);
        counts_are_right(fixture, "clang", Interface::Ompt);
    }
    counts_are_right("counts/every_construct.f90", "gfortran", Interface::Gnu);
}

#[test]
fn a_loop_of_which_the_runtime_gives_no_address_is_measured() {
    let folder = ProgramFolder::new();
    folder.build("clang", "run/no_address.c", &["-g"], "app");
    let ran = folder.romp_run(&["./app"], &[]);
    assert!(ran.status.success(), "{ran:?}");
    let profile = folder.profile("app");
    assert_eq!(count(&profile, K::Loop), 2);
    let loops = profile.regions.iter().filter(|of| of.kind == K::Loop);
    let unknown = loops.filter(|of| of.file == "(unknown place)");
    assert_eq!(unknown.count(), 1);
}

/// How often threads waited at the end of the construct at a line.
fn waits(profile: &Profile, kind: K, line: u32) -> u64 {
    let is_it = move |region: &Region| (region.kind, region.begin[0]) == (kind, line);
    rows_of(profile, is_it).map(|row| row.ibarr.count).sum()
}

/// A barrier behind `single nowait` is a barrier of its own, from the first one on. An exit handler is
/// measured, too.
#[test]
fn a_single_construct_waits_only_in_its_own_barrier() {
    let folder = ProgramFolder::new();
    for compiler in COMPILERS {
        folder.build(compiler, "run/single_nowait.c", &["-O1", "-g"], "app");
        for threads in [1, 4] {
            let number = threads.to_string();
            folder.runs_the_same(&["./app"], &[("OMP_NUM_THREADS", &number)]);
            let profile = folder.profile("app");
            let case = format!("{compiler}, {threads} threads");
            assert_eq!(count(&profile, K::Single), 30 * threads, "{case}");
            assert_eq!(count(&profile, K::Barrier), 20 * threads, "{case}");
            assert_eq!(count(&profile, K::Critical), threads, "{case}");
            let waits = [11, 21, 31].map(|line| waits(&profile, K::Single, line));
            assert_eq!(waits, [0, 10 * threads, 0], "{case}");
        }
    }
}

/// Whether some executions of the construct at this line were passed over.
fn is_passed_over(profile: &Profile, line: u32) -> bool {
    profile.nodes.iter().any(|node| {
        let is_it = profile.regions[node.region].begin[0] == line;
        is_it && node.rows.iter().any(|row| row.estimate().is_some())
    })
}

/// How often threads executed the construct at a line.
fn visits(profile: &Profile, kind: K, line: u32) -> u64 {
    let is_it =
        move |region: &Region| (region.kind, region.begin[0]) == (kind, line) && !region.near;
    rows_of(profile, is_it).map(|row| row.main.count).sum()
}

/// The place of a call is the one that its own thread noted, whatever other threads do, and
/// whether or not the runtime opens a group for it.
#[test]
fn with_llvm_s_runtime_places_are_those_of_the_own_thread() {
    let folder = ProgramFolder::new();
    folder.build("clang", "run/behind_critical.c", &["-O1", "-g"], "app");
    folder.runs_the_same(&["./app"], &[("OMP_NUM_THREADS", "2")]);
    let profile = folder.profile("app");
    let expected = [
        (K::Critical, 17, 50_000),
        (K::Taskwait, 19, 50_000),
        (K::Taskloop, 35, 1),
        (K::TaskExec, 35, 4),
        (K::Taskloop, 39, 1),
        (K::TaskExec, 39, 4),
        (K::Taskgroup, 42, 1),
        (K::Taskloop, 44, 1),
        (K::TaskExec, 44, 4),
    ];
    for (kind, line, number) in expected {
        assert_eq!(visits(&profile, kind, line), number, "{kind:?} {line}");
    }
    for (kind, number) in [(K::Critical, 2), (K::Taskwait, 2), (K::Taskloop, 3)] {
        let all = profile.regions.iter().filter(|region| region.kind == kind);
        assert_eq!(all.count(), number, "{kind:?}");
    }
    let guards: BTreeSet<&str> = profile.contention.iter().map(|of| &*of.name).collect();
    assert_eq!(guards, BTreeSet::from(["", "alpha"]));
}

/// The key by which `romp diff` matches regions.
fn identity(region: &Region) -> (K, String, [u32; 2], Option<String>) {
    (
        region.kind,
        region.file.rsplit('/').next().unwrap().to_owned(),
        region.begin,
        // Lock calls are matched by their place, since the statement adds nothing.
        region.directive.clone().filter(|_| region.kind != K::Lock),
    )
}

/// Most regions are mapped to a construct without doubt, and none of these wrongly: the
/// same program built with us has the same constructs.
#[test]
fn regions_are_those_of_the_source() {
    let folder = ProgramFolder::new();
    let fixture = "run/regions.c";
    for (compiler, most_near) in [("gcc", 8), ("clang", 6)] {
        folder.build(
            &format!("romp:{compiler}"),
            fixture,
            &["-O2", "-g"],
            "source",
        );
        folder.build(compiler, fixture, &["-O2", "-g"], "outside");
        assert!(folder.command(&["./source"]).status().unwrap().success());
        assert!(folder.romp_run(&["./outside"], &[]).status.success());
        let (source, outside) = (folder.profile("source"), folder.profile("outside"));
        let known: BTreeSet<_> = source.regions.iter().map(identity).collect();
        let (certain, near): (Vec<_>, Vec<_>) = outside
            .regions
            .iter()
            .filter(|region| region.kind != K::TaskExec)
            .partition(|region| region.directive.is_some());
        for region in &certain {
            assert!(known.contains(&identity(region)), "{compiler}: {region:?}");
            assert!(
                !region.near && region.code.is_none(),
                "{compiler}: {region:?}"
            );
        }
        assert!(near.len() <= most_near, "{compiler}: {near:?}");
        assert!(certain.len() > 20, "{compiler}: {certain:?}");
        for region in near {
            assert!(
                region.near || region.begin == [0, 0],
                "{compiler}: {region:?}"
            );
        }
    }
}

#[test]
fn what_cannot_be_seen_is_said() {
    let folder = ProgramFolder::new();
    folder.build("gcc", "run/regions.c", &["-O2"], "app");
    folder.romp_run(&["./app"], &[]);
    let report = fs::read_to_string(folder.path("app.0.romp.txt")).unwrap();
    assert!(report.contains("not visible in this mode"), "{report}");
    assert!(report.contains("libgomp.so.1"), "{report}");
    let profile = folder.profile("app");
    assert_eq!(profile.run.runtimes[0].threads, 4);
    assert!(!profile.run.runtimes[0].not_visible.is_empty());
}

/// The table of the documentation is that of the code.
#[test]
fn the_documentation_lists_what_cannot_be_seen() {
    let docs = fs::read_to_string(fixtures().join("../docs/run.md")).unwrap();
    let rows = ROWS.iter().map(|row| {
        let (gnu, ompt) = (row.gnu.words, row.ompt.words);
        format!("| {} | {gnu} | {ompt} |\n", row.construct)
    });
    let table: String = rows.collect();
    assert!(docs.contains(&table), "docs/run.md must have\n{table}");
}

const COMPILERS: [&str; 2] = ["gcc", "clang"];

/// Programs with rare uses of the runtimes, or with things that make tools crash.
#[test]
fn traps_do_no_harm() {
    for compiler in COMPILERS {
        let folder = ProgramFolder::new();
        for (name, expected) in [
            ("asks", Some((K::Parallel, 3))),
            ("nowait_loop", Some((K::Loop, 3))),
            ("detach", Some((K::TaskExec, 2))),
            ("reductions", Some((K::Parallel, 8))),
            ("nested", None),
            ("threads", None),
            ("old_entries", Some((K::Loop, 30))),
            ("doacross", None),
        ] {
            let fixture = format!("run/{name}.c");
            folder.build(compiler, &fixture, &["-O2", "-g"], name);
            folder.runs_the_same(&[&format!("./{name}")], &[]);
            let profile = folder.profile(name);
            if let Some((kind, number)) = expected {
                assert_eq!(count(&profile, kind), number, "{compiler}: {name}");
            }
        }
    }
}

#[test]
fn teams_are_tied_to_who_forks_them() {
    COMPILERS.into_iter().for_each(teams_of_are_tied);
}

fn teams_of_are_tied(compiler: &str) {
    let folder = ProgramFolder::new();
    folder.build(compiler, "run/nested.c", &["-O2"], "nested");
    folder.romp_run(&["./nested"], &[]);
    let profile = folder.profile("nested");
    let paths: BTreeSet<String> = profile.threads.iter().map(ToString::to_string).collect();
    for path in ["0->2->1->1", "0->1->0->1", "0->255"] {
        assert!(paths.contains(path), "{compiler}: {path} of {paths:?}");
    }
    assert_eq!(count(&profile, K::Critical), 12 + 256 + 500);
    assert_eq!(count(&profile, K::Barrier), 12);
    // The members of the outermost teams of three, of those of 256, and of 200 of up to four.
    assert_eq!(count(&profile, K::Parallel), 3 + 6 + 12 + 256 + 500);
}

/// Builds the plugin, and the program that loads plugins.
fn build_plugins(folder: &ProgramFolder, compilers: &[&str]) {
    for compiler in compilers {
        let plugin = format!("{compiler}.so");
        let flags = ["-O2", "-g", "-shared", "-fPIC"];
        folder.build(compiler, "run/plugin.c", &flags, &plugin);
    }
    let host = fixtures().join("run/host.c");
    let mut gcc = Command::new("gcc");
    gcc.arg("-o").arg(folder.path("host")).arg(host).arg("-ldl");
    assert!(gcc.status().unwrap().success());
}

#[test]
fn a_plugin_s_own_runtime_is_found() {
    for compiler in COMPILERS {
        let folder = ProgramFolder::new();
        build_plugins(&folder, &[compiler]);
        folder.runs_the_same(&["./host", &format!("./{compiler}.so")], &[]);
        let profile = folder.profile("host");
        assert_eq!(count(&profile, K::Barrier), 3, "{compiler}");
        assert_eq!(count(&profile, K::Lock), 2 + 3, "{compiler}");
        let mut parallel = profile.regions.iter();
        let parallel = parallel.find(|region| region.kind == K::Parallel).unwrap();
        assert!(parallel.file.ends_with("run/plugin.c") && !parallel.near);
    }
}

/// GCC's runtime and LLVM's in one process: each is measured as if it were alone.
#[test]
fn two_runtimes_are_both_measured() {
    let folder = ProgramFolder::new();
    build_plugins(&folder, &COMPILERS);
    for order in [["./gcc.so", "./clang.so"], ["./clang.so", "./gcc.so"]] {
        folder.runs_the_same(&["./host", order[0], order[1]], &[]);
        let report = fs::read_to_string(folder.path("host.0.romp.txt")).unwrap();
        let profile = folder.profile("host");
        for (kind, each) in [
            (K::Parallel, 3),
            (K::Loop, 3),
            (K::Barrier, 3),
            (K::Lock, 5),
        ] {
            assert_eq!(count(&profile, kind), 2 * each, "{order:?}: {kind:?}");
        }
        for library in ["libgomp.so.1", "libomp.so.5"] {
            let mut runtimes = profile.run.runtimes.iter();
            let runtime = runtimes.find(|runtime| runtime.path.ends_with(library));
            assert_eq!(runtime.map(|runtime| runtime.threads), Some(3), "{library}");
            let said = format!("not visible in this mode, with {library}: ");
            assert!(report.contains(&said), "{report}");
        }
    }
}

#[test]
fn processes_are_profiles_of_their_own() {
    for compiler in COMPILERS {
        let folder = ProgramFolder::new();
        folder.build(compiler, "run/processes.c", &["-O2"], "processes");
        folder.runs_the_same(&["./processes"], &[]);
        let profiles = folder.profiles("processes");
        let members: Vec<u64> = profiles.iter().map(|p| count(p, K::Parallel)).collect();
        assert_eq!(members, [2, 2, 2], "{compiler}");
    }
}

/// A tool for the collector interface finds the interface in any program.
#[test]
fn collectors_are_answered() {
    for compiler in COMPILERS {
        let folder = ProgramFolder::new();
        folder.build(compiler, "ports/stacks.c", &["-O1", "-g"], "app");
        let collector = folder.bin.join("libromp_collector.so");
        let settings = [
            ("LD_PRELOAD", collector.to_str().unwrap()),
            ("ROMP_COLLECTOR_OUTPUT", "stacks.txt"),
            ("ROMP_COLLECTOR_MIN", "40000"),
        ];
        let said = folder.romp_run(&["./app"], &settings);
        let said = String::from_utf8_lossy(&said.stderr).into_owned();
        let stacks = fs::read_to_string(folder.path("stacks.txt")).unwrap();
        assert!(
            stacks.contains("\n\nbarrier: "),
            "{compiler}: {said} {stacks}"
        );
        assert!(
            stacks.contains("\n\nparallel region: "),
            "{compiler}: {stacks}"
        );
        assert!(count(&folder.profile("app"), K::Parallel) > 0);
        // A process without a runtime has no events for the collector.
        let alone = folder.romp_run(&["sh", "-c", "exit 3"], &settings);
        let said = String::from_utf8_lossy(&alone.stderr).into_owned();
        assert_eq!(alone.status.code(), Some(3), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

#[test]
fn status_and_signals_go_through() {
    let folder = ProgramFolder::new();
    for words in [
        &["sh", "-c", "exit 3"][..],
        &["sh", "-c", "echo out; echo err >&2; kill -TERM $$"],
        &["sh", "-c", "kill -SEGV $$"],
    ] {
        let plain = Command::new(words[0]).args(&words[1..]).output().unwrap();
        let romp = Command::new(folder.bin.join("romp"))
            .arg("run")
            .args(words)
            .current_dir(folder.directory.path())
            .output()
            .unwrap();
        assert_eq!(romp.status.code(), plain.status.code(), "{words:?}");
        assert_eq!(romp.status.signal(), plain.status.signal(), "{words:?}");
        assert_eq!(romp.stdout, plain.stdout);
    }
}

#[test]
fn what_cannot_be_measured_is_told_in_one_line() {
    let folder = ProgramFolder::new();
    let source = folder.path("plain.c");
    fs::write(&source, "int main(void) { return 0; }\n").unwrap();
    let gcc = |flags: &[&str], name: &str| {
        let mut command = Command::new("gcc");
        command
            .args(flags)
            .arg("-o")
            .arg(folder.path(name))
            .arg(&source);
        assert!(command.status().unwrap().success());
    };
    gcc(&["-static"], "static");
    gcc(&[], "plain");
    fs::write(folder.path("data"), "no program").unwrap();
    for (words, status, said) in [
        (&["./static"][..], 126, "it is linked statically"),
        (&["./data"], 126, "it is not a program"),
        (&["./absent"], 127, "there is no such file"),
        (
            &["./plain"],
            0,
            "used no OpenMP runtime that can be measured",
        ),
    ] {
        let output = folder.romp_run(words, &[]);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(status), "{words:?}: {text}");
        assert!(
            text.contains(said) && text.lines().count() == 1,
            "{words:?}: {text}"
        );
    }
}

/// If the runtime can't be reached, the same line is printed.
#[test]
fn a_runtime_out_of_reach_is_told_in_one_line() {
    let folder = ProgramFolder::new();
    build_plugins(&folder, &["gcc"]);
    folder.build("gcc", "run/nested.c", &["-c"], "nested.o");
    let link = folder
        .command(&[
            "gcc",
            "-o",
            "static_runtime",
            "nested.o",
            "-l:libgomp.a",
            "-ldl",
        ])
        .status();
    assert!(link.unwrap().success());
    for words in [&["./host", "deep", "./gcc.so"][..], &["./static_runtime"]] {
        let said = folder.runs_the_same(words, &[]);
        let is_said = said.contains("used no OpenMP runtime that can be measured");
        assert!(is_said && said.lines().count() == 1, "{words:?}: {said}");
    }
}

/// A program that runs with another user's rights.
#[test]
fn a_program_with_lent_rights_is_refused() {
    let folder = ProgramFolder::new();
    let own = std::os::unix::fs::MetadataExt::uid(&fs::metadata("/proc/self").unwrap());
    let lent = match own {
        // Root can't get more rights, but can make a program that runs as another user.
        0 => {
            const NOBODY: u32 = 65_534;
            let lent = folder.path("lent");
            fs::copy("/bin/true", &lent).unwrap();
            std::os::unix::fs::chown(&lent, Some(NOBODY), None).unwrap();
            fs::set_permissions(&lent, fs::Permissions::from_mode(0o4755)).unwrap();
            lent
        }
        _ => ["/bin/su", "/usr/bin/passwd", "/bin/mount"]
            .into_iter()
            .map(std::path::PathBuf::from)
            .find(|path| fs::metadata(path).is_ok_and(|it| it.permissions().mode() & 0o4000 != 0))
            .expect("a program of the system that is set-user-id"),
    };
    let output = folder.romp_run(&[lent.to_str().unwrap()], &[]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(126), "{said}");
    assert!(
        said.contains("set-user-id") && said.lines().count() == 1,
        "{said}"
    );
}

#[test]
fn a_program_built_with_us_is_measured_once() {
    let folder = ProgramFolder::new();
    folder.build("romp:gcc", "run/nested.c", &["-O2"], "nested");
    let said = folder.romp_run(&["./nested"], &[]);
    let said = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(
        said.contains("was built with Romp and measures itself"),
        "{said}"
    );
    let profile = folder.profile("nested");
    assert_eq!(count(&profile, K::Critical), 12 + 256 + 500);
    assert!(profile.run.runtimes.is_empty());
}

#[test]
fn measurement_can_be_switched_off_and_parts_of_it() {
    let folder = ProgramFolder::new();
    folder.build("gcc", "run/regions.c", &["-O2"], "app");
    let said = folder.romp_run(&["./app"], &[("ROMP_MEASURE", "off")]);
    assert!(
        said.stderr.is_empty() && folder.profiles("app").is_empty(),
        "{said:?}"
    );
    folder.romp_run(&["./app"], &[("ROMP_DISABLE", "critical")]);
    let profile = folder.profile("app");
    assert_eq!(count(&profile, K::Critical), 0);
    assert!(count(&profile, K::Parallel) > 0);
}

#[test]
fn loops_that_are_spread_without_the_runtime_are_seen_with_the_source() {
    let folder = ProgramFolder::new();
    folder.build("gcc", "run/static_loops.c", &["-O2", "-g"], "app");
    folder.runs_the_same(&["./app"], &[]);
    let profile = folder.profile("app");
    let of = |kind: K| -> Vec<u32> {
        let nodes = profile.nodes.iter();
        let nodes = nodes.filter(|node| profile.regions[node.region].kind == kind);
        let mut lines: Vec<u32> = nodes
            .map(|node| profile.regions[node.region].begin[0])
            .collect();
        lines.sort_unstable();
        lines
    };
    assert_eq!(of(K::Loop), [11, 14], "{:?}", profile.regions);
    assert_eq!(of(K::ParallelLoop), [19]);
    // A call of omp_get_thread_num by the user is no loop, and its barrier is a barrier.
    assert_eq!(of(K::Barrier), [17, 27]);
    assert_eq!(count(&profile, K::Loop), 6);
    for node in &profile.nodes {
        let region = &profile.regions[node.region];
        for row in node.rows.iter().filter(|_| region.kind == K::Loop) {
            // The compiler asks for the thread's number once for both loops, so only the barrier
            // of each is certain.
            assert_eq!(row.ibarr.count, 1, "{row:?}");
            assert!(row.main.ns >= row.body.ns + row.ibarr.ns);
        }
    }
    // Without the source the two can't be told apart.
    folder.build("gcc", "run/static_loops.c", &["-O2"], "bare");
    folder.romp_run(&["./bare"], &[]);
    let bare = folder.profile("bare");
    assert_eq!(count(&bare, K::Loop), 0);
    assert_eq!(count(&bare, K::Barrier), 3 * 4);
}
