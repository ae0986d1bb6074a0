//! Region descriptors as they lie in the program's memory, and how a probe
//! finds its region: the descriptor's `data` holds it, from the registration
//! of its table, or from its first event where there was none (OPARI 1).

use std::ffi::{CStr, c_char, c_int, c_uint};
use std::sync::atomic::{AtomicPtr, Ordering};

use profile::descriptor::{Descriptor, SourceLines};

use super::functions;
use super::opari1;
use crate::measure::region::{Region, register};
use crate::measure::{errno, state, thread};
use crate::run::{life_cycle, writing};

/// Version of the interface; `ROMP_INTERFACE_VERSION` in the header.
const INTERFACE_VERSION: c_uint = 1;

/// OPARI 1's descriptor.
#[repr(C)]
pub(super) struct OmpRegDescr {
    name: *const c_char,
    sub_name: *const c_char,
    num_sections: c_int,
    file_name: *const c_char,
    begin_first_line: c_int,
    begin_last_line: c_int,
    end_first_line: c_int,
    end_last_line: c_int,
    /// Ours: the region.
    data: AtomicPtr<Region>,
    next: *mut OmpRegDescr,
}

/// An entry of a translation unit's table.
#[repr(C)]
pub(super) struct RompRegion {
    descriptor: OmpRegDescr,
    text: *const c_char,
}

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
        opari1::register_table();
        let region = register(descriptor.read())?;
        descriptor.set_region(region);
        Some(region)
    })
}

/// Registers a descriptor, so that its region is known also if it never runs.
pub(super) fn announce(descriptor: &OmpRegDescr) {
    if let Some(region) = register(descriptor.read()) {
        descriptor.set_region(region);
    }
}

impl OmpRegDescr {
    /// Its region, if that is known.
    #[inline(always)]
    pub(super) fn known_region(&self) -> Option<&'static Region> {
        // SAFETY: `data` is null at first and set by `set_region` only, from a reference
        // that is valid for good.
        unsafe { self.data.load(Ordering::Acquire).as_ref() }
    }

    fn set_region(&self, region: &'static Region) {
        self.data
            .store(std::ptr::from_ref(region).cast_mut(), Ordering::Release);
    }

    /// Reads the ten fields.
    fn read(&self) -> Descriptor {
        let lines = |first: c_int, last: c_int| {
            let number = |line: c_int| u32::try_from(line).unwrap_or(0);
            SourceLines {
                file: text(self.file_name).unwrap_or_default(),
                first: number(first),
                last: number(last.max(first)),
            }
        };
        let begin = lines(self.begin_first_line, self.begin_last_line);
        let end = match self.end_first_line {
            ..=0 => begin.clone(),
            first => lines(first, self.end_last_line),
        };
        Descriptor {
            region_type: text(self.name).unwrap_or_default().replace(' ', ""),
            begin,
            end,
            name: text(self.sub_name).filter(|name| !name.is_empty()),
            num_sections: u32::try_from(self.num_sections)
                .ok()
                .filter(|sections| *sections > 0),
            ..Descriptor::default()
        }
    }
}

/// A copy of a C string, which is null or valid.
pub(super) fn text(pointer: *const c_char) -> Option<String> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: the fields of a descriptor are null or C strings.
    let text = unsafe { CStr::from_ptr(pointer) };
    Some(text.to_string_lossy().into_owned())
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
            for entry in entries.iter().filter(|entry| entry.is_compiled()) {
                if let Some(region) = register(entry.read()) {
                    entry.descriptor.set_region(region);
                }
            }
        });
    });
}

impl RompRegion {
    /// Whether the construct was compiled: its conditional (`#if`) may have left
    /// it out, and then its name is empty.
    fn is_compiled(&self) -> bool {
        text(self.descriptor.name).is_none_or(|name| !name.is_empty())
    }

    /// Reads the text, or the ten fields if it cannot be read.
    fn read(&self) -> Descriptor {
        text(self.text)
            .and_then(|text| Descriptor::parse(&text).ok())
            .unwrap_or_else(|| self.descriptor.read())
    }
}
