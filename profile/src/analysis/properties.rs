//! Which of ompP's properties hold, worst first. The table of them is in
//! [`crate::properties`].

use std::cmp::Reverse;

use super::labels::Label;
use super::tables::Table;
use super::words::{percent, time};
use super::{NEGLIGIBLE, Share};
use crate::advice::advice;
use crate::columns::Quantity;
use crate::model::Profile;
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
    /// What happened, where, and what to try.
    pub sentence: String,
}

impl Property {
    /// Whether it costs so much that something should be done.
    #[must_use]
    pub fn matters(&self) -> bool {
        self.severity.percent >= NEGLIGIBLE
    }
}

pub(crate) fn analyse(
    profile: &Profile,
    labels: &[Label],
    flat: &[Table],
    thread_time_ns: u64,
) -> Vec<Property> {
    let mut found = Vec::new();
    for table in flat {
        let kind = profile.regions[table.region].kind;
        for row in PROPERTIES.iter().filter(|row| row.kinds.contains(&kind)) {
            let lost = row.lost.iter().map(|&quantity| sum(table, quantity)).sum();
            if lost == 0 || !holds(row.condition, table, thread_time_ns) {
                continue;
            }
            let severity = Share::of(lost, thread_time_ns);
            found.push(Property {
                row,
                region: table.region,
                severity,
                sentence: sentence(profile, labels, row, table.region, severity),
            });
        }
    }
    found.sort_by_key(|property| (Reverse(property.severity.ns), property.region));
    found
}

/// The sum of a column, or of what follows from columns.
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
        Condition::Always => true,
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

/// `threads waited ... at the implicit barrier of the LOOP at a.c:15 (in f),
/// which took 4.05 s (16 % of the thread time); try ...`
fn sentence(
    profile: &Profile,
    labels: &[Label],
    row: &PropertyRow,
    region: usize,
    severity: Share,
) -> String {
    let label = &labels[region];
    let region = &profile.regions[region];
    let function = region.function.as_deref();
    let function = function
        .map(|name| format!(" (in {name})"))
        .unwrap_or_default();
    let remedy = advice(region.kind, row.category, region.schedule.as_deref());
    let remedy = remedy
        .map(|text| format!("; {}", lower(text)))
        .unwrap_or_else(|| ".".to_owned());
    format!(
        "For {} of thread time ({}) {} {} the {}{function}{remedy}",
        time(severity.ns),
        percent(severity.percent),
        row.what,
        row.place,
        label.in_words(),
    )
}

/// A sentence as it goes on after a semicolon.
fn lower(sentence: &str) -> String {
    let mut rest = sentence.chars();
    let first = rest.next().map(|c| c.to_ascii_lowercase());
    first.into_iter().chain(rest).collect()
}
