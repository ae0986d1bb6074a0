//! The costs of the iterations of loops, for the pages of their regions.
//!
//! ```text
//! [{ rank: of the process, if the profile is of several,
//!    region: [its name, its index in the profile], iterations, instances, chunks, largest_chunk,
//!    per_cell: iterations of a cell, executed: by cell, ns: of an iteration, by cell }]
//! ```

use profile::model::Profile;
use serde_json::{Value, json};

use super::{Process, regions};
use crate::analysis::iterations::{Loop, loops};
use crate::read::{ReadError, Trace};

/// The costs as JSON, for each process of as many cells as [`loops`] has.
pub(super) fn iteration_costs(
    processes: &[Process<'_>],
    profile: &Profile,
) -> Result<Vec<u8>, ReadError> {
    let mut costs = Vec::new();
    for Process { trace, prefix, .. } in processes {
        let rank = trace.rank().filter(|_| !prefix.is_empty());
        let regions = regions(trace, profile);
        for (number, known) in loops(trace)? {
            let region = regions.get(number as usize).cloned();
            costs.push(costs_of(trace, &known, rank, region.unwrap_or_default()));
        }
    }
    Ok(Value::from(costs).to_string().into_bytes())
}

fn costs_of(trace: &Trace, known: &Loop, rank: Option<u32>, region: Value) -> Value {
    let executed = known.cells.iter().map(|cell| cell.executed.round() as u64);
    let ns = known
        .cells
        .iter()
        .map(|cell| rounded_ns(trace, cell.cost()));
    json!({
        "rank": rank,
        "region": region,
        "iterations": known.iterations,
        "instances": known.instances(),
        "chunks": known.chunks,
        "largest_chunk": known.largest_chunk,
        "per_cell": known.per_cell,
        "executed": executed.collect::<Value>(),
        "ns": ns.collect::<Value>(),
    })
}

/// Ticks in nanoseconds, rounded to a tenth.
fn rounded_ns(trace: &Trace, ticks: f64) -> f64 {
    (trace.ns_of_parts(ticks) * 10.0).round() / 10.0
}
