//! The environment variables that steer the wrappers, read once.

use std::ffi::OsString;

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
        for (name, field) in SWITCHES {
            let Some(value) = get(name) else { continue };
            match truth(&value.to_string_lossy()) {
                Some(yes) => *field(&mut settings) = yes,
                None => problems.push(format!(
                    "{name}={} is neither yes nor no and is ignored; say {name}=1 or {name}=0",
                    value.to_string_lossy()
                )),
            }
        }
        if let Some(value) = get("ROMP_PREPROCESS").filter(|value| !value.is_empty()) {
            match preprocess(&value.to_string_lossy()) {
                Some(choice) => settings.preprocess = choice,
                None => problems.push(format!(
                    "ROMP_PREPROCESS={} is not known and is ignored; say auto, always or never",
                    value.to_string_lossy()
                )),
            }
        }
        if let Some(value) = get("ROMP_MESSAGES").filter(|value| !value.is_empty()) {
            match &*value.to_string_lossy().trim().to_ascii_lowercase() {
                "exact" => settings.exact = true,
                "auto" => settings.exact = false,
                other => problems.push(format!(
                    "ROMP_MESSAGES={other} is not known and is ignored; say auto or exact"
                )),
            }
        }
        if let Some(value) = get(DISABLE) {
            match Groups::parse(&value.to_string_lossy()) {
                Ok(groups) => settings.disabled = groups,
                Err(unknown) => problems.push(format!(
                    "{DISABLE}={} is ignored: {unknown}",
                    value.to_string_lossy()
                )),
            }
        }
        settings.library = get("ROMP_LIB").filter(|value| !value.is_empty());
        (settings, problems)
    }
}

fn preprocess(value: &str) -> Option<Preprocess> {
    match value.trim().to_ascii_lowercase().as_str() {
        "auto" => Some(Preprocess::Auto),
        "always" => Some(Preprocess::Always),
        "never" => Some(Preprocess::Never),
        _ => None,
    }
}

fn truth(value: &str) -> Option<bool> {
    match value.trim().to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" => Some(true),
        "false" | "no" | "off" | "" => Some(false),
        number => number.parse::<u32>().ok().map(|number| number > 0),
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
            ["ROMP_OFF=perhaps is neither yes nor no and is ignored; say ROMP_OFF=1 or ROMP_OFF=0"]
        );
    }
}
