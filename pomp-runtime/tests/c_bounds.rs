//! Limits of memory and of the executions that are timed. Programs run as they do without limits,
//! and the profile says what is left out, with exact numbers.

#![allow(clippy::unwrap_used)] // A test fails by panicking, also in its helpers.

mod programs;

use profile::model::{Profile, Span};
use profile::region_kind::PseudoRegion;
use programs::{Program, compilers};

/// Sum of a part over all nodes and threads of the regions of a type.
fn sum(profile: &Profile, region_type: &str, part: PseudoRegion) -> Span {
    let nodes = profile.nodes.iter();
    let nodes = nodes.filter(|node| profile.regions[node.region].region_type == region_type);
    nodes
        .flat_map(|node| &node.rows)
        .fold(Span::default(), |mut sum, row| {
            sum += row.span(part);
            sum
        })
}

/// The number at the end of the only note.
fn number(profile: &Profile, note: &str) -> u64 {
    assert_eq!(profile.run.notes.len(), 1, "{:?}", profile.run.notes);
    let (what, number) = profile.run.notes[0].rsplit_once(": ").unwrap();
    assert!(what.starts_with(note), "{what}");
    number.parse().unwrap()
}

#[test]
fn call_paths_beyond_the_limit_are_folded_and_counted() {
    const DEPTH: u64 = 8;
    // In each of three teams two threads walk, and each forks one more team.
    let marked = 6 * ((1 << (DEPTH + 1)) - 2);
    let atomics = 6 * ((1 << DEPTH) + 1);
    for compiler in compilers() {
        let program = Program::build(compiler, "bounds.c", &[]);
        let arguments = ["walk", &DEPTH.to_string()];
        let whole = program.run(&arguments, &[]);
        let profile = whole.profile();
        assert_eq!(profile.run.notes, Vec::<String>::new(), "{compiler}");
        let main = |profile: &Profile, kind: &str| sum(profile, kind, PseudoRegion::Main).count;
        assert_eq!(main(profile, "userRegion"), marked, "{compiler}");
        assert_eq!(main(profile, "atomic"), atomics, "{compiler}");
        for limit in ["0", "50K"] {
            let run = program.run(&arguments, &[("ROMP_MEMORY", limit)]);
            assert_eq!(run.stdout(), whole.stdout(), "{compiler} {limit}");
            let folded = number(
                run.profile(),
                "executions on call paths for which ROMP_MEMORY",
            );
            let profile = run.profile();
            let recorded =
                main(profile, "userRegion") + main(profile, "atomic") + main(profile, "barrier");
            assert_eq!(
                recorded + folded,
                marked + atomics + 6,
                "{compiler} {limit}"
            );
            assert_eq!(sum(profile, "parallel", PseudoRegion::Seq).count, 9);
            assert!(profile.nodes.len() < whole.profile().nodes.len() / 2);
        }
    }
}

/// A request for memory that fails would end the program by a signal.
#[test]
fn a_program_that_takes_all_memory_ends_as_it_does_without_us() {
    for compiler in compilers() {
        let program = Program::build(compiler, "bounds.c", &[]);
        let run = program.run(&["take", "all"], &[]);
        assert_eq!(
            run.output.status.code(),
            Some(0),
            "{compiler}: {}",
            run.stderr()
        );
        assert_eq!(run.stdout(), "6\n", "{compiler}");
        assert!(run.profiles.is_empty(), "{compiler}");
        let lost =
            "romp: the profile is lost: the program has left too little memory to write it\n";
        assert_eq!(run.stderr(), lost, "{compiler}");
    }
}

#[test]
fn throttled_regions_are_counted_exactly() {
    // Each thread executes the regions three times as often.
    const TIMES: u64 = 40_000;
    for compiler in compilers() {
        let program = Program::build(compiler, "bounds.c", &[]);
        let run = program.run(&["repeat", &TIMES.to_string()], &[("ROMP_THROTTLE", "1s")]);
        let profile = run.profile();
        assert_eq!(profile.run.notes.len(), 1, "{:?}", profile.run.notes);
        assert!(
            profile.run.notes[0].starts_with("regions that were counted but no longer timed")
                && profile.run.notes[0].contains("ATOMIC at test.c:4"),
            "{:?}",
            profile.run.notes
        );
        let count = |kind, part| sum(profile, kind, part).count;
        assert_eq!(count("atomic", PseudoRegion::Main), 6 * (TIMES + 1));
        assert_eq!(count("userRegion", PseudoRegion::Main), 6 * TIMES);
        for part in [PseudoRegion::Main, PseudoRegion::Enter, PseudoRegion::Body] {
            assert_eq!(count("critical", part), 6 * TIMES, "{compiler} {part:?}");
        }
        let timed: u64 = profile
            .distributions
            .iter()
            .filter(|of| profile.regions[of.region].region_type == "atomic")
            .flat_map(|of| &of.histogram)
            .map(|bucket| bucket.count)
            .sum();
        assert!(timed < 6 * TIMES, "{compiler} {timed}");
    }
}

#[test]
fn sampled_regions_are_counted_exactly() {
    // Each thread executes the regions three times as often.
    const TIMES: u64 = 40_000;
    for compiler in compilers() {
        let program = Program::build(compiler, "bounds.c", &[]);
        for (budget, is_sampled) in [("0.1%", true), ("none", false)] {
            let run = program.run(&["repeat", &TIMES.to_string()], &[("ROMP_BUDGET", budget)]);
            let profile = run.profile();
            let rows = profile.nodes.iter().flat_map(|node| &node.rows);
            let estimates = rows.filter(|row| row.estimate().is_some()).count();
            // On a busy machine no region may be executed often enough.
            assert!(is_sampled || estimates == 0, "{compiler} {budget}");
            let remarks = profile.remarks();
            let is_said = remarks.iter().any(|remark| remark.contains("estimates"));
            assert_eq!(estimates > 0, is_said, "{compiler} {budget}: {remarks:?}");
            let count = |kind, part| sum(profile, kind, part).count;
            assert_eq!(count("atomic", PseudoRegion::Main), 6 * (TIMES + 1));
            assert_eq!(count("userRegion", PseudoRegion::Main), 6 * TIMES);
            for part in [PseudoRegion::Main, PseudoRegion::Enter, PseudoRegion::Body] {
                assert_eq!(count("critical", part), 6 * TIMES, "{compiler} {part:?}");
            }
        }
    }
}
