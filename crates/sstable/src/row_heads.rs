//! The first bytes of many rows in one array, so that a search touches few cache lines.
//!
//! ```text
//! rows      user0000117  user0000365  user0000909      in order, each somewhere in a block
//! prefix    user0000                                   what the first and the last share, so all
//! heads     "117·····"   "365·····"   "909·····"       the next 8 bytes as a number, zeros behind
//! ```
//!
//! A comparison of heads decides between two rows unless they are equal; then, and only then, the
//! rows themselves are looked at.
//!
//! Above the heads stand samples: of each eight heads the last, of each eight samples the last, and
//! so on up to a line of eight. A search reads one line a level, three for five hundred rows, where
//! halving would read about seven, each after waiting for the one before.
//!
//! ```text
//! level 2                              ▪▪▪▪▪▪▪▪
//! level 1          ▪▪▪▪▪▪▪▪ ▪▪▪▪▪▪▪▪ ▪▪▪▪▪▪▪▪ …
//! heads   ▪▪▪▪▪▪▪▪ ▪▪▪▪▪▪▪▪ ▪▪▪▪▪▪▪▪ ▪▪▪▪▪▪▪▪ ▪▪▪▪▪▪▪▪ …
//! ```
#![allow(
    clippy::indexing_slicing,
    clippy::as_conversions,
    clippy::arithmetic_side_effects,
    reason = "levels and lines are computed from the number of rows"
)]

use std::ops::Range;

/// Eight heads or samples: what a cache line holds.
type Line = [u64; 8];

/// The heads of rows in ascending order.
#[derive(Debug)]
pub(crate) struct RowHeads {
    prefix: Box<[u8]>,
    /// The head of the prefix, which tells all of a short one without another look at memory.
    prefix_head: u64,
    count: usize,
    /// Level by level, the heads first; what is missing in a line is the greatest number.
    lines: Box<[Line]>,
    /// Where each level starts, the heads' first, and where the last one ends.
    levels: [u32; LEVELS_MAX + 1],
    level_count: usize,
}

/// Enough for eight rows to the power of this.
const LEVELS_MAX: usize = 11;

impl RowHeads {
    /// Takes the heads of rows that ascend; equal ones may follow each other.
    pub(crate) fn new<'a>(rows: impl DoubleEndedIterator<Item = &'a [u8]> + Clone) -> Self {
        let first = rows.clone().next().unwrap_or_default();
        let last = rows.clone().next_back().unwrap_or_default();
        let prefix = Box::from(&first[..common_prefix_len(first, last)]);
        let heads: Vec<u64> =
            rows.map(|row| head(&row[common_prefix_len(row, &prefix)..])).collect();
        let count = heads.len();
        let (mut lines, mut levels) = (Vec::new(), [0; LEVELS_MAX + 1]);
        let (mut level, mut level_count) = (heads, 0);
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
        let prefix_head = head(&prefix);
        Self { prefix, prefix_head, count, lines: lines.into(), levels, level_count }
    }

    /// The rows between which `row` lies: those before the range are less, those behind it are
    /// greater, and those in it have to be compared.
    pub(crate) fn candidates(&self, row: &[u8]) -> Range<usize> {
        let len = self.prefix.len();
        let begins_with_prefix = if len > 8 || row.len() < len {
            row.starts_with(&self.prefix)
        } else {
            let beyond = u64::MAX.checked_shr(8 * len as u32).unwrap_or(0);
            head(row) & !beyond == self.prefix_head
        };
        if !begins_with_prefix {
            let common = common_prefix_len(row, &self.prefix);
            let end = if row.get(common) < self.prefix.get(common) { 0 } else { self.count };
            return end..end;
        }
        let target = head(&row[len..]);
        // How many heads are less than `target`, level by level.
        let mut start = 0;
        for level in self.levels[..=self.level_count].windows(2).rev() {
            let lines = level[0] as usize..level[1] as usize;
            // Behind the last group of a level all heads are less.
            let Some(line) = self.lines[lines].get(start) else {
                return self.count..self.count;
            };
            // Counted without a branch: the compiler makes it a few vector instructions.
            let less: usize = line.iter().map(|number| usize::from(*number < target)).sum();
            start = start * 8 + less;
        }
        let start = start.min(self.count);
        let heads = &self.lines.as_flattened()[start..self.count];
        let equal = match heads {
            [first, ..] if *first != target => 0,
            [_, second, ..] if *second != target => 1,
            heads => heads.partition_point(|head| *head == target),
        };
        start..start + equal
    }

    /// Bytes it takes in memory.
    pub(crate) fn bytes(&self) -> usize {
        self.prefix.len() + size_of_val(&*self.lines)
    }

    /// Bytes that the heads of so many rows will take, of which the first and the last share a prefix.
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

/// How many bytes two strings share at their start.
pub(crate) fn common_prefix_len(left: &[u8], right: &[u8]) -> usize {
    left.iter().zip(right).take_while(|(left, right)| left == right).count()
}

/// Eight bytes as a number that compares as the bytes do. Rows of different length may have equal
/// heads, never heads in the wrong order.
fn head(bytes: &[u8]) -> u64 {
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
        /// Short alphabets make shared prefixes, equal heads and rows that begin other rows likely.
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
            let heads = RowHeads::new(rows.iter().map(Vec::as_slice));
            let taken = RowHeads::bytes_of(heads.prefix.len(), rows.len());
            prop_assert_eq!(heads.bytes(), taken);
            let candidates = heads.candidates(&target);
            prop_assert!(rows[..candidates.start].iter().all(|row| *row < target));
            prop_assert!(rows[candidates.end..].iter().all(|row| *row > target));
        }
    }

    #[test]
    fn distinct_heads_leave_one_candidate() {
        let rows: Vec<_> =
            (100..200).map(|number| format!("user0000{number}").into_bytes()).collect();
        let heads = RowHeads::new(rows.iter().map(Vec::as_slice));
        assert_eq!(heads.candidates(b"user0000150"), 50..51);
        assert_eq!(heads.candidates(b"user0000150x"), 51..51);
        assert_eq!(heads.candidates(b"user"), 0..0);
        assert_eq!(heads.candidates(b"v"), 100..100);
    }
}
