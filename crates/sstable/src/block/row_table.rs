//! A hash table from rows to the offsets of their first cells, for gets.
//!
//! ```text
//! hash of a row   high 32 bits → line, 12 of the low 32 → fingerprint (f)
//! line            [f|at][f|at][f|at] … 16 slots in a cache line, free slots last
//! ```
//!
//! `at` is the offset of the row's first cell. A lookup usually reads one line, and then only the
//! cells whose fingerprint matches. A binary search would load one cache line per step, and each
//! load would depend on the previous one. A row whose line is full is stored in the next line with
//! a free slot (linear probing).

use filter::Seed;
use filter::engine::KeyHash;

/// A hash table from rows to offsets.
#[derive(Debug)]
pub(super) struct RowTable(Box<[Line]>);

/// A cache line of slots: each has a fingerprint in its high 12 bits, an offset in its low 20 bits.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Line([u32; SLOTS]);

const SLOTS: usize = 16;

/// The average number of rows per line; the other slots are spare, as some lines get more rows.
const ROWS_PER_LINE: usize = 12;

/// The maximum number of lines that a lookup probes: a bound even for adversarial keys.
const PROBED_LINES_MAX: usize = 8;

/// Bits of an offset in a slot.
const OFFSET_BITS: u32 = 20;

/// A slot without a row. Its offset bits, all ones, exceed every offset in a block with a table.
const FREE: u32 = u32::MAX;

impl RowTable {
    /// The maximum length of a block with a table, in bytes; most blocks are far shorter.
    const BLOCK_LEN_MAX: usize = (1 << OFFSET_BITS) - 1;

    /// Builds the table of a block of `block_len` bytes from its distinct rows and their offsets.
    ///
    /// Returns `None` if the block is too long, or if too many rows hash to neighbouring lines.
    /// Rows are then looked up by binary search.
    pub(super) fn new<'a>(
        block_len: usize,
        row_count: usize,
        rows: impl Iterator<Item = (&'a [u8], u32)> + Clone,
    ) -> Option<Self> {
        if block_len > Self::BLOCK_LEN_MAX {
            return None;
        }
        let line_count = row_count.div_ceil(ROWS_PER_LINE).max(1);
        // In about one of 10,000 blocks, a row finds all probed lines full: use twice the lines.
        Self::in_lines(line_count, rows.clone()).or_else(|| Self::in_lines(2 * line_count, rows))
    }

    /// Builds a table of `line_count` lines.
    ///
    /// Returns `None` if all lines that a lookup of some row would probe are full.
    fn in_lines<'a>(
        line_count: usize,
        rows: impl Iterator<Item = (&'a [u8], u32)>,
    ) -> Option<Self> {
        let mut lines = vec![Line([FREE; SLOTS]); line_count];
        for (row, at) in rows {
            let (first, fingerprint) = line_and_fingerprint(row_hash(row), line_count);
            debug_assert!(
                at < OFFSET_MASK,
                "the offset {at} does not fit {OFFSET_BITS} bits, or marks a free slot"
            );
            let slot = probed_lines(first, line_count).find_map(|line| lines[line].free_slot(line));
            let (line, slot) = slot?;
            lines[line].0[slot] = fingerprint | at;
        }
        Some(Self(lines.into()))
    }

    /// The address of the table in memory, for prefetches.
    pub(super) fn address(&self) -> TableAddress {
        TableAddress { start: self.0.as_ptr().addr(), line_count: self.0.len() }
    }

    /// Returns the first offset with the fingerprint of this hash, from the first probed line only.
    ///
    /// The offset may belong to another row with the same fingerprint.
    pub(super) fn candidate(&self, hash: KeyHash) -> Option<usize> {
        let (first, fingerprint) = line_and_fingerprint(hash, self.0.len());
        let line = &self.0[first];
        // Without a matching slot, the index is 32. A fingerprint of all ones matches free slots.
        let slot = line.0.get(to_usize(line.matching(fingerprint).trailing_zeros()))?;
        (*slot != FREE).then_some(to_usize(slot & OFFSET_MASK))
    }

    /// Returns the first offset with the fingerprint of this hash at which `has_row` finds the row.
    pub(super) fn find(&self, hash: KeyHash, has_row: impl Fn(usize) -> bool) -> Option<usize> {
        let (first, fingerprint) = line_and_fingerprint(hash, self.0.len());
        for line in probed_lines(first, self.0.len()).map(|line| &self.0[line]) {
            let mut matching = line.matching(fingerprint);
            while matching != 0 {
                let slot = line.0[to_usize(matching.trailing_zeros())];
                if slot != FREE && has_row(to_usize(slot & OFFSET_MASK)) {
                    return Some(to_usize(slot & OFFSET_MASK));
                }
                matching &= matching - 1;
            }
            if line.0.last() == Some(&FREE) {
                break;
            }
        }
        None
    }

