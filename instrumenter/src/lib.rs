//! Source in, instrumented source out.
//!
//! ```text
//! find  -> directives, extents of what they govern, calls    (one front end per language)
//! nest  -> the tree of constructs
//! plan  -> recipes at positions, clauses, regions            (knows no language)
//! spell -> text                                              (decides nothing)
//! edit  -> the new text and the map back                     (knows no OpenMP)
//! ```
//!
//! Invariants: a front end knows nothing about probes; `plan` names no language; `spell`
//! decides nothing; `edit` knows bytes and order only.

#![deny(unsafe_code)]

pub mod api;
pub mod cli;
pub mod diagnostic;
pub mod edit;
pub mod find;
mod hashes;
pub mod list;
mod markers;
pub mod names;
pub mod nest;
pub mod openmp;
pub mod plan;
pub mod source;
pub mod spell;
pub mod verify;
pub mod wrapper;

use std::collections::BTreeSet;
use std::io::IsTerminal as _;

use memchr::memmem;

use api::Api;
use diagnostic::{Diagnostic, Severity};
use edit::Applied;
use find::Reading;
use find::lines::LineMap;
use openmp::Language;
use plan::{Decision, Plan};
use spell::c::CSpeller;
use spell::fortran::FortranSpeller;
use spell::{Speller, Surroundings};

pub use profile::group::Groups;
pub use source::Source;

/// Options of instrumenting.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Distinguishes the names that this translation unit defines from those of
    /// every other one in the program; letters, digits and `_`.
    pub unique: String,
    /// The constructs that are not instrumented.
    pub disabled: Disabled,
    /// No code is made for a device: the code in `target` constructs runs on the host and is
    /// instrumented.
    pub host_only: bool,
    /// Directives that the compiler does not know. An earlier plan without this option lists
    /// the directives to ask about.
    pub unknown: BTreeSet<String>,
    /// Make the chunks of loops traceable.
    pub chunks: bool,
    /// The compiler warns of calls without an explicit interface, so every inserted call must
    /// have one. Only for Fortran.
    pub explicit_interfaces: bool,
    /// The compiler accepts no line marker between the lines of a statement. Only for Fortran.
    pub whole_statements: bool,
    /// The standard in force has no `block` construct, so nothing can be declared between
    /// statements. Only for Fortran.
    pub without_blocks: bool,
    /// The text has no `#line` and no line markers, for tools that read it next.
    pub without_lines: bool,
    /// For debug information and coverage, the added code gets a line number of its own instead
    /// of the user's line numbers.
    pub apart: bool,
    /// The maps for file names in descriptors.
    pub prefix_maps: names::PrefixMaps,
    /// Descriptors have the hashes of the source's files, which are read for that.
    pub has_hashes: bool,
    /// The interface whose functions are called.
    pub api: Api,
    /// The library may lack functions: each call is made only if it has the function.
    pub partial_library: bool,
}

/// Groups of constructs that are not instrumented.
#[derive(Clone, Debug, Default)]
pub struct Disabled {
    /// The groups.
    pub groups: Groups,
    /// Ignore the directives of POMP, including those that switch measurement.
    pub pomp: bool,
    /// The origin of the request: `--disable` or the name of a variable.
    pub by: &'static str,
}

/// The result of instrumenting a source.
#[derive(Debug)]
pub struct Instrumented {
    /// The number of constructs and lock calls that got probes.
    pub instrumented: usize,
    /// Messages for the user, already rendered, in source order.
    pub warnings: Vec<String>,
    /// The plan.
    pub plan: Plan,
    /// The new text and the edits that led to it. The text equals the input if nothing was
    /// instrumented.
    pub applied: Applied,
    /// The map from offsets of the source to the lines that the compiler counts.
    pub lines: LineMap,
}

impl Instrumented {
    /// The new text.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        &self.applied.text
    }
}

/// Instruments one source. Never fails: a construct that can't be instrumented is left alone,
/// with a warning.
#[must_use]
pub fn instrument(source: &Source, options: &Options) -> Instrumented {
    let front_end = find::front_end(source.language);
    instrument_read(&*front_end.read(source), source, options)
}

