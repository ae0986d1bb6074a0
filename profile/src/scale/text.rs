//! Scaling as text: the whole program by number of threads, the places that lose most, the
//! limits, and the forecast for twice as many threads.

use std::io::{self, Write};

use super::{Amounts, Forecast, Part, Scaling, Width, limit};
use crate::analysis::words::{count, percent, time};
use crate::report::sink::{Style, TextSink};
use crate::report::text::layout::prose;

/// The most places that are shown; further ones are counted.
const MOST_PLACES: usize = 20;

pub(super) fn write(scaling: &Scaling, out: &mut dyn Write) -> io::Result<()> {
    write_styled(scaling, Style::default(), out)
}

/// Writes how a program scales as text in a style.
///
/// # Errors
/// If writing to `out` fails.
pub fn write_styled(scaling: &Scaling, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut sink = TextSink::new(out, style);
    let out = &mut sink;
    let judged = &scaling.widths[scaling.judged];
    limits(scaling, judged, out)?;
    for note in &scaling.notes {
        prose(&format!("Note: {note}."), 6, out)?;
    }
    writeln!(out)?;
    let parts = shown_parts(scaling);
    widths(scaling, &parts, out)?;
    writeln!(out)?;
    places(scaling, judged, &parts, out)?;
    if let Some(forecast) = &scaling.forecast {
        writeln!(out)?;
        self::forecast(forecast, judged, out)?;
    }
    out.flush()
}

fn limits(scaling: &Scaling, judged: &Width, out: &mut TextSink<'_>) -> io::Result<()> {
    let base = &scaling.widths[0];
    let headline = format!(
        "{}: {:.2} times as fast with {} as with {} ({} of ideal).",
        scaling.application,
        judged.speedup,
        count(judged.threads, "thread"),
        base.threads,
        percent(100.0 * judged.efficiency)
    );
    out.strong(|out| prose(&headline, 2, out))?;
    if scaling.limits.is_empty() {
        return prose(&limit::nothing(judged), 2, out);
    }
    for (number, limit) in scaling.limits.iter().enumerate() {
        prose(&format!("{}. {}.", number + 1, limit.found), 3, out)?;
        prose(&format!("   {}.", limit.advice), 3, out)?;
    }
    Ok(())
}

/// The parts with a loss large enough to be visible.
fn shown_parts(scaling: &Scaling) -> Vec<Part> {
    let is_seen = |lost: &Amounts, width: &Width, part: Part| {
        let ns = width.elapsed(lost.of(part)).unsigned_abs();
        1000 * ns >= u128::from(width.duration_ns)
    };
    let any = |part: &Part| {
        let widths = scaling.widths.iter().enumerate();
        widths.into_iter().any(|(index, width)| {
            let places = scaling.places.iter();
            let lost = places.map(|place| &place.at[index].lost);
            lost.chain([&width.lost])
                .any(|lost| is_seen(lost, width, *part))
        })
    };
    Part::ALL.into_iter().filter(any).collect()
}

/// A time that may be negative.
fn signed(ns: i128) -> String {
    let sign = if ns < 0 { "-" } else { "" };
    let size = u64::try_from(ns.unsigned_abs()).unwrap_or(u64::MAX);
    format!("{sign}{}", time(size))
}

fn widths(scaling: &Scaling, parts: &[Part], out: &mut TextSink<'_>) -> io::Result<()> {
    let has_repeats = scaling.widths.iter().any(|width| width.duration.runs > 1);
    let mut titles = vec!["threads", "time"];
    if has_repeats {
        titles.push("of all runs");
    }
    titles.extend(["speed-up", "of ideal", "lost"]);
    let mut rows = vec![title_row(&titles, parts)];
    for width in &scaling.widths {
        let mut row = vec![width.threads.to_string(), time(width.duration_ns)];
        if has_repeats {
            let of = &width.duration;
            row.push(format!("{} .. {}", time(of.low), time(of.high)));
        }
        row.push(format!("{:.2}", width.speedup));
        row.push(percent(100.0 * width.efficiency));
        row.extend(lost(&width.lost, width, parts));
        rows.push(row);
    }
    table(&rows, titles.len() + parts.len(), out)?;
    writeln!(out)?;
    let fewest = count(scaling.widths[0].threads, "thread");
    prose(
        &format!(
            "lost = time - (time of {fewest}, shared out evenly); it is the sum of the columns \
             to its right: {}.",
            parts
                .iter()
                .map(|part| meaning(*part))
                .collect::<Vec<_>>()
                .join("; ")
        ),
        7,
        out,
    )
}

/// The meaning of a column.
fn meaning(part: Part) -> String {
    let what = match part {
        Part::Work => "the same work takes longer, or there is more",
        Part::Waiting => "for other threads",
        Part::Serial => "only one thread has work",
        Part::Runtime => "starting and ending teams, handing out work",
        Part::NotRun => "work for which threads had no processor",
        Part::SmallTeams => "threads that were in no team",
        Part::Untold => "not measured",
    };
    format!("{} = {what}", part.title())
}

