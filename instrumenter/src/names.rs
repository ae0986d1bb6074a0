//! File names as text. A file name is a sequence of bytes, but the code here composes text. A
//! byte that is not part of a valid character is represented by a character of its own, one of
//! the last private-use characters. If a name already contains such a character, the bytes of
//! that character are represented in this way, too. So every name has exactly one text, and
//! every such text gives back its name.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The character that stands for the byte 0. Only bytes from 0x80 on are ever needed.
const FIRST: u32 = 0x0010_FF00;

/// The text of a name.
#[must_use]
pub fn text(name: &[u8]) -> String {
    let mut text = String::with_capacity(name.len());
    for chunk in name.utf8_chunks() {
        for character in chunk.valid().chars() {
            match byte_of(character) {
                None => text.push(character),
                Some(_) => text.extend(character.encode_utf8(&mut [0; 4]).bytes().map(stand_in)),
            }
        }
        text.extend(chunk.invalid().iter().copied().map(stand_in));
    }
    text
}

/// The text of a path.
#[must_use]
pub fn of_path(path: &Path) -> String {
    text(path.as_os_str().as_bytes())
}

/// The name that has this text.
#[must_use]
pub fn bytes(text: &str) -> Cow<'_, [u8]> {
    if !text.chars().any(|character| byte_of(character).is_some()) {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut name = Vec::with_capacity(text.len());
    for character in text.chars() {
        match byte_of(character) {
            None => name.extend(character.encode_utf8(&mut [0; 4]).bytes()),
            Some(byte) => name.push(byte),
        }
    }
    Cow::Owned(name)
}

/// The same for places that accept only valid characters, and for people.
#[must_use]
pub fn shown(text: &str) -> String {
    String::from_utf8_lossy(&bytes(text)).into_owned()
}

/// The path that has this text, in a directory.
#[must_use]
pub fn joined(directory: &Path, text: &str) -> std::path::PathBuf {
    directory.join(OsStr::from_bytes(&bytes(text)))
}

/// The directory of a file; `.` if its name has no directory.
#[must_use]
pub fn directory(file: &Path) -> &Path {
    let parent = file.parent().filter(|parent| *parent != Path::new(""));
    parent.unwrap_or(Path::new("."))
}

/// Maps the begins of file names, as `-ffile-prefix-map` does.
#[derive(Clone, Debug, Default)]
pub struct PrefixMaps {
    /// Pairs of an old begin and its replacement; the last pair that fits counts.
    maps: Vec<(Vec<u8>, Vec<u8>)>,
}

impl PrefixMaps {
    /// Takes maps as written in flags: `OLD=NEW`.
    pub fn new<'m>(written: impl Iterator<Item = &'m OsStr>) -> Self {
        let maps = written.filter_map(|map| {
            let map = map.as_bytes();
            let equals = map.iter().position(|byte| *byte == b'=')?;
            Some((map[..equals].to_vec(), map[equals + 1..].to_vec()))
        });
        Self {
            maps: maps.collect(),
        }
    }

    /// The name to which a name is mapped.
    #[must_use]
    pub fn mapped<'n>(&self, name: &'n [u8]) -> Cow<'n, [u8]> {
        let mut fitting = self.maps.iter().rev().filter_map(|(old, new)| {
            let rest = name.strip_prefix(old.as_slice())?;
            Some([new, rest].concat())
        });
        fitting.next().map_or(Cow::Borrowed(name), Cow::Owned)
    }
}

fn stand_in(byte: u8) -> char {
    char::from_u32(FIRST + u32::from(byte)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

fn byte_of(character: char) -> Option<u8> {
    let offset = u32::from(character).checked_sub(FIRST)?;
    u8::try_from(offset).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_a_text_that_leads_back() {
        let ambiguous = "\u{10FFE9}".as_bytes();
        for name in [
            b"a.c",
            "ä.c".as_bytes(),
            b"\xe9\xff/a.c",
            ambiguous,
            b"\xf4\x8f",
        ] {
            assert_eq!(&*bytes(&text(name)), name);
        }
        assert_ne!(text(ambiguous), text(b"\xe9"));
        assert_eq!(text(b"a b.c"), "a b.c");
        assert_eq!(shown(&text(b"caf\xe9.c")), "caf\u{FFFD}.c");
    }
}
