//! The buckets of a d-left filter: eight cells each, searched without a loop over the cells.
//!
//! A cell of c = r + y bits has the remainder in its lower r bits, and the counter above. A counter of
//! 0 means that the cell is free, and its remainder is then 0. Eight cells of c bits are c bytes, so a
//! bucket begins and ends at a byte, whatever c is; cell i stands at bit c·i, bytes little-endian.
//!
//! A bucket is worked on as words of 64 bits: two words of four cells each, or four of two where cells
//! have more than 16 bits. That a field is not zero shows for all cells of a word at once: adding the
//! largest value of its f bits carries into the bit above exactly if it is at least 1. No carry goes
//! further, since the fields in between are cleared.
#![warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)]
#![expect(
    clippy::arithmetic_side_effects,
    reason = "cells have 6 to 30 bits, so a word's take at most 64, and every shift is below 64"
)]

use super::permutations::Place;
use super::shape::{CELLS, Shape};
use crate::kernel::{CellLanes, CellTarget, InstructionSet};

/// The most words of a bucket.
const WORDS_MAX: usize = 4;

/// A bucket, taken out of the table.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Bucket {
    /// Those beyond the words that the layout has are zero.
    words: [u64; WORDS_MAX],
}

/// A cell in a bucket: which word, and where in it the cell begins.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Cell {
    word: usize,
    bit: u32,
}

/// How cells lie in their buckets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cells {
    cell_bits: u32,
    remainder_bits: u32,
    counter_bits: u32,
    /// Words of a bucket: 2 or 4.
    word_count: usize,
    /// At which byte of its bucket each word is read, and by how many bits it is then shifted.
    reads: [(usize, u32); WORDS_MAX],
    /// The lowest bit of each cell of a word.
    ones: u64,
    /// All bits of the cells of a word.
    mask: u64,
    /// The bits of the remainders, where they stand.
    remainders: u64,
    /// The bits of the counters, shifted down by the bits of a remainder.
    counters: u64,
    lanes: CellLanes,
    instructions: InstructionSet,
}

impl Cells {
    pub(super) fn new(shape: Shape) -> Self {
        let (cell_bits, remainder_bits) = (shape.cell_bits(), shape.remainder_bits);
        let counter_bits = shape.counter_bits.get();
        let (ones, word_count) = if cell_bits <= 16 {
            (1 | 1 << cell_bits | 1 << (2 * cell_bits) | 1 << (3 * cell_bits), 2)
        } else {
            (1 | 1 << cell_bits, WORDS_MAX)
        };
        // Where a word begins in its first byte, at bit 2, 4 or 6 if not at 0, its bits still end with
        // the eighth: those of 64 bits begin with a byte, those of 60 at bit 4, those of 58 at bit 6.
        let word_bits = if word_count == 2 { 4 * cell_bits } else { 2 * cell_bits };
        let mask = if word_bits == u64::BITS { u64::MAX } else { (1 << word_bits) - 1 };
        Self {
            cell_bits,
            remainder_bits,
            counter_bits,
            word_count,
            reads: [read(0), read(word_bits), read(2 * word_bits), read(3 * word_bits)],
            ones,
            mask,
            remainders: ones * ((1 << remainder_bits) - 1),
            counters: ones * ((1 << counter_bits) - 1),
            lanes: CellLanes::new(remainder_bits, counter_bits),
            instructions: InstructionSet::detect(),
        }
    }

    fn bucket_len(self) -> usize {
        usize::try_from(self.cell_bits).expect("30 at most")
    }

    /// Reads the bucket at a byte of the table; nothing if the table ends there.
    pub(super) fn read(&self, table: &[u8], at: usize) -> Option<Bucket> {
        let rest = table.get(at..).filter(|rest| rest.len() >= self.bucket_len())?;
        let mut words = [0; WORDS_MAX];
        for (word, read) in words.iter_mut().zip(self.reads).take(self.word_count) {
            *word = self.word(rest, read);
        }
        Some(Bucket { words })
    }

    /// Reads a word of the bucket that begins here. Bits of the next bucket are masked away.
    #[inline]
    fn word(&self, bucket: &[u8], (at, shift): (usize, u32)) -> u64 {
        let bytes = bucket.get(at..).and_then(|bytes| bytes.first_chunk());
        let word = bytes.map_or_else(|| last_word(bucket, at), |bytes| u64::from_le_bytes(*bytes));
        word >> shift & self.mask
    }

