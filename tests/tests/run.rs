//! Programs that were not built with Romp, run by `romp run`: they behave as without it,
//! and their profiles are those of the same programs built with `rompcc`, but for what
//! cannot be seen from outside.

#![allow(clippy::unwrap_used)] // A test fails by panicking, also in its helpers.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use profile::model::{Profile, Region};
use profile::region_kind::RegionKind as K;
use tempfile::TempDir;
use tests::toolchain::romp_bin_dir;

fn fixtures() -> PathBuf {
    fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures")).unwrap()
}

/// A folder with programs, where they run.
struct Place {
    folder: TempDir,
    bin: PathBuf,
}

impl Place {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            bin: romp_bin_dir().unwrap(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Builds a fixture, without a word from the compiler's command about us.
    fn build(&self, compiler: &str, fixture: &str, flags: &[&str], program: &str) {
        let command = match compiler.strip_prefix("romp:") {
            Some(compiler) => {
                let (wrapper, variable) = match compiler {
                    "gfortran" => ("rompfc", "ROMP_FC"),
                    _ => ("rompcc", "ROMP_CC"),
                };
                let mut command = Command::new(self.bin.join(wrapper));
                command.env(variable, compiler).env("ROMP_STRICT", "1");
                command
            }
            None => Command::new(compiler),
        };
        let mut command = command;
        command
            .current_dir(self.folder.path())
            .args(["-fopenmp", "-w", "-o", program])
            .args(flags)
            .arg(fixtures().join(fixture))
            .args(["-pthread", "-ldl"]);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{command:?}: {output:?}");
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new("timeout");
        command
            .arg("100")
            .args(words)
            .current_dir(self.folder.path());
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if ["OMP_", "GOMP_", "ROMP_"]
                .iter()
                .any(|start| text.starts_with(start))
            {
                command.env_remove(&name);
            }
        }
        command
            .env("OMP_WAIT_POLICY", "passive")
            .env("OMP_NUM_THREADS", "4");
        command
    }

    /// Runs a program under `romp run`.
    fn romp_run(&self, words: &[&str], settings: &[(&str, &str)]) -> Output {
        let romp = self.bin.join("romp");
        let mut command = self.command(&[romp.to_str().unwrap(), "run"]);
        command.args(words).envs(settings.iter().copied());
        command.output().unwrap()
    }

    /// Runs it as it is and under `romp run`: nothing that it does may differ.
    fn runs_the_same(&self, words: &[&str], settings: &[(&str, &str)]) -> String {
        let plain = self
            .command(words)
            .envs(settings.iter().copied())
            .output()
            .unwrap();
        let measured = self.romp_run(words, settings);
        let said = String::from_utf8_lossy(&measured.stderr).into_owned();
        assert_eq!(measured.status, plain.status, "{words:?}: {said}");
        assert_eq!(measured.stdout, plain.stdout, "{words:?}: {said}");
        said
    }

    /// The profiles of a program that lie there, which are taken away.
    fn profiles(&self, program: &str) -> Vec<Profile> {
        let mut found = Vec::new();
        for entry in fs::read_dir(self.folder.path()).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if name.starts_with(&format!("{program}.")) && name.ends_with(".romp.json") {
                found.push(Profile::open(&path).unwrap());
                fs::remove_file(&path).unwrap();
            }
        }
        found
    }

    fn profile(&self, program: &str) -> Profile {
        let mut profiles = self.profiles(program);
        assert_eq!(profiles.len(), 1, "{program}");
        profiles.remove(0)
    }
}

fn count(profile: &Profile, kind: K) -> u64 {
    let nodes = profile.nodes.iter();
    let nodes = nodes.filter(|node| profile.regions[node.region].kind == kind);
    nodes
        .flat_map(|node| &node.rows)
        .map(|row| row.main.count)
        .sum()
}

/// What a program built with us says of its own counts, which are those of the profile of
/// such a program (`counts.rs`).
fn printed(stdout: &[u8]) -> BTreeMap<String, u64> {
    let text = String::from_utf8_lossy(stdout).into_owned();
    let words = text.lines().filter_map(|line| line.split_once(' '));
    words
        .map(|(kind, count)| (kind.to_owned(), count.parse().unwrap()))
        .collect()
}

