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

fn position(region: &Region) -> Position {
    let offset = region.code.as_ref().map_or(0, |code| code.offset);
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
/// There are three passes. The first one matches regions that agree in everything; their file
/// may be in another folder. The second one matches regions whose file was renamed. The last
/// one matches the rest in source order, if a function has equally many unmatched regions of a
/// kind on both sides: an edited clause has this effect. No two regions of a side may have the
/// same identity. [`crate::merge::fold`] ensures that.
/// [`crate::merge::fold`] sees to.
#[must_use]
pub fn pairs(before: &[Region], after: &[Region]) -> Vec<Pair> {
    let files = same_files(before, after);
    let file = |region: &Region| {
        let name = region.file.as_str();
        files.get(name).copied().unwrap_or(name).to_owned()
    };
    let mut matching = Matching {
        before: (0..before.len()).collect(),
        after: (0..after.len()).collect(),
        pairs: Vec::new(),
    };
    let exact = |region: &Region| (file(region), construct(region));
    matching.pass(before, after, exact, |_, _| true);
    matching.pass(before, after, construct, |one, other| {
        (one, other) == (1, 1)
    });
    let edited = |region: &Region| (file(region), region.function.clone(), region.kind);
    matching.pass(before, after, edited, |one, other| one == other);
    matching.finish()
}

/// The regions without a partner, and the pairs found so far.
struct Matching {
    before: BTreeSet<usize>,
    after: BTreeSet<usize>,
    pairs: Vec<Pair>,
}

impl Matching {
    /// Pairs the unmatched regions that agree in a key, in source order. `may` decides by their
    /// numbers before and after whether they may be paired.
    fn pass<K: Ord>(
        &mut self,
        before: &[Region],
        after: &[Region],
        key: impl Fn(&Region) -> K,
        may: impl Fn(usize, usize) -> bool,
    ) {
        let mut old = groups(before, &self.before, &key);
        for (key, new) in groups(after, &self.after, &key) {
            let old = old.remove(&key).unwrap_or_default();
            if !may(old.len(), new.len()) {
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

/// For each file after the change, the file that it was before. A build in another folder
/// changes the beginnings of paths. So of several files with the same name, those belong
/// together that have the most path components in common, counted from the end. If several fit
/// equally well, there is no match.
fn same_files<'r>(before: &'r [Region], after: &'r [Region]) -> HashMap<&'r str, &'r str> {
    let names = |regions: &'r [Region]| -> BTreeSet<&'r str> {
        regions.iter().map(|region| region.file.as_str()).collect()
    };
    let (mut old, mut new) = (names(before), names(after));
    let both: Vec<&str> = old.intersection(&new).copied().collect();
    old.retain(|name| !both.contains(name));
    new.retain(|name| !both.contains(name));
    let best = |name: &str, others: &BTreeSet<&'r str>| -> Option<&'r str> {
        let mut found: Vec<(usize, &'r str)> = others
            .iter()
            .map(|other| (common_end(name, other), *other))
            .filter(|(common, _)| *common > 0)
            .collect();
        found.sort_unstable();
        match found.as_slice() {
            [.., (less, _), (most, _)] if less == most => None,
            [.., (_, name)] => Some(name),
            [] => None,
        }
    };
    let moved = new.iter().filter_map(|name| {
        let was = best(name, &old)?;
        (best(was, &new) == Some(*name)).then_some((*name, was))
    });
    both.iter()
        .map(|name| (*name, *name))
        .chain(moved)
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
            kind: RegionKind::Loop,
            region_type: "for".to_owned(),
            file: file.to_owned(),
            begin: [line, line],
            end: [line + 1, line + 1],
            column: 1,
            name: None,
            function: Some(function.to_owned()),
            directive: Some(directive.to_owned()),
            ordinal: 0,
            schedule: None,
            variable: None,
            num_sections: None,
            unsplit: None,
            code: None,
            near: false,
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
    fn one_place_is_one_region_whatever_its_ordinal() {
        let mut regions = [region("a.h", 3, "f", "for"), region("a.h", 3, "f", "for")];
        regions[1].ordinal = 1;
        let found = identities(&regions);
        assert_eq!(found[0], found[1]);
    }
}
