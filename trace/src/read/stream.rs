//! The records of one thread, page by page.

use std::sync::atomic::Ordering;

use super::{Page, ReadError, Trace};
use crate::record::{Op, Record};

/// An element of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamElement {
    /// A page begins: how many events are missing before it (at least one if
    /// the number is not known), and the time that it counts from.
    Page {
        /// Events that are missing.
        missing: u64,
        /// Ticks.
        time: u64,
    },
    /// A record, with its time in ticks.
    Record {
        /// Ticks.
        time: u64,
        /// The record.
        record: Record,
    },
    /// The rest of a page, this many words, is no record.
    Damaged {
        /// Ticks.
        time: u64,
        /// Words.
        words: u64,
    },
}

impl StreamElement {
    /// Its time in ticks.
    #[must_use]
    pub fn time(&self) -> u64 {
        match self {
            Self::Page { time, .. } | Self::Record { time, .. } | Self::Damaged { time, .. } => {
                *time
            }
        }
    }
}

/// The records of one thread. Holds one page at a time.
#[derive(Debug)]
pub struct Stream<'a> {
    trace: &'a Trace,
    pages: &'a [Page],
    /// The sequence number that the next page should have, and the events that
    /// were missing before.
    next: u64,
    dropped: u64,
    words: Vec<u64>,
    at: usize,
    time: u64,
}

impl<'a> Stream<'a> {
    pub(super) fn new(trace: &'a Trace, pages: &'a [Page]) -> Self {
        Self {
            trace,
            pages,
            next: 0,
            dropped: 0,
            words: Vec::new(),
            at: 0,
            time: 0,
        }
    }

    /// The next item; none at the end.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn next_element(&mut self) -> Result<Option<StreamElement>, ReadError> {
        loop {
            if self.at >= self.words.len() {
                return self.next_page();
            }
            let Some((record, used)) = Record::read(&self.words[self.at..]) else {
                let words = (self.words.len() - self.at) as u64;
                self.at = self.words.len();
                let time = self.time;
                return Ok(Some(StreamElement::Damaged { time, words }));
            };
            self.at += used;
            if record.op == Op::Time {
                self.time = record.operands[0];
                continue;
            }
            self.time = self.time.wrapping_add(record.ticks);
            return Ok(Some(StreamElement::Record {
                time: self.time,
                record,
            }));
        }
    }

    fn next_page(&mut self) -> Result<Option<StreamElement>, ReadError> {
        let Some((page, rest)) = self.pages.split_first() else {
            return Ok(None);
        };
        self.pages = rest;
        self.words.clear();
        self.at = 0;
        let read = self.trace.payload(page, &mut self.words);
        read.map_err(|source| super::failed(&self.trace.path, source))?;
        self.trace.pages_read.fetch_add(1, Ordering::Relaxed);
        let head = &page.head;
        let missing = head.dropped.saturating_sub(self.dropped);
        let is_next = head.sequence == self.next;
        self.next = head.sequence.wrapping_add(1);
        self.dropped = head.dropped;
        self.time = head.base;
        Ok(Some(StreamElement::Page {
            missing: missing.max(u64::from(!is_next)),
            time: head.base,
        }))
    }
}
