//! The file of the trace. The helper writes it while the program runs, and the thread that ends
//! measurement writes it at the end; one at a time.

use std::collections::VecDeque;
use std::env::consts::{ARCH, OS};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::SystemTime;

use profile::save::{self, SaveOptions};
use trace::clock::Pair;
use trace::layout::{
    Definition, HEADER_WORDS, Header, PAYLOAD_WORDS, SLOT_BYTES, SlotHead, SlotKind,
};
use trace::record::{Op, Record};

use super::paths;
use crate::measure::config::TraceOptions;
use crate::measure::mutex::lock;
use crate::measure::own_file::OwnFile;
use crate::measure::records::region;
use crate::measure::thread::Thread;
use crate::measure::trace_pages::{self, Page};
use crate::measure::trace_stream::ON;
use crate::measure::{clock, counters, errno, facts, message, rights};

/// Fewest slots of a file, whatever the limit: header, definitions, and pages.
const FEWEST_SLOTS: u64 = 8;

/// Most slots that are kept for definitions that come late.
const LATE_SLOTS: u64 = 16;

/// The file and what is in it.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    options: Option<(TraceOptions, SaveOptions)>,
    file: Option<(OwnFile, PathBuf)>,
    /// Set when the system refused something.
    has_failed: bool,
    start: Pair,
    start_unix_ns: u64,
    /// How much the file defines already: the number of regions and of paths, the number of slots
    /// for definitions, and whether the facts are written.
    regions: usize,
    paths: usize,
    definitions: u64,
    has_facts: bool,
    /// The next slot, and those with records, oldest first.
    next: u64,
    records: VecDeque<u64>,
    /// The slots of pages that may still get records.
    unfinished: Vec<u64>,
    replaced: u64,
    /// Events in pages that were not written.
    discarded: u64,
    bytes: Vec<u8>,
}

/// A trace that is complete.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) path: PathBuf,
    /// Events that are not in it.
    pub(crate) dropped: u64,
    /// Pages of the beginning that are not in it.
    pub(crate) replaced: u64,
}

/// The number of the file, plus one; 0 if there is none.
static NUMBER: AtomicU64 = AtomicU64::new(0);

static WRITER: Mutex<Option<Writer>> = Mutex::new(None);

/// The writer, locked.
pub(crate) fn locked() -> MutexGuard<'static, Option<Writer>> {
    lock(&WRITER)
}

/// Events are traced from now on.
pub(crate) fn prepare(options: &TraceOptions, files: SaveOptions, start: Pair) {
    trace_pages::limit(options.memory);
    *locked() = Some(Writer {
        options: Some((options.clone(), files)),
        start,
        start_unix_ns: unix_ns(),
        next: 1,
        ..Writer::default()
    });
    ON.store(true, Ordering::Relaxed);
}

/// A forked child has a trace of its own.
pub(crate) fn start_anew(writer: &mut Option<Writer>) {
    trace_pages::start_anew();
    paths::locked().clear();
    NUMBER.store(0, Ordering::Relaxed);
    if let Some(parent) = writer {
        *parent = Writer {
            options: parent.options.take(),
            start: Pair::from(clock::Pair::read()),
            start_unix_ns: unix_ns(),
            next: 1,
            ..Writer::default()
        };
    }
}

fn unix_ns() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(0))
}

/// Writes the pages that are full.
pub(crate) fn write() {
    let mut writer = locked();
    if let Some(writer) = writer.as_mut() {
        errno::keep(|| writer.write_full());
    }
}

