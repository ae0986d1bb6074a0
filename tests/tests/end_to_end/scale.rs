//! `romp scale` runs programs whose scaling is known.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::Value;
use tests::fixture::fixtures;
use tests::retries;
use tests::shares::Fault;
use tests::toolchain::romp_bin_dir;

/// Runs before a wrong share fails the test: another program may take the processors meanwhile.
const ATTEMPTS: usize = 5;

/// Builds a program, and runs it with 1 and 2 threads.
fn scaled(name: &str, arguments: &[&str]) -> (tempfile::TempDir, Value) {
    let folder = tempfile::tempdir().unwrap();
    let bin = romp_bin_dir().unwrap();
    let built = Command::new(bin.join("rompcc"))
        .args(["-O1", "-fopenmp", "-o", "program"])
        .arg(fixtures().join("scaling").join(name))
        .current_dir(folder.path())
        .env("ROMP_CC", "gcc")
        .output()
        .unwrap();
    assert!(built.status.success(), "{built:?}");
    let scaling = again(&folder, arguments);
    (folder, scaling)
}

fn again(folder: &tempfile::TempDir, arguments: &[&str]) -> Value {
    let ran = Command::new(romp_bin_dir().unwrap().join("romp"))
        .args(["scale", "-f", "json", "--threads", "1,2", "--", "./program"])
        .args(arguments)
        .current_dir(folder.path())
        // Threads that wait take no time on processors.
        .env("OMP_WAIT_POLICY", "passive")
        .env("OMP_DYNAMIC", "false")
        .output()
        .unwrap();
    assert!(ran.status.success(), "{ran:?}");
    let left: Vec<_> = folder.path().read_dir().unwrap().collect();
    assert_eq!(left.len(), 1, "the runs left something beside the program");
    let printed = String::from_utf8(ran.stdout).unwrap();
    let json = printed.find("\n{").unwrap();
    assert_eq!(printed[..json].lines().count(), 2, "{printed}");
    serde_json::from_str(&printed[json..]).unwrap()
}

/// The sum of what is lost in all parts.
fn sum(amounts: &Value) -> i64 {
    let parts = amounts.as_object().unwrap().values();
    parts.map(|part| part.as_i64().unwrap()).sum()
}

fn must_add_up(scaling: &Value) {
    let widths = scaling["widths"].as_array().unwrap();
    let thread_time = |width: &Value| {
        let of = |name: &str| width[name].as_i64().unwrap();
        of("duration_ns") * of("threads")
    };
    for (index, width) in widths.iter().enumerate() {
        let lost = sum(&width["lost"]);
        assert_eq!(lost, thread_time(width) - thread_time(&widths[0]));
        let places = scaling["places"].as_array().unwrap();
        let at = places.iter().map(|place| &place["at"][index]);
        let (mut in_places, mut times) = (0, 0);
        for at in at {
            in_places += sum(&at["lost"]);
            times += sum(&at["time"]);
        }
        assert_eq!((in_places, times), (lost, thread_time(width)));
    }
}

#[test]
fn parts_add_up_in_programs() {
    for (name, arguments, regions) in [
        ("false_sharing.c", ["1000000", ""], 1),
        ("memory_bound.c", ["100000", "3"], 2),
        ("compute_bound.c", ["20000", ""], 1),
    ] {
        let (_folder, scaling) = scaled(name, &arguments);
        must_add_up(&scaling);
        let places = scaling["places"].as_array().unwrap();
        let parallel = places.iter().filter(|place| !place["region"].is_null());
        assert_eq!(parallel.count(), regions, "{name}");
        assert_eq!(scaling["widths"][1]["threads"], 2);
    }
}

#[test]
fn work_that_grows_with_the_threads_is_found() {
    let (folder, mut scaling) = scaled("inflated.c", &[]);
    let grown = retries::measured("inflated", ATTEMPTS, || {
        must_add_up(&scaling);
        let places = scaling["places"].as_array().unwrap();
        let mut regions = places.iter();
        let region = regions.find(|place| !place["region"].is_null()).unwrap();
        let work = |width: usize| region["at"][width]["time"]["work"].as_f64().unwrap();
        let ratio = work(1) / work(0);
        // Eight iterations of 20 ms, then of 40 ms, by the clock of the thread's processor.
        if (ratio - 2.0).abs() < 0.3 {
            return Ok(());
        }
        scaling = again(&folder, &[]);
        Err(Fault::Share(format!("the work grew {ratio} times")))
    });
    grown.unwrap();
}

#[test]
fn a_program_that_was_not_built_with_romp_is_run_with_several_threads() {
    let folder = tempfile::tempdir().unwrap();
    let built = Command::new("gcc")
        .args(["-O1", "-g", "-fopenmp", "-o", "program"])
        .arg(fixtures().join("scaling").join("compute_bound.c"))
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(built.status.success(), "{built:?}");
    let run = |program: &str| {
        let mut romp = Command::new(romp_bin_dir().unwrap().join("romp"));
        romp.args(["run", "--scale", "1,2", program]);
        romp.current_dir(folder.path()).output().unwrap()
    };
    let ran = run("./program");
    assert!(ran.status.success(), "{ran:?}");
    let said = String::from_utf8_lossy(&ran.stdout);
    for part in [
        "program: ",
        "with 2 threads as with 1",
        "PARALLEL LOOP compute_bound.c:",
    ] {
        assert!(said.contains(part), "{part} is not in: {said}");
    }
    assert_eq!(folder.path().read_dir().unwrap().count(), 1);
    let missing = run("./absent");
    assert_eq!(missing.status.code(), Some(127));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("absent"));
}

#[test]
fn a_script_without_an_interpreter_is_run_by_the_shell() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script");
    std::fs::write(&script, "echo \"threads: $OMP_NUM_THREADS $1\"\n").unwrap();
    std::fs::set_permissions(&script, Permissions::from_mode(0o755)).unwrap();
    let folders = [folder.path().to_owned(), "/usr/bin".into(), "/bin".into()];
    for name in ["./script", "script"] {
        let ran = Command::new(romp_bin_dir().unwrap().join("romp"))
            .args(["scale", "--threads", "1,2", "--", name, "word"])
            .current_dir(folder.path())
            .env("PATH", std::env::join_paths(&folders).unwrap())
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&ran.stdout), "threads: 1 word\n");
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(said.contains("left no profile"), "{said}");
    }
}
