//! Clang's compilation database (`-MJ`): it has an entry for each source with the words of the
//! command that compiled it. The words that we added are taken out again, so that the entry
//! shows the user's command.

use std::ffi::OsStr;
use std::path::Path;

use crate::wrapper::command::classify::CommandLine;
use crate::wrapper::compilers::NO_REMARKS;
use crate::wrapper::compilers::flags::Meaning;
use crate::wrapper::finish::dependencies::replace;
use crate::wrapper::finish::library::NATIVE_LIBRARIES;
use crate::wrapper::route::substitution::{remap_flags, searched_first};
use crate::wrapper::unit::{Route, Unit};

/// A part of an entry, and its replacement: the corresponding part of the user's entry.
type Replacement = (String, String);

/// Corrects the entries of a command that has succeeded.
pub(crate) fn correct(line: &CommandLine, units: &[&Unit]) -> std::io::Result<()> {
    for file in line.values(Meaning::CompilationDatabase).map(Path::new) {
        if file.is_file() {
            let old = std::fs::read(file)?;
            let new = corrected(old.clone(), units);
            if new != old {
                std::fs::write(file, new)?;
            }
        }
    }
    Ok(())
}

fn corrected(mut text: Vec<u8>, units: &[&Unit]) -> Vec<u8> {
    let ours = units.iter().flat_map(|unit| of_unit(unit));
    for (from, to) in ours.chain(of_command()) {
        text = replace(text, from.as_bytes(), to.as_bytes());
    }
    text
}

fn of_unit(unit: &Unit) -> Vec<Replacement> {
    let name = json(&unit.name);
    match &unit.route {
        None | Some(Route::StandardInput) => Vec::new(),
        Some(Route::Remapped(path)) => {
            let words = remap_flags(&unit.name, path);
            vec![(followed(&words), String::new())]
        }
        Some(Route::TemporaryFile(path)) => {
            let path = json(path.as_os_str());
            // `-ffile-prefix-map=PATH=NAME`
            let inner = path.trim_matches('"');
            let mapped = |flag: &str| format!(", \"{flag}={inner}={}\"", name.trim_matches('"'));
            vec![
                (followed(&searched_first(unit)), String::new()),
                (mapped("-ffile-prefix-map"), String::new()),
                (mapped("-fdebug-prefix-map"), String::new()),
                (path, name),
            ]
        }
        Some(Route::Preprocessed(path)) => {
            let path = json(path.as_os_str());
            let language = |language: &str| format!("\"-x{language}\", ");
            vec![
                (language("cpp-output") + &path, language("c") + &name),
                (language("c++-cpp-output") + &path, language("c++") + &name),
                (path, name),
            ]
        }
    }
}

/// Replacements that don't depend on the source.
fn of_command() -> Vec<Replacement> {
    let words: [&[&str]; 2] = [NO_REMARKS.as_slice(), &NATIVE_LIBRARIES];
    let texts = words.map(|words| (followed(words), String::new()));
    texts.to_vec()
}

/// The text of words that follow others in an entry's list.
fn followed(words: &[impl AsRef<OsStr>]) -> String {
    let words = words
        .iter()
        .map(|word| format!(", {}", json(word.as_ref())));
    words.collect()
}

/// A word as an entry spells it.
fn json(word: &OsStr) -> String {
    serde_json::Value::from(word.to_string_lossy()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(unit: &Unit, text: &str) -> String {
        String::from_utf8(corrected(text.into(), &[unit])).unwrap()
    }

    #[test]
    fn an_entry_is_the_user_s_command() {
        let users = r#"{ "file": "s/a.c", "arguments": ["clang", "-xc", "s/a.c", "-c"]},"#;
        let mut unit = Unit::for_tests("s/a.c", "");
        unit.route = Some(Route::Remapped("/t/a.c".into()));
        let ours = users.replace(
            "-c\"",
            r#"-c", "-Xclang", "-remap-file", "-Xclang", "s/a.c;/t/a.c""#,
        );
        assert_eq!(entry(&unit, &ours), users);
        unit.route = Some(Route::TemporaryFile("/t/a.c".into()));
        let ours = users.replace("s/a.c", "/t/a.c").replace(
            "\"-c",
            r#""-iquote", "s", "-c", "-ffile-prefix-map=/t/a.c=s/a.c"#,
        );
        assert_eq!(entry(&unit, &ours), users);
        unit.route = Some(Route::Preprocessed("/t/a.i".into()));
        let ours = users
            .replace("s/a.c", "/t/a.i")
            .replace("-xc", "-xcpp-output");
        assert_eq!(entry(&unit, &ours), users);
    }
}
