//! The ranks of a merged profile, one line each.

use std::io;

use super::layout::{COLUMN_WIDTH, Format, Line, PERCENT_WIDTH, banner};
use crate::analysis::{Rank, Report};
use crate::overheads::Category;
use crate::printable::printable;
use crate::report::sink::TextSink;

const NUMBER_WIDTH: usize = 6;
const THREADS_WIDTH: usize = 9;

/// Writes the section, if there are ranks.
pub(super) fn write(report: &Report<'_>, out: &mut TextSink<'_>) -> io::Result<()> {
    let ranks = &report.ranks;
    if ranks.is_empty() {
        return Ok(());
    }
    banner("Romp Ranks (percent of each one's own time)", out)?;
    let widest = ranks.iter().map(|rank| rank.run.host.chars().count());
    let host = widest.max().unwrap_or(0).max("Host".len());
    let largest = |of: fn(&Rank) -> u64| ranks.iter().map(of).max().unwrap_or(0);
    let duration = Format::time(largest(|rank| rank.run.duration_ns), COLUMN_WIDTH);
    let lost = Format::time(largest(|rank| rank.overheads.overhead.ns), COLUMN_WIDTH);
    let mut line = Line::default();
    line.right("Rank", NUMBER_WIDTH)
        .spaces(2)
        .left("Host", host)
        .right("Threads", THREADS_WIDTH)
        .right("Duration", duration.width)
        .spaces(2)
        .left("Parallel", PERCENT_WIDTH)
        .right("Ovhds", lost.width)
        .right("(%)", PERCENT_WIDTH);
    for category in Category::ALL {
        line.spaces(2).left(category.name(), PERCENT_WIDTH);
    }
    line.end(out)?;
    for rank in ranks {
        line.right(&rank.number.to_string(), NUMBER_WIDTH)
            .spaces(2)
            .left(&printable(&rank.run.host), host)
            .right(&rank.run.max_threads.to_string(), THREADS_WIDTH)
            .number(rank.run.duration_ns, duration)
            .spaces(2)
            .percent(rank.coverage.percent)
            .number(rank.overheads.overhead.ns, lost)
            .percent(rank.overheads.overhead.percent);
        for share in rank.overheads.by_category {
            line.spaces(2).percent(share.percent);
        }
        line.end(out)?;
    }
    Ok(())
}