/// Why a count from outside is another one than from the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exception {
    /// The runtime is not called: nothing is counted, and the report says so.
    NotVisible,
    /// The runtime is called for some of them: not more are counted.
    NotAll,
    /// Counted for other constructs, too.
    More,
}

use Exception::{More, NotAll, NotVisible};

/// The published list, for GCC's runtime.
const GOMP: &[(K, Exception, &str)] = &[
    (K::Atomic, NotVisible, "instructions of the machine"),
    (K::Flush, NotVisible, "an instruction of the machine"),
    (
        K::Master,
        NotVisible,
        "a comparison with the number of the thread",
    ),
    (K::User, NotVisible, "marks in the source"),
    (K::Scope, NotVisible, "nothing is called where it begins"),
    (
        K::Loop,
        NotAll,
        "static loops without a barrier behind them",
    ),
    (K::TaskExec, More, "those that a taskloop makes"),
    (
        K::Section,
        NotAll,
        "a number of a section is handed out for each",
    ),
    (
        K::Barrier,
        More,
        "a barrier behind a single construct or a static loop that was executed alone",
    ),
];

fn counts_are_right(fixture: &str, compiler: &str, exceptions: &[(K, Exception, &str)]) {
    let place = Place::new();
    place.build(compiler, fixture, &["-O1", "-g"], "app");
    for threads in ["1", "4"] {
        let settings = [("OMP_NUM_THREADS", threads), ("OMP_MAX_ACTIVE_LEVELS", "2")];
        let ran = place.romp_run(&["./app"], &settings);
        assert!(ran.status.success(), "{ran:?}");
        let profile = place.profile("app");
        for (name, expected) in printed(&ran.stdout) {
            let Ok(kind) = serde_json::from_value::<K>(name.clone().into()) else {
                continue;
            };
            let counted = count(&profile, kind);
            let exception = exceptions.iter().find(|(of, ..)| *of == kind);
            let case = format!("{fixture}, {compiler}, {threads} threads, {name}");
            match exception.map(|(_, exception, _)| exception) {
                None => assert_eq!(counted, expected, "{case}"),
                Some(NotVisible) => assert_eq!(counted, 0, "{case}"),
                Some(NotAll) => assert!(counted <= expected, "{case}: {counted} of {expected}"),
                Some(More) => assert!(counted >= expected, "{case}: {counted} of {expected}"),
            }
        }
    }
}

#[test]
fn counts_are_those_of_the_source_but_for_a_list() {
    counts_are_right("counts/every_construct.c", "gcc", GOMP);
    counts_are_right("counts/every_construct.f90", "gfortran", GOMP);
}

/// What `romp diff` knows a region by.
fn identity(region: &Region) -> (K, String, [u32; 2], Option<String>) {
    (
        region.kind,
        region.file.rsplit('/').next().unwrap().to_owned(),
        region.begin,
        // Of a call the statement is as good as its place.
        region.directive.clone().filter(|_| region.kind != K::Lock),
    )
}

