//! A loop of tasks whose iterations the runtime divides by tasks of its own.

use super::*;

#[test]
fn tasks_that_divide_a_loop_are_parts_of_it() {
    let folder = ProgramFolder::new();
    for compiler in COMPILERS {
        folder.build(compiler, "run/split_taskloop.c", &["-O1", "-g"], "app");
        for threads in ["1", "2"] {
            folder.runs_the_same(&["./app"], &[("OMP_NUM_THREADS", threads)]);
            let profile = folder.profile("app");
            let regions = |kind| profile.regions.iter().filter(move |it| it.kind == kind);
            let case = format!("{compiler}, {threads}: {:?}", profile.regions);
            assert_eq!(regions(K::Taskloop).count(), 1, "{case}");
            assert_eq!(regions(K::Task).count(), 1, "{case}");
            assert_eq!(count(&profile, K::Task), 120, "{case}");
            let lines = regions(K::TaskExec).map(|it| (it.begin[0], it.near));
            let lines: BTreeSet<_> = lines.collect();
            assert_eq!(lines, BTreeSet::from([(9, false), (21, false)]), "{case}");
        }
    }
}
