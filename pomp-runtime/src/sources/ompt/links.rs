//! The data of an explicit task, kept in the word that the runtime has for it: its region, or, if the
//! task is traced, a record of its region and the label of its creation.

use std::cell::Cell;

use super::report::MEMBER;
use crate::measure::errno;
use crate::measure::records::Region;
use crate::measure::shared::{SharedRef, SharedU64, leak};

/// The task has begun.
pub(super) const BEGUN: u64 = 1;
/// The rest is a record.
const LINKED: u64 = 4;

/// A task that is traced.
#[derive(Debug)]
struct TracedTask {
    region: SharedRef<Region>,
    label: SharedU64,
    /// Of a record that no task has: another one.
    next: SharedRef<TracedTask>,
}

/// Records that no task has, of all threads. Threads add records one by one, and take all of them.
static RETURNED: SharedRef<TracedTask> = SharedRef::none();

thread_local! {
    /// The records that this thread has taken from [`RETURNED`] and not used yet.
    static FREE: Cell<Option<&'static TracedTask>> = const { Cell::new(None) };
}

/// The word to keep for a task. Without memory for a record, its label is lost.
pub(super) fn keep(region: &'static Region, label: u64) -> u64 {
    match (label != 0).then(|| new(region, label)).flatten() {
        Some(link) => std::ptr::from_ref(link).expose_provenance() as u64 | LINKED,
        None => std::ptr::from_ref(region).expose_provenance() as u64,
    }
}

fn new(region: &'static Region, label: u64) -> Option<&'static TracedTask> {
    let link = match FREE.take().or_else(|| RETURNED.take()) {
        Some(link) => {
            FREE.set(link.next.get());
            link
        }
        None => errno::keep(|| {
            leak(TracedTask {
                region: SharedRef::none(),
                label: SharedU64::new(0),
                next: SharedRef::none(),
            })
        })?,
    };
    link.region.set(Some(region));
    link.label.set(label);
    Some(link)
}

/// The region of an explicit task and the label of its creation, 0 if that is unknown.
///
/// # Safety
/// `kept` is what `keep` gave, or is kept for an implicit task.
pub(super) unsafe fn region_and_label(kept: u64) -> Option<(&'static Region, u64)> {
    if kept & !BEGUN <= MEMBER {
        return None;
    }
    // SAFETY: as the caller promises; regions and records are never freed.
    unsafe {
        match link(kept) {
            Some(link) => Some((link.region.get()?, link.label.get())),
            None => {
                let region = std::ptr::with_exposed_provenance::<Region>((kept & !BEGUN) as usize);
                Some((region.as_ref()?, 0))
            }
        }
    }
}

/// # Safety
/// As for `kept`.
unsafe fn link(kept: u64) -> Option<&'static TracedTask> {
    if kept & LINKED == 0 {
        return None;
    }
    let address = kept & !(BEGUN | LINKED);
    // SAFETY: as the caller promises.
    unsafe { std::ptr::with_exposed_provenance::<TracedTask>(address as usize).as_ref() }
}

/// Takes back the record of a task that is over.
///
/// # Safety
/// As for `kept`; nothing keeps it any more.
pub(super) unsafe fn give_back(kept: u64) {
    // SAFETY: as the caller promises.
    let Some(link) = (unsafe { link(kept) }) else {
        return;
    };
    loop {
        let first = RETURNED.get();
        link.next.set(first);
        if RETURNED.replace_if(first, link) {
            return;
        }
    }
}
