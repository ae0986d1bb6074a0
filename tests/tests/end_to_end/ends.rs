//! Programs that end in many ways under many limits, plain and measured. A few runs;
//! `tests/ends` does all of them.

use tests::ends::compare_all;
use tests::ends::conditions::Condition;
use tests::ends::ways::Way;

/// The combinations for a few runs: each basic way under the simplest condition, and each
/// basic condition with the simplest way.
fn is_basic(way: &Way, condition: &Condition) -> bool {
    let is_plain = condition.word == "none" && condition.output.is_none();
    way.is_basic && is_plain || condition.is_basic && way.word == "return"
}

#[test]
fn a_measured_program_ends_as_it_does_without() {
    let (only_ways, only_conditions) = (wanted("ROMP_TEST_WAYS"), wanted("ROMP_TEST_CONDITIONS"));
    let is_everything = std::env::var_os("ROMP_TEST_ENDS").is_some();
    let wants = |way: &Way, condition: &Condition| {
        (is_everything && (way.is_crossed || condition.is_about_signals())
            || is_basic(way, condition))
            && only_ways
                .as_ref()
                .is_none_or(|only| only.contains(&way.word))
            && only_conditions
                .as_ref()
                .is_none_or(|only| only.iter().any(|word| word == condition.word))
    };
    let summary = compare_all(&["gcc", "clang"], wants).unwrap();
    println!(
        "ends: {} measured runs compared with plain ones, {} differ; conditions that this machine \
         refuses: {:?}; plain programs that hang: {:?}",
        summary.compared,
        summary.failures.len(),
        summary.impossible,
        summary.hanging
    );
    assert!(summary.compared > 0);
    assert!(summary.failures.is_empty());
}

/// Words that the user names, separated by commas; none for all.
fn wanted(variable: &str) -> Option<Vec<String>> {
    let words = std::env::var(variable).ok()?;
    Some(words.split(',').map(str::to_owned).collect())
}
