//! ompP's report as comma separated values, in the grammar of its later
//! versions:
//!
//! ```text
//! report   := section*
//! section  := "##BEG " name [" separator=" c] NL line* section* "##END " name NL NL
//! region   := R##### sep TYPE sep file sep first line sep last line sep name
//! path     := incl sep incl% sep excl sep excl% sep level sep region
//! profile  := region+ NL column names NL one row per thread NL SUM row
//! ```
//!
//! Differences from ompP make the output safe to read. A field that contains a separator or a
//! quote is quoted as in RFC 4180. `Max Threads` has that name. Sums have their fields in the
//! columns of the rows above. The profile of a call path names all regions of the path,
//! outermost first. Times are seconds with nine decimals, which is exact to the nanosecond,
//! except for the call graph's averages over threads. Percentages are not rounded either.

use std::io::{self, Write};

use super::general_facts;
use crate::analysis::{Barrier, Efficiency, OverheadRow, Report, Share, Table, Times};
use crate::overheads::Category;
use crate::printable::{quoted, seconds};

/// Writes the report.
///
/// # Errors
/// If writing to `out` fails.
pub fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    section("header", " separator=,", out, |out| header(report, out))?;
    if !report.ranks.is_empty() {
        section("ranks", "", out, |out| ranks(report, out))?;
    }
    section("region overview", "", out, |out| overview(report, out))?;
    section("ompp callgraph", "", out, |out| call_graph(report, out))?;
    section("flat region profiles", "", out, |out| {
        for profile in &report.flat {
            let name = format!("{} flat profile", report.labels[profile.region].id);
            section(&name, "", out, |out| {
                writeln!(out, "{}", region(report, profile.region))?;
                table(report, profile, out)
            })?;
        }
        Ok(())
    })?;
    section("callgraph region profiles", "", out, |out| {
        call_paths(report, out)
    })?;
    section("overhead analysis report", "", out, |out| {
        overheads(report, out)
    })?;
    section("ompp performance properties report", "", out, |out| {
        properties(report, out)
    })?;
    section("parallel efficiency report", "", out, |out| {
        efficiency(report, out)
    })?;
    section("decomposition report", "", out, |out| {
        decomposition(report, out)
    })
}

pub(super) fn section(
    name: &str,
    settings: &str,
    out: &mut dyn Write,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    writeln!(out, "##BEG {name}{settings}")?;
    content(out)?;
    writeln!(out, "##END {name}\n")
}

fn header(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let run = &report.profile.run;
    let facts = general_facts(run, seconds);
    for (name, value) in facts {
        writeln!(out, "{name},{}", quoted(&value))?;
    }
    for note in &report.profile.remarks() {
        writeln!(out, "Note,{}", quoted(note))?;
    }
    for (region, label) in report.labels.iter().enumerate() {
        if let Some(what) = report.not_measured(region) {
            writeln!(out, "Note,{}", quoted(&format!("{}: {what}", label.id)))?;
        }
    }
    Ok(())
}

fn ranks(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "Rank,Host,Process,Threads,Duration,Coverage,Coverage%")?;
    write!(out, ",Total,Ovhds,Ovhds%")?;
    for category in Category::ALL {
        write!(out, ",{0},{0}%", category.name())?;
    }
    writeln!(out, ",Untold,Untold%")?;
    for rank in &report.ranks {
        let run = &rank.run;
        let (host, pid) = (quoted(&run.host), run.pid);
        let (threads, duration) = (run.max_threads, seconds(run.duration_ns));
        write!(out, "{},{host},{pid},{threads},{duration}", rank.number)?;
        overhead_row(&format!(",{}", share(rank.coverage)), &rank.overheads, out)?;
    }
    Ok(())
}

fn overview(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    for &(index, _) in report.overview.iter().flat_map(|group| &group.regions) {
        writeln!(out, "{}", region(report, index))?;
    }
    Ok(())
}

fn call_graph(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let graph = &report.call_graph;
    let application = quoted(&report.profile.run.application);
    writeln!(out, "{},0,{application}", times(graph.program))?;
    for path in &graph.paths {
        let region = region(report, path.region);
        writeln!(out, "{},{},{region}", times(path.times), path.level)?;
    }
    Ok(())
}

fn call_paths(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    // The regions of the current path, outermost first.
    let mut regions = Vec::new();
    let tables = report.on_call_paths.tables();
    for (path, profile) in report.call_graph.paths.iter().zip(tables) {
        regions.truncate(path.level - 1);
        regions.push(region(report, path.region));
        let name = format!("{} callgraph profile", report.labels[path.region].id);
        section(&name, "", out, |out| {
            for region in &regions {
                writeln!(out, "{region}")?;
            }
            table(report, &profile, out)
        })?;
    }
    Ok(())
}

fn table(report: &Report<'_>, table: &Table, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "TID")?;
    for column in &table.columns {
        write!(out, ",{}", column.name)?;
    }
    writeln!(out)?;
    for (thread, values) in table.rows() {
        cells(&report.threads[thread], table, values, out)?;
    }
    cells("SUM", table, &table.sum, out)
}

