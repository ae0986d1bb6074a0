//! No object in a JSON file of the repository has a key twice: programs would take the last
//! value, and people the first.

#![allow(clippy::unwrap_used)] // A test fails by panicking, also in its helpers.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::process::Command;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Any JSON in which no object has a key twice.
struct Once;

impl<'de> Deserialize<'de> for Once {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Once)
    }
}

impl<'de> Visitor<'de> for Once {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self, A::Error> {
        let mut keys = BTreeSet::new();
        while let Some((key, Once)) = map.next_entry::<String, Self>()? {
            if !keys.insert(key.clone()) {
                return Err(A::Error::custom(format!("the key {key} is there twice")));
            }
        }
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self, A::Error> {
        while list.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }
}

#[test]
fn a_key_that_is_there_twice_is_seen() {
    for (text, is_right) in [
        (r#"{"a": [1, -2.5, null, {"a": "b"}], "b": true}"#, true),
        (r#"{"a": [{"b": 1, "c": 2, "b": 3}]}"#, false),
    ] {
        let read: Result<Once, _> = serde_json::from_str(text);
        assert_eq!(read.is_ok(), is_right, "{text}");
    }
}

#[test]
fn no_file_has_a_key_twice() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let listed = Command::new("git")
        .args(["ls-files", "-z", "--", "*.json"])
        .current_dir(&root)
        .output()
        .unwrap();
    assert!(listed.status.success(), "{listed:?}");
    let names = String::from_utf8(listed.stdout).unwrap();
    let names = names.split('\0').filter(|name| !name.is_empty());
    // What the fuzzing command keeps is wrong on purpose.
    let names: Vec<&str> = names
        .filter(|name| !name.starts_with("fixtures/fuzz/"))
        .collect();
    assert!(names.contains(&"profile/schema/romp-profile-1.schema.json"));
    for name in names {
        let text = std::fs::read_to_string(root.join(name)).unwrap();
        let read: Result<Once, _> = serde_json::from_str(&text);
        assert!(read.is_ok(), "{name}: {}", read.err().unwrap());
    }
}
