//! A block of the data index as it is kept in memory: entries, and the heads of their rows.
#![cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]

use bytes::Bytes;

use super::index::{BlockPlace, Branch, IndexEntry};
use super::loaded::BlockSlot;
use crate::encoding::What;
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
    pub(crate) fn new(branch: Branch, order: Comparator) -> Result<Self, What> {
        let mut previous: Option<(KeyRef<'_>, BlockPlace)> = None;
        for number in 0..branch.len() {
            let entry = branch.entry(number).ok_or("an index entry without a place")?;
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
        let heads = (order == Comparator::Bytes)
            .then(|| RowHeads::new((0..branch.len()).map(|index| row(&branch, index))));
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
            let entry = self.branch.entry(middle);
            match entry.and_then(|entry| KeyRef::parse(entry.key)) {
                Some(found) if self.order.compare(&found, key).is_le() => {
                    start = middle.saturating_add(1);
                }
                _ => end = middle,
            }
        }
        start.saturating_sub(1)
    }

    pub(crate) const fn len(&self) -> usize {
        self.branch.len()
    }

    pub(crate) fn entry(&self, index: usize) -> Option<IndexEntry<'_>> {
        self.branch.entry(index)
    }

    /// Where in memory the data block is that an entry leads to.
    pub(crate) fn slot(&self, index: usize) -> Option<&BlockSlot> {
        self.slots.get(index)
    }

    /// A key of this block that outlives a borrow of it.
    pub(crate) fn keep(&self, key: &[u8]) -> Bytes {
        self.branch.body().slice_ref(key)
    }

    /// Bytes it takes in memory.
    pub(crate) fn bytes(&self) -> usize {
        let body = self.branch.body().len();
        size_of::<Self>()
            .saturating_add(body)
            .saturating_add(self.heads.as_ref().map_or(0, RowHeads::bytes))
            .saturating_add(size_of_val(&*self.slots))
    }
}

/// The row in an entry's key.
fn row(branch: &Branch, index: usize) -> &[u8] {
    branch.entry(index).and_then(|entry| KeyRef::parse(entry.key)).map_or(&[], |key| key.row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BlockOffset;
    use crate::block::index::write_branch;

    fn index(rows: &[&[u8]]) -> Result<IndexBlock, What> {
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

    #[test]
    fn keys_out_of_order_are_damage() {
        assert!(index(&[b"b", b"a"]).is_err());
    }
}
