//! Keys of our JSON files: an object that has a key twice loses one of the two values.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::sources::{files, root};

/// What is wrong with the JSON files that git knows, apart from those that are to be wrong.
pub(super) fn repeated_keys() -> Vec<String> {
    let ours = files("*.json").into_iter();
    ours.filter(|path| !path.starts_with("fixtures/fuzz/"))
        .filter_map(|path| {
            let text = std::fs::read_to_string(root().join(&path)).unwrap();
            let wrong = check(&text).err()?;
            Some(format!("{path}: {wrong}"))
        })
        .collect()
}

/// An error if the text is no JSON, or an object in it has a key twice.
pub(super) fn check(text: &str) -> Result<(), serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_str(text);
    Value.deserialize(&mut reader)?;
    reader.end()
}

/// Any value, whose objects have each key once.
#[derive(Clone, Copy)]
struct Value;

impl<'de> DeserializeSeed<'de> for Value {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut keys = BTreeSet::new();
        while let Some(key) = map.next_key::<String>()? {
            map.next_value_seed(self)?;
            if !keys.insert(key.clone()) {
                return Err(A::Error::custom(format_args!("the key {key} stands twice")));
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(self)?.is_some() {}
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }
}