fn cells(name: &str, table: &Table, values: &[u64], out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{name}")?;
    for (column, &value) in table.columns.iter().zip(values) {
        if !table.is_known(column) {
            write!(out, ",")?;
        } else if column.quantity.is_count() {
            write!(out, ",{value}")?;
        } else {
            write!(out, ",{}", seconds(value))?;
        }
    }
    writeln!(out)
}

fn overheads(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let overheads = &report.overheads;
    let number = overheads.parallel_regions;
    writeln!(
        out,
        "Total runtime,{},{}",
        seconds(overheads.duration_ns),
        overheads.threads
    )?;
    writeln!(out, "Number of parallel regions,{number}")?;
    writeln!(out, "Parallel coverage,{}", share(overheads.coverage))?;
    section(
        "parallel regions sorted by wallclock time",
        "",
        out,
        |out| {
            for parallel in &overheads.regions {
                let region = region(report, parallel.region);
                let threads = match parallel.is_outside {
                    true => String::new(),
                    false => parallel.threads.to_string(),
                };
                writeln!(out, "{region},{},{threads}", share(parallel.wall))?;
            }
            writeln!(out, "SUM,,,,,,{},", share(overheads.wall_sum))
        },
    )?;
    section("overheads for parallel region", "", out, |out| {
        overhead_table(report, &overheads.of_each, out)
    })?;
    section("overheads for whole program", "", out, |out| {
        overhead_table(report, &overheads.of_whole, out)?;
        overhead_row("SUM", &overheads.whole_sum, out)
    })
}

fn overhead_table(
    report: &Report<'_>,
    rows: &[OverheadRow],
    out: &mut dyn Write,
) -> io::Result<()> {
    write!(out, "Region,Total,Ovhds,Ovhds%")?;
    for category in Category::ALL {
        write!(out, ",{0},{0}%", category.name())?;
    }
    writeln!(out, ",Untold,Untold%")?;
    for row in rows {
        let id = row
            .region
            .map_or("serial", |region| report.labels[region].id.as_str());
        overhead_row(id, row, out)?;
    }
    Ok(())
}

fn overhead_row(id: &str, row: &OverheadRow, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{id},{}", seconds(row.total.ns))?;
    for part in [row.overhead].into_iter().chain(row.by_category) {
        match row.is_outside {
            true => write!(out, ",,")?,
            false => write!(out, ",{}", share(part))?,
        }
    }
    writeln!(out, ",{}", share(row.untold))
}

fn properties(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    for (number, property) in report.properties.iter().enumerate() {
        writeln!(
            out,
            "P{:05},{},{},{},{}",
            number + 1,
            property.row.name,
            share(property.severity),
            region(report, property.region),
            quoted(&property.sentence())
        )?;
    }
    Ok(())
}

fn efficiency(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "Of,Total,Useful,Efficiency,Balance,Rest,Untold")?;
    let mut row = |of: &str, row: &Efficiency| {
        let [time, useful] = [row.time_ns, row.useful_ns].map(seconds);
        let factors = match row.is_untold() {
            true => ",,".to_owned(),
            false => format!("{},{},{}", row.total, row.load_balance, row.rest),
        };
        writeln!(
            out,
            "{of},{time},{useful},{factors},{}",
            seconds(row.untold_ns)
        )
    };
    if let Some(program) = &report.efficiency.program {
        row("program", program)?;
    }
    for (level, efficiency) in report.efficiency.levels.iter().enumerate() {
        row(&format!("level {}", level + 1), efficiency)?;
    }
    for (region, efficiency) in &report.efficiency.regions {
        row(&report.labels[*region].id, efficiency)?;
    }
    Ok(())
}

/// POMPROF's decomposition for each region and thread.
fn decomposition(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "Region,TID,execC,execT,before,work,waits,barrier,after,imbalance%,barrier is"
    )?;
    for row in report.decomposition() {
        let id = &report.labels[row.region].id;
        for parts in &row.threads {
            let thread = &report.threads[parts.thread];
            write!(out, "{id},{thread},{}", parts.count)?;
            write!(out, ",{}", seconds(parts.time_ns))?;
            for ns in [
                parts.before_ns,
                parts.work_ns,
                parts.waits_ns,
                parts.barrier_ns,
                parts.after_ns,
            ] {
                match row.barrier {
                    Barrier::Hidden => write!(out, ",")?,
                    _ => write!(out, ",{}", seconds(ns))?,
                }
            }
            let imbalance = parts.imbalance.map(|percent| percent.to_string());
            let imbalance = imbalance.unwrap_or_default();
            writeln!(out, ",{imbalance},{}", row.barrier.name())?;
        }
    }
    Ok(())
}

fn region(report: &Report<'_>, index: usize) -> String {
    let label = &report.labels[index];
    let kind = label.kind.row().full_name;
    let name = label.name.as_deref().unwrap_or_default();
    let (first, last) = (label.first, label.last);
    format!(
        "{},{kind},{},{first},{last},{}",
        label.id,
        quoted(&label.file),
        quoted(name)
    )
}

fn times(times: Times) -> String {
    format!("{},{}", share(times.inclusive), share(times.exclusive))
}

fn share(share: Share) -> String {
    format!("{},{}", seconds(share.ns), share.percent)
}
