//! Puts the list of symbols that a measured program must export beside the
//! library: the wrappers hand it to the linker. Names the shared library.

use std::path::Path;

fn main() {
    // A program that links the shared library asks for it by this name, so that
    // another can be put in its place.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libpomp.so");
    let list = "../packaging/pomp.exports";
    println!("cargo::rerun-if-changed={list}");
    // The directory of this profile, in which cargo puts the library.
    let out = std::env::var_os("OUT_DIR").unwrap_or_default();
    if let Some(beside) = Path::new(&out).ancestors().nth(3) {
        let copied = std::fs::copy(list, beside.join("pomp.exports"));
        if let Err(error) = copied {
            println!("cargo::warning=pomp.exports cannot be put beside the library: {error}");
        }
    }
}
