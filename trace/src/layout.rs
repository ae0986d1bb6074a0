//! A file: a header, then slots of one size, each of them definitions or the
//! records of one thread.
//!
//! ```text
//! slot 0     header        16 words, see `Header`
//! slot 1..   kind, stream, sequence, used, base, dropped, 0, check   8 words
//!            payload                                                 `used` words
//!            !check                                                  1 word
//! ```
//!
//! All words are little-endian and 64 bits wide. A slot whose last word does not match was being
//! written when the program was killed, and is passed over. So nothing that is written later can
//! harm earlier slots. The unused rest of a slot is not written: files are sparse.

use crate::clock::Pair;

/// The first word of a file: `ROMPTRC` and a zero byte.
pub const MAGIC: u64 = u64::from_le_bytes(*b"ROMPTRC\0");
/// Raised when readers must change. Version 1 had no record of dependences, version 2 no
/// constructs of regions.
pub const VERSION: u32 = 3;
/// Bytes of a slot.
pub const SLOT_BYTES: usize = 1 << 16;
/// Words of a slot's head.
pub const HEAD_WORDS: usize = 8;
/// Most words of payload: the slot without its head and its last word.
pub const PAYLOAD_WORDS: usize = SLOT_BYTES / 8 - HEAD_WORDS - 1;
/// Words of the header.
pub const HEADER_WORDS: usize = 16;
/// Where the header has the length of the file, in bytes.
pub const HEADER_BYTES_AT: u64 = 11 * 8;

/// The contents of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum SlotKind {
    /// Words of definitions, a stream of their own.
    Definitions = 1,
    /// Records of one thread: a page.
    Records = 2,
}

/// The facts about the whole file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Whether the program ended measurement itself.
    pub is_complete: bool,
    /// Both clocks when measurement began.
    pub start: Pair,
    /// Both clocks when it ended, or when the header was last written.
    pub end: Pair,
    /// Start of measurement in nanoseconds since 1970.
    pub start_unix_ns: u64,
    /// Process id.
    pub pid: u32,
    /// Events that were not recorded, for want of pages, or because the file
    /// was full.
    pub dropped: u64,
    /// Pages of records that were replaced by later ones.
    pub replaced: u64,
    /// Bytes of the whole file when measurement ended: a file that is shorter was cut.
    /// 0 before.
    pub bytes: u64,
}

impl Header {
    /// The header as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut words = [0; HEADER_WORDS];
        words[0] = MAGIC;
        words[1] = u64::from(VERSION) | (SLOT_BYTES as u64) << 32;
        words[2] = u64::from(self.is_complete);
        words[3] = self.start.ticks;
        words[4] = self.start.ns;
        words[5] = self.end.ticks;
        words[6] = self.end.ns;
        words[7] = self.start_unix_ns;
        words[8] = u64::from(self.pid);
        words[9] = self.dropped;
        words[10] = self.replaced;
        words[11] = self.bytes;
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// Reads a header.
    ///
    /// # Errors
    /// Returns what is wrong, if this version cannot read a file with this header.
    pub fn read(words: &[u64; HEADER_WORDS]) -> Result<Self, String> {
        if words[0] != MAGIC {
            return Err("it is not a Romp trace".to_owned());
        }
        let (version, slot) = (words[1] as u32, words[1] >> 32);
        if !(1..=VERSION).contains(&version) || slot != SLOT_BYTES as u64 {
            return Err(format!(
                "it has version {version} of the format; this reader knows versions 1 to {VERSION}"
            ));
        }
        Ok(Self {
            is_complete: words[2] == 1,
            start: Pair {
                ticks: words[3],
                ns: words[4],
            },
            end: Pair {
                ticks: words[5],
                ns: words[6],
            },
            start_unix_ns: words[7],
            pid: words[8] as u32,
            dropped: words[9],
            replaced: words[10],
            bytes: words[11],
        })
    }
}

/// The head of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotHead {
    /// Its contents.
    pub kind: SlotKind,
    /// Of records: which thread's.
    pub stream: u64,
    /// Number of the slot in its stream, from 0.
    pub sequence: u64,
    /// Words of payload.
    pub used: usize,
    /// Of records: the time that the first one counts from, in ticks.
    pub base: u64,
    /// Of records: events of this thread that were not recorded so far.
    pub dropped: u64,
}

impl SlotHead {
    fn words(&self) -> [u64; HEAD_WORDS] {
        let words = [
            self.kind as u64,
            self.stream,
            self.sequence,
            self.used as u64,
            self.base,
            self.dropped,
            0,
        ];
        let mut head = [0; HEAD_WORDS];
        head[..words.len()].copy_from_slice(&words);
        head[HEAD_WORDS - 1] = check(&words);
        head
    }

