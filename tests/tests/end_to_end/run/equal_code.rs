//! What is said of code that is equal, so that a compiler or linker keeps it once, and of functions
//! with equal names.

use std::process::Command;

use profile::region_kind::RegionKind as K;

use super::{COMPILERS, ProgramFolder, count, visits};
use crate::program_folder::fixtures;

/// If a compiler keeps one of several equal functions, nothing tells which of them is called.
#[test]
fn the_construct_of_equal_functions_is_not_certain() {
    let folder = ProgramFolder::new();
    for compiler in COMPILERS {
        folder.build(compiler, "run/equal_functions.c", &["-O2", "-g"], "app");
        folder.runs_the_same(&["./app"], &[]);
        let profile = folder.profile("app");
        assert_eq!(count(&profile, K::Loop), 16, "{compiler}");
        let [one, other, third] = [8, 15, 22].map(|line| visits(&profile, K::Loop, line));
        assert_eq!(third, 4, "{compiler}");
        let is_right = matches!((one, other), (4, 8) | (0, 0));
        assert!(is_right, "{compiler}: {one}, {other}");
    }
}

/// The same where the program uses the addresses of the functions, so that each keeps its own.
#[test]
fn what_is_in_equal_bodies_is_not_certain() {
    let folder = ProgramFolder::new();
    for compiler in COMPILERS {
        folder.build(compiler, "run/equal_bodies.c", &["-O2", "-g"], "app");
        folder.runs_the_same(&["./app"], &[("OMP_NUM_THREADS", "4")]);
        let profile = folder.profile("app");
        let teams = [38, 43, 48].map(|line| visits(&profile, K::Parallel, line));
        assert_eq!(teams, [4, 4, 4], "{compiler}");
        let [one, other, third] = [9, 16, 23].map(|line| visits(&profile, K::Loop, line));
        assert!(matches!((one, other), (4, 4) | (0, 0)), "{compiler}");
        assert_eq!(third, 4, "{compiler}");
        assert_eq!(count(&profile, K::Loop), 12, "{compiler}");
        let guards = [40, 45].map(|line| visits(&profile, K::Critical, line));
        assert!(matches!(guards, [4, 4] | [0, 0]), "{compiler}: {guards:?}");
        assert_eq!(count(&profile, K::Critical), 8, "{compiler}");
    }
}

/// Nor is what a linker folded, which drops the names of the other functions.
#[test]
fn what_a_linker_folded_is_not_certain() {
    if Command::new("ld.gold").arg("--version").output().is_err() {
        return;
    }
    let folder = ProgramFolder::new();
    let flags = [
        "-O1",
        "-g",
        "-ffunction-sections",
        "-fuse-ld=gold",
        "-Wl,--icf=all",
    ];
    folder.build("gcc", "run/equal_bodies.c", &flags, "app");
    folder.runs_the_same(&["./app"], &[("OMP_NUM_THREADS", "4")]);
    let profile = folder.profile("app");
    let teams = [38, 43, 48].map(|line| visits(&profile, K::Parallel, line));
    assert_eq!((teams, count(&profile, K::Parallel)), ([0, 0, 4], 12));
    let guards = [40, 45].map(|line| visits(&profile, K::Critical, line));
    assert_eq!((guards, count(&profile, K::Critical)), ([0, 0], 8));
    let loops = [9, 16, 23].map(|line| visits(&profile, K::Loop, line));
    assert_eq!((loops, count(&profile, K::Loop)), ([0, 0, 4], 12));
}

#[test]
fn functions_of_the_same_name_are_told_apart() {
    let folder = ProgramFolder::new();
    let other = fixtures().join("run/same_names_other.c");
    let flags = ["-O2", "-g", other.to_str().unwrap()];
    for compiler in COMPILERS {
        folder.build(compiler, "run/same_names.c", &flags, "app");
        folder.runs_the_same(&["./app"], &[]);
        let profile = folder.profile("app");
        let visits = |kind, line, file: &str| -> u64 {
            let nodes = profile.nodes.iter().filter(|node| {
                let of = &profile.regions[node.region];
                (of.kind, of.begin[0], of.near) == (kind, line, false) && of.file.ends_with(file)
            });
            let rows = nodes.flat_map(|node| &node.rows);
            rows.map(|row| row.main.count).sum()
        };
        for (kind, line, file, expected) in [
            (K::Critical, 11, "names.c", 2),
            (K::Barrier, 13, "names.c", 2),
            (K::Single, 14, "names.c", 2),
            (K::Single, 8, "other.c", 4),
            (K::Critical, 10, "other.c", 4),
            (K::Barrier, 12, "other.c", 4),
            (K::Critical, 13, "other.c", 4),
        ] {
            let seen = visits(kind, line, file);
            assert_eq!(seen, expected, "{compiler}: {kind:?} at {file}:{line}");
        }
    }
}
