//! Groups of constructs that are switched off: when instrumenting and when
//! measuring.

use std::process::Command;

use profile::region_kind::RegionKind;
use tests::fixture::Fixture;
use tests::run::{Build, build, run};
use tests::toolchain::{Compiler, romp_bin_dir};

const FIXTURE: &str = "c/critical.c";

fn romp(arguments: &[&str]) -> (bool, String, String) {
    let fixture = Fixture::read(FIXTURE).unwrap();
    let mut command = Command::new(romp_bin_dir().unwrap().join("romp"));
    let output = command.args(arguments).arg(&fixture.path).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.success(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

#[test]
fn what_is_switched_off_is_not_instrumented_and_listed_as_such() {
    let (_, all, _) = romp(&["instrument"]);
    let (_, some, _) = romp(&["instrument", "--disable=critical,flush"]);
    assert!(all.contains("POMP_Critical_enter_or_pass(romp") && all.contains("POMP_Parallel_fork"));
    assert!(!some.contains("POMP_Critical") && some.contains("POMP_Parallel_fork"));
    let (_, listing, _) = romp(&["list", "--disable=critical"]);
    assert!(
        listing.contains("= switched off by --disable=critical"),
        "{listing}"
    );
}

#[test]
fn an_unknown_group_is_an_error_that_helps() {
    let (success, _, message) = romp(&["instrument", "--disable=criticals"]);
    assert!(!success);
    assert!(message.contains("is critical meant?"), "{message}");
}

#[test]
fn what_is_switched_off_at_run_time_is_not_measured() {
    let fixture = Fixture::read(FIXTURE).unwrap();
    let compiler = Compiler::find("gcc").unwrap();
    let bin = romp_bin_dir().unwrap();
    let program = build(&fixture, &compiler, "gnu17", Build::Instrumented(&bin)).unwrap();
    let kinds = |settings: &[(&str, &str)]| {
        let profile = run(&fixture, &program, settings)
            .unwrap()
            .profile()
            .unwrap();
        let visited = profile.nodes.iter();
        let visited = visited.map(|node| profile.regions[node.region].kind);
        visited.collect::<std::collections::BTreeSet<_>>()
    };
    let all = kinds(&[]);
    let some = kinds(&[("ROMP_DISABLE", "critical")]);
    assert!(all.contains(&RegionKind::Critical) && !some.contains(&RegionKind::Critical));
    let rest = all.into_iter().filter(|kind| *kind != RegionKind::Critical);
    assert_eq!(rest.collect::<std::collections::BTreeSet<_>>(), some);
}
