//! Events in, profile out, with times given by hand, so that every figure is
//! exact. The profile is compared as text: one line per node and thread.

mod chunk_requests;
mod constructs;
mod ended;
mod lending;
mod locks;
mod passed_loops;
mod passed_teams;
mod reduction;
mod sampled_barriers;
mod sampled_tasks;
mod sampling;
mod tasks;
mod teams;
mod unsplit_barrier;
mod waits;
mod work_between;

use profile::model::{Node, Profile};
use profile::region_kind::PseudoRegion;

use super::clock::Scale;
use super::records::Region;
use super::records::Team;
use super::records::region::tests::region;
use super::state;
use super::thread::Thread;
use crate::result::merge::{Ending, Snapshot, merge};
use profile::event::Event;

impl Thread {
    /// Reports an event at a time.
    fn on(&'static self, event: Event, region: &'static Region, at: u64) {
        self.on_event(event, region, || at);
    }

    /// Begins to execute a task, so deep in the machine's stack.
    fn begins_task(&'static self, task: &'static Region, depth: u64, at: u64) {
        self.begin_task(task.execution().unwrap(), 1000 - depth, 0, || at);
    }

    fn ends_task(&'static self, task: &'static Region, at: u64) {
        self.on(Event::TaskEnd, task.execution().unwrap(), at);
    }

    fn forks(&'static self, region: &'static Region, at: u64) -> &'static Team {
        self.fork(region, || at).unwrap()
    }

    /// Begins as a member; `size` matters on the thread that forked only.
    fn begins(&'static self, team: &'static Team, number: u32, size: u32, at: u64) {
        self.begin_member(team, number, || size, || at);
    }

    /// The implicit barrier of a region.
    fn waits(&'static self, region: &'static Region, from: u64, to: u64) {
        self.on(Event::ImplicitBarrierEnter, region, from);
        self.on(Event::ImplicitBarrierExit, region, to);
    }
}

/// What the threads have recorded when measurement ends at a time.
fn profile_at(at: u64, threads: &[&'static Thread], regions: &[&'static Region]) -> Profile {
    let ending = Ending {
        scale: Scale::one(),
        span: [0, at],
        is_last: true,
    };
    merge(&Snapshot::take(threads, [0, at]), regions, ending)
}

/// One line per node and thread:
/// `for@2 in body/parallel@1 0->1: main 1x10 body 1x8`.
fn lines(profile: &Profile) -> Vec<String> {
    let mut lines = Vec::new();
    for node in &profile.nodes {
        for row in &node.rows {
            let spans: Vec<String> = PseudoRegion::ALL
                .into_iter()
                .filter(|part| !row.span(*part).is_zero())
                .map(|part| {
                    let span = row.span(part);
                    format!("{} {}x{}", word(part), span.count, span.ns)
                })
                .collect();
            let thread = &profile.threads[row.thread];
            lines.push(format!(
                "{} {thread}: {}",
                path(profile, node),
                spans.join(" ")
            ));
        }
    }
    lines
}

fn path(profile: &Profile, node: &Node) -> String {
    let region = &profile.regions[node.region];
    let name = format!("{}@{}", region.region_type, region.begin[0]);
    match node.parent {
        Some(parent) => {
            let parent = path(profile, &profile.nodes[parent]);
            format!("{name} in {}/{parent}", word(node.within))
        }
        None => name,
    }
}

fn word(part: PseudoRegion) -> String {
    format!("{part:?}").to_lowercase()
}
