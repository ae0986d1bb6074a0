//! The identity of regions: which regions of several profiles are the same construct of the
//! source.
//!
//! A region is identified by its file, function, kind, name and directive, and by its number
//! among the regions that agree in all of these, in source order. So edits elsewhere in the
//! file do not matter. Regions at the same place are one region: a construct in a header
//! belongs to every translation unit that includes the header. A region whose directive is
//! unknown (OPARI instrumented it) is identified by its place, within one build.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::model::Region;
use crate::region_kind::RegionKind;

/// The data that identifies a region in other profiles of the same build.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity {
    file: String,
    construct: Construct,
    /// From 0, in source order; only for regions with a directive.
    number: usize,
    /// Only for regions without a directive.
    position: Option<Position>,
}

/// The part of an identity that does not name a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Construct {
    kind: RegionKind,
    function: Option<String>,
    name: Option<String>,
    directive: Option<String>,
    /// The symbol of a function.
    symbol: Option<String>,
}

/// Where a region stands in its file, and a function in its module.
type Position = ([u32; 2], u32, u64);

fn construct(region: &Region) -> Construct {
    Construct {
        kind: region.kind,
        function: region.function.clone(),
        name: region.name.clone(),
        directive: region.directive.clone(),
        symbol: region.code.as_ref().and_then(|code| code.symbol.clone()),
    }
}

/// Calls near one line of a function are one region: a template has one for each of its instances, and
/// no output distinguishes them.
fn position(region: &Region) -> Position {
    let code = region.code.as_ref().filter(|_| !region.near);
    let offset = code.map_or(0, |code| code.offset);
    (region.begin, region.column, offset)
}

/// The identities of the regions of one profile, in their order. Only regions at the same place
/// have the same identity.
#[must_use]
pub fn identities(regions: &[Region]) -> Vec<Identity> {
    let mut positions: HashMap<(&str, Construct), BTreeSet<Position>> = HashMap::new();
    for region in regions {
        let group = (region.file.as_str(), construct(region));
        positions.entry(group).or_default().insert(position(region));
    }
    let identity = |region: &Region| {
        let group = (region.file.as_str(), construct(region));
        let number = match region.directive {
            Some(_) => positions[&group].range(..position(region)).count(),
            None => 0,
        };
        Identity {
            file: region.file.clone(),
            construct: group.1,
            number,
            position: region.directive.is_none().then(|| position(region)),
        }
    };
    regions.iter().map(identity).collect()
}

/// A region before and after a change of the program; one of the two may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Index among the regions before.
    pub before: Option<usize>,
    /// Index among the regions after.
    pub after: Option<usize>,
}

