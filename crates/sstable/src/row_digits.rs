//! The digits of many rows in one array, so that a search reads few cache lines.
//!
//! ```text
//! rows      user0000117  user0000365  user0000909      ascending, stored elsewhere
//! prefix    user0000                                   common to first and last, and so to all
//! digits    "117·····"   "365·····"   "909·····"       the next 8 bytes as a big-endian number; · is 0
//! ```
//!
//! A search compares a row itself only if its digits equal the digits of the target.
//!
//! The digits are the lowest level of a static B-tree with 8 keys per node. The keys of a higher
//! level are the last keys of the nodes below. A search reads one cache line per level, three for 500
//! rows; a binary search would read about seven, each load dependent on the one before.
//!
//! ```text
//! level 2                              ▪▪▪▪▪▪▪▪
//! level 1          ▪▪▪▪▪▪▪▪ ▪▪▪▪▪▪▪▪ ▪▪▪▪▪▪▪▪ …
//! digits  ▪▪▪▪▪▪▪▪ ▪▪▪▪▪▪▪▪ ▪▪▪▪▪▪▪▪ ▪▪▪▪▪▪▪▪ ▪▪▪▪▪▪▪▪ …
//! ```

use std::ops::Range;

/// A tree node: 8 keys in one cache line.
type Line = [u64; 8];

/// The digits of rows in ascending order.
#[derive(Clone, Debug)]
pub(crate) struct RowDigits {
    prefix: Box<[u8]>,
    /// The digits of the prefix, with which a prefix of at most 8 bytes is compared without loading it.
    prefix_digits: u64,
    count: usize,
    /// Level by level, the digits first; incomplete lines are padded with the greatest number.
    lines: Box<[Line]>,
    /// The start of each level in `lines`, and the end of the last level.
    levels: [u32; LEVELS_MAX + 1],
    level_count: usize,
}

/// Enough levels for 8^11 rows, more than a block of 4 GiB can hold.
const LEVELS_MAX: usize = 11;

impl RowDigits {
    /// Builds the digits of ascending rows, which may repeat.
    pub(crate) fn new<'a>(rows: impl DoubleEndedIterator<Item = &'a [u8]> + Clone) -> Self {
        let first = rows.clone().next().unwrap_or_default();
        let last = rows.clone().next_back().unwrap_or_default();
        let prefix = Box::from(&first[..common_prefix_len(first, last)]);
        let digits: Vec<u64> =
            rows.map(|row| digits_of(&row[common_prefix_len(row, &prefix)..])).collect();
        let count = digits.len();
        let (mut lines, mut levels) = (Vec::new(), [0; LEVELS_MAX + 1]);
        let (mut level, mut level_count) = (digits, 0);
        loop {
            lines.extend(level.chunks(8).map(|chunk| {
                let mut line = [u64::MAX; 8];
                line[..chunk.len()].copy_from_slice(chunk);
                line
            }));
            level_count += 1;
            levels[level_count] =
                u32::try_from(lines.len()).expect("a block is shorter than 4 GiB");
            if level.len() <= 8 {
                break;
            }
            level = level.chunks(8).filter_map(|chunk| chunk.last().copied()).collect();
        }
        let prefix_digits = digits_of(&prefix);
        Self { prefix, prefix_digits, count, lines: lines.into(), levels, level_count }
    }

    /// Returns the range of rows that may equal `row`.
    ///
    /// Rows before the range are less than `row`, rows after the range are greater.
    pub(crate) fn candidates(&self, row: &[u8]) -> Range<usize> {
        let len = self.prefix.len();
        let begins_with_prefix = if len > 8 || row.len() < len {
            row.starts_with(&self.prefix)
        } else {
            let after_prefix = u64::MAX.checked_shr(8 * len as u32).unwrap_or(0);
            digits_of(row) & !after_prefix == self.prefix_digits
        };
        if !begins_with_prefix {
            let common = common_prefix_len(row, &self.prefix);
            let position = if row.get(common) < self.prefix.get(common) { 0 } else { self.count };
            return position..position;
        }
        let target = digits_of(&row[len..]);
        // The number of keys of a level that are less than `target`: the index of the line to read
        // in the level below.
        let mut start = 0;
        for level in self.levels[..=self.level_count].windows(2).rev() {
            let lines = level[0] as usize..level[1] as usize;
            // Past the last line of a level, all digits are less.
            let Some(line) = self.lines[lines].get(start) else {
                return self.count..self.count;
            };
            // Branch-free, so that the compiler vectorizes the count.
            let less: usize = line.iter().map(|digits| usize::from(*digits < target)).sum();
            start = start * 8 + less;
        }
        let start = start.min(self.count);
        let digits = &self.lines.as_flattened()[start..self.count];
        let equal = match digits {
            [first, ..] if *first != target => 0,
            [_, second, ..] if *second != target => 1,
            digits => digits.partition_point(|row| *row == target),
        };
        start..start + equal
    }

    /// Returns the size in memory, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.prefix.len() + size_of_val(&*self.lines)
    }

    /// Predicts [`bytes`](Self::bytes) for `rows` rows with a common prefix of `prefix_len` bytes.
    pub(crate) fn bytes_of(prefix_len: usize, rows: usize) -> usize {
        let (mut level, mut lines) = (rows, 0_usize);
        loop {
            level = level.div_ceil(8);
            lines += level;
            if level <= 1 {
                break;
            }
        }
        prefix_len.saturating_add(lines.saturating_mul(size_of::<Line>()))
    }
}

