//! Waits at the end of constructs with a reduction. LLVM's runtime has a larger team (more than four
//! threads) wait in a barrier of its own, before the construct ends.

use profile::region_kind::RegionKind as K;

use super::{COMPILERS, ProgramFolder, rows_of};

#[test]
fn who_waits_for_the_last_part_of_a_reduction_does_not_work() {
    let folder = ProgramFolder::new();
    for compiler in ["gcc", "clang"] {
        let fixture = "run/reduction_waits.c";
        folder.build(compiler, fixture, &["-O1", "-g"], "app");
        let romp = format!("romp:{compiler}");
        folder.build(&romp, fixture, &["-O1", "-g"], "built");
        for threads in ["4", "8"] {
            let settings = [("OMP_NUM_THREADS", threads), ("ROMP_DISABLE", "atomic")];
            let of_app = folder.romp_run(&["./app"], &settings);
            let of_built = folder
                .command(&["./built"])
                .envs(settings)
                .output()
                .unwrap();
            for (ran, name) in [(of_app, "app"), (of_built, "built")] {
                assert_eq!(ran.stdout, b"1\n", "{ran:?}");
                let profile = folder.profile(name);
                // The lines of constructs whose barrier may be the one, the innermost last. A loop that
                // is all of its region waits at the region's end, or at its own.
                for lines in [&[31_u32][..], &[34, 36], &[43], &[47]] {
                    let sum = |line: u32, time: fn(&profile::model::Row) -> u64| {
                        let others = rows_of(&profile, |region| region.begin[0] == line)
                            .filter(|row| !profile.threads[row.thread].to_string().ends_with(">0"));
                        others.map(time).sum::<u64>()
                    };
                    let wait: u64 = lines
                        .iter()
                        .map(|line| sum(*line, |row| row.ibarr.ns))
                        .sum();
                    let work = lines.last().map_or(0, |line| sum(*line, |row| row.body.ns));
                    assert!(
                        wait > work,
                        "{compiler}, {name}, {threads} threads, line {lines:?}: {wait} ns after {work} ns"
                    );
                }
            }
        }
    }
}

/// GNU's compilers combine arrays, and variables with an operator of the user's, as they execute an `atomic`.
/// LLVM's runtime has each thread of a small team update all elements, and sets a lock for an operator of the
/// user's.
#[test]
fn combining_is_a_part_of_the_loop() {
    for (compiler, fixture) in COMPILERS.into_iter().flat_map(|compiler| {
        ["faults/reduction_array.c", "run/own_reduction.c"].map(|fixture| (compiler, fixture))
    }) {
        let folder = ProgramFolder::new();
        let combined = |compiler: &str, name: &str| {
            let flags = ["-O1", "-g", "-DSTEPS=1"];
            folder.build(compiler, fixture, &flags, name);
            let settings = [("OMP_NUM_THREADS", "2")];
            let ran = match compiler.starts_with("romp:") {
                true => folder.command(&["./built"]).envs(settings).output(),
                false => Ok(folder.romp_run(&["./app"], &settings)),
            };
            assert!(ran.unwrap().status.success());
            let profile = folder.profile(name);
            let others = rows_of(&profile, |region| {
                matches!(region.kind, K::Atomic | K::Critical)
            });
            assert_eq!(others.count(), 0, "{compiler}, {fixture}");
            let all = rows_of(&profile, |_| true);
            all.map(|row| row.reduction().count).sum::<u64>()
        };
        let from_outside = combined(compiler, "app");
        assert!(from_outside > 0, "{compiler}, {fixture}");
        let rebuilt = combined(&format!("romp:{compiler}"), "built");
        assert_eq!(from_outside, rebuilt, "{compiler}, {fixture}");
    }
}
