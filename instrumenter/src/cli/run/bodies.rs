//! Tells apart the constructs of functions that seem to be the body of the same one.
//!
//! A body may begin with the line of a directive inside it. But the compiler numbers the functions
//! that it makes of bodies, and gives each construct of a function one number. So if there are
//! several for one construct, and each of them ran in the one before, the last one is the body of this
//! construct, and the others are those of the constructs around it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use profile::descriptor::Descriptor;
use profile::model::Profile;

use super::align::{self, is_measured_as};
use super::sources::Sources;
use super::symbols::{GNU_BODY, made_from};
use super::wanted::{Bodies, Function};

/// Bodies that may be of one construct: the function of the user's whose bodies they are, the file, the
/// number of the construct, and whether they are a part of it.
type Claimed = ((String, String, u64), String, usize, bool);

/// The constructs of bodies, if no two bodies have the same one. `regions` are the regions of each
/// body.
pub(super) fn each_its_own(
    mut found: Bodies,
    regions: &BTreeMap<Function, Vec<usize>>,
    profile: &Profile,
    sources: &mut Sources,
) -> Bodies {
    let mut claims: BTreeMap<Claimed, BTreeMap<String, Vec<Function>>> = BTreeMap::new();
    for (function, (file, number)) in &found {
        let (module, name, instance) = function;
        let of = name.split(GNU_BODY).next().unwrap_or_default().to_owned();
        let is_part = is_part_of(function, regions, profile, &sources.of(file).all[*number]);
        let claimed = (
            (module.clone(), of, *instance),
            file.clone(),
            *number,
            is_part,
        );
        let by_number = claims.entry(claimed).or_default();
        let same = by_number.entry(made_from(name)).or_default();
        same.push(function.clone());
    }
    claims.retain(|_, bodies| bodies.len() > 1);
    if claims.is_empty() {
        return found;
    }
    let around = around(profile, regions);
    for ((_, file, number, _), bodies) in claims {
        for function in bodies.values().flatten() {
            found.remove(function);
        }
        let Some(order) = innermost_first(&bodies, &around) else {
            continue;
        };
        let constructs = sources.of(&file);
        let mut next = Some(number);
        for functions in order {
            let Some(number) = next else { break };
            let construct = &constructs.all[number];
            let is_part = |function| is_part_of(function, regions, profile, construct);
            let are_parts = functions.iter().any(is_part);
            let is_taken = found.iter().any(|(function, other)| {
                *other == (file.clone(), number) && is_part(function) == are_parts
            });
            let is_one = |function: &Function| {
                regions[function]
                    .iter()
                    .all(|region| is_measured_as(profile.regions[*region].kind, construct))
            };
            if is_taken
                || functions
                    .iter()
                    .flat_map(|one| &regions[one])
                    .any(|region| {
                        let kind = profile.regions[*region].kind;
                        constructs.may_be_more(kind, construct.function.as_deref())
                    })
                || !functions.iter().all(is_one)
            {
                break;
            }
            for function in functions {
                found.insert(function.clone(), (file.clone(), number));
            }
            next = align::body_around(&constructs.all, number);
        }
    }
    found
}

/// Whether a body is that of a part of a combined construct.
fn is_part_of(
    function: &Function,
    regions: &BTreeMap<Function, Vec<usize>>,
    profile: &Profile,
    construct: &Descriptor,
) -> bool {
    let mut kinds = regions[function]
        .iter()
        .map(|region| profile.regions[*region].kind);
    kinds.any(|kind| align::is_part(kind, construct))
}

/// Leaves out bodies of parts of a combined construct that may be those of a construct around it: such
/// a one may begin with the line of a directive inside it, too, if no other body is its own.
pub(super) fn not_around(
    mut found: Bodies,
    regions: &BTreeMap<Function, Vec<usize>>,
    profile: &Profile,
    sources: &mut Sources,
) -> Bodies {
    let known: BTreeSet<(String, usize)> = found.values().cloned().collect();
    found.retain(|function, (file, number)| {
        let all = &sources.of(file).all;
        let is_part = is_part_of(function, regions, profile, &all[*number]);
        let is_another = |around: usize| {
            let mut kinds = regions[function]
                .iter()
                .map(|region| profile.regions[*region].kind);
            kinds.any(|kind| is_measured_as(kind, &all[around]))
                && !known.contains(&(file.clone(), around))
        };
        !is_part || !align::body_around(all, *number).is_some_and(is_another)
    });
    found
}

