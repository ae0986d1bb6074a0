//! The schema of saved profiles, in `profile/schema`, describes exactly the data that Romp
//! writes.

// The lint allows `unwrap` in tests, but not in their helper functions.
#![allow(clippy::unwrap_used)]

mod generated;
mod validator;

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use profile::model::{
    Arrivals, Bucket, Code, Contention, ContentionSite, Distribution, Estimate, GuardKind, Holder,
    Profile, Run, Runtime, Scheduling, Serial, SourceFile, VERSION,
};
use profile::region_kind::{KindRow, PseudoRegion, REGION_KINDS};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use validator::Validator;

fn schema_path() -> PathBuf {
    let file = format!("schema/romp-profile-{VERSION}.schema.json");
    Path::new(env!("CARGO_MANIFEST_DIR")).join(file)
}

fn schema() -> Value {
    serde_json::from_str(&std::fs::read_to_string(schema_path()).unwrap()).unwrap()
}

/// `INSTA_UPDATE=always cargo test -p profile --test schema` writes the list.
#[test]
fn the_kinds_are_those_of_the_table() {
    let text = std::fs::read_to_string(schema_path()).unwrap();
    let begin = "\"kind\": {\n   \"enum\": [\n";
    let (head, rest) = text.split_once(begin).unwrap();
    let (_, tail) = rest.split_once("\n   ]").unwrap();
    let name = |row: &KindRow| format!("    {}", json!(row.kind));
    let kinds: Vec<String> = REGION_KINDS.iter().map(name).collect();
    let made = format!("{head}{begin}{}\n   ]{tail}", kinds.join(",\n"));
    if made != text && std::env::var_os("INSTA_UPDATE").is_some_and(|update| update == "always") {
        return std::fs::write(schema_path(), made).unwrap();
    }
    assert!(made == text, "the schema lacks a kind: make its list anew");
}

/// The schema without permission for unknown fields.
fn closed(mut schema: Value) -> Validator {
    close(&mut schema);
    Validator::of(&schema)
}

fn close(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.values_mut().for_each(close);
            if fields.get("properties").is_some_and(Value::is_object) {
                fields.insert("additionalProperties".to_owned(), false.into());
            }
        }
        Value::Array(values) => values.iter_mut().for_each(close),
        _ => {}
    }
}

fn as_json(profile: &Profile) -> Value {
    serde_json::to_value(profile).unwrap()
}

fn saved() -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/profiles");
    let files = std::fs::read_dir(folder).unwrap();
    let text = files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap());
    text.map(|text| serde_json::from_str(&text).unwrap())
        .collect()
}

/// A profile with every existing field.
fn full() -> Profile {
    let fixture = saved().remove(0);
    let mut profile: Profile = serde_json::from_value(fixture).unwrap();
    fill_run(&mut profile.run);
    profile.ranks = vec![profile.run.clone()];
    for thread in &mut profile.threads {
        thread.rank = Some(0);
    }
    for (region, row) in profile.regions.iter_mut().zip(REGION_KINDS.iter().cycle()) {
        region.name = Some("a".to_owned());
        region.function = Some("f".to_owned());
        region.directive = Some("omp for".to_owned());
        region.schedule = Some("static".to_owned());
        region.variable = Some("sum".to_owned());
        region.num_sections = Some(2);
        region.unsplit = Some("why".to_owned());
        region.near = true;
        region.code = Some(Code {
            module: "/a".to_owned(),
            offset: 16,
            symbol: Some("a".to_owned()),
        });
        region.kind = row.kind;
    }
    let row = &mut profile.nodes[0].rows[0];
    *row = row.clone().with_estimate(Some(Estimate {
        timed: 1,
        error_ns: 2,
        cost_ns: 3,
        interval_ps: 4,
        waited: 1,
    }));
    fill_lists(&mut profile);
    profile.sources = vec![SourceFile {
        file: "a.c".to_owned(),
        hash: "af63dc4c8601ec8c".to_owned(),
    }];
    profile
}

