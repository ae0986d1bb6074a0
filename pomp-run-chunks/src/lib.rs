//! The entries of OpenMP runtimes that hand out chunks of loops. `romp run` has the dynamic linker
//! load this library in front of `libromp_run.so`, if the user wants to see chunks. Otherwise
//! programs call the runtime itself for each chunk: nothing stands between them.
//!
//! Only the names are here. Each jumps to the function in `libromp_run.so` that does the work.

#![cfg(target_arch = "x86_64")]
#![allow(non_snake_case)] // The names are others'.

use std::arch::naked_asm;

#[path = "../../pomp-runtime/src/sources/chunk_entries.rs"]
#[macro_use]
mod chunk_entries;

macro_rules! jumps {
    ($($name:ident)+) => {$(
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            naked_asm!(concat!("jmp romp_run_", stringify!($name), "@PLT"))
        }
    )+};
}

macro_rules! rows {
    ($($name:ident: $what:ident($value:ident);)+) => {
        jumps! { $($name)+ }
    };
}

for_gomp_requests!(jumps);
for_llvm_chunks!(rows);

unsafe extern "C" {
    safe fn romp_run_sees_chunks();
}

/// The dynamic linker calls it when the program and its libraries are loaded.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = at_load;

extern "C" fn at_load() {
    romp_run_sees_chunks();
}
