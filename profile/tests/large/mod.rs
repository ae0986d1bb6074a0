//! Profiles of any size, to measure how analysis and writers scale.

use profile::model::{Node, Profile, Region, Row, Run, Span, Thread};
use profile::region_kind::{PseudoRegion, RegionKind};

/// One parallel region with this number of critical sections, nested or side by side, which
/// every thread executes.
pub(crate) fn large(regions: usize, threads: u32, chained: bool) -> Profile {
    let kind = |index| {
        if index == 0 {
            RegionKind::Parallel
        } else {
            RegionKind::Critical
        }
    };
    let region = |index: usize| Region {
        file: format!("/home/user/project/src/part{}/file{index}.f90", index % 7),
        begin: [10, 10],
        end: [20, 20],
        column: 1,
        ..Region::of_kind(kind(index))
    };
    let span = |ns| Span { count: 12_345, ns };
    let row = |thread: u32, scale: u64| {
        Row::of(thread as usize + 1)
            .with(PseudoRegion::Main, span(3 * scale))
            .with(PseudoRegion::Enter, span(scale + u64::from(thread)))
            .with(PseudoRegion::Body, span(scale))
            .with(PseudoRegion::Exit, span(scale / 2))
    };
    let node = |index: usize| Node {
        parent: (index > 0).then(|| if chained { index - 1 } else { 0 }),
        region: index,
        within: PseudoRegion::Body,
        rows: (index == 0)
            .then(|| Row::of(0).with(PseudoRegion::Seq, span(9_000_000_000)))
            .into_iter()
            .chain((0..threads).map(|thread| row(thread, 3_000_000_000 / (index as u64 + 1))))
            .collect(),
    };
    Profile {
        schema: profile::model::SCHEMA.to_owned(),
        version: profile::model::VERSION,
        run: Run {
            duration_ns: 10_000_000_000,
            max_threads: threads,
            ..Run::default()
        },
        regions: (0..regions).map(region).collect(),
        threads: std::iter::once(vec![0])
            .chain((0..threads).map(|thread| vec![0, thread]))
            .map(|path| Thread {
                path,
                ..Thread::default()
            })
            .collect(),
        nodes: (0..regions).map(node).collect(),
        ..Profile::default()
    }
}
