//! `romp instrument --verify`: checks for one result that no text of the user was changed, and
//! that every region that is entered is left.

use std::collections::BTreeMap;

use memchr::memmem;

use crate::find::{Reading, front_end};
use crate::openmp::{Event, Language};
use crate::plan::{Fragment, Plan};
use crate::{Instrumented, Source};

/// A defect of a result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Defect {
    /// Removing the edits does not give the input back.
    #[error("removing the edits does not give the input back")]
    StripBack,
    /// Code outside the edits was read differently before and after.
    #[error("byte {0} of the input is read differently in the output")]
    Tokens(usize),
    /// An event has no partner.
    #[error("region {region}: {event:?} has no partner")]
    Unpaired {
        /// The event.
        event: Event,
        /// The region's number.
        region: usize,
    },
    /// The end of a construct is in doubt.
    #[error("two ways of finding the end of the directive at byte {0} do not agree")]
    Extent(usize),
    /// The output has syntax errors that the input does not have.
    #[error("the output has syntax errors that the input has not")]
    Syntax,
}

/// Checks a result.
///
/// # Errors
/// The first defect.
pub fn verify(source: &Source, result: &Instrumented) -> Result<(), Defect> {
    verify_read(&*front_end(source.language).read(source), source, result)
}

/// Checks the result of a source that was already read.
///
/// # Errors
/// The first defect.
pub fn verify_read(
    reading: &dyn Reading,
    source: &Source,
    result: &Instrumented,
) -> Result<(), Defect> {
    if result.applied.strip_back() != source.text {
        return Err(Defect::StripBack);
    }
    let output = Source {
        text: result.text().to_vec(),
        ..source.clone()
    };
    same_tokens(source, &output, result)?;
    if let Some(at) = reading.disagreement() {
        return Err(Defect::Extent(at));
    }
    paired_events(&result.plan)?;
    let output = as_grammars_know(output, result);
    if result.applied.edits.is_empty() {
        return Ok(());
    }
    // If the grammar does not understand the input, errors in the output tell nothing.
    let has_errors = front_end(source.language).read(&output).has_errors();
    match has_errors == Some(true) && reading.has_errors() == Some(false) {
        true => Err(Defect::Syntax),
        false => Ok(()),
    }
}

/// Inserted spellings that a grammar does not know, each with an equivalent that it knows.
const SPELLINGS: &[(&[u8], &[u8])] = &[(b"__typeof__", b"decltype  "), (b"long(", b"int (")];

/// The output, with inserted text spelled as grammars know it.
fn as_grammars_know(mut output: Source, result: &Instrumented) -> Source {
    if output.language == Language::Cxx {
        for edit in &result.applied.edits {
            let inserted = &mut output.text[edit.new.clone()];
            for (ours, known) in SPELLINGS {
                let places: Vec<usize> = memmem::find_iter(inserted, ours).collect();
                for at in places {
                    inserted[at..at + ours.len()].copy_from_slice(known);
                }
            }
        }
    }
    output
}

/// Checks that tokens are the same: every token of the output that was not inserted begins and
/// ends where a token of the input does, and every token of the input that was not removed is
/// in the output.
fn same_tokens(source: &Source, output: &Source, result: &Instrumented) -> Result<(), Defect> {
    let front_end = front_end(source.language);
    let removed = |at: usize| result.applied.removes(at);
    let before: Vec<_> = front_end
        .token_ranges(source)
        .into_iter()
        .filter(|range| !removed(range.start))
        .collect();
    let original = |at: usize| result.applied.original_offset(at);
    let after: Vec<_> = front_end
        .token_ranges(output)
        .into_iter()
        .filter_map(|range| Some(original(range.start)?..original(range.end - 1)? + 1))
        .collect();
    match before
        .iter()
        .zip(&after)
        .find(|(before, after)| before != after)
    {
        Some((before, _)) => Err(Defect::Tokens(before.start)),
        None if before.len() != after.len() => Err(Defect::Tokens(source.text.len())),
        None => Ok(()),
    }
}

/// Checks that events of one region open and close like brackets, in the order of the text.
fn paired_events(plan: &Plan) -> Result<(), Defect> {
    let mut insertions: Vec<_> = plan.insertions.iter().collect();
    insertions.sort_by_key(|insertion| (insertion.at, insertion.order));
    // The number of open regions for each opening event.
    let mut open: BTreeMap<(usize, Event), usize> = BTreeMap::new();
    for item in insertions.iter().flat_map(|insertion| &insertion.items) {
        let Fragment::Probe(event, region) = item else {
            continue;
        };
        // Alternatives of a conditional may close in any order.
        match event.opened_by() {
            None => *open.entry((*region, *event)).or_default() += 1,
            Some(partner) => {
                let opened = open
                    .get_mut(&(*region, partner))
                    .filter(|count| **count > 0);
                *opened.ok_or(Defect::Unpaired {
                    event: *event,
                    region: *region,
                })? -= 1;
            }
        }
    }
    match open.into_iter().find(|(_, count)| *count > 0) {
        Some(((region, event), _)) => Err(Defect::Unpaired { event, region }),
        None => Ok(()),
    }
}
