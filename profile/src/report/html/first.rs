//! The first screen: the facts that a reader wants to know within ten seconds. It needs no
//! script.

use std::io::{self, Write};

use super::super::escape::escaped;
use super::Page;
use crate::analysis::words::{count, percent, time};
use crate::analysis::{Cause, MOST_NAMED_CAUSES, PARTS, Share};
use crate::model::Region;

/// Writes the first screen.
pub(super) fn write(page: &Page<'_, '_>, out: &mut dyn Write) -> io::Result<()> {
    let report = page.report;
    let run = &report.profile.run;
    let overheads = &report.overheads;
    writeln!(
        out,
        "<header><h1>{}</h1><p class=\"facts\"><b data-ns=\"{}\">{}</b> elapsed, {}{}{}</p></header>",
        escaped(&run.application),
        overheads.duration_ns,
        time(overheads.duration_ns),
        count(overheads.threads, "thread"),
        after_text(" on ", &run.host),
        after_text(", ", &run.start),
    )?;
    writeln!(
        out,
        "<section id=\"view-overview\" class=\"view\" aria-label=\"Overview\">\n\
         <p class=\"verdict\">{}</p>",
        escaped(&report.summary.headline)
    )?;
    bar(page, out)?;
    self::causes_of(page, out)?;
    without_processor(page, out)?;
    details(page, out)?;
    writeln!(out, "</section>")
}

fn after_text(before: &str, what: &str) -> String {
    match what {
        "" => String::new(),
        what => format!("{before}{}", escaped(what)),
    }
}

/// The groups of parts that are not zero: number of the group, name, share.
fn groups(page: &Page<'_, '_>) -> Vec<(usize, &'static str, Share)> {
    let base = page.report.overheads.thread_time_ns;
    let mut groups: Vec<(usize, &'static str, u64)> = Vec::new();
    for (row, ns) in PARTS.iter().zip(page.parts) {
        match groups.last_mut() {
            Some((_, name, sum)) if *name == row.names[0] => *sum += ns,
            last => {
                let number = last.map_or(0, |(number, ..)| *number + 1);
                groups.push((number, row.names[0], ns));
            }
        }
    }
    groups.retain(|(_, _, ns)| *ns > 0);
    let share = |(number, name, ns)| (number, name, Share::of(ns, base));
    groups.into_iter().map(share).collect()
}

fn bar(page: &Page<'_, '_>, out: &mut dyn Write) -> io::Result<()> {
    let groups = groups(page);
    writeln!(out, "<div class=\"bar\" aria-hidden=\"true\">")?;
    for (number, name, share) in &groups {
        let words = format!("{name}: {} ({})", time(share.ns), percent(share.percent));
        write!(
            out,
            "<i class=\"group{number}\" style=\"width:{:.3}%\" title=\"{}\"></i>",
            share.percent,
            escaped(&words)
        )?;
    }
    writeln!(
        out,
        "</div>\n<div class=\"first\"><table class=\"legend\"><caption>Where the thread time went: {} threads x {}</caption>\n\
         <thead><tr><th>What</th><th>Time</th><th>Share</th></tr></thead><tbody>",
        page.report.overheads.threads,
        time(page.report.overheads.duration_ns)
    )?;
    for (number, name, share) in &groups {
        writeln!(
            out,
            "<tr data-group=\"{name}\"><th><i class=\"group{number}\"></i>{name}</th>\
             <td data-ns=\"{}\">{}</td><td data-percent=\"{}\">{}</td></tr>",
            share.ns,
            time(share.ns),
            share.percent,
            escaped(&percent(share.percent))
        )?;
    }
    writeln!(out, "</tbody></table>")
}

fn causes_of(page: &Page<'_, '_>, out: &mut dyn Write) -> io::Result<()> {
    let causes = &page.report.causes.list;
    writeln!(out, "<div>")?;
    if causes.is_empty() {
        return writeln!(out, "</div></div>");
    }
    writeln!(out, "<h2>What there is to win</h2>\n<ol class=\"causes\">")?;
    for cause in causes.iter().take(MOST_NAMED_CAUSES) {
        self::cause(page, cause, out)?;
    }
    writeln!(out, "</ol></div></div>")
}

fn cause(page: &Page<'_, '_>, cause: &Cause, out: &mut dyn Write) -> io::Result<()> {
    let region = cause.place.regions.first().copied();
    let words = escaped(&cause.place.words);
    let place = match region {
        Some(region) => format!("<a href=\"#v=region&amp;r={region}\">{words}</a>"),
        None => words.into_owned(),
    };
    writeln!(
        out,
        "<li><p><b class=\"gain\" data-ns=\"{}\">{}</b> ({}) of the elapsed time to win (upper bound {}), {place}: {}.{}</p>",
        cause.likely.ns,
        time(cause.likely.ns),
        escaped(&percent(cause.likely.percent)),
        time(cause.upper.ns),
        escaped(&cause.what),
        match cause.is_estimated {
            true => " (Estimated.)",
            false => "",
        }
    )?;
    if !cause.remedy.is_empty() {
        writeln!(out, "<p>{}</p>", escaped(&cause.remedy))?;
    }
    excerpt_of(page, cause, out)?;
    writeln!(out, "</li>")
}

/// The lines of the source where a cause is, or where it begins.
fn excerpt_of(page: &Page<'_, '_>, cause: &Cause, out: &mut dyn Write) -> io::Result<()> {
    if let Some(region) = cause.begins_behind {
        return excerpt_behind(page, region, out);
    }
    // If a cause has many places, an excerpt of one of them would mislead.
    let is_named = |region: &usize| {
        cause
            .place
            .words
            .ends_with(&page.report.labels[*region].in_words())
    };
    match cause.place.regions.first().filter(|one| is_named(one)) {
        Some(region) => excerpt(page, *region, out),
        None => Ok(()),
    }
}

fn excerpt(page: &Page<'_, '_>, region: usize, out: &mut dyn Write) -> io::Result<()> {
    let region = &page.report.profile.regions[region];
    let lines = page.sources.excerpt(region, region.begin[0]);
    if lines.is_empty() {
        return match &region.directive {
            Some(directive) => writeln!(
                out,
                "<pre class=\"excerpt wide\"><span>{}</span></pre>",
                escaped(directive)
            ),
            None => Ok(()),
        };
    }
    lines_of(page, region, &lines, region.begin, out)
}

/// The end of a region, and what follows.
fn excerpt_behind(page: &Page<'_, '_>, region: usize, out: &mut dyn Write) -> io::Result<()> {
    let label = page.report.labels[region].in_words();
    let region = &page.report.profile.regions[region];
    let lines = page.sources.excerpt(region, region.end[1]);
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "<p class=\"said\">The {} ends at line {}:</p>",
        escaped(&label),
        region.end[1]
    )?;
    lines_of(page, region, &lines, [region.end[1]; 2], out)
}