/// Finds for each region the region that it was before the source was changed.
///
/// First the files are matched: different programs have none in common. Then
/// there are passes over the regions that have no partner yet. They match regions that
///
/// 1. agree in everything, their place included, if nothing in the file moved;
/// 2. agree in everything but their place, in source order, if there are equally many of them;
/// 3. are also equally long: of several equal constructs one came or went;
/// 4. went with their function to another file of the same program;
/// 5. are of a kind in a function, in source order, if there are equally many of them: an edited
///    clause has this effect.
///
/// Regions that cannot be matched with certainty stay without a partner. No two regions of a side may have the same
/// identity. [`crate::merge::fold`] ensures that.
#[must_use]
pub fn pairs(before: &[Region], after: &[Region]) -> Vec<Pair> {
    let files = same_files(before, after);
    // A file that is only in one of the programs is the same as none of the other's.
    let file = |side: Side, region: &Region| -> Result<String, (Side, String)> {
        let name = region.file.as_str();
        let was = match side {
            Side::Before => files.values().find(|was| **was == name),
            Side::After => files.get(name),
        };
        was.map(|was| (*was).to_owned())
            .ok_or_else(|| (side, name.to_owned()))
    };
    let mut matching = Matching {
        before: (0..before.len()).collect(),
        after: (0..after.len()).collect(),
        pairs: Vec::new(),
    };
    let unmoved = unmoved(before, after, &files);
    let same_place = |side: Side, region: &Region| {
        let file = file(side, region);
        let is_unmoved = file
            .as_ref()
            .is_ok_and(|was| unmoved.contains(was.as_str()));
        (
            file,
            construct(region),
            is_unmoved.then(|| position(region)),
        )
    };
    matching.pass(before, after, same_place, |key, one, other| {
        key.2.is_some() && one == other
    });
    let exact = |side: Side, region: &Region| (file(side, region), construct(region));
    matching.pass(before, after, exact, |_, one, other| one == other);
    let lines = |region: &Region| region.end[1].saturating_sub(region.begin[0]);
    let as_long =
        |side: Side, region: &Region| (file(side, region), construct(region), lines(region));
    matching.pass(before, after, as_long, |_, one, other| one == other);
    let has_shared = !files.is_empty();
    let moved = |_: Side, region: &Region| construct(region);
    matching.pass(before, after, moved, |construct, one, other| {
        has_shared && is_distinctive(construct.function.as_deref()) && (one, other) == (1, 1)
    });
    let edited =
        |side: Side, region: &Region| (file(side, region), region.function.clone(), region.kind);
    matching.pass(before, after, edited, |_, one, other| one == other);
    matching.finish()
}

/// One of the two programs that are compared.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Before,
    After,
}

/// Whether the name of a function is evidence that two constructs are the same: every program
/// in C has a `main`.
fn is_distinctive(function: Option<&str>) -> bool {
    function.is_some_and(|name| !matches!(name, "main" | "MAIN__"))
}

/// The regions without a partner, and the pairs found so far.
struct Matching {
    before: BTreeSet<usize>,
    after: BTreeSet<usize>,
    pairs: Vec<Pair>,
}

impl Matching {
    /// Pairs the unmatched regions that agree in a key, in source order. `may` decides by the key
    /// and their numbers before and after whether they may be paired.
    fn pass<K: Ord>(
        &mut self,
        before: &[Region],
        after: &[Region],
        key: impl Fn(Side, &Region) -> K,
        may: impl Fn(&K, usize, usize) -> bool,
    ) {
        let mut old = groups(before, &self.before, |region| key(Side::Before, region));
        for (key, new) in groups(after, &self.after, |region| key(Side::After, region)) {
            let old = old.remove(&key).unwrap_or_default();
            if !may(&key, old.len(), new.len()) {
                continue;
            }
            for (old, new) in old.into_iter().zip(new) {
                self.before.remove(&old);
                self.after.remove(&new);
                self.pairs.push(Pair {
                    before: Some(old),
                    after: Some(new),
                });
            }
        }
    }

    fn finish(mut self) -> Vec<Pair> {
        self.pairs.sort_by_key(|pair| pair.after);
        let new = self.after.into_iter().map(|after| Pair {
            before: None,
            after: Some(after),
        });
        let gone = self.before.into_iter().map(|before| Pair {
            before: Some(before),
            after: None,
        });
        self.pairs.extend(new.chain(gone));
        self.pairs
    }
}

/// The given regions, grouped by key, each group in source order.
fn groups<K: Ord>(
    regions: &[Region],
    of: &BTreeSet<usize>,
    key: impl Fn(&Region) -> K,
) -> BTreeMap<K, Vec<usize>> {
    let mut groups: BTreeMap<K, Vec<usize>> = BTreeMap::new();
    for &index in of {
        groups.entry(key(&regions[index])).or_default().push(index);
    }
    for group in groups.values_mut() {
        group.sort_by_key(|&index| position(&regions[index]));
    }
    groups
}

