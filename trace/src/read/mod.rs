//! Reading a trace: what it defines, and the records of each thread.

mod definitions;
mod source;
mod state;
mod stream;

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use profile::descriptor::Descriptor;

use self::definitions::Definitions;
use self::source::Source;
use crate::clock::Scale;
use crate::layout::{
    HEAD_WORDS, HEADER_WORDS, Header, MAGIC, Meaning, SLOT_BYTES, SlotHead, SlotKind,
};
pub(crate) use definitions::printable;
pub use state::State;
pub use stream::{Stream, StreamElement};

/// After this many invalid slots in a row, the rest of the file is not looked at: it may be a hole
/// of any size.
const LARGEST_GAP: u64 = 1 << 12;

/// Why a trace cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The system refuses.
    #[error("cannot read '{}': {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Nothing was written but the file's beginning.
    #[error(
        "'{}' ends before its first event ({bytes} bytes): the program was killed or replaced \
         itself by exec before anything was written, or the file was cut; run the program to its \
         end, or copy the file again",
        path.display()
    )]
    Nothing {
        /// The file.
        path: PathBuf,
        /// Its length.
        bytes: u64,
    },
    /// The file is no trace, or one that this version cannot read.
    #[error(
        "'{}' cannot be read: {why}; give the *.romp.trace file that a program leaves which runs \
         with ROMP_TRACE=on",
        path.display()
    )]
    Format {
        /// The file.
        path: PathBuf,
        /// The reason.
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
    source: Source,
    /// The facts about the whole file.
    pub header: Header,
    definitions: Definitions,
    defined_pages: u64,
    scale: Scale,
    torn: u64,
    streams: BTreeMap<u64, Vec<Page>>,
    pages_read: AtomicU64,
}