fn fill_run(run: &mut Run) {
    (run.pair_cost_ps, run.passed_pair_cost_ps) = (20_500, 5_500);
    run.incremental = true;
    run.unplaced = true;
    run.counters = vec!["cycles".to_owned()];
    run.formulas = vec!["a=cycles/2".to_owned()];
    (run.processors, run.processors_around) = (2, 4);
    run.openmp_library = "libgomp.so.1".to_owned();
    run.runtimes = vec![Runtime {
        path: "libgomp.so.1".to_owned(),
        threads: 2,
        not_visible: vec!["flush".to_owned()],
    }];
    run.parallel_ns = Some(7);
    run.rank = Some(0);
    run.notes = vec!["a note".to_owned()];
    run.scheduling = Some(Scheduling {
        threads: 2,
        run_ns: 9,
        ready_ns: 8,
        first_run_ns: 5,
        first_ready_ns: 4,
        most_ready_ns: 4,
        helper_run_ns: 3,
        processors: 1,
    });
    let settings = [("OMP_SCHEDULE".to_owned(), "guided".to_owned())];
    run.settings = settings.into_iter().collect();
}

/// Fills the lists beside the tree.
fn fill_lists(profile: &mut Profile) {
    profile.serial = vec![Serial {
        after: Some(0),
        before: Some(0),
        count: 1,
        ns: 3,
    }];
    profile.distributions = vec![Distribution {
        region: 0,
        thread: Some(0),
        part: PseudoRegion::Main,
        min_ns: 1,
        max_ns: 2,
        histogram: vec![Bucket {
            from_ns: 1,
            below_ns: 4,
            count: 2,
        }],
    }];
    profile.arrivals = vec![Arrivals {
        region: 0,
        part: PseudoRegion::Ibarr,
        thread: 0,
        last: 1,
        late_ns: 5,
        after_first_ns: 7,
    }];
    profile.contention = vec![Contention {
        kind: GuardKind::Critical,
        name: "stack".to_owned(),
        members: 2,
        sites: vec![ContentionSite {
            region: 0,
            acquisitions: 2,
            waited: 1,
            wait_ns: 3,
            max_wait_ns: 2,
            hold_ns: 4,
            holders: vec![Holder {
                region: 0,
                thread: Some(0),
                waited: 1,
                wait_ns: 2,
            }],
        }],
    }];
}

#[test]
fn it_is_a_schema() {
    Validator::of(&schema());
    let wrong = std::panic::catch_unwind(|| Validator::of(&json!({ "type": "papyrus" })));
    assert!(wrong.is_err());
}

#[test]
fn saved_profiles_follow_it_and_have_no_other_field() {
    let mut validator = closed(schema());
    for value in saved().into_iter().chain([as_json(&full())]) {
        assert_eq!(validator.problems(&value), Vec::<String>::new());
    }
}

#[test]
fn every_field_that_it_names_is_written() {
    let written = as_json(&full()).to_string();
    fn walk(schema: &Value, written: &str) {
        if let Some(fields) = schema.get("properties").and_then(Value::as_object) {
            for name in fields.keys() {
                assert!(written.contains(&format!("\"{name}\":")), "{name}");
            }
        }
        match schema {
            Value::Object(fields) => fields.values().for_each(|value| walk(value, written)),
            Value::Array(values) => values.iter().for_each(|value| walk(value, written)),
            _ => {}
        }
    }
    // The optional parts of a row are tested on generated profiles.
    let mut schema = schema();
    schema["$defs"]["row"]["properties"] = json!({ "thread": {} });
    walk(&schema, &written);
}

#[test]
fn it_knows_every_kind() {
    let known = schema()["$defs"]["kind"]["enum"].clone();
    let kinds: Vec<Value> = REGION_KINDS.iter().map(|row| json!(row.kind)).collect();
    assert_eq!(known, Value::from(kinds));
}

#[test]
fn what_is_wrong_does_not_follow_it() {
    let mut validator = Validator::of(&schema());
    let right = as_json(&full());
    assert_eq!(validator.problems(&right), Vec::<String>::new());
    for (place, wrong) in [
        ("/schema", json!("another")),
        ("/version", json!(0)),
        ("/regions/0/kind", json!("papyrus")),
        ("/threads/0/path", json!([])),
        ("/nodes/0/parent", json!(-1)),
        ("/run/duration_ns", json!(0.5)),
        ("/contention/0/sites/0/waited", json!("often")),
    ] {
        let mut value = right.clone();
        *value.pointer_mut(place).unwrap() = wrong;
        assert_ne!(validator.problems(&value), Vec::<String>::new(), "{place}");
    }
}

#[test]
fn generated_profiles_follow_it() {
    let validator = RefCell::new(closed(schema()));
    let mut runner = TestRunner::new(ProptestConfig::with_cases(50));
    let follows = runner.run(&generated::profiles(), |profile| {
        let problems = validator.borrow_mut().problems(&as_json(&profile));
        prop_assert_eq!(problems, Vec::<String>::new());
        Ok(())
    });
    follows.unwrap();
}