/// Of the regions that are said for certain none is wrong, and these are most: the
/// construct is the one that the same program has when it is built with us.
#[test]
fn regions_are_those_of_the_source() {
    let place = Place::new();
    let fixture = "run/regions.c";
    for (compiler, most_near) in [("gcc", 8), ("clang", 6)] {
        place.build(
            &format!("romp:{compiler}"),
            fixture,
            &["-O2", "-g"],
            "source",
        );
        place.build(compiler, fixture, &["-O2", "-g"], "outside");
        assert!(place.command(&["./source"]).status().unwrap().success());
        assert!(place.romp_run(&["./outside"], &[]).status.success());
        let (source, outside) = (place.profile("source"), place.profile("outside"));
        let known: BTreeSet<_> = source.regions.iter().map(identity).collect();
        let (certain, near): (Vec<_>, Vec<_>) = outside
            .regions
            .iter()
            .filter(|region| !matches!(region.kind, K::TaskExec | K::Section))
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
fn without_debug_information_function_or_module_are_known() {
    let place = Place::new();
    for (flags, function) in [(&["-O2"][..], Some("main")), (&["-O2", "-s"][..], None)] {
        place.build("gcc", "run/regions.c", flags, "app");
        assert!(place.romp_run(&["./app"], &[]).status.success());
        let profile = place.profile("app");
        let parallel = profile
            .regions
            .iter()
            .find(|region| region.kind == K::Parallel);
        let parallel = parallel.unwrap();
        assert_eq!(parallel.function.as_deref(), function);
        assert_eq!((parallel.begin, parallel.near), ([0, 0], false));
        assert!(parallel.code.as_ref().unwrap().module.ends_with("/app"));
    }
}

#[test]
fn what_cannot_be_seen_is_said() {
    let place = Place::new();
    place.build("gcc", "run/regions.c", &["-O2"], "app");
    place.romp_run(&["./app"], &[]);
    let report = fs::read_to_string(place.path("app.0.romp.txt")).unwrap();
    assert!(report.contains("not visible in this mode"), "{report}");
    assert!(report.contains("libgomp.so.1"), "{report}");
    let profile = place.profile("app");
    assert_eq!(profile.run.runtimes[0].threads, 4);
}

/// Programs that do what runtimes keep words of their own for, or that tools die of.
#[test]
fn traps_do_no_harm() {
    let place = Place::new();
    for (name, expected) in [
        ("detach", Some((K::TaskExec, 2))),
        ("reductions", Some((K::Parallel, 8))),
        ("nested", None),
        ("threads", None),
        ("old_entries", Some((K::Loop, 30))),
        ("doacross", None),
    ] {
        place.build("gcc", &format!("run/{name}.c"), &["-O2", "-g"], name);
        place.runs_the_same(&[&format!("./{name}")], &[]);
        let profile = place.profile(name);
        if let Some((kind, number)) = expected {
            assert_eq!(count(&profile, kind), number, "{name}");
        }
    }
}

#[test]
fn teams_are_tied_to_who_forks_them() {
    let place = Place::new();
    place.build("gcc", "run/nested.c", &["-O2"], "nested");
    place.romp_run(&["./nested"], &[]);
    let profile = place.profile("nested");
    let paths: BTreeSet<String> = profile.threads.iter().map(ToString::to_string).collect();
    for path in ["0->2->1->1", "0->1->0->1", "0->255"] {
        assert!(paths.contains(path), "{path} of {paths:?}");
    }
    assert_eq!(count(&profile, K::Critical), 12 + 256 + 500);
    assert_eq!(count(&profile, K::Barrier), 12);
    // That of the outermost teams of three, of those of 256, and of 200 of up to four.
    assert_eq!(count(&profile, K::Parallel), 3 + 6 + 12 + 256 + 500);
}

#[test]
fn a_plugin_s_own_runtime_is_found() {
    let place = Place::new();
    place.build(
        "gcc",
        "run/plugin.c",
        &["-O2", "-g", "-shared", "-fPIC"],
        "plugin.so",
    );
    let host = fixtures().join("run/host.c");
    let mut gcc = Command::new("gcc");
    gcc.arg("-o").arg(place.path("host")).arg(host).arg("-ldl");
    assert!(gcc.status().unwrap().success());
    place.runs_the_same(&["./host", "./plugin.so"], &[]);
    let profile = place.profile("host");
    assert_eq!(count(&profile, K::Barrier), 3);
    assert_eq!(count(&profile, K::Lock), 2 + 3);
    let parallel = profile
        .regions
        .iter()
        .find(|region| region.kind == K::Parallel)
        .unwrap();
    assert!(parallel.file.ends_with("run/plugin.c") && !parallel.near);
}

#[test]
fn processes_are_profiles_of_their_own() {
    let place = Place::new();
    place.build("gcc", "run/processes.c", &["-O2"], "processes");
    place.runs_the_same(&["./processes"], &[]);
    let members: Vec<u64> = place
        .profiles("processes")
        .iter()
        .map(|p| count(p, K::Parallel))
        .collect();
    assert_eq!(members, [2, 2, 2]);
}

#[test]
fn status_and_signals_go_through() {
    let place = Place::new();
    for words in [
        &["sh", "-c", "exit 3"][..],
        &["sh", "-c", "echo out; echo err >&2; kill -TERM $$"],
        &["sh", "-c", "kill -SEGV $$"],
    ] {
        let plain = Command::new(words[0]).args(&words[1..]).output().unwrap();
        let romp = Command::new(place.bin.join("romp"))
            .arg("run")
            .args(words)
            .current_dir(place.folder.path())
            .output()
            .unwrap();
        assert_eq!(romp.status.code(), plain.status.code(), "{words:?}");
        assert_eq!(romp.status.signal(), plain.status.signal(), "{words:?}");
        assert_eq!(romp.stdout, plain.stdout);
    }
}

#[test]
fn what_cannot_be_measured_is_told_in_one_line() {
    let place = Place::new();
    let source = place.path("plain.c");
    fs::write(&source, "int main(void) { return 0; }\n").unwrap();
    let gcc = |flags: &[&str], name: &str| {
        let mut command = Command::new("gcc");
        command
            .args(flags)
            .arg("-o")
            .arg(place.path(name))
            .arg(&source);
        assert!(command.status().unwrap().success());
    };
    gcc(&["-static"], "static");
    gcc(&[], "plain");
    fs::write(place.path("data"), "no program").unwrap();
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
        let output = place.romp_run(words, &[]);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(status), "{words:?}: {text}");
        assert!(
            text.contains(said) && text.lines().count() == 1,
            "{words:?}: {text}"
        );
    }
    // The first that is there of those that are set-user-id for the system.
    let lent = ["/bin/su", "/usr/bin/passwd", "/bin/mount"]
        .into_iter()
        .find(|path| {
            fs::metadata(path).is_ok_and(|about| about.permissions().mode() & 0o4000 != 0)
        });
    let is_root =
        fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    if let Some(lent) = lent.filter(|_| !is_root) {
        let output = place.romp_run(&[lent, "--help"], &[]);
        assert!(String::from_utf8_lossy(&output.stderr).contains("set-user-id"));
    }
}

