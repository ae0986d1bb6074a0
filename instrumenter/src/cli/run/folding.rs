//! Adapts the tree of call paths once the constructs of its regions are known: a loop may be
//! one with its parallel region, and a barrier may be the end of a construct.

use std::collections::{BTreeMap, BTreeSet};

use profile::identity::identities;
use profile::model::{Estimate, Node, Profile, Row, Span};
use profile::region_kind::{PseudoRegion, RegionKind};
use trace::layout::Meaning;

/// Changes the tree according to the meanings of its regions.
pub(super) fn apply(profile: &mut Profile, meanings: &[Meaning]) {
    move_reductions(profile, meanings);
    // Before barriers are looked for: a barrier below a region without meaning must become a child
    // of the construct that it belongs to.
    remove_parts(&mut profile.nodes, |node, _| {
        meanings[node.region] == Meaning::Nothing
    });
    let identities = identities(&profile.regions);
    let is_in_own = |node: &Node, parent: &Node| {
        meanings[node.region] == Meaning::Barrier
            && identities[node.region] == identities[parent.region]
    };
    for index in 0..profile.nodes.len() {
        let (before, node) = profile.nodes.split_at_mut(index);
        let Some(node) = node.first_mut() else { break };
        if let Some(parent) = node.parent.and_then(|parent| before.get_mut(parent))
            && is_in_own(node, parent)
        {
            add_barrier(&node.rows, &mut parent.rows);
            // The nodes below it move to the implicit barrier of the parent.
            node.within = PseudoRegion::Ibarr;
        }
    }
    let key = |node: &Node| {
        let identity = identities[node.region].clone();
        (node.parent, node.within as u8, identity)
    };
    // Executions that were counted at the begins of constructs, but not at their ends yet.
    let mut open: BTreeMap<_, u64> = BTreeMap::new();
    for node in &profile.nodes {
        for row in &node.rows {
            let parent = node.parent.map(|parent| &profile.nodes[parent]);
            match parent.filter(|parent| is_in_own(node, parent)) {
                Some(parent) => {
                    let begun = open.entry((key(parent), row.thread)).or_default();
                    *begun = begun.saturating_sub(row.main.count);
                }
                None if meanings[node.region] == Meaning::Barrier => {}
                None => *open.entry((key(node), row.thread)).or_default() += row.main.count,
            }
        }
    }
    for node in &mut profile.nodes {
        if meanings[node.region] == Meaning::Barrier {
            let own = key(node);
            for row in &mut node.rows {
                let begun = open.entry((own.clone(), row.thread)).or_default();
                *row = as_barrier(row, begun);
            }
        }
    }
    // The data about instances of other regions does not apply to the construct. Of a construct whose
    // barrier is a region of its own, the time of an instance with its barrier is not known.
    let barriers = (0..meanings.len()).filter(|region| meanings[*region] == Meaning::Barrier);
    let with_barriers: BTreeSet<_> = barriers.map(|region| &identities[region]).collect();
    let has_whole_instances = |region: usize| {
        meanings[region] == Meaning::Itself && !with_barriers.contains(&identities[region])
    };
    profile
        .distributions
        .retain(|about| has_whole_instances(about.region));
    profile
        .arrivals
        .retain(|about| meanings[about.region] != Meaning::PartOfItsParallel);
    move_into_barriers(&mut profile.nodes, |node| {
        meanings[node.region] == Meaning::Barrier
    });
    remove_parts(&mut profile.nodes, |node, parent| {
        is_in_own(node, parent)
            || meanings[node.region] == Meaning::PartOfItsParallel
                && identities[node.region] == identities[parent.region]
    });
}

/// What is measured as `atomic` or `critical` but is no construct combines the parts of a reduction. Its times go
/// to the construct around it.
fn move_reductions(profile: &mut Profile, meanings: &[Meaning]) {
    let is_nothing = |region: usize| meanings[region] == Meaning::Nothing;
    // LLVM's runtime has told of a part before it sets the lock.
    let mut rows = profile.nodes.iter().flat_map(|node| &node.rows);
    let are_counted = rows.any(|row| !row.reduction().is_zero());
    for index in 0..profile.nodes.len() {
        let node = &profile.nodes[index];
        let kind = profile.regions[node.region].kind;
        let may_reduce = matches!(kind, RegionKind::Atomic | RegionKind::Critical);
        if !is_nothing(node.region) || !may_reduce {
            continue;
        }
        let combined = node.rows.iter();
        let combined = combined.map(|row| {
            let is_counted = are_counted && kind == RegionKind::Critical;
            let count = if is_counted { 0 } else { row.main.count };
            let ns = row.main.ns;
            Row::of(row.thread).with_reduction(Span { count, ns })
        });
        let combined: Vec<Row> = combined.collect();
        let around = std::iter::successors(node.parent, |&at| profile.nodes[at].parent);
        let mut around = around.filter(|&at| !is_nothing(profile.nodes[at].region));
        if let Some(at) = around.next() {
            add_shares(&combined, &mut profile.nodes[at].rows);
        }
    }
    for guard in &mut profile.contention {
        guard.sites.retain(|site| !is_nothing(site.region));
    }
    profile.contention.retain(|guard| !guard.sites.is_empty());
}

