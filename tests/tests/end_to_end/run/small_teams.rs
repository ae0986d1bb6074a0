//! Small parallel regions that are executed often: their members are passed over, and counted.

use profile::model::{Profile, Region};
use profile::region_kind::RegionKind as K;
use tests::invariants;

use super::{COMPILERS, ProgramFolder, is_passed_over, rows_of, visits};

const TIMES: u64 = 6_000;
const SELDOM: u64 = TIMES / 2_000;

/// What each thread of a team executes, and how often: the kind and the line of the construct.
const VISITS: &[(K, u32, u64)] = &[
    (K::Parallel, 12, TIMES),
    (K::ParallelLoop, 18, TIMES),
    (K::ParallelLoop, 26, TIMES),
    (K::Parallel, 34, TIMES),
    (K::Parallel, 44, TIMES),
    (K::Parallel, 57, TIMES),
    (K::Critical, 63, SELDOM),
    (K::Parallel, 71, TIMES),
];

/// Loops of which only LLVM's runtime tells the place.
const LOOPS: &[(K, u32, u64)] = &[
    (K::Loop, 36, TIMES),
    (K::Loop, 46, TIMES),
    (K::Loop, 49, TIMES),
    (K::Loop, 59, TIMES),
];

/// How many members' parts of the region at a line were passed over.
fn passed_over(profile: &Profile, line: u32) -> u64 {
    let rows = rows_of(profile, |region: &Region| region.begin[0] == line);
    let passed = rows.filter_map(|row| Some(row.main.count - row.estimate()?.timed));
    passed.sum()
}

#[test]
fn members_of_small_teams_are_counted() {
    let folder = ProgramFolder::new();
    for compiler in COMPILERS {
        folder.build(compiler, "run/small_teams.c", &["-O2", "-g"], "app");
        let loops = if compiler == "clang" { LOOPS } else { &[] };
        for (threads, policy) in [(1, "active"), (2, "active"), (3, "passive")] {
            let number = threads.to_string();
            let settings = [("OMP_NUM_THREADS", &*number), ("OMP_WAIT_POLICY", policy)];
            folder.runs_the_same(&["./app"], &settings);
            let profile = folder.profile("app");
            let case = format!("{compiler}, {threads} threads");
            for (kind, line, of_each) in VISITS.iter().chain(loops) {
                let all = visits(&profile, *kind, *line);
                assert_eq!(all, of_each * threads, "{case}: line {line}");
            }
            if compiler == "clang" && threads > 1 {
                let of_loop = |region: &Region| (region.kind, region.begin[0]) == (K::Loop, 36);
                let waits: u64 = rows_of(&profile, of_loop).map(|row| row.ibarr.count).sum();
                assert_eq!(waits, TIMES * threads, "{case}: barriers of the loop");
            }
            // One thread alone is no active team, so that the team in it gets two threads.
            let inner = visits(&profile, K::Parallel, 74);
            assert_eq!(inner, SELDOM * threads.max(2), "{case}: the inner team");
            let contradictions = invariants::contradictions(&profile);
            assert_eq!(contradictions, Vec::<String>::new(), "{case}");
            // A thread's first reduction does not end that its parts are passed over.
            let [without, with] = [18, 26].map(|line| passed_over(&profile, line));
            let is_little = without < 100 * threads;
            assert!(
                is_little || with > 10 * threads,
                "{case}: {with}, {without}"
            );
            // With more threads it depends on the machine whether regions are short enough.
            for line in [12, 18, 26] {
                let is_or_may_be = is_passed_over(&profile, line) || threads > 1;
                assert!(is_or_may_be, "{case}: line {line}");
            }
        }
    }
}
