//! ompP's report as comma separated values in the grammar of its older
//! versions, which TAU's ParaProf reads (`paraprof -f ompp FILE`):
//!
//! ```text
//! region  := R##### "," file " (" first "-" last ")" [" 'name'"] "," TYPE
//! path    := "[" mark level "] " (application | region) NL ...
//! profile := path+ column names NL one row per thread NL SUM row
//! ```
//!
//! ParaProf has no quoting, skips empty cells, treats threads as numbers, derives the
//! columns from words in the region's line, and knows fewer constructs. So this writer numbers
//! the threads (a thread and the first member of a team that it forks are one), replaces
//! characters that would confuse the reader, and gives unknown constructs the columns of a
//! loop. Sections that the reader would ignore are only in the newer dialect.

use std::collections::HashMap;
use std::io::{self, Write};

use super::csv::section;
use super::general_facts;
use crate::analysis::{Label, Processor, Report, Table, processor};
use crate::columns::Quantity;
use crate::printable::is_command;
use crate::printable::seconds;
use crate::region_kind::RegionKind;

/// Words by which the reader recognises constructs, wherever they stand.
const WORDS: &[&str] = &[
    "USER REGION",
    "MASTER",
    "BARRIER",
    "ATOMIC",
    "FLUSH",
    "SINGLE",
    "CRITICAL",
    "LOCK",
    "PARALLEL",
];

/// A column that the reader expects: its name, the quantities for its value (the first one that
/// the construct has is used), and whether regions below are excluded.
type Expected = (&'static str, &'static [Quantity], bool);

const EXEC_T: Expected = ("execT", &[Quantity::ExecTime], false);
const EXEC_C: Expected = ("execC", &[Quantity::ExecCount], false);
const EXEC_E: Expected = ("execT/E", &[Quantity::ExecTime], true);
const BODY: &[Quantity] = &[
    Quantity::BodyTime,
    Quantity::WorkTime,
    Quantity::SectionTime,
    Quantity::ExecTime,
];
const BODY_I: Expected = ("bodyT/I", BODY, false);
const BODY_E: Expected = ("bodyT/E", BODY, true);
const EXIT_BAR_T: Expected = ("exitBarT", &[Quantity::BarrierTime], false);
const ENTER_T: Expected = ("enterT", &[Quantity::EnterTime], false);
const EXIT_T: Expected = ("exitT", &[Quantity::ExitTime], false);
const STARTUP_T: Expected = ("startupT", &[Quantity::EnterTime], false);
const SHUTDOWN_T: Expected = ("shutdwnT", &[Quantity::ExitTime], false);

const BLOCK: &[Expected] = &[("execT/I", &[Quantity::ExecTime], false), EXEC_E, EXEC_C];
const POINT: &[Expected] = &[EXEC_T, EXEC_C];
const GUARDED: &[Expected] = &[EXEC_T, EXEC_C, BODY_I, BODY_E, ENTER_T, EXIT_T];
const TEAM: &[Expected] = &[
    EXEC_T, EXEC_C, BODY_I, BODY_E, EXIT_BAR_T, STARTUP_T, SHUTDOWN_T,
];
// Sections are call paths of their own, so they are not part of the exclusive time.
const BODY_E_OF_SECTIONS: Expected = ("bodyT/E", &[Quantity::ManagementTime], false);
const SECTIONS: &[Expected] = &[EXEC_T, EXEC_C, BODY_I, BODY_E_OF_SECTIONS, EXIT_BAR_T];
const TEAM_SECTIONS: &[Expected] = &[
    EXEC_T,
    EXEC_C,
    BODY_I,
    BODY_E_OF_SECTIONS,
    EXIT_BAR_T,
    STARTUP_T,
    SHUTDOWN_T,
];
const OTHER: &[Expected] = &[EXEC_T, EXEC_C, BODY_I, BODY_E, EXIT_BAR_T];

