//! Messages of the wrapper to the user. Warnings, errors and the commands of `ROMP_VERBOSE`
//! have one form. They are always written to stderr, except the commands of a dry run.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::Path;

use profile::printable::printable;

use crate::wrapper::compilers::is_own;
use crate::wrapper::settings::Settings;

/// A problem that does not stop the build.
pub(crate) fn warning(settings: &Settings, text: &str) {
    if !settings.quiet {
        say(&format!("warning: {text}"));
    }
}

/// A problem that stops the build.
pub(crate) fn error(text: &str) {
    say(&format!("error: {text}"));
}

/// Something that only `ROMP_VERBOSE` shows.
pub(crate) fn note(settings: &Settings, text: &str) {
    if settings.verbose {
        say(text);
    }
}

/// A command that is about to run, as it could be typed. The commands are the only result of a
/// dry run, so there they go to standard output.
pub(crate) fn command(settings: &Settings, program: &OsStr, arguments: &[OsString]) {
    if !settings.verbose && !settings.dry_run {
        return;
    }
    let words = std::iter::once(program).chain(arguments.iter().map(OsString::as_os_str));
    let text = words.map(quoted).collect::<Vec<_>>().join(" ");
    if settings.dry_run {
        let _ = writeln!(std::io::stdout(), "{text}");
    } else {
        say(&text);
    }
}

/// A text made elsewhere, such as one of the instrumenter's warnings.
pub(crate) fn plain(settings: &Settings, text: &str) {
    if !settings.quiet {
        write(&format!("{}\n", text.trim_end()));
    }
}

fn say(text: &str) {
    let invoked = std::env::args_os().next().unwrap_or_default();
    // A text may have several lines. File names with a line break are rare.
    let lines: Vec<_> = text.split('\n').map(printable).collect();
    write(&format!("{}: {}\n", speaker(&invoked), lines.join("\n")));
}

/// The name that messages begin with: that of the command, as the user called it. A wrapper
/// that was called by a compiler's name must not use it: its messages would look like the
/// compiler's.
fn speaker(invoked: &OsStr) -> String {
    let name = Path::new(invoked).file_name().unwrap_or_default();
    match name.to_string_lossy() {
        name if name == "romp" => "romp wrap".into(),
        name if is_own(&name) => name.into_owned(),
        _ => "rompcc".into(),
    }
}

/// Writes a message in one call, so that parallel builds don't mix lines. A closed stderr is no
/// reason to fail a build.
fn write(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

fn quoted(word: &OsStr) -> String {
    let text = word.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+,./:@%#".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.into_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_begin_with_the_name_that_was_called() {
        for (invoked, name) in [
            ("/opt/romp/bin/rompfc", "rompfc"),
            ("rompcxx", "rompcxx"),
            ("rompcc-gfortran-12", "rompcc-gfortran-12"),
            ("bin/romp", "romp wrap"),
            ("gcc", "rompcc"),
            ("", "rompcc"),
        ] {
            assert_eq!(speaker(OsStr::new(invoked)), name);
        }
    }

    #[test]
    fn commands_can_be_pasted_into_a_shell() {
        assert_eq!(quoted(OsStr::new("-Idir")), "-Idir");
        assert_eq!(quoted(OsStr::new("-DA=\"x y\"")), "'-DA=\"x y\"'");
        assert_eq!(quoted(OsStr::new("it's")), r"'it'\''s'");
        assert_eq!(quoted(OsStr::new("")), "''");
    }
}
