//! What the iterations of loops cost, for the pages of their regions.
//!
//! ```text
//! [{ region: [its name, its index in the profile], iterations, instances, chunks, largest_chunk,
//!    per_cell: iterations of a cell, executed: by cell, ns: of an iteration, by cell }]
//! ```

use profile::model::Profile;
use serde_json::{Value, json};

use super::regions;
use crate::analysis::iterations::{Loop, loops};
use crate::read::{ReadError, Trace};

/// The costs as JSON, of as many cells as [`loops`] has.
pub(super) fn iteration_costs(trace: &Trace, profile: &Profile) -> Result<Vec<u8>, ReadError> {
    let loops = loops(trace)?;
    let regions = regions(trace, profile);
    let costs = loops.iter().map(|(number, known)| {
        let region = regions.get(*number as usize).cloned();
        costs_of(trace, known, region.unwrap_or_default())
    });
    Ok(costs.collect::<Value>().to_string().into_bytes())
}

fn costs_of(trace: &Trace, known: &Loop, region: Value) -> Value {
    let executed = known.cells.iter().map(|cell| cell.executed.round() as u64);
    let ns = known
        .cells
        .iter()
        .map(|cell| rounded_ns(trace, cell.cost()));
    json!({
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
