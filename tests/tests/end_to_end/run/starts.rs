//! How programs are started, and what is said where nothing or not everything is measured.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

use profile::region_kind::RegionKind as K;

use super::ProgramFolder;

/// Increments a number in a critical section, and prints it. A word says what to do afterwards.
const PROGRAM: &str = r#"
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
int main(int count, char **words)
{
    const char *what = count > 1 ? words[1] : "";
    int number = 0;
    if (strcmp(what, "clearenv") == 0)
        clearenv();
    #pragma omp parallel
    {
        #pragma omp critical
        number++;
    }
    printf("%d\n", number);
    fflush(stdout);
    if (strcmp(what, "dump") == 0) {
        struct stat before, now;
        stat(getenv("_ROMP_RUN_LIST"), &before);
        raise(SIGUSR1);
        do
            stat(getenv("_ROMP_RUN_LIST"), &now);
        while (now.st_size == before.st_size);
    }
    if (strcmp(what, "kill") == 0 || strcmp(what, "dump") == 0)
        raise(SIGKILL);
    return atoi(what);
}
"#;

fn build(folder: &ProgramFolder, compiler: &str, flags: &[&str], name: &str) {
    let source = folder.path("small.c");
    fs::write(&source, PROGRAM).unwrap();
    let mut command = Command::new(compiler);
    command.args(["-O1", "-g", "-fopenmp"]).args(flags);
    command.arg("-o").arg(folder.path(name)).arg(&source);
    assert!(command.status().unwrap().success(), "{command:?}");
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn script(folder: &ProgramFolder, name: &str, text: &str) {
    let path = folder.path(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn what_is_said_of_an_unmeasured_end_is_true() {
    let folder = ProgramFolder::new();
    build(&folder, "gcc", &[], "small");
    build(&folder, "clang", &[], "other");
    let killed = folder.romp_run(&["./small", "kill"], &[]);
    assert!(
        said(&killed).contains("killed by signal 9 (SIGKILL) before it wrote a profile"),
        "{killed:?}"
    );
    let cleared = folder.romp_run(&["env", "-i", "./small"], &[]);
    assert!(
        said(&cleared).contains("environment was cleared"),
        "{cleared:?}"
    );
    let off = folder.romp_run(&["./other"], &[("OMP_TOOL", "disabled")]);
    assert!(said(&off).contains("OMP_TOOL=disabled"), "{off:?}");
    let lost = folder.romp_run(&["./small"], &[("ROMP_OUTPUT", "/proc/none")]);
    assert!(said(&lost).contains("the profile is lost"), "{lost:?}");
    for output in [&killed, &cleared, &off, &lost] {
        assert_eq!(said(output).lines().count(), 1, "{output:?}");
        assert!(
            !said(output).contains("used no OpenMP runtime"),
            "{output:?}"
        );
    }
}

/// Also the profiles of processes that were killed, or that cleared their environment, have the
/// places of the source.
#[test]
fn every_profile_of_the_run_is_completed() {
    let folder = ProgramFolder::new();
    build(&folder, "gcc", &[], "small");
    for what in ["clearenv", "dump"] {
        folder.romp_run(&["./small", what], &[]);
        let profile = folder.profile("small");
        let critical = profile.regions.iter().find(|of| of.kind == K::Critical);
        assert!(critical.unwrap().file.ends_with("/small.c"), "{what}");
        assert!(!profile.run.unplaced);
    }
}

/// A profile that no `romp run` has completed is completed when it is read, unless the program
/// has changed since.
#[test]
fn a_profile_that_was_left_incomplete_is_completed_when_it_is_read() {
    let folder = ProgramFolder::new();
    build(&folder, "gcc", &[], "small");
    let library = folder.bin.join("libromp_run.so");
    let mut alone = folder.command(&["./small"]);
    alone.env("LD_PRELOAD", &library);
    assert!(alone.status().unwrap().success());
    let romp = folder.bin.join("romp");
    let report = || {
        let mut report = folder.command(&[romp.to_str().unwrap(), "report"]);
        report.output().unwrap()
    };
    let completed = report();
    let text = String::from_utf8_lossy(&completed.stdout).into_owned();
    assert!(text.contains("CRITICAL small.c ("), "{text}");
    let newer = fs::File::options().append(true).open(folder.path("small"));
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(100);
    newer.unwrap().set_modified(later).unwrap();
    assert!(said(&report()).contains("has changed since the run"));
}

#[test]
fn programs_with_sanitizers_run_as_without_us() {
    let folder = ProgramFolder::new();
    for compiler in super::COMPILERS {
        build(&folder, compiler, &["-fsanitize=address"], "address");
        folder.runs_the_same(&["./address"], &[]);
        folder.profile("address");
        build(&folder, compiler, &["-fsanitize=thread"], "thread");
        // Its reports of a run without us differ from run to run.
        let options = [("TSAN_OPTIONS", "exitcode=0")];
        let said = folder.runs_the_same(&["./thread"], &options);
        assert!(said.contains("ThreadSanitizer can't be measured"), "{said}");
        assert!(folder.profiles("thread").is_empty());
    }
}

#[test]
fn a_script_without_an_interpreter_is_run_by_the_shell() {
    let folder = ProgramFolder::new();
    build(&folder, "gcc", &[], "small");
    script(&folder, "plain", "./small $1\n");
    let ran = folder.romp_run(&["./plain", "5"], &[]);
    assert_eq!((ran.status.code(), &ran.stdout[..]), (Some(5), &b"4\n"[..]));
    assert_eq!(folder.profiles("small").len(), 1);
}

#[test]
fn what_is_not_run_is_told_with_the_status_of_a_shell() {
    let folder = ProgramFolder::new();
    build(&folder, "gcc", &[], "small");
    script(&folder, "script", "#!/no/such/interpreter\n");
    let absent = folder.path("absent");
    let temporary = ("TMPDIR", absent.to_str().unwrap());
    for (words, settings, status, part) in [
        (
            &["./script"][..],
            &[][..],
            126,
            "'/no/such/interpreter', which does not exist",
        ),
        (&["--unknown"], &[], 127, "romp run has no such option"),
        (&["."], &[], 126, "it is a folder"),
        (&["./small"], &[temporary], 126, "set TMPDIR"),
    ] {
        let output = folder.romp_run(words, settings);
        assert_eq!(output.status.code(), Some(status), "{output:?}");
        let said = said(&output);
        assert!(said.contains(part) && said.lines().count() == 1, "{said}");
    }
}

#[test]
fn a_small_stack_and_an_odd_folder_do_no_harm() {
    let folder = ProgramFolder::new();
    let small = folder.bin.join("romp");
    let help = format!("ulimit -s 64; {} run --help", small.display());
    assert!(
        folder
            .command(&["sh", "-c", &help])
            .output()
            .unwrap()
            .status
            .success()
    );
    for compiler in ["gcc", "clang", "romp:gcc", "romp:clang"] {
        folder.build(compiler, "run/traced.c", &["-O1", "-g"], "app");
        folder.runs_the_same(&["sh", "-c", "ulimit -s 64; exec ./app"], &[]);
        assert!(!folder.profiles("app").is_empty(), "{compiler}");
    }
    build(&folder, "gcc", &[], "small");
    fs::create_dir(folder.path("a\nb")).unwrap();
    let run = format!("{} run ../small", small.display());
    let mut command = folder.command(&["sh", "-c", &run]);
    let ran = command.current_dir(folder.path("a\nb")).output().unwrap();
    assert!(said(&ran).contains("[small.0.romp.txt"), "{ran:?}");
}

#[test]
fn a_program_is_scaled_whatever_its_status() {
    let folder = ProgramFolder::new();
    build(&folder, "gcc", &[], "small");
    let ran = folder.romp_run(&["--scale", "1,2,2", "./small", "7"], &[]);
    assert_eq!(ran.status.code(), Some(7), "{ran:?}");
    assert!(said(&ran).contains("run 2 of 2"), "{ran:?}");
    assert!(String::from_utf8_lossy(&ran.stdout).contains("with 2 threads as with 1"));
    let one = folder.romp_run(&["--scale", "2,2", "./small"], &[]);
    assert_eq!(one.status.code(), Some(1));
    assert!(said(&one).contains("only one number of threads") && one.stdout.is_empty());
}

/// The name of a profile is that of the program as the user gave it.
#[test]
fn a_link_and_a_script_keep_their_names() {
    let folder = ProgramFolder::new();
    build(&folder, "gcc", &[], "small");
    std::os::unix::fs::symlink("small", folder.path("link")).unwrap();
    folder.romp_run(&["./link"], &[]);
    assert_eq!(folder.profile("link").run.application, "link");
}

/// Debug information in a file of its own is found by the program's debug link, if it is that of
/// the program.
#[test]
fn separate_debug_information_is_used() {
    let folder = ProgramFolder::new();
    build(&folder, "gcc", &["-Wl,--build-id=none"], "small");
    for words in [
        &["--only-keep-debug", "small", "small.debug"][..],
        &["--strip-all", "--add-gnu-debuglink=small.debug", "small"],
    ] {
        let mut words = words.to_vec();
        words.insert(0, "objcopy");
        assert!(folder.command(&words).status().unwrap().success());
    }
    let file = || {
        folder.romp_run(&["./small"], &[]);
        let profile = folder.profile("small");
        let critical = profile.regions.iter().find(|of| of.kind == K::Critical);
        critical.unwrap().file.clone()
    };
    assert!(file().ends_with("/small.c"));
    let path = folder.path("small.debug");
    let mut other = fs::read(&path).unwrap();
    other.push(0);
    fs::write(&path, other).unwrap();
    assert!(!file().ends_with("/small.c"));
}