/// Writes what these threads, which stand still, have recorded so far. It is then in the trace even
/// if the program is killed, or another program takes its place.
pub(super) fn write_unfinished(threads: &[&'static Thread]) {
    let mut writer = locked();
    let Some(writer) = writer.as_mut() else {
        return;
    };
    writer.write_full();
    // A page is not handed out again while the writer is locked.
    let pages = threads.iter().filter_map(|thread| {
        let page = thread.trace.page.get()?;
        page.close(thread.trace.used.load(Ordering::Acquire));
        Some(page)
    });
    writer.write_pages(pages);
    writer.write_header();
}

/// Writes what is left. `dropped` are the events that the threads dropped.
pub(super) fn finish(dropped: u64, start: Pair, end: Pair) -> Option<Result<Finished, String>> {
    let mut writer = locked().take()?;
    writer.write_full();
    ON.store(false, Ordering::Relaxed);
    let (file, path) = writer.file.as_ref()?;
    let not_whole = |why: String| Err(format!("the trace '{}' is not whole{why}", path.display()));
    let bytes = opened(file).and_then(|file| file.metadata());
    let bytes = bytes.map_or(0, |data| data.len());
    let header = Header {
        is_complete: true,
        bytes: bytes.max((HEADER_WORDS * 8) as u64),
        start,
        end,
        dropped: dropped + writer.discarded,
        ..writer.header(end)
    };
    Some(
        match opened(file).and_then(|file| file.write_all_at(&header.to_bytes(), 0)) {
            Ok(()) if !writer.has_failed => Ok(Finished {
                path: path.clone(),
                dropped: header.dropped,
                replaced: writer.replaced,
            }),
            Ok(()) => not_whole(String::new()),
            Err(error) => not_whole(format!(": {error}")),
        },
    )
}

/// The number of the trace's file, which the profile is to have too. The file
/// is made if need be.
pub(crate) fn number() -> Option<u64> {
    if let Some(writer) = locked().as_mut() {
        // An error is reported when there is something to write.
        let _ = writer.create();
    }
    NUMBER.load(Ordering::Relaxed).checked_sub(1)
}

fn opened(file: &OwnFile) -> io::Result<&File> {
    file.get()
        .ok_or_else(|| io::Error::other("the program has closed its file"))
}

impl Writer {
    fn write_full(&mut self) {
        for page in trace_pages::take_full() {
            let is_written = self.write_pages([page]);
            if !is_written {
                self.discarded += events(page);
            }
            self.unfinished.retain(|slot| Some(*slot) != page.slot());
            page.give_back();
        }
        self.write_header();
    }

    /// Whether there is room for all of them.
    fn write_pages(&mut self, pages: impl IntoIterator<Item = &'static Page>) -> bool {
        let mut is_written = true;
        for page in pages {
            is_written &= !self.has_failed
                && self.write_page(page).unwrap_or_else(|error| {
                    self.has_failed = true;
                    message::say(&format!("the trace ends here: {error}"));
                    false
                });
        }
        is_written
    }

    fn write_header(&self) {
        if let Some((file, _)) = &self.file {
            let header = self.header(Pair::from(clock::Pair::read()));
            // Pages that cannot be written now are written at the end.
            let _ = opened(file).and_then(|file| file.write_all_at(&header.to_bytes(), 0));
        }
    }

    fn header(&self, end: Pair) -> Header {
        Header {
            is_complete: false,
            start: self.start,
            end,
            start_unix_ns: self.start_unix_ns,
            pid: std::process::id(),
            dropped: self.discarded,
            replaced: self.replaced,
            bytes: 0,
        }
    }

    /// Writes a page to the slot that it has already, or to one that it gets now. False if there is
    /// none.
    fn write_page(&mut self, page: &'static Page) -> io::Result<bool> {
        self.create()?;
        self.define()?;
        let Some(slot) = page.slot().or_else(|| self.slot_for_records()) else {
            return Ok(false);
        };
        self.bytes.clear();
        page.head().write(page.payload(), &mut self.bytes);
        self.put(slot)?;
        if page.slot().is_none() {
            page.set_slot(slot);
            self.records.push_back(slot);
            self.unfinished.push(slot);
        }
        Ok(true)
    }

    /// A slot for a page: a new one, or the oldest.
    fn slot_for_records(&mut self) -> Option<u64> {
        let (options, _) = self.options.as_ref()?;
        let most = (options.limit / SLOT_BYTES as u64).max(FEWEST_SLOTS);
        // The definitions to which the last pages refer must still have room.
        let most = most - (most / 8).min(LATE_SLOTS);
        if self.next < most {
            self.next += 1;
            return Some(self.next - 1);
        }
        let is_finished = |slot: &u64| !self.unfinished.contains(slot);
        let oldest = self.records.iter().position(is_finished);
        let oldest = self
            .records
            .remove(oldest.filter(|_| options.keeps_last)?)?;
        self.replaced += 1;
        Some(oldest)
    }

    fn create(&mut self) -> io::Result<()> {
        if self.file.is_none() {
            let Some((_, files)) = &self.options else {
                return Ok(());
            };
            if let Some(why) = rights::withheld() {
                return Err(io::Error::other(why));
            }
            let (file, path, number) = save::reserve_trace(files)?;
            // With the header the file is a trace, however the program ends.
            let header = self.header(self.start);
            file.write_all_at(&header.to_bytes(), 0).inspect_err(|_| {
                let _ = std::fs::remove_file(&path);
            })?;
            NUMBER.store(number + 1, Ordering::Relaxed);
            self.file = Some((OwnFile::new(file), path));
        }
        Ok(())
    }

    /// Writes the definitions to which pages may refer and which the file does not have.
    fn define(&mut self) -> io::Result<()> {
        let mut words = Vec::new();
        if !std::mem::replace(&mut self.has_facts, true) {
            self.facts().iter().for_each(|fact| fact.write(&mut words));
        }
        let regions = region::all();
        for region in regions.iter().skip(self.regions) {
            Definition::Region(region.number, region.descriptor.to_text()).write(&mut words);
        }
        self.regions = regions.len();
        let paths = paths::locked();
        let known = u32::try_from(self.paths).unwrap_or(u32::MAX);
        let new = paths.since(self.paths);
        for (number, (parent, member)) in (known..).zip(new) {
            Definition::Path(number, *parent, *member).write(&mut words);
        }
        self.paths += new.len();
        drop(paths);
        for part in words.chunks(PAYLOAD_WORDS) {
            let head = SlotHead {
                kind: SlotKind::Definitions,
                stream: 0,
                sequence: self.definitions,
                used: part.len(),
                base: 0,
                dropped: 0,
            };
            self.bytes.clear();
            head.write(part.iter().copied(), &mut self.bytes);
            self.put(self.next)?;
            self.next += 1;
            self.definitions += 1;
        }
        Ok(())
    }

    fn facts(&self) -> Vec<Definition> {
        let fact = |name: &str, value: &str| Definition::Fact(name.to_owned(), value.to_owned());
        let files = self.options.as_ref().map(|(_, files)| files);
        let application = files.map_or("", |files| &files.application);
        let rank = files.and_then(|files| files.rank);
        let mut facts = vec![
            fact("application", application),
            fact("clock", clock::name()),
            fact("host", &facts::host()),
            fact("system", &format!("{OS} {ARCH}")),
            fact("romp", env!("CARGO_PKG_VERSION")),
        ];
        facts.extend(rank.map(|rank| fact("rank", &rank.to_string())));
        let counters = counters::names();
        if !counters.is_empty() {
            facts.push(fact("counters", &counters.join(",")));
        }
        facts
    }

    fn put(&self, slot: u64) -> io::Result<()> {
        match &self.file {
            Some((file, _)) => opened(file)?.write_all_at(&self.bytes, slot * SLOT_BYTES as u64),
            None => Ok(()),
        }
    }
}

/// How many events a page holds, those that say what is open left out.
fn events(page: &Page) -> u64 {
    let words: Vec<u64> = page.payload().collect();
    let mut rest = words.as_slice();
    let mut events = 0;
    while let Some((record, used)) = Record::read(rest) {
        events += u64::from(!matches!(record.op, Op::Open | Op::Time));
        rest = &rest[used..];
    }
    events
}
