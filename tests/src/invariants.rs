//! What is true of every saved profile, whatever ran.

use std::collections::BTreeMap;

use profile::analysis::Report;
use profile::model::{Node, Profile, Row, Span};
use profile::region_kind::{PseudoRegion, RegionKind};

use crate::fixture::Header;

/// Sums are of whole nanoseconds, but every clock reading is shared by at most
/// two pseudo-regions, so no slack is needed within one thread. Between threads
/// (a team's members against the thread that forked) clocks may differ by this.
const BETWEEN_THREADS_NS: u64 = 50_000;

/// The contradictions in a profile; empty if there are none.
#[must_use]
pub fn contradictions(profile: &Profile) -> Vec<String> {
    let mut found = Vec::new();
    if profile.run.duration_ns == 0 || profile.run.max_threads == 0 {
        found.push("no duration or no threads".into());
    }
    for (at, node) in profile.nodes.iter().enumerate() {
        let mut report = |what: String| found.push(format!("{}: {what}", label(profile, at)));
        if node.parent.is_some_and(|parent| parent >= at) || node.region >= profile.regions.len() {
            report("a parent behind its child, or no region".into());
            continue;
        }
        if !node.rows.is_sorted_by(|a, b| a.thread < b.thread)
            || node
                .rows
                .iter()
                .any(|row| row.thread >= profile.threads.len())
        {
            report("rows not in the order of the threads".into());
            continue;
        }
        let kind = profile.regions[node.region].kind;
        for row in &node.rows {
            row_contradictions(kind, row)
                .into_iter()
                .for_each(&mut report);
        }
        if kind.is_parallel() {
            team_contradictions(profile, node)
                .into_iter()
                .for_each(&mut report);
        }
    }
    found.extend(tree_contradictions(profile));
    found.extend(crate::waits::contradictions(profile));
    found.extend(crate::sums::contradictions_beyond(
        &Report::new(profile),
        between_teams_ns(profile),
    ));
    found
}

/// How far the times of a team's members may go beyond the team's. The thread that forked a team
/// reports its join. If several initial threads fork teams side by side, a runtime may have given
/// a member to another team before that.
fn between_teams_ns(profile: &Profile) -> u64 {
    let initial = profile.threads.iter();
    match initial.filter(|thread| thread.path.len() == 1).count() {
        0 | 1 => 0,
        _ => BETWEEN_THREADS_NS,
    }
}

fn label(profile: &Profile, at: usize) -> String {
    let region = profile
        .nodes
        .get(at)
        .and_then(|node| profile.regions.get(node.region));
    region.map_or_else(
        || format!("node {at}"),
        |region| format!("node {at}, {:?} in line {}", region.kind, region.begin[0]),
    )
}

/// Within a row, the parts are no more than the whole.
fn row_contradictions(kind: RegionKind, row: &Row) -> Vec<String> {
    let mut found = Vec::new();
    let parts = row.enter().ns + row.body.ns + row.ibarr.ns + row.exit().ns;
    let is_member = row.main.count > 0;
    if is_member && parts > row.main.ns {
        found.push(format!(
            "thread {}: parts of {parts} ns in {} ns",
            row.thread, row.main.ns
        ));
    }
    if kind.is_parallel() && is_member && parts != row.main.ns {
        found.push(format!(
            "thread {}: main is {} ns, not {parts}",
            row.thread, row.main.ns
        ));
    }
    for pseudo_region in PseudoRegion::ALL {
        let span = row.span(pseudo_region);
        let limited = matches!(
            pseudo_region,
            PseudoRegion::Enter | PseudoRegion::Ibarr | PseudoRegion::Exit
        );
        if limited && span.count > row.main.count {
            found.push(format!(
                "{pseudo_region:?} {} times, main {}",
                span.count, row.main.count
            ));
        }
        if span.count == 0 && span.ns > 0 {
            found.push(format!("{pseudo_region:?} took time but never happened"));
        }
    }
    found
}