fn lost(lost: &Amounts, width: &Width, parts: &[Part]) -> Vec<String> {
    let total = std::iter::once(lost.total());
    let each = parts.iter().map(|part| lost.of(*part));
    total
        .chain(each)
        .map(|ns| signed(width.elapsed(ns)))
        .collect()
}

fn title_row(titles: &[&str], parts: &[Part]) -> Vec<String> {
    let parts = parts.iter().map(|part| part.title());
    titles
        .iter()
        .copied()
        .chain(parts)
        .map(str::to_owned)
        .collect()
}

fn places(
    scaling: &Scaling,
    judged: &Width,
    parts: &[Part],
    out: &mut TextSink<'_>,
) -> io::Result<()> {
    writeln!(
        out,
        "By place with {}, elapsed time, most lost first:",
        count(judged.threads, "thread")
    )?;
    let titles = ["place", "time", "ideal", "lost"];
    let mut rows = vec![title_row(&titles, parts)];
    rows[0].push("where".to_owned());
    let most = if out.is_whole() {
        usize::MAX
    } else {
        MOST_PLACES
    };
    for (number, place) in (1..).zip(scaling.places.iter().take(most)) {
        let at = &place.at[scaling.judged];
        let total = at.time.total();
        let ideal = total - at.lost.total();
        let mut row = vec![number.to_string()];
        row.extend([total, ideal].map(|ns| signed(judged.elapsed(ns))));
        row.extend(lost(&at.lost, judged, parts));
        row.push(place.in_words());
        rows.push(row);
    }
    table(&rows, titles.len() + parts.len(), out)?;
    match scaling.places.len().saturating_sub(most) {
        0 => Ok(()),
        more => writeln!(
            out,
            "(and {}: --all shows all)",
            count(more as u64, "more place")
        ),
    }
}

fn forecast(forecast: &Forecast, judged: &Width, out: &mut TextSink<'_>) -> io::Result<()> {
    let gain = match forecast.gain {
        gain if gain < 1.02 => "no gain".to_owned(),
        gain => format!("{gain:.2} times as fast as {}", judged.threads),
    };
    let tried = forecast.tried.map(|tried| {
        format!(
            " Check: for {} threads it would have estimated {}; the run took {}.",
            tried.threads,
            time(tried.predicted_ns),
            time(tried.measured_ns)
        )
    });
    let limit = time(forecast.limit_ns);
    let limit = match forecast.limit_ns > forecast.duration_ns {
        true => format!("more threads make it slower, up to {limit}"),
        false => format!("no number of threads makes it shorter than {limit}"),
    };
    // Time without a processor is left out of the model, so the judged run would have been
    // shorter too.
    let is_shorter = 51 * forecast.from_ns < 50 * judged.duration_ns;
    let of_judged = is_shorter.then(|| {
        let was = time(forecast.from_ns);
        format!(
            " ({} would have taken {was} on a machine that is not busy)",
            judged.threads
        )
    });
    prose(
        &format!(
            "Estimated: {} threads with a processor each would take {}, {gain}{}; {}. Each place is taken as a / threads + b, from {} and {} \
             threads.{}",
            forecast.threads,
            time(forecast.duration_ns),
            of_judged.unwrap_or_default(),
            limit,
            forecast.from[0],
            forecast.from[1],
            tried.unwrap_or_default()
        ),
        2,
        out,
    )
}

/// Writes a table with right-aligned columns. If they do not fit the page, they are written as
/// several blocks, each with the first column in front. Cells from column `right` on are names.
fn table(rows: &[Vec<String>], right: usize, out: &mut TextSink<'_>) -> io::Result<()> {
    let widths: Vec<usize> = (0..right)
        .map(|column| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        })
        .collect();
    let numbers: usize = widths.iter().map(|width| width + 2).sum();
    let names = rows.iter().filter_map(|row| row.get(right));
    let longest = names.map(|name| name.chars().count()).max().unwrap_or(0);
    let are_beside = !out.is_narrower(numbers + longest);
    for block in blocks(&widths, out) {
        for row in rows {
            let mut line = String::new();
            let columns = block.clone().filter(|column| *column > 0);
            for column in std::iter::once(0).chain(columns) {
                let gap = if column == 0 { "" } else { "  " };
                line += &format!("{gap}{:>width$}", row[column], width = widths[column]);
            }
            for name in row.iter().skip(right).filter(|_| are_beside) {
                line += &format!("  {name}");
            }
            writeln!(out, "{line}")?;
        }
    }
    for row in rows.iter().filter(|_| !are_beside) {
        if let Some(name) = row.get(right) {
            writeln!(out, "{:>width$}  {name}", row[0], width = widths[0])?;
        }
    }
    Ok(())
}

/// The ranges of columns that fit the page, block by block.
fn blocks(widths: &[usize], out: &TextSink<'_>) -> Vec<std::ops::Range<usize>> {
    let mut blocks: Vec<std::ops::Range<usize>> = Vec::new();
    let mut used = 0;
    for (column, width) in widths.iter().enumerate() {
        used += width + 2;
        match blocks.last_mut() {
            Some(block) if !out.is_narrower(used) => block.end = column + 1,
            _ => {
                used = widths[0] + 2 + if column == 0 { 0 } else { width + 2 };
                blocks.push(column..column + 1);
            }
        }
    }
    blocks
}
