//! Tasks that are executed by the call that creates them.

use super::*;

#[test]
fn what_a_creation_executes_is_below_it() {
    let folder = ProgramFolder::new();
    for compiler in COMPILERS {
        folder.build(compiler, "run/full_queue.c", &["-O1", "-g"], "app");
        let threads = [("OMP_NUM_THREADS", "2")];
        folder.runs_the_same(&["./app"], &threads);
        let profile = folder.profile("app");
        let below = |node: &&profile::model::Node| {
            let parent = node.parent.map(|parent| profile.nodes[parent].region);
            let is_creation = |region: usize| profile.regions[region].kind == K::Task;
            profile.regions[node.region].kind == K::TaskExec && parent.is_some_and(is_creation)
        };
        let executed = profile.nodes.iter().filter(below);
        let times = executed.flat_map(|node| &node.rows);
        let times: u64 = times.map(|row| row.main.count).sum();
        // GCC's runtime queues 64 tasks for each thread, LLVM's 256 in all.
        assert!((500..1000).contains(&times), "{compiler}: {times}");
        assert_eq!(count(&profile, K::Task), 1000, "{compiler}");
        assert_eq!(count(&profile, K::TaskExec), 1000, "{compiler}");
    }
}
