//! The region profiles: per region (flat) or per call path, with one row per thread and a
//! sum. [`crate::columns`] defines the columns.
//!
//! In the flat profile, counts include all executions. The time of recursive executions by the
//! same thread is only counted once, with the outermost execution.

use super::call_graph::CallGraph;
use super::tree::{Slots, Tree, TreeNode};
use crate::columns::{self, Column, Measures, Quantity};
use crate::model::Profile;
use crate::order;
use crate::parallel::map_parts;

/// A region profile.
#[derive(Clone, Debug)]
pub struct Table {
    /// Index of the region.
    pub region: usize,
    /// The columns.
    pub columns: Vec<Column>,
    /// The thread of each row, as index in the profile's threads.
    pub threads: Vec<usize>,
    /// The cells, row by row.
    cells: Vec<u64>,
    /// The sum of each column.
    pub sum: Vec<u64>,
    /// Whether the rows belong to threads that forked teams measured as a whole. The rows
    /// then stand for the teams, and only the time and the number of executions are known.
    pub is_outside: bool,
    /// Whether it is of a construct whose sections were not seen. Then neither their number is
    /// known nor the time of handing them out.
    pub(crate) hides_sections: bool,
}

impl Table {
    fn new(region: usize, columns: Vec<Column>) -> Self {
        let sum = vec![0; columns.len()];
        Self {
            region,
            columns,
            threads: Vec::new(),
            cells: Vec::new(),
            sum,
            is_outside: false,
            hides_sections: false,
        }
    }

    /// The rows: thread and cells.
    pub fn rows(&self) -> impl Iterator<Item = (usize, &[u64])> {
        self.threads
            .iter()
            .copied()
            .zip(self.cells.chunks_exact(self.columns.len().max(1)))
    }

    /// The column that shows this quantity including the regions below, if there is one.
    #[must_use]
    pub fn column(&self, quantity: Quantity) -> Option<usize> {
        self.columns
            .iter()
            .position(|column| column.quantity == quantity && !column.exclusive)
    }

    /// Whether the values of a column are known.
    #[must_use]
    pub fn is_known(&self, column: &Column) -> bool {
        let is_told = matches!(
            column.quantity,
            Quantity::ExecTime | Quantity::ExecCount | Quantity::Counter(_)
        );
        let is_of_sections = matches!(
            column.quantity,
            Quantity::SectionCount | Quantity::ManagementTime
        );
        is_told || !(self.is_outside || self.hides_sections && is_of_sections)
    }

