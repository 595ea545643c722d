//! The buckets of a d-left filter: eight cells each, searched without a loop over the cells.
//!
//! A cell of c = r + y bits has the remainder in its lower r bits, and the counter above. A counter of
//! 0 means that the cell is free, and its remainder is then 0. Eight cells of c bits are c bytes, so a
//! bucket begins and ends at a byte, whatever c is; cell i stands at bit c·i, bytes little-endian.
//!
//! A bucket is worked on as two halves of four cells, each in a 128-bit number. That a field is not
//! nought shows for all four at once: adding the largest value of its f bits carries into the bit
//! above exactly if it is at least 1. No carry goes further, since the fields in between are cleared.
#![warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)]
#![expect(
    clippy::arithmetic_side_effects,
    reason = "cells have 10 to 30 bits, so four take at most 120, and every shift is below 128"
)]

use super::shape::{Place, Shape};

/// The four cells of half a bucket.
type Half = u128;

/// A bucket, taken out of the table.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Bucket {
    halves: [Half; 2],
}

/// A cell in a bucket: which half, and where in it the cell begins.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Cell {
    upper: bool,
    bit: u32,
}

/// How cells lie in their buckets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cells {
    cell_bits: u32,
    remainder_bits: u32,
    counter_bits: u32,
}

impl Cells {
    pub(super) const fn new(shape: Shape) -> Self {
        Self {
            cell_bits: shape.cell_bits(),
            remainder_bits: shape.remainder_bits,
            counter_bits: shape.counter_bits.get(),
        }
    }

    /// Returns a number with the lowest bit of each of the four cells.
    const fn ones(self) -> Half {
        1 | 1 << self.cell_bits | 1 << (2 * self.cell_bits) | 1 << (3 * self.cell_bits)
    }

    /// Returns a number with all bits of the four cells.
    const fn half_mask(self) -> Half {
        (1 << (4 * self.cell_bits)) - 1
    }

    fn bucket_len(self) -> usize {
        usize::try_from(self.cell_bits).unwrap_or_default()
    }

    /// Reads the bucket at a byte of the table; nothing if the table ends there.
    pub(super) fn read(self, table: &[u8], at: usize) -> Option<Bucket> {
        let rest = table.get(at..)?;
        let (low, high) = if let Some(bytes) = rest.first_chunk::<32>() {
            let (low, high) = bytes.split_first_chunk::<16>()?;
            (u128::from_le_bytes(*low), u128::from_le_bytes(*high.first_chunk()?))
        } else {
            let mut bytes = [0; 32];
            let bucket = rest.get(..self.bucket_len())?;
            bytes.get_mut(..bucket.len())?.copy_from_slice(bucket);
            let (low, high) = bytes.split_first_chunk::<16>()?;
            (u128::from_le_bytes(*low), u128::from_le_bytes(*high.first_chunk()?))
        };
        let (middle, mask) = (4 * self.cell_bits, self.half_mask());
        // Bits of the next bucket are masked away.
        let upper = (low >> middle | high << (u128::BITS - middle)) & mask;
        Some(Bucket { halves: [low & mask, upper] })
    }

    /// Writes a bucket to a byte of the table where there is one.
    pub(super) fn write(self, table: &mut [u8], at: usize, bucket: Bucket) {
        let [lower, upper] = bucket.halves;
        let middle = 4 * self.cell_bits;
        let mut bytes = [0; 32];
        let (low, high) = bytes.split_at_mut(16);
        low.copy_from_slice(&(lower | upper << middle).to_le_bytes());
        high.copy_from_slice(&(upper >> (u128::BITS - middle)).to_le_bytes());
        let place = table.get_mut(at..).and_then(|rest| rest.get_mut(..self.bucket_len()));
        if let (Some(place), Some(bytes)) = (place, bytes.get(..self.bucket_len())) {
            place.copy_from_slice(bytes);
        }
    }

    /// Marks the cells in use, at the lowest bit of each.
    const fn used(self, half: Half) -> Half {
        let counters = self.ones() * ((1 << self.counter_bits) - 1);
        (((half >> self.remainder_bits & counters) + counters) >> self.counter_bits) & self.ones()
    }

    /// Marks the cells in use with that remainder.
    const fn matches(self, half: Half, repeated: Half) -> Half {
        let remainders = self.ones() * ((1 << self.remainder_bits) - 1);
        let differs = ((half & remainders ^ repeated) + remainders) >> self.remainder_bits;
        self.used(half) & !differs
    }

    /// Returns whether any cell holds the remainder.
    pub(super) fn contain(self, bucket: Bucket, place: Place) -> bool {
        let repeated = self.ones() * u128::from(place.remainder);
        let [lower, upper] = bucket.halves;
        self.matches(lower, repeated) | self.matches(upper, repeated) != 0
    }

