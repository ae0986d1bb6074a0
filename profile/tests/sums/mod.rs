//! Properties that must hold for every analysed run: sums over the tree, over the threads and
//! over the program are equal, and no part is larger than its whole. They are tested on
//! generated profiles and on those of real programs.

#![allow(dead_code)] // Each user needs a part of it.

use profile::analysis::{Barrier, Efficiency, Part, Report, Table};
use profile::columns::Quantity;
use profile::overheads::Category;

/// All contradictions in a report; empty if there are none.
pub(crate) fn contradictions(report: &Report<'_>) -> Vec<String> {
    contradictions_beyond(report, 0)
}

/// The same, but sums over threads may differ by this number of nanoseconds.
pub(crate) fn contradictions_beyond(report: &Report<'_>, between_threads_ns: u64) -> Vec<String> {
    let rules: [fn(&Report<'_>, &mut Findings); 9] = [
        flat_profile_threads_and_tree_agree,
        exclusive_times_of_the_tree_are_the_duration,
        overheads_are_part_of_what_there_was,
        waits_and_tasks_are_what_the_waits_took,
        parts_of_a_thread_s_time_are_the_whole,
        efficiencies_are_products_from_zero_to_one,
        thread_time_is_taken_apart,
        parts_of_thread_time_are_the_overheads,
        properties_are_ranked,
    ];
    let mut findings = Findings {
        found: Vec::new(),
        between_threads_ns,
    };
    for rule in rules {
        rule(report, &mut findings);
    }
    findings.found
}

struct Findings {
    found: Vec<String>,
    between_threads_ns: u64,
}

impl Findings {
    fn must(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.found.push(what());
        }
    }

    fn same(&mut self, a: u64, b: u64, what: &str) {
        let differ = a.abs_diff(b) > self.between_threads_ns;
        self.must(!differ, || format!("{what}: {a} and {b}"));
    }

    fn at_most(&mut self, a: u64, b: u64, what: &str) {
        self.must(a <= b, || format!("{what}: {a} and {b}"));
    }

    /// The values may differ by as many roundings as there are call paths.
    fn close(&mut self, a: u64, b: u64, paths: usize, what: &str) {
        self.must(a.abs_diff(b) <= paths as u64 + 1, || {
            format!("{what}: {a} and {b}")
        });
    }
}

/// The sum of a quantity over the tables of all call paths that end in one region.
fn over_tree(report: &Report<'_>, region: usize, quantity: Quantity) -> u64 {
    let tables = report
        .on_call_paths
        .tables()
        .filter(|table| table.region == region);
    tables
        .filter_map(|table| Some(table.sum[table.column(quantity)?]))
        .sum()
}

fn flat_profile_threads_and_tree_agree(report: &Report<'_>, findings: &mut Findings) {
    for table in &report.flat {
        threads_add_up(table, findings);
    }
    for table in report.on_call_paths.tables() {
        threads_add_up(&table, findings);
    }
    for table in &report.flat {
        for (column, &sum) in table.columns.iter().zip(&table.sum) {
            let over_tree = over_tree(report, table.region, column.quantity);
            match column.quantity.contains_recursion() {
                true => findings.at_most(sum, over_tree, column.name),
                false => findings.same(sum, over_tree, column.name),
            }
        }
    }
}

fn threads_add_up(table: &Table, findings: &mut Findings) {
    for (at, column) in table.columns.iter().enumerate() {
        let threads = table.rows().map(|(_, cells)| cells[at]).sum();
        findings.same(table.sum[at], threads, column.name);
    }
}

fn exclusive_times_of_the_tree_are_the_duration(report: &Report<'_>, findings: &mut Findings) {
    let graph = &report.call_graph;
    let paths = graph.paths.len();
    findings.must(paths == report.profile.nodes.len(), || {
        format!("{paths} call paths")
    });
    let all: u64 = graph.paths.iter().map(|path| path.times.exclusive.ns).sum();
    let program = graph.program.exclusive.ns;
    let duration = report.profile.run.duration_ns;
    findings.close(all + program, duration, paths, "exclusive times, duration");
    for (index, path) in graph.paths.iter().enumerate() {
        let called = graph
            .paths
            .iter()
            .filter(|other| other.caller == Some(index));
        let below: u64 = called.map(|other| other.times.inclusive.ns).sum();
        let parts = path.times.exclusive.ns + below;
        let what = format!("call path {index}: its own and what it contains, all");
        findings.close(parts, path.times.inclusive.ns, paths, &what);
    }
}

