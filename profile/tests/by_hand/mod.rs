//! Small runs that tests build by hand.

use profile::model::{Node, Profile, Region, Row, Run, SCHEMA, Span, Thread, VERSION};
use profile::region_kind::{PseudoRegion, RegionKind};

pub(crate) const SECOND: u64 = 1_000_000_000;

/// A run of 100 s with regions of these kinds, and with these threads.
pub(crate) fn run(kinds: &[RegionKind], threads: &[&[u32]]) -> Profile {
    let region = |&kind: &RegionKind| Region {
        file: "/src/a.c".to_owned(),
        begin: [15, 15],
        end: [18, 18],
        function: Some("f".to_owned()),
        ..Region::of_kind(kind)
    };
    Profile {
        schema: SCHEMA.to_owned(),
        version: VERSION,
        run: Run {
            application: "app".to_owned(),
            duration_ns: 100 * SECOND,
            max_threads: 2,
            ..Run::default()
        },
        regions: kinds.iter().map(region).collect(),
        threads: threads
            .iter()
            .map(|path| Thread {
                rank: None,
                path: path.to_vec(),
            })
            .collect(),
        nodes: Vec::new(),
        ..Profile::default()
    }
}

/// A row with one instance of each pseudo-region, which took this many seconds.
pub(crate) fn row(thread: usize, parts: &[(PseudoRegion, u64)]) -> Row {
    parts.iter().fold(Row::of(thread), |row, (part, seconds)| {
        let ns = seconds * SECOND;
        row.with(*part, Span { count: 1, ns })
    })
}

/// A node of the call-path tree.
pub(crate) fn node(
    parent: Option<usize>,
    region: usize,
    within: PseudoRegion,
    rows: Vec<Row>,
) -> Node {
    Node {
        parent,
        region,
        within,
        rows,
    }
}
