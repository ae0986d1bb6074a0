//! C programs with tasks, built and run as in `c_programs`.

#![allow(clippy::unwrap_used)] // A test fails by panicking, also in its helpers.

mod programs;

use profile::model::Profile;
use programs::{Program, compilers};

/// How often constructs of a line were executed, on all threads and call paths.
fn executions(profile: &Profile, region_type: &str, line: u32) -> u64 {
    let nodes = profile.nodes.iter().filter(|node| {
        let region = &profile.regions[node.region];
        region.region_type == region_type && region.begin[0] == line
    });
    nodes
        .flat_map(|node| &node.rows)
        .map(|row| row.main.count)
        .sum()
}

#[test]
fn every_task_is_counted_where_it_was_executed() {
    for compiler in compilers() {
        let run = Program::build(compiler, "tasks.c", &[]).run(&[], &[]);
        assert_eq!(run.stdout(), "123\n");
        let profile = run.profile();
        assert_eq!(profile.run.notes, Vec::<String>::new(), "{compiler}");
        for (region_type, line, times) in [
            ("single", 2, 8),
            ("task", 3, 63),
            ("taskexec", 3, 63),
            ("task", 4, 50),
            ("taskexec", 4, 50),
            ("taskwait", 5, 63),
            ("taskgroup", 6, 1),
            ("taskloop", 9, 1),
            ("scope", 10, 4),
            ("masked", 11, 1),
            ("userRegion", 12, 1),
        ] {
            let counted = executions(profile, region_type, line);
            assert_eq!(counted, times, "{compiler} {region_type}@{line}");
        }
    }
}

/// Clang moves an untied task to another thread at its `taskyield`. Then only the number of its
/// creations is known.
#[test]
fn untied_tasks_may_wander() {
    for compiler in compilers() {
        let program = Program::build(compiler, "tasks.c", &[]);
        for _ in 0..5 {
            let run = program.run(&["untied"], &[]);
            assert_eq!(run.stdout(), "523\n", "{compiler}");
            assert_eq!(executions(run.profile(), "taskuntied", 7), 200);
            assert_eq!(executions(run.profile(), "task", 3), 63);
        }
    }
}