/// For each file after the change, the file that it was before.
///
/// A build in another folder changes the beginnings of paths. So of several files with the same
/// name, those belong together that have the most path components in common, counted from the
/// end. Other files belong together if most of what is in them does: a file was renamed. If
/// several fit equally well, there is no match. Files of the same name may be of different
/// programs, so what is in them must agree, too ([`Likeness`]).
fn same_files<'r>(before: &'r [Region], after: &'r [Region]) -> HashMap<&'r str, &'r str> {
    let (mut old, mut new) = (constructs_by_file(before), constructs_by_file(after));
    let mut same = HashMap::new();
    let score_of_path = |was: &str, name: &str, alike: &Likeness| {
        let is_same = was == name;
        (alike.is_same_if_named_so())
            .then(|| (is_same, common_end(was, name)))
            .filter(|(_, common)| *common > 0)
    };
    matched(&mut old, &mut new, &mut same, score_of_path);
    let score_of_content =
        |_: &str, _: &str, alike: &Likeness| alike.is_same_if_renamed().then_some(alike.shared);
    matched(&mut old, &mut new, &mut same, score_of_content);
    same
}

/// The constructs of each file, as far as an edited clause does not change them, with their
/// numbers.
type ByFile<'r> = BTreeMap<&'r str, BTreeMap<(Option<&'r str>, RegionKind), usize>>;

fn constructs_by_file(regions: &[Region]) -> ByFile<'_> {
    let mut files = ByFile::new();
    for region in regions {
        let key = (region.function.as_deref(), region.kind);
        let constructs = files.entry(&region.file).or_default();
        *constructs.entry(key).or_default() += 1;
    }
    files
}

/// Pairs the files that fit each other best. They go from both sides to those that are the same.
fn matched<'r, S: Ord>(
    old: &mut ByFile<'r>,
    new: &mut ByFile<'r>,
    same: &mut HashMap<&'r str, &'r str>,
    score: impl Fn(&str, &str, &Likeness) -> Option<S>,
) {
    let score = |was: &str, name: &str| score(was, name, &Likeness::of(&old[was], &new[name]));
    let best_old = |name: &str| best(old.keys().map(|was| (score(was, name), *was)));
    let best_new = |was: &str| best(new.keys().map(|name| (score(was, name), *name)));
    let found: Vec<(&'r str, &'r str)> = new
        .keys()
        .filter_map(|name| {
            let was = best_old(name)?;
            (best_new(was) == Some(*name)).then_some((*name, was))
        })
        .collect();
    for (name, was) in found {
        old.remove(was);
        new.remove(name);
        same.insert(name, was);
    }
}

/// The file with the highest score, if only one has it.
fn best<'r, S: Ord>(scores: impl Iterator<Item = (Option<S>, &'r str)>) -> Option<&'r str> {
    let mut found: Vec<(S, &'r str)> = scores
        .filter_map(|(score, name)| Some((score?, name)))
        .collect();
    found.sort_unstable();
    match found.as_slice() {
        [.., (less, _), (most, _)] if less == most => None,
        [.., (_, name)] => Some(name),
        [] => None,
    }
}

/// How much of two files agrees.
struct Likeness {
    /// The number of constructs that are in both.
    shared: usize,
    /// The number of these constructs that are in functions with distinctive names (not `main` and
    /// the like).
    distinctive: usize,
    /// The number of constructs of the file that has fewer.
    smaller: usize,
}

impl Likeness {
    fn of(
        before: &BTreeMap<(Option<&str>, RegionKind), usize>,
        after: &BTreeMap<(Option<&str>, RegionKind), usize>,
    ) -> Self {
        let (mut shared, mut distinctive) = (0, 0);
        for (key, number) in before {
            let number = *after.get(key).unwrap_or(&0).min(number);
            shared += number;
            if is_distinctive(key.0) {
                distinctive += number;
            }
        }
        let size = |of: &BTreeMap<_, usize>| of.values().sum::<usize>();
        Self {
            shared,
            distinctive,
            smaller: size(before).min(size(after)),
        }
    }

    fn has_most(&self) -> bool {
        2 * self.shared > self.smaller
    }

    fn is_same_if_named_so(&self) -> bool {
        self.distinctive > 0 || self.has_most()
    }

