//! Completes the trace of a program as its profile is completed.

use std::collections::HashMap;
use std::path::Path;

use profile::descriptor::Descriptor;
use profile::model::Region;
use trace::complete::{self, Construct};
use trace::layout::Meaning;

/// Completes the regions of the trace beside a profile, if there is one. `before` are the regions
/// of the profile as they were measured, `found` what each turned out to be.
///
/// # Errors
/// A sentence for the user. The trace is then as it was.
pub(super) fn complete(
    profile: &Path,
    pid: u32,
    before: &[Region],
    found: &[(Region, Meaning)],
) -> Result<(), String> {
    let Some(trace) = complete::beside(profile, pid) else {
        return Ok(());
    };
    let measured: HashMap<String, usize> = before
        .iter()
        .enumerate()
        .filter(|(_, region)| region.code.is_some())
        .map(|(index, region)| (key(&region.into()), index))
        .collect();
    let regions = (0..).zip(trace.regions());
    let constructs: Vec<Construct> = regions
        .filter_map(|(number, region)| {
            let index = *measured.get(&key(region?))?;
            let (region, meaning) = found.get(index)?;
            Some(Construct {
                region: number,
                meaning: *meaning,
                descriptor: region.into(),
            })
        })
        .collect();
    complete::complete(&trace, &constructs).map_err(|error| {
        format!(
            "the regions of the trace '{}' have no lines: {error}",
            trace.path().display()
        )
    })
}

/// What distinguishes a region from all others of the same run.
fn key(region: &Descriptor) -> String {
    let known = Descriptor {
        region_type: region.region_type.clone(),
        name: region.name.clone(),
        schedule: region.schedule.clone(),
        begin: region.begin.clone(),
        column: region.column,
        code: region.code.clone(),
        ..Descriptor::default()
    };
    known.to_text()
}
