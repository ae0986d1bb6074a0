//! Distributions, late arrivals, contention and dilation in the text report. Each section is
//! only written if it was measured.

use std::io::{self, Write};

use super::layout::{Line, banner, more, region_line, room, shortened};
use super::shown_parts::ShownParts;
use crate::analysis::words::{count, percent, short_time, time};
use crate::analysis::{Contended, Dilation, Lateness, NEGLIGIBLE, Report, Share, Spread};
use crate::model::{Bucket, ContentionSite, GuardKind};
use crate::report::sink::TextSink;

/// The most threads that are named for one barrier.
const MOST_LATECOMERS: usize = 3;
/// The most holders that are named for one place.
const MOST_HOLDERS: usize = 3;
/// The most criticals and locks, and places of one of them, that are shown if not everything is
/// shown.
const MOST_GUARDS: usize = 20;
const MOST_SITES: usize = 5;
/// The most regions in the list of the measurement's costs.
const MOST_DILATED: usize = 10;
/// The cost in a region is shown from this part of the processor time on, in percent.
const LEAST_DILATED: f64 = 0.1;
/// Characters for the numbers in a histogram, from few to many.
const SHADES: &[u8] = b".:-=+*#@";

/// Writes the sections for the shown regions, if there are data.
pub(super) fn write(
    report: &Report<'_>,
    shown_parts: &ShownParts,
    out: &mut TextSink<'_>,
) -> io::Result<()> {
    spreads(report, shown_parts, out)?;
    lateness(report, shown_parts, out)?;
    contention(report, shown_parts, out)?;
    dilation(report, out)
}

fn spreads(
    report: &Report<'_>,
    shown_parts: &ShownParts,
    out: &mut TextSink<'_>,
) -> io::Result<()> {
    if report.spreads.is_empty() {
        return Ok(());
    }
    banner("Romp Instance Times", out)?;
    let (rows, hidden) = shown_parts.of(&report.spreads, |spread| Some(spread.region));
    let names: Vec<String> = rows
        .iter()
        .map(|spread| region_line(report, spread.region))
        .collect();
    let width = names
        .iter()
        .map(|name| name.chars().count())
        .max()
        .unwrap_or(0);
    // The rest of the width is for the picture.
    let width = room(width, 4 * 10 + 40, out);
    let mut line = Line::default();
    line.spaces(width);
    for title in ["number", "min", "mean", "max"] {
        line.right(title, 10);
    }
    line.text("  from shortest to longest").end(out)?;
    for (spread, name) in rows.into_iter().zip(&names) {
        line.left(&shortened(name, width), width)
            .right(&spread.count.to_string(), 10);
        for ns in [spread.min_ns, spread.mean_ns, spread.max_ns] {
            line.right(&time(ns), 10);
        }
        line.spaces(2).text(&histogram(spread)).end(out)?;
    }
    more(hidden, "more row", out)?;
    writeln!(
        out,
        "\nEach sign is a range of times, twice that of the sign before it: . few instances, @ most, a blank none."
    )
}

/// `[1.02 us |.:#@ .| 65.5 us]`
fn histogram(spread: &Spread) -> String {
    let (Some(first), Some(last)) = (spread.histogram.first(), spread.histogram.last()) else {
        return String::new();
    };
    let most = spread.histogram.iter().map(|bucket| bucket.count).max();
    let shade = |bucket: &Bucket| {
        let scaled = bucket.count as f64 / most.unwrap_or(1).max(1) as f64;
        let index = (scaled * SHADES.len() as f64).ceil() as usize;
        char::from(SHADES[index.clamp(1, SHADES.len()) - 1])
    };
    let mut signs = String::new();
    let mut end = first.from_ns;
    for bucket in &spread.histogram {
        // The list does not contain empty buckets.
        while end > 0
            && end
                .checked_mul(2)
                .is_some_and(|next| next <= bucket.from_ns)
        {
            signs.push(' ');
            end *= 2;
        }
        signs.push(shade(bucket));
        end = bucket.below_ns;
    }
    format!(
        "[{} |{signs}| {}]",
        time(first.from_ns),
        time(last.below_ns)
    )
}

fn lateness(
    report: &Report<'_>,
    shown_parts: &ShownParts,
    out: &mut TextSink<'_>,
) -> io::Result<()> {
    if report.lateness.is_empty() {
        return Ok(());
    }
    banner("Romp Last Arrivals at Barriers", out)?;
    let (rows, hidden) = shown_parts.of(&report.lateness, |lateness| Some(lateness.region));
    for lateness in rows {
        writeln!(
            out,
            "{}: {}; {}",
            region_line(report, lateness.region),
            count(lateness.instances, "barrier"),
            lateness.pattern.in_words()
        )?;
        latecomers(report, lateness, out)?;
    }
    more(hidden, "more region", out)
}

fn latecomers(report: &Report<'_>, lateness: &Lateness, out: &mut TextSink<'_>) -> io::Result<()> {
    for thread in lateness.threads.iter().take(MOST_LATECOMERS) {
        write!(
            out,
            "    thread {} was last {} ({}), {} after the previous thread",
            report.threads[thread.thread],
            count(thread.last, "time"),
            percent(thread.percent),
            time(thread.late_ns)
        )?;
        match thread.after_first_ns {
            0 => writeln!(out)?,
            ns => writeln!(out, ", {} after the first", time(ns))?,
        }
    }
    match lateness.threads.len().saturating_sub(MOST_LATECOMERS) {
        0 => Ok(()),
        rest => writeln!(out, "    and {}", count(rest as u64, "other thread")),
    }
}

