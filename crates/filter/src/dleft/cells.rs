//! The buckets of a d-left filter: eight cells each, searched without a loop over the cells.
//!
//! A cell has r bits of remainder and, above them, y bits of counter: c = r + y bits. If the
//! counter is 0, the cell is free, and its remainder is also 0. Eight cells of c bits take c bytes,
//! so buckets are byte-aligned. Cell i begins at bit c·i of the bucket, in little-endian order.
//!
//! A bucket is processed in 64-bit words: two words of four cells, or four words of two cells if a
//! cell has more than 16 bits. One addition tests a field (the counter, or the remainder) of all
//! cells of a word:
//!
//! 1. A mask clears all bits except the f bits of the field in each cell.
//! 2. The addition of 2^f − 1 to each field carries into the next bit if and only if the field is
//!    not 0. That bit was cleared, so the carry goes no further.
//!
//! A cell is used if its counter is not 0. Its remainder is the wanted one if their exclusive or
//! is 0.

use super::permutations::Position;
use super::shape::Shape;

/// Maximum number of words of a bucket.
const WORDS_MAX: usize = 4;

/// The words of a bucket, read from the table. Each word has whole cells, from bit 0 on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Bucket {
    /// A layout with two words leaves the last two words zero.
    words: [u64; WORDS_MAX],
}

/// A cell in a bucket: the index of its word, and its first bit in the word.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Cell {
    word: usize,
    bit: u32,
}

/// A bucket to search: its first byte in the table, and the remainder to find.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct CellTarget {
    pub(super) at: usize,
    pub(super) remainder: u32,
}

/// The layout of the cells in a bucket.
#[derive(Clone, Copy, Debug)]
pub(super) struct CellLayout {
    cell_bits: u32,
    remainder_bits: u32,
    counter_bits: u32,
    /// Words of a bucket: 2 or 4.
    word_count: usize,
    /// The bit at which each word begins in the bucket: its byte, and the bit in this byte.
    word_offsets: [(usize, u32); WORDS_MAX],
    /// A word with the lowest bit of each cell set.
    ones: u64,
    /// A word with all bits of all cells set.
    mask: u64,
    /// A word with the remainder bits of each cell set.
    remainder_mask: u64,
    /// A word with the counter bits of each cell set, shifted right by `remainder_bits`.
    counter_mask: u64,
}

impl CellLayout {
    pub(super) fn new(shape: Shape) -> Self {
        let (cell_bits, remainder_bits) = (shape.cell_bits(), shape.remainder_bits);
        let counter_bits = shape.counter_bits.get();
        let (ones, word_count) = if cell_bits <= 16 {
            (1 | 1 << cell_bits | 1 << (2 * cell_bits) | 1 << (3 * cell_bits), 2)
        } else {
            (1 | 1 << cell_bits, WORDS_MAX)
        };
        // A word may begin at bit 2, 4 or 6 of a byte, but one load of eight bytes always has all
        // of its bits. Words of 64 bits begin at bit 0 of a byte, words of 60 bits at bit 0 or 4,
        // and words of at most 58 bits at any even bit.
        let word_bits = if word_count == 2 { 4 * cell_bits } else { 2 * cell_bits };
        let mask = if word_bits == u64::BITS { u64::MAX } else { (1 << word_bits) - 1 };
        Self {
            cell_bits,
            remainder_bits,
            counter_bits,
            word_count,
            word_offsets: [0, 1, 2, 3].map(|word| byte_and_bit(word * word_bits)),
            ones,
            mask,
            remainder_mask: ones * ((1 << remainder_bits) - 1),
            counter_mask: ones * ((1 << counter_bits) - 1),
        }
    }

    fn bucket_len(self) -> usize {
        usize::try_from(self.cell_bits).expect("30 at most")
    }

    /// Reads the bucket at `table[at]`; `None` if the table ends before the end of the bucket.
    pub(super) fn read(&self, table: &[u8], at: usize) -> Option<Bucket> {
        let rest = table.get(at..).filter(|rest| rest.len() >= self.bucket_len())?;
        let mut words = [0; WORDS_MAX];
        for (word, read) in words.iter_mut().zip(self.word_offsets).take(self.word_count) {
            *word = self.word(rest, read);
        }
        Some(Bucket { words })
    }

    /// Reads the word that begins at bit `shift` of the byte `bucket[at]`.
    ///
    /// `bucket` is the table from the first byte of the bucket on. Bits after the word are cleared.
    #[inline]
    fn word(&self, bucket: &[u8], (at, shift): (usize, u32)) -> u64 {
        let bytes = bucket.get(at..).and_then(|bytes| bytes.first_chunk());
        let word = bytes.map_or_else(|| last_word(bucket, at), |bytes| u64::from_le_bytes(*bytes));
        word >> shift & self.mask
    }

