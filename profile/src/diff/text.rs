//! A comparison as text. With several runs, a time is the median, with the interval in
//! brackets.

use std::io::{self, Write};

use super::{CauseChange, Change, ComparedRegion, Diff, Side, Status};
use crate::analysis::words::{count, time};
use crate::runs::Sample;

const TITLES: [&str; 5] = ["before", "after", "change", "ratio", "time"];

/// Writes both sides, the causes, the changes of the whole program, those of regions, and the
/// regions that are only in one of the programs.
pub(super) fn write(diff: &Diff, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "before: {}", side(&diff.before))?;
    writeln!(out, "after:  {}", side(&diff.after))?;
    for note in &diff.notes {
        writeln!(out, "note:   {note}")?;
    }
    causes(&diff.causes, out)?;
    writeln!(out)?;
    let program = diff.program.iter().map(|change| {
        // An unchanged category is useful information, too.
        let noise = if change.noise { " (noise)" } else { "" };
        (cells(change), format!("the whole program{noise}"))
    });
    let regions = diff.changes().filter(|change| !change.noise);
    let mut edited = Vec::new();
    let regions = regions.filter_map(|change| {
        let region = change.region.as_ref()?;
        let mut text = place(region);
        // Mentioned once for all times of the region.
        if !edited.contains(&region) {
            text += &edit(region);
            edited.push(region);
        }
        Some((cells(change), text))
    });
    table(program.chain(regions).collect(), out)?;
    let noise = diff.changes().filter(|change| change.noise).count() as u64;
    if noise > 0 {
        let changes = count(noise, "change");
        writeln!(out, "\n{changes} of regions within the noise not shown.")?;
    }
    one_sided(diff, out)?;
    writeln!(
        out,
        "\nwallT is the duration; execT is thread time in the region with all that is below;\n\
         the others are thread time lost: synchronisation, imbalance, too little parallel\n\
         work, management."
    )?;
    writeln!(out, "\nVerdict: {}.", diff.verdict)
}

/// `105 ms  gone  -105 ms`: the elapsed time that each cause would win.
fn causes(changes: &[CauseChange], out: &mut dyn Write) -> io::Result<()> {
    let (noise, changed): (Vec<_>, Vec<_>) = changes.iter().partition(|change| change.noise);
    let noise = count(noise.len() as u64, "cause");
    match (changes.is_empty(), changed.is_empty()) {
        (true, _) => return Ok(()),
        (_, true) => return writeln!(out, "\nNo cause changed beyond noise ({noise})."),
        (_, false) => writeln!(out, "\nWhat there is to win, in elapsed time:\n")?,
    }
    let titles = ["before", "after", "change"].map(str::to_owned);
    let rows = changed.iter().map(|change| {
        let cells = [
            match change.status {
                Status::New => "none".to_owned(),
                _ => sample(&change.before),
            },
            match change.status {
                Status::Vanished => "gone".to_owned(),
                _ => sample(&change.after),
            },
            signed(change.change_ns),
        ];
        (cells, change.in_words())
    });
    let rows: Vec<_> = std::iter::once((titles, "cause".to_owned()))
        .chain(rows)
        .collect();
    let width = |column: usize| {
        let widths = rows.iter().map(|(cells, _)| cells[column].len());
        widths.max().unwrap_or(0)
    };
    let [a, b, c] = [0, 1, 2].map(width);
    for ([before, after, change], cause) in &rows {
        writeln!(out, "{before:>a$}  {after:>b$}  {change:>c$}  {cause}")?;
    }
    match changes.len() - changed.len() {
        0 => Ok(()),
        _ => writeln!(out, "\n{noise} within the noise not shown."),
    }
}

