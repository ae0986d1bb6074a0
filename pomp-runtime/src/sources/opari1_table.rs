//! OPARI 1's table of a program's descriptors. OPARI writes it as a source file.

use std::sync::atomic::{AtomicBool, Ordering};

use super::descriptor::OmpRegDescr;

/// The program's table, if it has one: its length, and its entries, the first of which is empty.
#[cfg(not(test))]
mod table {
    use std::ffi::{c_int, c_void};

    unsafe extern "C" {
        pub(super) static romp_opari1_table: Option<&'static *const c_void>;
        pub(super) static romp_opari1_length: Option<&'static c_int>;
    }

    // Programs without a table have neither symbol: the addresses are null then.
    std::arch::global_asm!(
        ".weak pomp_rd_table",
        ".weak POMP_MAX_ID",
        ".pushsection .data.rel.ro.romp_opari1, \"aw\"",
        ".balign 8",
        ".hidden romp_opari1_table",
        ".globl romp_opari1_table",
        "romp_opari1_table: .8byte pomp_rd_table",
        ".hidden romp_opari1_length",
        ".globl romp_opari1_length",
        "romp_opari1_length: .8byte POMP_MAX_ID",
        ".popsection",
    );
}

/// The entries of the program's table.
#[cfg(not(test))]
pub(super) fn table() -> &'static [*const OmpRegDescr] {
    // SAFETY: what OPARI wrote has these types, and nobody writes to it.
    unsafe {
        match (table::romp_opari1_table, table::romp_opari1_length) {
            (Some(first), Some(length)) => std::slice::from_raw_parts(
                std::ptr::from_ref(first).cast(),
                usize::try_from(*length).unwrap_or(0),
            ),
            _ => &[],
        }
    }
}

#[cfg(test)]
pub(super) fn table() -> &'static [*const OmpRegDescr] {
    &[]
}

/// Registers the program's table, once, so that its regions are known also if they never run.
pub(super) fn register() {
    static IS_REGISTERED: AtomicBool = AtomicBool::new(false);
    if !IS_REGISTERED.swap(true, Ordering::AcqRel) {
        for descriptor in table() {
            // SAFETY: the entries are null or point to descriptors.
            if let Some(descriptor) = unsafe { descriptor.as_ref() } {
                descriptor.register();
            }
        }
    }
}
