//! Reading a trace: what it defines, and the records of each thread.

mod stream;

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use profile::descriptor::Descriptor;

use crate::clock::Scale;
use crate::layout::{Definition, HEAD_WORDS, HEADER_WORDS, Header, SLOT_BYTES, SlotHead, SlotKind};
pub use stream::{Item, Stream};

/// Why a trace cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The system refuses.
    #[error("cannot read '{}': {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is something else.
    #[error("'{}' cannot be read: {why}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
}

/// A page of a stream: where it is, and how much it holds.
#[derive(Clone, Copy, Debug)]
struct Page {
    slot: u64,
    head: SlotHead,
}

/// A trace that is open for reading.
#[derive(Debug)]
pub struct Trace {
    path: PathBuf,
    file: File,
    /// What is known of the whole file.
    pub header: Header,
    /// The regions, by number; none for numbers that are not defined.
    pub regions: Vec<Option<Descriptor>>,
    /// The threads' paths, by number.
    pub paths: Vec<Vec<u32>>,
    /// Facts about the run.
    pub facts: BTreeMap<String, String>,
    /// Slots that were being written when the program was killed.
    pub torn: u64,
    streams: BTreeMap<u64, Vec<Page>>,
    pages_read: AtomicU64,
}

impl Trace {
    /// Opens a trace. Reads the heads of its slots, and what it defines.
    ///
    /// # Errors
    /// If it cannot be read or is no trace.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let io = |source| ReadError::Io {
            path: path.to_owned(),
            source,
        };
        let file = File::open(path).map_err(io)?;
        let bytes = file.metadata().map_err(io)?.len();
        let mut words = [0; HEADER_WORDS];
        let is_short = bytes < (HEADER_WORDS * 8) as u64;
        if !is_short {
            read_words(&file, 0, &mut words).map_err(io)?;
        }
        let header = Header::read(&words).map_err(|why| ReadError::Format {
            path: path.to_owned(),
            why,
        })?;
        let mut trace = Self {
            path: path.to_owned(),
            file,
            header,
            regions: Vec::new(),
            paths: Vec::new(),
            facts: BTreeMap::new(),
            torn: 0,
            streams: BTreeMap::new(),
            pages_read: AtomicU64::new(0),
        };
        let definitions = trace.index(bytes).map_err(io)?;
        trace.define(definitions).map_err(io)?;
        Ok(trace)
    }

    /// Finds all slots; gives those of the definitions.
    fn index(&mut self, bytes: u64) -> io::Result<Vec<Page>> {
        let mut definitions = Vec::new();
        for slot in 1..bytes.div_ceil(SLOT_BYTES as u64) {
            let Some(page) = self.page(slot, bytes)? else {
                self.torn += 1;
                continue;
            };
            match page.head.kind {
                SlotKind::Definitions => definitions.push(page),
                SlotKind::Records => self.streams.entry(page.head.stream).or_default().push(page),
            }
        }
        definitions.sort_by_key(|page| page.head.sequence);
        for pages in self.streams.values_mut() {
            pages.sort_by_key(|page| page.head.sequence);
        }
        Ok(definitions)
    }

    /// A slot, if it is whole.
    fn page(&self, slot: u64, bytes: u64) -> io::Result<Option<Page>> {
        let at = slot * SLOT_BYTES as u64;
        let mut head = [0; HEAD_WORDS];
        if at + (HEAD_WORDS * 8) as u64 > bytes {
            return Ok(None);
        }
        read_words(&self.file, at, &mut head)?;
        let Some(head) = SlotHead::read(&head) else {
            return Ok(None);
        };
        let end = at + ((HEAD_WORDS + head.used) * 8) as u64;
        if end + 8 > bytes {
            return Ok(None);
        }
        let mut last = [0];
        read_words(&self.file, end, &mut last)?;
        Ok(head.ends_with(last[0]).then_some(Page { slot, head }))
    }

    fn payload(&self, page: &Page, words: &mut Vec<u64>) -> io::Result<()> {
        let from = words.len();
        words.resize(from + page.head.used, 0);
        let at = page.slot * SLOT_BYTES as u64 + (HEAD_WORDS * 8) as u64;
        read_words(&self.file, at, &mut words[from..])
    }

    fn define(&mut self, pages: Vec<Page>) -> io::Result<()> {
        let mut words = Vec::new();
        for page in pages {
            self.payload(&page, &mut words)?;
        }
        let mut rest = words.as_slice();
        while let Some((definition, used)) = Definition::read(rest) {
            rest = &rest[used..];
            match definition {
                Definition::Region(number, text) => {
                    put(&mut self.regions, number, Descriptor::parse(&text).ok());
                }
                Definition::Path(number, parent, member) => {
                    let parent = parent.and_then(|parent| self.paths.get(parent as usize));
                    let mut path = parent.cloned().unwrap_or_default();
                    path.push(member);
                    put(&mut self.paths, number, path);
                }
                Definition::Fact(name, value) => {
                    self.facts.insert(name, value);
                }
            }
        }
        Ok(())
    }

    /// The numbers of the streams: one for each thread block of the library,
    /// which several threads may have used one after the other.
    pub fn streams(&self) -> impl Iterator<Item = u64> {
        self.streams.keys().copied()
    }

    /// How many pages of records there are.
    #[must_use]
    pub fn pages(&self) -> u64 {
        self.streams.values().map(|pages| pages.len() as u64).sum()
    }

    /// How many pages of records have been read so far, by all that reads them.
    #[must_use]
    pub fn pages_read(&self) -> u64 {
        self.pages_read.load(Ordering::Relaxed)
    }

    /// The records of a stream, from the first that is there.
    #[must_use]
    pub fn stream(&self, stream: u64) -> Stream<'_> {
        let pages = self.streams.get(&stream);
        Stream::new(self, pages.map_or(&[], Vec::as_slice))
    }

    /// Ticks to nanoseconds.
    #[must_use]
    pub fn scale(&self) -> Scale {
        match self.facts.get("clock").map(String::as_str) {
            Some("monotonic") => Scale::one(),
            _ => Scale::between(self.header.start, self.header.end),
        }
    }

    /// A time as nanoseconds since the start of measurement.
    #[must_use]
    pub fn ns(&self, ticks: u64) -> u64 {
        let since = ticks.saturating_sub(self.header.start.ticks);
        self.scale().to_ns(since)
    }

    /// The descriptor of a region.
    #[must_use]
    pub fn region(&self, number: u32) -> Option<&Descriptor> {
        self.regions.get(number as usize)?.as_ref()
    }

    /// A thread's path as it is written: `0->3->2`; `?` if it is not known.
    #[must_use]
    pub fn thread(&self, path: Option<u32>) -> String {
        let path = path.and_then(|path| self.paths.get(path as usize));
        let Some(path) = path.filter(|path| !path.is_empty()) else {
            return "?".to_owned();
        };
        let numbers: Vec<String> = path.iter().map(u32::to_string).collect();
        numbers.join("->")
    }

    fn failed(&self, source: io::Error) -> ReadError {
        ReadError::Io {
            path: self.path.clone(),
            source,
        }
    }
}

fn put<T: Default>(items: &mut Vec<T>, number: u32, item: T) {
    let number = number as usize;
    if items.len() <= number {
        items.resize_with(number + 1, T::default);
    }
    items[number] = item;
}

fn read_words(file: &File, at: u64, words: &mut [u64]) -> io::Result<()> {
    let mut bytes = vec![0; words.len() * 8];
    file.read_exact_at(&mut bytes, at)?;
    let (read, _) = bytes.as_chunks::<8>();
    for (word, bytes) in words.iter_mut().zip(read) {
        *word = u64::from_le_bytes(*bytes);
    }
    Ok(())
}
