//! Which part of a report is shown: some regions, some threads, in an order that the user
//! chose. Sums and shares are still those of the whole run. Only the `SUM` of a table is the
//! sum of the rows above it.

use std::cmp::Reverse;

use super::pattern::{glob, is_like};
use super::tables::keep;
use super::{CallGraph, Label, NEGLIGIBLE, Report, Share, Table};
use crate::columns::Quantity;
use crate::order;
use crate::overheads::Category;

/// The part of a report to show.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// Only regions that match one of these patterns. A pattern matches the number (`R00002`),
    /// kind, name, function, file, or `file:line` of a region, in upper or lower case. A
    /// pattern with `*` or `?` must match as a whole, others any part.
    pub regions: Vec<String>,
    /// Only rows of these threads, by path (`0->3`) or pattern (`0->*`).
    pub threads: Vec<String>,
    /// Only results with at least this share, in percent: regions and call paths by their time,
    /// properties by their severity.
    pub min_percent: Option<f64>,
    /// The column by whose sum regions are sorted, largest first.
    pub sort: Option<String>,
    /// At most this many regions.
    pub top: Option<usize>,
}

/// Why a selection selects nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectionError {
    /// No table has such a column.
    #[error("no region has a column '{name}': try one of {}", columns.join(", "))]
    Column {
        /// The requested name.
        name: String,
        /// The existing columns.
        columns: Vec<&'static str>,
    },
    /// No region matches.
    #[error("no region matches: see the region overview for names, lines and kinds")]
    NoRegion,
    /// No thread matches.
    #[error("no thread matches: there are {}", threads.join(", "))]
    NoThread {
        /// The existing threads, or the first of them.
        threads: Vec<String>,
    },
}

/// The most threads that a message names.
const MOST_NAMED: usize = 8;

impl Selection {
    /// Whether everything is shown.
    #[must_use]
    pub fn is_all(&self) -> bool {
        *self == Self::default()
    }

