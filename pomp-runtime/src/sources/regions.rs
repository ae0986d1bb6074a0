//! How a probe finds its region: the descriptor holds it, from the registration of its table, or
//! from its first event where there was none (OPARI 1).

use super::descriptor::OmpRegDescr;
use super::opari1_table;
use crate::measure::errno;
use crate::measure::records::Region;

/// The region of a descriptor.
#[inline(always)]
pub(super) fn region_of(descriptor: &OmpRegDescr) -> Option<&'static Region> {
    match descriptor.known_region() {
        Some(region) => Some(region),
        None => link(descriptor),
    }
}

/// Registers a descriptor at its first event.
#[cold]
#[inline(never)]
fn link(descriptor: &OmpRegDescr) -> Option<&'static Region> {
    errno::keep(|| {
        opari1_table::register();
        descriptor.register()
    })
}