    /// Writes a cell of the bucket at `table[at]`: the remainder of `position`, and the counter.
    ///
    /// Counter 0 frees the cell.
    ///
    /// # Panics
    ///
    /// If the bucket is not in the table.
    pub(super) fn set(
        &self,
        table: &mut [u8],
        at: usize,
        cell: Cell,
        position: Position,
        counter: u32,
    ) {
        let value = u64::from(position.remainder) | u64::from(counter) << self.remainder_bits;
        let value = if counter == 0 { 0 } else { value };
        let (word_at, shift) =
            *self.word_offsets.get(cell.word).expect("a cell is in a word of its bucket");
        let rest = table.get_mut(at + word_at..).expect("the bucket is in the table");
        let (target, _) = rest.split_at_mut(rest.len().min(size_of::<u64>()));
        let mut bytes = [0; size_of::<u64>()];
        bytes.split_at_mut(target.len()).0.copy_from_slice(target);
        let bit = cell.bit + shift;
        let word = u64::from_le_bytes(bytes) & !(((1 << self.cell_bits) - 1) << bit) | value << bit;
        target.copy_from_slice(word.to_le_bytes().split_at(target.len()).0);
    }

    /// Returns a mark for each used cell of the word: the lowest bit of the cell is set.
    const fn used(&self, word: u64) -> u64 {
        ((word >> self.remainder_bits & self.counter_mask) + self.counter_mask) >> self.counter_bits
            & self.ones
    }

    /// Returns a mark for each used cell that holds a remainder: its lowest bit is set.
    ///
    /// `repeated` is a word with the remainder in each cell.
    const fn matches(&self, word: u64, repeated: u64) -> u64 {
        let differs =
            ((word & self.remainder_mask ^ repeated) + self.remainder_mask) >> self.remainder_bits;
        self.used(word) & !differs
    }

    /// Returns whether any target's bucket holds the target's remainder.
    ///
    /// There is no branch per bucket. So the cache misses of several buckets overlap, and no branch
    /// is mispredicted.
    #[inline]
    pub(super) fn contains(&self, table: &[u8], targets: &[CellTarget]) -> bool {
        if self.word_count == 2 {
            self.contains_in::<2>(table, targets)
        } else {
            self.contains_in::<4>(table, targets)
        }
    }

    /// Returns the same as [`contains`](Self::contains) for buckets of `WORDS` words.
    fn contains_in<const WORDS: usize>(&self, table: &[u8], targets: &[CellTarget]) -> bool {
        let marks = targets.iter().map(|target| {
            let repeated = self.ones * u64::from(target.remainder);
            let bucket = table.get(target.at..).unwrap_or_default();
            let reads = self.word_offsets.iter().take(WORDS);
            let marks = reads.map(|read| self.matches(self.word(bucket, *read), repeated));
            marks.fold(0, |all, marks| all | marks)
        });
        marks.fold(0, |all, marks| all | marks) != 0
    }

    /// Iterates over the cells of the bucket that hold the remainder of `position`.
    pub(super) fn find(&self, bucket: Bucket, position: Position) -> impl Iterator<Item = Cell> {
        let repeated = self.ones * u64::from(position.remainder);
        marked(bucket.words.map(|word| self.matches(word, repeated)))
    }

    /// Returns the number of used cells.
    pub(super) fn used_count(&self, bucket: Bucket) -> u32 {
        // The marks of all words go into one word: the marks of word i are shifted by i ≤ 3 bits. They
        // do not overlap, because cells, and so the marks of a word, are at least six bits apart.
        let marks = bucket.words.iter().zip(0_u32..);
        marks.fold(0, |all, (word, index)| all | self.used(*word) << index).count_ones()
    }

    /// Returns the first free cell; `None` if all eight are used.
    pub(super) fn free(&self, bucket: Bucket) -> Option<Cell> {
        let mut free = [0; WORDS_MAX];
        for (free, word) in free.iter_mut().zip(bucket.words).take(self.word_count) {
            *free = self.ones & !self.used(word);
        }
        marked(free).next()
    }

    /// Returns the counter of a cell.
    pub(super) fn counter(&self, bucket: Bucket, cell: Cell) -> u32 {
        let word = bucket.words.get(cell.word).expect("a cell is in a word of its bucket");
        let counter = word >> (cell.bit + self.remainder_bits) & ((1 << self.counter_bits) - 1);
        u32::try_from(counter).expect("four bits at most")
    }
}