    /// The selection in words.
    #[must_use]
    pub fn in_words(&self) -> String {
        let quoted = |what: &str, patterns: &[String]| {
            (!patterns.is_empty()).then(|| format!("{what} {}", patterns.join(" or ")))
        };
        let parts = [
            quoted("regions like", &self.regions),
            quoted("threads", &self.threads),
            self.min_percent.map(|least| format!("at least {least} %")),
            self.sort
                .as_ref()
                .map(|column| format!("sorted by {column}")),
            self.top.map(|top| format!("the first {top} regions")),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    fn matches_region(&self, label: &Label) -> bool {
        let line = label.first;
        let names = [
            label.id.as_str(),
            label.kind.row().full_name,
            label.name.as_deref().unwrap_or_default(),
            label.function.as_deref().unwrap_or_default(),
            &label.file,
            &label.short_file,
            &format!("{}:{line}", label.file),
            &format!("{}:{line}", label.short_file),
        ];
        let matches = |pattern: &String| names.iter().any(|name| is_like(pattern, name));
        self.regions.is_empty() || self.regions.iter().any(matches)
    }

    fn matches_thread(&self, name: &str) -> bool {
        let whole = |pattern: &String| glob(pattern.as_bytes(), name.as_bytes());
        self.threads.is_empty() || self.threads.iter().any(whole)
    }
}

impl Report<'_> {
    /// Leaves out what is not selected.
    ///
    /// # Errors
    /// If nothing is left, or the column to sort by does not exist.
    pub fn select(&mut self, selection: &Selection) -> Result<(), SelectionError> {
        if selection.is_all() {
            return Ok(());
        }
        if let Some(column) = &selection.sort {
            self.sort_by(column)?;
        }
        let kept = self.kept_regions(selection);
        if !kept.contains(&true) {
            return Err(SelectionError::NoRegion);
        }
        let threads: Vec<bool> = self
            .threads
            .iter()
            .map(|name| selection.matches_thread(name))
            .collect();
        if !selection.threads.is_empty() && !threads.contains(&true) {
            let threads = self.threads.iter().take(MOST_NAMED).cloned().collect();
            return Err(SelectionError::NoThread { threads });
        }
        self.keep_regions(&kept);
        self.keep_paths(&kept, selection.min_percent.unwrap_or(0.0));
        if !selection.threads.is_empty() {
            self.keep_threads(&threads);
        }
        let least = selection.min_percent.unwrap_or(0.0);
        self.properties.retain(|it| it.severity.percent >= least);
        self.least_severity = selection.min_percent.unwrap_or(NEGLIGIBLE);
        self.shown = Some(selection.in_words());
        Ok(())
    }

    /// Sorts regions by a column of theirs, or by a category of overhead.
    fn sort_by(&mut self, name: &str) -> Result<(), SelectionError> {
        let is_it = |other: &str| other.eq_ignore_ascii_case(name);
        let category = Category::ALL.into_iter().find(|of| is_it(of.name()));
        if let Some(category) = category {
            let lost = |of: &super::OverheadRow| Reverse(of.by_category[category as usize].ns);
            order::sort_by_key(&mut self.overheads.of_whole, lost);
            order::sort_by_key(&mut self.overheads.of_each, lost);
            return Ok(());
        }
        let value = |table: &Table| {
            let column = table.columns.iter().position(|column| is_it(column.name));
            column.map(|column| table.sum[column])
        };
        if !self.flat.iter().any(|table| value(table).is_some()) {
            let columns = self.flat.iter().flat_map(|table| &table.columns);
            let mut columns: Vec<&str> = columns.map(|column| column.name).collect();
            columns.extend(Category::ALL.map(Category::name));
            columns.sort_unstable();
            columns.dedup();
            let name = name.to_owned();
            return Err(SelectionError::Column { name, columns });
        }
        order::sort_by_key(&mut self.flat, |table| Reverse(value(table)));
        Ok(())
    }

    /// For each region, whether it is shown.
    fn kept_regions(&self, selection: &Selection) -> Vec<bool> {
        let labels = self.labels.iter();
        let mut kept: Vec<bool> = labels
            .map(|label| selection.matches_region(label))
            .collect();
        if selection.min_percent.is_none() && selection.top.is_none() {
            return kept;
        }
        let least = selection.min_percent.unwrap_or(0.0);
        let mut ran = vec![false; kept.len()];
        let enough = self.flat.iter().filter(|table| {
            let time = table.column(Quantity::ExecTime);
            let time = time.map_or(0, |column| table.sum[column]);
            let share = Share::of(time, self.overheads.thread_time_ns);
            kept[table.region] && share.percent >= least
        });
        for table in enough.take(selection.top.unwrap_or(usize::MAX)) {
            ran[table.region] = true;
        }
        std::mem::swap(&mut kept, &mut ran);
        kept
    }

    fn keep_regions(&mut self, kept: &[bool]) {
        self.flat.retain(|table| kept[table.region]);
        for group in &mut self.overview {
            group.regions.retain(|(region, _)| kept[*region]);
        }
        self.overview.retain(|group| !group.regions.is_empty());
        let all = kept.iter().all(|kept| *kept);
        let overheads = &mut self.overheads;
        overheads.regions.retain(|row| kept[row.region]);
        overheads.places.retain(|row| kept[row.region]);
        for rows in [&mut overheads.of_each, &mut overheads.of_whole] {
            rows.retain(|row| row.region.map_or(all, |region| kept[region]));
        }
        self.properties.retain(|row| kept[row.region]);
        self.efficiency.regions.retain(|(region, _)| kept[*region]);
        if let Some(dilation) = &mut self.dilation {
            dilation.regions.retain(|row| kept[row.region]);
        }
        self.spreads.retain(|row| kept[row.region]);
        self.lateness.retain(|row| kept[row.region]);
        for contended in &mut self.contention {
            contended.guard.sites.retain(|site| kept[site.region]);
        }
        self.contention.retain(|of| !of.guard.sites.is_empty());
    }

    /// Keeps the call paths that lead to regions that are shown.
    fn keep_paths(&mut self, kept: &[bool], least: f64) {
        let paths = &self.call_graph.paths;
        let mut needed: Vec<bool> = paths
            .iter()
            .map(|path| kept[path.region] && path.times.inclusive.percent >= least)
            .collect();
        // Callers stand before callees.
        for index in (0..paths.len()).rev() {
            if let Some(caller) = paths[index].caller.filter(|_| needed[index]) {
                needed[caller] = true;
            }
        }
        self.on_call_paths.keep_paths(&needed);
        keep(&mut self.own_times, &needed);
        self.call_graph.keep(&needed);
    }

    fn keep_threads(&mut self, kept: &[bool]) {
        self.decompositions.remember_all_threads(&self.flat);
        for table in &mut self.flat {
            table.keep(|thread| kept[thread]);
        }
        self.on_call_paths.keep_threads(kept);
        self.flat.retain(|table| !table.threads.is_empty());
        for row in &mut self.lateness {
            row.threads.retain(|latecomer| kept[latecomer.thread]);
        }
    }
}

impl CallGraph {
    fn keep(&mut self, kept: &[bool]) {
        let mut places: Vec<usize> = Vec::with_capacity(kept.len());
        let mut next = 0;
        for &kept in kept {
            places.push(next);
            next += usize::from(kept);
        }
        keep(&mut self.paths, kept);
        let mut last_of = std::collections::HashMap::new();
        for (index, path) in self.paths.iter_mut().enumerate() {
            path.caller = path.caller.map(|caller| places[caller]);
            path.is_last = false;
            last_of.insert(path.caller, index);
        }
        for index in last_of.into_values() {
            self.paths[index].is_last = true;
        }
    }
}
