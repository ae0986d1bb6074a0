//! The paths that a file names, as they read from the root of its crate.

use std::collections::BTreeSet;

use syn::visit::{self, Visit};

use super::sources::Source;

/// The paths that a file names outside its tests: `crate::a::b` of its own crate, `other::a` of
/// another crate. A path relative to the file is written from the root.
pub(super) fn paths(source: &Source) -> BTreeSet<String> {
    let Some((_, inner)) = source.path.split_once("/src/") else {
        return BTreeSet::new();
    };
    let mut paths = Paths {
        module: module(inner),
        found: BTreeSet::new(),
    };
    paths.visit_file(&source.syntax);
    paths.found
}

/// The path of a file's module: `a/b/mod.rs` and `a/b.rs` are a::b.
pub(super) fn module(inner: &str) -> Vec<String> {
    let stem = inner.trim_end_matches(".rs").trim_end_matches("/mod");
    let is_root = ["lib", "main", "mod"].contains(&stem) || stem.starts_with("bin/");
    match is_root {
        true => Vec::new(),
        false => stem.split('/').map(str::to_owned).collect(),
    }
}

/// The files of all modules that are declared for tests only.
pub(super) fn files_for_tests(sources: &[Source]) -> BTreeSet<String> {
    let tests: BTreeSet<String> = sources.iter().flat_map(modules_of_tests).collect();
    let is_one = |path: &str| {
        let mut tests = tests.iter();
        tests.any(|test| path == format!("{test}.rs") || path.starts_with(&format!("{test}/")))
    };
    let paths = sources.iter().map(|source| &source.path);
    paths.filter(|path| is_one(path)).cloned().collect()
}

fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    let is = |attribute: &syn::Attribute| match &attribute.meta {
        syn::Meta::List(list) => {
            attribute.path().is_ident("cfg") && list.tokens.to_string().starts_with("test")
        }
        _ => false,
    };
    attributes.iter().any(is)
}

/// The paths, without `.rs`, of the modules that a file declares for tests only.
fn modules_of_tests(source: &Source) -> Vec<String> {
    let stem = source.path.trim_end_matches(".rs");
    let is_folder = ["/mod", "/lib", "/main"]
        .iter()
        .any(|name| stem.ends_with(name));
    let folder = match is_folder {
        true => stem.rsplit_once('/').map_or("", |(folder, _)| folder),
        false => stem,
    };
    let declared = source.syntax.items.iter().filter_map(|item| match item {
        syn::Item::Mod(item) if item.content.is_none() && is_for_tests(&item.attrs) => {
            Some(format!("{folder}/{}", item.ident))
        }
        _ => None,
    });
    declared.collect()
}

struct Paths {
    /// The module that is read.
    module: Vec<String>,
    found: BTreeSet<String>,
}

impl Paths {
    fn path(&mut self, names: &[String]) {
        let mut module = self.module.as_slice();
        let mut rest = names;
        match names.first().map(String::as_str) {
            Some("crate") => (module, rest) = (&[], &names[1..]),
            Some("self") => rest = &names[1..],
            Some("super") => {
                while rest.first().is_some_and(|name| name == "super") {
                    rest = &rest[1..];
                    module = module.split_last().map_or(&[], |(_, outer)| outer);
                }
            }
            _ => {
                self.found.insert(names.join("::"));
                return;
            }
        }
        let own = ["crate".to_owned()];
        self.found.insert([&own, module, rest].concat().join("::"));
    }

    fn tree(&mut self, tree: &syn::UseTree, before: &mut Vec<String>) {
        match tree {
            syn::UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.tree(&path.tree, before);
                before.pop();
            }
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.tree(tree, before);
                }
            }
            syn::UseTree::Name(syn::UseName { ident })
            | syn::UseTree::Rename(syn::UseRename { ident, .. }) => match ident == "self" {
                true => self.path(before),
                false => self.path(&[&before[..], &[ident.to_string()]].concat()),
            },
            syn::UseTree::Glob(_) => self.path(before),
        }
    }
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if is_for_tests(&item.attrs) {
            return;
        }
        self.module.push(item.ident.to_string());
        visit::visit_item_mod(self, item);
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.tree(&item.tree, &mut Vec::new());
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names = path
            .segments
            .iter()
            .map(|segment| segment.ident.to_string());
        // A name without a path belongs to the file itself: other names come by a `use`.
        if path.segments.len() > 1 {
            self.path(&names.collect::<Vec<_>>());
        }
        visit::visit_path(self, path);
    }
}
