//! Finds constructs by the lines of calls. With LLVM's compilers these lines are right.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use profile::model::Profile;
use profile::region_kind::RegionKind;
use trace::layout::Meaning;

use super::align::{self, Found};
use super::directives;
use super::sources::Sources;
use super::wanted::{Wanted, note_part, offset, set};

/// Finds the constructs at the lines that debug information gives for calls.
pub(super) fn find_by_lines(
    profile: &mut Profile,
    wanted: &[Wanted],
    sources: &mut Sources,
    meanings: &mut [Meaning],
) {
    let mut found: HashMap<(&str, u64), (String, usize)> = HashMap::new();
    // Loops that make tasks, and those with a group that the runtime opened around them.
    let (mut loops, mut groups) = (Vec::new(), BTreeSet::new());
    let place = |one: &Wanted| {
        (
            one.code.module.clone(),
            offset(&profile.regions[one.region]),
        )
    };
    let places: BTreeSet<(String, u64)> = wanted.iter().map(place).collect();
    for one in wanted {
        let region = &mut profile.regions[one.region];
        let offset = offset(region);
        // There is no call one byte behind another call; such an address marks a last act.
        if places.contains(&(one.code.module.clone(), offset.wrapping_sub(1))) {
            continue;
        }
        for frame in &one.frames {
            let constructs = sources.of(&frame.file);
            let at = |kind| {
                let name = region.name.as_deref();
                let column = one.is_stated.then_some(region.column);
                directives::at_directive(&constructs.all, kind, name, (frame.line, column))
            };
            let at_line = match at(region.kind) {
                // LLVM's runtime opens a group around such a loop.
                Found::Near if region.kind == RegionKind::Taskgroup => at(RegionKind::Taskloop),
                found => found,
            };
            if let Found::Certain(number) = at_line {
                note_part(
                    region.kind,
                    &constructs.all[number],
                    &mut meanings[one.region],
                );
                if region.kind == RegionKind::Taskloop {
                    loops.push((one.region, frame.file.clone(), number));
                } else if at(region.kind) == Found::Near {
                    groups.insert((frame.file.clone(), number));
                }
                set(region, &constructs.all[number]);
                let place = (one.code.module.as_str(), offset);
                found.insert(place, (frame.file.clone(), number));
                break;
            }
        }
        // The line is that of a macro, and whether its directive is a combined one is not known.
        let macros = one.frames.first().filter(|_| one.is_stated);
        if let Some(frame) = macros.filter(|_| region.directive.is_none()) {
            let constructs = sources.of(&frame.file);
            region.near = constructs.may_be_more(region.kind, region.function.as_deref());
            let line = frame.line..=frame.line;
            if region.kind == RegionKind::Critical
                && !region.near
                && directives::only_reduce(&constructs.all, region.kind, line)
            {
                meanings[one.region] = Meaning::Nothing;
            }
        }
    }
    for (region, file, number) in loops {
        if groups.contains(&(file, number)) {
            meanings[region] = Meaning::PartOfItsParallel;
        }
    }
    find_last_acts(profile, wanted, found, sources, meanings);
    name_parallels(profile, meanings);
}

/// Names parallel regions whose lines are not known by the loops or sections in them that are parts of a combined
/// construct: its parallel region is the one around them. Flang gives a call the line of the procedure.
fn name_parallels(profile: &mut Profile, meanings: &[Meaning]) {
    let mut parts: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for node in &profile.nodes {
        let around = node.parent.map(|parent| profile.nodes[parent].region);
        if let Some(around) = around.filter(|_| meanings[node.region] == Meaning::PartOfItsParallel)
        {
            parts.entry(around).or_default().insert(node.region);
        }
    }
    for (around, parts) in parts {
        let is_unknown = profile.regions[around].directive.is_none();
        let mut parts = parts.into_iter().map(|part| profile.regions[part].clone());
        if let Some(part) = parts.next()
            && is_unknown
            && profile.regions[around].kind == RegionKind::Parallel
            && part.kind.is_parallel()
            && parts.all(|other| other == part)
        {
            profile.regions[around] = part;
        }
    }
}

/// Finds the constructs of calls that bodies make as their last act. The address of such a call
/// is one byte behind the call to which its body was passed.
fn find_last_acts<'a>(
    profile: &mut Profile,
    wanted: &'a [Wanted],
    mut found: HashMap<(&'a str, u64), (String, usize)>,
    sources: &mut Sources,
    meanings: &mut [Meaning],
) {
    // In the order of addresses, since the body of a construct that is found here may make the next
    // call.
    let mut behind: Vec<&'a Wanted> = wanted.iter().collect();
    behind.sort_by_key(|one| offset(&profile.regions[one.region]));
    for one in behind {
        let region = &mut profile.regions[one.region];
        let offset = offset(region);
        let body = offset
            .checked_sub(1)
            .and_then(|place| found.get(&(one.code.module.as_str(), place)));
        let Some((file, body)) = body.filter(|_| region.directive.is_none()).cloned() else {
            continue;
        };
        let constructs = sources.of(&file);
        if region.kind == RegionKind::Taskloop
            && constructs.all[body].kind() == Some(RegionKind::Taskloop)
        {
            meanings[one.region] = Meaning::PartOfItsParallel;
            set(region, &constructs.all[body]);
            continue;
        }
        let last = align::last_of_body(
            &constructs.all,
            constructs.may_be_more(region.kind, constructs.all[body].function.as_deref()),
            &constructs.all[body],
            region.kind,
        );
        // A construct with another call has no call here.
        if let Found::Certain(number) = last
            && !found
                .values()
                .any(|(of, known)| *of == file && *known == number)
        {
            note_part(
                region.kind,
                &constructs.all[number],
                &mut meanings[one.region],
            );
            set(region, &constructs.all[number]);
            found.insert((one.code.module.as_str(), offset), (file, number));
        }
    }
}

#[cfg(test)]
mod tests {
    use profile::model::{Node, Region};
    use profile::region_kind::PseudoRegion;

    use super::*;

    #[test]
    fn a_part_of_a_combined_construct_names_the_region_around_it() {
        let parallel = Region {
            begin: [3, 3],
            near: true,
            ..Region::of_kind(RegionKind::Parallel)
        };
        let part = |line, kind| Region {
            begin: [line, line],
            directive: Some("omp parallel do".into()),
            ..Region::of_kind(kind)
        };
        let node = |parent, region| Node {
            parent,
            region,
            within: PseudoRegion::Body,
            rows: Vec::new(),
        };
        let named = |parts: [Region; 2]| {
            let [first, second] = parts;
            let mut profile = Profile {
                regions: vec![parallel.clone(), first, second],
                nodes: vec![node(None, 0), node(Some(0), 1), node(Some(0), 2)],
                ..Profile::default()
            };
            let [part, itself] = [Meaning::PartOfItsParallel, Meaning::Itself];
            name_parallels(&mut profile, &[itself, part, part]);
            profile.regions[0].begin[0]
        };
        let of_team = RegionKind::ParallelLoop;
        assert_eq!(named([part(7, of_team), part(7, of_team)]), 7);
        assert_eq!(named([part(7, of_team), part(9, of_team)]), 3);
        assert_eq!(
            named([part(7, RegionKind::Loop), part(7, RegionKind::Loop)]),
            3
        );
    }
}
