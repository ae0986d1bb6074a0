//! Traces: read, replayed, analysed and exported, whatever their bytes are.
//!
//! An input is a trace without its holes: the header, then slots, each as long as its
//! head says it is used. So mutations hit bytes that are read. In some variants the checks of
//! the slots, the magic word and the length are corrected, so that the readers accept the
//! slots and get to their contents.

use std::io::{self, Write};
use std::path::Path;
use std::sync::OnceLock;

use trace::analysis::{iterations, periods, waits};
use trace::check::check;
use trace::export;
use trace::layout::{
    HEAD_WORDS, HEADER_WORDS, Header, MAGIC, PAYLOAD_WORDS, SLOT_BYTES, SlotHead, SlotKind, VERSION,
};
use trace::read::{ReadError, Trace};
use trace::record::{Op, Record};
use trace::replay::{Event, Listener, Open, path, replay_merged};
use trace::stats::stats;

use super::pool;
use crate::memory::taken;
use crate::random::Random;

/// Variant 0 leaves the bytes as they are; the others correct their checks.
pub const VARIANTS: u64 = 4;

/// Bytes of memory that a trace may take in addition to those for each byte of the file.
/// Pictures of loops and stacks need them.
const LEAST: u64 = 64 << 20;
/// Bytes of memory for each byte of the file.
const EACH: u64 = 200;

/// Reads a trace and does all with it that can be done.
///
/// # Panics
/// If something is not as it must be.
pub fn traces(packed: &[u8], variant: u64) {
    let mut bytes = expanded(packed);
    // Three of four inputs are corrected: those that are refused at once find little.
    if variant > 0 {
        mended(&mut bytes);
    }
    let most = LEAST + EACH * packed.len() as u64;
    let (_, memory) = taken(|| match Trace::from_bytes(Path::new("fuzz"), bytes) {
        Ok(trace) => used(&trace),
        Err(error) => assert!(!error.to_string().is_empty()),
    });
    assert!(memory <= most, "it takes {memory} bytes, more than {most}");
}

/// Everything that is done with traces, but for OTF2, whose library is not ours.
///
/// # Panics
/// If something is not as it must be.
pub fn used(trace: &Trace) {
    let works = |result: Result<(), ReadError>| assert!(result.is_ok(), "{result:?}");
    assert!(!trace.state().to_string().is_empty());
    works(check(trace).map(|found| assert!(found.described.len() as u64 <= found.faults)));
    works(stats(trace).map(drop));
    works(iterations::loops(trace).map(|loops| {
        for known in loops.values() {
            let heavy = known.heavy();
            assert!(heavy.iter().all(|heavy| heavy.first <= heavy.last));
            assert!(known.columns(64).len() <= 64);
            let values = heavy.iter().map(|heavy| known.values(heavy.last));
            assert!(values.count() <= 8);
            let cost = known.mean();
            assert!(cost.is_finite() && cost >= 0.0, "{cost}");
        }
    }));
    works(periods::periods(trace, &mut |period| {
        assert!(trace.ns(period.end) >= trace.ns(period.start) || period.end < period.start);
    }));
    works(waits::waits(trace).map(|waits| {
        for resource in waits.resources.values() {
            let pairs = resource.pairs.values();
            let counts: u64 = pairs.map(|waits| waits.count()).sum();
            assert_eq!(counts, resource.waits.count());
        }
    }));
    let mut named = Named { trace, letters: 0 };
    works(replay_merged(trace, &mut named));
    let mut nowhere = io::sink();
    let out: &mut dyn Write = &mut nowhere;
    assert!(export::chrome(trace, out).is_ok());
    assert!(export::folded(trace, out).is_ok());
    assert!(export::paraver(trace, out).is_ok());
    assert!(export::paraver_names(trace, out).is_ok());
    assert!(export::paraver_threads(trace, out).is_ok());
}

/// A listener that looks up the name of the thread and region of each event.
struct Named<'a> {
    trace: &'a Trace,
    letters: usize,
}

impl Listener for Named<'_> {
    fn event(&mut self, time: u64, open: &[Open], event: &Event) {
        self.letters += self.trace.thread(path(open)).len();
        let top = open.last().map_or(0, |top| top.region);
        self.letters += export::region(self.trace, top).len();
        self.letters += usize::from(self.trace.ns(time) > 0);
        if let Event::Chunk(chunk) = event {
            assert!(chunk.last() >= chunk.first);
        }
    }
}

/// The trace file that an input stands for, with its holes.
#[must_use]
pub fn expanded(packed: &[u8]) -> Vec<u8> {
    let header = packed.len().min(HEADER_WORDS * 8);
    let (header, mut rest) = packed.split_at(header);
    let mut bytes = header.to_vec();
    while !rest.is_empty() {
        let (slot, behind) = rest.split_at(slot_length(rest));
        // Each slot begins at a multiple of the size of slots.
        bytes.resize(bytes.len().next_multiple_of(SLOT_BYTES), 0);
        bytes.extend_from_slice(slot);
        rest = behind;
    }
    bytes
}

