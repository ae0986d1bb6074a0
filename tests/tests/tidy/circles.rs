//! Which modules use each other in circles, of those that stand side by side in one
//! folder. Tests of a module may use anything.

use std::collections::{BTreeMap, BTreeSet};

use super::paths::{files_for_tests, module, paths};
use super::sources::Source;

/// Modules of which each uses all others, directly or through other modules.
pub(super) struct Circle {
    /// Their names, sorted.
    pub(super) modules: Vec<String>,
    /// Which module uses which, with one file that does.
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

/// Which module uses which in a folder, each with one file that does.
type Uses = BTreeMap<(String, String), String>;

/// The circles of all folders, each with its folder.
pub(super) fn circles(sources: &[Source]) -> Vec<(String, Circle)> {
    let for_tests = files_for_tests(sources);
    let modules: BTreeSet<(&str, Vec<String>)> = sources
        .iter()
        .filter_map(|source| source.path.split_once("/src/"))
        .map(|(krate, inner)| (krate, module(inner)))
        .collect();
    let mut folders: BTreeMap<String, Uses> = BTreeMap::new();
    for source in sources
        .iter()
        .filter(|source| !for_tests.contains(&source.path))
    {
        let Some((krate, inner)) = source.path.split_once("/src/") else {
            continue;
        };
        let user = module(inner);
        for path in paths(source) {
            let mut names = path.split("::").map(str::to_owned);
            if names.next().as_deref() != Some("crate") {
                continue;
            }
            let used: Vec<String> = names.collect();
            let shared = user.iter().zip(&used).take_while(|(a, b)| a == b).count();
            let (Some(from), Some(to)) = (user.get(shared), used.get(shared)) else {
                continue;
            };
            if !modules.contains(&(krate, used[..=shared].to_vec())) {
                continue;
            }
            let folder = [&[krate.to_owned()], &user[..shared]].concat().join("/");
            let uses = folders.entry(folder).or_default();
            uses.entry((from.clone(), to.clone()))
                .or_insert(source.path.clone());
        }
    }
    let of_folder = |(folder, uses): (String, Uses)| {
        let found = circles_of(&uses);
        found
            .into_iter()
            .map(move |circle| (folder.clone(), circle))
    };
    folders.into_iter().flat_map(of_folder).collect()
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
