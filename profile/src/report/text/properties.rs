//! ompP's performance properties in the text report.

use std::io::{self, Write};

use super::layout::{banner, paragraph};
use super::place;
use crate::analysis::Report;

pub(super) fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    banner("Romp Performance Properties Report", out)?;
    let (shown, trifles): (Vec<_>, Vec<_>) = report
        .properties
        .iter()
        .partition(|property| property.severity.percent >= report.least_severity);
    let least = report.least_severity;
    for (number, property) in shown.iter().enumerate() {
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
        paragraph(&property.sentence, 4, out)?;
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
