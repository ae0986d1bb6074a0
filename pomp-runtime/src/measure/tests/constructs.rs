//! Constructs on one thread.

use super::*;
use Event::*;

fn initial() -> &'static Thread {
    Thread::for_test().as_initial(0)
}

#[test]
fn worksharing_constructs_have_a_body_and_a_barrier() {
    let t = initial();
    let regions = [
        region("for", 1),
        region("sections", 2),
        region("section", 3),
        region("single", 4),
    ];
    let [work, sections, section, single] = regions;
    t.on(LoopEnter, work, 10);
    t.waits(work, 14, 17);
    t.on(LoopExit, work, 18);
    t.on(SectionsEnter, sections, 20);
    t.on(SectionBegin, section, 21);
    t.on(SectionEnd, section, 24);
    t.waits(sections, 25, 27);
    t.on(SectionsExit, sections, 28);
    t.on(SingleEnter, single, 30);
    t.on(SingleBegin, single, 31);
    t.on(SingleEnd, single, 35);
    t.waits(single, 36, 38);
    t.on(SingleExit, single, 39);
    let profile = profile_at(100, &[t], &regions);
    assert_eq!(
        lines(&profile),
        [
            "for@1 0: main 1x8 body 1x4 ibarr 1x3",
            "sections@2 0: main 1x8 body 1x5 ibarr 1x2",
            "section@3 in body/sections@2 0: main 1x3",
            "single@4 0: main 1x9 body 1x4 ibarr 1x2",
        ]
    );
    assert_eq!(profile.run.notes, Vec::<String>::new());
}

#[test]
fn other_constructs_have_their_pseudo_regions() {
    let t = initial();
    let regions = [
        region("critical", 5),
        region("ordered", 6),
        region("master", 7),
        region("atomic", 8),
        region("barrier", 9),
        region("flush", 10),
    ];
    let [critical, ordered, master, atomic, barrier, flush] = regions;
    for (region, [enter, begin, end, exit]) in [
        (
            critical,
            [CriticalEnter, CriticalBegin, CriticalEnd, CriticalExit],
        ),
        (
            ordered,
            [OrderedEnter, OrderedBegin, OrderedEnd, OrderedExit],
        ),
    ] {
        t.on(enter, region, 40);
        t.on(begin, region, 43);
        t.on(end, region, 48);
        t.on(exit, region, 49);
    }
    for (region, enter, exit) in [
        (master, MasterBegin, MasterEnd),
        (atomic, AtomicEnter, AtomicExit),
        (barrier, BarrierEnter, BarrierExit),
        (flush, FlushEnter, FlushExit),
    ] {
        t.on(enter, region, 60);
        t.on(exit, region, 62);
    }
    let profile = profile_at(100, &[t], &regions);
    assert_eq!(
        lines(&profile),
        [
            "critical@5 0: main 1x9 enter 1x3 body 1x5 exit 1x1",
            "ordered@6 0: main 1x9 enter 1x3 body 1x5 exit 1x1",
            "master@7 0: main 1x2",
            "atomic@8 0: main 1x2",
            "barrier@9 0: main 1x2",
            "flush@10 0: main 1x2",
        ]
    );
    assert_eq!(profile.run.notes, Vec::<String>::new());
}

#[test]
fn a_scope_is_measured_like_a_single() {
    let (t, scope) = (initial(), region("scope", 1));
    t.on(ScopeEnter, scope, 30);
    t.on(ScopeBegin, scope, 31);
    t.on(ScopeEnd, scope, 35);
    t.waits(scope, 36, 38);
    t.on(ScopeExit, scope, 39);
    assert_eq!(
        lines(&profile_at(40, &[t], &[scope])),
        ["scope@1 0: main 1x9 body 1x4 ibarr 1x2"]
    );
}

#[test]
fn what_is_measured_from_outside_is_one_time() {
    let t = initial();
    let regions = [
        (region("workshare", 1), WorkshareEnter, WorkshareExit),
        (region("masked", 2), MasterBegin, MasterEnd),
        (region("taskloop", 3), TaskloopEnter, TaskloopExit),
        (region("loop", 4), GenericLoopEnter, GenericLoopExit),
        (region("distribute", 5), DistributeEnter, DistributeExit),
        (region("teams", 6), TeamsEnter, TeamsExit),
        (region("target", 7), TargetEnter, TargetExit),
        (region("targetupdate", 8), TargetEnter, TargetExit),
        (region("userRegion", 9), UserBegin, UserEnd),
    ];
    for (region, enter, exit) in regions {
        t.on(enter, region, 10);
        t.on(exit, region, 15);
    }
    let profile = profile_at(20, &[t], &regions.map(|(region, _, _)| region));
    assert_eq!(lines(&profile)[0], "workshare@1 0: main 1x5 body 1x5");
    for (line, (region, ..)) in lines(&profile)[1..].iter().zip(&regions[1..]) {
        let lines = &region.descriptor.begin;
        let name = &region.descriptor.region_type;
        assert_eq!(*line, format!("{name}@{} 0: main 1x5", lines.first));
    }
}