fn overheads_are_part_of_what_there_was(report: &Report<'_>, findings: &mut Findings) {
    let overheads = &report.overheads;
    let duration = report.profile.run.duration_ns;
    let covered = overheads.coverage.ns + overheads.serial.ns;
    findings.same(covered, duration, "coverage and serial part, duration");
    for region in &overheads.regions {
        findings.at_most(
            region.losses.total() + region.untold_ns,
            region.total_ns,
            "overheads of a region",
        );
        findings.at_most(
            region.wall.ns,
            overheads.coverage.ns + 1,
            "region, coverage",
        );
    }
    for row in overheads.of_whole.iter().chain([&overheads.whole_sum]) {
        let parts = row.by_category.iter().map(|share| share.ns).sum();
        findings.same(parts, row.overhead.ns, "categories, overhead");
    }
    let rows = overheads.of_whole.iter().map(|row| row.overhead.ns).sum();
    let places = overheads.places.iter().map(|place| place.lost.ns).sum();
    let whole = overheads.whole_sum.overhead.ns;
    findings.same(rows, whole, "overheads of regions, of the program");
    findings.same(places, whole, "overheads of places, of the program");
    findings.at_most(whole, overheads.thread_time_ns, "overheads, thread time");
    let totals = overheads.of_whole.iter().map(|row| row.total.ns).sum();
    let whole_total = overheads.whole_sum.total.ns;
    findings.same(totals, whole_total, "totals of regions, their sum");
    findings.at_most(whole_total, overheads.thread_time_ns, "totals, thread time");
    let untold = overheads
        .untold_places
        .iter()
        .map(|place| place.time.ns)
        .sum();
    let places = overheads.untold_places.len();
    findings.close(untold, overheads.untold.ns, places, "untold at places, all");
    let synch = &overheads.whole_sum.by_category[Category::Synch as usize];
    findings.must(synch.percent <= 100.0, || format!("{} %", synch.percent));
}

/// A thread does not wait while it executes tasks.
fn waits_and_tasks_are_what_the_waits_took(report: &Report<'_>, findings: &mut Findings) {
    for table in &report.flat {
        let column = |quantity| table.column(quantity).map(|column| table.sum[column]);
        let (Some(tasks), Some(wait)) = (column(Quantity::TaskTime), column(Quantity::BarrierTime))
        else {
            continue;
        };
        if report.profile.regions[table.region].unsplit.is_some() {
            continue; // What is estimated is not recorded.
        }
        let nodes = report.profile.nodes.iter();
        let nodes = nodes.filter(|node| node.region == table.region);
        let ibarr: u64 = nodes
            .flat_map(|node| &node.rows)
            .map(|row| row.ibarr.ns)
            .sum();
        let in_tree = over_tree(report, table.region, Quantity::TaskTime);
        findings.at_most(wait, ibarr, "waits, barriers");
        // Waits around a taskloop are untold, since threads may have executed its tasks.
        let untold = report.overheads.untold_places.iter();
        let untold = untold.filter(|place| place.region == table.region && place.may_have_tasks);
        let untold: u64 = untold.map(|place| place.time.ns).sum();
        findings.at_most(ibarr, wait + in_tree + untold, "barriers, waits and tasks");
        findings.at_most(wait + tasks, ibarr, "waits and tasks, barriers");
    }
}

fn parts_of_a_thread_s_time_are_the_whole(report: &Report<'_>, findings: &mut Findings) {
    for parts in report.decomposition().flat_map(|row| row.threads) {
        let sum = parts.runtime_ns() + parts.work_ns + parts.waits_ns + parts.barrier_ns;
        findings.same(sum, parts.time_ns, "parts of a thread's time, all");
        findings.must(parts.imbalance.is_none_or(|percent| percent >= 0.0), || {
            format!("imbalance {:?}", parts.imbalance)
        });
    }
}

