//! Other instrumenters, libraries and tools: each can take the place of a part of Romp.

mod partial_library;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use tempfile::TempDir;
use tests::project::install;
use tests::toolchain::{Compiler, romp_bin_dir};

/// A folder to build and run in.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Runs a command there; gives what it printed.
    fn run(&self, command: &mut Command) -> String {
        let output = command
            .current_dir(self.0.path())
            .env("OMP_NUM_THREADS", "3")
            .env("ROMP_QUIET", "1")
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command:?}\n{errors}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn program(&self) -> Command {
        Command::new(self.0.path().join("program"))
    }

    fn has_profile(&self) -> bool {
        self.0.path().join("program.0.romp.json").exists()
    }

    /// Builds a shared library out of a fixture.
    fn library(&self, source: &str, name: &str) -> PathBuf {
        self.run(
            Command::new("gcc")
                .args(["-shared", "-fPIC", "-o", name])
                .arg(fixture(source)),
        );
        self.0.path().join(name)
    }
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../fixtures/ports")
        .join(name)
        .canonicalize()
        .unwrap()
}

fn bin() -> PathBuf {
    romp_bin_dir().unwrap().canonicalize().unwrap()
}

/// The calls that a library for POMP2 must get from `all_of_pomp2.c`.
const TOLD: &str = "\
Atomic_enter 5, Atomic_exit 5, Barrier_enter 3, Barrier_exit 3, Begin 1, Critical_begin 6, \
Critical_end 6, Critical_enter 6, Critical_exit 6, Destroy_lock 1, End 1, Flush_enter 3, \
Flush_exit 3, \
For_enter 9, For_exit 9, Implicit_barrier_enter 18, Implicit_barrier_exit 18, Init_lock 1, \
Master_begin 1, Master_end 1, Ordered_begin 3, Ordered_end 3, Ordered_enter 3, Ordered_exit 3, \
Parallel_begin 9, Parallel_end 9, Parallel_fork 3, Parallel_join 3, Section_begin 2, \
Section_end 2, Sections_enter 3, Sections_exit 3, Set_lock 3, Single_begin 1, Single_end 1, \
Single_enter 3, Single_exit 3, Task_begin 4, Task_create_begin 4, Task_create_end 4, Task_end 4, \
Taskwait_begin 1, Taskwait_end 1, Unset_lock 3, Untied_task_begin 1, \
Untied_task_create_begin 1, Untied_task_create_end 1, Untied_task_end 1, n 22";

#[test]
fn pomp2_tells_any_library_what_happens() {
    let in_fortran = TOLD.replace(", n 22", ", Workshare_enter 3, Workshare_exit 3, n 22");
    let (c, fortran) = (("all_of_pomp2.c", TOLD), ("all_of_pomp2.f90", &*in_fortran));
    for (compiler, suffix, (program, expected)) in [
        ("gcc", "c", c),
        ("clang", "c", c),
        ("g++", "cpp", c),
        ("clang++", "cpp", c),
        ("gfortran", "f90", fortran),
        ("gfortran", "F90", fortran),
        ("gfortran", "f", fortran),
    ] {
        let compiler = Compiler::find(compiler).unwrap().name;
        let place = Folder::new();
        let source = format!("source.{suffix}");
        std::fs::copy(fixture(program), place.0.path().join(&source)).unwrap();
        place.run(
            Command::new(bin().join("romp"))
                .args(["opari2", "--omp-task-untied=keep", "--omp-nodecl"])
                .arg(&source),
        );
        // The name that OPARI2 gives its output.
        let output = match suffix.strip_prefix('f') {
            Some(form) => format!("source.mod.F{form}"),
            None => format!("source.mod.{suffix}"),
        };
        place.run(
            Command::new("gcc")
                .args(["-c", "-o", "library.o"])
                .arg(fixture("pomp2_log.c")),
        );
        place.run(
            Command::new(&compiler)
                .args([
                    "-O1", "-fopenmp", "-Wall", "-Wextra", "-Werror", "-o", "program",
                ])
                .args([&output, "library.o"])
                // The user's `pomp` directives stay in the text.
                .args((compiler != "gfortran").then_some("-Wno-unknown-pragmas")),
        );
        let printed = place.run(&mut place.program());
        let mut told: Vec<&str> = printed.lines().collect();
        told.sort_unstable();
        assert_eq!(told.join(", "), expected, "{compiler} {suffix}");
    }
}

