//! Makes inputs: from structure, from seeds, and by mutation of both. The same seed
//! and number give the same input.

use std::path::{Path, PathBuf};

use super::Target;
use crate::random::Random;

/// What inputs are made from.
#[derive(Debug)]
pub struct Pool {
    target: &'static Target,
    seeds: Vec<Vec<u8>>,
    words: Vec<Vec<u8>>,
}

/// One input and the way in which it is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Any bytes.
    pub bytes: Vec<u8>,
    /// A number below the target's variants.
    pub variant: u64,
}

/// How large an input gets. Numbers are chosen up to two to the power of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Size {
    /// The number of mutations.
    mutations: u64,
    /// The bytes taken of a seed.
    window: u64,
    /// How often a part is repeated.
    repeats: u64,
}

/// Most failures show in small inputs too, which are checked many times as fast.
const SMALL: Size = Size {
    mutations: 4,
    window: 9,
    repeats: 3,
};
/// Inputs that take too long or nest too deeply have to be larger.
const LARGE: Size = Size {
    mutations: 5,
    window: 12,
    repeats: 8,
};
/// How many small inputs there are for each large one.
const SMALL_TO_ONE_LARGE: u64 = 20;

/// Inputs are cut to this number of bytes.
const LONGEST: usize = 1 << 17;

/// The files of a target's folder in `fixtures/fuzz`, sorted; none if there is no such folder.
#[must_use]
pub fn kept(target: &Target) -> Vec<PathBuf> {
    files(&format!("fixtures/fuzz/{}", target.name), &[])
}

/// The files of a folder, from the root of the repository, sorted.
#[must_use]
pub fn files(folder: &str, extensions: &[&str]) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let entries = std::fs::read_dir(root.join(folder)).into_iter().flatten();
    let wanted = |path: &PathBuf| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        path.is_file()
            && (extensions.is_empty() || extension.is_some_and(|e| extensions.contains(&e)))
    };
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(wanted)
        .collect();
    files.sort();
    files
}

impl Pool {
    /// Reads the target's seeds.
    #[must_use]
    pub fn new(target: &'static Target) -> Self {
        let folders = target.seeds.iter();
        let others = folders.flat_map(|seeds| files(seeds.folder, seeds.extensions));
        let all = kept(target).into_iter().chain(others);
        let mut seeds: Vec<Vec<u8>> = all.filter_map(|path| std::fs::read(path).ok()).collect();
        seeds.retain(|seed| !seed.is_empty());
        if seeds.is_empty() {
            seeds.push(b"\n".to_vec());
        }
        let mut words = (target.words)();
        words.push(b"\n".to_vec());
        Self {
            target,
            seeds,
            words,
        }
    }

    /// The input of a seed and a number.
    #[must_use]
    pub fn input(&self, seed: u64, number: u64) -> Input {
        let mut random = Random::new(Random::new(seed).number() ^ number);
        let size = match random.once_in(SMALL_TO_ONE_LARGE) {
            true => LARGE,
            false => SMALL,
        };
        let mut bytes = self.base(size, &mut random);
        // The number may be 0: some inputs stay as they were made.
        let mutations = random.power(size.mutations);
        for _ in 0..mutations {
            self.mutate(size, &mut bytes, &mut random);
            bytes.truncate(LONGEST);
        }
        Input {
            bytes,
            variant: random.below(self.target.variants.max(1)),
        }
    }

    fn base(&self, size: Size, random: &mut Random) -> Vec<u8> {
        match self.target.make {
            Some(make) if random.once_in(2) => make(random),
            _ if size == LARGE && random.once_in(3) => random.one_of(&self.seeds).clone(),
            _ => self.window(size, random),
        }
    }

    /// Some lines, or bytes, of a seed.
    fn window(&self, size: Size, random: &mut Random) -> Vec<u8> {
        let seed = random.one_of(&self.seeds);
        let from = random.index(seed.len());
        let to = (from + 1 + random.power(size.window) as usize).min(seed.len());
        match random.once_in(4) {
            true => seed[from..to].to_vec(),
            false => seed[line_begin(seed, from)..line_end(seed, to)].to_vec(),
        }
    }

    fn mutate(&self, size: Size, bytes: &mut Vec<u8>, random: &mut Random) {
        let at = random.index(bytes.len() + 1);
        match random.below(12) {
            0 => drop(bytes.drain(part(bytes, random))),
            1 => drop(bytes.drain(lines(bytes, random))),
            2 => {
                let copy = bytes[lines(bytes, random)].to_vec();
                let times = 1 + random.power(size.repeats) as usize;
                insert(
                    bytes,
                    at,
                    &copy.repeat(times.min(1 + LONGEST / (copy.len() + 1))),
                );
            }
            3 => {
                let copy = bytes[part(bytes, random)].to_vec();
                let times = 1 + random.power(size.repeats) as usize;
                insert(
                    bytes,
                    at,
                    &copy.repeat(times.min(1 + LONGEST / (copy.len() + 1))),
                );
            }
            4 => {
                let cut = lines(bytes, random);
                let moved: Vec<u8> = bytes.drain(cut).collect();
                let to = random.index(bytes.len() + 1);
                let to = line_begin(bytes, to);
                insert(bytes, to, &moved);
            }
            5 => {
                let to = line_begin(bytes, at);
                insert(bytes, to, &self.window(size, random));
            }
            6 => insert(bytes, at, random.one_of::<Vec<u8>>(&self.words)),
            7 => {
                let to = line_begin(bytes, at);
                insert(bytes, to, random.one_of::<Vec<u8>>(&self.words));
            }
            8 => {
                let word = word(bytes, at);
                bytes.splice(word, random.one_of(&self.words).iter().copied());
            }
            9 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            10 if at < bytes.len() => bytes[at] = random.number() as u8,
            10 => bytes.truncate(at),
            _ => insert(
                bytes,
                at,
                &[*random.one_of(b" \n\t\r\\{}()[];:,&!#'\"/*<>=+-0a\0\xff")],
            ),
        }
    }
}

fn insert(bytes: &mut Vec<u8>, at: usize, new: &[u8]) {
    bytes.splice(at..at, new.iter().copied());
}

/// A few bytes anywhere.
fn part(bytes: &[u8], random: &mut Random) -> std::ops::Range<usize> {
    let from = random.index(bytes.len() + 1);
    let length = random.power(8) as usize;
    from..(from + length).min(bytes.len())
}

/// A few whole lines.
fn lines(bytes: &[u8], random: &mut Random) -> std::ops::Range<usize> {
    let part = part(bytes, random);
    line_begin(bytes, part.start)..line_end(bytes, part.end)
}

/// The letters, digits and underscores around a place, or one byte.
fn word(bytes: &[u8], at: usize) -> std::ops::Range<usize> {
    let inside = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let before = bytes[..at].iter().rev().take_while(|b| inside(b)).count();
    let behind = bytes[at..].iter().take_while(|b| inside(b)).count();
    match before + behind {
        0 => at..(at + 1).min(bytes.len()),
        _ => at - before..at + behind,
    }
}

fn line_begin(bytes: &[u8], at: usize) -> usize {
    let newline = bytes[..at].iter().rposition(|byte| *byte == b'\n');
    newline.map_or(0, |newline| newline + 1)
}

fn line_end(bytes: &[u8], at: usize) -> usize {
    let newline = bytes[at..].iter().position(|byte| *byte == b'\n');
    newline.map_or(bytes.len(), |newline| at + newline + 1)
}
