//! Which modules of a crate use each other in circles. A module is a file or a folder
//! directly below `src`; tests of a module may use anything.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::{self, Visit};

use super::sources::Source;

/// Modules of which each uses each other, perhaps by way of a third.
pub(super) struct Circle {
    /// Their names, sorted.
    pub(super) modules: Vec<String>,
    /// Who uses whom, with one file that does.
    uses: Vec<(String, String, String)>,
}

impl Circle {
    pub(super) fn in_words(&self) -> String {
        let uses = self.uses.iter();
        let uses = uses.map(|(from, to, file)| format!("\n  {from} uses {to} ({file})"));
        format!(
            "{} form a circle:{}",
            self.modules.join(", "),
            uses.collect::<String>()
        )
    }
}

/// Who uses whom in a crate, each with one file that does.
type Uses = BTreeMap<(String, String), String>;

/// The circles of all crates, each with its crate.
pub(super) fn circles(sources: impl Iterator<Item = Source>) -> Vec<(String, Circle)> {
    let mut crates: BTreeMap<String, Uses> = BTreeMap::new();
    let mut tests = BTreeSet::new();
    let sources: Vec<Source> = sources.collect();
    for source in &sources {
        tests.extend(modules_of_tests(source));
    }
    for source in &sources {
        let is_test = |tests: &BTreeSet<String>| {
            let mut folders = tests.iter();
            folders.any(|test| {
                source.path == format!("{test}.rs") || source.path.starts_with(&format!("{test}/"))
            })
        };
        let Some((krate, inner)) = source.path.split_once("/src/") else {
            continue;
        };
        if is_test(&tests) {
            continue;
        }
        let module = module(inner);
        let mut paths = Paths {
            module: module.clone(),
            used: BTreeSet::new(),
        };
        paths.visit_file(&source.syntax);
        let Some(own) = module.first() else {
            continue;
        };
        let uses = crates.entry(krate.to_owned()).or_default();
        for used in paths.used.into_iter().filter(|used| used != own) {
            let file = source.path.clone();
            uses.entry((own.clone(), used)).or_insert(file);
        }
    }
    let of_crate = |(krate, uses): (String, Uses)| {
        let found = circles_of(&uses);
        found.into_iter().map(move |circle| (krate.clone(), circle))
    };
    crates.into_iter().flat_map(of_crate).collect()
}

/// The path of a file's module: `a/b/mod.rs` and `a/b.rs` are a::b.
fn module(inner: &str) -> Vec<String> {
    let stem = inner.trim_end_matches(".rs").trim_end_matches("/mod");
    let is_root = ["lib", "main", "mod"].contains(&stem) || stem.starts_with("bin/");
    match is_root {
        true => Vec::new(),
        false => stem.split('/').map(str::to_owned).collect(),
    }
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

/// The modules of the crate that paths in a file name.
struct Paths {
    module: Vec<String>,
    used: BTreeSet<String>,
}

impl Paths {
    /// Notes the module that a path begins with, if it is one of the crate.
    fn path(&mut self, names: &[String]) {
        let mut at = self.module.len();
        let mut rest = names;
        match names.first().map(String::as_str) {
            Some("crate") => (at, rest) = (0, &names[1..]),
            Some("super") => {
                while rest.first().is_some_and(|name| name == "super") && at > 0 {
                    (at, rest) = (at - 1, &rest[1..]);
                }
            }
            _ => return,
        }
        if let Some(first) = rest.first().filter(|_| at == 0) {
            self.used.insert(first.clone());
        }
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
            syn::UseTree::Name(name) => {
                self.path(&[&before[..], &[name.ident.to_string()]].concat())
            }
            syn::UseTree::Rename(name) => {
                self.path(&[&before[..], &[name.ident.to_string()]].concat())
            }
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
        self.path(&names.collect::<Vec<_>>());
        visit::visit_path(self, path);
    }
}

/// The modules that a module reaches.
fn reached<'u>(from: &'u str, uses: &'u Uses) -> BTreeSet<&'u str> {
    let mut found = BTreeSet::new();
    let mut open = vec![from];
    while let Some(module) = open.pop() {
        let used = uses.keys().filter(|(user, _)| user == module);
        open.extend(
            used.map(|(_, used)| used.as_str())
                .filter(|used| found.insert(*used)),
        );
    }
    found
}

fn circles_of(uses: &Uses) -> Vec<Circle> {
    let modules: BTreeSet<&str> = uses.keys().map(|(user, _)| user.as_str()).collect();
    let reached: BTreeMap<&str, BTreeSet<&str>> = modules
        .iter()
        .map(|module| (*module, reached(module, uses)))
        .collect();
    let mut circles: Vec<Circle> = Vec::new();
    for module in modules {
        let known = |circle: &Circle| circle.modules.iter().any(|known| known == module);
        if !reached[module].contains(module) || circles.iter().any(known) {
            continue;
        }
        let with = |other: &&&str| {
            reached
                .get(**other)
                .is_some_and(|reached| reached.contains(module))
        };
        let members: Vec<String> = reached[module]
            .iter()
            .filter(with)
            .map(|&member| member.to_owned())
            .collect();
        let both =
            |(user, used): &(String, String)| members.contains(user) && members.contains(used);
        let inner = uses.iter().filter(|(pair, _)| both(pair));
        circles.push(Circle {
            uses: inner
                .map(|((user, used), file)| (user.clone(), used.clone(), file.clone()))
                .collect(),
            modules: members,
        });
    }
    circles
}