/// Numbered lines; those from the first to the last of `here` stand out.
fn lines_of(
    page: &Page<'_, '_>,
    region: &Region,
    lines: &[(usize, &str)],
    here: [u32; 2],
    out: &mut dyn Write,
) -> io::Result<()> {
    write!(out, "<pre class=\"excerpt wide\">")?;
    for (number, text) in lines {
        let text = text.replace('\t', "    ");
        let is_here = (here[0]..=here[1]).contains(&(*number as u32));
        let class = if is_here { " class=\"here\"" } else { "" };
        write!(
            out,
            "<span{class}><i>{number:>5}</i> {}</span>",
            escaped(&text)
        )?;
    }
    writeln!(out, "</pre>")?;
    match page.sources.note(region) {
        Some(note) => writeln!(out, "<p class=\"note\">{}</p>", escaped(note)),
        None => Ok(()),
    }
}

/// Waiting for a processor is contained in other times: the kernel does not report in which.
fn without_processor(page: &Page<'_, '_>, out: &mut dyn Write) -> io::Result<()> {
    let scheduling = page.report.profile.run.scheduling.unwrap_or_default();
    if scheduling.ready_ns == 0 {
        return Ok(());
    }
    writeln!(
        out,
        "<p class=\"facts\">In these times threads were ready and had no processor for \
         <b data-ns=\"{}\">{}</b>.</p>",
        scheduling.ready_ns,
        time(scheduling.ready_ns)
    )
}

/// The text report's summary, and further facts that a reader should know.
fn details(page: &Page<'_, '_>, out: &mut dyn Write) -> io::Result<()> {
    let report = page.report;
    let notes = report.profile.remarks();
    writeln!(out, "<details class=\"more\"><summary>In words</summary>")?;
    for line in report.summary.lines.iter().chain(&notes) {
        writeln!(out, "<p>{}</p>", escaped(line))?;
    }
    writeln!(out, "</details>")
}
