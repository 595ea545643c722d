//! Where each row of a block starts, by the hash of the row: what a get asks.
//!
//! ```text
//! hash of a row   high bits → line, low bits → fingerprint
//! line            [f|at][f|at][f|at] … sixteen in a cache line, the free ones last
//! ```
//!
//! A row is looked for in one line, mostly; only where a fingerprint agrees a cell is looked at. A
//! search by halving or by heads would touch a line for each of its steps, each of which has to wait
//! for the one before. A row that found its line full stands in the next one.
#![allow(
    clippy::indexing_slicing,
    clippy::as_conversions,
    clippy::arithmetic_side_effects,
    reason = "lines and slots are computed from the number of lines"
)]

use filter::{KeyHash, PrefetchHint, Seed};

/// A hash table of row starts.
#[derive(Debug)]
pub(super) struct RowTable(Box<[Line]>);

/// Fingerprints in the high bits, places in the low ones.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Line([u32; SLOTS]);

const SLOTS: usize = 16;

/// Rows that a line gets on average.
const ROWS_PER_LINE: usize = 12;

/// Lines that are searched at most, whatever keys somebody has made up.
const LINES_SEARCHED_MAX: usize = 8;

/// Bits of a place.
const PLACE_BITS: u32 = 20;

/// A slot without a row: a place that none has.
const FREE: u32 = u32::MAX;

impl RowTable {
    /// Blocks are mostly far shorter; in longer ones a place would not fit.
    const BLOCK_LEN_MAX: usize = (1 << PLACE_BITS) - 1;

    /// Takes the rows of a block of `block_len` bytes, which all differ, and where they start. `None` if
    /// they cannot be put into a table; then another search has to do.
    pub(super) fn new<'a>(
        block_len: usize,
        row_count: usize,
        rows: impl Iterator<Item = (&'a [u8], u32)> + Clone,
    ) -> Option<Self> {
        if block_len > Self::BLOCK_LEN_MAX {
            return None;
        }
        let line_count = row_count.div_ceil(ROWS_PER_LINE).max(1);
        // Once in some ten thousand blocks too many rows meet in one place, and twice the room helps.
        Self::in_lines(line_count, rows.clone()).or_else(|| Self::in_lines(2 * line_count, rows))
    }

    /// Puts the rows into `line_count` lines; `None` if all lines that are searched for one are full.
    fn in_lines<'a>(
        line_count: usize,
        rows: impl Iterator<Item = (&'a [u8], u32)>,
    ) -> Option<Self> {
        let mut lines = vec![Line([FREE; SLOTS]); line_count];
        for (row, at) in rows {
            let (first, fingerprint) = split(row_hash(row), line_count);
            debug_assert!(at < PLACE, "a place of {PLACE_BITS} bits, and not that of a free slot");
            let slot = searched(first, line_count).find_map(|line| lines[line].free(line));
            let (line, slot) = slot?;
            lines[line].0[slot] = fingerprint | at;
        }
        Some(Self(lines.into()))
    }

    /// Where it is in memory.
    pub(super) fn address(&self) -> TableAddress {
        TableAddress(PrefetchHint::of_slice(&self.0))
    }

    /// Prefetches the line in which a row of this hash is looked for first.
    pub(super) fn prefetch(&self, hash: KeyHash) {
        self.address().prefetch(hash);
    }

    /// Where a row of this hash may start, as the line says in which it is looked for first.
    pub(super) fn candidate(&self, hash: KeyHash) -> Option<u32> {
        let (first, fingerprint) = split(hash, self.0.len());
        let line = &self.0[first];
        let slot = line.0.get(offset(line.agreeing(fingerprint).trailing_zeros()))?;
        (*slot != FREE).then_some(slot & PLACE)
    }

    /// Where a row of this hash starts, if `is_there` says that it starts at one of the places where it
    /// may.
    pub(super) fn find(&self, hash: KeyHash, is_there: impl Fn(usize) -> bool) -> Option<usize> {
        let (first, fingerprint) = split(hash, self.0.len());
        for line in searched(first, self.0.len()).map(|line| &self.0[line]) {
            let mut agreeing = line.agreeing(fingerprint);
            while agreeing != 0 {
                let slot = line.0[offset(agreeing.trailing_zeros())];
                if slot != FREE && is_there(offset(slot & PLACE)) {
                    return Some(offset(slot & PLACE));
                }
                agreeing &= agreeing - 1;
            }
            if line.0.last() == Some(&FREE) {
                break;
            }
        }
        None
    }

    /// Bytes it takes in memory.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.0)
    }
}

/// Where a table is in memory, or was.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TableAddress(PrefetchHint<Line>);

impl TableAddress {
    /// Prefetches the line in which a row of this hash is looked for first.
    #[inline]
    pub(super) fn prefetch(self, hash: KeyHash) {
        let (first, _) = split(hash, self.0.count());
        self.0.at(first).prefetch();
    }
}

impl Line {
    /// Its number, which is `line`, and its first free slot.
    fn free(&self, line: usize) -> Option<(usize, usize)> {
        self.0.iter().position(|slot| *slot == FREE).map(|slot| (line, slot))
    }

