//! Region descriptors as they lie in the program's memory. A descriptor's `data` holds its region
//! once that is known.

use std::ffi::{CStr, c_char, c_int};
use std::sync::atomic::{AtomicPtr, Ordering};

use profile::descriptor::{Descriptor, SourceLines};

use crate::measure::records::Region;
use crate::measure::records::region::register;

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

impl OmpRegDescr {
    /// Its region, if that is known.
    #[inline(always)]
    pub(super) fn known_region(&self) -> Option<&'static Region> {
        // SAFETY: `data` is null at first and set by `set_region` only, from a reference
        // that is valid for good.
        unsafe { self.data.load(Ordering::Acquire).as_ref() }
    }

    /// Registers it.
    pub(super) fn register(&self) -> Option<&'static Region> {
        let region = register(self.read())?;
        self.set_region(region);
        Some(region)
    }

    pub(super) fn set_region(&self, region: &'static Region) {
        self.data
            .store(std::ptr::from_ref(region).cast_mut(), Ordering::Release);
    }

    /// Whether the construct was compiled: its conditional (`#if`) may have left
    /// it out, and then its name is empty.
    pub(super) fn is_compiled(&self) -> bool {
        text(self.name).is_none_or(|name| !name.is_empty())
    }

    /// Reads the ten fields.
    pub(super) fn read(&self) -> Descriptor {
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
