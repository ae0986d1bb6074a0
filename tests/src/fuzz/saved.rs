//! Saved profiles: read, analysed, merged, compared, checked and written in every format,
//! whatever the file says.

use std::io::{self, Write};
use std::path::Path;
use std::sync::OnceLock;

use profile::analysis::{Report, Selection};
use profile::check::{Thresholds, check};
use profile::diff::{self, Noise, diff, diff_runs};
use profile::load::parse;
use profile::merge::{Part, fold, merge, number, of_rank};
use profile::model::Profile;
use profile::report::{WRITERS, json};
use profile::scale;
use profile::units::{Factor, Percent};
use serde_json::Value;

use super::pool;
use crate::memory::taken;
use crate::random::Random;

/// The formats, and three more things that are done with a profile.
pub const VARIANTS: u64 = WRITERS.len() as u64 + 3;

/// Bytes of memory that a profile may take in addition to those for each byte of the file.
/// The page for a browser needs them.
const LEAST: u64 = 16 << 20;
/// Bytes of memory for each byte of the file.
const EACH: u64 = 1000;
/// Bytes that may be written for each byte of the file.
const WRITTEN: u64 = 2000;

/// Words that mean something in a saved profile.
#[must_use]
pub fn words() -> Vec<Vec<u8>> {
    let words = [
        "null",
        "0",
        "-1",
        "1.5",
        "1e400",
        "18446744073709551615",
        "9223372036854775808",
        "4294967295",
        "\"\"",
        "[]",
        "{}",
        "true",
        "\"thread\":",
        "\"region\":",
        "\"parent\":",
        "\"rows\":",
        "\"main\":",
        "\"ns\":",
        "\"count\":",
        "\"path\":",
        "\"rank\":",
        "\\u0000",
        "\\u001b",
        "\\n",
    ];
    words.iter().map(|word| word.as_bytes().to_vec()).collect()
}

/// Reads a profile, and writes it in one format or does something else with it.
///
/// # Panics
/// If something is not as it must be.
pub fn profiles(text: &[u8], variant: u64) {
    let most = LEAST + EACH * text.len() as u64;
    let ((), memory) = taken(|| match parse(Path::new("fuzz"), text) {
        Ok(profile) => used(&profile, text.len() as u64, variant),
        Err(error) => assert!(!error.to_string().is_empty()),
    });
    assert!(memory <= most, "it takes {memory} bytes, more than {most}");
}

fn used(profile: &Profile, length: u64, variant: u64) {
    let written = |report: &Report<'_>, format: usize| {
        let mut out = Counted(0);
        let result = (WRITERS[format].write)(report, &mut out);
        assert!(result.is_ok(), "{result:?}");
        let most = LEAST + WRITTEN * length;
        assert!(out.0 <= most, "{} bytes of {}", out.0, WRITERS[format].name);
    };
    match (variant as usize).checked_sub(WRITERS.len()) {
        None => written(&Report::new(profile), variant as usize),
        Some(0) => {
            let mut report = Report::new(profile);
            let selection = Selection {
                regions: vec!["a*".to_owned(), "for".to_owned()],
                threads: vec!["0->*".to_owned()],
                min_percent: Some(0.5),
                sort: Some("execT".to_owned()),
                top: Some(2),
            };
            if report.select(&selection).is_ok() {
                written(&report, 0);
            }
        }
        Some(1) => merged(profile),
        Some(_) => compared(profile),
    }
}

/// What is saved comes back; parts that are merged are parts of the whole.
fn merged(profile: &Profile) {
    let mut text = Vec::new();
    assert!(json::write(profile, &mut text).is_ok());
    let again = parse(Path::new("again"), &text);
    assert_eq!(again.as_ref().ok(), Some(profile));
    let part = || Part {
        path: "a.r0.0.romp.json".into(),
        profile: profile.clone(),
    };
    let _ = merge(&[part()]);
    let mut parts = [part(), part(), part()];
    number(&mut parts);
    if let Ok(whole) = merge(&parts) {
        assert_eq!(of_rank(&whole, 1).is_some(), whole.ranks.len() == 3);
        let _ = Report::new(&whole);
    }
}

