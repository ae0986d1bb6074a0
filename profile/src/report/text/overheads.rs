//! The overhead analysis of the text report.

use std::io::{self, Write};

use super::layout::{self, Format, Line, PERCENT_WIDTH, banner, more, prose, room, shortened};
use super::place;
use super::shown_parts::ShownParts;
use crate::analysis::words::{percent, time};
use crate::analysis::{OverheadRow, ParallelRegion, Report, Share};
use crate::overheads::{BARRIER, Category, TOTAL};
use crate::report::sink::TextSink;

/// Width of the column with region numbers.
const ID_WIDTH: usize = 6;
/// The columns are narrower than elsewhere: there are six of them, and percentages.
const TIME_WIDTH: usize = 8;

pub(super) fn write(
    report: &Report<'_>,
    shown_parts: &ShownParts,
    out: &mut TextSink<'_>,
) -> io::Result<()> {
    banner("Romp Overhead Analysis Report", out)?;
    totals(report, out)?;
    if report.overheads.regions.is_empty() {
        return Ok(());
    }
    by_wall_time(report, shown_parts, out)?;
    writeln!(out, "\nOverheads wrt. each individual parallel region:")?;
    table(report, &report.overheads.of_each, None, shown_parts, out)?;
    writeln!(out, "\nOverheads wrt. whole program:")?;
    let sum = Some(&report.overheads.whole_sum);
    table(report, &report.overheads.of_whole, sum, shown_parts, out)?;
    writeln!(out)?;
    // Readers may not have ompP's manual.
    let total = TOTAL.trim_end_matches('.');
    prose(&format!("Total   = {total}"), 10, out)?;
    for category in Category::ALL {
        let text = format!("{:<8}= {}", category.name(), category.help());
        prose(&text, 10, out)?;
    }
    untold(report, out)
}

/// The times that were not measured, or only estimated.
fn untold(report: &Report<'_>, out: &mut TextSink<'_>) -> io::Result<()> {
    let overheads = &report.overheads;
    let mut estimated: Vec<usize> = overheads
        .places
        .iter()
        .filter(|place| place.is_estimated)
        .map(|place| place.region)
        .collect();
    estimated.sort_unstable();
    estimated.dedup();
    if overheads.untold_places.is_empty() && estimated.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    for place in &overheads.untold_places {
        let label = &report.labels[place.region];
        let text = format!(
            "Not known, work or overhead: {} ({}) in {} {} {}",
            time(place.time.ns),
            percent(place.time.percent),
            label.id,
            label.in_words(),
            why(report, place.region)
        );
        prose(text.trim_end(), 4, out)?;
    }
    for region in estimated {
        let label = &report.labels[region];
        let text = format!(
            "Estimated: waiting {BARRIER} {} {}",
            label.id,
            label.in_words()
        );
        prose(&format!("{text} {}", why(report, region)), 4, out)?;
    }
    Ok(())
}

fn why(report: &Report<'_>, region: usize) -> String {
    let what = report.not_measured(region);
    what.map(|what| format!("({what})")).unwrap_or_default()
}

fn totals(report: &Report<'_>, out: &mut TextSink<'_>) -> io::Result<()> {
    let overheads = &report.overheads;
    let largest = layout::decimals(overheads.duration_ns);
    let format = Format {
        width: 0,
        decimals: Some(largest),
    };
    let mut line = Line::default();
    line.text("Total runtime (wallclock)   : ")
        .number(overheads.duration_ns, format);
    let at_least = match overheads.threads_are_least {
        true => "at least ",
        false => "",
    };
    line.text(&format!(" s [{at_least}{} threads]", overheads.threads))
        .end(out)?;
    let number = overheads.parallel_regions;
    line.text(&format!("Number of parallel regions  : {number}"))
        .end(out)?;
    line.text("Parallel coverage           : ")
        .number(overheads.coverage.ns, format);
    line.text(&format!(" s ({:.2}%)", overheads.coverage.percent))
        .end(out)
}

