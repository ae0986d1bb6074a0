//! Any text, read as Fortran in each form: see `tests::fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tests::fuzz::fortran_front_end(data));
