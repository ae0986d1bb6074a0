//! The environment variables that steer the wrappers, read once. Their table and the forms of their
//! values are in `profile::environment`.

use std::ffi::OsString;

use profile::environment;

use crate::Groups;

/// The variable that names the constructs that are not instrumented.
pub(crate) const DISABLE: &str = "ROMP_INSTRUMENT_DISABLE";

/// Which text is instrumented.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Preprocess {
    /// The source as it is, or preprocessed if that shows more.
    #[default]
    Auto,
    Always,
    Never,
}

/// What the user asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    /// `ROMP_OFF`: behave as the compiler and do nothing else.
    pub(crate) off: bool,
    /// `ROMP_KEEP`: keep the instrumented text beside the output.
    pub(crate) keep: bool,
    /// `ROMP_CHUNKS`: make chunks of loops traceable.
    pub(crate) chunks: bool,
    /// `ROMP_PARTIAL_LIBRARY`: make no call where the library lacks the function.
    pub(crate) partial_library: bool,
    /// `ROMP_STRICT`: a file that can't be measured is an error.
    pub(crate) strict: bool,
    /// `ROMP_VERBOSE`: print the commands.
    pub(crate) verbose: bool,
    /// `ROMP_INSTRUMENT_FUNCTIONS`: measure functions, as `--functions` does.
    pub(crate) functions: bool,
    /// `ROMP_QUIET`: print no warnings.
    pub(crate) quiet: bool,
    /// `ROMP_PREPROCESS`: which text is instrumented.
    pub(crate) preprocess: Preprocess,
    /// `ROMP_MESSAGES=exact`: compile every source to the side for its messages.
    pub(crate) exact: bool,
    /// `ROMP_INSTRUMENT_DISABLE`: the constructs that are not instrumented.
    pub(crate) disabled: Groups,
    /// Print the commands and run none.
    pub(crate) dry_run: bool,
    /// `ROMP_LIB`: the library or its directory.
    pub(crate) library: Option<OsString>,
}

type Field = fn(&mut Settings) -> &mut bool;

/// The switches: name and field.
const SWITCHES: &[(&str, Field)] = &[
    ("ROMP_OFF", |s| &mut s.off),
    ("ROMP_KEEP", |s| &mut s.keep),
    ("ROMP_CHUNKS", |s| &mut s.chunks),
    ("ROMP_PARTIAL_LIBRARY", |s| &mut s.partial_library),
    ("ROMP_STRICT", |s| &mut s.strict),
    ("ROMP_VERBOSE", |s| &mut s.verbose),
    ("ROMP_INSTRUMENT_FUNCTIONS", |s| &mut s.functions),
    ("ROMP_QUIET", |s| &mut s.quiet),
];

impl Settings {
    /// Reads the environment. A value that is not known is ignored; a sentence for the user
    /// says so.
    pub(crate) fn from_environment() -> (Self, Vec<String>) {
        Self::read(|name| std::env::var_os(name))
    }

    fn read(get: impl Fn(&str) -> Option<OsString>) -> (Self, Vec<String>) {
        let mut settings = Self::default();
        let mut problems = Vec::new();
        let mut value = |name: &str| {
            let value = environment::value_of(name, &get(name)?);
            value.unwrap_or_else(|problem| {
                problems.push(problem);
                None
            })
        };
        for (name, field) in SWITCHES {
            let is_on = value(name).and_then(|value| environment::truth(&value.to_string_lossy()));
            *field(&mut settings) = is_on.unwrap_or_default();
        }
        settings.preprocess = match value("ROMP_PREPROCESS").as_ref().and_then(|it| it.to_str()) {
            Some("always") => Preprocess::Always,
            Some("never") => Preprocess::Never,
            _ => Preprocess::Auto,
        };
        settings.exact = value("ROMP_MESSAGES").is_some_and(|value| value == "exact");
        let disabled = value(DISABLE).map(|value| Groups::parse(&value.to_string_lossy()));
        settings.disabled = disabled.and_then(Result::ok).unwrap_or_default();
        settings.library = value("ROMP_LIB");
        (settings, problems)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_take_the_usual_truth_values() {
        for (value, expected) in [
            ("1", true),
            ("Yes", true),
            ("on", true),
            ("0", false),
            ("", false),
            (" ", false),
        ] {
            let (settings, problems) =
                Settings::read(|name| (name == "ROMP_KEEP").then(|| value.into()));
            assert_eq!((settings.keep, problems.len()), (expected, 0), "{value}");
        }
    }

    #[test]
    fn an_unknown_value_is_reported_and_ignored() {
        let (settings, problems) =
            Settings::read(|name| (name == "ROMP_OFF").then(|| "perhaps".into()));
        assert!(!settings.off);
        assert_eq!(
            problems,
            ["ROMP_OFF=perhaps is ignored; say ROMP_OFF=on or ROMP_OFF=off"]
        );
    }
}
