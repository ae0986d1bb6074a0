//! Completes profiles: finds the places of their regions in the source, when the program has ended
//! or when somebody reads a profile that nobody has completed.

use std::path::Path;

use profile::merge;
use profile::model::{Profile, Region};
use profile::save::{SaveOptions, Saved, save_over};
use trace::layout::Meaning;

use super::sources::time_of_change;
use super::{constructs, traces};
use crate::cli::functions;

/// Completes a saved profile, saves it again, and completes its trace.
pub(super) fn complete(path: &Path) -> Result<Saved, String> {
    let mut profile = profile::load::load(path).map_err(|error| error.to_string())?;
    let measured = profile.regions.clone();
    functions::locate(&mut profile);
    let (profile, found) = placed(profile);
    let earlier = Saved {
        json: path.to_owned(),
        text: path.with_extension("txt"),
        headline: String::new(),
    };
    let options = SaveOptions {
        directory: path.parent().map(Path::to_owned).unwrap_or_default(),
        application: profile.run.application.clone(),
        rank: profile.run.rank,
        number: None,
    };
    let saved = save_over(&profile, &options, &earlier).map_err(|error| error.to_string());
    // The profile comes first: the disk may be nearly full.
    if let Err(problem) = traces::complete(path, profile.run.pid, &measured, &found) {
        super::say(&problem);
    }
    saved
}

/// The profile with the places of its regions, and what each of its regions turned out to be.
fn placed(mut profile: Profile) -> (Profile, Vec<(Region, Meaning)>) {
    let found = constructs::locate(&mut profile);
    profile.run.unplaced = false;
    (merge::fold(&profile), found)
}

/// Completes a profile that was read from a file, if that is still to be done. It is not done if
/// the program or a library was built again since: its code is another one.
pub(in crate::cli) fn complete_read(profile: Profile, path: &Path) -> Profile {
    if !profile.run.unplaced {
        return profile;
    }
    let written = time_of_change(path);
    let codes = profile.regions.iter().filter_map(|of| of.code.as_ref());
    let newer = |module: &&str| written.is_some() && time_of_change(Path::new(module)) > written;
    let mut modules = codes.map(|code| code.module.as_str());
    if let Some(module) = modules.find(newer) {
        tell!(
            "romp: the places of regions are not known: '{}' has changed since the run",
            profile::printable::printable(module)
        );
        return profile;
    }
    placed(profile).0
}
