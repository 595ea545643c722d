//! A block of the data index as it is kept in memory: entries, and the heads of their rows.
#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "indexes below the number of entries, of which there is one at least"
)]

use bytes::Bytes;

use super::index::{BlockPlace, Branch, IndexEntry};
use super::slot::BlockSlot;
use crate::encoding::DamageReason;
use crate::row_heads::RowHeads;
use crate::{Comparator, KeyRef};

/// Entries that can be searched.
#[derive(Debug)]
pub(crate) struct IndexBlock {
    branch: Branch,
    /// `None` where rows are not in the order of their bytes.
    heads: Option<RowHeads>,
    order: Comparator,
    /// One for each entry, for those of data blocks.
    slots: Box<[BlockSlot]>,
}

impl IndexBlock {
    /// Takes entries, whose keys and order it checks.
    pub(crate) fn new(branch: Branch, order: Comparator) -> Result<Self, DamageReason> {
        let mut previous: Option<(KeyRef<'_>, BlockPlace)> = None;
        for entry in branch.entries() {
            let key = KeyRef::parse(entry.key).ok_or("an index key is not a key")?;
            if let Some((previous_key, previous_block)) = previous {
                if order.compare(&key, &previous_key).is_lt() {
                    return Err("index keys out of order".into());
                }
                if entry.block.offset <= previous_block.offset {
                    return Err("blocks out of order in the index".into());
                }
            }
            previous = Some((key, entry.block));
        }
        let rows = (0..branch.len()).map(|index| key_of(&branch, index).row);
        let heads = (order == Comparator::Bytes).then(|| RowHeads::new(rows));
        let slots = (0..branch.len()).map(|_| BlockSlot::default()).collect();
        Ok(Self { branch, heads, order, slots })
    }

    /// The number of the last entry whose key is not greater than `key`; 0 if all are greater.
    pub(crate) fn find(&self, key: &KeyRef<'_>) -> usize {
        let all = 0..self.branch.len();
        let candidates = self.heads.as_ref().map_or(all, |heads| heads.candidates(key.row));
        let (mut start, mut end) = (candidates.start, candidates.end);
        while start < end {
            let middle = start.midpoint(end);
            if self.order.compare(&key_of(&self.branch, middle), key).is_le() {
                start = middle + 1;
            } else {
                end = middle;
            }
        }
        debug_assert!(self.is_between(start, key), "index entries out of order around {start}");
        // All keys are greater: the first block is the one to look into.
        start.max(1) - 1
    }

    /// Whether the entry before number `index` is not greater than `key`, and the one of it is.
    fn is_between(&self, index: usize, key: &KeyRef<'_>) -> bool {
        let is_le = |index| self.order.compare(&key_of(&self.branch, index), key).is_le();
        (index == 0 || is_le(index - 1)) && (index == self.branch.len() || !is_le(index))
    }

    /// The entries; at least one.
    pub(crate) const fn len(&self) -> usize {
        self.branch.len()
    }

    /// The entry of this number, counted from 0; `None` past the last.
    #[inline]
    pub(crate) fn entry(&self, index: usize) -> Option<IndexEntry<'_>> {
        self.branch.entry(index)
    }

    /// The last entry.
    pub(crate) fn last_entry(&self) -> IndexEntry<'_> {
        self.entry(self.branch.len() - 1).expect("an index block has an entry")
    }

    /// Where in memory the data block is that an entry leads to.
    ///
    /// # Panics
    ///
    /// If there is no such entry.
    #[inline]
    pub(crate) fn slot(&self, index: usize) -> &BlockSlot {
        &self.slots[index]
    }

    /// A key of this block that outlives a borrow of it.
    pub(crate) fn keep(&self, key: &[u8]) -> Bytes {
        self.branch.body().slice_ref(key)
    }

    /// Bytes it takes in memory.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Self>()
            + self.branch.body().len()
            + self.heads.as_ref().map_or(0, RowHeads::bytes)
            + size_of_val(&*self.slots)
    }
}

/// The key of an entry.
#[inline]
fn key_of(branch: &Branch, index: usize) -> KeyRef<'_> {
    let entry = branch.entry(index).expect("the entry is one of the block's");
    KeyRef::parse(entry.key).expect("keys are checked when the block is made")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BlockOffset;
    use crate::block::index::write_branch;

    fn index(rows: &[&[u8]]) -> Result<IndexBlock, DamageReason> {
        let keys = rows.iter().map(|row| {
            let mut key = Vec::new();
            KeyRef::before_row(row).write_flat(&mut key);
            key
        });
        let keys: Vec<_> = keys.collect();
        let entries = keys.iter().enumerate().map(|(number, key)| {
            let offset = BlockOffset::new(number as u64 * 100);
            IndexEntry { block: BlockPlace { offset, len: 100 }, key }
        });
        let mut body = Vec::new();
        write_branch(&mut body, entries);
        IndexBlock::new(Branch::new(body.into())?, Comparator::Bytes)
    }

    #[test]
    fn the_last_entry_that_is_not_greater_is_found() {
        let index = index(&[b"b", b"d", b"f"]).unwrap();
        for (row, expected) in [(b"a", 0), (b"b", 0), (b"c", 0), (b"d", 1), (b"e", 1), (b"g", 2)] {
            assert_eq!(index.find(&KeyRef::before_row(row)), expected, "{row:?}");
        }
        assert_eq!(index.find(&KeyRef::after_row(b"a")), 0);
        assert_eq!(index.find(&KeyRef::after_row(b"d")), 1);
    }

    /// No other way leads to an index block, so that a search can rely on the order.
    #[test]
    fn entries_out_of_order_are_refused_when_a_block_is_made() {
        let refused = |rows: &[&[u8]]| index(rows).expect_err("out of order");
        assert_eq!(refused(&[b"b", b"a"]), "index keys out of order");
        let mut key = Vec::new();
        KeyRef::before_row(b"a").write_flat(&mut key);
        let entry = |offset| {
            let block = BlockPlace { offset: BlockOffset::new(offset), len: 100 };
            IndexEntry { block, key: &key }
        };
        let mut body = Vec::new();
        write_branch(&mut body, [entry(100), entry(0)].into_iter());
        let branch = Branch::new(body.into()).expect("the entries lie in the block");
        let what = IndexBlock::new(branch, Comparator::Bytes).expect_err("out of order");
        assert_eq!(what, "blocks out of order in the index");
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "index entries out of order")]
    fn heads_of_other_entries_are_a_broken_invariant() {
        let mut index = index(&[b"b", b"d", b"f"]).expect("in order");
        index.heads = self::index(&[b"x", b"y", b"z"]).expect("in order").heads;
        let _ = index.find(&KeyRef::before_row(b"c"));
    }

    #[test]
    #[should_panic(expected = "index out of bounds")]
    fn a_slot_of_no_entry_is_a_broken_invariant() {
        let _ = index(&[b"a", b"c"]).expect("in order").slot(2);
    }
}