/// The columns that the reader expects for a kind of construct. Sections that were not seen are
/// no call paths, so their time is the construct's own.
fn columns(kind: RegionKind, hides_sections: bool) -> &'static [Expected] {
    match kind {
        RegionKind::User | RegionKind::Function | RegionKind::Master => BLOCK,
        RegionKind::Barrier | RegionKind::Atomic | RegionKind::Flush => POINT,
        RegionKind::Critical | RegionKind::Lock => GUARDED,
        RegionKind::Sections if !hides_sections => SECTIONS,
        RegionKind::ParallelSections if !hides_sections => TEAM_SECTIONS,
        kind if kind.is_parallel() => TEAM,
        _ => OTHER,
    }
}

/// Writes the report.
///
/// # Errors
/// If writing to `out` fails.
pub fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let numbers = numbers(report);
    section("header", " separator=,", out, |out| {
        let threads = numbers.iter().max().map_or(1, |last| last + 1);
        header(report, threads, out)
    })?;
    section("ompp callgraph", "", out, |out| call_graph(report, out))?;
    section("callgraph region profiles", "", out, |out| {
        call_paths(report, &numbers, out)
    })
}

/// The number of each thread: processors in the order of their paths.
fn numbers(report: &Report<'_>) -> Vec<usize> {
    let processors = || report.profile.threads.iter().map(processor);
    let mut order: Vec<Processor<'_>> = processors().collect();
    order.sort_unstable_by_key(|&(rank, path)| (rank, path.len(), path));
    order.dedup();
    let number: HashMap<Processor<'_>, usize> = order.into_iter().zip(0..).collect();
    processors().map(|processor| number[&processor]).collect()
}

fn header(report: &Report<'_>, threads: usize, out: &mut dyn Write) -> io::Result<()> {
    for (name, value) in general_facts(&report.profile.run, seconds) {
        match name {
            "Max Threads" => writeln!(out, "Thread Count,{threads}")?,
            name => writeln!(out, "{name},{value}")?,
        }
    }
    Ok(())
}

/// The reader only uses the line of the program. The other lines are for people.
fn call_graph(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "Inclusive,(%),Exclusive,(%),Level,Region")?;
    let graph = &report.call_graph;
    let names = region_names(report);
    let times = |times: crate::analysis::Times| {
        let [a, b] = [times.inclusive, times.exclusive];
        let (a_s, b_s) = (seconds(a.ns), seconds(b.ns));
        format!("{a_s},{},{b_s},{}", a.percent, b.percent)
    };
    writeln!(out, "{},0,{}", times(graph.program), application(report))?;
    for path in &graph.paths {
        let name = &names[path.region];
        writeln!(out, "{},{},{name}", times(path.times), path.level)?;
    }
    Ok(())
}

/// The reader takes a name that begins with an R for a region.
fn application(report: &Report<'_>) -> String {
    let name = harmless(&report.profile.run.application);
    match name.as_str() {
        "" => "unknown".to_owned(),
        name if name.starts_with('R') => format!("./{name}"),
        _ => name,
    }
}

fn call_paths(report: &Report<'_>, numbers: &[usize], out: &mut dyn Write) -> io::Result<()> {
    let names = region_names(report);
    for Profile {
        path,
        table,
        is_leaf,
    } in profiles(report)
    {
        let id = &report.labels[table.region].id;
        section(&format!("{id} callgraph profile"), "", out, |out| {
            writeln!(out, "[*00] {}", application(report))?;
            for (level, region) in path.iter().enumerate() {
                let mark = if is_leaf && level + 1 == path.len() {
                    '='
                } else {
                    '+'
                };
                writeln!(out, "[{mark}{:02}] {}", level + 1, names[*region])?;
            }
            let kind = report.labels[table.region].kind;
            let columns = columns(kind, table.hides_sections);
            self::table(&table, columns, numbers, out)
        })?;
    }
    Ok(())
}

/// A profile with the regions of its call path, outermost first.
struct Profile {
    path: Vec<usize>,
    table: Table,
    is_leaf: bool,
}