    /// The slot as bytes, up to its last word. `payload` has `used` words.
    pub fn write(&self, payload: impl IntoIterator<Item = u64>, bytes: &mut Vec<u8>) {
        let head = self.words();
        let words = head.into_iter().chain(payload);
        for word in words.chain([!head[HEAD_WORDS - 1]]) {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
    }

    /// Reads the head of a slot; none if the words are no head. The word after the payload shows
    /// whether the slot is whole, see [`Self::ends_with`].
    #[must_use]
    pub fn read(words: &[u64; HEAD_WORDS]) -> Option<Self> {
        let (fields, last) = words.split_at(HEAD_WORDS - 1);
        let kind = match words[0] {
            1 => SlotKind::Definitions,
            2 => SlotKind::Records,
            _ => return None,
        };
        let used = usize::try_from(words[3]).ok()?;
        (last == [check(fields)] && used <= PAYLOAD_WORDS).then_some(Self {
            kind,
            stream: words[1],
            sequence: words[2],
            used,
            base: words[4],
            dropped: words[5],
        })
    }

    /// Whether this is the word that must come after the payload.
    #[must_use]
    pub fn ends_with(&self, word: u64) -> bool {
        word == !self.words()[HEAD_WORDS - 1]
    }
}

/// A number that no other head is likely to have (FNV-1a over words).
fn check(words: &[u64]) -> u64 {
    words.iter().fold(0xcbf2_9ce4_8422_2325, |hash, word| {
        (hash ^ word).wrapping_mul(0x100_0000_01b3).rotate_left(23)
    })
}

/// A definition, to which records refer by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Definition {
    /// A region: its number and its descriptor.
    Region(u32, String),
    /// The path of a thread: its number, the path of the thread that forked its
    /// team (none for initial threads), and its number in the team.
    Path(u32, Option<u32>, u32),
    /// A fact about the run: its name and its value.
    Fact(String, String),
    /// The construct in the source of a region that was known by its machine code while the program ran:
    /// its number, its part in this construct, and its descriptor.
    Construct(u32, Meaning, String),
}

/// The meaning of a region's events for the construct of the source that the region belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Meaning {
    /// The construct itself.
    #[default]
    Itself = 0,
    /// The worksharing of a combined parallel region, or the loop in the group that the runtime
    /// opened around it: the region around it contains its time.
    PartOfItsParallel = 1,
    /// The barrier at the end of the construct.
    Barrier = 2,
    /// No construct: what is inside belongs to the region around it.
    Nothing = 3,
}

impl Meaning {
    const ALL: [Self; 4] = [
        Self::Itself,
        Self::PartOfItsParallel,
        Self::Barrier,
        Self::Nothing,
    ];

    fn read(number: u64) -> Option<Self> {
        Self::ALL.get(usize::try_from(number).ok()?).copied()
    }
}

impl Definition {
    /// Appends its words.
    pub fn write(&self, words: &mut Vec<u64>) {
        match self {
            Self::Region(number, text) => {
                words.extend([1 | u64::from(*number) << 8, text.len() as u64]);
                write_text(text, words);
            }
            Self::Path(number, parent, member) => {
                let parent = parent.map_or(0, |parent| u64::from(parent) + 1);
                words.extend([2 | u64::from(*number) << 8, parent, u64::from(*member)]);
            }
            Self::Fact(name, value) => {
                words.extend([3 | (name.len() as u64) << 8, value.len() as u64]);
                write_text(name, words);
                write_text(value, words);
            }
            Self::Construct(number, meaning, text) => {
                let head = 4 | u64::from(*number) << 8;
                words.extend([head, text.len() as u64, *meaning as u64]);
                write_text(text, words);
            }
        }
    }

