//! Programs without debug information: what their symbols tell.

use std::collections::BTreeSet;

use profile::region_kind::RegionKind as K;

use super::ProgramFolder;

#[test]
fn function_or_module_are_known() {
    let folder = ProgramFolder::new();
    for (flags, function) in [(&["-O2"][..], Some("main")), (&["-O2", "-s"][..], None)] {
        folder.build("gcc", "run/regions.c", flags, "app");
        assert!(folder.romp_run(&["./app"], &[]).status.success());
        let profile = folder.profile("app");
        let parallel = profile
            .regions
            .iter()
            .find(|region| region.kind == K::Parallel);
        let parallel = parallel.unwrap();
        assert_eq!(parallel.function.as_deref(), function);
        assert_eq!((parallel.begin, parallel.near), ([0, 0], false));
        assert!(parallel.code.as_ref().unwrap().module.ends_with("/app"));
    }
}

/// The symbols of C++ are shown as names.
#[test]
fn functions_have_names_of_the_source() {
    let folder = ProgramFolder::new();
    folder.build("g++", "run/functions.cpp", &["-O2"], "app");
    assert!(folder.romp_run(&["./app"], &[]).status.success());
    let regions = folder.profile("app").regions.into_iter();
    let functions: BTreeSet<String> = regions.filter_map(|region| region.function).collect();
    for name in ["shapes::Counter::add", "add<int>", "main"] {
        assert!(functions.contains(name), "{name}: {functions:?}");
    }
}
