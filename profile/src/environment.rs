//! The environment variables of Romp, as one table, and how they are read.
//!
//! The measurement library uses the values; the command line prints the table. Values that
//! cannot be read, and names that look misspelt, are reported and ignored. To add a variable,
//! add a row to `table.rs`.

mod table;

use std::ffi::{OsStr, OsString};
use std::time::Duration;

use crate::units::Nanoseconds;

pub use table::VARIABLES;

use Kind::{Bytes, Choice, Groups, Part, Seconds, Switch, SwitchOrTime, Text};

/// The part of Romp that reads a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// The measurement library, when the program runs.
    Library,
    /// The compiler wrappers, when it is built.
    Wrapper,
    /// Both.
    Both,
}

/// The form of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `on` or `off`; see [`truth`].
    Switch,
    /// One of these words, in any case.
    Choice(&'static [&'static str]),
    /// `on`, `off`, or a time, such as `10us`; see [`limit`].
    SwitchOrTime,
    /// A part of a whole, such as `5%`, or `none`; see [`part`].
    Part,
    /// A positive time in seconds, such as `0.5`; see [`seconds`].
    Seconds,
    /// A number of bytes, such as `64M`; see [`bytes`].
    Bytes,
    /// Any text that is not empty, such as a name, a path or a command.
    Text,
    /// Names of groups of constructs, separated by commas; see [`crate::group`].
    Groups,
}

impl Kind {
    /// The words that are a value, if there are only a few.
    #[must_use]
    pub fn choices(self) -> &'static [&'static str] {
        match self {
            Self::Choice(words) => words,
            _ => &[],
        }
    }
}

/// A row of the table.
#[derive(Debug)]
pub struct Variable {
    /// The name.
    pub name: &'static str,
    /// The form of a value.
    pub kind: Kind,
    /// The default, in words.
    pub default: &'static str,
    /// Its effect, in one sentence.
    pub help: &'static str,
    /// The part of Romp that reads it.
    pub reader: Reader,
    /// ompP's name for the same variable. It is used if Romp's own variable is not set.
    pub ompp: Option<&'static str>,
}

/// A variable that is set to something that can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Romp's name for the variable.
    pub name: &'static str,
    /// Its value; for a choice, the word in the spelling of the table.
    pub value: OsString,
}

/// Reads the variables of an environment. Also returns the problems with them, one sentence
/// each.
pub fn read(
    environment: impl IntoIterator<Item = (OsString, OsString)>,
) -> (Vec<Setting>, Vec<String>) {
    let mut settings = Vec::new();
    let mut fallbacks = Vec::new();
    let mut problems = Vec::new();
    for (name, value) in environment {
        let Some(name) = name.to_str() else { continue };
        if let Some(variable) = VARIABLES.iter().find(|variable| variable.name == name) {
            match accept(variable, &value) {
                Ok(setting) => settings.extend(setting),
                Err(problem) => problems.push(problem),
            }
        } else if let Some(variable) = VARIABLES.iter().find(|v| v.ompp == Some(name)) {
            fallbacks.extend(accept_from_ompp(variable, &value));
        } else if let Some(meant) = misspelt(name) {
            problems.push(format!(
                "{name} is not known and is ignored; is {meant} meant?"
            ));
        }
    }
    for fallback in fallbacks {
        if !settings
            .iter()
            .any(|setting: &Setting| setting.name == fallback.name)
        {
            settings.push(fallback);
        }
    }
    (settings, problems)
}

/// Whether a word means on or off; none for any other word.
#[must_use]
pub fn truth(word: &str) -> Option<bool> {
    match word.trim().to_ascii_lowercase().as_str() {
        "on" | "true" | "yes" => Some(true),
        "off" | "false" | "no" => Some(false),
        number => number.parse::<u32>().ok().map(|number| number > 0),
    }
}

/// A time limit: the given default for `on`, none for `off`, or a time with its unit. Returns
/// none if the word is none of these.
#[must_use]
pub fn limit(word: &str, on: Nanoseconds) -> Option<Option<Nanoseconds>> {
    match truth(word) {
        Some(is_on) => Some(is_on.then_some(on)),
        None => word.parse().ok().map(Some),
    }
}