/// Returns the length of the common prefix.
pub(crate) fn common_prefix_len(left: &[u8], right: &[u8]) -> usize {
    left.iter().zip(right).take_while(|(left, right)| left == right).count()
}

/// Returns the first 8 bytes as a big-endian number, zero-padded.
///
/// Digits have the order of their rows, but digits of different rows may be equal.
fn digits_of(bytes: &[u8]) -> u64 {
    if let Some(first) = bytes.first_chunk() {
        return u64::from_be_bytes(*first);
    }
    let mut padded = [0; 8];
    padded[..bytes.len()].copy_from_slice(bytes);
    u64::from_be_bytes(padded)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// With a small alphabet, common prefixes and equal digits are likely, and many rows are
        /// prefixes of other rows.
        #[test]
        fn rows_outside_the_candidates_are_less_or_greater(
            mut rows in prop::collection::vec(prop::collection::vec(0_u8..3, 0..14), 0..60),
            prefix in prop::collection::vec(any::<u8>(), 0..4),
            target in prop::collection::vec(0_u8..3, 0..14),
            with_prefix: bool,
        ) {
            rows.sort();
            let rows: Vec<_> = rows.into_iter().map(|row| [&prefix[..], &row].concat()).collect();
            let target = if with_prefix { [&prefix[..], &target].concat() } else { target };
            let digits = RowDigits::new(rows.iter().map(Vec::as_slice));
            let predicted = RowDigits::bytes_of(digits.prefix.len(), rows.len());
            prop_assert_eq!(digits.bytes(), predicted);
            let candidates = digits.candidates(&target);
            prop_assert!(rows[..candidates.start].iter().all(|row| *row < target));
            prop_assert!(rows[candidates.end..].iter().all(|row| *row > target));
        }
    }

    #[test]
    fn distinct_digits_leave_at_most_one_candidate() {
        let rows: Vec<_> =
            (100..200).map(|number| format!("user0000{number}").into_bytes()).collect();
        let digits = RowDigits::new(rows.iter().map(Vec::as_slice));
        assert_eq!(digits.candidates(b"user0000150"), 50..51);
        assert_eq!(digits.candidates(b"user0000150x"), 51..51);
        assert_eq!(digits.candidates(b"user"), 0..0);
        assert_eq!(digits.candidates(b"v"), 100..100);
    }
}
