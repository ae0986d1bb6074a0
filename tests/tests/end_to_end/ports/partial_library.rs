//! Measurement libraries that have only some of the functions: `pomp_rest.c` has the others, and
//! text that was instrumented with `--partial-library` does not call them.

use std::path::Path;
use std::process::Command;

use tests::toolchain::Compiler;

use super::{Folder, bin, fixture};

/// How often functions of the library are called: what it prints.
#[derive(Clone, Copy)]
struct Told {
    loops: u32,
    teams: u32,
    criticals: u32,
    chunks: u32,
}

impl Told {
    fn printed(self) -> String {
        format!(
            "loops {}, teams {}, criticals {}, chunks {}\n",
            self.loops, self.teams, self.criticals, self.chunks
        )
    }

    fn all(self) -> u32 {
        self.loops + self.teams + self.criticals + self.chunks
    }
}

/// A program for a library with some of the functions.
struct Partly {
    /// Its fixture's name without the suffix.
    fixture: &'static str,
    /// The options of `romp instrument`.
    options: &'static [&'static str],
    /// The compilers, and the suffix that each takes.
    compilers: &'static [(&'static str, &'static str)],
    /// What the program prints.
    prints: &'static str,
    /// What the library is told.
    told: Told,
    /// How many calls of functions that the library lacks lead to another one that it has:
    /// `POMP_Parallel_fork_team` to OPARI 1's `POMP_Parallel_fork`.
    led_on: u32,
}

/// What a library is told by `all_of_pomp2`, in every language.
const ALL_OF_POMP2: Told = Told {
    loops: 9,
    teams: 3,
    criticals: 6,
    chunks: 0,
};

const PARTLY: &[Partly] = &[
    Partly {
        fixture: "all_of_pomp2",
        options: &[],
        compilers: &[
            ("gcc", "c"),
            ("clang", "c"),
            ("g++", "cpp"),
            ("clang++", "cpp"),
        ],
        prints: "n 22\n",
        told: ALL_OF_POMP2,
        led_on: 3,
    },
    Partly {
        fixture: "all_of_pomp2",
        options: &[],
        compilers: &[("gfortran", "f90"), ("gfortran", "f")],
        prints: "n 22\n",
        told: ALL_OF_POMP2,
        led_on: 0,
    },
    Partly {
        fixture: "chunks",
        options: &["--chunks"],
        compilers: &[
            ("gcc", "c"),
            ("clang", "c"),
            ("g++", "cpp"),
            ("clang++", "cpp"),
        ],
        prints: "n 28\n",
        told: Told {
            loops: 7,
            teams: 2,
            criticals: 0,
            chunks: 10,
        },
        led_on: 2,
    },
    Partly {
        fixture: "chunks",
        options: &["--chunks"],
        compilers: &[("gfortran", "f90"), ("gfortran", "f")],
        prints: "n 18\n",
        told: Told {
            loops: 6,
            teams: 1,
            criticals: 0,
            chunks: 6,
        },
        led_on: 0,
    },
];

/// Does something with each program and each of its compilers.
fn each(check: impl Fn(&Partly, &str, &str)) {
    for case in PARTLY {
        for (compiler, suffix) in case.compilers {
            check(case, compiler, suffix);
        }
    }
}

/// How a library is linked.
const LINKED: &[&[&str]] = &[&["some.o"], &["libsome.a"]];
/// How a library is shared. Without a name, it is preloaded.
const SHARED: &[&[&str]] = &[&["-L.", "-l:libsome.so"], &[]];

/// A library that has some functions, linked or loaded in every way: these are called,
/// and the program does the same as without the library.
#[test]
fn a_library_with_some_of_the_functions_is_enough() {
    each(|case, compiler, suffix| {
        let program = Built::new(case, compiler, suffix, &[]);
        for library in [LINKED, SHARED].concat() {
            program.runs(Some(library), case.told.printed());
        }
        program.runs(None, String::new());
    });
}

