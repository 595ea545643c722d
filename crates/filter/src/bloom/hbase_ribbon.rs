//! The ribbon filter of HBase's development trunk, stored in place of a Bloom filter.
//!
//! No release of HBase writes it. The implementation follows the trunk's code and is not verified
//! against a file that HBase wrote.
//!
//! A chunk is a table of bits: a row per slot, and a few columns. Each key hashes to:
//!
//! ```text
//! start         the first of 64 consecutive slots
//! coefficients  64 bits that select some of these slots; the lowest is always set
//! ```
//!
//! The builder solves a system of linear equations, so that in every column the bits that a key
//! selects have even parity. An absent key passes this test in a column with probability ½, so `c`
//! columns have the error rate 2^−c.
//!
//! The slots are divided into blocks of 64. For an error rate between two powers of two, the blocks
//! from `upper_start_block` on have one more column than the blocks before. A segment, stored as
//! i64 BE, has the 64 bits of one column of a block. The segments of a block are adjacent.

use alloc::vec;
use alloc::vec::Vec;

use super::hbase::HashPair;

/// The number of slots of a block, and of the slots that a key's coefficients select from.
const WIDTH: u32 = 64;

/// The shape of a chunk, as stored in the filter's meta block.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RibbonChunk {
    slots: u32,
    upper_columns: u32,
    upper_start_block: u32,
}

impl RibbonChunk {
    /// The most columns: the 32-bit number that fills a free slot has one bit per column.
    const COLUMNS_MAX: u32 = 32;

    /// Creates a shape from the numbers in a filter's meta block; `None` if they are invalid.
    pub const fn new(slots: u32, upper_columns: u32, upper_start_block: u32) -> Option<Self> {
        let is_valid = slots >= 2 * WIDTH
            && slots <= i32::MAX.cast_unsigned()
            && slots.is_multiple_of(WIDTH)
            && upper_columns >= 1
            && upper_columns <= Self::COLUMNS_MAX
            && upper_start_block <= slots / WIDTH;
        if is_valid { Some(Self { slots, upper_columns, upper_start_block }) } else { None }
    }

    /// Returns the shape that HBase chooses for a number of keys and an error rate.
    fn for_keys(key_count: u32, error_rate: f64) -> Option<Self> {
        // Slots per key beyond the first: (4 + log2(1 / error_rate) / 4) / 64.
        let overhead = ((4.0 - libm::log2(error_rate) / 4.0) / 64.0).clamp(0.01, 0.5);
        let slots = libm::ceil(f64::from(key_count) * (1.0 + overhead)) as u32;
        let slots = slots.next_multiple_of(WIDTH).max(2 * WIDTH);
        let inverse = 1.0 / error_rate;
        if inverse <= 1.0 {
            return Self::new(slots, 1, 0);
        }
        let lower_columns = (inverse as u64).max(1).ilog2();
        let low = libm::exp2(-f64::from(lower_columns));
        let high = low / 2.0;
        // The mean of the two rates, weighted by the blocks' shares, is `error_rate`.
        let lower_share = ((error_rate - high) / (low - high)).clamp(0.0, 1.0);
        let upper_start = lower_share * f64::from(slots - (WIDTH - 1)) / f64::from(WIDTH);
        Self::new(slots, lower_columns + 1, upper_start as u32)
    }

    /// Builds the chunk that HBase would build from these keys, and returns its shape and segments.
    ///
    /// `None` unless the error rate is above 2⁻³² and below 1, and there are fewer than 2³⁰ keys.
    pub fn build(error_rate: f64, pairs: &[HashPair]) -> Option<(Self, Vec<u8>)> {
        if !(error_rate > 0.0 && error_rate < 1.0) {
            return None;
        }
        let key_count = u32::try_from(pairs.len()).ok().filter(|count| *count < 1 << 30)?;
        let chunk = Self::for_keys(key_count, error_rate)?;
        let mut rows = vec![0_u64; chunk.slots as usize];
        // Gaussian elimination: each slot keeps one equation that starts there. An equation that
        // starts at a taken slot is added to the kept one; the sum starts at a later slot.
        for pair in pairs {
            let (start, mut coefficients) = chunk.equation(*pair);
            let mut slot = start as usize;
            while let Some(row) = rows.get_mut(slot) {
                if *row == 0 {
                    *row = coefficients;
                    break;
                }
                coefficients ^= *row;
                if coefficients == 0 {
                    break; // The equation follows from the equations of other keys.
                }
                let shift = coefficients.trailing_zeros();
                slot += shift as usize;
                coefficients >>= shift;
            }
        }
        Some((chunk, chunk.solve(&rows)))
    }