fn contention(
    report: &Report<'_>,
    shown_parts: &ShownParts,
    out: &mut TextSink<'_>,
) -> io::Result<()> {
    if report.contention.is_empty() {
        return Ok(());
    }
    banner("Romp Contention", out)?;
    let most = |of: usize, most: usize| {
        if shown_parts.is_whole() {
            of
        } else {
            of.min(most)
        }
    };
    let shown = most(report.contention.len(), MOST_GUARDS);
    for contended in &report.contention[..shown] {
        writeln!(out, "{}", guard(contended))?;
        let sites = &contended.guard.sites;
        let shown = most(sites.len(), MOST_SITES);
        for (site, timed) in sites.iter().zip(&contended.timed_by_site).take(shown) {
            self::site(report, site, *timed, out)?;
        }
        more(sites.len() - shown, "more place", out)?;
    }
    more(report.contention.len() - shown, "more guard", out)
}

/// `CRITICAL "stack": 1043943 entries, 21000 waited (2.0 %); waiting 3.79 s (2.1 %), ...`
fn guard(contended: &Contended) -> String {
    let guard = &contended.guard;
    let name = match (guard.kind, guard.name.as_str()) {
        (GuardKind::Critical, "") => "CRITICAL (unnamed)".to_owned(),
        (GuardKind::Critical, name) => format!("CRITICAL \"{name}\""),
        (GuardKind::Lock, name) if guard.members > 1 => {
            format!("{} {name}", count(guard.members, "LOCK"))
        }
        (GuardKind::Lock, name) => format!("LOCK {name}"),
        (GuardKind::Atomic, _) => "ATOMIC".to_owned(),
    };
    format!(
        "{name}: {}, {} waited ({}); waiting {} ({} of the thread time), held {} ({} of the run)",
        entries(contended.acquisitions),
        some_of(contended.waited, contended.timed, contended.acquisitions),
        percent(100.0 * contended.waited as f64 / contended.timed.max(1) as f64),
        time(contended.wait.ns),
        percent(contended.wait.percent),
        time(contended.hold.ns),
        percent(contended.hold.percent)
    )
}

/// `1 entry`, `2 entries`.
fn entries(number: u64) -> String {
    match number {
        1 => "1 entry".to_owned(),
        number => format!("{number} entries"),
    }
}

/// How many waited, of all or of those that were timed.
fn some_of(waited: u64, timed: u64, all: u64) -> String {
    match timed < all {
        true => format!("{waited} of the {timed} timed"),
        false => waited.to_string(),
    }
}

fn site(
    report: &Report<'_>,
    site: &ContentionSite,
    timed: u64,
    out: &mut TextSink<'_>,
) -> io::Result<()> {
    let each = |ns: u64, number: u64| match ns / number.max(1) {
        0 if ns > 0 => "no measurable time".to_owned(),
        each => time(each),
    };
    writeln!(
        out,
        "    {}: {}, {} waited; {} to get it on average, at most {}; held {} on average",
        region_line(report, site.region),
        entries(site.acquisitions),
        some_of(site.waited, timed, site.acquisitions),
        each(site.wait_ns, site.acquisitions),
        time(site.max_wait_ns),
        each(site.hold_ns, site.acquisitions)
    )?;
    for holder in site.holders.iter().take(MOST_HOLDERS) {
        let label = &report.labels[holder.region];
        let whose = match holder.thread {
            Some(thread) => format!("thread {}", report.threads[thread]),
            None => "another thread".to_owned(),
        };
        writeln!(
            out,
            "        {} for {whose}, which got it at {}",
            count(holder.waited, "wait"),
            label.location()
        )?;
    }
    Ok(())
}

fn dilation(report: &Report<'_>, out: &mut TextSink<'_>) -> io::Result<()> {
    let Some(dilation) = &report.dilation else {
        return Ok(());
    };
    banner("Romp Cost of Measurement", out)?;
    writeln!(
        out,
        "Measuring took at least {} ({} of the processor time): {} of events (begin and end) at {} \
         each{}{}.",
        time(dilation.cost.ns),
        percent(dilation.cost.percent),
        count(dilation.pairs, "timed pair"),
        short_time(dilation.pair_cost_ps),
        not_timed(dilation),
        waiting(dilation)
    )?;
    let matters = |cost: &Share| {
        cost.percent >= NEGLIGIBLE && Share::of(cost.ns, dilation.of_ns).percent >= LEAST_DILATED
    };
    let regions = dilation.regions.iter().filter(|row| matters(&row.cost));
    for row in regions.take(MOST_DILATED) {
        writeln!(
            out,
            "    {}: {} of measurement, {} of the time spent there ({})",
            region_line(report, row.region),
            time(row.cost.ns),
            // The cost of an event was calibrated at another moment than the event happened, so
            // it may be too high.
            percent(row.cost.percent.min(100.0)),
            count(row.pairs + row.passed_pairs, "pair")
        )?;
    }
    Ok(())
}

/// The time that threads waited because of events of other threads.
fn waiting(dilation: &Dilation) -> String {
    match dilation.waited_ns {
        0 => String::new(),
        waited => format!(
            ", and {} for which threads waited while events of others were recorded",
            time(waited)
        ),
    }
}

/// The cost of pairs of events that were only counted.
fn not_timed(dilation: &Dilation) -> String {
    match dilation.passed_pairs {
        0 => String::new(),
        passed => format!(
            ", {passed} that were only counted at {} each",
            short_time(dilation.passed_pair_cost_ps)
        ),
    }
}