/// The bodies in which each body ran.
fn around<'r>(
    profile: &Profile,
    regions: &'r BTreeMap<Function, Vec<usize>>,
) -> BTreeMap<&'r Function, BTreeSet<&'r Function>> {
    let mut bodies: HashMap<usize, &Function> = HashMap::new();
    for (function, of) in regions {
        bodies.extend(of.iter().map(|region| (*region, function)));
    }
    let mut around: BTreeMap<&Function, BTreeSet<&Function>> = BTreeMap::new();
    for node in &profile.nodes {
        let Some(function) = bodies.get(&node.region) else {
            continue;
        };
        let mut outer = node.parent;
        while let Some(at) = outer {
            let of = bodies.get(&profile.nodes[at].region);
            around.entry(function).or_default().extend(of);
            outer = profile.nodes[at].parent;
        }
    }
    around
}

/// The bodies in the order of their nesting; none if they did not run in one another.
fn innermost_first<'b>(
    bodies: &'b BTreeMap<String, Vec<Function>>,
    around: &BTreeMap<&Function, BTreeSet<&Function>>,
) -> Option<Vec<&'b Vec<Function>>> {
    let ran_in = |inner: &Vec<Function>, outer: &Vec<Function>| {
        let is_in = |of: &Function| {
            around
                .get(of)
                .is_some_and(|all| outer.iter().any(|one| all.contains(one)))
        };
        inner.iter().any(is_in)
    };
    let mut order: Vec<&Vec<Function>> = bodies.values().collect();
    order.sort_by_key(|one| {
        let outer = bodies
            .values()
            .filter(|outer| *outer != *one && ran_in(one, outer));
        std::cmp::Reverse(outer.count())
    });
    let is_chain = order
        .windows(2)
        .all(|pair| ran_in(pair[0], pair[1]) && !ran_in(pair[1], pair[0]));
    is_chain.then_some(order)
}

#[cfg(test)]
mod tests {
    use super::*;
    use profile::model::{Node, Region};
    use profile::region_kind::{PseudoRegion, RegionKind};

    type Choose = fn(Bodies, &BTreeMap<Function, Vec<usize>>, &Profile, &mut Sources) -> Bodies;

    /// What becomes of the parallel bodies of a function: the constructs that they seem to be, by
    /// number, each with the node in which it ran.
    fn found(text: &str, claimed: &[(usize, Option<usize>)], choose: Choose) -> Vec<Option<usize>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.c");
        std::fs::write(&path, text).unwrap();
        let file = path.to_string_lossy().into_owned();
        let function = |number| ("app".to_owned(), format!("f{GNU_BODY}{number}"), 0);
        let numbers = 0..claimed.len();
        let region = Region {
            file: file.clone(),
            near: true,
            ..Region::of_kind(RegionKind::Parallel)
        };
        let node = |(region, (_, parent)): (usize, &(usize, Option<usize>))| Node {
            parent: *parent,
            region,
            within: PseudoRegion::Body,
            rows: Vec::new(),
        };
        let profile = Profile {
            regions: vec![region; claimed.len()],
            nodes: claimed.iter().enumerate().map(node).collect(),
            ..Profile::default()
        };
        let regions = numbers.clone().map(|it| (function(it), vec![it])).collect();
        let bodies = numbers.clone().zip(claimed);
        let bodies = bodies.map(|(it, (construct, _))| (function(it), (file.clone(), *construct)));
        let found = choose(
            bodies.collect(),
            &regions,
            &profile,
            &mut Sources::default(),
        );
        let number = |it| found.get(&function(it)).map(|(_, number)| *number);
        numbers.map(number).collect()
    }

    const NESTED: &str = "void f(void)\n{\n#pragma omp parallel\n{\n#pragma omp parallel\n\
        g();\n}\n}\n";
    const COMBINED: &str = "void f(void)\n{\n#pragma omp parallel\n{\n\
        #pragma omp target parallel for\nfor (int i = 0; i < 9; i++) g();\n}\n}\n";

    /// Both seem to be the body of the inner construct.
    #[test]
    fn bodies_that_ran_in_one_another_are_those_of_constructs_around_each_other() {
        let chosen = |claimed: &[_]| found(NESTED, claimed, each_its_own);
        assert_eq!(chosen(&[(1, None), (1, Some(0))]), [Some(0), Some(1)]);
        // The order of their numbers tells nothing.
        assert_eq!(chosen(&[(1, None), (1, None)]), [None, None]);
        assert_eq!(chosen(&[(0, None), (1, Some(0))]), [Some(0), Some(1)]);
        // There is one construct less around them.
        let three = chosen(&[(1, None), (1, Some(0)), (1, Some(1))]);
        assert_eq!(three, [None, Some(0), Some(1)]);
    }

    /// The body of the region around it may begin with its line.
    #[test]
    fn a_part_of_a_combined_construct_is_known_if_the_region_around_it_is() {
        let chosen = |claimed: &[_]| found(COMBINED, claimed, not_around);
        assert_eq!(chosen(&[(0, None), (1, Some(0))]), [Some(0), Some(1)]);
        assert_eq!(chosen(&[(1, None)]), [None]);
    }
}
