//! Profiles as large as those of large programs.

use profile::model::{Node, Profile, Region, Row, Span, Thread};
use profile::region_kind::{PseudoRegion, RegionKind};

use super::saved;

/// Numbers that look like those of a run.
struct Noise(u64);

impl Noise {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// Loops with a barrier in parallel regions, visited by all threads.
pub(super) fn generated(regions: usize, threads: usize) -> Profile {
    const IN_A_TEAM: usize = 20;
    let mut noise = Noise(1);
    let mut profile = saved("imbalance");
    let template = profile.regions[0].clone();
    let region = |index: usize| Region {
        kind: if index.is_multiple_of(IN_A_TEAM) {
            RegionKind::Parallel
        } else {
            RegionKind::Loop
        },
        file: format!("/home/user/project/src/module{}.f90", index / 50),
        begin: [10 + 7 * index as u32; 2],
        end: [16 + 7 * index as u32; 2],
        function: Some(format!("step_{}", index / 5)),
        ..template.clone()
    };
    profile.regions = (0..regions).map(region).collect();
    profile.threads = std::iter::once(vec![0])
        .chain((0..threads as u32).map(|thread| vec![0, thread]))
        .map(|path| Thread {
            path,
            ..Thread::default()
        })
        .collect();
    let mut nodes: Vec<Node> = Vec::new();
    for index in 0..regions {
        let is_team = index.is_multiple_of(IN_A_TEAM);
        let count = 1 + noise.below(1_000);
        let mut rows = Vec::new();
        for thread in 0..threads {
            let span = |ns| Span { count, ns };
            let (body, wait) = (1_000_000 + noise.below(90_000_000), noise.below(9_000_000));
            let (enter, exit) = (noise.below(90_000), noise.below(90_000));
            let body = if is_team {
                body * IN_A_TEAM as u64 * 2
            } else {
                body
            };
            let row = Row::of(thread + 1).with(PseudoRegion::Ibarr, span(wait));
            rows.push(match is_team {
                true => row
                    .with(PseudoRegion::Main, span(enter + body + wait + exit))
                    .with(PseudoRegion::Enter, span(enter))
                    .with(PseudoRegion::Body, span(body))
                    .with(PseudoRegion::Exit, span(exit)),
                false => row.with(PseudoRegion::Main, span(body + wait)),
            });
        }
        let longest = rows.iter().map(|row| row.main.ns).max().unwrap();
        if is_team {
            let seq = Span { count, ns: longest };
            rows.insert(0, Row::of(0).with(PseudoRegion::Seq, seq));
        }
        nodes.push(Node {
            parent: (!is_team).then(|| index / IN_A_TEAM * IN_A_TEAM),
            region: index,
            within: PseudoRegion::Body,
            rows,
        });
    }
    profile.nodes = nodes;
    (profile.distributions, profile.arrivals, profile.contention) = Default::default();
    profile.run.max_threads = threads as u32;
    profile.run.duration_ns = 4_000_000_000 * regions as u64;
    profile
}
