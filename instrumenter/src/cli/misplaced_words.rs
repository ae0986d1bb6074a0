//! Recognises words of the command line in a place where they have no meaning: the choice of an
//! option without the option, or a file without a command. The answer shows the likely command.

use std::ffi::OsString;
use std::path::Path;

use clap::{Arg, Command};

/// The message with the likely command, if words are in a place where they have no meaning.
pub(super) fn meant(root: &Command, words: &[OsString]) -> Option<String> {
    let words: Vec<&str> = words.iter().map_while(|word| word.to_str()).collect();
    let first = *words.first()?;
    match root.find_subcommand(first) {
        Some(command) => misplaced_choice(command, &words),
        None => file_alone(first),
    }
}

/// Handles a file in the place of a command.
fn file_alone(file: &str) -> Option<String> {
    let path = Path::new(file);
    if !path.is_file() {
        return None;
    }
    let command = match path.extension().and_then(|extension| extension.to_str()) {
        Some("json") => "report",
        Some("trace") => "trace info",
        _ if super::executable::is_executable(path) => "run",
        _ => "list",
    };
    let shown = match command {
        "run" if !file.contains('/') => format!("./{file}"),
        _ => file.to_owned(),
    };
    Some(format!(
        "error: what to do with '{file}' is missing\n  = help: romp {command} {shown}\n  \
         = note: 'romp --help' lists the commands"
    ))
}

/// Handles the choice of an option without the option: `report text FILE`, `--html`.
fn misplaced_choice(command: &Command, words: &[&str]) -> Option<String> {
    let mut command = command;
    let mut names = 1;
    while let Some(inner) = words.get(names).and_then(|w| command.find_subcommand(w)) {
        (command, names) = (inner, names + 1);
    }
    // Words behind a program belong to that program.
    let of_another = |arg: &Arg| arg.is_trailing_var_arg_set();
    if command.get_arguments().any(of_another) {
        return None;
    }
    let ours = words.iter().take_while(|word| **word != "--");
    let (at, name, option) = (names..ours.count()).find_map(|at| {
        let (word, before) = (words[at], words[at - 1]);
        let name = word.strip_prefix("--").unwrap_or(word);
        let is_known = name != word && option(command, word).is_some();
        let is_value = at > names && option(command, before).is_some_and(takes_value);
        if is_known || is_value || Path::new(word).exists() {
            return None;
        }
        Some((at, name, of_choice(command, name)?))
    })?;
    let mut right: Vec<&str> = words.to_vec();
    right.remove(at);
    Some(format!(
        "error: '{}' is no file but a choice of {option}\n  = help: romp {} {option} {name}",
        words[at],
        right.join(" ")
    ))
}

/// The option of a command that a word names.
fn option<'c>(command: &'c Command, word: &str) -> Option<&'c Arg> {
    let long = word.strip_prefix("--");
    let short = word.strip_prefix('-').and_then(|rest| {
        let mut letters = rest.chars();
        letters.next().filter(|_| letters.next().is_none())
    });
    let mut all = command.get_arguments();
    all.find(|arg| {
        long.is_some() && arg.get_long() == long || short.is_some() && arg.get_short() == short
    })
}

fn takes_value(option: &Arg) -> bool {
    option.get_action().takes_values()
}

/// The option, as written, that has this word as a choice.
fn of_choice(command: &Command, word: &str) -> Option<String> {
    let mut all = command.get_arguments().filter(|arg| takes_value(arg));
    let option = all.find(|arg| {
        let mut choices = arg.get_possible_values().into_iter();
        choices.any(|choice| choice.matches(word, false))
    })?;
    let short = option.get_short().map(|short| format!("-{short}"));
    short.or_else(|| Some(format!("--{}", option.get_long()?)))
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;

    use clap::CommandFactory as _;

    use super::*;
    use crate::cli::Arguments;

    fn told(words: &str) -> String {
        let words: Vec<OsString> = words.split(' ').map(OsString::from).collect();
        meant(&Arguments::command(), &words).unwrap_or_default()
    }

    #[test]
    fn a_choice_without_its_option_is_shown_in_its_place() {
        for (words, help) in [
            ("report text f.json", "romp report f.json -f text"),
            ("report f.json text", "romp report f.json -f text"),
            ("report html", "romp report -f html"),
            ("report --html f.json", "romp report f.json -f html"),
            ("report --all csv f.json", "romp report --all f.json -f csv"),
            (
                "trace export chrome f.trace",
                "romp trace export f.trace -f chrome",
            ),
        ] {
            let told = told(words);
            assert_eq!(told.split("= help: ").nth(1), Some(help), "{words}: {told}");
        }
        for right in [
            "report -f text f.json",
            "report --format html",
            "report f.json -o text",
            "report f.json --open",
            "report -- text",
            "run ./app text",
            "trace dump f.trace -f json",
            "trace dump json.trace",
        ] {
            assert_eq!(told(right), "");
        }
    }

    #[test]
    fn a_file_alone_is_told_what_can_be_done_with_it() {
        let folder = tempfile::tempdir().unwrap();
        for (name, help) in [
            ("a.1.romp.json", "romp report "),
            ("a.1.romp.trace", "romp trace info "),
            ("a.F90", "romp list "),
            ("a.out", "romp run "),
        ] {
            let file = folder.path().join(name);
            std::fs::write(&file, "").unwrap();
            let mode = if name == "a.out" { 0o755 } else { 0o644 };
            std::fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
            let file = file.display().to_string();
            let told = told(&file);
            assert!(told.contains(&format!("{help}{file}")), "{told}");
        }
        assert_eq!(told("no-such-file.romp.json"), "");
    }
}