/// Instruments a source by `romp opari2` with an option; returns its messages and output.
fn through_opari2(option: &str, suffix: &str) -> (std::process::Output, String) {
    let place = Folder::new();
    let source = format!("source.{suffix}");
    let program = fixture(&format!("all_of_pomp2.{suffix}"));
    std::fs::copy(program, place.0.path().join(&source)).unwrap();
    let output = Command::new(bin().join("romp"))
        .current_dir(place.0.path())
        .args(["opari2", option, &source, "out"])
        .output()
        .unwrap();
    let text = std::fs::read_to_string(place.0.path().join("out")).unwrap_or_default();
    (output, text)
}

#[test]
fn opari2s_options_for_tasks_do_what_they_say() {
    for (suffix, task, untied) in [("c", 16, 22), ("f90", 68, 73)] {
        for (option, line) in [
            ("--omp-task=abort", task),
            ("--omp-task-untied=abort", untied),
        ] {
            let (output, _) = through_opari2(option, suffix);
            let errors = String::from_utf8_lossy(&output.stderr);
            let at = format!("source.{suffix}:{line}: error: there is a");
            assert!(!output.status.success() && errors.contains(&at), "{errors}");
        }
        let (output, text) = through_opari2("--omp-task=warn", suffix);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(errors.matches("warning: tasks may not").count(), 2);
        assert!(output.status.success() && text.contains("Task_create_begin"));
        let (output, text) = through_opari2("--omp-task=remove", suffix);
        assert!(output.status.success(), "{suffix}");
        let tasks = text.lines().filter(|line| line.contains("omp task"));
        assert!(tasks.clone().all(|line| line.contains("omp taskwait")));
        // The directive that ends the task is removed, too.
        assert!(!text.contains("omp end task"), "{text}");
        assert_eq!(tasks.count(), 1, "{text}");
    }
}

#[test]
fn opari2s_variable_in_every_team_is_refused() {
    for suffix in ["c", "f90"] {
        let (output, text) = through_opari2("--omp-tpd", suffix);
        let errors = String::from_utf8_lossy(&output.stderr);
        let is_refused = !output.status.success() && text.is_empty();
        assert!(
            is_refused && errors.contains("--omp-tpd is not"),
            "{errors}"
        );
    }
}

/// Libraries end the program if the end of a task never comes.
#[test]
fn a_task_that_cancels_its_group_is_left_alone() {
    let place = Folder::new();
    let source = "void f(int n)\n{\n#pragma omp taskgroup\n{\n#pragma omp task\n{\n\
                  if (n) {\n#pragma omp cancel taskgroup\n}\n}\n#pragma omp task\n{ n++; }\n}\n}\n";
    std::fs::write(place.0.path().join("source.c"), source).unwrap();
    place.run(Command::new(bin().join("romp")).args(["opari2", "source.c"]));
    let text = std::fs::read_to_string(place.0.path().join("source.mod.c")).unwrap();
    assert_eq!(text.matches("{ POMP2_Task_begin(").count(), 1, "{text}");
}

/// Score-P instruments functions, too, but must leave out those that Romp adds: the events
/// that such a function reports are not over when it returns.
#[test]
fn functions_that_are_added_in_fortran_are_known_by_their_names() {
    let (_, text) = through_opari2("--nosrc", "f90");
    let text = text.replace("&\n", "");
    let added: Vec<_> = text.split("recursive subroutine").skip(1).collect();
    assert!(added.len() > 10);
    for head in added {
        assert!(head.trim_start().starts_with("pomp2_romp_"), "{head}");
    }
}

