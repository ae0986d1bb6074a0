//! Any text, read as C and as C++: see `tests::fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tests::fuzz::c_front_end(data));
