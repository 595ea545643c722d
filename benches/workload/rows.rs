//! Rows for benchmarks that compare stores, and the row sequences of their gets.
//!
//! Keys have 16 to 24 bytes and are pseudo-random, so row indexes say nothing about the key order.
//! Values have 100 bytes, half of them compressible.

use hfile_cli::workload::{KEY_LEN, Random, fill_value, key, mix};

/// Length of every value in bytes.
pub const VALUE_LEN: usize = 100;
/// The maximum number of decimal digits that follow the 16 bytes of `key`.
const DIGITS_MAX: usize = 8;

/// The key of a row.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct RowKey {
    bytes: [u8; KEY_LEN + DIGITS_MAX],
    len: u8,
}

impl AsRef<[u8]> for RowKey {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

/// The rows that a seed generates, by index.
///
/// A benchmark writes the rows below some index to a store. The rows from that index on are absent.
/// Their keys lie between the keys in the store, because keys are pseudo-random.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    seed: u64,
}

impl Rows {
    /// Returns the rows of a seed.
    pub const fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// Returns the key of row `index`: [`key`], then zero to eight decimal digits.
    pub fn key(self, index: u64) -> RowKey {
        let mut digits = Random::new(mix(self.seed ^ mix(index)));
        let more = digits.below(DIGITS_MAX + 1);
        let mut bytes = [0; KEY_LEN + DIGITS_MAX];
        bytes[..KEY_LEN].copy_from_slice(&key(self.seed, index));
        bytes[KEY_LEN..][..more].fill_with(|| b'0' + digits.below(10) as u8);
        RowKey { bytes, len: (KEY_LEN + more) as u8 }
    }

    /// Returns the value of row `index`.
    pub fn value(self, index: u64) -> [u8; VALUE_LEN] {
        let mut value = [0; VALUE_LEN];
        fill_value(self.seed, index, &mut value);
        value
    }

    /// Returns the expected `ScanSum` of a scan over the rows with these indexes.
    pub fn sum(self, indexes: impl IntoIterator<Item = u64>) -> ScanSum {
        let mut sum = ScanSum::default();
        for index in indexes {
            sum.add(self.key(index).as_ref(), &self.value(index));
        }
        sum
    }
}

/// The number of rows that a scan returned, and a checksum over them.
///
/// The checksum depends on each byte of the keys and values and on the byte's position, but not on
/// the order of the rows.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct ScanSum {
    rows: u64,
    sum: u64,
}

impl ScanSum {
    /// Adds one row.
    pub fn add(&mut self, key: &[u8], value: &[u8]) {
        self.rows += 1;
        let row = words(key).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ words(value);
        self.sum = self.sum.wrapping_add(row.wrapping_mul(row | 1));
    }

    /// Returns the number of rows added.
    pub const fn rows(&self) -> u64 {
        self.rows
    }
}

/// Returns a checksum of a key or value: the sum of its 8-byte words, each rotated by its position.
fn words(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let mut sum = bytes.len() as u64;
    for (place, word) in words.iter().chain([&last]).enumerate() {
        sum = sum.wrapping_add(u64::from_le_bytes(*word).rotate_left(place as u32 * 5));
    }
    sum
}

/// The choice of rows in a sequence of gets.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Asked {
    /// Present rows, uniformly distributed.
    Present,
    /// Absent rows, uniformly distributed, with keys between the keys in the store.
    Absent,
}

impl Asked {
    /// All choices.
    pub const ALL: [Self; 2] = [Self::Present, Self::Absent];

    /// Returns the name in result tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Present => "present",
            Self::Absent => "absent",
        }
    }

    /// Returns the row indexes of `count` gets from a store that holds the first `rows` rows.
    ///
    /// # Panics
    ///
    /// If `rows` is zero.
    pub fn questions(self, rows: u64, count: usize, seed: u64) -> Vec<u64> {
        let mut random = Random::new(seed);
        let first = if self == Self::Absent { rows } else { 0 };
        (0..count).map(|_| first + random.below(rows as usize) as u64).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn keys_have_16_to_24_bytes_and_differ() {
        let rows = Rows::new(1);
        let keys: HashSet<_> = (0..10_000).map(|index| rows.key(index).as_ref().to_vec()).collect();
        assert_eq!(keys.len(), 10_000);
        let lengths: HashSet<_> = keys.iter().map(Vec::len).collect();
        assert_eq!(lengths, (16..=24).collect());
    }

    #[test]
    fn a_missing_row_or_a_changed_byte_changes_the_sum() {
        let rows = Rows::new(1);
        let all = rows.sum(0..100);
        assert_ne!(rows.sum(0..99), all);
        let mut changed = rows.sum(0..99);
        let mut value = rows.value(99);
        value[70] ^= 1;
        changed.add(rows.key(99).as_ref(), &value);
        assert_eq!(changed.rows(), all.rows());
        assert_ne!(changed, all);
    }

    #[test]
    fn each_kind_asks_the_rows_that_its_name_says() {
        let rows = 1000;
        let asked = |kind: Asked| kind.questions(rows, 10_000, 3);
        assert!(asked(Asked::Present).iter().all(|row| *row < rows));
        assert!(asked(Asked::Absent).iter().all(|row| *row >= rows));
    }
}