#[test]
fn a_loop_without_a_barrier_is_all_body() {
    let (t, work) = (initial(), region("for", 1));
    t.on(LoopEnter, work, 10);
    t.on(LoopExit, work, 18);
    assert_eq!(
        lines(&profile_at(20, &[t], &[work])),
        ["for@1 0: main 1x8 body 1x8"]
    );
}

#[test]
fn call_paths_tell_where_a_region_was_entered() {
    let (t, work, atomic) = (initial(), region("for", 1), region("atomic", 2));
    t.on(LoopEnter, work, 10);
    t.on(AtomicEnter, atomic, 11);
    t.on(AtomicExit, atomic, 12);
    t.on(ImplicitBarrierEnter, work, 13);
    t.on(AtomicEnter, atomic, 14);
    t.on(AtomicExit, atomic, 17);
    t.on(ImplicitBarrierExit, work, 18);
    t.on(LoopExit, work, 20);
    t.on(AtomicEnter, atomic, 21);
    t.on(AtomicExit, atomic, 26);
    assert_eq!(
        lines(&profile_at(30, &[t], &[work, atomic])),
        [
            "for@1 0: main 1x10 body 1x3 ibarr 1x5",
            "atomic@2 in body/for@1 0: main 1x1",
            "atomic@2 in ibarr/for@1 0: main 1x3",
            "atomic@2 0: main 1x5",
        ]
    );
}

#[test]
fn an_exit_closes_what_was_skipped() {
    let (t, single, critical) = (initial(), region("single", 1), region("critical", 2));
    t.on(SingleEnter, single, 10);
    t.on(SingleBegin, single, 11);
    t.on(CriticalEnter, critical, 12);
    t.on(CriticalBegin, critical, 14);
    // An exception leaves both blocks.
    t.on(SingleExit, single, 20);
    let profile = profile_at(30, &[t], &[single, critical]);
    assert_eq!(
        lines(&profile),
        [
            "single@1 0: main 1x10 body 1x9",
            "critical@2 in body/single@1 0: main 1x8 enter 1x2 body 1x6",
        ]
    );
    assert_eq!(
        profile.run.notes,
        [
            "regions that were left without an exit event, and were closed with the region around them: 1"
        ]
    );
}

#[test]
fn a_turn_closes_what_was_skipped() {
    let (t, work, critical) = (initial(), region("for", 1), region("critical", 2));
    t.on(LoopEnter, work, 10);
    t.on(CriticalEnter, critical, 12);
    t.waits(work, 15, 18);
    t.on(LoopExit, work, 19);
    assert_eq!(
        lines(&profile_at(30, &[t], &[work, critical])),
        [
            "for@1 0: main 1x9 body 1x5 ibarr 1x3",
            "critical@2 in body/for@1 0: main 1x3 enter 1x3",
        ]
    );
}

#[test]
fn events_without_a_region_are_counted_and_harmless() {
    let (t, work, parallel) = (initial(), region("for", 1), region("parallel", 2));
    t.on(LoopExit, work, 1);
    t.on(CriticalBegin, work, 2);
    t.on(CriticalExit, work, 3);
    t.end_member(parallel, 4);
    t.join(parallel, 5);
    t.on(LoopEnter, work, 10);
    t.end_member(parallel, 11);
    t.join(parallel, 12);
    t.on(LoopExit, work, 15);
    let profile = profile_at(30, &[t], &[work, parallel]);
    assert_eq!(lines(&profile), ["for@1 0: main 1x5 body 1x5"]);
    assert_eq!(
        profile.run.notes,
        ["events that matched no open region and were ignored: 7"]
    );
}

#[test]
fn recursion_makes_paths_of_some_depth() {
    let (t, work) = (initial(), region("for", 1));
    for depth in 0..100 {
        t.on(LoopEnter, work, depth);
    }
    for depth in 0..100 {
        t.on(LoopExit, work, 100 + depth);
    }
    let profile = profile_at(300, &[t], &[work]);
    let main = |node: &Node| (node.rows[0].main.count, node.rows[0].main.ns);
    let nodes: Vec<_> = profile.nodes.iter().map(main).collect();
    assert_eq!(nodes, [(1, 199), (1, 197), (1, 195), (1, 193), (96, 191)]);
}

