//! Constructs that a whole team executes, often and quickly: some are passed over, and all are counted.

use profile::model::Profile;
use profile::region_kind::RegionKind as K;
use tests::invariants;

use super::{COMPILERS, ProgramFolder, is_passed_over, visits};

const TIMES: u64 = 40_000;
const SELDOM: u64 = TIMES / 10_000;

/// What each thread of the team executes: the kind and the line of the construct.
const VISITS: &[(K, u32)] = &[
    (K::Loop, 12),
    (K::Loop, 19),
    (K::Single, 26),
    (K::Single, 32),
    (K::Barrier, 45),
];

#[test]
fn what_a_team_executes_is_counted() {
    let folder = ProgramFolder::new();
    for compiler in COMPILERS {
        folder.build(compiler, "run/hot_team.c", &["-O2", "-g"], "app");
        for threads in [1, 2, 3] {
            let number = threads.to_string();
            let settings = [("OMP_NUM_THREADS", &*number)];
            folder.runs_the_same(&["./app"], &settings);
            let profile = folder.profile("app");
            let case = format!("{compiler}, {threads} threads");
            for (kind, line) in VISITS {
                let all = visits(&profile, *kind, *line);
                assert_eq!(all, TIMES * threads, "{case}: line {line}");
            }
            assert_eq!(visits(&profile, K::Critical, 37), SELDOM, "{case}");
            assert_eq!(bodies(&profile, 26), TIMES, "{case}");
            let contradictions = invariants::contradictions(&profile);
            assert_eq!(contradictions, Vec::<String>::new(), "{case}");
            // It depends on the machine whether waits are short enough.
            if compiler == "gcc" && threads == 1 {
                for line in [12, 19, 26] {
                    assert!(is_passed_over(&profile, line), "{case}: line {line}");
                }
            }
        }
    }
}

/// How often a thread executed the body of the construct that one of the team executes.
fn bodies(profile: &Profile, line: u32) -> u64 {
    let nodes = profile.nodes.iter();
    let of_line = nodes.filter(|node| profile.regions[node.region].begin[0] == line);
    of_line
        .flat_map(|node| &node.rows)
        .map(|row| row.body.count)
        .sum()
}
