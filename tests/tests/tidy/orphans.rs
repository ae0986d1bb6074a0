//! Files of Rust that belong to no crate, since no module declares them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::sources::{Source, root};

/// The paths of such files.
pub(super) fn orphans(sources: &[Source]) -> Vec<String> {
    let declared: BTreeSet<PathBuf> = sources.iter().flat_map(declared_in).collect();
    let is_orphan = |source: &&Source| {
        let path = Path::new(&source.path);
        !begins_a_crate(path) && !declared.contains(path)
    };
    let orphans = sources.iter().filter(is_orphan);
    orphans.map(|source| source.path.clone()).collect()
}

/// Whether cargo takes the file as the begin of a crate.
fn begins_a_crate(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    let folder = path.parent().unwrap();
    let of_package = folder
        .parent()
        .is_some_and(|package| root().join(package).join("Cargo.toml").exists());
    ["lib.rs", "main.rs", "build.rs"]
        .iter()
        .any(|of| name == *of)
        || folder.ends_with("src/bin")
        || of_package
            && ["tests", "examples", "benches"]
                .iter()
                .any(|of| folder.ends_with(of))
}

/// The files that may hold the modules that a file declares.
fn declared_in(source: &Source) -> Vec<PathBuf> {
    let path = Path::new(&source.path);
    let folders = [path.parent().unwrap().to_owned(), path.with_extension("")];
    let mut declared = Vec::new();
    for folder in &folders {
        declare(&source.syntax.items, folder, &mut declared);
    }
    declared
}

fn declare(items: &[syn::Item], folder: &Path, declared: &mut Vec<PathBuf>) {
    for item in items {
        let syn::Item::Mod(module) = item else {
            continue;
        };
        let name = module.ident.to_string();
        match (&module.content, elsewhere(module)) {
            (Some((_, items)), _) => declare(items, &folder.join(name), declared),
            (None, Some(path)) => declared.push(folder.join(path)),
            (None, None) => {
                declared.push(folder.join(&name).with_extension("rs"));
                declared.push(folder.join(name).join("mod.rs"));
            }
        }
    }
}

/// The path that an attribute of a module names.
fn elsewhere(module: &syn::ItemMod) -> Option<String> {
    module.attrs.iter().find_map(|attribute| {
        let syn::Meta::NameValue(pair) = &attribute.meta else {
            return None;
        };
        let syn::Expr::Lit(literal) = &pair.value else {
            return None;
        };
        match &literal.lit {
            syn::Lit::Str(path) if pair.path.is_ident("path") => Some(path.value()),
            _ => None,
        }
    })
}
