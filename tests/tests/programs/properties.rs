//! Each of ompP's performance properties holds for a program with its fault, at
//! the line of the fault, and none holds for a program without.

use profile::analysis::{NEGLIGIBLE, Property, Report};
use tests::shares::Fault;

use super::{Measured, each_compiler};

/// The properties that matter, as a report names them.
fn found(measured: &Measured<'_>) -> Vec<(&'static str, u32)> {
    let report = Report::new(&measured.profile);
    let matters = |property: &&Property| property.severity.percent >= NEGLIGIBLE;
    let matter = report.properties.iter().filter(matters);
    matter
        .map(|property| (property.row.name, report.labels[property.region].first))
        .collect()
}

/// The property must hold at the first line with this text in the program, or after it.
fn holds(program: &str, property: &str, text: &str) {
    each_compiler(program, |measured| {
        let from = measured.fixture.line_of(text)?;
        let found = found(measured);
        // Severities are shares of time, so another run may show the property.
        match found
            .iter()
            .any(|(name, line)| *name == property && *line >= from)
        {
            true => Ok(()),
            false => Err(Fault::Share(format!(
                "no {property} from line {from} in {found:?}"
            ))),
        }
    });
}

#[test]
fn wait_at_barrier() {
    holds("wait_at_barrier", "WaitAtBarrier", "#pragma omp barrier");
}

#[test]
fn imbalance_in_parallel_region() {
    let text = "#pragma omp parallel num_threads";
    holds(
        "imbalance_in_parallel_region",
        "ImbalanceInParallelRegion",
        text,
    );
}

#[test]
fn imbalance_in_parallel_loop() {
    holds(
        "imbalance_in_parallel_loop",
        "ImbalanceInParallelLoop",
        "#pragma omp for",
    );
}

#[test]
fn imbalance_in_parallel_workshare() {
    let text = "\"workshare\"";
    holds(
        "imbalance_in_workshare",
        "ImbalanceInParallelWorkshare",
        text,
    );
}

#[test]
fn imbalance_in_sections_of_three_kinds() {
    for (property, function) in [
        (
            "ImbalanceDueToNotEnoughSections",
            "static void not_enough(void)",
        ),
        (
            "ImbalanceDueToUnevenSectionDistribution",
            "static void uneven_distribution(void)",
        ),
        (
            "ImbalanceInParallelSections",
            "static void uneven_work(void)",
        ),
    ] {
        holds("unbalanced_sections", property, function);
    }
}

#[test]
fn critical_section_contention() {
    let text = "#pragma omp critical";
    holds("critical_contention", "CriticalSectionContention", text);
}

#[test]
fn lock_contention() {
    holds("lock_convoy", "LockContention", "omp_set_lock(&lock)");
}

#[test]
fn frequent_atomic() {
    holds("frequent_atomic", "FrequentAtomic", "#pragma omp atomic");
}

#[test]
fn insufficient_work_in_parallel_loop() {
    let text = "#pragma omp parallel for";
    holds("insufficient_work", "InsufficienWorkInParallelLoop", text);
}

#[test]
fn unparallelized_in_single_region() {
    holds(
        "serial_single",
        "UnparallelizedInSingleRegion",
        "#pragma omp single",
    );
}

#[test]
fn unparallelized_in_master_region() {
    holds(
        "serial_master",
        "UnparallelizedInMasterRegion",
        "#pragma omp master",
    );
}

#[test]
fn tasks_too_small() {
    holds("small_tasks", "TasksTooSmall", "#pragma omp task shared(a)");
}

#[test]
fn none_without_a_fault() {
    each_compiler("clean", |measured| match found(measured).as_slice() {
        [] => Ok(()),
        found => Err(Fault::Share(format!("finds {found:?}"))),
    });
}
