//! Requests for chunks of loops, of which a sample is timed.

use super::*;

/// As `counts::chunks_are_counted_where_they_are_asked_for`, of the same programs as they are.
#[test]
fn requests_are_counted_as_in_programs_built_with_us() {
    for (compiler, fixture) in [
        ("gcc", "counts/chunks.c"),
        ("clang", "counts/chunks.c"),
        ("gfortran", "counts/chunks.f90"),
    ] {
        let folder = ProgramFolder::new();
        folder.build(compiler, fixture, &["-O1", "-g"], "app");
        let settings = [("OMP_NUM_THREADS", "3"), ("OMP_SCHEDULE", "dynamic,4")];
        folder.runs_the_same(&["./app"], &settings);
        let profile = folder.profile("app");
        let requests = |schedule: &str| {
            let rows = rows_of(&profile, |it| it.schedule.as_deref() == Some(schedule));
            rows.map(|row| row.chunk_requests().count).sum::<u64>()
        };
        assert_eq!(requests("static, 4"), 0, "{compiler}");
        // One of 61 is looked at, and stands for all.
        for schedule in ["dynamic, 4", "runtime"] {
            let requests = requests(schedule);
            let off = requests.abs_diff(400_000 / 4);
            assert!(off <= 63 * 3, "{compiler}, {schedule}: {requests}");
        }
    }
}
