//! `romp report --explain`: the meaning of each name in a report. Columns, overheads,
//! properties and terms are explained from the tables that define them.

use crate::columns::{self, Column, Quantity};
use crate::counters::COUNTERS;
use crate::overheads::{self, Category, Charge};
use crate::properties::{Condition, FREQUENT_PER_SECOND, PROPERTIES};
use crate::region_kind::{REGION_KINDS, RegionKind};

const COVERAGE: &str = "The part of the duration in parallel regions; the rest is serial.";

/// Terms in reports that are in no other table.
const TERMS: &[(&str, &str)] = &[
    (
        "TID",
        "The thread, by its path: 0->3->2 is thread 2 of the team that was forked by thread 3 of \
         the team that thread 0 forked.",
    ),
    ("SUM", "The sum of the rows above."),
    (
        "Inclusive",
        "The part of the duration that a call path took, with the paths below it: the time of its threads, \
         divided by their number.",
    ),
    (
        "Exclusive",
        "The same as inclusive, without the paths below.",
    ),
    ("Coverage", COVERAGE),
    ("Parallel coverage", COVERAGE),
    ("Serial", "The time outside of parallel regions."),
    (
        "Wallclock",
        "Elapsed time: how much of the run's duration the executions of a parallel region took.",
    ),
    (
        "Threads",
        "How many threads were members of a parallel region's teams.",
    ),
    (
        "User Time",
        "The time for which all threads of the process had a processor, in user mode.",
    ),
    (
        "System Time",
        "The time for which the kernel worked for the process, in all threads.",
    ),
    (
        "Measuring",
        "The time that the probes took: a run without measurement does not have it.",
    ),
    ("Total", overheads::TOTAL),
    (
        "Ovhds",
        "The thread time that was lost: the sum of Synch, Imbal, Limpar and Mgmt.",
    ),
    (
        "Effic.",
        "Parallel efficiency: the part of the thread time that was no overhead, from 0 to 1. It \
         is Balance times Rest.",
    ),
    (
        "Balance",
        "Load balance: the mean useful time of a thread divided by the largest. It tells what \
         an even spread of work would win.",
    ),
    (
        "Rest",
        "The efficiency that an even load would leave. The rest is lost to waiting in turns, contention, \
         management, and serial parts.",
    ),
    ("Useful", "Thread time that was no overhead."),
    (
        "Waits",
        "The time that a thread lost at constructs inside: waiting at barriers, critical sections and the \
         like, and time in the OpenMP library.",
    ),
    (
        "Work",
        "POMPROF's work of a thread, without its waits at constructs inside: its useful time. \
         Tasks executed while waiting are work.",
    ),
    (
        "Imbal %",
        "POMPROF's load imbalance of a thread: how much more work it had than the thread with \
         least, in percent of that one's.",
    ),
    (
        "Barrier",
        "POMPROF's barrier time of a thread. It is measured where the instrumenter made the \
         implicit barrier explicit. Where it could not, the last thread is taken not to wait: \
         the shortest time to leave is the runtime's, and the rest of each thread's is waiting.",
    ),
    (
        "Runtime",
        "POMPROF's runtime overhead of a thread: what the OpenMP runtime takes before and after \
         the work.",
    ),
    (
        "severity",
        "The thread time that a property costs, in percent of duration x largest number of \
         threads.",
    ),
];

/// The meaning of a name, as paragraphs; none if the name is unknown. Upper and lower case are
/// the same, and several tables may know a name.
#[must_use]
pub fn explain(name: &str) -> Option<Vec<String>> {
    let mut paragraphs: Vec<String> = [column(name), category(name), property(name), kind(name)]
        .into_iter()
        .flatten()
        .collect();
    paragraphs.extend(counter(name));
    let terms = TERMS.iter().filter(|(term, _)| is(term, name));
    paragraphs.extend(terms.map(|(term, help)| format!("{term}: {help}")));
    (!paragraphs.is_empty()).then_some(paragraphs)
}

/// Every name that can be explained.
#[must_use]
pub fn names() -> Vec<&'static str> {
    let columns = REGION_KINDS
        .iter()
        .flat_map(|row| columns::flat(row.kind))
        .map(|column| column.name);
    let mut names: Vec<&str> = columns.collect();
    names.sort_unstable();
    names.dedup();
    names.extend(Category::ALL.map(Category::name));
    names.push("counters");
    names.extend(COUNTERS.iter().map(|counter| counter.name));
    names.extend(TERMS.iter().map(|(term, _)| *term));
    names.extend(PROPERTIES.iter().map(|row| row.name));
    names.extend(REGION_KINDS.iter().map(|row| row.full_name));
    names
}

/// A counter by its name, or all of them.
fn counter(name: &str) -> Option<String> {
    if is("counters", name) {
        let names: Vec<&str> = COUNTERS.iter().map(|counter| counter.name).collect();
        return Some(format!(
            "counters: the names that ROMP_COUNTERS accepts: {}; also r and a hexadecimal number, \
             for an event of this processor.",
            names.join(", ")
        ));
    }
    let counter = COUNTERS.iter().find(|counter| is(counter.name, name))?;
    let by = match counter.is_software() {
        true => "the kernel counted for the thread",
        false => "the processor counted for the thread, in user mode,",
    };
    let unit = match counter.name {
        "task-clock" | "cpu-clock" => ", in nanoseconds",
        _ => "",
    };
    Some(format!(
        "{}: what {by} in the whole construct (ROMP_COUNTERS){unit}. Locks have none.",
        counter.name
    ))
}

fn is(name: &str, asked: &str) -> bool {
    name.eq_ignore_ascii_case(asked)
}