#[test]
fn a_program_built_with_us_is_measured_once() {
    let place = Place::new();
    place.build("romp:gcc", "run/nested.c", &["-O2"], "nested");
    let said = place.romp_run(&["./nested"], &[]);
    let said = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(
        said.contains("was built with Romp and measures itself"),
        "{said}"
    );
    let profile = place.profile("nested");
    assert_eq!(count(&profile, K::Critical), 12 + 256 + 500);
    assert!(profile.run.runtimes.is_empty());
}

#[test]
fn measurement_can_be_switched_off_and_parts_of_it() {
    let place = Place::new();
    place.build("gcc", "run/regions.c", &["-O2"], "app");
    let said = place.romp_run(&["./app"], &[("ROMP_MEASURE", "off")]);
    assert!(
        said.stderr.is_empty() && place.profiles("app").is_empty(),
        "{said:?}"
    );
    place.romp_run(&["./app"], &[("ROMP_DISABLE", "critical")]);
    let profile = place.profile("app");
    assert_eq!(count(&profile, K::Critical), 0);
    assert!(count(&profile, K::Parallel) > 0);
}

#[test]
fn loops_that_are_spread_without_the_runtime_are_seen_with_the_source() {
    let place = Place::new();
    place.build("gcc", "run/static_loops.c", &["-O2", "-g"], "app");
    place.runs_the_same(&["./app"], &[]);
    let profile = place.profile("app");
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
    // What the user asks is no loop, and its barrier is a barrier.
    assert_eq!(of(K::Barrier), [17, 27]);
    assert_eq!(count(&profile, K::Loop), 6);
    for node in &profile.nodes {
        let region = &profile.regions[node.region];
        for row in node.rows.iter().filter(|_| region.kind == K::Loop) {
            // The compiler asks once for both loops: of neither more than that is certain.
            assert_eq!(row.ibarr.count, 1, "{row:?}");
            assert!(row.main.ns >= row.body.ns + row.ibarr.ns);
        }
    }
    // Without the source nobody knows which of both it was.
    place.build("gcc", "run/static_loops.c", &["-O2"], "bare");
    place.romp_run(&["./bare"], &[]);
    let bare = place.profile("bare");
    assert_eq!(count(&bare, K::Loop), 0);
    assert_eq!(count(&bare, K::Barrier), 3 * 4);
}
