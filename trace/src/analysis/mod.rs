//! Analyses that need a trace: which iterations are expensive, when iterations and tasks really
//! ran, which tasks made which, which thread came last to a barrier, and which thread held a
//! lock that others waited for.

mod cell;
pub mod dependences;
pub mod iterations;
pub mod periods;
pub mod tasks;
pub mod times;
pub mod waits;

use profile::region_kind::RegionKind;

use crate::read::Trace;

/// The kind of each region of a trace.
pub(crate) fn kinds(trace: &Trace) -> Vec<Option<RegionKind>> {
    let kind = |region: &profile::descriptor::Descriptor| {
        RegionKind::from_region_type(&region.region_type)
    };
    trace.regions().map(|region| kind(region?)).collect()
}
