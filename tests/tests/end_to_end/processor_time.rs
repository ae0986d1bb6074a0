//! The processor time that a profile tells of a run.

use super::program_folder::ProgramFolder;

/// What the library does at the end is no part of it: a process uses no more processor time than its processors
/// have.
#[test]
fn the_library_s_own_work_at_the_end_does_not_count() {
    for compiler in ["gcc", "clang"] {
        let folder = ProgramFolder::new();
        let romp = format!("romp:{compiler}");
        folder.build(&romp, "run/many_call_paths.c", &["-O1", "-g"], "built");
        let settings = [("OMP_WAIT_POLICY", "active"), ("OMP_NUM_THREADS", "2")];
        let ran = folder.command(&["./built"]).envs(settings).output();
        assert_eq!(ran.unwrap().stdout, b"32768\n");
        let run = folder.profile("built").run;
        let processors = u64::from(run.processors);
        // The duration begins with the process, and the kernel counts in ticks of up to 10 ms.
        let most = processors * run.duration_ns + 20_000_000;
        let scheduling = run.scheduling.expect("the kernel tells it");
        assert!(scheduling.run_ns <= most, "{compiler}: {run:?}");
        assert!(run.user_ns + run.system_ns <= most, "{compiler}: {run:?}");
    }
}
