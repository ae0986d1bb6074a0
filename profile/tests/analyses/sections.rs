//! Constructs with sections.

use super::*;

/// Sections of one second each; `counts` says how many each thread executes.
pub(super) fn sections(kind: Kind, counts: [u64; 2]) -> Profile {
    let mut profile = if kind == Kind::Sections {
        inside(
            kind,
            [1, 2].map(|thread| row(thread, &[(Main, 10), (Ibarr, 5)])),
        )
    } else {
        let member = |thread| row(thread, &[(Main, 80), (Body, 75), (Ibarr, 5)]);
        combined(kind, [1, 2].map(member))
    };
    let above = profile.nodes.len() - 1;
    let mut section = profile.regions[0].clone();
    section.kind = Kind::Section;
    profile.regions.push(section);
    let rows = [1, 2]
        .into_iter()
        .zip(counts)
        .filter(|(_, count)| *count > 0);
    let rows = rows.map(|(thread, count)| {
        let ns = count * SECOND;
        Row::of(thread).with(Main, Span { count, ns })
    });
    let region = profile.regions.len() - 1;
    profile
        .nodes
        .push(node(Some(above), region, Body, rows.collect()));
    profile
}

#[test]
fn sections_are_told_apart_by_who_executed_how_many() {
    let [uneven, few, same] = [
        "ImbalanceDueToUnevenSectionDistribution",
        "ImbalanceDueToNotEnoughSections",
        "ImbalanceInParallelSections",
    ];
    for kind in [Kind::Sections, Kind::ParallelSections] {
        for (counts, name) in [
            ([2, 1], uneven),
            ([1, 0], few),
            ([1, 1], same),
            ([2, 2], same),
            // As many sections as threads, but one thread executed both.
            ([2, 0], same),
            // Sections that nobody reports.
            ([0, 0], same),
        ] {
            assert_eq!(
                properties(&sections(kind, counts)),
                [(name, 5.0)],
                "{counts:?}"
            );
        }
    }
}

#[test]
fn the_work_in_sections_that_nobody_reports_is_no_management() {
    use profile::region_kind::Quantity::{ManagementTime, SectionCount, SectionTime};
    let profile = sections(Kind::Sections, [0, 0]);
    let report = Report::new(&profile);
    let region = profile
        .regions
        .iter()
        .position(|of| of.kind == Kind::Sections);
    let mut tables = report.flat.iter();
    let table = tables.find(|table| Some(table.region) == region).unwrap();
    let sum = |quantity| table.sum[table.column(quantity).unwrap()] / SECOND;
    let sums = [SectionTime, SectionCount, ManagementTime].map(sum);
    assert_eq!(sums, [10, 0, 0]);
}