/// Text that asks calls what the library has as often as other text does, and nothing else. What
/// stands in for functions of a shared library is called, since it calls these.
#[test]
fn nothing_is_called_that_the_library_lacks() {
    each(|case, compiler, suffix| {
        let (told, printed) = (case.told, case.told.printed());
        let asking = Built::new(case, compiler, suffix, &["--partial-library"]);
        for library in LINKED {
            let calls = asking.runs(Some(library), printed.clone());
            assert_eq!(calls, case.led_on, "{compiler} {suffix} {library:?}");
        }
        for library in SHARED {
            let calls = asking.runs(Some(library), printed.clone());
            assert_eq!(calls, told.all() + case.led_on, "{compiler} {suffix}");
        }
        assert_eq!(asking.runs(None, String::new()), 0, "{compiler} {suffix}");
        // The calls that other text makes are counted.
        let other = Built::new(case, compiler, suffix, &[]);
        assert!(other.runs(None, String::new()) > told.all());
    });
}

/// The object of an instrumented program, and libraries, in a folder.
struct Built<'a> {
    case: &'a Partly,
    compiler: String,
    place: Folder,
}

impl<'a> Built<'a> {
    fn new(case: &'a Partly, compiler: &str, suffix: &str, options: &[&str]) -> Self {
        let rest =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../pomp-runtime/include/pomp_rest.c");
        let place = Folder::new();
        let compiler = Compiler::find(compiler).unwrap().name;
        let (source, text) = (format!("source.{suffix}"), format!("instrumented.{suffix}"));
        let written_in = if suffix.starts_with('f') { "f90" } else { "c" };
        let program = fixture(&format!("{}.{written_in}", case.fixture));
        std::fs::copy(program, place.0.path().join(&source)).unwrap();
        let mut romp = Command::new(bin().join("romp"));
        romp.arg("instrument").args(case.options).args(options);
        place.run(romp.args(["-o", &text, &source]));
        let warnings = ["-Wall", "-Wextra", "-Werror"];
        place.run(
            Command::new(&compiler)
                .args(["-fopenmp", "-c", "-o", "program.o", &text])
                .args(warnings)
                // The user's `pomp` directives stay in the text.
                .args((compiler != "gfortran").then_some("-Wno-unknown-pragmas")),
        );
        // Each call of a stand-in is counted but those of locks, which call OpenMP's routines.
        let uncounted = "find,is_there,as_routine,step_of,lock";
        place.run(
            Command::new("gcc")
                .args(["-c", "-Wall", "-Werror", "-finstrument-functions"])
                .arg(format!(
                    "-finstrument-functions-exclude-function-list={uncounted}"
                ))
                .arg(&rest),
        );
        place.library("some_of_pomp.c", "libsome.so");
        for (source, object) in [("some_of_pomp.c", "some.o"), ("stand_ins.c", "counts.o")] {
            place.run(
                Command::new("gcc")
                    .args(["-c", "-o", object])
                    .arg(fixture(source)),
            );
        }
        place.run(Command::new("ar").args(["rcs", "libsome.a", "some.o"]));
        Self {
            case,
            compiler,
            place,
        }
    }

    /// Links the program and runs it, with a library or without. It prints what it prints alone,
    /// and what the library says. Gives the number of calls of stand-ins.
    fn runs(&self, library: Option<&[&str]>, told: String) -> u32 {
        let place = &self.place;
        place.run(
            Command::new(&self.compiler)
                .args(["-fopenmp", "-Wl,-rpath,.", "-o", "program", "program.o"])
                .args(library.unwrap_or_default())
                .args(["pomp_rest.o", "counts.o", "-ldl"]),
        );
        let mut run = place.program();
        if library.is_some_and(<[&str]>::is_empty) {
            run.env("LD_PRELOAD", "./libsome.so");
        }
        let printed = place.run(&mut run);
        // The library and the counter print when the program ends, in any order.
        let (counted, others): (Vec<&str>, Vec<&str>) = printed
            .split_inclusive('\n')
            .partition(|line| line.starts_with("stand-ins "));
        let expected = [self.case.prints, &told].concat();
        assert_eq!(others.concat(), expected, "{} {library:?}", self.compiler);
        let [counted] = counted[..] else {
            panic!("{printed}");
        };
        counted["stand-ins ".len()..].trim().parse().unwrap()
    }
}
