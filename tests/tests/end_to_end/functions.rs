//! Functions as regions: `--functions`, in C, C++ and Fortran, with each
//! compiler: exact counts, call paths, names, places, and what may go wrong.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use profile::load::load;
use profile::model::Profile;
use profile::region_kind::RegionKind;
use tests::invariants;
use tests::toolchain::romp_bin_dir;

/// A wrapper, the variable that chooses its compiler, and a compiler.
type Compiler = (&'static str, &'static str, &'static str);

const C: [Compiler; 2] = [("rompcc", "ROMP_CC", "gcc"), ("rompcc", "ROMP_CC", "clang")];
const CXX: [Compiler; 2] = [
    ("rompcxx", "ROMP_CXX", "g++"),
    ("rompcxx", "ROMP_CXX", "clang++"),
];
const FORTRAN: [Compiler; 1] = [("rompfc", "ROMP_FC", "gfortran")];

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Compiles a fixture here with functions; every message is an error.
    fn build(&self, (wrapper, variable, name): Compiler, source: &str, to: &str, flags: &[&str]) {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/functions");
        let output = Command::new(romp_bin_dir().unwrap().join(wrapper))
            .current_dir(self.0.path())
            .env(variable, name)
            .args(["--functions", "-Wall", "-Werror", "-g", "-o", to])
            .args(flags)
            .arg(fixtures.join(source).canonicalize().unwrap())
            .arg("-ldl")
            .output()
            .unwrap();
        assert_eq!(said(&output), "", "{name} {source} {flags:?}");
        assert!(output.status.success());
    }

    /// Runs a program and gives what it printed and its profile.
    fn run(&self, program: &str, arguments: &[&str], patterns: &str) -> (String, Profile) {
        let output = Command::new(self.path(program))
            .args(arguments)
            .current_dir(self.0.path())
            .env("ROMP_FUNCTIONS", patterns)
            .env("ROMP_APPNAME", "run")
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", said(&output));
        let file = self.path("run.0.romp.json");
        let profile = load(&file).unwrap();
        assert_eq!(invariants::contradictions(&profile), Vec::<String>::new());
        assert_eq!(profile.run.notes, Vec::<String>::new());
        std::fs::rename(&file, self.path("last.romp.json")).unwrap();
        std::fs::remove_file(self.path("run.0.romp.txt")).unwrap();
        (String::from_utf8(output.stdout).unwrap(), profile)
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// How often each function was executed.
fn counts(profile: &Profile) -> BTreeMap<&str, u64> {
    let mut counts = BTreeMap::new();
    for node in &profile.nodes {
        let region = &profile.regions[node.region];
        if region.kind == RegionKind::Function {
            let count: u64 = node.rows.iter().map(|row| row.main.count).sum();
            *counts.entry(region.name.as_deref().unwrap()).or_default() += count;
        }
    }
    counts
}

/// All call paths, with kinds for regions that are no functions; paths of recursion once.
fn paths(profile: &Profile) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    for node in &profile.nodes {
        let region = &profile.regions[node.region];
        let name = match region.kind {
            RegionKind::Function => region.name.clone().unwrap(),
            kind => format!("{kind:?}"),
        };
        let path = match node.parent.map(|parent| &paths[parent]) {
            Some(above) if above.ends_with(&name) => above.clone(),
            Some(above) => format!("{above}/{name}"),
            None => name,
        };
        paths.push(path);
    }
    paths.sort();
    paths.dedup();
    paths
}

#[test]
fn call_paths_show_the_functions_of_c() {
    for compiler in C {
        let folder = Folder::new();
        folder.build(compiler, "calls.c", "calls", &["-fopenmp", "-O2"]);
        folder.build(compiler, "plugin.c", "plugin.so", &["-shared", "-fPIC"]);
        let plugin = folder.path("plugin.so");
        let (printed, profile) = folder.run("calls", &[plugin.to_str().unwrap()], "");
        assert_eq!(printed, "215\n");
        let case = format!("{compiler:?}");
        let expected = [
            ("dive", 8),
            ("early", 1),
            ("leaf", 21),
            ("main", 1),
            ("plugin", 1),
            ("rabbits", 15),
            ("surface", 2),
            ("twice", 10),
        ];
        assert_eq!(counts(&profile), BTreeMap::from(expected), "{case}");
        let expected = [
            "early",
            "early/leaf",
            "main",
            "main/ParallelLoop",
            "main/ParallelLoop/twice",
            "main/ParallelLoop/twice/leaf",
            "main/plugin",
            "main/rabbits",
            "main/surface",
            "main/surface/dive",
        ];
        assert_eq!(paths(&profile), expected, "{case}");
        let plugin = profile
            .regions
            .iter()
            .find(|of| of.name.as_deref() == Some("plugin"));
        let code = plugin.unwrap().code.as_ref().unwrap();
        assert!(code.module.ends_with("/plugin.so"), "{code:?}");
    }
}

#[test]
fn only_the_functions_that_are_wanted_are_measured() {
    let folder = Folder::new();
    folder.build(
        C[0],
        "calls.c",
        "calls",
        &["-fopenmp", "-static", "-Wl,--no-warnings"],
    );
    let (printed, profile) = folder.run("calls", &[], "*e*, !dive, !su*");
    assert_eq!(printed, "115\n");
    let expected = [("early", 1), ("leaf", 21), ("twice", 10)];
    assert_eq!(counts(&profile), BTreeMap::from(expected));
}

#[test]
fn exceptions_leave_functions_without_harm() {
    for compiler in CXX {
        let folder = Folder::new();
        folder.build(compiler, "throws.cpp", "throws", &["-fopenmp", "-O2"]);
        let (printed, profile) = folder.run("throws", &[], "");
        let case = format!("{compiler:?}");
        assert_eq!(printed, "-20\n", "{case}");
        let found = paths(&profile);
        for path in [
            "main/ParallelLoop/body/physics::deeper/physics::check",
            "main/ParallelLoop/body/physics::Solver<double>::step",
        ] {
            assert!(found.iter().any(|found| found == path), "{case} {found:?}");
        }
        // Functions that an exception has left do not pile up on the call paths.
        let under = |path: &String| path.contains("check/") || path.contains("deeper/body");
        assert!(!found.iter().any(under), "{case} {found:?}");
        for (name, count) in [("body", 20), ("physics::check", 20)] {
            assert_eq!(counts(&profile)[name], count, "{case} {name}");
        }
    }
}

#[test]
fn procedures_of_fortran_have_their_names_and_places() {
    for compiler in FORTRAN {
        let folder = Folder::new();
        folder.build(compiler, "procedures.f90", "procedures", &["-fopenmp"]);
        let (_, profile) = folder.run("procedures", &[], "");
        let counts = counts(&profile);
        assert_eq!(counts["physics::doubled"], 10);
        assert_eq!(counts["physics::step"], 1);
        assert_eq!(counts["main program"], 1);
        let output = Command::new(romp_bin_dir().unwrap().join("romp"))
            .args(["report", "-f", "csv"])
            .arg(folder.path("last.romp.json"))
            .output()
            .unwrap();
        let report = said(&output);
        for place in [
            "procedures.f90,12,12,physics::doubled",
            "procedures.f90,18,18,outside",
            "procedures.f90,23,23,within",
        ] {
            assert!(report.contains(place), "{place}: {report}");
        }
    }
}
