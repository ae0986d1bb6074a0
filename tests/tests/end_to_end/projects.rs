//! Builds with real tools, in which only the compiler's name changes: the programs
//! behave as without us, and are measured. With a broken instrumenter the builds still
//! succeed, and warn; with `ROMP_STRICT=1` they fail.
//!
//! Everything runs from an installation that was moved after it was made.

use std::path::PathBuf;
use std::sync::OnceLock;

use tempfile::TempDir;
use tests::Outcome;
use tests::project::{Built, Project, breakable, install, ours};
use tests::toolchain::{romp_bin_dir, test_bin_dir};

/// The compilers of plain builds, for C and C++; Fortran's is gfortran.
const COMPILERS: &[[&str; 2]] = &[["gcc", "g++"], ["clang", "clang++"]];
const FORTRAN: &str = "gfortran";

/// Where the commands are.
struct Tools {
    _folder: TempDir,
    installed: PathBuf,
    breakable: PathBuf,
}

fn tools() -> &'static Tools {
    static TOOLS: OnceLock<Outcome<Tools>> = OnceLock::new();
    let make = || {
        let folder = install(&romp_bin_dir()?)?;
        let breakable_bin = folder.path().join("breakable");
        breakable(&test_bin_dir()?, &breakable_bin)?;
        Ok(Tools {
            installed: folder.path().join("romp"),
            breakable: breakable_bin,
            _folder: folder,
        })
    };
    TOOLS
        .get_or_init(make)
        .as_ref()
        .unwrap_or_else(|why| panic!("{why}"))
}

/// Builds with the compilers themselves.
fn plain(project: &Project, [cc, cxx]: [&str; 2]) -> Outcome<Built> {
    let path = std::env::var("PATH").unwrap_or_default();
    let settings = [
        ("CC", cc),
        ("CXX", cxx),
        ("FC", FORTRAN),
        ("ROMP_CC", cc),
        ("ROMP_CXX", cxx),
    ];
    project.build(&path, &settings)
}

/// Builds with our commands first on the `PATH`.
fn measured(
    project: &Project,
    [cc, cxx]: [&str; 2],
    broken: bool,
    more: &[(&str, &str)],
) -> Outcome<Built> {
    let tools = tools();
    let mut path = tools.installed.join("bin").display().to_string();
    if broken {
        path = format!("{}:{path}", tools.breakable.display());
    }
    let path = format!("{path}:{}", std::env::var("PATH").unwrap_or_default());
    let library = tools.installed.join("lib");
    let packages = library.join("pkgconfig").display().to_string();
    let library = library.display().to_string();
    let mut settings = vec![
        ("CC", "rompcc"),
        ("CXX", "rompcxx"),
        ("FC", "rompfc"),
        ("ROMP_FC", FORTRAN),
        ("ROMP_CC", cc),
        ("ROMP_CXX", cxx),
        ("PKG_CONFIG_PATH", packages.as_str()),
    ];
    if broken {
        settings.push(("ROMP_LIB", &library));
    }
    settings.extend_from_slice(more);
    project.build(&path, &settings)
}

/// What the plain builds of a project print, by the number of the compilers. Each is built once.
type Printed = [OnceLock<Outcome<String>>; COMPILERS.len()];

fn printed<'a>(known: &'a Printed, project: &Project, number: usize) -> Outcome<&'a str> {
    let find = || Ok(plain(project, COMPILERS[number])?.succeeded()?.run()?.0);
    let printed = known[number].get_or_init(find);
    printed.as_deref().map_err(String::clone)
}

fn as_without_us(project: &Project, known: &Printed) -> Outcome<()> {
    // From the last one on: the other test of the project builds with the first one meanwhile.
    for (number, compilers) in COMPILERS.iter().enumerate().rev() {
        let printed = printed(known, project, number)?;
        let built = measured(project, *compilers, false, &[])?;
        let text = built.succeeded()?.text();
        if ours(&text).next().is_some() {
            return Err(format!("{compilers:?}: {text}"));
        }
        project
            .check(&built, printed)
            .map_err(|why| format!("{compilers:?}: {why}"))?;
    }
    Ok(())
}

/// A build system sees the same of each fault. So one project meets them all.
fn faults_for(project: &Project) -> &'static [&'static str] {
    match project.name.as_str() {
        "make" => &["text", "panic"],
        _ => &["text"],
    }
}

fn with_a_broken_instrumenter(project: &Project, known: &Printed) -> Outcome<()> {
    let compilers = COMPILERS[0];
    let printed = printed(known, project, 0)?;
    for &fault in faults_for(project) {
        let built = measured(project, compilers, true, &[("ROMP_FAULT", fault)])?;
        let (again, profiles) = built.succeeded()?.run()?;
        if again != printed || !profiles.is_empty() {
            return Err(format!(
                "{fault}: {again:?} instead of {printed:?}, {profiles:?}"
            ));
        }
        project
            .check_warnings(&built)
            .map_err(|why| format!("{fault}: {why}"))?;
    }
    let strict = [("ROMP_FAULT", "text"), ("ROMP_STRICT", "1")];
    match measured(project, compilers, true, &strict)?.succeeded() {
        Ok(_) => Err("a strict build succeeds with a broken instrumenter".into()),
        Err(why) if ours(&why).any(|said| said.starts_with("error: ")) => Ok(()),
        Err(why) => Err(format!("a strict build does not say why it fails: {why}")),
    }
}

/// Two tests for each project.
macro_rules! projects {
    ($($name:ident = $folder:literal),* $(,)?) => {
        $(mod $name {
            static PRINTED: super::Printed = [const { std::sync::OnceLock::new() }; super::COMPILERS.len()];

            #[test]
            fn is_built_as_without_us() {
                let project = tests::project::Project::read($folder);
                let done = project.and_then(|project| super::as_without_us(&project, &PRINTED));
                done.unwrap_or_else(|why| panic!("{why}"));
            }

            #[test]
            fn lives_through_a_broken_instrumenter() {
                let project = tests::project::Project::read($folder);
                let done = project.and_then(|project| super::with_a_broken_instrumenter(&project, &PRINTED));
                done.unwrap_or_else(|why| panic!("{why}"));
            }
        })*

        #[test]
        fn every_project_is_built() {
            let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/projects");
            let mut there: Vec<String> = std::fs::read_dir(folder)
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            there.sort();
            let mut known = vec![$($folder),*];
            known.sort_unstable();
            assert_eq!(there, known);
        }
    };
}

projects! {
    make = "make",
    cmake_c = "cmake-c",
    cmake_cxx = "cmake-cxx",
    cmake_fortran = "cmake-fortran",
    cmake_launcher = "launcher",
    cmake_package = "cmake-package",
    autoconf = "autoconf",
    meson = "meson",
    ccache = "ccache",
    shared = "shared",
    mpi = "mpi",
    names = "names",
    flags = "flags",
    libraries = "libraries",
    rust = "rust",
}