    /// A bit for each slot with this fingerprint. Without a branch: the compiler makes it a few
    /// vector instructions.
    #[inline]
    fn agreeing(&self, fingerprint: u32) -> u32 {
        self.0.iter().zip(0_u32..).fold(0, |bits, (slot, number)| {
            bits | u32::from(slot & !PLACE == fingerprint) << number
        })
    }
}

const PLACE: u32 = (1 << PLACE_BITS) - 1;

/// The seed of [`row_hash`].
pub(crate) const ROW_HASH_SEED: Seed = Seed::new(0);

/// The hash by which rows are looked up.
#[inline]
pub(crate) fn row_hash(row: &[u8]) -> KeyHash {
    KeyHash::new(ROW_HASH_SEED, row)
}

/// The line of `line_count` in which a row of this hash is looked for first, and its fingerprint.
#[inline]
fn split(hash: KeyHash, line_count: usize) -> (usize, u32) {
    let [a, b, c, d, low @ ..] = hash.get().to_be_bytes();
    let high = u64::from(u32::from_be_bytes([a, b, c, d]));
    // A part of `line_count`, for which 32 bits are enough: a table is smaller than its block.
    debug_assert!(u32::try_from(line_count).is_ok(), "{line_count} lines");
    let line = (high * line_count as u64) >> 32;
    (line as usize, u32::from_be_bytes(low) & !PLACE)
}

/// A place in a block, as tables and lists of rows hold it.
#[inline]
pub(super) fn offset(at: u32) -> usize {
    usize::try_from(at).expect("a usize has 32 bits or more")
}

/// The lines in which a row can stand: the first one, and those behind it, as in a ring.
#[inline]
fn searched(first: usize, line_count: usize) -> impl Iterator<Item = usize> {
    (first..line_count).chain(0..first).take(LINES_SEARCHED_MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn table(rows: &[Vec<u8>]) -> Option<RowTable> {
        let places = rows.iter().zip(0..).map(|(row, number)| (&row[..], number * 37));
        RowTable::new(rows.len() * 37, rows.len(), places)
    }

    proptest! {
        /// Each row is found where it is; what is not there is found nowhere.
        #[test]
        fn every_row_is_found_and_no_other(
            rows in prop::collection::hash_set(prop::collection::vec(any::<u8>(), 0..20), 0..700),
            other in prop::collection::vec(any::<u8>(), 0..20),
        ) {
            let rows: Vec<_> = rows.into_iter().collect();
            let table = table(&rows).unwrap();
            let find = |row: &[u8]| table.find(row_hash(row), |at| rows[at / 37] == row);
            for (number, row) in rows.iter().enumerate() {
                prop_assert_eq!(find(row), Some(number * 37));
            }
            let expected = rows.iter().position(|row| *row == other).map(|number| number * 37);
            prop_assert_eq!(find(&other), expected);
        }
    }

    #[test]
    fn few_rows_that_are_not_there_cost_a_look_at_a_cell() {
        let rows: Vec<_> = (0..500_u32).map(|row| row.to_be_bytes().to_vec()).collect();
        let table = table(&rows).unwrap();
        assert!(table.bytes() <= 500 * 6, "{} bytes", table.bytes());
        let looks = std::cell::Cell::new(0);
        for row in 1000..11_000_u32 {
            let look = |_| {
                looks.set(looks.get() + 1);
                false
            };
            assert_eq!(table.find(row_hash(&row.to_be_bytes()), look), None);
        }
        // Of 10,000 rows each meets about twelve fingerprints of twelve bits.
        assert!((10..100).contains(&looks.get()), "{}", looks.get());
    }

    #[test]
    fn where_too_many_rows_meet_twice_the_lines_take_them() {
        let lines = 12;
        let meets = |row: &Vec<u8>| split(row_hash(row), lines).0 < 4;
        let rows: Vec<_> =
            (0_u32..).map(|row| row.to_be_bytes().to_vec()).filter(meets).take(144).collect();
        let places = rows.iter().zip(0..).map(|(row, number)| (&row[..], number * 37));
        assert!(RowTable::in_lines(lines, places.clone()).is_none());
        let table = RowTable::new(144 * 37, 144, places).unwrap();
        assert_eq!(table.bytes(), 2 * lines * size_of::<Line>());
        for (number, row) in rows.iter().enumerate() {
            assert_eq!(table.find(row_hash(row), |at| rows[at / 37] == *row), Some(number * 37));
        }
    }

    #[test]
    fn rows_that_would_fill_too_many_lines_and_long_blocks_get_no_table() {
        let long = RowTable::BLOCK_LEN_MAX + 1;
        assert!(RowTable::new(long, 1, [(&b"row"[..], 0)].into_iter()).is_none());
        // As many rows of one hash as somebody who knows the seed could make up.
        let same = (0..10_000).map(|at| (&b"row"[..], at));
        assert!(RowTable::new(200_000, 10_000, same).is_none());
    }
}
