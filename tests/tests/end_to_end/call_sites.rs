//! `romp run` maps calls of OpenMP runtimes to directives. The profile of the same program
//! built with `rompcc` tells which of them are right.

use std::fs;
use std::path::Path;

use tests::call_sites::{HEAD, Sites, compare};
use tests::toolchain::{Compiler, romp_bin_dir};

/// Programs with many constructs, among them those that are hard to tell apart: in inlined
/// and recursive functions, at the ends of functions, in branches that are not compiled.
const PROGRAMS: &[&str] = &[
    "counts/every_construct.c",
    "counts/newer_constructs.c",
    "run/regions.c",
    "run/static_loops.c",
    "run/nested.c",
    "run/doacross.c",
    "run/reductions.c",
    "faults/single_long.c",
    "faults/sections_uneven.c",
    "faults/lock_table.c",
    "faults/clean_tasks.c",
    "faults/master_barrier.c",
    "faults/loops_opposite.c",
    "faults/critical_named.c",
];

/// No call that is mapped without doubt is wrong, and at least so many percent are mapped so.
fn calls_are_of_their_directives(compiler: &str, programs: &[&str], least: f64) {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures");
    let compiler = Compiler::find(compiler).unwrap();
    let bin = romp_bin_dir().unwrap();
    let mut all = Sites::default();
    println!("{HEAD}  {}", compiler.name);
    for program in programs {
        let path = fs::canonicalize(fixtures.join(program)).unwrap();
        let sites = compare(&bin, &compiler, "-O2", &path).unwrap();
        println!("{sites}  {program}");
        all.add(sites);
    }
    println!("{all}  all");
    assert_eq!(all.wrong, Vec::<String>::new(), "{}", compiler.name);
    assert!(all.share() >= least, "{all}\n{:#?}", all.near);
}

#[test]
fn of_gcc() {
    calls_are_of_their_directives("gcc", PROGRAMS, 95.0);
}

#[test]
fn of_clang() {
    calls_are_of_their_directives("clang", PROGRAMS, 95.0);
}

#[test]
fn of_gfortran() {
    calls_are_of_their_directives("gfortran", &["counts/every_construct.f90"], 95.0);
}

/// Their symbols are not their names.
#[test]
fn of_functions_in_cxx_and_procedures() {
    calls_are_of_their_directives("g++", &["run/functions.cpp"], 100.0);
    calls_are_of_their_directives("gfortran", &["run/procedures.f90"], 100.0);
}

#[test]
fn of_loop_constructs() {
    calls_are_of_their_directives("gcc", &["run/loop_constructs.c"], 100.0);
}

/// What runs on the host in `target` constructs has its directives. A macro of a header makes one
/// more `target`, which only its line is known of.
#[test]
fn of_target_constructs_on_the_host() {
    calls_are_of_their_directives("gcc", &["run/host_targets.c"], 90.0);
    calls_are_of_their_directives("clang", &["run/host_targets.c"], 100.0);
}

/// Calls of one program: none is wrong, and so many are only near a line.
fn none_is_wrong(compiler: &str, level: &str, program: &str, near: usize) {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures");
    let found = Compiler::find(compiler).unwrap();
    let path = fs::canonicalize(fixtures.join(program)).unwrap();
    let sites = compare(&romp_bin_dir().unwrap(), &found, level, &path).unwrap();
    let case = format!("{compiler} {level} {program}: {sites:#?}");
    assert_eq!(sites.wrong, Vec::<String>::new(), "{case}");
    assert_eq!(sites.near.len(), near, "{case}");
    assert!(sites.certain >= 3, "{case}");
}

/// Of equal calls in two branches, GCC makes one. It has the line of one of them, but is both: so
/// neither is said. Clang keeps them apart.
#[test]
fn of_calls_that_the_compiler_made_one() {
    for (compiler, level, near) in [("gcc", "-Os", 4), ("gcc", "-O2", 3), ("clang", "-Os", 0)] {
        none_is_wrong(compiler, level, "run/merged_calls.c", near);
    }
}

/// The barriers that GCC makes at the begin of constructs are near a line.
#[test]
fn of_barriers_at_the_begins_of_constructs() {
    for (compiler, level, near) in [("gcc", "-Os", 4), ("gcc", "-O2", 4), ("clang", "-O2", 0)] {
        none_is_wrong(compiler, level, "run/begin_barriers.c", near);
    }
}

/// Macros with one meaning are expanded. That of a critical section may be another one, so what it makes
/// is near a line.
#[test]
fn of_directives_that_macros_of_headers_make() {
    for (compiler, near) in [("gcc", 1), ("clang", 1)] {
        none_is_wrong(compiler, "-O2", "run/header_macros.c", near);
    }
}

/// Directives of macros, and below conditionals without code; the `flush` of an `atomic`. In the parallel
/// loop with `scan`, LLVM's runtime reports a `master`.
#[test]
fn of_directives_that_macros_and_conditions_make() {
    calls_are_of_their_directives("gcc", &["run/expanded.c"], 100.0);
    none_is_wrong("clang", "-O2", "run/expanded.c", 1);
}

/// A macro that may stand for nothing is known by the calls of its function.
#[test]
fn of_directives_whose_macro_may_stand_for_nothing() {
    for compiler in ["gcc", "clang"] {
        calls_are_of_their_directives(compiler, &["run/optional_macros.c"], 100.0);
    }
}

/// Clang says the line of a macro of which the source does not tell what it makes: a combined directive may be two.
#[test]
fn of_directives_whose_macro_depends_on_a_condition() {
    none_is_wrong("clang", "-O2", "run/macro_of_condition.c", 2);
}

#[test]
fn of_regions_that_begin_with_one_another() {
    calls_are_of_their_directives("gfortran", &["run/nested_bodies.f90"], 100.0);
}

/// The main program has the symbol of all main programs. The two barriers inside the workshare are waits
/// in it.
#[test]
fn of_a_main_program_of_fortran() {
    calls_are_of_their_directives("gfortran", &["run/main_program.f90"], 100.0);
}

/// All lines of a branch's code are those of a function that is inlined there: it is compiled all the
/// same. Of two groups, GCC gives the calls no lines that tell them apart.
#[test]
fn of_a_branch_whose_code_is_inlined() {
    none_is_wrong("gcc", "-O2", "run/inlined_branch.c", 2);
    calls_are_of_their_directives("clang", &["run/inlined_branch.c"], 100.0);
}

/// GCC does not say of one of two inlined loops, and of what is in it, that it is inlined.
#[test]
fn of_a_loop_that_seems_not_to_be_inlined() {
    none_is_wrong("g++", "-O2", "run/inlined_loops.cpp", 1);
}

/// Lines and addresses of calls in GCC's code may be those of other directives. The lock routine that is called
/// by its address is no directive.
#[test]
fn of_calls_with_misleading_places() {
    for (compiler, near) in [("gcc", 3), ("clang", 1)] {
        none_is_wrong(compiler, "-O2", "run/misleading.c", near);
    }
}

/// Loops and `single` constructs that only the entries of GCC's runtime tell apart. Threads skip one of the
/// `single` constructs, so of some of their calls nothing is said.
#[test]
fn of_calls_of_different_entries() {
    for (compiler, level, near) in [("gcc", "-O0", 3), ("gcc", "-O2", 3), ("clang", "-O2", 0)] {
        none_is_wrong(compiler, level, "run/entries.c", near);
    }
}
