//! The order of the words behind `romp trace`: the command, then the file. The other order,
//! which earlier versions had, still works.

use std::ffi::OsString;
use std::path::Path;

use clap::Subcommand;

use super::Command;

/// Puts the command of `romp trace` in front of the file. A file without a command is an error
/// that shows a likely command.
pub(in crate::cli) fn command_first(mut words: Vec<OsString>) -> Result<Vec<OsString>, String> {
    let is_trace = words.first().is_some_and(|word| word == "trace");
    let Some(file) = words.get(1).filter(|file| is_trace && is_file(file)) else {
        return Ok(words);
    };
    match words.get(2) {
        // If the command is misspelt, clap reports it with the most similar command.
        Some(command) if !is_option(command) => words.swap(1, 2),
        _ => {
            let file = file.display();
            let names: Vec<String> = commands().collect();
            return Err(format!(
                "error: what to do with '{file}' is missing\n  \
                 = help: romp trace info {file}\n  \
                 = note: commands are {}",
                names.join(", ")
            ));
        }
    }
    Ok(words)
}

/// Whether a word is the trace and not a command. Commands have priority, whatever files exist.
fn is_file(word: &OsString) -> bool {
    let is_command = word
        .to_str()
        .is_some_and(|word| Command::has_subcommand(word) || word == "help");
    let path = Path::new(word);
    let is_named_so = path
        .extension()
        .is_some_and(|extension| extension == "trace");
    !is_command && !is_option(word) && (is_named_so || path.exists())
}

fn is_option(word: &OsString) -> bool {
    word.as_encoded_bytes().starts_with(b"-")
}

/// The commands, in the order of the help.
fn commands() -> impl Iterator<Item = String> {
    let command = Command::augment_subcommands(clap::Command::new("trace"));
    let names: Vec<String> = command
        .get_subcommands()
        .map(|command| command.get_name().to_owned())
        .collect();
    names.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_order_is_understood() {
        for (given, expected) in [
            ("trace a.trace dump -f json", "trace dump a.trace -f json"),
            ("trace dump a.trace -f json", "trace dump a.trace -f json"),
            // Files may have the names of commands.
            ("trace dump check", "trace dump check"),
            ("trace a.trace dmup", "trace dmup a.trace"),
            ("trace --help", "trace --help"),
            ("report a.json dump", "report a.json dump"),
        ] {
            let words = given.split(' ').map(OsString::from).collect();
            let expected: Vec<OsString> = expected.split(' ').map(OsString::from).collect();
            assert_eq!(command_first(words), Ok(expected), "{given}");
        }
        for alone in ["trace a.trace", "trace a.trace -f json"] {
            let words = alone.split(' ').map(OsString::from).collect();
            let why = command_first(words).unwrap_err();
            assert!(why.contains("romp trace info a.trace"), "{why}");
        }
    }
}
