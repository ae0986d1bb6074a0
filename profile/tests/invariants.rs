//! What must hold of every analysed run, tried on generated ones.

// The lint lets tests unwrap, but not what helps them.
#![allow(clippy::unwrap_used)]

mod generated;

use generated::profiles;
use profile::analysis::{Report, Table};
use profile::columns::Quantity;
use profile::overheads::Category;
use proptest::prelude::*;

fn close(a: u64, b: u64, nodes: usize) -> bool {
    a.abs_diff(b) <= nodes as u64 + 1
}

/// The sums of all call paths' tables of one region in this quantity.
fn over_tree(report: &Report<'_>, region: usize, quantity: Quantity) -> u64 {
    let tables = report
        .on_call_paths
        .iter()
        .filter(|table| table.region == region);
    tables
        .filter_map(|table| Some(table.sum[table.column(quantity)?]))
        .sum()
}

fn adds_up(table: &Table) -> bool {
    (0..table.columns.len()).all(|column| {
        table.sum[column] == table.rows().map(|(_, cells)| cells[column]).sum::<u64>()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn flat_profile_threads_and_tree_agree(profile in profiles()) {
        let report = Report::new(&profile);
        for table in report.flat.iter().chain(&report.on_call_paths) {
            prop_assert!(adds_up(table));
        }
        for table in &report.flat {
            for (column, &sum) in table.columns.iter().zip(&table.sum) {
                let over_tree = over_tree(&report, table.region, column.quantity);
                if column.quantity.contains_recursion() {
                    prop_assert!(sum <= over_tree);
                } else {
                    prop_assert_eq!(sum, over_tree, "{}", column.name);
                }
            }
        }
    }

    #[test]
    fn exclusive_times_of_the_tree_are_the_duration(profile in profiles()) {
        let report = Report::new(&profile);
        let graph = &report.call_graph;
        prop_assert_eq!(graph.paths.len(), profile.nodes.len());
        let all: u64 = graph.paths.iter().map(|path| path.times.exclusive.ns).sum();
        let program = graph.program.exclusive.ns;
        prop_assert!(close(all + program, profile.run.duration_ns, graph.paths.len()));
        for (index, path) in graph.paths.iter().enumerate() {
            let called = graph.paths.iter().filter(|other| other.caller == Some(index));
            let below: u64 = called.map(|other| other.times.inclusive.ns).sum();
            let own = path.times.exclusive.ns;
            prop_assert!(close(own + below, path.times.inclusive.ns, graph.paths.len()));
        }
    }

    #[test]
    fn overheads_are_part_of_what_there_was(profile in profiles()) {
        let report = Report::new(&profile);
        let overheads = &report.overheads;
        prop_assert_eq!(overheads.coverage.ns + overheads.serial.ns, profile.run.duration_ns);
        for region in &overheads.regions {
            prop_assert!(region.losses.total() <= region.total_ns);
            prop_assert!(region.wall.ns <= overheads.coverage.ns + 1);
        }
        for row in overheads.of_whole.iter().chain([&overheads.whole_sum]) {
            let parts: u64 = row.by_category.iter().map(|share| share.ns).sum();
            prop_assert_eq!(parts, row.overhead.ns);
        }
        let rows: u64 = overheads.of_whole.iter().map(|row| row.overhead.ns).sum();
        let places: u64 = overheads.places.iter().map(|place| place.lost.ns).sum();
        prop_assert_eq!(rows, overheads.whole_sum.overhead.ns);
        prop_assert_eq!(places, overheads.whole_sum.overhead.ns);
        prop_assert!(overheads.whole_sum.overhead.ns <= overheads.thread_time_ns);
        prop_assert!(overheads.whole_sum.by_category[Category::Synch as usize].percent <= 100.0);
    }

    /// A thread that executes tasks does not wait.
    #[test]
    fn waits_and_tasks_are_what_the_waits_took(profile in profiles()) {
        let report = Report::new(&profile);
        for table in &report.flat {
            let column = |quantity| table.column(quantity).map(|column| table.sum[column]);
            let Some(tasks) = column(Quantity::TaskTime) else { continue };
            let Some(wait) = column(Quantity::BarrierTime) else { continue };
            let nodes = profile.nodes.iter().filter(|node| node.region == table.region);
            let ibarr: u64 = nodes.flat_map(|node| &node.rows).map(|row| row.ibarr.ns).sum();
            prop_assert!(wait <= ibarr && ibarr <= wait + over_tree(&report, table.region, Quantity::TaskTime));
            prop_assert!(wait + tasks <= ibarr);
        }
    }

    #[test]
    fn parts_of_a_thread_s_time_are_the_whole(profile in profiles()) {
        let report = Report::new(&profile);
        for row in &report.decomposition {
            for parts in &row.threads {
                let sum = parts.runtime_ns() + parts.work_ns + parts.barrier_ns;
                prop_assert_eq!(sum, parts.time_ns);
                prop_assert!(parts.imbalance.is_none_or(|percent| percent >= 0.0));
            }
        }
    }

    #[test]
    fn efficiencies_are_products_from_zero_to_one(profile in profiles()) {
        let report = Report::new(&profile);
        let of = &report.efficiency;
        let regions = of.regions.iter().map(|(_, efficiency)| efficiency);
        for it in regions.chain(&of.levels).chain(&of.program) {
            let parts = [it.total, it.load_balance, it.rest];
            prop_assert!(parts.iter().all(|part| (0.0..=1.0).contains(part)), "{it:?}");
            prop_assert!((it.load_balance * it.rest - it.total).abs() < 1e-9, "{it:?}");
            prop_assert!(it.useful_ns <= it.time_ns);
        }
        let losses: u64 = report.overheads.regions.iter().map(|row| row.losses.total()).sum();
        let lost = of.levels.iter().map(|level| level.time_ns - level.useful_ns).sum::<u64>();
        prop_assert!(lost <= losses);
    }

    #[test]
    fn properties_are_ranked_and_part_of_the_thread_time(profile in profiles()) {
        let report = Report::new(&profile);
        let severities = report.properties.iter().map(|property| property.severity.ns);
        prop_assert!(severities.is_sorted_by(|a, b| a >= b));
        for property in &report.properties {
            prop_assert!(property.row.kinds.contains(&profile.regions[property.region].kind));
            prop_assert!(property.sentence.ends_with('.'), "{}", property.sentence);
        }
    }

    #[test]
    fn every_format_can_be_written(profile in profiles()) {
        let report = Report::new(&profile);
        for writer in profile::report::WRITERS {
            let mut out = Vec::new();
            (writer.write)(&report, &mut out).unwrap();
            prop_assert!(out.ends_with(b"\n"));
        }
        prop_assert!(!report.summary.headline.contains('\n'));
    }

    /// At the end of a measured program a wrong profile must do no harm.
    #[test]
    fn nonsense_is_survived(mut profile in profiles(), wrong in 0..9_usize, which in 0..50_usize) {
        if let Some(node) = profile.nodes.get_mut(which) {
            node.parent = Some(wrong);
            node.region += wrong / 2;
            if let Some(row) = node.rows.first_mut() {
                row.thread += wrong;
                row.main.ns = u64::MAX >> (wrong * 6 + 10);
            }
        }
        profile.threads.truncate(wrong + 1);
        profile.run.max_threads = 0;
        let report = Report::new(&profile);
        for writer in profile::report::WRITERS {
            (writer.write)(&report, &mut std::io::sink()).unwrap();
        }
    }
}
