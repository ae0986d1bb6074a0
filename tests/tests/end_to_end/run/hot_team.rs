//! Constructs that a whole team executes, often and quickly: some are passed over, and all are counted.

use profile::model::{Profile, Row};
use profile::region_kind::RegionKind as K;
use tests::invariants;

use super::{COMPILERS, ProgramFolder, is_passed_over, visits};

const TIMES: u64 = 12_000;
const SELDOM: u64 = TIMES / 3_000;

/// What each thread of the team executes: the kind and the line of the construct, and whether the
/// team waits at its end.
const VISITS: &[(K, u32, bool)] = &[
    (K::Loop, 14, true),
    (K::Loop, 21, false),
    (K::Single, 28, true),
    (K::Single, 34, false),
    (K::Barrier, 47, false),
    (K::Loop, 52, true),
    (K::Single, 60, true),
    (K::Single, 68, false),
    (K::Parallel, 80, true),
    (K::Loop, 82, false),
];

#[test]
fn what_a_team_executes_is_counted() {
    let folder = ProgramFolder::new();
    for compiler in COMPILERS {
        folder.build(compiler, "run/hot_team.c", &["-O2", "-g"], "app");
        for threads in [1, 2, 3] {
            let number = threads.to_string();
            // A small budget, so that they are passed over though many of them take turns.
            let settings = [("OMP_NUM_THREADS", &*number), ("ROMP_BUDGET", "1%")];
            folder.runs_the_same(&["./app"], &settings);
            let profile = folder.profile("app");
            let case = format!("{compiler}, {threads} threads");
            for (kind, line, waits) in VISITS {
                let all = visits(&profile, *kind, *line);
                assert_eq!(all, TIMES * threads, "{case}: line {line}");
                let waited = sum(&profile, *line, |row| row.ibarr.count);
                let expected = if *waits { all } else { 0 };
                assert_eq!(waited, expected, "{case}: waits of line {line}");
            }
            assert_eq!(visits(&profile, K::Critical, 39), SELDOM, "{case}");
            for line in [28, 34, 60, 68] {
                let bodies = sum(&profile, line, |row| row.body.count);
                assert_eq!(bodies, TIMES, "{case}: line {line}");
            }
            let contradictions = invariants::contradictions(&profile);
            assert_eq!(contradictions, Vec::<String>::new(), "{case}");
            // It depends on the machine whether waits are short enough.
            if threads == 1 {
                for line in [14, 21, 28, 52] {
                    assert!(is_passed_over(&profile, line), "{case}: line {line}");
                }
            }
        }
    }
}

/// The sum of a count over the threads that executed a construct.
fn sum(profile: &Profile, line: u32, count: impl Fn(&Row) -> u64) -> u64 {
    let nodes = profile.nodes.iter();
    let of_line = nodes.filter(|node| profile.regions[node.region].begin[0] == line);
    of_line.flat_map(|node| &node.rows).map(count).sum()
}
