//! What a part of the code must not know, as ARCHITECTURE.md says: which files must not name
//! which modules.

use super::paths::{files_for_tests, paths};
use super::sources::Source;

/// Files below `from` don't name paths that begin with one of `names`.
struct Border {
    /// A file without `.rs`, or a folder with a slash at its end.
    from: &'static str,
    /// Paths of modules: `crate::` for one of the crate itself.
    names: &'static [&'static str],
    /// Why not.
    reason: &'static str,
}

const BORDERS: &[Border] = &[
    Border {
        from: "instrumenter/src/find/",
        names: &[
            "crate::openmp::events",
            "crate::openmp::recipes",
            "crate::nest",
            "crate::plan",
            "crate::spell",
            "crate::edit",
            "crate::wrapper",
            "crate::cli",
        ],
        reason: "a front end never sees a probe",
    },
    Border {
        from: "instrumenter/src/openmp/",
        names: &[
            "crate::find",
            "crate::nest",
            "crate::plan",
            "crate::spell",
            "crate::edit",
            "crate::wrapper",
            "crate::cli",
        ],
        reason: "the tables know only OpenMP",
    },
    Border {
        from: "instrumenter/src/nest",
        names: &[
            "crate::openmp::events",
            "crate::openmp::recipes",
            "crate::plan",
            "crate::spell",
        ],
        reason: "nesting is known before anything is decided",
    },
    Border {
        from: "instrumenter/src/plan/",
        names: &[
            "crate::openmp::Language",
            "crate::find::c",
            "crate::find::fortran",
            "crate::spell",
            "crate::source",
            "crate::wrapper",
            "crate::cli",
        ],
        reason: "the plan names no language",
    },
    Border {
        from: "instrumenter/src/spell/",
        names: &[
            "crate::openmp::recipes",
            "crate::openmp::clauses",
            "crate::openmp::directives",
            "crate::nest::Construct",
            "crate::plan::decide",
            "crate::plan::split",
            "crate::find::c",
            "crate::find::fortran",
            "crate::wrapper",
            "crate::cli",
        ],
        reason: "a speller decides nothing",
    },
    Border {
        from: "instrumenter/src/edit",
        names: &[
            "crate::openmp",
            "crate::find",
            "crate::nest",
            "crate::plan",
            "crate::spell",
            "profile",
        ],
        reason: "an edit knows no OpenMP",
    },
    Border {
        from: "pomp-runtime/src/sources/",
        names: &[
            "crate::result",
            "crate::measure::calls",
            "crate::measure::trace",
        ],
        reason: "a source never calls what records",
    },
    Border {
        from: "pomp-runtime/src/measure/",
        names: &["crate::sources", "crate::result", "crate::run"],
        reason: "what records knows no source, and not what becomes of its records",
    },
    Border {
        from: "pomp-runtime/src/result/",
        names: &["crate::sources", "crate::run"],
        reason: "a result knows neither who reported nor who writes",
    },
    Border {
        from: "profile/src/analysis/",
        names: &["crate::report"],
        reason: "an analysis knows no report",
    },
    Border {
        from: "profile/src/",
        names: &["instrumenter", "pomp_runtime", "trace", "otf2"],
        reason: "profile is linked with every program",
    },
    Border {
        from: "trace/src/",
        names: &["instrumenter", "pomp_runtime", "otf2"],
        reason: "trace is linked with every program",
    },
    Border {
        from: "instrumenter/src/",
        names: &["pomp_runtime", "pomp_run"],
        reason: "constructors and exported symbols belong in measured programs only",
    },
    Border {
        from: "pomp-runtime/src/",
        names: &["instrumenter", "otf2"],
        reason: "a program carries nothing that reads sources or archives",
    },
];

/// Whether a file stands on this side of a border.
fn is_from(source: &Source, from: &str) -> bool {
    let stem = source.path.trim_end_matches(".rs");
    match from.ends_with('/') {
        true => source.path.starts_with(from),
        false => stem == from || stem.starts_with(&format!("{from}/")),
    }
}

/// Each name that crosses a border, with its file. Files for tests alone may name anything.
/// Borders without any file are reported as well, since they check nothing.
pub(super) fn crossings(sources: &[Source]) -> Vec<String> {
    let for_tests = files_for_tests(sources);
    let mut wrong = Vec::new();
    for border in BORDERS {
        let inside: Vec<&Source> = sources
            .iter()
            .filter(|source| is_from(source, border.from))
            .collect();
        if inside.is_empty() {
            wrong.push(format!("{}: nothing is there", border.from));
        }
        for source in inside
            .iter()
            .filter(|source| !for_tests.contains(&source.path))
        {
            for path in paths(source) {
                let is_crossed = |name: &&&str| {
                    path.strip_prefix(**name)
                        .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
                };
                if border.names.iter().any(|name| is_crossed(&name)) {
                    wrong.push(format!("{} names {path}: {}", source.path, border.reason));
                }
            }
        }
    }
    wrong
}
