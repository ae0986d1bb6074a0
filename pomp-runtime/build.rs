//! Puts the list of symbols that a measured program must export beside the library: the wrappers
//! hand the list to the linker. Also gives the shared library its name, and keeps the program's
//! functions out of it (`src/system.rs`).

use std::collections::BTreeSet;
use std::path::Path;

fn main() {
    // A program that links the shared library asks for it by this name, so that
    // another can be put in its place.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libpomp.so");
    keep_names("src/system.rs");
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

/// Makes the shared library call the functions of a source file instead of the functions that they
/// stand for.
fn keep_names(source: &str) {
    println!("cargo::rerun-if-changed={source}");
    let text = std::fs::read_to_string(source).unwrap_or_default();
    let names = text.split("romp_system_").skip(1);
    let names = names.filter_map(|rest| rest.split_once('(').map(|(name, _)| name));
    let is_name = |name: &&str| name.chars().all(|c| c.is_ascii_lowercase());
    for name in names.filter(is_name).collect::<BTreeSet<_>>() {
        println!("cargo::rustc-cdylib-link-arg=-Wl,--defsym={name}=romp_system_{name}");
    }
}
