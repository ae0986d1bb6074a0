//! Shares and times as a user writes them: `5%`, `0.5`, `20ms`.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

/// A part of something, in percent: `5%`, `5 %` or `5`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Deserialize)]
#[serde(try_from = "NumberOrText")]
pub struct Percent(pub f64);

/// A factor, such as `1.1`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Deserialize)]
#[serde(try_from = "NumberOrText")]
pub struct Factor(pub f64);

/// A time in nanoseconds, written with its unit: `3s`, `20ms`, `5us`, `70ns`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Nanoseconds(pub u64);

/// Why a text is not such a number.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{text}' is not {expected}")]
pub struct UnitError {
    text: String,
    expected: &'static str,
}

impl UnitError {
    /// The error for a text that is not what is expected.
    pub(crate) fn new(text: &str, expected: &'static str) -> Self {
        Self {
            text: text.to_owned(),
            expected,
        }
    }
}

/// The forms in which a file of limits may contain a number.
#[derive(Deserialize)]
#[serde(untagged)]
enum NumberOrText {
    Number(f64),
    Text(String),
}

/// A number that is not negative.
fn number(text: &str) -> Option<f64> {
    let number: f64 = text.trim().parse().ok()?;
    (number.is_finite() && number >= 0.0).then_some(number)
}

impl FromStr for Percent {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let digits = text.trim().trim_end_matches('%');
        number(digits)
            .map(Self)
            .ok_or_else(|| UnitError::new(text, "a percentage such as 5% or 0.5%"))
    }
}

impl FromStr for Factor {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        number(text)
            .map(Self)
            .ok_or_else(|| UnitError::new(text, "a factor such as 1.1"))
    }
}

impl TryFrom<NumberOrText> for Percent {
    type Error = UnitError;

    fn try_from(value: NumberOrText) -> Result<Self, UnitError> {
        match value {
            NumberOrText::Number(number) => number.to_string().parse(),
            NumberOrText::Text(text) => text.parse(),
        }
    }
}

impl TryFrom<NumberOrText> for Factor {
    type Error = UnitError;

    fn try_from(value: NumberOrText) -> Result<Self, UnitError> {
        match value {
            NumberOrText::Number(number) => number.to_string().parse(),
            NumberOrText::Text(text) => text.parse(),
        }
    }
}

/// Units of time. No unit ends with an earlier one.
const UNITS: &[(&str, f64)] = &[("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];

impl FromStr for Nanoseconds {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let time = UNITS.iter().find_map(|(unit, scale)| {
            let digits = text.trim().strip_suffix(unit)?;
            Some(Self((number(digits)? * scale).round() as u64))
        });
        time.ok_or_else(|| UnitError::new(text, "a time with its unit, such as 20ms"))
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} %", self.0)
    }
}

impl fmt::Display for Factor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_have_a_sign_or_none() {
        for text in ["5%", "5 %", "5", " 5.0% "] {
            assert_eq!(text.parse(), Ok(Percent(5.0)), "{text}");
        }
        for text in ["", "%", "-1%", "five", "NaN", "inf"] {
            assert!(text.parse::<Percent>().is_err(), "{text}");
        }
    }

    #[test]
    fn times_need_their_unit() {
        let time = |text: &str| text.parse::<Nanoseconds>().ok().map(|time| time.0);
        assert_eq!(time("1.5ms"), Some(1_500_000));
        assert_eq!(time("2 s"), Some(2_000_000_000));
        assert_eq!(time("70ns"), Some(70));
        assert_eq!(time("7"), None);
        assert_eq!(time("-1s"), None);
    }
}