    /// The smallest, mean and largest cell of each column. Writers show them if there are too
    /// many rows to read.
    #[must_use]
    pub fn spread(&self) -> [(&'static str, Vec<u64>); 3] {
        let bounds = |column: usize| {
            let rows = self.cells.chunks_exact(self.columns.len());
            rows.fold((u64::MAX, 0), |(least, most), cells| {
                (cells[column].min(least), cells[column].max(most))
            })
        };
        let (least, most) = match self.threads.is_empty() {
            true => (self.sum.clone(), self.sum.clone()),
            false => (0..self.columns.len()).map(bounds).unzip(),
        };
        let rows = self.threads.len().max(1) as u64;
        let mean = self.sum.iter().map(|sum| sum / rows).collect();
        [("MIN", least), ("MEAN", mean), ("MAX", most)]
    }

    /// Reserves space for additional rows.
    fn reserve(&mut self, rows: usize) {
        self.threads.reserve_exact(rows);
        self.cells.reserve_exact(rows * self.columns.len());
    }

    fn push_row(&mut self, thread: usize) -> usize {
        self.threads.push(thread);
        self.cells.resize(self.cells.len() + self.columns.len(), 0);
        self.threads.len() - 1
    }

    /// Adds a node's row to a row of the table.
    fn add(&mut self, row: usize, measures: &Measures<'_>, repeats: bool) {
        let cells = &mut self.cells[row * self.columns.len()..];
        for ((column, cell), sum) in self.columns.iter().zip(cells).zip(&mut self.sum) {
            if repeats && column.quantity.contains_recursion() {
                continue;
            }
            let value = column.value(measures);
            *cell += value;
            *sum += value;
        }
    }

    /// Adds the rows of another table of the same region.
    pub fn absorb(&mut self, other: &Self) {
        for (thread, cells) in other.rows() {
            let known = self.threads.iter().position(|known| *known == thread);
            let row = known.unwrap_or_else(|| self.push_row(thread));
            let mine = &mut self.cells[row * self.columns.len()..];
            for ((mine, sum), cell) in mine.iter_mut().zip(&mut self.sum).zip(cells) {
                *mine += cell;
                *sum += cell;
            }
        }
        self.sort();
    }

    /// Keeps the rows of the chosen threads. The sum is then theirs.
    pub(crate) fn keep(&mut self, is_kept: impl Fn(usize) -> bool) {
        let mut kept = Self::new(self.region, std::mem::take(&mut self.columns));
        kept.is_outside = self.is_outside;
        kept.hides_sections = self.hides_sections;
        for (thread, cells) in self
            .threads
            .iter()
            .zip(self.cells.chunks_exact(self.sum.len()))
        {
            if is_kept(*thread) {
                kept.threads.push(*thread);
                kept.cells.extend_from_slice(cells);
                for (sum, cell) in kept.sum.iter_mut().zip(cells) {
                    *sum += cell;
                }
            }
        }
        *self = kept;
    }

    /// Orders the rows by thread.
    fn sort(&mut self) {
        if self.threads.is_sorted() {
            return;
        }
        let threads = &self.threads;
        let order = order::argsort(threads.len(), &|a, b| threads[a].cmp(&threads[b]));
        let mut cells = Vec::with_capacity(self.cells.len());
        for row in &order {
            let begin = row * self.columns.len();
            cells.extend_from_slice(&self.cells[begin..begin + self.columns.len()]);
        }
        self.threads = order.iter().map(|row| threads[*row]).collect();
        self.cells = cells;
    }
}

/// One table per region that ran, most thread time first.
pub(crate) fn flat(profile: &Profile, tree: &Tree<'_>) -> Vec<Table> {
    let mut nodes_of: Vec<Vec<&TreeNode<'_>>> = vec![Vec::new(); profile.regions.len()];
    for node in &tree.nodes {
        nodes_of[node.region].push(node);
    }
    let ran: Vec<(usize, Vec<&TreeNode<'_>>)> = nodes_of
        .into_iter()
        .enumerate()
        .filter(|(_, nodes)| !nodes.is_empty())
        .collect();
    let mut tables = map_parts(profile.is_large(), &ran, &|part: &[(usize, Vec<_>)]| {
        let mut slots = Slots::new(profile.threads.len());
        let tables = part.iter().map(|(region, nodes)| {
            let mut columns = columns::flat(profile.regions[*region].kind);
            columns.extend(columns::of_counters(&profile.run.counters));
            let mut table = Table::new(*region, columns);
            add_nodes(&mut table, nodes, &mut slots);
            table
        });
        tables.collect()
    });
    order::sort_by_key(&mut tables, |table| {
        let time = table
            .column(Quantity::ExecTime)
            .map_or(0, |column| table.sum[column]);
        (std::cmp::Reverse(time), table.region)
    });
    tables
}

fn add_nodes(table: &mut Table, nodes: &[&TreeNode<'_>], slots: &mut Slots) {
    slots.start();
    // Most regions have a single node in the tree.
    table.reserve(nodes.first().map_or(0, |node| node.threads()));
    table.is_outside = nodes.iter().all(|node| node.is_outside());
    table.hides_sections = nodes.iter().all(|node| node.hides_sections);
    for node in nodes {
        for measures in node.executors() {
            let thread = measures.row.thread;
            let row = slots.get(thread).unwrap_or_else(|| table.push_row(thread));
            slots.set(thread, row);
            table.add(row, &measures, node.repeats);
        }
    }
    table.sort();
}

/// The tables of the call paths. Together they are as large as the profile, and they are used
/// one by one. So each is made on demand.
#[derive(Debug)]
pub struct OnCallPaths<'p> {
    tree: Tree<'p>,
    /// The node of each call path, in the call graph's order.
    nodes: Vec<usize>,
    counters: Vec<Column>,
    /// For each thread, whether it is shown; none if all are.
    kept: Option<Vec<bool>>,
}

impl<'p> OnCallPaths<'p> {
    pub(super) fn tree(&self) -> &Tree<'p> {
        &self.tree
    }

    pub(crate) fn new(profile: &Profile, tree: Tree<'p>, graph: &CallGraph) -> Self {
        Self {
            tree,
            nodes: graph.paths.iter().map(|path| path.node).collect(),
            counters: columns::of_counters(&profile.run.counters),
            kept: None,
        }
    }

    /// One table per call path, in the call graph's order.
    pub fn tables(&self) -> impl Iterator<Item = Table> {
        (0..self.nodes.len()).map(|path| self.table(path))
    }

    /// The table of the call path at this index of the call graph.
    #[must_use]
    pub fn table(&self, path: usize) -> Table {
        let node = &self.tree.nodes[self.nodes[path]];
        let mut columns = columns::on_call_path(node.kind);
        columns.extend(&self.counters);
        let mut table = Table::new(node.region, columns);
        table.reserve(node.threads());
        table.is_outside = node.is_outside();
        table.hides_sections = node.hides_sections;
        for measures in node.executors() {
            let row = table.push_row(measures.row.thread);
            table.add(row, &measures, false);
        }
        table.sort();
        if let Some(kept) = &self.kept {
            table.keep(|thread| kept[thread]);
        }
        table
    }

    /// Keeps the call paths whose flag is set.
    pub(super) fn keep_paths(&mut self, kept: &[bool]) {
        keep(&mut self.nodes, kept);
    }

    /// Keeps the rows of the threads whose flag is set.
    pub(super) fn keep_threads(&mut self, kept: &[bool]) {
        self.kept = Some(kept.to_vec());
    }
}

/// Keeps the values whose flag is set.
pub(super) fn keep<T>(values: &mut Vec<T>, flags: &[bool]) {
    let mut flags = flags.iter();
    values.retain(|_| flags.next().is_none_or(|kept| *kept));
}
