//! Finds the constructs of sections. GCC's runtime gives a thread the number of the section that it
//! executes next; compilers number the sections of a construct in the order of the source.

use profile::descriptor::Descriptor;
use profile::model::{Profile, Region};
use profile::region_kind::RegionKind;

use super::align::{Found, last_of_body};
use super::sources::Sources;

/// A section, known by its number.
#[derive(Debug)]
pub(super) struct Numbered {
    region: usize,
    /// From 0.
    number: usize,
    /// The number of sections that the compiler made.
    count: Option<u32>,
    /// The region that the section is a part of.
    of: usize,
}

/// Whether a region is a section of which the number is known.
pub(super) fn is_numbered(region: &Region) -> bool {
    region.kind == RegionKind::Section && region.code.is_some() && region.name.is_some()
}

fn has_sections(kind: RegionKind) -> bool {
    matches!(kind, RegionKind::Sections | RegionKind::ParallelSections)
}

/// The sections of a profile whose regions are identified by their machine code.
pub(super) fn numbered(profile: &Profile) -> Vec<Numbered> {
    let regions = || profile.regions.iter().enumerate();
    let sections = regions().filter(|(_, region)| is_numbered(region));
    let numbered = sections.filter_map(|(index, section)| {
        let is_around = |other: &Region| has_sections(other.kind) && other.code == section.code;
        Some(Numbered {
            region: index,
            number: section
                .name
                .as_ref()?
                .parse::<usize>()
                .ok()?
                .checked_sub(1)?,
            count: section.num_sections,
            of: regions().find(|(_, other)| is_around(other))?.0,
        })
    });
    numbered.collect()
}

/// The construct of a section, if that of the region around it is known.
pub(super) fn construct(
    section: &Numbered,
    profile: &Profile,
    sources: &mut Sources,
) -> Option<(usize, Descriptor)> {
    let region = &profile.regions[section.of];
    region.directive.as_ref()?;
    let constructs = sources.of(&region.file);
    let all = &constructs.all;
    let around = all.iter().position(|construct| {
        let place = (construct.begin.first, construct.column, construct.kind());
        place == (region.begin[0], region.column, Some(region.kind))
    })?;
    let around = match region.kind {
        RegionKind::Sections => around,
        // The compiler may have merged a parallel region with all that it contains.
        _ => match last_of_body(all, false, &all[around], RegionKind::Sections) {
            Found::Certain(number) => number,
            _ => return None,
        },
    };
    let own = sections_of(all, around);
    let is_whole = section
        .count
        .is_some_and(|count| count as usize == own.len());
    let construct = own.get(section.number).filter(|_| is_whole)?;
    Some((section.region, (*construct).clone()))
}

/// The sections of a construct, in the order of the source.
fn sections_of(all: &[Descriptor], around: usize) -> Vec<&Descriptor> {
    let place = |construct: &Descriptor| (construct.begin.first, construct.column);
    let innermost = |section: &Descriptor| {
        let outer = all.iter().enumerate().filter(|(_, outer)| {
            outer.kind().is_some_and(has_sections)
                && place(outer) < place(section)
                && section.end.last <= outer.end.last
        });
        outer
            .max_by_key(|(_, outer)| place(outer))
            .map(|(number, _)| number)
    };
    let mut own: Vec<&Descriptor> = all
        .iter()
        .filter(|one| one.kind() == Some(RegionKind::Section) && innermost(one) == Some(around))
        .collect();
    own.sort_by_key(|section| place(section));
    own
}
