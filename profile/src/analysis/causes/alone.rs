//! The serial part: one thread works outside of all teams.

use super::ledger::{Amount, Ledger};
use super::{Cause, Facts, Kind, Place};
use crate::analysis::words::{count, percent, time};
use crate::region_kind::RegionKind;

/// Part of the serial time from which one function is what it is.
const MOST: f64 = 0.5;

/// What the other threads could have done meanwhile.
pub(super) fn serial_part(facts: &Facts<'_, '_>, _: &mut Ledger) -> Vec<Cause> {
    let overheads = facts.overheads;
    let threads = overheads.threads.max(1) as f64;
    let serial = overheads.serial.ns as f64;
    if overheads.idle.ns == 0 {
        return Vec::new();
    }
    // Of several processes each has threads of its own.
    let of_each = (threads / overheads.processes.max(1) as f64).max(1.0);
    let amount = Amount {
        lost: overheads.idle.ns,
        likely: serial * (1.0 - 1.0 / of_each),
        upper: serial,
    };
    let (place, who) = place(facts);
    let one = match overheads.processes {
        1 => "one".to_owned(),
        processes => processes.to_string(),
    };
    let what = format!(
        "for {} of {} only {one} of {} had work{who}",
        time(overheads.serial.ns),
        time(overheads.duration_ns),
        count(overheads.threads, "thread"),
    );
    let cause = facts.cause_of(Kind::SerialPart, place, amount);
    let cause = cause.showing(&[
        ("serial_ns", overheads.serial.ns),
        ("threads", overheads.threads),
    ]);
    vec![cause.saying(
        what,
        "Parallelise what takes most of it, or let it overlap with parallel work.",
    )]
}

/// Where most of the serial time went, if functions or user regions tell.
fn place(facts: &Facts<'_, '_>) -> (Place, String) {
    let mut own = vec![0.0; facts.profile.regions.len()];
    let serial = facts.tree.nodes.iter().zip(&facts.walls.nodes);
    for (node, wall) in serial.filter(|(node, _)| node.scope.is_none()) {
        if matches!(node.kind, RegionKind::Function | RegionKind::User) {
            own[node.region] += wall.exclusive;
        }
    }
    let most = (0..own.len()).max_by(|a, b| own[*a].total_cmp(&own[*b]));
    let serial = facts.overheads.serial.ns as f64;
    let words = "in the serial part".to_owned();
    match most.filter(|&most| own[most] >= MOST * serial && serial > 0.0) {
        Some(region) => (
            Place {
                regions: vec![region],
                words,
            },
            format!(
                ", {} of that in {}",
                percent(100.0 * own[region] / serial),
                facts.the(region)
            ),
        ),
        None => (
            Place {
                regions: Vec::new(),
                words,
            },
            String::new(),
        ),
    }
}