fn column(name: &str) -> Option<String> {
    let (name, suffix) = match name.split_once('/') {
        Some((name, suffix)) => (name, suffix),
        None => (name, ""),
    };
    let below = match suffix {
        "" => "",
        "I" | "i" => " This part is with the regions inside.",
        "E" | "e" => " This part is without the regions inside.",
        _ => return None,
    };
    let mut found: Vec<(Column, Vec<RegionKind>)> = Vec::new();
    for row in REGION_KINDS {
        let flat = columns::flat(row.kind);
        let on_paths = columns::on_call_path(row.kind);
        let Some(column) = flat
            .iter()
            .chain(&on_paths)
            .find(|column| is(column.name.split('/').next().unwrap_or_default(), name))
        else {
            continue;
        };
        match found
            .iter_mut()
            .find(|(known, _)| known.quantity == column.quantity)
        {
            Some((_, kinds)) => kinds.push(row.kind),
            None => found.push((*column, vec![row.kind])),
        }
    }
    let name = found.first()?.0.name;
    let all = found.iter().map(|(column, kinds)| {
        let unit = if column.quantity.is_count() {
            "a count"
        } else {
            "in seconds"
        };
        let of = if kinds.len() == REGION_KINDS.len() {
            "all".to_owned()
        } else {
            full_names(kinds)
        };
        let charge = charges(column.quantity, kinds);
        format!(
            "{name}, {unit}: {}{below} Constructs: {of}.{charge}",
            column.help()
        )
    });
    Some(all.collect::<Vec<_>>().join("\n"))
}

/// The overhead categories of a quantity.
fn charges(quantity: Quantity, kinds: &[RegionKind]) -> String {
    let mut text = String::new();
    for category in Category::ALL {
        let charged: Vec<RegionKind> = kinds
            .iter()
            .copied()
            .filter(|kind| {
                overheads::costs_of(*kind)
                    .any(|cost| cost.quantity == quantity && may_be(cost.charge, category))
            })
            .collect();
        if !charged.is_empty() {
            let name = category.name();
            text.push_str(&format!(
                " It counts as {name} for {}.",
                full_names(&charged)
            ));
        }
    }
    text
}

fn may_be(charge: Charge, category: Category) -> bool {
    match charge {
        Charge::To(to) => to == category,
        Charge::BySections => matches!(category, Category::Imbal | Category::Limpar),
    }
}

fn full_names(kinds: &[RegionKind]) -> String {
    let names = kinds.iter().map(|kind| kind.row().full_name);
    names.collect::<Vec<_>>().join(", ")
}

fn category(name: &str) -> Option<String> {
    let category = Category::ALL.into_iter().find(|of| is(of.name(), name))?;
    let mut places: Vec<(&str, Vec<RegionKind>)> = Vec::new();
    for cost in overheads::all().filter(|cost| may_be(cost.charge, category)) {
        match places.iter_mut().find(|(place, _)| *place == cost.place) {
            Some((_, kinds)) => kinds.push(cost.kind),
            None => places.push((cost.place, vec![cost.kind])),
        }
    }
    let places = places.iter();
    let places = places.map(|(place, kinds)| format!("{place} {}", full_names(kinds)));
    let places = places.collect::<Vec<_>>().join("; ");
    Some(format!(
        "{}, an overhead: {}. Time {places}.",
        category.name(),
        category.help()
    ))
}

fn property(name: &str) -> Option<String> {
    let row = PROPERTIES.iter().find(|row| is(row.name, name))?;
    let condition = match row.condition {
        Condition::Always | Condition::SectionsUneven | Condition::SmallTasks => String::new(),
        Condition::SectionsUnevenlySpread => {
            " It holds if there are more sections than executions by threads, and some threads \
             execute more of them."
                .to_owned()
        }
        Condition::TooFewSections => {
            " It holds if there are fewer sections than executions by threads.".to_owned()
        }
        Condition::Frequent => format!(
            " It holds if there are more than {FREQUENT_PER_SECOND} executions per second of \
             the program's thread time."
        ),
        Condition::LittleWork => {
            " It holds if starting and ending the team takes longer than the work.".to_owned()
        }
    };
    Some(format!(
        "{}, a performance property of {}: {}{condition}",
        row.name,
        full_names(row.kinds),
        row.help
    ))
}

fn kind(name: &str) -> Option<String> {
    let row = REGION_KINDS
        .iter()
        .find(|row| is(row.short_name, name) || is(row.full_name, name))?;
    let columns = columns::flat(row.kind);
    let columns: Vec<&str> = columns.iter().map(|column| column.name).collect();
    let short = match row.short_name == row.full_name {
        true => String::new(),
        false => format!(" ({})", row.short_name),
    };
    Some(format!(
        "{}{short}, a kind of region: {} Columns: {}.",
        row.full_name,
        row.kind.help(),
        columns.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_explained() {
        for name in names() {
            assert!(explain(name).is_some(), "{name}");
            assert!(explain(&name.to_uppercase()).is_some(), "{name}");
        }
        assert_eq!(explain("papyrus"), None);
        assert_eq!(explain("bodyT/X"), None);
    }

    #[test]
    fn a_column_says_where_it_stands_and_what_it_costs() {
        let text = explain("exitBarT").unwrap_or_default().join("\n");
        assert!(text.contains("PARALLEL LOOP"), "{text}");
        assert!(
            text.contains("It counts as Limpar for PARALLEL SECTIONS, SECTIONS, SINGLE."),
            "{text}"
        );
        assert_ne!(explain("bodyT/I"), explain("bodyT/E"));
    }
}