/// Reads a word at the end of the table, with fewer than eight bytes; missing bytes count as zero.
#[cold]
fn last_word(bucket: &[u8], at: usize) -> u64 {
    let mut word = [0; size_of::<u64>()];
    for (byte, last) in word.iter_mut().zip(bucket.iter().skip(at)) {
        *byte = *last;
    }
    u64::from_le_bytes(word)
}

/// Splits a bit offset into a byte offset and the bit in this byte.
#[expect(clippy::as_conversions, reason = "a bucket has 240 bits at most")]
const fn byte_and_bit(bit: u32) -> (usize, u32) {
    ((bit / 8) as usize, bit % 8)
}

/// Iterates over the cells whose lowest bit is set in `words`, in the order of the bucket.
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
    fn cells_of_every_size_are_independent_in_any_bucket() {
        for counter_bits in [CounterBits::Two, CounterBits::Four] {
            for remainder_bits in REMAINDER_BITS {
                let shape = Shape { subtables: 2, buckets: 3, remainder_bits, counter_bits };
                let cells = CellLayout::new(shape);
                let counter_max = (1 << counter_bits.get()) - 1;
                let len = cells.bucket_len();
                let mut table = vec![0xff; 3 * len];
                // The last bucket ends at the end of the table.
                for at in [0, len, 2 * len] {
                    let empty = Bucket { words: [0; WORDS_MAX] };
                    table[at..at + len].fill(0);
                    assert_eq!(cells.read(&table, at), Some(empty));
                    let mut expected = Vec::new();
                    // Zero, the maximum, values that differ in one bit, alternating bits.
                    let top = (1_u32 << remainder_bits) - 1;
                    let remainders =
                        [0, top, 1, top - 1, 1 << 7 & top, 0x55 & top, 0xaa & top, top];
                    for (remainder, index) in remainders.into_iter().zip(0..) {
                        let position = Position { bucket: 0, remainder };
                        let bucket = cells.read(&table, at).expect("in the table");
                        assert_eq!(cells.used_count(bucket), index);
                        let cell = cells.free(bucket).expect("a free cell");
                        let counter = index % counter_max + 1;
                        expected.push((remainder, counter));
                        cells.set(&mut table, at, cell, position, counter);
                    }
                    let bucket = cells.read(&table, at).expect("in the table");
                    assert_eq!(cells.free(bucket), None);
                    for probe in (0..=255).chain([(1 << remainder_bits) - 1, 0x00ff_fffe]) {
                        let position =
                            Position { bucket: 0, remainder: probe & ((1 << remainder_bits) - 1) };
                        let found =
                            cells.find(bucket, position).map(|cell| cells.counter(bucket, cell));
                        let held = expected.iter().filter(|(held, _)| *held == position.remainder);
                        let held: Vec<u32> = held.map(|(_, counter)| *counter).collect();
                        assert_eq!(found.collect::<Vec<_>>(), held);
                        let target = CellTarget { at, remainder: position.remainder };
                        let is_held = cells.contains(&table, &[target]);
                        assert_eq!(is_held, !held.is_empty());
                        let outside = CellTarget { at: usize::MAX - at, ..target };
                        assert!(!cells.contains(&table, &[outside]));
                        assert_eq!(cells.contains(&table, &[outside, target]), is_held);
                    }
                    // A freed cell is zero in all bits: once all are freed, the bucket is empty.
                    let before = table.clone();
                    for (remainder, _) in &expected {
                        let position = Position { bucket: 0, remainder: *remainder };
                        let bucket = cells.read(&table, at).expect("in the table");
                        let cell = cells.find(bucket, position).next().expect("a used cell");
                        cells.set(&mut table, at, cell, position, 0);
                    }
                    assert_eq!(cells.read(&table, at), Some(empty));
                    // The other buckets have not changed.
                    assert_eq!(table[..at], before[..at]);
                    assert_eq!(table[at + len..], before[at + len..]);
                    for (remainder, counter) in expected {
                        let position = Position { bucket: 0, remainder };
                        let bucket = cells.read(&table, at).expect("in the table");
                        let cell = cells.free(bucket).expect("a free cell");
                        cells.set(&mut table, at, cell, position, counter);
                    }
                    assert_eq!(table, before);
                }
                assert_eq!(cells.read(&table, 2 * len + 1), None);
                assert_eq!(cells.read(&table, usize::MAX), None);
            }
        }
    }
}