    /// Sets a cell of the bucket at a byte of the table. A counter of 0 frees it.
    ///
    /// # Panics
    ///
    /// If the table ends before the cell.
    pub(super) fn set(&self, table: &mut [u8], at: usize, cell: Cell, place: Place, counter: u32) {
        let value = u64::from(place.remainder) | u64::from(counter) << self.remainder_bits;
        let value = if counter == 0 { 0 } else { value };
        let (word_at, shift) =
            *self.reads.get(cell.word).expect("a cell is in a word of its bucket");
        let rest = table.get_mut(at + word_at..).expect("the bucket is in the table");
        let (place, _) = rest.split_at_mut(rest.len().min(size_of::<u64>()));
        let mut bytes = [0; size_of::<u64>()];
        bytes.split_at_mut(place.len()).0.copy_from_slice(place);
        let bit = cell.bit + shift;
        let word = u64::from_le_bytes(bytes) & !(((1 << self.cell_bits) - 1) << bit) | value << bit;
        place.copy_from_slice(word.to_le_bytes().split_at(place.len()).0);
    }

    /// Marks the cells in use, at the lowest bit of each.
    #[inline]
    const fn used(&self, word: u64) -> u64 {
        ((word >> self.remainder_bits & self.counters) + self.counters) >> self.counter_bits
            & self.ones
    }

    /// Marks the cells in use with that remainder.
    #[inline]
    const fn matches(&self, word: u64, repeated: u64) -> u64 {
        let differs =
            ((word & self.remainders ^ repeated) + self.remainders) >> self.remainder_bits;
        self.used(word) & !differs
    }

    /// Returns whether any cell of the buckets holds the remainder that is looked for there. There is
    /// no branch for each, so that their loads overlap and nothing is mispredicted.
    #[inline]
    pub(super) fn contain(&self, table: &[u8], targets: &[CellTarget]) -> bool {
        self.instructions.cells_contain(table, targets, &self.lanes, || {
            if self.word_count == 2 {
                self.contain_in::<2>(table, targets)
            } else {
                self.contain_in::<4>(table, targets)
            }
        })
    }

    /// As [`contain`](Self::contain), for buckets of so many words.
    fn contain_in<const WORDS: usize>(&self, table: &[u8], targets: &[CellTarget]) -> bool {
        let marks = targets.iter().map(|target| {
            let repeated = self.ones * u64::from(target.remainder);
            let bucket = table.get(target.at..).unwrap_or_default();
            let reads = self.reads.iter().take(WORDS);
            let marks = reads.map(|read| self.matches(self.word(bucket, *read), repeated));
            marks.fold(0, |all, marks| all | marks)
        });
        marks.fold(0, |all, marks| all | marks) != 0
    }

    /// Iterates over the cells that hold the remainder.
    pub(super) fn find(&self, bucket: Bucket, place: Place) -> impl Iterator<Item = Cell> {
        let repeated = self.ones * u64::from(place.remainder);
        marked(bucket.words.map(|word| self.matches(word, repeated)))
    }

    /// Returns the remainder of each cell in use, in their order.
    pub(super) fn remainders(&self, bucket: Bucket) -> [Option<u32>; CELLS] {
        let mut remainders = [None; CELLS];
        let words = bucket.words.iter().take(self.word_count);
        let cells = words.flat_map(|word| {
            // A bucket has as many bytes as a cell has bits.
            let bits = (0..).step_by(self.bucket_len());
            let cells = CELLS / self.word_count;
            bits.take(cells).map(move |bit: u32| (*word, bit))
        });
        for (remainder, (word, bit)) in remainders.iter_mut().zip(cells) {
            if self.used(word) >> bit & 1 != 0 {
                let cell = word >> bit & ((1 << self.remainder_bits) - 1);
                *remainder = Some(u32::try_from(cell).expect("26 bits at most"));
            }
        }
        remainders
    }

    /// Returns how many cells are in use.
    pub(super) fn used_count(&self, bucket: Bucket) -> u32 {
        // Marks are six bits apart at least, ten where there are four words: all find room in one.
        let marks = bucket.words.iter().zip(0_u32..);
        marks.fold(0, |all, (word, index)| all | self.used(*word) << index).count_ones()
    }

