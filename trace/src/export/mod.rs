//! Traces in the formats of other tools: one file a format.

mod chrome;
mod folded;
mod lanes;
mod paraver;

use std::io;

use profile::region_kind::PseudoRegion;

use crate::depend::depends;
use crate::read::{ReadError, Trace};
use crate::replay::Open;

pub use chrome::chrome;
pub use folded::folded;
pub use lanes::{Host, Lane, lanes, place};
pub use paraver::{paraver, paraver_names, paraver_threads};

/// Why a trace was not exported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The trace cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The export cannot be written.
    #[error(transparent)]
    Write(#[from] io::Error),
}

/// A region as it is named in all formats.
#[must_use]
pub fn region(trace: &Trace, number: u32) -> String {
    let region = trace.region(number);
    region.map_or_else(|| "?".to_owned(), crate::stats::short_name)
}

/// A phase as it is named; none for the region itself.
#[must_use]
pub fn phase(open: &Open) -> Option<&'static str> {
    use PseudoRegion::{Body, Enter, Exit, Ibarr, Main, Seq};
    match open.phase {
        Main | Seq => None,
        Enter => Some("enter"),
        Body => Some("body"),
        Ibarr => Some("implicit barrier"),
        Exit => Some("exit"),
    }
}

/// The dependences of a region's tasks, such as `inout:a[i]`; empty if there are none.
#[must_use]
pub fn depends_on(trace: &Trace, region: u32) -> Vec<String> {
    let region = trace.region(region);
    let directive = region.and_then(|region| region.directive.as_deref());
    let depends = directive.map(depends).unwrap_or_default().into_iter();
    depends
        .map(|on| format!("{}:{}", on.kind, on.item))
        .collect()
}