/// Makes empty regions copies of another region: those that are no construct, or only calls of
/// another construct. The merging of equal regions then removes them.
pub(super) fn drop_empty(profile: &mut Profile) {
    let ran: BTreeSet<usize> = profile.nodes.iter().map(|node| node.region).collect();
    let Some(other) = ran.first().map(|first| profile.regions[*first].clone()) else {
        return;
    };
    for (index, region) in profile.regions.iter_mut().enumerate() {
        let is_unknown = region.directive.is_none() && region.code.is_some();
        // A routine that releases a lock is counted with the one that set it.
        if is_unknown
            && !matches!(region.kind, RegionKind::Lock | RegionKind::Function)
            && !ran.contains(&index)
        {
            region.clone_from(&other);
        }
    }
}

/// How often each region was executed.
pub(super) fn executed(profile: &Profile) -> Vec<u64> {
    let mut executed = vec![0; profile.regions.len()];
    for node in &profile.nodes {
        executed[node.region] += node.rows.iter().map(|row| row.main.count).sum::<u64>();
    }
    executed
}

/// Moves the waiting time at the end of a construct out of the construct's work.
fn add_barrier(barrier: &[Row], construct: &mut [Row]) {
    for waited in barrier {
        let mut own = construct.iter_mut();
        if let Some(row) = own.find(|row| row.thread == waited.thread) {
            row.ibarr += waited.main;
            row.body.ns = row.body.ns.saturating_sub(waited.main.ns);
        }
    }
}

/// Adds what threads did in a part of a construct besides its work to that of the whole: requests for chunks,
/// and combining their parts of a reduction.
fn add_shares(part: &[Row], whole: &mut [Row]) {
    for share in part {
        let mut whole = whole.iter_mut();
        if let Some(row) = whole.find(|row| row.thread == share.thread) {
            let (mut requests, mut reduction) = (row.chunk_requests(), row.reduction());
            requests += share.chunk_requests();
            reduction += share.reduction();
            let own = std::mem::take(row).with_chunk_requests(requests);
            *row = own.with_reduction(reduction);
        }
    }
}

/// Converts the row of a barrier to one of the construct that it ends. `begun` are executions of the
/// construct that are counted already. A compiler may do once for all executions of a loop what
/// shows its begin.
fn as_barrier(row: &Row, begun: &mut u64) -> Row {
    let known = row.main.count.min(*begun);
    *begun -= known;
    let main = Span {
        count: row.main.count - known,
        ns: row.main.ns,
    };
    // An execution counts as timed in the row that counts it.
    let estimate = row.estimate().map(|estimate| Estimate {
        timed: estimate.timed.min(main.count),
        ..estimate
    });
    Row::of(row.thread)
        .with(PseudoRegion::Main, main)
        .with(PseudoRegion::Ibarr, row.main)
        .with_counters(row.counters().to_vec())
        .with_estimate(estimate)
}

/// What was executed in a region that is the barrier of a construct was executed in the construct's
/// barrier.
fn move_into_barriers(nodes: &mut [Node], is_barrier: impl Fn(&Node) -> bool) {
    for index in 0..nodes.len() {
        let parent = nodes[index].parent.and_then(|parent| nodes.get(parent));
        if parent.is_some_and(&is_barrier) {
            nodes[index].within = PseudoRegion::Ibarr;
        }
    }
}

/// Removes nodes that are one with their parents. The nodes below them move up to the parents, and so does
/// what threads did in them besides their work.
fn remove_parts(nodes: &mut Vec<Node>, is_part: impl Fn(&Node, &Node) -> bool) {
    let mut places: Vec<usize> = Vec::with_capacity(nodes.len());
    let mut kept: Vec<Node> = Vec::with_capacity(nodes.len());
    // Parents come first. A removed node gets the place of its own parent.
    let mut within: Vec<Option<PseudoRegion>> = Vec::with_capacity(nodes.len());
    for (index, node) in nodes.iter().enumerate() {
        let parent = node.parent.map(|parent| &nodes[parent]);
        if let (Some(parent), Some(at)) = (parent, node.parent)
            && is_part(node, parent)
        {
            let place = places[at];
            add_shares(&node.rows, &mut kept[place].rows);
            places.push(place);
            within.push(Some(within[at].unwrap_or(node.within)));
            continue;
        }
        places.push(kept.len());
        within.push(None);
        kept.push(Node {
            parent: node.parent.map(|parent| places[parent]),
            within: node
                .parent
                .and_then(|parent| within[parent])
                .unwrap_or(node.within),
            ..nodes[index].clone()
        });
    }
    *nodes = kept;
}

