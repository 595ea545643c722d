//! A block of the data index in memory: its entries, and the digits of their rows.
//!
//! The digits of a row are its first 8 bytes after the common prefix of all rows, as a number. They are
//! adjacent in memory, so a search compares digits first and keys last; see `row_digits`.

use bytes::Bytes;
use cells::{Comparator, KeyRef};

use super::decoded::BlockSlot;
use super::index_entry::{BlockHandle, IndexEntries, IndexEntry};
use crate::encoding::DamageReason;
use crate::row_digits::RowDigits;

/// A searchable index block: root, intermediate or leaf.
#[derive(Debug)]
pub(crate) struct IndexBlock {
    entries: IndexEntries,
    /// `None` if rows are not ordered bytewise, because digits are.
    digits: Option<RowDigits>,
    order: Comparator,
    /// One slot per entry, for its data block. Unused if the entries point to index blocks.
    slots: Box<[BlockSlot]>,
}

impl IndexBlock {
    /// Creates the block, and builds the digits of its rows.
    ///
    /// Fails if a key is invalid, if keys are not in ascending order (they may repeat), or if block
    /// offsets are not strictly ascending.
    pub(crate) fn new(entries: IndexEntries, order: Comparator) -> Result<Self, DamageReason> {
        let mut previous: Option<(KeyRef<'_>, BlockHandle)> = None;
        for entry in entries.entries() {
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
        let rows = (0..entries.len()).map(|index| key_of(&entries, index).row);
        let digits = (order == Comparator::Bytes).then(|| RowDigits::new(rows));
        let slots = (0..entries.len()).map(|_| BlockSlot::default()).collect();
        Ok(Self { entries, digits, order, slots })
    }

    /// Returns the index of the last entry whose key is at most `key`; 0 if all are greater.
    pub(crate) fn find(&self, key: &KeyRef<'_>) -> usize {
        let all = 0..self.entries.len();
        let candidates = self.digits.as_ref().map_or(all, |digits| digits.candidates(key.row));
        let (mut start, mut end) = (candidates.start, candidates.end);
        while start < end {
            let middle = start.midpoint(end);
            if self.order.compare(&key_of(&self.entries, middle), key).is_le() {
                start = middle + 1;
            } else {
                end = middle;
            }
        }
        debug_assert!(
            self.is_insertion_point(start, key),
            "index entries out of order around {start}"
        );
        // If all keys are greater, the first cell at or after `key` is in the first block.
        start.max(1) - 1
    }

    /// Returns whether the entry before `index` is at most `key`, and that at `index` is greater.
    fn is_insertion_point(&self, index: usize, key: &KeyRef<'_>) -> bool {
        let is_le = |index| self.order.compare(&key_of(&self.entries, index), key).is_le();
        (index == 0 || is_le(index - 1)) && (index == self.entries.len() || !is_le(index))
    }

    /// Returns the number of entries, at least 1.
    pub(crate) const fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the entry at `index`; `None` if `index` is out of bounds.
    pub(crate) fn entry(&self, index: usize) -> Option<IndexEntry<'_>> {
        self.entries.entry(index)
    }

    pub(crate) fn last_entry(&self) -> IndexEntry<'_> {
        self.entry(self.entries.len() - 1).expect("an index block has an entry")
    }

    /// Returns the slot for the data block that an entry points to.
    ///
    /// # Panics
    ///
    /// If `index` is out of bounds.
    pub(crate) fn slot(&self, index: usize) -> &BlockSlot {
        &self.slots[index]
    }

    /// Returns a key of this block as `Bytes` that share the memory of the block.
    ///
    /// # Panics
    ///
    /// If `key` is not a slice of the block.
    pub(crate) fn owned_key(&self, key: &[u8]) -> Bytes {
        self.entries.body().slice_ref(key)
    }

    /// Returns the size in memory, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Self>()
            + self.entries.body().len()
            + self.digits.as_ref().map_or(0, RowDigits::bytes)
            + size_of_val(&*self.slots)
    }
}

fn key_of(entries: &IndexEntries, index: usize) -> KeyRef<'_> {
    let entry = entries.entry(index).expect("the index is in bounds");
    KeyRef::parse(entry.key).expect("`new` has checked the keys")
}

#[cfg(test)]
mod tests {
    use cells::BlockOffset;

    use super::*;
    use crate::block::index_entry::write_index_entries;

    fn index(rows: &[&[u8]]) -> Result<IndexBlock, DamageReason> {
        let keys = rows.iter().map(|row| {
            let mut key = Vec::new();
            KeyRef::before_row(row).write_flat(&mut key);
            key
        });
        let keys: Vec<_> = keys.collect();
        let entries = keys.iter().enumerate().map(|(number, key)| {
            let offset = BlockOffset::new(number as u64 * 100);
            IndexEntry { block: BlockHandle { offset, len: 100 }, key }
        });
        let mut body = Vec::new();
        write_index_entries(&mut body, entries);
        IndexBlock::new(IndexEntries::new(body.into())?, Comparator::Bytes)
    }

    #[test]
    fn find_returns_the_last_entry_that_is_not_greater() {
        let index = index(&[b"b", b"d", b"f"]).unwrap();
        for (row, expected) in [(b"a", 0), (b"b", 0), (b"c", 0), (b"d", 1), (b"e", 1), (b"g", 2)] {
            assert_eq!(index.find(&KeyRef::before_row(row)), expected, "{row:?}");
        }
        assert_eq!(index.find(&KeyRef::after_row(b"a")), 0);
        assert_eq!(index.find(&KeyRef::after_row(b"d")), 1);
    }

    /// `find` relies on the order, which `new` checks for every index block.
    #[test]
    fn entries_out_of_order_are_rejected() {
        let refused = |rows: &[&[u8]]| index(rows).expect_err("out of order");
        assert_eq!(refused(&[b"b", b"a"]), "index keys out of order");
        let mut key = Vec::new();
        KeyRef::before_row(b"a").write_flat(&mut key);
        let entry = |offset| {
            let block = BlockHandle { offset: BlockOffset::new(offset), len: 100 };
            IndexEntry { block, key: &key }
        };
        let mut body = Vec::new();
        write_index_entries(&mut body, [entry(100), entry(0)].into_iter());
        let entries = IndexEntries::new(body.into()).expect("the entries lie in the block");
        let what = IndexBlock::new(entries, Comparator::Bytes).expect_err("out of order");
        assert_eq!(what, "blocks out of order in the index");
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "index entries out of order")]
    fn heads_of_other_entries_are_a_broken_invariant() {
        let mut index = index(&[b"b", b"d", b"f"]).expect("in order");
        index.digits = self::index(&[b"x", b"y", b"z"]).expect("in order").digits;
        let _ = index.find(&KeyRef::before_row(b"c"));
    }

    #[test]
    #[should_panic(expected = "index out of bounds")]
    fn a_slot_out_of_bounds_is_a_broken_invariant() {
        let _ = index(&[b"a", b"c"]).expect("in order").slot(2);
    }
}
