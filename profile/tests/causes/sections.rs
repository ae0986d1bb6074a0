//! Sections that take as long as each other, and those that do not.

use super::*;

/// Two sections, of which each thread executes one: a section of `first` and one of 80 - `first` seconds.
fn two_sections(first: u64) -> Profile {
    let other = 80 - first;
    let longest = first.max(other);
    let kinds = [Kind::Sections, Kind::Section, Kind::Section];
    let construct = |thread: usize, work: u64| {
        let wait = longest - work;
        row(thread, &[(Main, longest), (Body, work), (Ibarr, wait)])
    };
    let section =
        |region, thread, work| node(Some(1), region, Body, vec![row(thread, &[(Main, work)])]);
    let nodes = vec![
        node(
            Some(0),
            1,
            Body,
            vec![construct(1, first), construct(2, other)],
        ),
        section(2, 1, first),
        section(3, 2, other),
    ];
    team(&kinds, nodes)
}

#[test]
fn the_longest_section_is_named() {
    let uneven = two_sections(60);
    assert_eq!(found(&uneven), [(CauseKind::Sections, Some(1), 20)]);
    let what = causes(&uneven).remove(0).what;
    let said = "the SECTION at a.c:12 took 60.0 s on average, and the other sections 20.0 s";
    assert!(what.contains(said), "{what}");
}

#[test]
fn no_section_is_to_be_split_if_they_are_even() {
    let cause = causes(&two_sections(43)).remove(0);
    assert!(
        cause.what.contains("no section takes much longer"),
        "{}",
        cause.what
    );
    assert!(!cause.remedy.contains("Split"), "{}", cause.remedy);
}
