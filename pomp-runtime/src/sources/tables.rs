//! The tables of descriptors that translation units register.

use std::ffi::{c_char, c_uint};

use profile::descriptor::Descriptor;

use super::descriptor::{OmpRegDescr, text};
use super::functions;
use crate::measure::records::region::register;
use crate::measure::{errno, state, thread};
use crate::run::{life_cycle, writing};

/// Version of the interface; `ROMP_INTERFACE_VERSION` in the header.
const INTERFACE_VERSION: c_uint = 1;

/// An entry of a translation unit's table.
#[repr(C)]
pub(super) struct RompRegion {
    descriptor: OmpRegDescr,
    text: *const c_char,
}

/// Registers a table of entries. Everything is copied: the program part that
/// holds the table may be unloaded.
///
/// # Safety
/// `table` is null or points to `entries` entries, if version and size agree.
pub(super) unsafe fn register_table(
    version: c_uint,
    entry_size: c_uint,
    table: *const RompRegion,
    entries: c_uint,
) {
    if !state::is_on_or_paused() && !life_cycle::ensure_started() || table.is_null() {
        return;
    }
    if version != INTERFACE_VERSION || entry_size as usize != size_of::<RompRegion>() {
        return writing::fail(&format!(
            "nothing is measured: a source was instrumented for version {version} of the \
             interface, this library has version {INTERFACE_VERSION}; build the program again \
             with one version of Romp"
        ));
    }
    // SAFETY: as the caller promises.
    let entries = unsafe { std::slice::from_raw_parts(table, entries as usize) };
    thread::inside(|| {
        errno::keep(|| {
            functions::modules_have_changed();
            for entry in entries
                .iter()
                .filter(|entry| entry.descriptor.is_compiled())
            {
                if let Some(region) = register(entry.read()) {
                    entry.descriptor.set_region(region);
                }
            }
        });
    });
}

impl RompRegion {
    /// Reads the text, or the ten fields if it cannot be read.
    fn read(&self) -> Descriptor {
        text(self.text)
            .and_then(|text| Descriptor::parse(&text).ok())
            .unwrap_or_else(|| self.descriptor.read())
    }
}
