//! Data sections of the page: compressed bytes, encoded as letters. The browser itself
//! decompresses each section when it is needed.

use std::io::{self, Write};

use miniz_oxide::deflate::compress_to_vec_zlib;

/// Compression level. A higher level takes twice the time and saves one percent of the size.
const LEVEL: u8 = 6;

/// Columns of numbers. Each number takes as few bytes as it needs.
#[derive(Debug, Default)]
pub struct Columns {
    bytes: Vec<u8>,
}

impl Columns {
    /// Appends a number: seven bits per byte, lowest first. The highest bit is set in all bytes
    /// but the last.
    pub fn push(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number.to_le_bytes()[0] | 0x80);
            number >>= 7;
        }
        self.bytes.push(number.to_le_bytes()[0]);
    }

    /// Appends the numbers of other columns.
    pub fn append(&mut self, mut other: Self) {
        self.bytes.append(&mut other.bytes);
    }

    /// The size in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether there are no numbers.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// The number of bytes that a number takes in [`Columns`].
pub(super) fn width(number: u64) -> usize {
    (64 - (number | 1).leading_zeros() as usize).div_ceil(7)
}

/// Bytes, compressed and encoded as letters.
pub(super) fn packed(bytes: &[u8]) -> String {
    base64(&compress_to_vec_zlib(bytes, LEVEL))
}

/// Writes a section. Its name may only contain letters, digits and `-`.
pub(super) fn write(name: &str, packed: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "<script type=\"application/octet-stream\" id=\"data-{name}\">{packed}</script>"
    )
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |index: usize| u32::from(group.get(index).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for index in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * index)) as usize & 63];
            text.push(if index <= group.len() {
                letter as char
            } else {
                '='
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_those_of_the_standard() {
        let shown = ["", "f", "fo", "foo", "foob"].map(|text| base64(text.as_bytes()));
        assert_eq!(shown, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg=="]);
        assert_eq!(base64(&[0xff, 0xfe, 0xfd]), "//79");
    }

    #[test]
    fn numbers_take_as_many_bytes_as_they_need() {
        for (number, expected) in [
            (0, &[0][..]),
            (127, &[127]),
            (128, &[0x80, 1]),
            (300, &[0xac, 2]),
        ] {
            let mut columns = Columns::default();
            columns.push(number);
            assert_eq!(columns.bytes(), expected);
            assert_eq!(width(number), expected.len());
        }
        let mut columns = Columns::default();
        columns.push(u64::MAX);
        assert_eq!((columns.len(), width(u64::MAX)), (10, 10));
    }
}