/// A part of a whole that is written as a percentage, or as `none`.
#[must_use]
pub fn part(word: &str) -> Option<f64> {
    let word = word.trim();
    if word.eq_ignore_ascii_case("none") {
        return Some(0.0);
    }
    let percent: f64 = word.strip_suffix('%')?.trim().parse().ok()?;
    (percent > 0.0 && percent <= 100.0).then_some(percent / 100.0)
}

/// A number of seconds as a time; none unless it is positive and a clock can reach it.
#[must_use]
pub fn seconds(word: &str) -> Option<Duration> {
    let seconds = word.trim().parse().ok()?;
    Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|time| !time.is_zero() && *time < Duration::from_secs(u64::from(u32::MAX)))
}

/// A number of bytes, optionally with one of the letters K, M, G.
#[must_use]
pub fn bytes(word: &str) -> Option<u64> {
    let word = word.trim();
    let (digits, unit) = match word.char_indices().next_back()? {
        (at, 'k' | 'K') => (&word[..at], 1 << 10),
        (at, 'm' | 'M') => (&word[..at], 1 << 20),
        (at, 'g' | 'G') => (&word[..at], 1 << 30),
        _ => (word, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

/// The value of one of Romp's own variables, if the text can be read; none if it is empty.
///
/// # Errors
/// If it cannot be read: the problem, in one sentence.
pub fn value_of(name: &str, text: &OsStr) -> Result<Option<OsString>, String> {
    let mut rows = VARIABLES.iter();
    match rows.find(|variable| variable.name == name) {
        Some(variable) => Ok(accept(variable, text)?.map(|setting| setting.value)),
        None => Ok(None),
    }
}

/// The setting for a value. An empty value counts as not set, and so does a blank switch.
fn accept(variable: &Variable, value: &OsStr) -> Result<Option<Setting>, String> {
    let name = variable.name;
    let text = value.to_string_lossy();
    if value.is_empty() || variable.kind == Switch && text.trim().is_empty() {
        return Ok(None);
    }
    let value = match variable.kind {
        Text => Some(value.to_owned()),
        Groups => match crate::group::Groups::parse(&text) {
            Ok(_) => Some(value.to_owned()),
            Err(unknown) => return Err(format!("{name}={text} is ignored: {unknown}")),
        },
        Switch => truth(&text).map(|_| value.to_owned()),
        SwitchOrTime => limit(&text, Nanoseconds(0)).map(|_| value.to_owned()),
        Part => part(&text).map(|_| value.to_owned()),
        Seconds => seconds(&text).map(|_| value.to_owned()),
        Bytes => bytes(&text).map(|_| value.to_owned()),
        Choice(words) => words
            .iter()
            .find(|word| word.eq_ignore_ascii_case(text.trim()))
            .map(OsString::from),
    };
    match value {
        Some(value) => Ok(Some(Setting { name, value })),
        None => Err(format!(
            "{name}={text} is ignored; say {}",
            forms(name, variable.kind)
        )),
    }
}

/// The valid forms of a variable, as a suggestion.
fn forms(name: &str, kind: Kind) -> String {
    let words: &[&str] = match kind {
        Switch => &["on", "off"],
        Choice(words) => words,
        SwitchOrTime => &["on", "off", "10us"],
        Part => &["5%", "none"],
        Seconds => &["10", "0.5"],
        Bytes => &["500M", "2G"],
        Text => &["TEXT"],
        Groups => &["GROUP,..."],
    };
    words
        .iter()
        .map(|word| format!("{name}={word}"))
        .collect::<Vec<_>>()
        .join(" or ")
}

/// For ompP, every value except `0` means on.
fn accept_from_ompp(variable: &Variable, value: &OsStr) -> Option<Setting> {
    let value = match variable.kind {
        Switch => OsString::from(if value == "0" { "off" } else { "on" }),
        _ => value.to_owned(),
    };
    (!value.is_empty()).then_some(Setting {
        name: variable.name,
        value,
    })
}

/// The variable that a misspelt name seems to mean. Names that resemble no variable are
/// ignored: they may be the user's own, such as a module's `ROMP_ROOT`.
fn misspelt(name: &str) -> Option<&'static str> {
    let given = name.strip_prefix("ROMP_")?;
    VARIABLES
        .iter()
        .filter_map(|variable| {
            let known = variable.name.strip_prefix("ROMP_")?;
            let distance = strsim::osa_distance(&given.to_ascii_uppercase(), known);
            (distance <= (known.len() / 3).clamp(1, 2)).then_some((distance, variable.name))
        })
        .min()
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(variables: &[(&str, &str)]) -> (Vec<(&'static str, String)>, Vec<String>) {
        let (settings, problems) = read(
            variables
                .iter()
                .map(|(name, value)| (name.into(), value.into())),
        );
        let settings = settings
            .into_iter()
            .map(|setting| (setting.name, setting.value.into_string().unwrap()))
            .collect();
        (settings, problems)
    }

    #[test]
    fn names_are_unique_and_sentences_end() {
        for (index, variable) in VARIABLES.iter().enumerate() {
            assert!(variable.name.starts_with("ROMP_"));
            assert!(variable.help.ends_with('.'), "{}", variable.name);
            assert!(
                VARIABLES[..index]
                    .iter()
                    .all(|other| other.name != variable.name)
            );
        }
    }

    #[test]
    fn values_are_read_in_any_case() {
        let (settings, problems) = read_all(&[
            ("ROMP_MEASURE", "OFF"),
            ("ROMP_CLOCK", "TSC"),
            ("ROMP_QUIET", ""),
        ]);
        assert_eq!(
            settings,
            [("ROMP_MEASURE", "OFF".into()), ("ROMP_CLOCK", "tsc".into())]
        );
        assert_eq!(problems, Vec::<String>::new());
    }

    #[test]
    fn what_cannot_be_read_is_reported_with_a_suggestion() {
        let (settings, problems) = read_all(&[
            ("ROMP_MEASURE", "maybe"),
            ("ROMP_CLOCK", "sun"),
            ("ROMP_MESAURE", "off"),
            ("ROMP_ROOT", "/opt/romp"),
            ("HOME", "/"),
        ]);
        assert_eq!(settings, []);
        assert_eq!(
            problems,
            [
                "ROMP_MEASURE=maybe is ignored; say ROMP_MEASURE=on or ROMP_MEASURE=off",
                "ROMP_CLOCK=sun is ignored; say ROMP_CLOCK=tsc or ROMP_CLOCK=monotonic",
                "ROMP_MESAURE is not known and is ignored; is ROMP_MEASURE meant?",
            ]
        );
    }

    #[test]
    fn the_names_of_ompp_count_if_ours_are_not_set() {
        let (settings, _) = read_all(&[("OMPP_APPNAME", "theirs"), ("OMPP_QUIET", "0")]);
        assert_eq!(
            settings,
            [
                ("ROMP_APPNAME", "theirs".into()),
                ("ROMP_QUIET", "off".into())
            ]
        );
        let (settings, _) = read_all(&[("OMPP_APPNAME", "theirs"), ("ROMP_APPNAME", "ours")]);
        assert_eq!(settings, [("ROMP_APPNAME", "ours".into())]);
    }

    #[test]
    fn times_and_sizes_have_units() {
        assert_eq!(seconds("0.5"), Some(Duration::from_millis(500)));
        let on = Nanoseconds(1);
        assert_eq!(limit("on", on), Some(Some(on)));
        assert_eq!(limit("0", on), Some(None));
        assert_eq!(limit("10us", on), Some(Some(Nanoseconds(10_000))));
        assert_eq!(limit("10 furlongs", on), None);
        for word in ["0", "-1", "soon", "inf", "1e300"] {
            assert_eq!(seconds(word), None, "{word}");
        }
        assert_eq!(bytes("64M"), Some(64 << 20));
        assert_eq!(bytes(" 7 "), Some(7));
        for word in ["", "M", "1T", "-1", "99999999999G"] {
            assert_eq!(bytes(word), None, "{word}");
        }
    }
}