/// The length of the slot that these bytes begin with, as its head says it is used.
fn slot_length(bytes: &[u8]) -> usize {
    let used = word(bytes, 3).and_then(|used| usize::try_from(used).ok());
    let used = used.unwrap_or_default().min(PAYLOAD_WORDS);
    ((HEAD_WORDS + used + 1) * 8).min(bytes.len())
}

/// A trace as an input: without its holes.
#[must_use]
pub fn packed(trace: &[u8]) -> Vec<u8> {
    let mut slots = trace.chunks(SLOT_BYTES);
    let header = slots.next().unwrap_or_default();
    let mut packed = header[..header.len().min(HEADER_WORDS * 8)].to_vec();
    for slot in slots {
        packed.extend_from_slice(&slot[..slot_length(slot)]);
    }
    packed
}

/// Makes magic, version, length and the checks of all slots right.
fn mended(bytes: &mut Vec<u8>) {
    if bytes.len() < HEADER_WORDS * 8 {
        bytes.resize(HEADER_WORDS * 8, 0);
    }
    let slots: Vec<usize> = (SLOT_BYTES..bytes.len()).step_by(SLOT_BYTES).collect();
    for at in slots {
        let end = (at + SLOT_BYTES).min(bytes.len());
        let Some(head) = slot_head(&bytes[at..end]) else {
            continue;
        };
        let mut slot = Vec::new();
        let payload = (0..head.used).map(|word_at| word(&bytes[at..end], HEAD_WORDS + word_at));
        head.write(payload.map(Option::unwrap_or_default), &mut slot);
        let end = at + slot.len();
        bytes.resize(bytes.len().max(end), 0);
        bytes[at..end].copy_from_slice(&slot);
    }
    let length = bytes.len() as u64;
    let version = u64::from(VERSION) | (SLOT_BYTES as u64) << 32;
    for (at, value) in [(0, MAGIC), (1, version), (11, length)] {
        bytes[at * 8..][..8].copy_from_slice(&value.to_le_bytes());
    }
}

/// The head of a slot, whose checks may be wrong.
fn slot_head(slot: &[u8]) -> Option<SlotHead> {
    let used = usize::try_from(word(slot, 3)?).unwrap_or_default();
    Some(SlotHead {
        kind: match word(slot, 0)? {
            1 => SlotKind::Definitions,
            _ => SlotKind::Records,
        },
        stream: word(slot, 1)?,
        sequence: word(slot, 2)?,
        used: used.min(PAYLOAD_WORDS),
        base: word(slot, 4)?,
        dropped: word(slot, 5)?,
    })
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at * 8..)?.get(..8)?;
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}

/// A slot with its payload.
type Slot = (SlotHead, Vec<u64>);

/// The parts of a trace.
#[derive(Clone, Debug)]
struct Parts {
    header: Vec<u64>,
    slots: Vec<Slot>,
}

impl Parts {
    fn of(packed: &[u8]) -> Self {
        let words = |bytes: &[u8]| -> Vec<u64> {
            let all = (0..bytes.len() / 8).map(|at| word(bytes, at));
            all.map(Option::unwrap_or_default).collect()
        };
        let (header, mut rest) = packed.split_at(packed.len().min(HEADER_WORDS * 8));
        let mut slots = Vec::new();
        while let Some(head) = slot_head(rest) {
            let (slot, behind) = rest.split_at(slot_length(rest));
            let payload = words(slot).split_off(HEAD_WORDS);
            slots.push((head, payload[..head.used.min(payload.len())].to_vec()));
            rest = behind;
        }
        let header = words(header);
        Self { header, slots }
    }

    fn packed(mut self) -> Vec<u8> {
        self.header.resize(HEADER_WORDS, 0);
        let words = self.header.iter();
        let mut bytes: Vec<u8> = words.flat_map(|word| word.to_le_bytes()).collect();
        for (mut head, payload) in self.slots {
            head.used = payload.len().min(PAYLOAD_WORDS);
            head.write(payload.into_iter().take(PAYLOAD_WORDS), &mut bytes);
        }
        bytes
    }
}

