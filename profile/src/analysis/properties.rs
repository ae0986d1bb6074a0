//! Which of ompP's properties hold, worst first. The table of them is in
//! [`crate::properties`].

use std::cmp::Reverse;

use super::Share;
use super::atomics;
use super::grain::Grain;
use super::labels::Label;
use super::remedy::{loop_facts, tasks_while_waiting, too_little_work};
use super::tables::Table;
use super::tree::Tree;
use super::words::{percent, time};
use crate::advice::{TOO_FEW_TASKS, TOO_LITTLE_WORK, advice};
use crate::columns::Quantity;
use crate::model::{Profile, Region};
use crate::order;
use crate::properties::{Condition, FREQUENT_PER_SECOND, PROPERTIES, PropertyRow};

/// A property that holds for a region.
#[derive(Clone, Debug)]
pub struct Property {
    /// Which one.
    pub row: &'static PropertyRow,
    /// Index of the region.
    pub region: usize,
    /// Thread time lost; percent of the program's thread time, the severity.
    pub severity: Share,
    /// The event and its place, without a final stop.
    pub what: String,
    /// Advice that continues the sentence; only a full stop if there is none.
    pub remedy: String,
}

impl Property {
    /// The event, its place, and advice.
    #[must_use]
    pub fn sentence(&self) -> String {
        format!("{}{}", self.what, self.remedy)
    }
}

pub(crate) fn analyse(
    profile: &Profile,
    tree: &Tree<'_>,
    labels: &[Label],
    flat: &[Table],
    grains: &[Grain],
    thread_time_ns: u64,
) -> Vec<Property> {
    let mut found = Vec::new();
    let too_small = |region| {
        let mut grains = grains.iter();
        grains.find(|grain| grain.region == region && grain.is_too_small())
    };
    for table in flat {
        let kind = profile.regions[table.region].kind;
        for row in PROPERTIES.iter().filter(|row| row.kinds.contains(&kind)) {
            let lost_there: u64 = row.lost.iter().map(|&quantity| sum(table, quantity)).sum();
            let lost = match row.condition {
                Condition::SmallTasks => too_small(table.region).map_or(0, |grain| grain.cost_ns()),
                Condition::Frequent => {
                    let updates = sum(table, Quantity::ExecCount);
                    let hidden_ns = atomics::hidden_ns(profile, tree, table.region);
                    lost_there.saturating_sub(updates.saturating_mul(hidden_ns))
                }
                _ => lost_there,
            };
            if lost == 0 || !holds(row.condition, table, thread_time_ns) {
                continue;
            }
            let severity = Share::of(lost, thread_time_ns);
            let place = Shown {
                region: &profile.regions[table.region],
                label: &labels[table.region],
                table,
            };
            found.push(Property {
                row,
                region: table.region,
                severity,
                what: sentence(row, &place, severity),
                remedy: remedy(row, &place),
            });
        }
    }
    order::sort_by_key(&mut found, |property| {
        (Reverse(property.severity.ns), property.region)
    });
    found
}

/// The sum of a column, or of a value that follows from columns.
fn sum(table: &Table, quantity: Quantity) -> u64 {
    let of = |quantity| table.column(quantity).map_or(0, |column| table.sum[column]);
    match quantity {
        Quantity::WaitTime => of(Quantity::ExecTime).saturating_sub(of(Quantity::TaskTime)),
        quantity => of(quantity),
    }
}

fn holds(condition: Condition, table: &Table, thread_time_ns: u64) -> bool {
    let sections = sum(table, Quantity::SectionCount);
    let executions = sum(table, Quantity::ExecCount);
    match condition {
        // The lost time alone decides these conditions.
        Condition::Always | Condition::SmallTasks => true,
        Condition::SectionsUnevenlySpread => spreads_unevenly(table) && sections > executions,
        Condition::TooFewSections => spreads_unevenly(table) && sections < executions,
        Condition::SectionsUneven => !spreads_unevenly(table) || sections == executions,
        Condition::Frequent => {
            let frequent = u128::from(thread_time_ns) * u128::from(FREQUENT_PER_SECOND);
            u128::from(executions) * 1_000_000_000 > frequent
        }
        Condition::LittleWork => {
            let cost = sum(table, Quantity::EnterTime) + sum(table, Quantity::ExitTime);
            cost > sum(table, Quantity::BodyTime) + sum(table, Quantity::TaskTime)
        }
    }
}

/// Whether some thread executed more sections than another.
fn spreads_unevenly(table: &Table) -> bool {
    let counts = || {
        let column = table.column(Quantity::SectionCount);
        column
            .into_iter()
            .flat_map(|column| table.rows().map(move |(_, cells)| cells[column]))
    };
    counts().min() != counts().max()
}

/// The facts about a region that a sentence mentions.
struct Shown<'a> {
    region: &'a Region,
    label: &'a Label,
    table: &'a Table,
}

/// `For 4.05 s of thread time (16 %) threads waited ... at the implicit barrier
/// of the LOOP at a.c:15 (in f)`
fn sentence(row: &PropertyRow, place: &Shown<'_>, severity: Share) -> String {
    format!(
        "For {} of thread time ({}) {} {} the {}",
        time(severity.ns),
        percent(severity.percent),
        row.what,
        row.place,
        place.label.in_words_and_function()
    )
}

/// Advice, as the rest of the sentence.
fn remedy(row: &PropertyRow, place: &Shown<'_>) -> String {
    let waits = row.lost.iter();
    if let Some(tasks) = waits
        .clone()
        .find_map(|&lost| tasks_while_waiting(place.table, lost))
    {
        return format!(
            "; tasks were executed for {} meanwhile, and {}",
            time(tasks),
            lower(TOO_FEW_TASKS)
        );
    }
    let little = |&lost| too_little_work(place.table, row.category, lost);
    if let Some(work) = waits.clone().find_map(little) {
        return format!(
            "; all threads together worked only {}, which does not explain it: {}",
            time(work),
            lower(TOO_LITTLE_WORK)
        );
    }
    let region = place.region;
    let known = || {
        advice(
            region.kind,
            row.category,
            loop_facts(region, Some(place.table)),
        )
    };
    match row.remedy.or_else(known) {
        Some(text) => format!("; {}", lower(text)),
        None => ".".to_owned(),
    }
}

/// A sentence in the form in which it continues after a semicolon.
fn lower(sentence: &str) -> String {
    let mut rest = sentence.chars();
    let first = rest.next().map(|c| c.to_ascii_lowercase());
    first.into_iter().chain(rest).collect()
}