/// The times are those of paths of any depth: what stands at a node is its own
/// time and that of all below.
#[test]
fn a_recursion_through_others_has_exact_times() {
    let (t, outer, inner) = (initial(), region("userRegion", 1), region("for", 2));
    let marked = |at| t.on(UserBegin, outer, at);
    let mut at = 0;
    // Each level: one tick before and after, three in the work itself.
    for _ in 0..50 {
        marked(at);
        t.on(LoopEnter, inner, at + 1);
        at += 3;
    }
    for _ in 0..50 {
        at += 2;
        t.on(LoopExit, inner, at);
        at += 1;
        t.on(UserEnd, outer, at);
    }
    let profile = profile_at(1000, &[t], &[outer, inner]);
    let sum = |line: u32| {
        let of_line = profile
            .nodes
            .iter()
            .filter(|node| profile.regions[node.region].begin[0] == line);
        of_line.map(|node| node.rows[0].main.count).sum::<u64>()
    };
    assert_eq!((sum(1), sum(2)), (50, 50));
    let own: Vec<u64> = (0..profile.nodes.len())
        .map(|index| {
            let below = profile.nodes.iter().filter(|n| n.parent == Some(index));
            let below: u64 = below.map(|node| node.rows[0].main.ns).sum();
            profile.nodes[index].rows[0].main.ns - below
        })
        .collect();
    assert_eq!(own.iter().sum::<u64>(), 300);
    let own_of = |line: u32| {
        let nodes = profile.nodes.iter().zip(&own);
        let of_line = nodes.filter(|(n, _)| profile.regions[n.region].begin[0] == line);
        of_line.map(|(_, own)| own).sum::<u64>()
    };
    assert_eq!((own_of(1), own_of(2)), (100, 200));
}

/// The frames that a recursion used serve again, and are open at the end.
#[test]
fn a_recursion_is_not_entered_by_what_comes_after_it() {
    let (t, work) = (initial(), region("for", 1));
    (0..8).for_each(|depth| t.on(LoopEnter, work, depth));
    (0..8).for_each(|depth| t.on(LoopExit, work, 10 + depth));
    let others: Vec<_> = (2..10).map(|line| region("single", line)).collect();
    for other in &others {
        t.on(SingleEnter, other, 20);
    }
    let profile = profile_at(30, &[t], &[&[work], &*others].concat());
    let recursion = profile.nodes.iter().filter(|node| node.region == 0);
    let main = |node: &Node| (node.rows[0].main.count, node.rows[0].main.ns);
    let recursion: Vec<_> = recursion.map(main).collect();
    assert_eq!(recursion, [(1, 17), (1, 15), (1, 13), (1, 11), (4, 9)]);
    assert_eq!(profile.nodes.len(), 5 + others.len());
}

#[test]
fn regions_that_are_open_at_the_end_are_closed_then() {
    let (t, work, critical) = (initial(), region("for", 1), region("critical", 2));
    t.on(LoopEnter, work, 10);
    t.on(CriticalEnter, critical, 12);
    t.on(CriticalBegin, critical, 13);
    let profile = profile_at(20, &[t], &[work, critical]);
    assert_eq!(
        lines(&profile),
        [
            "for@1 0: main 1x10 body 1x10",
            "critical@2 in body/for@1 0: main 1x8 enter 1x1 body 1x7",
        ]
    );
    assert_eq!(
        profile.run.notes,
        ["regions that were still open when this was written, and were closed at that moment: 2"]
    );
    // It was a copy that was closed.
    t.on(CriticalEnd, critical, 21);
    t.on(CriticalExit, critical, 22);
    t.on(LoopExit, work, 23);
    assert_eq!(
        profile_at(30, &[t], &[work, critical]).run.notes,
        Vec::<String>::new()
    );
}

#[test]
fn regions_that_never_ran_are_there() {
    let t = initial();
    let profile = profile_at(20, &[t], &[region("for", 2), region("for", 1)]);
    assert_eq!(
        profile
            .regions
            .iter()
            .map(|r| r.begin[0])
            .collect::<Vec<_>>(),
        [1, 2]
    );
    assert_eq!((profile.nodes.len(), profile.run.max_threads), (0, 1));
}

#[test]
fn a_pause_takes_no_time_of_what_is_open() {
    let (t, outer) = (initial(), region("userRegion", 1));
    let (single, inner) = (region("single", 2), region("userRegion", 3));
    t.on(UserBegin, outer, 10);
    t.on(SingleEnter, single, 20);
    t.on(SingleBegin, single, 22);
    t.on(UserBegin, inner, 25);
    t.skip(30, 130);
    t.on(UserEnd, inner, 135);
    t.on(SingleExit, single, 140);
    t.on(UserEnd, outer, 160);
    let profile = profile_at(170, &[t], &[outer, single, inner]);
    assert_eq!(
        lines(&profile),
        [
            "userRegion@1 0: main 1x50",
            "single@2 in main/userRegion@1 0: main 1x20 body 1x18",
            "userRegion@3 in body/single@2 in main/userRegion@1 0: main 1x10",
        ]
    );
}
