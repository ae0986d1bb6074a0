//! ompP's performance properties in the text report.

use std::io::{self, Write};

use super::layout::{banner, more, paragraph};
use super::place;
use super::shown_parts::ShownParts;
use crate::analysis::Report;
use crate::report::sink::TextSink;

/// The most properties that are shown if not everything is shown.
const MOST_PROPERTIES: usize = 20;

/// Advice is repeated if it has at most this many characters.
const SHORT: usize = 40;

/// The meaning of a property, and its difference from a cause.
const WHAT: &str = "A property is thread time that one region lost, by ompP's definitions, in percent of all \
                    thread time. A loss outside of regions, such as the serial part, is no property. The \
                    summary on top says which change would win most elapsed time.";

pub(super) fn write(
    report: &Report<'_>,
    shown_parts: &ShownParts,
    out: &mut TextSink<'_>,
) -> io::Result<()> {
    banner("Romp Performance Properties Report", out)?;
    let (shown, trifles): (Vec<_>, Vec<_>) = report
        .properties
        .iter()
        .partition(|property| property.severity.percent >= report.least_severity);
    let least = report.least_severity;
    let (named, hidden) = match shown_parts.is_whole() {
        true => (shown.as_slice(), 0),
        false => {
            let most = shown.len().min(MOST_PROPERTIES);
            (&shown[..most], shown.len() - most)
        }
    };
    paragraph(WHAT, 0, out)?;
    writeln!(out)?;
    for (number, property) in named.iter().enumerate() {
        if number > 0 {
            writeln!(out)?;
        }
        let label = &report.labels[property.region];
        writeln!(
            out,
            "Property P{:05} '{}' holds for '{} {}', with a severity (in percent) of {:.2}",
            number + 1,
            property.row.name,
            label.kind.row().full_name,
            place(label),
            property.severity.percent
        )?;
        let said = named[..number]
            .iter()
            .find(|it| it.remedy == property.remedy);
        match said.filter(|_| property.remedy.len() > SHORT) {
            Some(_) => paragraph(&format!("{}; see above.", property.what), 4, out)?,
            None => paragraph(&property.sentence(), 4, out)?,
        }
    }
    if hidden > 0 {
        writeln!(out)?;
        more(hidden, "less severe one", out)?;
    }
    match (shown.len(), trifles.len()) {
        (0, _) => writeln!(
            out,
            "None holds with a severity of {least} percent or more."
        ),
        (_, 0) => Ok(()),
        (_, rest) => {
            let noun = if rest == 1 { "holds" } else { "hold" };
            writeln!(
                out,
                "\n{rest} more {noun} with less than {least} percent; --min-percent 0 shows them."
            )
        }
    }
}
