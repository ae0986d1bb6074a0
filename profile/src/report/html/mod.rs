//! One page that shows a report in a browser, with nothing to install and
//! nothing to load: style and script are in it. Exact times are what numbers
//! show when pointed at.

mod tables;

use std::io::{self, Write};

use super::escape::escaped;
use super::general_facts;
use crate::analysis::words::{percent, time};
use crate::analysis::{Label, OwnTime, Report};

/// Writes the page.
///
/// # Errors
/// If `out` refuses.
pub fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let application = escaped(&report.profile.run.application);
    writeln!(
        out,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <title>{application} - Romp</title>\n<style>\n{}</style></head><body>\n\
         <h1>{application}</h1>",
        include_str!("style.css")
    )?;
    summary(report, out)?;
    properties(report, out)?;
    tables::efficiency(report, out)?;
    tables::overheads(report, out)?;
    call_graph(report, out)?;
    tables::regions(report, out)?;
    tables::decomposition(report, out)?;
    general(report, out)?;
    writeln!(
        out,
        "<script>\n{}</script>\n</body></html>",
        include_str!("script.js")
    )
}

fn summary(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<div class=\"summary\">")?;
    let shown = report
        .shown
        .iter()
        .map(|shown| format!("Shown below: {shown}."));
    for line in report.summary.lines.iter().cloned().chain(shown) {
        writeln!(out, "<p>{}</p>", escaped(&line))?;
    }
    writeln!(out, "</div>")
}

fn properties(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<h2>Performance properties</h2>")?;
    let mut shown = report.properties.iter().peekable();
    if shown.peek().is_none() {
        writeln!(out, "<p>None holds.</p>")?;
    }
    for property in shown {
        writeln!(
            out,
            "<div class=\"property\"><b>{}</b><span title=\"{}\">{}</span><br>{}</div>",
            percent(property.severity.percent),
            escaped(property.row.help),
            property.row.name,
            escaped(&property.sentence)
        )?;
    }
    Ok(())
}

/// `R00002 LOOP a.c:15 "name"`.
fn region(label: &Label) -> String {
    format!("{} {}", label.id, escaped(&label.in_words()))
}

/// The tree, closed below what adds least to the duration.
fn call_graph(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    const OPEN_PERCENT: f64 = 5.0;
    writeln!(
        out,
        "<h2>Call graph</h2><p class=\"key note\">Share of the duration; of it\
         <i class=\"work\"></i>work <i class=\"barrier\"></i>waiting at barriers\
         <i class=\"enter\"></i>getting in and out</p>\n<div class=\"tree\"><ul>"
    )?;
    let graph = &report.call_graph;
    let mut level = 1;
    for (index, path) in graph.paths.iter().enumerate() {
        while level > path.level {
            writeln!(out, "</ul></details></li>")?;
            level -= 1;
        }
        let times = path.times;
        let line = format!(
            "{}<span title=\"inclusive {} ns, exclusive {} ns\">{}</span> {}",
            bar(times.inclusive.percent, &report.own_times[index]),
            times.inclusive.ns,
            times.exclusive.ns,
            percent(times.inclusive.percent),
            region(&report.labels[path.region])
        );
        let has_callees = graph
            .paths
            .get(index + 1)
            .is_some_and(|next| next.level > path.level);
        if has_callees {
            let open = if times.inclusive.percent >= OPEN_PERCENT {
                " open"
            } else {
                ""
            };
            writeln!(out, "<li><details{open}><summary>{line}</summary><ul>")?;
            level += 1;
        } else {
            writeln!(out, "<li>{line}</li>")?;
        }
    }
    for _ in 1..level {
        writeln!(out, "</ul></details></li>")?;
    }
    writeln!(out, "</ul></div>")
}

/// A bar as long as the share of the duration, with the own time's parts.
fn bar(share: f64, own: &OwnTime) -> String {
    let parts = [("work", own.work_ns)].into_iter().chain(own.waits());
    let all: u64 = parts.clone().map(|(_, ns)| ns).sum();
    let mut bar = "<span class=\"bar\">".to_owned();
    for (class, ns) in parts.filter(|(_, ns)| *ns > 0) {
        let width = share.min(100.0) * ns as f64 / all.max(1) as f64;
        let title = time(ns);
        bar += &format!(
            "<i class=\"{class}\" style=\"width:{width:.2}%\" title=\"{class} {title}\"></i>"
        );
    }
    bar + "</span>"
}

fn general(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<h2>General information</h2>\n<table><tbody>")?;
    let run = &report.profile.run;
    for (name, value) in general_facts(run, time) {
        let value = escaped(&value);
        writeln!(
            out,
            "<tr><td>{name}</td><td class=\"text\">{value}</td></tr>"
        )?;
    }
    writeln!(out, "</tbody></table>")?;
    for note in &run.notes {
        writeln!(out, "<p class=\"note\">{}</p>", escaped(note))?;
    }
    Ok(())
}