impl Trace {
    /// Opens a trace. Reads the heads of its slots, and what it defines.
    ///
    /// # Errors
    /// If it cannot be read or is no trace.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let io = |source| failed(path, source);
        let file = File::open(path).map_err(io)?;
        let data = file.metadata().map_err(io)?;
        if data.is_dir() {
            return Err(failed(path, io::ErrorKind::IsADirectory.into()));
        }
        let bytes = data.len();
        Self::new(path, Source::File { file, bytes })
    }

    /// Reads a trace that is in memory; messages give it this name.
    ///
    /// # Errors
    /// If it is no trace.
    pub fn from_bytes(name: &Path, bytes: Vec<u8>) -> Result<Self, ReadError> {
        Self::new(name, Source::Memory(bytes))
    }

    fn new(path: &Path, source: Source) -> Result<Self, ReadError> {
        let io = |source| failed(path, source);
        let header = header(path, &source)?;
        let mut trace = Self {
            path: path.to_owned(),
            source,
            header,
            definitions: Definitions::default(),
            defined_pages: 0,
            scale: Scale::between(header.start, header.end),
            torn: 0,
            streams: BTreeMap::new(),
            pages_read: AtomicU64::new(0),
        };
        let definitions = trace.index().map_err(io)?;
        trace.define(&definitions).map_err(io)?;
        Ok(trace)
    }

    /// Finds all slots; gives those of the definitions.
    fn index(&mut self) -> io::Result<Vec<Page>> {
        let mut definitions = Vec::new();
        let slots = self.source.bytes().div_ceil(SLOT_BYTES as u64);
        let mut gap = 0;
        for slot in 1..slots {
            let Some(page) = self.page(slot)? else {
                self.torn += 1;
                gap += 1;
                if gap == LARGEST_GAP {
                    self.torn += slots - slot - 1;
                    break;
                }
                continue;
            };
            gap = 0;
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
    fn page(&self, slot: u64) -> io::Result<Option<Page>> {
        let at = slot * SLOT_BYTES as u64;
        let mut head = [0; HEAD_WORDS];
        if !self.source.has(at, HEAD_WORDS) {
            return Ok(None);
        }
        self.source.read(at, &mut head)?;
        let Some(head) = SlotHead::read(&head) else {
            return Ok(None);
        };
        if !self.source.has(at, HEAD_WORDS + head.used + 1) {
            return Ok(None);
        }
        let mut last = [0];
        let end = at + ((HEAD_WORDS + head.used) * 8) as u64;
        self.source.read(end, &mut last)?;
        Ok(head.ends_with(last[0]).then_some(Page { slot, head }))
    }

    fn payload(&self, page: &Page, words: &mut Vec<u64>) -> io::Result<()> {
        let from = words.len();
        words.resize(from + page.head.used, 0);
        let at = page.slot * SLOT_BYTES as u64 + (HEAD_WORDS * 8) as u64;
        self.source.read(at, &mut words[from..])
    }

    /// Reads the definitions up to the first page that is missing.
    fn define(&mut self, pages: &[Page]) -> io::Result<()> {
        let mut words = Vec::new();
        let numbered = pages.iter().zip(0..);
        let known = numbered.take_while(|(page, number)| page.head.sequence == *number);
        for (page, _) in known {
            self.payload(page, &mut words)?;
        }
        self.definitions = Definitions::read(&words);
        self.defined_pages = pages.len() as u64;
        let words: usize = pages.iter().map(|page| page.head.used).sum::<usize>() - words.len();
        self.definitions.unread += words as u64;
        if self.facts().get("clock").map(String::as_str) == Some("monotonic") {
            self.scale = Scale::one();
        }
        Ok(())
    }

    /// The name of its file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many bytes it has.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.source.bytes()
    }

    /// Invalid pages: they were being written when the program was killed, or the file was
    /// changed.
    #[must_use]
    pub fn torn(&self) -> u64 {
        self.torn
    }

    /// The names of the counters that it has, by number.
    pub fn counters(&self) -> impl Iterator<Item = &str> {
        let names = self.facts().get("counters").map(String::as_str);
        names.unwrap_or_default().split_terminator(',')
    }

    /// Facts about the run.
    #[must_use]
    pub fn facts(&self) -> &BTreeMap<String, String> {
        &self.definitions.facts
    }

    /// The rank of its process in an MPI program, if it has one.
    #[must_use]
    pub fn rank(&self) -> Option<u32> {
        self.facts().get("rank")?.parse().ok()
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
        self.scale
    }

    /// Ticks in nanoseconds; fractions of a tick count, too, as in a mean.
    #[must_use]
    pub fn ns_of_parts(&self, ticks: f64) -> f64 {
        // A long span, so that the scale is not lost in whole ticks.
        const LONG: u64 = 1 << 40;
        ticks * self.scale.to_ns(LONG) as f64 / LONG as f64
    }

    /// A time as nanoseconds since the start of measurement.
    #[must_use]
    pub fn ns(&self, ticks: u64) -> u64 {
        let since = ticks.saturating_sub(self.header.start.ticks);
        self.scale.to_ns(since)
    }

    /// The regions, by number; none where a descriptor cannot be read.
    pub fn regions(&self) -> impl Iterator<Item = Option<&Descriptor>> {
        self.definitions.regions.iter().map(Option::as_ref)
    }

    /// The descriptor of a region.
    #[must_use]
    pub fn region(&self, number: u32) -> Option<&Descriptor> {
        self.definitions.regions.get(number as usize)?.as_ref()
    }

    /// The meaning of a region's events for its construct.
    #[must_use]
    pub fn meaning(&self, region: u32) -> Meaning {
        let meanings = &self.definitions.meanings;
        meanings.get(&region).copied().unwrap_or_default()
    }

    /// Whether there are regions that are parts of other constructs, or none.
    pub(crate) fn has_parts(&self) -> bool {
        let mut meanings = self.definitions.meanings.values();
        meanings.any(|meaning| *meaning != Meaning::Itself)
    }

    /// How many regions are only known by their machine code.
    #[must_use]
    pub fn unplaced(&self) -> usize {
        let regions = (0u32..).zip(self.regions());
        let unplaced = regions.filter(|(number, region)| {
            !self.definitions.meanings.contains_key(number)
                && region.is_some_and(|region| region.code.is_some())
        });
        unplaced.count()
    }

    /// How many pages of definitions there are.
    pub(crate) fn defined_pages(&self) -> u64 {
        self.defined_pages
    }

    /// How many threads there are: paths, by which threads are named.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.definitions.paths()
    }

    /// The path of a thread, from the initial thread down.
    #[must_use]
    pub fn thread_path(&self, path: u32) -> Option<Vec<u32>> {
        self.definitions.path(path)
    }

    /// The number of the path of the thread that forked a thread's team, if it is in one,
    /// and the thread's number there.
    #[must_use]
    pub fn forked_by(&self, path: u32) -> Option<(Option<u32>, u32)> {
        self.definitions.step(path)
    }

    /// A thread's path as it is written: `0->3->2`; `?` if it is not known.
    #[must_use]
    pub fn thread(&self, path: Option<u32>) -> String {
        let Some(path) = path.and_then(|path| self.thread_path(path)) else {
            return "?".to_owned();
        };
        let numbers: Vec<String> = path.iter().map(u32::to_string).collect();
        numbers.join("->")
    }
}

/// The header, or why the file has none.
fn header(path: &Path, source: &Source) -> Result<Header, ReadError> {
    let path = || path.to_owned();
    let mut bytes = [0; HEADER_WORDS * 8];
    let given = bytes.len().min(source.bytes() as usize);
    let read = source.read_bytes(0, &mut bytes[..given]);
    read.map_err(|source| failed(&path(), source))?;
    let magic = MAGIC.to_le_bytes();
    let common = given.min(magic.len());
    if given < bytes.len() && bytes[..common] == magic[..common] {
        return Err(ReadError::Nothing {
            path: path(),
            bytes: source.bytes(),
        });
    }
    let (words, _) = bytes.as_chunks::<8>();
    let mut header = [0; HEADER_WORDS];
    for (word, bytes) in header.iter_mut().zip(words) {
        *word = u64::from_le_bytes(*bytes);
    }
    Header::read(&header).map_err(|why| ReadError::Format { path: path(), why })
}

fn failed(path: &Path, source: io::Error) -> ReadError {
    ReadError::Io {
        path: path.to_owned(),
        source,
    }
}
