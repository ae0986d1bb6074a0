//! Reading C text byte by byte with line splices removed (translation phase 2:
//! a backslash at the end of a line joins it with the next one).

use std::borrow::Cow;

/// A position in a text, never on a splice.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
    /// The offset behind the last byte that was stepped over, in front of splices.
    end: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a [u8], at: usize) -> Self {
        Self {
            text,
            at: skip_splices(text, at),
            end: at,
        }
    }

    /// The offset of the current byte; the text's length at the end.
    pub(super) fn offset(&self) -> usize {
        self.at
    }

    /// The offset behind the last byte that was stepped over.
    pub(super) fn end(&self) -> usize {
        self.end
    }

    /// The current byte.
    pub(super) fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// The byte `ahead` of the current one.
    pub(super) fn peek_at(&self, ahead: usize) -> Option<u8> {
        let mut cursor = *self;
        for _ in 0..ahead {
            cursor.bump();
        }
        cursor.peek()
    }

    /// Whether the text continues with `expected`.
    pub(super) fn starts_with(&self, expected: &str) -> bool {
        let mut cursor = *self;
        expected.bytes().all(|byte| {
            let same = cursor.peek() == Some(byte);
            cursor.bump();
            same
        })
    }

    /// Steps over the current byte and returns it.
    pub(super) fn bump(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.end = self.at + 1;
        self.at = skip_splices(self.text, self.end);
        Some(byte)
    }

    /// Steps over all bytes that satisfy a condition.
    pub(super) fn skip_while(&mut self, of: impl Fn(u8) -> bool) {
        loop {
            let plain = |byte: &&u8| **byte != b'\\' && of(**byte);
            let run = self.text[self.at..].iter().take_while(plain).count();
            if run > 0 {
                self.end = self.at + run;
                self.at = skip_splices(self.text, self.end);
            } else if self.peek() == Some(b'\\') && of(b'\\') {
                self.bump();
            } else {
                return;
            }
        }
    }

    /// Steps over the current byte without removing the splices after it. Raw strings need
    /// that.
    pub(super) fn bump_raw(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        self.end = self.at;
        Some(byte)
    }
}

/// The first offset from `at` on that is not a splice. Blanks between the backslash and the
/// newline are accepted, as compilers do.
#[inline]
fn skip_splices(text: &[u8], mut at: usize) -> usize {
    while text.get(at) == Some(&b'\\') {
        let blanks = text[at + 1..]
            .iter()
            .take_while(|byte| b" \t\r\x0b\x0c".contains(byte))
            .count();
        if text.get(at + 1 + blanks) != Some(&b'\n') {
            break;
        }
        at += blanks + 2;
    }
    at
}

/// A text with its splices removed.
pub(super) fn unspliced(text: &[u8]) -> Cow<'_, str> {
    match unspliced_bytes(text) {
        Cow::Borrowed(bytes) => String::from_utf8_lossy(bytes),
        Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
    }
}

/// The same for bytes that need not be UTF-8.
pub(super) fn unspliced_bytes(text: &[u8]) -> Cow<'_, [u8]> {
    if !text.contains(&b'\\') {
        return Cow::Borrowed(text);
    }
    let mut cursor = Cursor::new(text, 0);
    let mut bytes = Vec::with_capacity(text.len());
    while let Some(byte) = cursor.bump() {
        bytes.push(byte);
    }
    Cow::Owned(bytes)
}
