//! Hashing addresses and small numbers. Their keys are many and nobody chooses
//! them with malice, so one multiplication is enough.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// 2^64 divided by the golden ratio. It is odd, with its bits well mixed.
pub(crate) const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

/// Spreads what differs between numbers over the upper bits, also where most bits are the same or the numbers lie
/// equally far from each other.
#[inline(always)]
pub(crate) const fn spread(number: u64) -> u64 {
    number.wrapping_mul(FACTOR)
}

/// A map with such keys.
pub(crate) type Map<Key, Value> = HashMap<Key, Value, BuildHasherDefault<Spread>>;

/// The hasher.
#[derive(Default)]
pub(crate) struct Spread(u64);

impl Hasher for Spread {
    /// The upper half of the product depends on every bit, the lower does not.
    fn finish(&self) -> u64 {
        self.0.rotate_left(26)
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes
            .iter()
            .for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u8(&mut self, value: u8) {
        self.write_u64(u64::from(value));
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = spread(self.0.rotate_left(5) ^ value);
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }
}
