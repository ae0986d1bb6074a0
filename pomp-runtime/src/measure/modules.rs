//! The program and its shared libraries, as they lie in memory now.
//!
//! They are found by `dl_iterate_phdr`. Unlike `dladdr` it does not wait for a library that is
//! being loaded, whose constructors may wait for threads that are measured.

use std::ffi::{CStr, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// A search for the module that holds an address, with its result.
#[derive(Default)]
struct Search {
    address: usize,
    found: Option<(PathBuf, usize)>,
    unloaded: u64,
}

/// The file to which an address belongs, and the number to subtract from the address to get the
/// address within the file. None if it belongs to no file.
pub(crate) fn module_at(address: usize) -> Option<(PathBuf, usize)> {
    search(address).found
}

/// The shared library to which an address belongs. None if it belongs to the program itself, or to no file.
pub(crate) fn library_of(address: usize) -> Option<PathBuf> {
    let (path, _) = module_at(address)?;
    (std::env::current_exe().ok()? != path).then_some(path)
}

/// How many modules have been unloaded so far.
pub(crate) fn unloaded() -> u64 {
    search(0).unloaded
}

fn search(address: usize) -> Search {
    let mut search = Search {
        address,
        ..Search::default()
    };
    // SAFETY: the function is ours and gets a `Search` that nobody else uses.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut search).cast::<c_void>()) };
    search
}

unsafe extern "C" fn look(
    info: *mut libc::dl_phdr_info,
    size: libc::size_t,
    search: *mut c_void,
) -> c_int {
    // SAFETY: the loader passes a valid record, and the pointer that it was
    // given in `search`.
    let (info, search) = unsafe { (&*info, &mut *search.cast::<Search>()) };
    if size >= size_of::<libc::dl_phdr_info>() {
        search.unloaded = info.dlpi_subs;
    }
    if search.address == 0 {
        return 1;
    }
    if !holds(info, search.address) {
        return 0;
    }
    search.found = Some((path(info), info.dlpi_addr as usize));
    1
}

/// Whether a part of a module that is loaded holds an address.
fn holds(info: &libc::dl_phdr_info, address: usize) -> bool {
    if info.dlpi_phdr.is_null() {
        return false;
    }
    // SAFETY: the loader gives this many headers.
    let headers =
        unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    headers.iter().any(|header| {
        let start = (info.dlpi_addr as usize).wrapping_add(header.p_vaddr as usize);
        header.p_type == libc::PT_LOAD && address.wrapping_sub(start) < header.p_memsz as usize
    })
}

/// The path of a module; the program itself has no name here.
fn path(info: &libc::dl_phdr_info) -> PathBuf {
    if !info.dlpi_name.is_null() {
        // SAFETY: a name is a C string, as long as its module is loaded.
        let name = unsafe { CStr::from_ptr(info.dlpi_name) };
        if !name.is_empty() {
            return std::ffi::OsStr::from_bytes(name.to_bytes()).into();
        }
    }
    std::env::current_exe().unwrap_or_default()
}
