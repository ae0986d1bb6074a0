//! Where the bytes of a trace are: in a file, or in memory.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// The bytes of a trace.
#[derive(Debug)]
pub(super) enum Source {
    File { file: File, bytes: u64 },
    Memory(Vec<u8>),
}

impl Source {
    /// How many bytes there are.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Self::File { bytes, .. } => *bytes,
            Self::Memory(bytes) => bytes.len() as u64,
        }
    }

    /// Whether this many words are there from this byte on.
    pub(super) fn has(&self, at: u64, words: usize) -> bool {
        let end = at.checked_add(words as u64 * 8);
        end.is_some_and(|end| end <= self.bytes())
    }

    /// Reads words from this byte on.
    pub(super) fn read(&self, at: u64, words: &mut [u64]) -> io::Result<()> {
        let mut bytes = vec![0; words.len() * 8];
        self.read_bytes(at, &mut bytes)?;
        let (read, _) = bytes.as_chunks::<8>();
        for (word, bytes) in words.iter_mut().zip(read) {
            *word = u64::from_le_bytes(*bytes);
        }
        Ok(())
    }

    /// Reads bytes from this one on.
    pub(super) fn read_bytes(&self, at: u64, bytes: &mut [u8]) -> io::Result<()> {
        match self {
            Self::File { file, .. } => file.read_exact_at(bytes, at),
            Self::Memory(all) => {
                let from = usize::try_from(at).unwrap_or(usize::MAX);
                let given = all.get(from..).and_then(|rest| rest.get(..bytes.len()));
                bytes.copy_from_slice(given.ok_or(io::ErrorKind::UnexpectedEof)?);
                Ok(())
            }
        }
    }
}