    fn is_same_if_renamed(&self) -> bool {
        self.distinctive > 0 && self.has_most()
    }
}

/// The files, by their names before, in which nothing moved: what is in the one that has fewer
/// regions stands at the same places in the other.
fn unmoved<'r>(
    before: &'r [Region],
    after: &'r [Region],
    files: &HashMap<&'r str, &'r str>,
) -> BTreeSet<&'r str> {
    let places = |regions: &'r [Region]| {
        let mut places: HashMap<&str, BTreeSet<(Construct, Position)>> = HashMap::new();
        for region in regions {
            let file = places.entry(region.file.as_str()).or_default();
            file.insert((construct(region), position(region)));
        }
        places
    };
    let (old, new) = (places(before), places(after));
    let is_unmoved = |(name, was): &(&&'r str, &&'r str)| {
        let (old, new) = (&old[**was], &new[**name]);
        old.is_subset(new) || new.is_subset(old)
    };
    files
        .iter()
        .filter(is_unmoved)
        .map(|(_, was)| *was)
        .collect()
}

/// The number of components at the end that two paths share.
fn common_end(one: &str, other: &str) -> usize {
    let components = one.rsplit('/').zip(other.rsplit('/'));
    components.take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(file: &str, line: u32, function: &str, directive: &str) -> Region {
        Region {
            file: file.to_owned(),
            begin: [line, line],
            end: [line + 1, line + 1],
            column: 1,
            function: Some(function.to_owned()),
            directive: Some(directive.to_owned()),
            ..Region::of_kind(RegionKind::Loop)
        }
    }

    /// The pairs as lines.
    fn lines(before: &[Region], after: &[Region]) -> Vec<(Option<u32>, Option<u32>)> {
        let line = |regions: &[Region], index: Option<usize>| Some(regions[index?].begin[0]);
        let mut lines: Vec<_> = pairs(before, after)
            .into_iter()
            .map(|pair| (line(before, pair.before), line(after, pair.after)))
            .collect();
        lines.sort_unstable();
        lines
    }

    #[test]
    fn edits_elsewhere_do_not_matter() {
        let before = [region("a.c", 10, "f", "for"), region("a.c", 20, "g", "for")];
        let after = [
            region("a.c", 5, "new", "for"),
            region("a.c", 20, "f", "for"),
            region("a.c", 90, "g", "for"),
        ];
        let expected = [(None, Some(5)), (Some(10), Some(20)), (Some(20), Some(90))];
        assert_eq!(lines(&before, &after), expected);
    }

    #[test]
    fn equal_directives_of_a_function_are_numbered() {
        let before = [region("a.c", 10, "f", "for"), region("a.c", 20, "f", "for")];
        let after = [region("a.c", 30, "f", "for"), region("a.c", 40, "f", "for")];
        assert_eq!(
            lines(&before, &after),
            [(Some(10), Some(30)), (Some(20), Some(40))]
        );
        let numbers: Vec<usize> = identities(&before).iter().map(|it| it.number).collect();
        assert_eq!(numbers, [0, 1]);
    }

    #[test]
    fn an_edited_clause_is_a_change_of_the_region() {
        let before = [
            region("a.c", 10, "f", "for"),
            region("a.c", 20, "f", "for nowait"),
        ];
        let after = [
            region("a.c", 11, "f", "for schedule(dynamic)"),
            region("a.c", 21, "f", "for nowait"),
        ];
        assert_eq!(
            lines(&before, &after),
            [(Some(10), Some(11)), (Some(20), Some(21))]
        );
    }

    #[test]
    fn with_a_region_less_an_edited_clause_cannot_be_told() {
        let before = [
            region("a.c", 10, "f", "for"),
            region("a.c", 20, "f", "for nowait"),
        ];
        let after = [region("a.c", 11, "f", "for schedule(dynamic)")];
        assert_eq!(
            lines(&before, &after),
            [(None, Some(11)), (Some(10), None), (Some(20), None)]
        );
    }

    #[test]
    fn folders_and_names_of_files_may_change() {
        let before = [
            region("/one/x/a.c", 1, "f", "for"),
            region("/one/y/a.c", 2, "f", "for"),
            region("/one/y/b.c", 3, "g", "for"),
        ];
        let after = [
            region("/two/y/a.c", 20, "f", "for"),
            region("/two/x/a.c", 10, "f", "for"),
            region("/two/y/renamed.c", 30, "g", "for"),
        ];
        assert_eq!(
            lines(&before, &after),
            [
                (Some(1), Some(10)),
                (Some(2), Some(20)),
                (Some(3), Some(30))
            ]
        );
    }

    #[test]
    fn programs_that_share_only_a_main_have_no_region_in_common() {
        let before = [
            region("heat.c", 10, "main", "for"),
            region("heat.c", 30, "f", "for"),
        ];
        let after = [
            region("sort.c", 12, "main", "for"),
            region("sort.c", 40, "g", "for"),
        ];
        let expected = [
            (None, Some(12)),
            (None, Some(40)),
            (Some(10), None),
            (Some(30), None),
        ];
        assert_eq!(lines(&before, &after), expected);
        // Names of files are no evidence, either.
        let rename = |regions: &[Region]| {
            regions
                .iter()
                .cloned()
                .map(|region| Region {
                    file: "main.c".to_owned(),
                    ..region
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(lines(&rename(&before), &rename(&after)), expected);
    }

    #[test]
    fn a_file_with_another_name_is_the_same_if_most_of_it_is() {
        let before = [
            region("v1.c", 10, "main", "for"),
            region("v1.c", 30, "f", "for"),
        ];
        let after = [
            region("v2.c", 12, "main", "for"),
            region("v2.c", 40, "f", "for"),
        ];
        let expected = [(Some(10), Some(12)), (Some(30), Some(40))];
        assert_eq!(lines(&before, &after), expected);
    }

    /// One of three equal loops is new, and nothing says which.
    #[test]
    fn one_more_of_equal_constructs_is_paired_only_if_it_can_be_told() {
        let other = region("a.c", 50, "g", "for");
        let before = [region("a.c", 10, "f", "for"), other.clone()];
        let mut after = [
            region("a.c", 10, "f", "for"),
            region("a.c", 20, "f", "for"),
            region("a.c", 60, "g", "for"),
        ];
        let told = |after: &[Region]| lines(&before, after);
        let untold = [
            (None, Some(10)),
            (None, Some(20)),
            (Some(10), None),
            (Some(50), Some(60)),
        ];
        assert_eq!(told(&after), untold);
        // The new one is longer.
        after[0].end = [15, 15];
        assert_eq!(
            told(&after),
            [(None, Some(10)), (Some(10), Some(20)), (Some(50), Some(60))]
        );
        // Nothing moved.
        let after = [
            after[1].clone(),
            region("a.c", 10, "f", "for"),
            other.clone(),
        ];
        assert_eq!(
            told(&after),
            [(None, Some(20)), (Some(10), Some(10)), (Some(50), Some(50))]
        );
    }

    /// A call of each instance of a template, near one line.
    #[test]
    fn calls_near_one_line_are_one_region() {
        let call = |offset: u64, near: bool| Region {
            near,
            directive: None,
            code: Some(crate::model::Code {
                offset,
                ..Default::default()
            }),
            ..region("f.cpp", 3, "f", "")
        };
        let same = |near: bool| {
            let found = identities(&[call(16, near), call(32, near)]);
            found[0] == found[1]
        };
        assert!(same(true));
        assert!(!same(false));
    }

    #[test]
    fn one_place_is_one_region_whatever_its_ordinal() {
        let mut regions = [region("a.h", 3, "f", "for"), region("a.h", 3, "f", "for")];
        regions[1].ordinal = 1;
        let found = identities(&regions);
        assert_eq!(found[0], found[1]);
    }
}