/// Score-P's command asks for this; its library then has no functions for marked regions.
#[test]
fn the_directives_of_pomp_can_be_left() {
    for suffix in ["c", "f90"] {
        let (_, text) = through_opari2("--disable=pomp", suffix);
        let text = text.to_ascii_lowercase();
        assert!(text.contains("pomp2_parallel_fork"), "{suffix}");
        for name in ["pomp2_init(", "pomp2_begin", "pomp2_user"] {
            assert!(!text.contains(name), "{suffix}: {name}");
        }
        let (_, text) = through_opari2("--disable=omp", suffix);
        let text = text.to_ascii_lowercase();
        assert!(text.contains("pomp2_begin") && !text.contains("pomp2_parallel"));
    }
}

/// TAU's compiler commands ask for this by default, and process the output further.
#[test]
fn pomp2_without_line_markers() {
    for (compiler, suffix, made) in [("gcc", "c", "c"), ("gfortran", "f90", "F90")] {
        let place = Folder::new();
        let source = format!("source.{suffix}");
        let program = fixture(&format!("all_of_pomp2.{suffix}"));
        std::fs::copy(program, place.0.path().join(&source)).unwrap();
        place.run(
            Command::new(bin().join("romp"))
                .args(["opari2", "--nosrc"])
                .arg(&source),
        );
        let output = format!("source.mod.{made}");
        // Score-P's command removes this file, and fails if it can't.
        assert!(place.0.path().join(source + ".opari.inc").exists());
        let text = std::fs::read_to_string(place.0.path().join(&output)).unwrap();
        let mut lines = text.lines();
        assert!(!lines.any(|line| line.starts_with("#line") || line.starts_with("# ")));
        place.run(Command::new(compiler).args(["-fopenmp", "-c", &output]));
    }
}

/// OPARI2's own library, with the registration that its script makes. It ends
/// the program at a text that it does not understand.
#[test]
fn pomp2_links_with_the_library_of_opari2() {
    for (compiler, suffix) in [("gcc", "c"), ("gfortran", "f90")] {
        let place = Folder::new();
        let instrumented = format!("program.{suffix}");
        place.run(
            Command::new(bin().join("romp"))
                .args(["instrument", "--api", "pomp2", "-o", &instrumented])
                .arg(fixture(&format!("all_of_pomp2.{suffix}"))),
        );
        place.run(Command::new(compiler).args(["-fopenmp", "-c", &instrumented]));
        let registration = "$(opari2-config --nm) program.o | \
            $(opari2-config --region-initialization) > registration.c && gcc -c registration.c";
        place.run(Command::new("sh").args(["-c", registration]));
        place.run(Command::new(compiler).args([
            "-fopenmp",
            "-o",
            "program",
            "program.o",
            "registration.o",
            "-lpomp",
        ]));
        let printed = place.run(&mut place.program());
        assert_eq!(printed, "n 22\n");
    }
}

/// The same regions with the same counts, whichever tool has instrumented. The script says
/// what is compared and which differences are explained. It is run once for all tools: what
/// Romp makes of a source is the same for each.
fn compare(tool: &str) {
    static SAID: LazyLock<(String, String)> = LazyLock::new(|| {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("opari");
        let output = Command::new(script)
            .arg("--bin")
            .arg(bin())
            .arg("opari2,opari,pomp2")
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&output.stdout), text(&output.stderr))
    });
    let (said, errors) = &*SAID;
    let agrees = format!("{tool} agrees");
    assert!(said.lines().any(|line| line == agrees), "{said}{errors}");
}

#[test]
fn objects_of_opari2_give_the_same_profile() {
    compare("opari2");
}

#[test]
fn objects_of_opari_give_the_same_profile() {
    compare("opari");
}

#[test]
fn what_calls_pomp2_gives_the_same_profile() {
    compare("pomp2");
}