    /// The size in memory, in bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.0)
    }
}

/// The address of a table in memory, for prefetches only: the table may have been dropped.
#[derive(Clone, Copy, Debug)]
pub(super) struct TableAddress {
    start: usize,
    line_count: usize,
}

impl TableAddress {
    /// Returns the address of the first line that a lookup of this hash probes.
    pub(super) fn first_line(self, hash: KeyHash) -> usize {
        self.start + line_and_fingerprint(hash, self.line_count).0 * size_of::<Line>()
    }
}

impl Line {
    /// Returns `line` (this line's index, passed through) and the index of the first free slot.
    fn free_slot(&self, line: usize) -> Option<(usize, usize)> {
        self.0.iter().position(|slot| *slot == FREE).map(|slot| (line, slot))
    }

    /// Returns a bit mask of the slots with this fingerprint: bit `i` for slot `i`.
    ///
    /// Branch-free, so that the compiler vectorizes the loop.
    fn matching(&self, fingerprint: u32) -> u32 {
        self.0.iter().zip(0_u32..).fold(0, |bits, (slot, number)| {
            bits | u32::from(slot & !OFFSET_MASK == fingerprint) << number
        })
    }
}

const OFFSET_MASK: u32 = (1 << OFFSET_BITS) - 1;

/// The seed of [`row_hash`]: fixed, so that one hash of a row serves all blocks.
pub(crate) const ROW_HASH_SEED: Seed = Seed::new(0);

/// Returns the hash that determines a row's line and fingerprint.
pub(crate) fn row_hash(row: &[u8]) -> KeyHash {
    KeyHash::new(ROW_HASH_SEED, row)
}

/// Returns the first of `line_count` lines to probe for this hash, and the fingerprint.
fn line_and_fingerprint(hash: KeyHash, line_count: usize) -> (usize, u32) {
    let [a, b, c, d, low @ ..] = hash.get().to_be_bytes();
    let high = u64::from(u32::from_be_bytes([a, b, c, d]));
    // Scales 32 hash bits to 0..line_count; a table has fewer lines than 2^32.
    debug_assert!(u32::try_from(line_count).is_ok(), "{line_count} lines");
    let line = (high * line_count as u64) >> 32;
    (line as usize, u32::from_be_bytes(low) & !OFFSET_MASK)
}

/// Converts a stored offset to `usize`.
pub(super) fn to_usize(at: u32) -> usize {
    usize::try_from(at).expect("a usize has 32 bits or more")
}

/// Iterates over the lines to probe for a row: from `first` on, wrapping around at the end.
fn probed_lines(first: usize, line_count: usize) -> impl Iterator<Item = usize> {
    (first..line_count).chain(0..first).take(PROBED_LINES_MAX)
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
    fn few_absent_rows_need_a_cell_comparison() {
        let rows: Vec<_> = (0..500_u32).map(|row| row.to_be_bytes().to_vec()).collect();
        let table = table(&rows).unwrap();
        assert!(table.bytes() <= 500 * 6, "{} bytes", table.bytes());
        let checks = std::cell::Cell::new(0);
        for row in 1000..11_000_u32 {
            let check = |_| {
                checks.set(checks.get() + 1);
                false
            };
            assert_eq!(table.find(row_hash(&row.to_be_bytes()), check), None);
        }
        // Each of 10,000 rows is compared with about 12 fingerprints of 12 bits: about 29 matches.
        assert!((10..100).contains(&checks.get()), "{}", checks.get());
    }

    #[test]
    fn a_crowded_table_is_built_with_twice_the_lines() {
        let lines = 12;
        let collides = |row: &Vec<u8>| line_and_fingerprint(row_hash(row), lines).0 < 4;
        let rows: Vec<_> =
            (0_u32..).map(|row| row.to_be_bytes().to_vec()).filter(collides).take(144).collect();
        let places = rows.iter().zip(0..).map(|(row, number)| (&row[..], number * 37));
        assert!(RowTable::in_lines(lines, places.clone()).is_none());
        let table = RowTable::new(144 * 37, 144, places).unwrap();
        assert_eq!(table.bytes(), 2 * lines * size_of::<Line>());
        for (number, row) in rows.iter().enumerate() {
            assert_eq!(table.find(row_hash(row), |at| rows[at / 37] == *row), Some(number * 37));
        }
    }

    #[test]
    fn long_blocks_and_rows_with_one_hash_get_no_table() {
        let long = RowTable::BLOCK_LEN_MAX + 1;
        assert!(RowTable::new(long, 1, [(&b"row"[..], 0)].into_iter()).is_none());
        // An attacker who knows the seed can choose many rows with the same hash.
        let same = (0..10_000).map(|at| (&b"row"[..], at));
        assert!(RowTable::new(200_000, 10_000, same).is_none());
    }
}