    /// Solves the equations by back substitution, from the last slot to the first.
    ///
    /// `state` has, for each column, the bits of the 64 slots from the current one on.
    fn solve(self, rows: &[u64]) -> Vec<u8> {
        let mut state = vec![0_u64; self.upper_columns as usize];
        let mut segments = vec![0; self.byte_len() as usize];
        for block in (0..self.slots / WIDTH).rev() {
            let columns = self.columns(block) as usize;
            for slot in (block * WIDTH..(block + 1) * WIDTH).rev() {
                let row = rows[slot as usize];
                // A slot without an equation is free. Pseudo-random bits fill it: if all free slots
                // were 0, all slots would be 0, and every absent key would pass.
                let pseudo_random = u64::from(slot).wrapping_mul(0x9e37_79b1_85eb_ca87) as u32;
                let fill = if row == 0 { pseudo_random } else { 0 };
                for (column, bits) in state[..columns].iter_mut().enumerate() {
                    let shifted = *bits << 1;
                    let parity = (shifted & row).count_ones() & 1;
                    *bits = shifted | u64::from(parity ^ ((fill >> column) & 1));
                }
            }
            let at = self.first_segment(block) as usize * 8;
            for (segment, bits) in segments[at..].chunks_exact_mut(8).zip(&state[..columns]) {
                segment.copy_from_slice(&bits.to_be_bytes());
            }
        }
        segments
    }

    /// Returns the number of slots.
    pub const fn slots(self) -> u32 {
        self.slots
    }

    /// Returns the number of columns of the blocks from
    /// [`upper_start_block`](Self::upper_start_block) on.
    pub const fn upper_columns(self) -> u32 {
        self.upper_columns
    }

    /// Returns the first block with all columns; the blocks before it have one column less.
    pub const fn upper_start_block(self) -> u32 {
        self.upper_start_block
    }

    /// Returns the length of the chunk's segments in bytes.
    pub const fn byte_len(self) -> u64 {
        self.first_segment(self.slots / WIDTH) * 8
    }

    /// Returns the expected false-positive rate.
    pub fn error_rate(self) -> f64 {
        let blocks = f64::from(self.slots / WIDTH);
        let lower_share = f64::from(self.upper_start_block) / blocks;
        let upper_rate = libm::exp2(-f64::from(self.upper_columns));
        lower_share * upper_rate * 2.0 + (1.0 - lower_share) * upper_rate
    }

    /// Returns whether the key may be in the chunk with these segments; `false` is certain.
    ///
    /// Returns `true` for every key if the length of the segments does not match the shape.
    pub fn may_contain(self, segments: &[u8], pair: HashPair) -> bool {
        if segments.len() as u64 != self.byte_len() {
            return true;
        }
        let (start, coefficients) = self.equation(pair);
        let (block, offset) = (start / WIDTH, start % WIDTH);
        let segment = |block: u32, column: u32| {
            let at = (self.first_segment(block) + u64::from(column)) as usize * 8;
            let bytes = segments.get(at..).and_then(<[u8]>::first_chunk);
            bytes.map_or(0, |bytes| u64::from_be_bytes(*bytes))
        };
        // The key's slots may lie in two blocks: only the columns that both blocks have count.
        let columns = match offset {
            0 => self.columns(block),
            _ => self.columns(block).min(self.columns(block + 1)),
        };
        (0..columns).all(|column| {
            let mut selected = segment(block, column) & (coefficients << offset);
            if offset > 0 {
                selected ^= segment(block + 1, column) & (coefficients >> (WIDTH - offset));
            }
            selected.count_ones().is_multiple_of(2)
        })
    }