    /// Goes over the cells that hold the remainder.
    pub(super) fn find(self, bucket: Bucket, place: Place) -> impl Iterator<Item = Cell> {
        let repeated = self.ones() * u128::from(place.remainder);
        let [lower, upper] = bucket.halves.map(|half| self.matches(half, repeated));
        marked(lower, false).chain(marked(upper, true))
    }

    /// Returns how many cells are in use.
    pub(super) fn used_count(self, bucket: Bucket) -> u32 {
        bucket.halves.iter().map(|half| self.used(*half).count_ones()).sum()
    }

    /// Returns the first free cell.
    pub(super) fn free(self, bucket: Bucket) -> Option<Cell> {
        let [lower, upper] = bucket.halves.map(|half| self.ones() & !self.used(half));
        marked(lower, false).chain(marked(upper, true)).next()
    }

    /// Returns how many copies a cell counts.
    pub(super) fn counter(self, bucket: Bucket, cell: Cell) -> u32 {
        let [lower, upper] = bucket.halves;
        let half = if cell.upper { upper } else { lower };
        let counter = half >> (cell.bit + self.remainder_bits) & ((1 << self.counter_bits) - 1);
        u32::try_from(counter).unwrap_or_default()
    }

    /// Returns the bucket with that in one cell. A counter of 0 frees the cell.
    pub(super) fn with(self, bucket: Bucket, cell: Cell, place: Place, counter: u32) -> Bucket {
        let [lower, upper] = bucket.halves;
        let value = u128::from(place.remainder) | u128::from(counter) << self.remainder_bits;
        let value = if counter == 0 { 0 } else { value };
        let set =
            |half: Half| half & !(((1 << self.cell_bits) - 1) << cell.bit) | value << cell.bit;
        let halves = if cell.upper { [lower, set(upper)] } else { [set(lower), upper] };
        Bucket { halves }
    }
}

/// Goes over the cells whose lowest bit is marked.
fn marked(mut marks: Half, upper: bool) -> impl Iterator<Item = Cell> {
    core::iter::from_fn(move || {
        let bit = marks.trailing_zeros();
        marks &= marks.wrapping_sub(1);
        (bit < u128::BITS).then_some(Cell { upper, bit })
    })
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::super::filter::CounterBits;
    use super::super::shape::REMAINDER_BITS;
    use super::*;

    #[test]
    fn cells_of_every_size_are_told_apart_in_any_bucket() {
        for counter_bits in [CounterBits::Two, CounterBits::Four] {
            for remainder_bits in REMAINDER_BITS {
                let shape = Shape { subtables: 2, buckets: 3, remainder_bits, counter_bits };
                let cells = Cells::new(shape);
                let counter_max = (1 << counter_bits.get()) - 1;
                let len = cells.bucket_len();
                let mut table = vec![0xff; 3 * len];
                // The last bucket ends with the table, the first has bytes beyond it.
                for at in [0, len, 2 * len] {
                    let empty = Bucket { halves: [0, 0] };
                    cells.write(&mut table, at, empty);
                    let mut expected = Vec::new();
                    // Nought, the largest, and neighbours that differ in one bit.
                    let top = (1_u32 << remainder_bits) - 1;
                    let remainders = [0, top, 1, top - 1, 1 << 7, 0x55, 0xaa, top];
                    for (remainder, index) in remainders.into_iter().zip(0..) {
                        let place = Place { bucket: 0, remainder };
                        let bucket = cells.read(&table, at).expect("in the table");
                        assert_eq!(cells.used_count(bucket), index);
                        let cell = cells.free(bucket).expect("a free cell");
                        let counter = index % counter_max + 1;
                        expected.push((remainder, counter));
                        cells.write(&mut table, at, cells.with(bucket, cell, place, counter));
                    }
                    let bucket = cells.read(&table, at).expect("in the table");
                    assert_eq!(cells.free(bucket), None);
                    for probe in (0..=255).chain([(1 << remainder_bits) - 1, 0x00ff_fffe]) {
                        let place =
                            Place { bucket: 0, remainder: probe & ((1 << remainder_bits) - 1) };
                        let found =
                            cells.find(bucket, place).map(|cell| cells.counter(bucket, cell));
                        let held = expected.iter().filter(|(held, _)| *held == place.remainder);
                        let held: Vec<u32> = held.map(|(_, counter)| *counter).collect();
                        assert_eq!(found.collect::<Vec<_>>(), held);
                        assert_eq!(cells.contain(bucket, place), !held.is_empty());
                    }
                    // Freed cells leave no trace.
                    let mut freed = bucket;
                    for (remainder, _) in expected {
                        let place = Place { bucket: 0, remainder };
                        let cell = cells.find(freed, place).next().expect("still there");
                        freed = cells.with(freed, cell, place, 0);
                    }
                    assert_eq!(freed, empty);
                }
                assert_eq!(cells.read(&table, 2 * len + 1), None);
                assert_eq!(cells.read(&table, usize::MAX), None);
            }
        }
    }
}
