//! Any text, its tokens, and any edits of it: see `tests::fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tests::fuzz::edit_engine(data));
