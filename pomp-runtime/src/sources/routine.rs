//! Lock routines whose call sites are not known: all calls of one routine are one region.

use profile::descriptor::Descriptor;

use crate::measure::errno;
use crate::measure::records::Region;
use crate::measure::records::region::register;
use crate::measure::shared::SharedRef;

/// A routine, whose region is made at its first call.
pub(super) struct Routine {
    name: &'static str,
    region: SharedRef<Region>,
}

impl Routine {
    pub(super) const fn new(name: &'static str) -> Self {
        Self {
            name,
            region: SharedRef::none(),
        }
    }

    #[inline(always)]
    pub(super) fn region(&self) -> Option<&'static Region> {
        self.region.get().or_else(|| self.register())
    }

    /// Threads that come at once may each make one; the last stays.
    #[cold]
    #[inline(never)]
    fn register(&self) -> Option<&'static Region> {
        errno::keep(|| {
            let region = register(Descriptor {
                region_type: "lock".into(),
                name: Some(self.name.into()),
                ..Descriptor::default()
            });
            self.region.set(region);
            region
        })
    }
}
