//! What `./install` leaves behind.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use tests::Outcome;
use tests::project::install;
use tests::toolchain::romp_bin_dir;

#[test]
fn everything_is_where_it_belongs() {
    let folder = romp_bin_dir().and_then(|bin| install(&bin)).unwrap();
    let prefix = folder.path().join("romp");
    for part in [
        "bin/romp",
        "bin/rompcc",
        "bin/rompcxx",
        "bin/rompfc",
        "bin/rompcc-gcc",
        "bin/rompcc-gfortran",
        "include/pomp_lib.h",
        "lib/libpomp.a",
        "lib/libpomp.so",
        "lib/libromp_run.so",
        "lib/pomp.exports",
        "lib/pkgconfig/pomp.pc",
        "lib/cmake/Romp/RompConfig.cmake",
        "lib/cmake/Romp/RompConfigVersion.cmake",
        "share/man/man1/romp.1",
        "share/man/man1/romp-report.1",
        "share/man/man1/rompcc.1",
        "share/man/man1/rompfc.1",
        "share/man/man7/romp-environment.7",
        "share/bash-completion/completions/romp",
        "share/zsh/site-functions/_romp",
        "share/fish/vendor_completions.d/romp.fish",
    ] {
        let length = prefix.join(part).metadata().map(|data| data.len());
        assert!(length.is_ok_and(|length| length > 0), "{part}");
    }
    let says = |words: &[&str]| {
        let output = Command::new(prefix.join("bin/romp")).args(words).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    let prefix = prefix.canonicalize().unwrap();
    let (include, lib) = (prefix.join("include"), prefix.join("lib/libpomp.a"));
    assert_eq!(says(&["--cflags"]), format!("-I{}\n", include.display()));
    let shared = format!("{} -lpthread -ldl", lib.display());
    let exports = prefix.join("lib/pomp.exports");
    let libs = format!("{shared} -Wl,--dynamic-list={}", exports.display());
    assert_eq!(says(&["--libs"]).trim_end(), libs);
    assert_eq!(says(&["--libs", "--shared"]).trim_end(), shared);
}

/// The names that a library defines for others.
fn defined(library: &Path, more: &[&str]) -> Outcome<BTreeSet<String>> {
    let mut command = Command::new("nm");
    command.args(["-g", "--defined-only", "--format=just-symbols"]);
    let output = command.args(more).arg(library).output();
    let output = output.map_err(|error| format!("nm: {error}"))?;
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    let names = output
        .lines()
        .filter(|line| !line.is_empty() && !line.ends_with(':'));
    Ok(names.map(str::to_owned).collect())
}

/// Only our interface is visible, since another Rust library in a program brings the same
/// names. All of the interface is visible, for each language.
#[test]
fn the_archive_shows_the_interface_and_nothing_else() {
    let folder = romp_bin_dir().and_then(|bin| install(&bin)).unwrap();
    let library = folder.path().join("romp/lib");
    let shown = defined(&library.join("libpomp.a"), &[]).unwrap();
    for name in [
        "POMP_Parallel_fork_team",
        "POMP2_Parallel_fork",
        "pompf_parallel_fork_",
        "pomp2_parallel_fork_",
        "romp_dump",
    ] {
        assert!(shown.contains(name), "{name}: {shown:?}");
    }
    let shared = defined(&library.join("libpomp.so"), &["-D"]).unwrap();
    // The system calls' own names are needed only where names are resolved at run time.
    let system = |name: &&String| name.starts_with("romp_system_");
    assert_eq!(shared.difference(&shown).find(|name| !system(name)), None);
    assert_eq!(shown.iter().find(system), None);
    // These replace functions of other libraries, unless the program has its own.
    let weak = shown.difference(&shared).map(String::as_str);
    let asks_for_a_chunk = |name: &&str| {
        name.starts_with("__kmpc_dispatch_next_")
            || name.starts_with("GOMP_loop_") && name.ends_with("_next")
    };
    let (requests, weak): (Vec<&str>, Vec<&str>) = weak.partition(asks_for_a_chunk);
    assert_eq!(requests.len(), 24, "{requests:?}");
    let is_barrier = |name: &&str| {
        name.ends_with("_barrier")
            || ["GOMP_loop_end", "GOMP_sections_end"]
                .iter()
                .any(|end| name.starts_with(end))
    };
    let (barriers, weak): (Vec<&str>, Vec<&str>) = weak.into_iter().partition(is_barrier);
    assert_eq!(barriers.len(), 7, "{barriers:?}");
    assert_eq!(
        weak,
        [
            "GOMP_atomic_start",
            "GOMP_task",
            "GOMP_taskloop",
            "GOMP_taskloop_ull",
            "_Exit",
            "__cyg_profile_func_enter",
            "__cyg_profile_func_exit",
            "__kmpc_end_reduce",
            "__kmpc_omp_task_with_deps",
            "__kmpc_omp_taskwait_deps_51",
            "__kmpc_omp_wait_deps",
            "__kmpc_reduce",
            "__kmpc_reduce_nowait",
            "__kmpc_taskloop",
            "__kmpc_taskloop_5",
            "_exit",
            "daemon",
            "execl",
            "execle",
            "execlp",
            "execv",
            "execve",
            "execveat",
            "execvp",
            "execvpe",
            "fexecve",
            "omp_test_lock_",
            "omp_test_nest_lock_"
        ]
    );
}

/// Names that ISO C leaves to programs, but that Rust's library uses for system calls.
const WITH_NAMES_OF_THE_SYSTEM: &str = "#include <stdio.h>
int writev, poll[3], pause, getpid, statx, mkdir, unlink;
void read(const char *name, int number) { printf(\"%s %d\\n\", name, number); }
double write(double x) { return 2 * x; }
double close[1000];
int main(void) {
#pragma omp parallel
#pragma omp critical
  poll[0]++;
  read(\"read\", poll[0] > 0);
  printf(\"%g\\n\", write(1 + close[3]));
}
";

#[test]
fn programs_may_have_functions_and_data_named_like_calls_of_the_system() {
    let folder = romp_bin_dir().and_then(|bin| install(&bin)).unwrap();
    let (here, prefix) = (folder.path(), folder.path().join("romp"));
    std::fs::write(here.join("names.c"), WITH_NAMES_OF_THE_SYSTEM).unwrap();
    let shared = prefix.join("lib/libpomp.so");
    let done = |command: &mut Command| {
        let output = command.current_dir(here).output().unwrap();
        assert!(output.status.success(), "{command:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let compile = |words: &[&str]| {
        let mut command = Command::new(prefix.join("bin/rompcc"));
        done(command.args(["-std=c11", "-w", "-fopenmp"]).args(words));
    };
    compile(&["names.c", "-o", "linked"]);
    compile(&["-static", "names.c", "-o", "static"]);
    compile(&["-c", "names.c"]);
    let mut link = Command::new("gcc");
    link.args(["-fopenmp", "names.o", "-o", "shared"]);
    done(link.arg(&shared));
    for program in ["linked", "static", "shared"] {
        let mut command = Command::new("timeout");
        let path = std::env::join_paths([prefix.join("lib")]).unwrap();
        command.arg("60").arg(here.join(program));
        let said = done(command.env("LD_LIBRARY_PATH", path));
        assert_eq!(said, "read 1\n2\n", "{program}");
        assert!(here.join(format!("{program}.0.romp.json")).is_file());
    }
}

/// Where in the heap a program's first pieces lie.
const SAYS_WHERE: &str = "#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>
int main(void) {
  char *first = malloc(24), *second = malloc(5000);
  int n = 0;
#pragma omp parallel num_threads(2)
#pragma omp critical
  n++;
  printf(\"%d %d %d\\n\", (int)((uintptr_t)first % 4096), (int)(second - first), n);
}
";

/// A program that writes behind its arrays meets the same data there as without us.
#[test]
fn the_library_takes_nothing_from_the_program_s_heap() {
    let folder = romp_bin_dir().and_then(|bin| install(&bin)).unwrap();
    let here = folder.path();
    std::fs::write(here.join("heap.c"), SAYS_WHERE).unwrap();
    let says = |compiler: &Path| {
        let mut command = Command::new(compiler);
        command.args(["-fopenmp", "heap.c", "-o", "heap"]);
        assert!(command.current_dir(here).status().unwrap().success());
        let output = Command::new("./heap").current_dir(here).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let plain = says(Path::new("gcc"));
    assert_eq!(says(&here.join("romp/bin/rompcc-gcc")), plain);
    assert!(here.join("heap.0.romp.json").is_file());
}

/// References within the object keep the object's own names in each program's symbol table.
#[test]
fn the_archives_own_names_are_short() {
    let folder = romp_bin_dir().and_then(|bin| install(&bin)).unwrap();
    let library = folder.path().join("romp/lib/libpomp.a");
    let output = Command::new("nm").arg(library).output().unwrap();
    let output = String::from_utf8(output.stdout).unwrap();
    let own = output.lines().filter_map(|line| {
        let mut words = line.split_whitespace().skip(1);
        let (kind, name) = (words.next()?, words.next()?);
        ["t", "d", "b", "r"].contains(&kind).then_some(name)
    });
    let own: Vec<&str> = own.collect();
    assert!(!own.is_empty(), "nothing was read");
    let long: Vec<&&str> = own.iter().filter(|name| name.len() > 12).collect();
    assert!(long.is_empty(), "{long:?}");
}

#[test]
fn the_debian_package_holds_an_installation() {
    let folder = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../install");
    let made = Command::new(script)
        .arg("--deb")
        .arg(folder.path())
        .arg("--bin-dir")
        .arg(romp_bin_dir().unwrap())
        // The commands of a test build are large, and compressing them takes long.
        .env("DPKG_DEB_COMPRESSOR_TYPE", "none")
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    let mut packages = std::fs::read_dir(folder.path()).unwrap().flatten();
    let package = packages.next().unwrap().path();
    let root = folder.path().join("root");
    let unpacked = Command::new("dpkg-deb")
        .arg("-x")
        .arg(&package)
        .arg(&root)
        .status();
    assert!(unpacked.unwrap().success());
    // The commands are links, and find the library all the same.
    let libs = Command::new(root.join("usr/bin/romp"))
        .arg("--libs")
        .output()
        .unwrap();
    let libs = String::from_utf8(libs.stdout).unwrap();
    assert!(libs.contains("/usr/lib/romp/lib/libpomp.a "), "{libs}");
    for page in [
        "usr/share/man/man1/rompcc.1.gz",
        "usr/share/man/man7/romp-environment.7.gz",
    ] {
        assert!(root.join(page).is_file(), "{page}");
    }
}