/// A trace whose records, definitions and slots differ from those that a program writes.
#[must_use]
pub fn make(random: &mut Random) -> Vec<u8> {
    static SEEDS: OnceLock<Vec<Parts>> = OnceLock::new();
    let seeds = SEEDS.get_or_init(|| {
        let files = pool::files("fixtures/fuzz/trace", &[]).into_iter();
        let bytes = files.filter_map(|file| std::fs::read(file).ok());
        let header = Header::default().to_bytes();
        bytes
            .chain([header])
            .map(|bytes| Parts::of(&bytes))
            .collect()
    });
    let mut parts = random.one_of(seeds).clone();
    for _ in 0..=random.power(5) {
        change(&mut parts, random);
    }
    parts.packed()
}

fn change(parts: &mut Parts, random: &mut Random) {
    if parts.slots.is_empty() || random.once_in(20) {
        let at = 2 + random.index(10);
        if let Some(word) = parts.header.get_mut(at) {
            *word = number(*word, random);
        }
        return;
    }
    let slots = parts.slots.len();
    let (at, other) = (random.index(slots), random.index(slots));
    match random.below(24) {
        0 => drop(parts.slots.remove(at)),
        1 => parts.slots.push(parts.slots[at].clone()),
        2 => parts.slots.swap(at, other),
        3 => {
            let head = &mut parts.slots[at].0;
            let fields = [
                &mut head.stream,
                &mut head.sequence,
                &mut head.base,
                &mut head.dropped,
            ];
            let [one, two, three, four] = fields;
            let field = [one, two, three, four].into_iter().nth(random.index(4));
            if let Some(field) = field {
                *field = number(*field, random);
            }
        }
        4 => {
            let (head, _) = &mut parts.slots[at];
            head.kind = match head.kind {
                SlotKind::Definitions => SlotKind::Records,
                SlotKind::Records => SlotKind::Definitions,
            };
        }
        5 => {
            let payload = &mut parts.slots[at].1;
            let length = random.index(payload.len() + 1);
            payload.truncate(length);
        }
        _ => {
            let (head, payload) = &mut parts.slots[at];
            match head.kind {
                SlotKind::Records => change_records(payload, random),
                SlotKind::Definitions => change_words(payload, random),
            }
        }
    }
}

fn change_words(words: &mut [u64], random: &mut Random) {
    if !words.is_empty() {
        let at = random.index(words.len());
        // The lowest byte of a definition says what it is, the others have its number.
        words[at] = match random.below(3) {
            0 => words[at] & 0xff | number(words[at] >> 8, random) << 8,
            _ => number(words[at], random),
        };
    }
}

/// Leaves records out, doubles them many times, moves them, or changes their contents.
fn change_records(words: &mut Vec<u64>, random: &mut Random) {
    let mut starts = Vec::new();
    let mut at = 0;
    while let Some((_, used)) = Record::read(&words[at..]) {
        starts.push(at);
        at += used;
    }
    starts.push(at);
    if starts.len() < 2 {
        return words.push(random.number());
    }
    let from = random.index(starts.len() - 1);
    let to = (from + 1 + random.power(4) as usize).min(starts.len() - 1);
    let part = starts[from]..starts[to];
    match random.below(8) {
        0 => drop(words.drain(part)),
        1 => {
            let copy = words[part.clone()].to_vec();
            let times = 1 + random.power(10) as usize;
            let copies = copy.repeat(times.min(PAYLOAD_WORDS / copy.len()));
            words.splice(part.end..part.end, copies);
        }
        2 => {
            let moved: Vec<u64> = words.drain(part).collect();
            let to = starts[random.index(from + 1)];
            words.splice(to..to, moved);
        }
        3 => {
            let op = 1 + random.below(Op::Counter as u64 + 1);
            words[part.start] = words[part.start] & !0x1f | op;
        }
        4 => {
            let region = random.power(20) << 8;
            words[part.start] = words[part.start] & !0x0fff_ff00 | region;
        }
        5 => words[part.start] ^= random.below(8) << 5,
        _ => change_words(&mut words[part], random),
    }
}

/// Another number: an extreme one, one nearby, or any.
fn number(now: u64, random: &mut Random) -> u64 {
    match random.below(8) {
        0 => 0,
        1 => u64::MAX,
        2 => 1 << 63,
        3 => now.wrapping_add(1),
        4 => now.wrapping_sub(1),
        5 => now ^ 1 << random.below(64),
        6 => random.power(62),
        _ => u64::MAX - random.power(62),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_back() {
        let kept = pool::files("fixtures/fuzz/trace", &[]);
        let seeds = kept.iter().filter(|file| file.extension().is_none());
        let mut whole = 0;
        for file in seeds {
            let bytes = std::fs::read(file).unwrap();
            let expanded = expanded(&bytes);
            assert_eq!(packed(&expanded), bytes);
            assert_eq!(Parts::of(&bytes).packed(), bytes);
            let trace = Trace::from_bytes(file, expanded).unwrap();
            whole += u64::from(trace.is_complete());
        }
        assert!(whole > 2, "{whole}");
    }
}
