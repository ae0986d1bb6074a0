//! Gives the library its name. The functions that it jumps to are in `libromp_run.so`, which is
//! always loaded with it.

fn main() {
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libromp_run_chunks.so");
    println!("cargo::rerun-if-changed=../pomp-runtime/src/sources/chunk_entries.rs");
}
