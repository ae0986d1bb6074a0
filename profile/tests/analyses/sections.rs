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

/// The cells of a column in a report as comma separated values, in the dialect of this writer.
fn column_cells(text: &str, name: &str) -> Vec<String> {
    let mut lines = text.lines();
    let mut found = Vec::new();
    while let Some(line) = lines.next() {
        let Some(at) = line.split(',').position(|column| column == name) else {
            continue;
        };
        let rows = lines.by_ref().take_while(|row| !row.is_empty());
        let rows = rows.filter(|row| !row.starts_with('#'));
        found.extend(rows.filter_map(|row| row.split(',').nth(at).map(str::to_owned)));
    }
    found
}

#[test]
fn sections_that_were_not_seen_have_no_number() {
    for (counts, seen) in [([2, 1], true), ([0, 0], false)] {
        for kind in [Kind::Sections, Kind::ParallelSections] {
            let profile = sections(kind, counts);
            let report = Report::new(&profile);
            let mut text = Vec::new();
            profile::report::csv::write(&report, &mut text).unwrap();
            let text = String::from_utf8(text).unwrap();
            for (name, is_there) in [("sectC", true), ("mgmtT", kind == Kind::Sections)] {
                let cells = column_cells(&text, name);
                assert_eq!(!cells.is_empty(), is_there, "{kind:?} {text}");
                for cell in cells {
                    assert_eq!(!cell.is_empty(), seen, "{kind:?} {name} {text}");
                }
            }
        }
    }
}

/// In the older dialect, sections that were not seen are the construct's own time.
#[test]
fn sections_that_were_not_seen_are_the_construct_s_own_time() {
    for (kind, of) in [
        (Kind::Sections, ",SECTIONS\nTID"),
        (Kind::ParallelSections, ",PARALLEL SECTIONS\nTID"),
    ] {
        let profile = sections(kind, [0, 0]);
        let report = Report::new(&profile);
        let mut text = Vec::new();
        profile::report::csv_ompp_old::write(&report, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let table = text.split_once(of).unwrap().1;
        let table = table.split_once("##END").unwrap().0;
        let table = format!("TID{table}\n");
        let (own, all) = (
            column_cells(&table, "bodyT/E"),
            column_cells(&table, "bodyT/I"),
        );
        assert_eq!(own.len(), 3, "{text}");
        assert_eq!(own, all, "{text}");
    }
}