fn by_wall_time(
    report: &Report<'_>,
    shown_parts: &ShownParts,
    out: &mut TextSink<'_>,
) -> io::Result<()> {
    writeln!(out, "\nParallel regions sorted by wallclock time:")?;
    let overheads = &report.overheads;
    let (regions, hidden) = shown_parts.of(&overheads.regions, |row| Some(row.region));
    let places: Vec<String> = regions
        .iter()
        .map(|region| place(&report.labels[region.region]))
        .collect();
    let width = places
        .iter()
        .map(|place| place.chars().count())
        .max()
        .unwrap_or(0);
    let width = width.max("Location".len());
    let format = Format::time(overheads.wall_sum.ns, TIME_WIDTH);
    let others = ID_WIDTH + 2 + 8 + 2 + 4 + format.width + PERCENT_WIDTH + 9;
    let width = room(width, others, out);
    let mut line = Line::default();
    line.spaces(ID_WIDTH + 2)
        .left("Type", 8)
        .spaces(2)
        .left("Location", width);
    line.right("Wallclock", format.width + 4)
        .right("(%)", PERCENT_WIDTH)
        .right("Threads", 9);
    line.end(out)?;
    for (region, place) in regions.into_iter().zip(&places) {
        let label = &report.labels[region.region];
        line.text(&label.id)
            .spaces(2)
            .left(label.kind.row().short_name, 8)
            .spaces(2);
        line.left(&shortened(place, width), width)
            .spaces(4)
            .number(region.wall.ns, format);
        line.percent(region.wall.percent)
            .right(&threads(region), 9)
            .end(out)?;
    }
    more(hidden, "more region", out)?;
    line.right("SUM", ID_WIDTH + 2 + 8 + 2 + width).spaces(4);
    line.number(overheads.wall_sum.ns, format)
        .percent(overheads.wall_sum.percent)
        .end(out)
}

/// The number of threads in the teams of a region.
fn threads(region: &ParallelRegion) -> String {
    match (region.is_outside, region.threads) {
        (false, threads) => threads.to_string(),
        (true, 0) => "-".to_owned(),
        (true, threads) => format!(">{threads}"),
    }
}

/// The columns, whose parts add up: `Ovhds = Synch + Imbal + Limpar + Mgmt`.
fn table(
    report: &Report<'_>,
    rows: &[OverheadRow],
    sum: Option<&OverheadRow>,
    shown_parts: &ShownParts,
    out: &mut TextSink<'_>,
) -> io::Result<()> {
    let all = || rows.iter().chain(sum);
    let total = Format::time(all().map(|row| row.total.ns).max().unwrap_or(0), TIME_WIDTH);
    // One format for all columns, so that readers see that they add up.
    let part = Format::time(
        all().map(|row| row.overhead.ns).max().unwrap_or(0),
        TIME_WIDTH,
    );
    let columns = 1 + Category::ALL.len();
    // Times and percentages; only percentages if there is not enough space for both.
    let whole = ID_WIDTH + total.width + columns * (2 + part.width + PERCENT_WIDTH);
    let part = (!out.is_narrower(whole)).then_some(part);
    let mut line = Line::default();
    line.spaces(ID_WIDTH).right("Total", total.width);
    let titles = Category::ALL.map(Category::name);
    for (index, title) in ["Ovhds"].into_iter().chain(titles).enumerate() {
        line.text(["  ", " =", " +"][index.min(2)]);
        match part {
            Some(part) => line.right(title, part.width).right("(%)", PERCENT_WIDTH),
            None => line.right(title, PERCENT_WIDTH),
        };
    }
    line.end(out)?;
    let (rows, hidden) = shown_parts.of(rows, |row| row.region);
    for row in rows {
        let id = row
            .region
            .map_or("serial", |region| report.labels[region].id.as_str());
        shares(line.text(id), row, total, part);
        line.end(out)?;
    }
    more(hidden, "more region", out)?;
    if let Some(sum) = sum {
        shares(line.right("SUM", ID_WIDTH), sum, total, part);
        line.end(out)?;
    }
    Ok(())
}

fn shares(line: &mut Line, row: &OverheadRow, total: Format, part: Option<Format>) {
    line.number(row.total.ns, total);
    let width = part.map_or(0, |part| part.width);
    for Share { ns, percent } in [row.overhead].into_iter().chain(row.by_category) {
        match (row.is_outside, part) {
            (true, _) => line.right("-", width + 2).spaces(PERCENT_WIDTH),
            (false, Some(part)) => line.spaces(2).number(ns, part).percent(percent),
            (false, None) => line.spaces(2).percent(percent),
        };
    }
}
