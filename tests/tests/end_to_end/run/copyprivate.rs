//! A `single` that copies values to the other threads.

use super::*;

/// GCC's runtime has the other threads wait where they meet the construct, LLVM's at its end.
#[test]
fn threads_wait_for_the_values_of_copyprivate() {
    for compiler in COMPILERS {
        let folder = ProgramFolder::new();
        let flags = ["-O1", "-g", "-DSTEPS=1"];
        folder.build(compiler, "faults/single_copyprivate.c", &flags, "app");
        let ran = folder.romp_run(&["./app"], &[("OMP_NUM_THREADS", "2")]);
        assert!(ran.status.success(), "{ran:?}");
        let profile = folder.profile("app");
        let is_single = |region: &Region| region.kind == K::Single;
        let single = profile.regions.iter().find(|it| is_single(it)).unwrap();
        let waits = |row: &Row| row.main.count == row.ibarr.count;
        assert!(rows_of(&profile, is_single).all(waits), "{compiler}");
        assert_eq!(single.unsplit.is_some(), compiler == "gcc");
    }
}