/// Checks a team: thread 0 is in it each time, and no thread is in it longer than it lasts.
fn team_contradictions(profile: &Profile, node: &Node) -> Vec<String> {
    let mut found = Vec::new();
    let mut forks: BTreeMap<&[u32], Span> = BTreeMap::new();
    for row in node.rows.iter().filter(|row| row.seq().count > 0) {
        forks.insert(&profile.threads[row.thread].path, row.seq());
    }
    for row in node.rows.iter().filter(|row| row.main.count > 0) {
        let path = &profile.threads[row.thread].path;
        let (number, forker) = path
            .split_last()
            .map_or((0, &[][..]), |(n, rest)| (*n, rest));
        let Some(fork) = forks.get(forker) else {
            found.push(format!(
                "thread {path:?} is in a team that thread {forker:?} never forked"
            ));
            continue;
        };
        if number == 0 && row.main.count != fork.count {
            found.push(format!(
                "thread {path:?}: {} times in {} teams",
                row.main.count, fork.count
            ));
        }
        if row.main.count > fork.count || row.main.ns > fork.ns + BETWEEN_THREADS_NS * fork.count {
            found.push(format!("thread {path:?}: {:?} in {fork:?}", row.main));
        }
    }
    found
}

/// Checks the tree: a thread's time below a node fits into its time in that node.
fn tree_contradictions(profile: &Profile) -> Vec<String> {
    let mut below: BTreeMap<(Option<usize>, u8, usize), u64> = BTreeMap::new();
    for node in &profile.nodes {
        let kind = profile.regions.get(node.region).map(|region| region.kind);
        // A lock may be held beyond the region in which it was taken, and locks
        // overlap each other.
        if kind == Some(RegionKind::Lock) {
            continue;
        }
        for row in &node.rows {
            // In its parent, a parallel region counts with the time of the forking thread.
            let is_team = kind.is_some_and(RegionKind::is_parallel);
            let time = if is_team { row.seq().ns } else { row.main.ns };
            *below
                .entry((node.parent, node.within as u8, row.thread))
                .or_default() += time;
        }
    }
    let mut found = Vec::new();
    for ((parent, within, thread), time) in below {
        let room = match parent {
            None => profile.run.duration_ns,
            Some(parent) => {
                let row = profile
                    .nodes
                    .get(parent)
                    .and_then(|n| n.rows.iter().find(|r| r.thread == thread));
                row.map_or(0, |row| row.span(PseudoRegion::ALL[usize::from(within)]).ns)
            }
        };
        if time > room {
            let place = parent.map_or_else(|| "the program".into(), |at| label(profile, at));
            found.push(format!(
                "thread {thread}: {time} ns below {place}, which has {room} ns"
            ));
        }
    }
    found
}

/// What the header of a fixture says and the profile doesn't; empty if all is
/// there.
#[must_use]
pub fn missing(profile: &Profile, header: &Header) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(expected) = &header.regions {
        let mut counts: BTreeMap<RegionKind, u64> = BTreeMap::new();
        for region in profile
            .regions
            .iter()
            .filter(|region| region.kind != RegionKind::Section)
        {
            *counts.entry(region.kind).or_default() += 1;
        }
        for (kind, count) in expected {
            let number = counts.remove(kind).unwrap_or(0);
            if !count.admits(number) {
                found.push(format!("{number} regions of kind {kind:?}, not {count}"));
            }
        }
        found.extend(
            counts
                .iter()
                .map(|(kind, number)| format!("{number} regions of kind {kind:?}, not 0")),
        );
    }
    // Whether a construct is timed by sample depends on how fast the machine is.
    let is_of_fixture = |note: &&String| !note.contains("(ROMP_BUDGET; ");
    let notes = profile.run.notes.iter().filter(is_of_fixture).count();
    if notes != header.notes {
        found.push(format!(
            "{notes} notes, not {}: {:?}",
            header.notes, profile.run.notes
        ));
    }
    for (&kind, count) in &header.visits {
        let number = visits(profile, kind);
        if !count.admits(number) {
            found.push(format!("{number} visits of {kind:?}, not {count}"));
        }
    }
    found
}