    /// Returns the number of columns of a block.
    const fn columns(self, block: u32) -> u32 {
        if block < self.upper_start_block { self.upper_columns - 1 } else { self.upper_columns }
    }

    /// Returns the index of the first segment of a block.
    const fn first_segment(self, block: u32) -> u64 {
        let lower = if block < self.upper_start_block { block } else { self.upper_start_block };
        block as u64 * self.upper_columns as u64 - lower as u64
    }

    /// Returns a key's first slot, and the coefficients of the 64 slots from that slot on.
    fn equation(self, pair: HashPair) -> (u32, u64) {
        let (high, low) = (pair.h1.cast_unsigned(), pair.h2.cast_unsigned());
        let mut mixed = u64::from(high) << 32 | u64::from(low);
        mixed ^= mixed >> 33;
        mixed = mixed.wrapping_mul(0xff51_afd7_ed55_8ccd);
        mixed ^= mixed >> 33;
        mixed = mixed.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        mixed ^= mixed >> 33;
        let starts = u64::from(self.slots - (WIDTH - 1));
        let start = ((mixed >> 32) * starts) >> 32;
        let mut coefficients = mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        coefficients ^= coefficients >> 33;
        coefficients = coefficients.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        coefficients ^= coefficients >> 33;
        (start as u32, coefficients | 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bloom::hbase::HashType;

    fn pairs(name: &str, count: u32) -> Vec<HashPair> {
        let key = |number| alloc::format!("{name}{number}");
        (0..count).map(|number| HashPair::new(HashType::Murmur, key(number).as_bytes())).collect()
    }

    /// The expected shape and error rate were computed by the algorithm of HBase's trunk.
    #[test]
    fn shape_and_error_rate_are_those_of_hbase_trunk() {
        let members = pairs("row", 5000);
        let (chunk, segments) = RibbonChunk::build(0.01, &members).unwrap();
        assert_eq!(Some(chunk), RibbonChunk::new(5504, 7, 23));
        assert_eq!((chunk.byte_len(), segments.len()), (4632, 4632));
        assert!(members.iter().all(|pair| chunk.may_contain(&segments, *pair)));
        let absent_keys = pairs("other", 200_000);
        let false_positives =
            absent_keys.iter().filter(|pair| chunk.may_contain(&segments, **pair)).count();
        let rate = false_positives as f64 / 200_000.0;
        assert!((rate - 0.0095).abs() < 0.0015, "{rate}");
        assert!((chunk.error_rate() - rate).abs() < 0.0015, "{rate}");
    }

    #[test]
    fn no_member_is_denied_at_any_size_and_rate() {
        for (count, rate) in [(0, 0.01), (1, 0.5), (60, 0.3), (500, 1e-6), (3000, 0.005)] {
            let members = pairs("m", count);
            let (chunk, segments) = RibbonChunk::build(rate, &members).unwrap();
            assert_eq!(segments.len() as u64, chunk.byte_len());
            assert!(members.iter().all(|pair| chunk.may_contain(&segments, *pair)), "{count}");
            assert!(chunk.error_rate() <= rate * 1.5, "{count} {rate} {}", chunk.error_rate());
        }
    }

    #[test]
    fn impossible_shapes_are_refused_and_missing_segments_deny_no_key() {
        for (slots, columns, start) in
            [(64, 7, 0), (130, 7, 0), (128, 0, 0), (128, 33, 0), (128, 7, 3), (u32::MAX, 7, 0)]
        {
            assert_eq!(RibbonChunk::new(slots, columns, start), None, "{slots} {columns} {start}");
        }
        let chunk = RibbonChunk::new(128, 7, 1).unwrap();
        assert!(pairs("x", 100).iter().all(|pair| chunk.may_contain(&[0xff; 103], *pair)));
    }
}