/// `before  4.05 s  LOOP a.c:35 in main`: what is only in one of the programs is compared with
/// nothing.
fn one_sided(diff: &Diff, out: &mut dyn Write) -> io::Result<()> {
    let all = diff.one_sided_times();
    if all.is_empty() {
        return Ok(());
    }
    let long = all.iter().filter_map(|(region, change)| {
        let change = change.filter(|change| !change.noise)?;
        let side = match region.status {
            Status::Vanished => "before",
            _ => "after",
        };
        Some((side, sample(&change.one_sided()), place(region)))
    });
    let listed: Vec<_> = long.collect();
    writeln!(out, "\nConstructs that are only in one of the programs:\n")?;
    let width = listed.iter().map(|(_, time, _)| time.len()).max();
    let width = width.unwrap_or(0).max("execT".len());
    if !listed.is_empty() {
        writeln!(out, "{:<6}  {:>width$}  where", "only", "execT")?;
    }
    for (side, time, place) in &listed {
        writeln!(out, "{side:<6}  {time:>width$}  {place}")?;
    }
    match all.len() - listed.len() {
        0 => Ok(()),
        short => {
            let short = count(short as u64, "construct");
            let blank = if listed.is_empty() { "" } else { "\n" };
            writeln!(
                out,
                "{blank}{short} with less time than the noise not shown."
            )
        }
    }
}

/// `+4.05 s`
fn signed(change_ns: i128) -> String {
    let size = u64::try_from(change_ns.unsigned_abs()).unwrap_or(u64::MAX);
    match (size, change_ns < 0) {
        (0, _) => "0 s".to_owned(),
        (_, true) => format!("-{}", time(size)),
        (_, false) => format!("+{}", time(size)),
    }
}

fn side(side: &Side) -> String {
    let ranks = match side.processes {
        1 => String::new(),
        processes => format!(", {}", count(processes, "rank")),
    };
    let runs = match side.runs {
        1 => String::new(),
        runs => format!("{}, ", count(runs as u64, "run")),
    };
    format!(
        "{}, {runs}{}{ranks}, {}, started {}",
        side.application,
        count(side.threads, "thread"),
        time(side.duration_ns),
        side.start
    )
}

fn cells(change: &Change) -> [String; 5] {
    let ratio = match change.ratio {
        Some(ratio) => format!("{ratio:.2}"),
        None => "-".to_owned(),
    };
    [
        sample(&change.before),
        sample(&change.after),
        signed(change.change_ns),
        ratio,
        change.subject.name().to_owned(),
    ]
}

/// `4.05 s`, of several runs `4.05 s [4.01 s .. 4.22 s]`.
fn sample(of: &Sample) -> String {
    match of.runs {
        0 | 1 => time(of.median),
        _ => format!(
            "{} [{} .. {}]",
            time(of.median),
            time(of.low),
            time(of.high)
        ),
    }
}

/// `LOOP a.c:35 (in main)`.
fn place(place: &ComparedRegion) -> String {
    let mut text = place.kind.row().full_name.to_owned();
    if let Some(name) = &place.name {
        text += &format!(" \"{name}\"");
    }
    text += &format!(" {}", place.location());
    let line = place.line_before.filter(|line| *line != place.line);
    if let Some(line) = line {
        text += &format!(" (was {line})");
    }
    if let Some(function) = &place.function {
        text += &format!(" in {function}");
    }
    text
}

/// The change of the directive, if it was edited.
fn edit(place: &ComparedRegion) -> String {
    match (&place.directive_before, &place.directive) {
        (Some(before), Some(now)) => format!(", '{before}' became '{now}'"),
        _ => String::new(),
    }
}

fn table(rows: Vec<([String; 5], String)>, out: &mut dyn Write) -> io::Result<()> {
    let mut widths = TITLES.map(str::len);
    for (cells, _) in &rows {
        for (width, cell) in widths.iter_mut().zip(cells) {
            *width = cell.len().max(*width);
        }
    }
    let titles = (TITLES.map(str::to_owned), "where".to_owned());
    for (cells, place) in std::iter::once(titles).chain(rows) {
        let [before, after, change, ratio, subject] = cells;
        let [a, b, c, d, e] = widths;
        writeln!(
            out,
            "{before:>a$}  {after:>b$}  {change:>c$}  {ratio:>d$}  {subject:<e$}  {place}"
        )?;
    }
    Ok(())
}