fn compared(profile: &Profile) {
    static OTHER: OnceLock<Option<Profile>> = OnceLock::new();
    let other = OTHER.get_or_init(|| {
        let file = pool::files("fixtures/profiles", &["json"])
            .into_iter()
            .next()?;
        parse(&file, &std::fs::read(&file).ok()?).ok()
    });
    let (folded, empty) = (fold(profile), Profile::default());
    let other = other.as_ref().unwrap_or(&empty);
    for (before, after) in [(&folded, other), (other, &folded), (&folded, &folded)] {
        let found = diff(before, after, Noise::default());
        for writer in diff::WRITERS {
            assert!((writer.write)(&found, &mut io::sink()).is_ok());
        }
    }
    let runs = [folded.clone(), other.clone(), folded.clone()];
    if let Ok(scaling) = scale::scale(&runs) {
        for writer in scale::WRITERS {
            assert!((writer.write)(&scaling, &mut io::sink()).is_ok());
        }
    }
    let found = diff_runs(&runs[..2], &runs, Noise::default());
    assert!(!found.verdict.is_empty());
    let thresholds = Thresholds {
        max_imbalance: Some(Percent(1.0)),
        max_win: Some(Percent(1.0)),
        min_coverage: Some(Percent(99.0)),
        max_time_ratio: Some(Factor(1.1)),
        max_region_ratio: Some(Factor(1.1)),
        ..Thresholds::default()
    };
    let checked = check(&folded, Some(other), &thresholds);
    assert!(checked.is_ok(), "{checked:?}");
}

/// Takes what is written, and counts its bytes.
struct Counted(u64);

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A profile whose numbers, fields and lists differ from those that a program saves.
#[must_use]
pub fn make(random: &mut Random) -> Vec<u8> {
    static SEEDS: OnceLock<Vec<Value>> = OnceLock::new();
    let seeds = SEEDS.get_or_init(|| {
        let kept = pool::files("fixtures/fuzz/profile", &[]);
        let bytes = kept.iter().filter_map(|file| std::fs::read(file).ok());
        let values = bytes.filter_map(|bytes| serde_json::from_slice(&bytes).ok());
        let mut values: Vec<Value> = values.collect();
        values.push(Value::Null);
        values
    });
    let mut value = random.one_of(seeds).clone();
    for _ in 0..=random.power(4) {
        change(&mut value, random);
    }
    let mut text = value.to_string().into_bytes();
    if random.once_in(10) {
        say_twice(&mut text, random);
    }
    text
}

/// Changes something in a value, mostly deep inside.
fn change(value: &mut Value, random: &mut Random) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            let at = random.index(fields.len());
            let key = fields.keys().nth(at).cloned().unwrap_or_default();
            match random.below(30) {
                0 => drop(fields.remove(&key)),
                1 => {
                    let other = fields.keys().nth(random.index(fields.len())).cloned();
                    let other = other.and_then(|other| fields.get(&other).cloned());
                    fields.insert(key, other.unwrap_or_default());
                }
                2 => drop(fields.insert(key, another(random))),
                _ => fields
                    .get_mut(&key)
                    .into_iter()
                    .for_each(|field| change(field, random)),
            }
        }
        Value::Array(values) if !values.is_empty() => {
            let (at, other) = (random.index(values.len()), random.index(values.len()));
            match random.below(30) {
                0 => drop(values.remove(at)),
                1 => {
                    let copies = vec![values[at].clone(); 1 + random.power(6) as usize];
                    values.splice(other..other, copies);
                }
                2 => values.swap(at, other),
                3 => values.truncate(at),
                _ => change(&mut values[at], random),
            }
        }
        Value::Number(number) if random.once_in(2) => {
            let now = number.as_u64().unwrap_or_default();
            *value = near(now, random);
        }
        Value::String(text) if random.once_in(2) => {
            let more = ["\n", "\u{1b}[31m", "*", "\u{0}", "a/../", "ä", "for", "\""];
            text.push_str(more[random.index(more.len())]);
        }
        value => *value = another(random),
    }
}

fn near(now: u64, random: &mut Random) -> Value {
    let number = match random.below(8) {
        0 => 0,
        1 => u64::MAX,
        2 => 1 << 59,
        3 => u64::from(u32::MAX),
        4 => now.wrapping_add(1),
        5 => now.wrapping_sub(1),
        6 => now.wrapping_mul(random.power(20)),
        _ => random.power(60),
    };
    number.into()
}

/// Any other value.
fn another(random: &mut Random) -> Value {
    match random.below(9) {
        0 => Value::Null,
        1 => true.into(),
        2 => (-1).into(),
        3 => 1.5.into(),
        4 => "".into(),
        5 => "main".into(),
        6 => Value::Array(Vec::new()),
        7 => Value::Object(serde_json::Map::new()),
        _ => near(0, random),
    }
}

/// An object gets one of its fields again.
fn say_twice(text: &mut Vec<u8>, random: &mut Random) {
    let begins: Vec<usize> = (0..text.len()).filter(|at| text[*at] == b'{').collect();
    if begins.is_empty() {
        return;
    }
    let at = *random.one_of(&begins) + 1;
    let end = text[at..].iter().position(|byte| b",}".contains(byte));
    let field = text[at..at + end.unwrap_or_default()].to_vec();
    text.splice(at..at, field.into_iter().chain([b',']));
}