fn visits(profile: &Profile, kind: RegionKind) -> u64 {
    let of_kind = |node: &&Node| {
        profile
            .regions
            .get(node.region)
            .is_some_and(|r| r.kind == kind)
    };
    let rows = profile
        .nodes
        .iter()
        .filter(of_kind)
        .flat_map(|node| &node.rows);
    rows.map(|row| row.main.count).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use profile::model::{Region, Run, Thread};

    fn span(count: u64, ns: u64) -> Span {
        Span { count, ns }
    }

    fn region(kind: RegionKind) -> Region {
        serde_json::from_value(serde_json::json!({
            "kind": kind, "region_type": "", "file": "a.c", "begin": [1, 1], "end": [2, 2]
        }))
        .unwrap()
    }

    /// A team of two with a loop in it.
    fn sound() -> Profile {
        let member = |thread, enter, body, ibarr, exit| {
            Row::of(thread)
                .with(PseudoRegion::Main, span(1, enter + body + ibarr + exit))
                .with(PseudoRegion::Enter, span(1, enter))
                .with(PseudoRegion::Body, span(1, body))
                .with(PseudoRegion::Ibarr, span(1, ibarr))
                .with(PseudoRegion::Exit, span(1, exit))
        };
        let share = |thread, body, ibarr| {
            Row::of(thread)
                .with(PseudoRegion::Main, span(1, body + ibarr))
                .with(PseudoRegion::Body, span(1, body))
                .with(PseudoRegion::Ibarr, span(1, ibarr))
        };
        Profile {
            run: Run {
                duration_ns: 1000,
                max_threads: 2,
                ..Run::default()
            },
            regions: vec![region(RegionKind::Parallel), region(RegionKind::Loop)],
            threads: [vec![0], vec![0, 0], vec![0, 1]]
                .map(|path| Thread {
                    path,
                    ..Thread::default()
                })
                .into(),
            nodes: vec![
                Node {
                    parent: None,
                    region: 0,
                    within: PseudoRegion::Main,
                    rows: vec![
                        Row::of(0).with(PseudoRegion::Seq, span(1, 900)),
                        member(1, 50, 700, 100, 50),
                        member(2, 100, 500, 250, 50),
                    ],
                },
                Node {
                    parent: Some(0),
                    region: 1,
                    within: PseudoRegion::Body,
                    rows: vec![share(1, 600, 50), share(2, 300, 200)],
                },
            ],
            ..Profile::default()
        }
    }

    #[test]
    fn a_sound_profile_has_no_contradictions() {
        assert_eq!(contradictions(&sound()), Vec::<String>::new());
    }

    #[test]
    fn each_contradiction_is_found() {
        let spoil: [fn(&mut Profile); 9] = [
            |p| p.run.duration_ns = 800,
            |p| p.nodes[1].parent = Some(1),
            |p| p.nodes[0].rows.swap(0, 1),
            |p| p.nodes[0].rows[1].span_mut(PseudoRegion::Body).ns += 1,
            |p| p.nodes[0].rows[1].ibarr.count = 2,
            |p| p.nodes[0].rows[2].main.count = 2,
            |p| p.nodes[0].rows.retain(|row| row.seq().count == 0),
            |p| p.nodes[1].rows[0].main.ns = 701,
            |p| p.nodes[1].rows[0].span_mut(PseudoRegion::Exit).ns = 1,
        ];
        for (number, spoil) in spoil.into_iter().enumerate() {
            let mut profile = sound();
            spoil(&mut profile);
            assert_ne!(
                contradictions(&profile),
                Vec::<String>::new(),
                "change {number}"
            );
        }
    }

    #[test]
    fn a_header_is_held_against_the_profile() {
        let header = |text: &str| Header::parse(&format!("/* romp-test: {text} */")).unwrap();
        let profile = sound();
        assert!(
            missing(
                &profile,
                &header("regions=parallel:1,loop:1 visits=parallel:2")
            )
            .is_empty()
        );
        assert!(missing(&profile, &header("regions=*")).is_empty());
        for wrong in [
            "regions=parallel:1",
            "regions=parallel:1,loop:2",
            "regions=parallel:1,loop:1,lock:*",
            "visits=loop:3",
            "notes=1",
        ] {
            assert_eq!(missing(&profile, &header(wrong)).len(), 1, "{wrong}");
        }
    }
}
