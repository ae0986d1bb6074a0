//! The tables of the page.

use std::io::{self, Write};

use super::super::escape::escaped;
use super::region;
use crate::analysis::words::{count, percent, time};
use crate::analysis::{Barrier, Efficiency, OverheadRow, Parts, Report, Table};
use crate::explain::explain;
use crate::overheads::Category;

/// A cell: what is shown, the number that it stands for, and what else to say.
fn cell(shown: &str, value: f64, title: &str) -> String {
    let shown = escaped(shown);
    format!("<td data-value=\"{value}\" title=\"{title}\">{shown}</td>")
}

fn time_cell(ns: u64) -> String {
    cell(&time(ns), ns as f64, &format!("{ns} ns"))
}

fn unknown_cell() -> String {
    cell("-", 0.0, "not known")
}

fn percent_cell(value: f64) -> String {
    cell(&percent(value), value, &format!("{value} %"))
}

/// The titles of columns, each with what it means.
fn head(titles: &[&str], out: &mut dyn Write) -> io::Result<()> {
    write!(out, "<table><thead><tr>")?;
    for title in titles {
        let help = explain(title).unwrap_or_default().join(" ");
        write!(
            out,
            "<th title=\"{}\">{}</th>",
            escaped(&help),
            escaped(title)
        )?;
    }
    writeln!(out, "</tr></thead><tbody>")
}

fn end(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "</tbody></table>")
}

pub(super) fn efficiency(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let Some(program) = &report.efficiency.program else {
        return Ok(());
    };
    writeln!(out, "<h2>Parallel efficiency</h2>")?;
    head(&["", "Total", "Useful", "Effic.", "Balance", "Rest"], out)?;
    let mut row = |name: &str, of: &Efficiency| {
        write!(out, "<tr><td>{name}</td>")?;
        write!(out, "{}{}", time_cell(of.time_ns), time_cell(of.useful_ns))?;
        for factor in [of.total, of.load_balance, of.rest] {
            let exact = factor.to_string();
            match of.is_untold() {
                true => write!(out, "{}", unknown_cell())?,
                false => write!(out, "{}", cell(&format!("{factor:.3}"), factor, &exact))?,
            }
        }
        writeln!(out, "</tr>")
    };
    row("whole program", program)?;
    for (level, of) in report.efficiency.levels.iter().enumerate() {
        row(&format!("teams at level {}", level + 1), of)?;
    }
    for (index, of) in &report.efficiency.regions {
        row(&region(&report.labels[*index]), of)?;
    }
    end(out)
}

pub(super) fn overheads(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let overheads = &report.overheads;
    writeln!(
        out,
        "<h2>Overheads</h2>\n<p>{} of {} of the run ({}) was in parallel regions; percent of \
         the program's thread time.</p>",
        time(overheads.coverage.ns),
        time(overheads.duration_ns),
        escaped(&percent(overheads.coverage.percent))
    )?;
    let names = Category::ALL.map(Category::name);
    let titles: Vec<&str> = ["", "Total", "Ovhds"].into_iter().chain(names).collect();
    head(&titles, out)?;
    for row in &overheads.of_whole {
        let name = row.region.map_or_else(
            || "serial".to_owned(),
            |index| region(&report.labels[index]),
        );
        overhead(&name, "", row, out)?;
    }
    overhead("SUM", " class=\"sum\"", &overheads.whole_sum, out)?;
    end(out)
}

fn overhead(name: &str, class: &str, row: &OverheadRow, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "<tr{class}><td>{name}</td>{}", time_cell(row.total.ns))?;
    for share in [row.overhead].into_iter().chain(row.by_category) {
        if row.is_outside {
            write!(out, "{}", unknown_cell())?;
            continue;
        }
        let shown = format!("{} ({})", time(share.ns), percent(share.percent));
        write!(
            out,
            "{}",
            cell(&shown, share.ns as f64, &format!("{} ns", share.ns))
        )?;
    }
    writeln!(out, "</tr>")
}

/// The flat profile, one table per region that unfolds.
pub(super) fn regions(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "<h2>Regions</h2>\n<p><input id=\"find\" placeholder=\"find a region\"></p>"
    )?;
    for (index, table) in report.flat.iter().enumerate() {
        let open = if index == 0 { " open" } else { "" };
        let label = region(&report.labels[table.region]);
        let function = &report.labels[table.region].in_function();
        let function = escaped(function);
        let threads = count(table.threads.len() as u64, "thread");
        writeln!(
            out,
            "<details class=\"region\"{open}><summary>{label}{function}, {threads}{}</summary>",
            escaped(&not_measured(report, table.region))
        )?;
        self::table(report, table, out)?;
        writeln!(out, "</details>")?;
    }
    Ok(())
}

fn not_measured(report: &Report<'_>, region: usize) -> String {
    let what = report.not_measured(region);
    what.map(|what| format!(" ({what})")).unwrap_or_default()
}

fn table(report: &Report<'_>, table: &Table, out: &mut dyn Write) -> io::Result<()> {
    let names = table.columns.iter().map(|column| column.name);
    head(&["TID"].into_iter().chain(names).collect::<Vec<_>>(), out)?;
    let mut row = |name: &str, class: &str, cells: &[u64]| {
        write!(out, "<tr{class}><td>{}</td>", escaped(name))?;
        for (column, &value) in table.columns.iter().zip(cells) {
            if !table.is_known(column) {
                write!(out, "{}", unknown_cell())?;
            } else if column.quantity.is_count() {
                write!(out, "{}", cell(&value.to_string(), value as f64, ""))?;
            } else {
                write!(out, "{}", time_cell(value))?;
            }
        }
        writeln!(out, "</tr>")
    };
    for (thread, cells) in table.rows() {
        row(&report.threads[thread], "", cells)?;
    }
    row("SUM", " class=\"sum\"", &table.sum)?;
    end(out)
}

/// POMPROF's detail view.
pub(super) fn decomposition(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "<h2>Imbalance, barrier and runtime of each thread</h2>"
    )?;
    for row in report.decomposition() {
        let label = region(&report.labels[row.region]);
        writeln!(
            out,
            "<details><summary>{label}: barrier {}</summary>",
            row.barrier.name()
        )?;
        let titles = ["TID", "Work", "Imbal %", "Waits", "Barrier", "Runtime"];
        head(&titles, out)?;
        for parts in &row.threads {
            thread(report, parts, row.barrier, out)?;
        }
        end(out)?;
        writeln!(out, "</details>")?;
    }
    Ok(())
}

fn thread(
    report: &Report<'_>,
    parts: &Parts,
    barrier: Barrier,
    out: &mut dyn Write,
) -> io::Result<()> {
    let time_cell = |ns| match barrier {
        Barrier::Hidden => unknown_cell(),
        _ => time_cell(ns),
    };
    let imbalance = match parts.imbalance {
        Some(value) => percent_cell(value),
        None => cell("-", 0.0, ""),
    };
    writeln!(
        out,
        "<tr><td>{}</td>{}{imbalance}{}{}{}</tr>",
        escaped(&report.threads[parts.thread]),
        time_cell(parts.work_ns),
        time_cell(parts.waits_ns),
        time_cell(parts.barrier_ns),
        time_cell(parts.runtime_ns())
    )
}