/// The profiles of all call paths. The reader identifies a call path only by its regions, and
/// of two equal ones forgets the first. So call paths that only differ in the pseudo-region
/// where the next region was entered are added up.
fn profiles(report: &Report<'_>) -> Vec<Profile> {
    let mut profiles: Vec<Profile> = Vec::new();
    let mut known: HashMap<Vec<usize>, usize> = HashMap::new();
    let mut path = Vec::new();
    let tables = report.on_call_paths.tables();
    for (here, table) in report.call_graph.paths.iter().zip(tables) {
        path.truncate(here.level - 1);
        path.push(here.region);
        match known.get(&path) {
            Some(&known) => {
                profiles[known].table.absorb(&table);
                profiles[known].is_leaf &= here.is_leaf;
            }
            None => {
                known.insert(path.clone(), profiles.len());
                profiles.push(Profile {
                    path: path.clone(),
                    table,
                    is_leaf: here.is_leaf,
                });
            }
        }
    }
    profiles
}

fn table(
    table: &Table,
    expected: &[Expected],
    numbers: &[usize],
    out: &mut dyn Write,
) -> io::Result<()> {
    let places: Vec<Option<usize>> = expected
        .iter()
        .map(|(_, quantities, exclusive)| place(table, quantities, *exclusive))
        .collect();
    write!(out, "TID")?;
    for (name, _, _) in expected {
        write!(out, ",{name}")?;
    }
    writeln!(out)?;
    let mut row = |name: String, cells: &[u64]| {
        write!(out, "{name}")?;
        for place in &places {
            match place {
                Some(place) if table.columns[*place].quantity.is_count() => {
                    write!(out, ",{}", cells[*place])?;
                }
                place => write!(out, ",{}", seconds(place.map_or(0, |place| cells[place])))?,
            }
        }
        writeln!(out)
    };
    for (thread, cells) in table.rows() {
        row(numbers[thread].to_string(), cells)?;
    }
    row("SUM".to_owned(), &table.sum)
}

/// The column of the first of these quantities that the table has. A column that is not split
/// has the same value with and without the regions below.
fn place(table: &Table, quantities: &[Quantity], exclusive: bool) -> Option<usize> {
    quantities.iter().find_map(|&quantity| {
        let of = |exclusive| {
            let mut columns = table.columns.iter();
            columns.position(|column| column.quantity == quantity && column.exclusive == exclusive)
        };
        of(exclusive).or_else(|| of(!exclusive))
    })
}

/// The names of the regions as separate lines. The reader identifies regions by place and type.
fn region_names(report: &Report<'_>) -> Vec<String> {
    let own = |label: &Label| label.name.as_deref().map(harmless).unwrap_or_default();
    let mut uses: HashMap<String, u32> = HashMap::new();
    for label in &report.labels {
        *uses.entry(place_and_type(label, &own(label))).or_default() += 1;
    }
    let name = |label: &Label| {
        let name = own(label);
        let place = place_and_type(label, &name);
        match uses.get(&place) {
            Some(1) => format!("{},{place}", label.id),
            _ => format!(
                "{0},{1}",
                label.id,
                place_and_type(label, &format!("{name}_{}", label.id))
            ),
        }
    };
    report.labels.iter().map(name).collect()
}

fn place_and_type(label: &Label, name: &str) -> String {
    let kind = label.kind.row().full_name;
    let file = harmless(&label.short_file);
    let (first, last) = (label.first, label.last);
    let lines = if first == last {
        format!("({first})")
    } else {
        format!("({first}-{last})")
    };
    // Without quotes, the reader fails at a user region.
    let name = match name {
        "" if label.kind != RegionKind::User => String::new(),
        name => format!(" '{name}'"),
    };
    format!("{file} {lines}{name},{kind}")
}

/// A text in which the reader finds no separators, line numbers or constructs.
fn harmless(text: &str) -> String {
    let text: String = text
        .chars()
        .map(|c| match c {
            ',' | ';' | ' ' | '(' | ')' | '-' | '\'' | '[' | ']' => '_',
            c if is_command(c) => '_',
            c => c,
        })
        .collect();
    // Only the type may contain these words, with blanks between them.
    if WORDS.iter().any(|word| text.contains(word)) {
        text.to_lowercase()
    } else {
        text
    }
}
