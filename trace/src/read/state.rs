//! Whether a trace is whole, and if not, why.

use std::fmt;

use super::Trace;

/// How much of a trace is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum State {
    /// The program ended measurement itself, and the file is as it was then.
    Complete,
    /// The program did not end measurement.
    BrokenOff,
    /// The file has fewer bytes than it had when measurement ended.
    Cut {
        /// Bytes that are there.
        bytes: u64,
        /// Bytes that there were.
        of: u64,
    },
    /// Parts of the file are not as they were written.
    Damaged {
        /// Invalid pages.
        pages: u64,
        /// Words that define nothing.
        words: u64,
    },
}

impl Trace {
    /// How much of the trace is there.
    #[must_use]
    pub fn state(&self) -> State {
        let (bytes, of) = (self.source.bytes(), self.header.bytes);
        let (pages, words) = (self.torn, self.definitions.unread);
        match self.header.is_complete {
            false => State::BrokenOff,
            true if bytes < of => State::Cut { bytes, of },
            // A length that is not the file's is damage to the header, if to nothing else.
            true if bytes > of || pages > 0 || words > 0 => State::Damaged { pages, words },
            true => State::Complete,
        }
    }

    /// Whether nothing is missing but events that were dropped.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.state() == State::Complete
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Complete => write!(f, "complete"),
            Self::BrokenOff => write!(
                f,
                "incomplete: the program was killed, replaced itself by exec, or still runs"
            ),
            Self::Cut { bytes, of } => write!(
                f,
                "incomplete: the file was cut, it has {bytes} of {of} bytes"
            ),
            Self::Damaged { pages, words } => write!(
                f,
                "incomplete: the file was changed, {pages} pages and {words} words of its \
                 definitions cannot be read"
            ),
        }
    }
}