/// A program linked with the shared library uses the library that is there when it
/// runs; one linked with the archive keeps its library.
#[test]
fn the_library_can_be_swapped_where_it_is_shared() {
    for (library, swapped) in [("libpomp.so", true), ("libpomp.a", false)] {
        let place = Folder::new();
        let other = place.library("other_library.c", "other.so");
        place.run(
            Command::new(bin().join("rompcc"))
                .env("ROMP_LIB", bin().join(library))
                .args(["-fopenmp", "-o", "program"])
                .arg(fixture("collected.c")),
        );
        let says = "5 teams";
        let alone = place.run(&mut place.program());
        assert!(place.has_profile() && !alone.contains(says), "{library}");
        let preloaded = place.run(place.program().env("LD_PRELOAD", other));
        assert_eq!(preloaded.contains(says), swapped, "{library}: {preloaded}");
    }
}

/// Programs that another command links export as much as those that the wrapper links.
#[test]
fn a_collector_finds_the_interface_however_the_program_was_linked() {
    let folder = install(&bin()).unwrap();
    let prefix = folder.path().join("romp");
    for link in [
        "gcc -fopenmp program.o -o program $(\"$PREFIX/bin/romp\" --libs)",
        "gcc -fopenmp program.o -o program $(pkg-config --libs pomp)",
    ] {
        let place = Folder::new();
        let collector = place.library("collector.c", "collector.so");
        place.run(
            Command::new(prefix.join("bin/rompcc"))
                .args(["-fopenmp", "-c", "-o", "program.o"])
                .arg(fixture("collected.c")),
        );
        place.run(
            Command::new("sh")
                .args(["-c", link])
                .env("PREFIX", &prefix)
                .env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig")),
        );
        let told = place.run(place.program().env("LD_PRELOAD", collector));
        assert!(told.starts_with("85\n"), "{link}: {told}");
    }
}

/// In the printed masks, bit 2 is work and bit 7 a reduction.
#[test]
fn reductions_are_a_state_of_their_own() {
    for compiler in ["gcc", "clang"] {
        let folder = Folder::new();
        folder.run(
            Command::new(bin().join("rompcc"))
                .env("ROMP_CC", Compiler::find(compiler).unwrap().name)
                .args(["-fopenmp", "-o", "program"])
                .arg(fixture("reductions.c"))
                .arg("-latomic"),
        );
        let expected = "9900 100 100\nworking 4, combining 80\n";
        assert_eq!(folder.run(&mut folder.program()), expected, "{compiler}");
    }
}

/// Where the runtime is linked statically, its own functions are used.
#[test]
fn reductions_are_right_where_the_runtime_is_linked_statically() {
    let folder = Folder::new();
    folder.run(
        Command::new(bin().join("rompcc"))
            .args(["-fopenmp", "-static", "-o", "program"])
            .arg(fixture("reductions.c")),
    );
    let printed = folder.run(&mut folder.program());
    assert!(printed.starts_with("9900 100 100\n"), "{printed}");
}

/// A collector finds the interface in a program that knows nothing of it, whether
/// the library is in the program or shared.
#[test]
fn a_collector_that_is_preloaded_is_told_everything() {
    for (compiler, library) in [
        ("gcc", "libpomp.a"),
        ("clang", "libpomp.a"),
        ("gcc", "libpomp.so"),
    ] {
        let place = Folder::new();
        let collector = place.library("collector.c", "collector.so");
        place.run(
            Command::new(bin().join("rompcc"))
                .env("ROMP_CC", Compiler::find(compiler).unwrap().name)
                .env("ROMP_LIB", bin().join(library))
                .args(["-fopenmp", "-o", "program"])
                .arg(fixture("collected.c")),
        );
        let told = place.run(place.program().env("LD_PRELOAD", collector));
        // Fork, join; begin and end of idleness, implicit and explicit barriers, locks, critical
        // sections, waiting for ordered parts, masters, singles, ordered parts, atomics. Each of
        // the two workers is idle before its first team, and reports nothing after the last.
        let expected = "85\n5 5 10 10 45 43 30 30 15 15 15 15 30 30 5 5 5 5 30 30 15 15\n";
        assert_eq!(told, expected, "{compiler} {library}");
        assert!(place.has_profile());
    }
}
