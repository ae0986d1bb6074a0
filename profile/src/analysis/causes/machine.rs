//! What the machine did to the run: processors that threads had to share.

use super::{Causes, Facts};

/// Weighs causes against what threads lost for want of a processor.
pub(super) fn weigh(_: &Facts<'_, '_>, _: &mut Causes) {}
