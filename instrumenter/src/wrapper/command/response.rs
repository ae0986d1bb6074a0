//! Response files: `@file` stands for the words in `file`.
//!
//! The rules are those of GCC's and Clang's drivers: words are separated by
//! white space; `'...'` and `"..."` hold a word together; a backslash takes the
//! next byte as it is, also in quotes; an `@file` that can't be read is an
//! ordinary word.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// Response files may name others; this bounds a file that names itself.
const DEEPEST: usize = 100;

/// Replaces every `@file` by its words. The second value says whether there was an `@file`.
pub(crate) fn expand(words: &[OsString]) -> (Vec<OsString>, bool) {
    let mut expanded = Vec::with_capacity(words.len());
    let mut found = false;
    for word in words {
        found |= expand_word(word, DEEPEST, &mut expanded);
    }
    (expanded, found)
}

fn expand_word(word: &OsStr, depth: usize, out: &mut Vec<OsString>) -> bool {
    let name = word.as_bytes().strip_prefix(b"@").filter(|_| depth > 0);
    let text = name.and_then(|name| std::fs::read(Path::new(OsStr::from_bytes(name))).ok());
    let Some(text) = text else {
        out.push(word.to_owned());
        return false;
    };
    for inner in split(&text) {
        expand_word(&inner, depth - 1, out);
    }
    true
}

/// The words of a response file.
fn split(text: &[u8]) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match (byte, quote) {
            (b'\\', _) => word.get_or_insert_default().extend(bytes.next()),
            (_, Some(mark)) if byte == mark => quote = None,
            (_, Some(_)) => word.get_or_insert_default().push(byte),
            (b'\'' | b'"', None) => {
                quote = Some(byte);
                word.get_or_insert_default();
            }
            (_, None) if byte.is_ascii_whitespace() => words.extend(word.take()),
            (_, None) => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word);
    words.into_iter().map(OsString::from_vec).collect()
}

/// Writes words so that [`expand`] and the compilers read them back.
pub(crate) fn join(words: &[OsString]) -> Vec<u8> {
    let mut text = Vec::new();
    for word in words {
        if word.is_empty() {
            text.extend(b"\"\"");
        }
        for &byte in word.as_bytes() {
            if byte.is_ascii_whitespace() || b"\\'\"".contains(&byte) {
                text.push(b'\\');
            }
            text.push(byte);
        }
        text.push(b'\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        split(text.as_bytes())
            .into_iter()
            .map(|w| w.into_string().unwrap())
            .collect()
    }

    #[test]
    fn quotes_and_backslashes_hold_words_together() {
        assert_eq!(words("-c a.c\n\t-o  b.o\n"), ["-c", "a.c", "-o", "b.o"]);
        assert_eq!(
            words(r#"-D"A=x y" '-I my dir' """#),
            ["-DA=x y", "-I my dir", ""]
        );
        assert_eq!(words(r#"a\ b '\'' "\"" \\"#), ["a b", "'", "\"", "\\"]);
        assert_eq!(words(r#"-DS=\"text\""#), ["-DS=\"text\""]);
    }

    #[test]
    fn what_is_joined_is_read_back() {
        let given: Vec<OsString> = ["", "a b", "\"q\"", "it's", "back\\slash", "tab\tline\n"]
            .map(Into::into)
            .into();
        assert_eq!(split(&join(&given)), given);
    }

    #[test]
    fn files_nest_and_a_missing_file_is_a_word() {
        let dir = tempfile::tempdir().unwrap();
        let inner = dir.path().join("inner");
        let outer = dir.path().join("outer");
        std::fs::write(&inner, "-DX='1 2'").unwrap();
        std::fs::write(&outer, format!("-c @{} @absent", inner.display())).unwrap();
        let at = OsString::from(format!("@{}", outer.display()));
        let (expanded, found) = expand(&[at, "a.c".into()]);
        assert!(found);
        assert_eq!(
            expanded,
            ["-c", "-DX=1 2", "@absent", "a.c"].map(OsString::from)
        );
    }

    #[test]
    fn a_file_that_names_itself_ends() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("self");
        let at = format!("@{}", file.display());
        std::fs::write(&file, &at).unwrap();
        assert_eq!(expand(&[OsString::from(&at)]).0, [OsString::from(&at)]);
    }
}
