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

/// Before its event is fulfilled, a detached task is not complete, but nothing of it is executed.
#[test]
fn the_execution_of_a_detached_task_ends_with_its_block() {
    let folder = ProgramFolder::new();
    for compiler in COMPILERS {
        folder.build(compiler, "run/detached.c", &["-O1", "-g"], "app");
        folder.runs_the_same(&["./app"], &[("OMP_NUM_THREADS", "2")]);
        let profile = folder.profile("app");
        let kind = |node: usize| profile.regions[profile.nodes[node].region].kind;
        let mut criticals = (0..profile.nodes.len()).filter(|&node| kind(node) == K::Critical);
        let around = criticals.next().and_then(|node| profile.nodes[node].parent);
        assert_eq!(around.map(kind), Some(K::Single), "{compiler}");
        assert_eq!(count(&profile, K::TaskExec), 1, "{compiler}");
        assert!(
            profile.run.notes.is_empty(),
            "{compiler}: {:?}",
            profile.run.notes
        );
    }
}