/// Instruments a source that was already read.
#[must_use]
pub fn instrument_read(reading: &dyn Reading, source: &Source, options: &Options) -> Instrumented {
    let front_end = find::front_end(source.language);
    let mut found = reading.find();
    if options.explicit_interfaces && source.language == Language::Fortran {
        found.declaring.push(0..source.text.len() + 1);
    }
    nest::bound_depth(&mut found);
    let nesting = nest::nest(&found);
    // Only libpomp knows chunks.
    let chunks = options.chunks && options.api == Api::Pomp;
    let loops = chunks.then(|| reading.loops());
    let is_tool = memmem::find(&source.text, b"ompt_start_tool").is_some();
    let plan = plan::plan(&found, &nesting, options, loops.as_deref(), is_tool);
    let around = Surroundings {
        name: &source.name,
        unique: &options.unique,
        lines: &found.lines,
        declaring: &nesting.declaring,
        explicit_interfaces: options.explicit_interfaces,
        whole_statements: options.whole_statements,
        without_lines: options.without_lines,
        apart: options.apart,
        asks: asks(options, source.language),
    };
    let begin = front_end.text_begin(&source.text);
    let mut speller = speller(&plan, around, source, options.api);
    if front_end.is_preprocessed(&source.text) {
        speller = Box::new(markers::WithMarkers(speller));
    }
    let made = spell::apply(&plan, speller.as_ref(), &source.text, begin);
    drop(speller);
    let (applied, defect) = match made {
        Ok(applied) => (applied, None),
        Err(error) => (untouched(source), Some(error.to_string())),
    };
    let mut warnings = warnings(source, &plan, &found.lines);
    warnings.extend(defect.map(|defect| {
        diagnostic::file_error(
            names::shown(&source.name).as_ref(),
            &format!("not instrumented: {defect}"),
            "this is a defect of romp; please report it with this file",
        )
    }));
    let instrumented = if applied.edits.is_empty() {
        0
    } else {
        plan.regions.len()
    };
    Instrumented {
        instrumented,
        warnings,
        plan,
        applied,
        lines: found.lines,
    }
}

/// The speller for a source's language.
fn speller<'a>(
    plan: &'a Plan,
    around: Surroundings<'a>,
    source: &Source,
    api: Api,
) -> Box<dyn Speller + 'a> {
    match source.language {
        Language::Fortran => Box::new(FortranSpeller::new(plan, around, source.layout, api)),
        language => Box::new(CSpeller::new(plan, around, language, api)),
    }
}

/// Whether calls are made only if the library has the function. In Fortran a block has to declare
/// what this needs. A branch of ours would count in the user's coverage.
fn asks(options: &Options, language: Language) -> bool {
    let has_room = language != Language::Fortran || !options.without_blocks;
    options.partial_library && options.api == Api::Pomp && has_room && !options.apart
}

fn untouched(source: &Source) -> Applied {
    Applied {
        text: source.text.clone(),
        edits: Vec::new(),
    }
}

/// One warning for each construct that should be measured but is not.
fn warnings(source: &Source, plan: &Plan, lines: &LineMap) -> Vec<String> {
    let color = std::io::stderr().is_terminal();
    let left_alone = plan
        .listing
        .iter()
        .filter_map(|listed| match &listed.outcome {
            Decision::LeftAlone { reason } => Some((listed, reason)),
            _ => None,
        });
    left_alone
        .map(|(listed, reason)| {
            let message = format!("this directive is not instrumented: {reason}");
            if find::front_end(source.language).is_preprocessed(&source.text) {
                // The text at this place is not what the user wrote, so it is not shown.
                return diagnostic::at_line(lines.presumed(listed.offset), &message);
            }
            Diagnostic {
                severity: Severity::Warning,
                message,
                range: listed.offset..listed.offset + 1,
                help: Some("it runs as written and is missing in the profile".into()),
            }
            .render(&names::shown(&source.name), &source.text, lines, color)
        })
        .collect()
}
