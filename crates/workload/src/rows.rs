//! Rows for comparing stores, and the sequences of gets that benchmarks ask.
//!
//! Keys have 16 to 24 bytes and are in no order. Values have 100 bytes, half of them compressible.

use crate::{KEY_LEN, Random, fill_value, key, mix};

/// Length of every value in bytes.
pub const VALUE_LEN: usize = 100;
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

/// All rows of a seed, by index.
///
/// A store holds the rows below some index. The rows from that index on are absent; their keys lie
/// between those of the store, because keys are in no order.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    seed: u64,
}

impl Rows {
    /// Creates the rows of a seed.
    pub const fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// Returns the `index`th key: [`key`](crate::key), followed by up to eight digits.
    pub fn key(self, index: u64) -> RowKey {
        let mut digits = Random::new(mix(self.seed ^ mix(index)));
        let more = digits.below(DIGITS_MAX + 1);
        let mut bytes = [0; KEY_LEN + DIGITS_MAX];
        bytes[..KEY_LEN].copy_from_slice(&key(self.seed, index));
        bytes[KEY_LEN..][..more].fill_with(|| b'0' + digits.below(10) as u8);
        RowKey { bytes, len: (KEY_LEN + more) as u8 }
    }

    /// Returns the `index`th value.
    pub fn value(self, index: u64) -> [u8; VALUE_LEN] {
        let mut value = [0; VALUE_LEN];
        fill_value(self.seed, index, &mut value);
        value
    }

    /// Returns the checksum that a scan of these rows must have.
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
/// The checksum covers every byte of keys and values with its position. It does not depend on the
/// order of the rows.
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

/// Which rows a sequence of gets asks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Asked {
    /// Rows that the store holds, uniformly distributed.
    Present,
    /// Rows that the store does not hold, with keys between those that it holds.
    Absent,
    /// An absent row and a present row in turn.
    Mixed,
    /// Rows that the store holds, with YCSB's Zipf distribution (0.99).
    Zipf,
}

impl Asked {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Present, Self::Absent, Self::Mixed, Self::Zipf];

    /// Returns the name that tables show.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Present => "present",
            Self::Absent => "absent",
            Self::Mixed => "mixed",
            Self::Zipf => "zipf",
        }
    }

    /// Returns `count` row indexes to ask of a store that holds the first `rows` rows.
    ///
    /// # Panics
    ///
    /// If there are no rows.
    pub fn questions(self, rows: u64, count: usize, seed: u64) -> Vec<u64> {
        let mut random = Random::new(seed);
        let zipf = Zipf::new(if self == Self::Zipf { rows } else { 1 });
        (0..count)
            .map(|at| match self {
                Self::Mixed if at % 2 == 0 => rows + random.below(rows as usize) as u64,
                Self::Present | Self::Mixed => random.below(rows as usize) as u64,
                Self::Absent => rows + random.below(rows as usize) as u64,
                Self::Zipf => mix(zipf.rank(&mut random)) % rows,
            })
            .collect()
    }
}

/// Draws ranks with a probability proportional to `1 / rank^0.99`, as YCSB does.
///
/// The algorithm is from Gray et al., "Quickly generating billion-record synthetic databases", 1994.
struct Zipf {
    ranks: f64,
    alpha: f64,
    zeta: f64,
    eta: f64,
}

impl Zipf {
    const THETA: f64 = 0.99;

    fn new(ranks: u64) -> Self {
        let zeta = |ranks: u64| (1..=ranks).map(|rank| (rank as f64).powf(-Self::THETA)).sum();
        let all: f64 = zeta(ranks);
        let two: f64 = zeta(2);
        let ranks = ranks as f64;
        let eta = (1.0 - (2.0 / ranks).powf(1.0 - Self::THETA)) / (1.0 - two / all);
        Self { ranks, alpha: 1.0 / (1.0 - Self::THETA), zeta: all, eta }
    }

    fn rank(&self, random: &mut Random) -> u64 {
        let uniform = (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let scaled = uniform * self.zeta;
        if scaled < 1.0 {
            0
        } else if scaled < 1.0 + 0.5_f64.powf(Self::THETA) {
            1
        } else {
            (self.ranks * (self.eta * uniform - self.eta + 1.0).powf(self.alpha)) as u64
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

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
        assert_eq!(asked(Asked::Mixed).iter().filter(|row| **row < rows).count(), 5000);
        let mut counts = HashMap::new();
        for row in asked(Asked::Zipf) {
            assert!(row < rows);
            *counts.entry(row).or_insert(0) += 1;
        }
        // The first of a thousand ranks has a probability of 1 in 7.7.
        let most = *counts.values().max().unwrap_or(&0);
        assert!((1100..1500).contains(&most), "{most}");
    }
}