    /// Returns the first free cell.
    pub(super) fn free(&self, bucket: Bucket) -> Option<Cell> {
        let mut free = [0; WORDS_MAX];
        for (free, word) in free.iter_mut().zip(bucket.words).take(self.word_count) {
            *free = self.ones & !self.used(word);
        }
        marked(free).next()
    }

    /// Returns how many copies a cell counts.
    pub(super) fn counter(&self, bucket: Bucket, cell: Cell) -> u32 {
        let word = bucket.words.get(cell.word).expect("a cell is in a word of its bucket");
        let counter = word >> (cell.bit + self.remainder_bits) & ((1 << self.counter_bits) - 1);
        u32::try_from(counter).expect("four bits at most")
    }
}

/// Reads the word at a byte of a bucket so near the end of the table that eight bytes would reach
/// beyond it.
#[cold]
fn last_word(bucket: &[u8], at: usize) -> u64 {
    let mut word = [0; size_of::<u64>()];
    for (byte, last) in word.iter_mut().zip(bucket.iter().skip(at)) {
        *byte = *last;
    }
    u64::from_le_bytes(word)
}

/// Returns the byte in which a bit stands, and where in it.
#[expect(clippy::as_conversions, reason = "a bucket has 240 bits at most")]
const fn read(bit: u32) -> (usize, u32) {
    ((bit / 8) as usize, bit % 8)
}

/// Iterates over the cells whose lowest bit is marked.
fn marked(words: [u64; WORDS_MAX]) -> impl Iterator<Item = Cell> {
    words.into_iter().enumerate().flat_map(|(word, mut marks)| {
        core::iter::from_fn(move || {
            let bit = marks.trailing_zeros();
            marks &= marks.wrapping_sub(1);
            (bit < u64::BITS).then_some(Cell { word, bit })
        })
    })
}

#[cfg(test)]
#[expect(clippy::indexing_slicing, reason = "a test that slices wrongly fails, as it should")]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::super::options::{CounterBits, REMAINDER_BITS};
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
                    let empty = Bucket { words: [0; WORDS_MAX] };
                    table[at..at + len].fill(0);
                    assert_eq!(cells.read(&table, at), Some(empty));
                    let mut expected = Vec::new();
                    // Nought, the largest, and neighbours that differ in one bit.
                    let top = (1_u32 << remainder_bits) - 1;
                    let remainders =
                        [0, top, 1, top - 1, 1 << 7 & top, 0x55 & top, 0xaa & top, top];
                    for (remainder, index) in remainders.into_iter().zip(0..) {
                        let place = Place { bucket: 0, remainder };
                        let bucket = cells.read(&table, at).expect("in the table");
                        assert_eq!(cells.used_count(bucket), index);
                        let cell = cells.free(bucket).expect("a free cell");
                        let counter = index % counter_max + 1;
                        expected.push((remainder, counter));
                        cells.set(&mut table, at, cell, place, counter);
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
                        let target = CellTarget { at, remainder: place.remainder };
                        for instructions in InstructionSet::available() {
                            let cells = Cells { instructions, ..cells };
                            let is_held = cells.contain(&table, &[target]);
                            assert_eq!(is_held, !held.is_empty(), "{instructions:?}");
                            let beside = CellTarget { at: usize::MAX - at, ..target };
                            assert!(!cells.contain(&table, &[beside]));
                            assert_eq!(cells.contain(&table, &[beside, target]), is_held);
                        }
                    }
                    // Freed cells leave no trace.
                    let before = table.clone();
                    for (remainder, _) in &expected {
                        let place = Place { bucket: 0, remainder: *remainder };
                        let bucket = cells.read(&table, at).expect("in the table");
                        let cell = cells.find(bucket, place).next().expect("still there");
                        cells.set(&mut table, at, cell, place, 0);
                    }
                    assert_eq!(cells.read(&table, at), Some(empty));
                    // Nor do they touch the buckets beside.
                    assert_eq!(table[..at], before[..at]);
                    assert_eq!(table[at + len..], before[at + len..]);
                    for (remainder, counter) in expected {
                        let place = Place { bucket: 0, remainder };
                        let bucket = cells.read(&table, at).expect("in the table");
                        let cell = cells.free(bucket).expect("all are free again");
                        cells.set(&mut table, at, cell, place, counter);
                    }
                    assert_eq!(table, before);
                }
                assert_eq!(cells.read(&table, 2 * len + 1), None);
                assert_eq!(cells.read(&table, usize::MAX), None);
            }
        }
    }
}