#[cfg(test)]
mod tests {
    use profile::model::Region;

    use super::*;

    fn node(parent: Option<usize>, region: usize) -> Node {
        Node {
            parent,
            region,
            within: PseudoRegion::Body,
            rows: Vec::new(),
        }
    }

    #[test]
    fn what_is_below_a_part_moves_up() {
        let mut nodes = vec![
            node(None, 0),
            node(Some(0), 1),
            node(Some(1), 2),
            node(Some(0), 3),
        ];
        nodes[2].within = PseudoRegion::Main;
        remove_parts(&mut nodes, |node, _| node.region == 1);
        let shape: Vec<_> = nodes
            .iter()
            .map(|node| (node.parent, node.region))
            .collect();
        assert_eq!(shape, [(None, 0), (Some(0), 2), (Some(0), 3)]);
        assert_eq!(nodes[1].within, PseudoRegion::Body);
    }

    #[test]
    fn the_shares_of_a_part_move_up() {
        let requests = |ns| Span { count: 7, ns };
        let row = |thread, ns| Row::of(thread).with_chunk_requests(requests(ns));
        let mut nodes = vec![node(None, 0), node(Some(0), 1)];
        nodes[0].rows = vec![Row::of(0), Row::of(1), row(2, 10)];
        nodes[1].rows = vec![row(1, 40), row(2, 50)];
        remove_parts(&mut nodes, |node, _| node.region == 1);
        let made = nodes[0].rows.iter().map(Row::chunk_requests);
        let sum = Span { count: 14, ns: 60 };
        assert_eq!(
            made.collect::<Vec<_>>(),
            [Span::default(), requests(40), sum]
        );
    }

    #[test]
    fn combining_a_reduction_belongs_to_the_construct_around_it() {
        let kinds = [RegionKind::Parallel, RegionKind::Loop, RegionKind::Atomic];
        let span = Span { count: 3, ns: 40 };
        let mut nodes = vec![node(None, 0), node(Some(0), 1), node(Some(1), 2)];
        nodes[0].rows = vec![Row::of(1)];
        nodes[2].rows = vec![Row::of(1).with(PseudoRegion::Main, span)];
        let mut profile = Profile {
            regions: kinds.map(Region::of_kind).to_vec(),
            nodes,
            ..Profile::default()
        };
        // The begin of a loop is no construct either, if the user's code asks for the thread's number.
        let meanings = [Meaning::Itself, Meaning::Nothing, Meaning::Nothing];
        apply(&mut profile, &meanings);
        assert_eq!(profile.nodes.len(), 1);
        assert_eq!(profile.nodes[0].rows[0].reduction(), span);
    }

    #[test]
    fn tasks_of_a_barrier_are_in_the_barrier_of_its_construct() {
        let mut nodes = vec![
            node(None, 0),
            node(Some(0), 1),
            node(Some(1), 2),
            node(Some(2), 3),
        ];
        nodes[2].within = PseudoRegion::Main;
        move_into_barriers(&mut nodes, |node| node.region == 1);
        let within: Vec<_> = nodes.iter().map(|node| node.within).collect();
        let body = PseudoRegion::Body;
        assert_eq!(within, [body, body, PseudoRegion::Ibarr, body]);
    }

    #[test]
    fn what_is_waited_in_a_loop_is_no_work_of_it() {
        let span = |count, ns| Span { count, ns };
        let mut rows = [Row::of(0), Row::of(1)];
        rows[1] = Row::of(1)
            .with(PseudoRegion::Main, span(2, 100))
            .with(PseudoRegion::Body, span(2, 100));
        let waited = Row::of(1).with(PseudoRegion::Main, span(2, 30));
        add_barrier(&[waited], &mut rows);
        assert_eq!(rows[0], Row::of(0));
        assert_eq!((rows[1].body, rows[1].ibarr), (span(2, 70), span(2, 30)));
        assert_eq!(rows[1].main, span(2, 100));
    }

    #[test]
    fn a_barrier_is_counted_with_its_construct_once() {
        let waited = Span { count: 3, ns: 30 };
        let row = Row::of(1).with(PseudoRegion::Main, waited);
        for (begun, left, count) in [(5, 2, 0), (3, 0, 0), (1, 0, 2), (0, 0, 3)] {
            let mut open = begun;
            let ended = as_barrier(&row, &mut open);
            assert_eq!((ended.main.count, ended.ibarr), (count, waited));
            assert_eq!((ended.main.ns, open), (30, left));
        }
    }
}
