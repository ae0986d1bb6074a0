//! Sources that have changed since the program was built.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use profile::region_kind::RegionKind as K;

use super::{COMPILERS, ProgramFolder, Region};
use crate::program_folder::fixtures;

#[test]
fn a_source_that_is_newer_than_the_program_is_another_one() {
    let folder = ProgramFolder::new();
    let source = folder.directory.path().join("a.c");
    fs::copy(fixtures().join("run/nested.c"), &source).unwrap();
    let source = source.to_str().unwrap();
    for compiler in COMPILERS {
        folder.build(compiler, source, &["-O2", "-g"], "app");
        for is_changed in [false, true] {
            let age = Duration::from_secs(3600);
            let changed = match is_changed {
                true => SystemTime::now() + age,
                false => SystemTime::now() - age,
            };
            let file = File::options().append(true).open(source).unwrap();
            file.set_modified(changed).unwrap();
            assert!(folder.romp_run(&["./app"], &[]).status.success());
            let profile = folder.profile("app");
            let mut notes = profile.run.notes.iter();
            let is_said = notes.any(|note| note.contains("have changed") && note.contains("a.c"));
            assert_eq!(is_said, is_changed, "{compiler}: {:?}", profile.run.notes);
            let mut parallel = profile.regions.iter().filter(|it| it.kind == K::Parallel);
            let is_unknown = |region: &Region| region.directive.is_none();
            assert!(
                parallel.all(|it| is_unknown(it) == is_changed),
                "{compiler}"
            );
        }
    }
}