    /// Reads the first definition of some words. Returns it with the number of words that it
    /// takes.
    #[must_use]
    pub fn read(words: &[u64]) -> Option<(Self, usize)> {
        let (head, rest) = words.split_first()?;
        let (second, rest) = rest.split_first()?;
        let number = u32::try_from(head >> 8).ok()?;
        let length = || usize::try_from(*second).ok();
        match head & 0xff {
            1 => {
                let (text, used) = read_text(rest, length()?)?;
                Some((Self::Region(number, text), 2 + used))
            }
            2 => {
                let parent = match second.checked_sub(1) {
                    Some(parent) => Some(u32::try_from(parent).ok()?),
                    None => None,
                };
                let member = u32::try_from(*rest.first()?).ok()?;
                Some((Self::Path(number, parent, member), 3))
            }
            3 => {
                let (name, used) = read_text(rest, number as usize)?;
                let (value, more) = read_text(&rest[used..], length()?)?;
                Some((Self::Fact(name, value), 2 + used + more))
            }
            4 => {
                let (meaning, rest) = rest.split_first()?;
                let meaning = Meaning::read(*meaning)?;
                let (text, used) = read_text(rest, length()?)?;
                Some((Self::Construct(number, meaning, text), 3 + used))
            }
            _ => None,
        }
    }
}

/// Eight bytes a word, the last one filled up with zeros.
fn write_text(text: &str, words: &mut Vec<u64>) {
    for part in text.as_bytes().chunks(8) {
        let mut word = [0; 8];
        word[..part.len()].copy_from_slice(part);
        words.push(u64::from_le_bytes(word));
    }
}

fn read_text(words: &[u64], bytes: usize) -> Option<(String, usize)> {
    let used = bytes.div_ceil(8);
    let given = words.get(..used)?;
    let mut text: Vec<u8> = given.iter().flat_map(|word| word.to_le_bytes()).collect();
    text.truncate(bytes);
    Some((String::from_utf8_lossy(&text).into_owned(), used))
}

/// A label: the thread's stream in the high bits, and a number of the thread's own in the low
/// bits. It is unique in a file, although no thread asks another.
#[inline(always)]
#[must_use]
pub const fn label(stream: u64, number: u64) -> u64 {
    stream << 40 | number & ((1 << 40) - 1)
}

/// The stream and the number of a label.
#[must_use]
pub const fn label_parts(label: u64) -> (u64, u64) {
    (label >> 40, label & ((1 << 40) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(bytes: &[u8]) -> Vec<u64> {
        let words = bytes.chunks(8);
        words
            .map(|word| u64::from_le_bytes(word.try_into().unwrap()))
            .collect()
    }

    #[test]
    fn a_header_comes_back_and_other_files_are_refused() {
        let header = Header {
            is_complete: true,
            start: Pair { ticks: 1, ns: 2 },
            end: Pair { ticks: 3, ns: 4 },
            start_unix_ns: 5,
            pid: 6,
            dropped: 7,
            replaced: 8,
            bytes: 9,
        };
        let mut read = <[u64; HEADER_WORDS]>::try_from(words(&header.to_bytes())).unwrap();
        assert_eq!(Header::read(&read), Ok(header));
        read[1] -= 1;
        assert_eq!(Header::read(&read), Ok(header));
        read[1] += 2;
        assert!(Header::read(&read).unwrap_err().contains("version 4"));
        read[0] = 0;
        assert!(Header::read(&read).is_err());
    }

    #[test]
    fn a_slot_that_is_not_whole_is_noticed() {
        let head = SlotHead {
            kind: SlotKind::Records,
            stream: 3,
            sequence: 9,
            used: 2,
            base: 100,
            dropped: 1,
        };
        let mut bytes = Vec::new();
        head.write([7, 8], &mut bytes);
        let slot = words(&bytes);
        let read: &[u64; HEAD_WORDS] = slot[..HEAD_WORDS].try_into().unwrap();
        assert_eq!(SlotHead::read(read), Some(head));
        assert_eq!(slot.len(), HEAD_WORDS + 3);
        assert!(head.ends_with(slot[HEAD_WORDS + 2]));
        let later = SlotHead {
            sequence: 10,
            ..head
        };
        assert!(!later.ends_with(slot[HEAD_WORDS + 2]));
        let mut torn = *read;
        torn[4] += 1;
        assert_eq!(SlotHead::read(&torn), None);
    }

    #[test]
    fn definitions_come_back() {
        let all = [
            Definition::Region(7, "12*regionType=for**".to_owned()),
            Definition::Path(0, None, 0),
            Definition::Path(1, Some(0), 3),
            Definition::Fact("application".to_owned(), String::new()),
            Definition::Construct(7, Meaning::Barrier, "12*regionType=for**".to_owned()),
        ];
        let mut written = Vec::new();
        all.iter()
            .for_each(|definition| definition.write(&mut written));
        let mut at = 0;
        for definition in all {
            let (read, used) = Definition::read(&written[at..]).unwrap();
            assert_eq!(read, definition);
            at += used;
        }
        assert_eq!(at, written.len());
        assert_eq!(Definition::read(&written[..3]), None);
    }
}