fn efficiencies_are_products_from_zero_to_one(report: &Report<'_>, findings: &mut Findings) {
    let of = &report.efficiency;
    let regions = of.regions.iter().map(|(_, efficiency)| efficiency);
    for it in regions.chain(&of.levels).chain(&of.program) {
        let parts = [it.total, it.load_balance, it.rest];
        let is_share = parts.iter().all(|part| (0.0..=1.0).contains(part));
        let is_product = (it.load_balance * it.rest - it.total).abs() < 1e-9;
        findings.must(is_share && is_product, || format!("{it:?}"));
        let known = it.useful_ns + it.untold_ns;
        findings.at_most(known, it.time_ns, "useful and untold time, time");
    }
}

/// Thread time is useful, lost, untold, or time without work or without a thread. The times of
/// regions add up to those of levels, and together with the serial part to that of the program.
fn thread_time_is_taken_apart(report: &Report<'_>, findings: &mut Findings) {
    let (of, overheads) = (&report.efficiency, &report.overheads);
    let Some(program) = &of.program else { return };
    let sum = |of: fn(&Efficiency) -> u64, all: &mut dyn Iterator<Item = &Efficiency>| -> u64 {
        all.map(of).sum()
    };
    let in_regions = |part| sum(part, &mut of.regions.iter().map(|(_, region)| region));
    let on_levels = |part| sum(part, &mut of.levels.iter());
    let parts: [fn(&Efficiency) -> u64; 3] =
        [|it| it.time_ns, |it| it.useful_ns, |it| it.untold_ns];
    for part in parts {
        findings.same(in_regions(part), on_levels(part), "of regions, of levels");
    }
    findings.same(
        on_levels(|level| level.time_ns),
        overheads.whole_sum.total.ns,
        "time on the levels, totals of the regions",
    );
    for level in &of.levels {
        findings.at_most(level.useful_ns, program.useful_ns, "useful on a level");
        findings.at_most(level.time_ns, program.time_ns, "time on a level");
    }
    let parts = program.useful_ns
        + overheads.whole_sum.overhead.ns
        + overheads.untold.ns
        + overheads.idle.ns
        + overheads.small_teams.ns;
    let processes = overheads.processes as usize;
    findings.close(
        parts,
        program.time_ns,
        processes,
        "parts of the thread time, all",
    );
    for row in report.decomposition() {
        let region = of.regions.iter().find(|(region, _)| *region == row.region);
        let Some((_, region)) = region.filter(|_| row.barrier != Barrier::Hidden) else {
            continue;
        };
        let work = row.threads.iter().map(|parts| parts.work_ns).sum::<u64>();
        let known = region.useful_ns + region.untold_ns;
        findings.same(work, known, "work of threads, useful time");
    }
}

fn properties_are_ranked(report: &Report<'_>, findings: &mut Findings) {
    let severities = report.properties.iter();
    let severities = severities.map(|property| property.severity.ns);
    findings.must(severities.is_sorted_by(|a, b| a >= b), || {
        "properties not in the order of severity".into()
    });
    for property in &report.properties {
        let kind = report.profile.regions[property.region].kind;
        findings.must(property.row.kinds.contains(&kind), || {
            format!("{} of {kind:?}", property.sentence())
        });
        findings.must(property.sentence().ends_with('.'), || property.sentence());
    }
}

/// The times of threads on all call paths add up to the tables of overheads.
fn parts_of_thread_time_are_the_overheads(report: &Report<'_>, findings: &mut Findings) {
    let sum = report.severities().sum();
    let all: u64 = sum.iter().sum();
    let of = |from: Part, to: Part| sum[from as usize..=to as usize].iter().sum::<u64>();
    let overheads = &report.overheads;
    let lost = |category: Category| overheads.whole_sum.by_category[category as usize].ns;
    let synch = of(Part::Barrier, Part::Taskgroup) + of(Part::Taskwait, Part::Taskwait);
    let managed = of(Part::Start, Part::Creation);
    for (parts, is, what) in [
        (all, overheads.thread_time_ns, "all parts"),
        (synch, lost(Category::Synch), "Synch"),
        (
            of(Part::Imbalance, Part::Imbalance),
            lost(Category::Imbal),
            "Imbal",
        ),
        (
            of(Part::LittleWork, Part::LittleWork),
            lost(Category::Limpar),
            "Limpar",
        ),
        (managed, lost(Category::Mgmt), "Mgmt"),
    ] {
        findings.same(parts, is, what);
    }
    findings.must(
        of(Part::Untold, Part::Untold) <= overheads.untold.ns,
        || "more is untold than there is".to_owned(),
    );
}
