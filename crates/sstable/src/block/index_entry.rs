//! Index entries: for each block, its handle and a lower bound of its keys.
//!
//! The key of a data block is at most the block's first key and at least the last key of the
//! previous block; the writer chooses a short key in between. The key of a META block is its name.
//!
//! The root of an index (of data blocks, META blocks or Bloom chunks) is a plain sequence of
//! entries. Their number is not in the root, but in the trailer or the Bloom meta block.
//!
//! | bytes | field                      | meaning                                                 |
//! |------:|----------------------------|---------------------------------------------------------|
//! |     8 | block offset               | i64 BE                                                  |
//! |     4 | on-disk size               | i32 BE; header, data and checksums                      |
//! |  1..9 | key length `k`             | hvlong: Hadoop's variable-length integer                |
//! |   `k` | key                        | flat key of a cell, name of a META block, Bloom key     |
//!
//! The root of a multi-level data index ends with the position of the middle entry, at which HBase
//! splits a region (mid-key): offset of its leaf block (i64), on-disk size of the leaf (i32), index
//! of the entry in the leaf (i32).
//!
//! Leaf and intermediate blocks start with an offset array, for binary search without decoding:
//!
//! | bytes     | field                  | meaning                                                 |
//! |----------:|------------------------|---------------------------------------------------------|
//! |         4 | entry count `n`        | i32 BE                                                  |
//! | 4·(n + 1) | entry offsets          | i32 BE each, from the end of this array; the last is    |
//! |           |                        | the total length of all entries                         |
//! |           | entries                | block offset (i64), on-disk size (i32), key             |

use bytes::Bytes;
use cells::BlockOffset;

use crate::encoding::DamageReason;
use crate::error::BlockType;
use crate::input::{Input, hvlong_len, write_hvlong};

/// The handle of a block, with a key: a lower bound of the block's keys, or a META block's name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct IndexEntry<'a> {
    pub(crate) block: BlockHandle,
    pub(crate) key: &'a [u8],
}

/// The offset of a block and its length on disk, with header and checksums.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct BlockHandle {
    pub(crate) offset: BlockOffset,
    pub(crate) len: u32,
}

/// The handle of a block whose type is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TypedHandle {
    pub(crate) handle: BlockHandle,
    pub(crate) block_type: BlockType,
}

/// How an index root states the lengths of its keys.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum LengthForm {
    /// Hadoop's variable-length integer, as HBase.
    Hvlong,
    /// Protobuf's variable-length integer, as Hudi 1.1.
    Vint,
}

/// The names of the META blocks in ascending order, with the blocks' locations.
pub(crate) type MetaIndex = Vec<(Bytes, BlockHandle)>;

impl BlockHandle {
    /// Combines the handle with the type that the block must have.
    pub(crate) const fn of_type(self, block_type: BlockType) -> TypedHandle {
        TypedHandle { handle: self, block_type }
    }

    /// Bytes of a handle in an index entry.
    pub(crate) const LEN: usize = 12;

    /// The length on disk as a `usize`.
    pub(crate) fn byte_len(self) -> usize {
        usize::try_from(self.len).expect("a usize has 32 bits or more")
    }

    fn read(input: &mut Input<'_>) -> Option<Self> {
        let offset = u64::try_from(i64::from_be_bytes(input.array()?)).ok()?;
        let len = u32::try_from(input.len_i32()?).ok()?;
        Some(Self { offset: BlockOffset::new(offset), len })
    }

    fn write(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.offset.get().to_be_bytes());
        out.extend_from_slice(&self.len.to_be_bytes());
    }
}

impl<'a> IndexEntry<'a> {
    /// Bytes of the shortest entry of a root: a handle, a length of one byte and an empty key.
    pub(crate) const ROOT_LEN_MIN: usize = BlockHandle::LEN + 1;

    /// Reads the next entry of a root.
    pub(crate) fn read_root(
        input: &mut Input<'a>,
        lengths: LengthForm,
    ) -> Result<Self, DamageReason> {
        let block = BlockHandle::read(input).ok_or("bad block offset or size in an index entry")?;
        let len = match lengths {
            LengthForm::Hvlong => input.hvlong().and_then(|len| usize::try_from(len).ok()),
            LengthForm::Vint => input.vint(),
        };
        let key = len.and_then(|len| input.take(len)).ok_or("an index key exceeds the block")?;
        Ok(Self { block, key })
    }

    /// Appends an entry of a root.
    pub(crate) fn write_root(&self, out: &mut Vec<u8>) {
        self.block.write(out);
        write_hvlong(out, i64::try_from(self.key.len()).expect("a key is shorter than 2 GiB"));
        out.extend_from_slice(self.key);
    }

    /// Bytes that [`write_root`](Self::write_root) appends for a key of this length.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "the key is in memory; at most 21 bytes are added"
    )]
    pub(crate) fn root_len(key_len: usize) -> usize {
        let len = i64::try_from(key_len).expect("a key is shorter than 2 GiB");
        BlockHandle::LEN + hvlong_len(len) + key_len
    }
}

/// The position of the middle entry of a multi-level data index.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct MiddleEntry {
    pub(crate) leaf: BlockHandle,
    pub(crate) entry_in_leaf: u32,
}

impl MiddleEntry {
    /// Bytes of the entry.
    pub(crate) const LEN: usize = BlockHandle::LEN + 4;

    pub(crate) fn read(input: &mut Input<'_>) -> Option<Self> {
        let leaf = BlockHandle::read(input)?;
        Some(Self { leaf, entry_in_leaf: u32::try_from(input.len_i32()?).ok()? })
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        self.leaf.write(out);
        out.extend_from_slice(&self.entry_in_leaf.to_be_bytes());
    }
}

/// Appends the body of a leaf or intermediate block.
pub(crate) fn write_index_entries<'a>(
    out: &mut Vec<u8>,
    entries: impl Iterator<Item = IndexEntry<'a>> + Clone,
) {
    let count = u32::try_from(entries.clone().count()).expect("fewer entries than bytes");
    out.extend_from_slice(&count.to_be_bytes());
    let mut offset = 0_u32;
    out.extend_from_slice(&offset.to_be_bytes());
    for entry in entries.clone() {
        let end = entry.key.len().checked_add(BlockHandle::LEN);
        let end = end.and_then(|len| u32::try_from(len).ok()?.checked_add(offset));
        offset = end.expect("an index block is shorter than 2 GiB");
        out.extend_from_slice(&offset.to_be_bytes());
    }
    for entry in entries {
        entry.block.write(out);
        out.extend_from_slice(entry.key);
    }
}

/// Position of the offset array in an index block: after the entry count.
const FIRST_OFFSET_AT: usize = 4;

/// The entries of a leaf or intermediate block, checked once and searched in place.
#[derive(Clone, Debug)]
pub(crate) struct IndexEntries {
    body: Bytes,
    count: usize,
    entries_at: usize,
}

impl IndexEntries {
    /// Checks the entry offsets and the block handles in the body of a block. Does not check keys.
    pub(crate) fn new(body: Bytes) -> Result<Self, DamageReason> {
        let mut input = Input::new(&body);
        let count = input.len_i32().ok_or("no count of index entries")?;
        let offsets_len = count.checked_add(1).and_then(|offsets| offsets.checked_mul(4));
        let offsets = offsets_len.and_then(|len| input.take(len));
        let (offsets, _) = offsets.ok_or("the index entries exceed the block")?.as_chunks::<4>();
        if count == 0 {
            return Err("no index entries".into());
        }
        let entries = input.rest();
        let mut start = None;
        for offset in offsets {
            let overlap = "index entries overlap or leave the block";
            let end = usize::try_from(i32::from_be_bytes(*offset)).map_err(|_| overlap)?;
            match start {
                None if end != 0 => return Err(overlap.into()),
                None => {}
                Some(start) => {
                    let entry = entries.get(start..end).ok_or(overlap)?;
                    let entry = entry.first_chunk::<{ BlockHandle::LEN }>().ok_or(overlap)?;
                    let handle = BlockHandle::read(&mut Input::new(entry));
                    handle.ok_or("bad block offset or size in an index entry")?;
                }
            }
            start = Some(end);
        }
        if start != Some(entries.len()) {
            return Err("trailing bytes after the index entries".into());
        }
        let entries_at = FIRST_OFFSET_AT.checked_add(offsets.as_flattened().len());
        let entries_at = entries_at.expect("both are in memory");
        Ok(Self { body, count, entries_at })
    }

    /// The number of entries, at least 1.
    pub(crate) const fn len(&self) -> usize {
        self.count
    }

    /// The body of the block.
    pub(crate) const fn body(&self) -> &Bytes {
        &self.body
    }

    /// Returns the entry at `index`; `None` past the last.
    #[inline]
    pub(crate) fn entry(&self, index: usize) -> Option<IndexEntry<'_>> {
        (index < self.count).then(|| self.entry_within(index))
    }

    #[inline]
    #[expect(
        clippy::arithmetic_side_effects,
        clippy::indexing_slicing,
        reason = "`new` has checked the offsets"
    )]
    fn entry_within(&self, index: usize) -> IndexEntry<'_> {
        let at = FIRST_OFFSET_AT + 4 * index;
        let (offsets, _) = self.body[at..at + 8].as_chunks::<4>();
        let [start, end] = [offsets[0], offsets[1]].map(|offset| {
            let offset = u32::from_be_bytes(offset);
            self.entries_at + usize::try_from(offset).expect("a usize has 32 bits or more")
        });
        let mut input = Input::new(&self.body[start..end]);
        let block = BlockHandle::read(&mut input).expect("`new` has checked the handles");
        IndexEntry { block, key: input.rest() }
    }

    /// Iterates over all entries, in the order of their keys.
    pub(crate) fn entries(&self) -> impl Iterator<Item = IndexEntry<'_>> {
        (0..self.count).map(|index| self.entry_within(index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(offset: u64, len: u32, key: &[u8]) -> IndexEntry<'_> {
        IndexEntry { block: BlockHandle { offset: BlockOffset::new(offset), len }, key }
    }

    /// The only root entry of a small HFile that HBase wrote.
    const ROOT: &[u8] = b"\0\0\0\0\0\0\0\0\0\0\0\xb7\x12\0\x04row1\x01fa\0\0\0\0\0\0\x03\xe8\x04";

    #[test]
    fn a_root_entry_from_hbase_round_trips() {
        let mut input = Input::new(ROOT);
        let read = IndexEntry::read_root(&mut input, LengthForm::Hvlong).unwrap();
        assert!(input.is_empty());
        assert_eq!(read, entry(0, 183, &ROOT[13..]));
        let mut written = Vec::new();
        read.write_root(&mut written);
        assert_eq!(written, ROOT);
        assert_eq!(IndexEntry::root_len(18), ROOT.len());
        for len in 0..ROOT.len() {
            assert!(
                IndexEntry::read_root(&mut Input::new(&ROOT[..len]), LengthForm::Hvlong).is_err()
            );
        }
    }

    #[test]
    fn negative_offsets_and_key_lengths_are_rejected() {
        let mut bad = ROOT.to_vec();
        bad[0] = 0x80;
        assert!(IndexEntry::read_root(&mut Input::new(&bad), LengthForm::Hvlong).is_err());
        let mut bad = ROOT.to_vec();
        bad[12] = 0xff; // A key of −1 bytes.
        assert!(IndexEntry::read_root(&mut Input::new(&bad), LengthForm::Hvlong).is_err());
    }

    #[test]
    fn a_middle_entry_round_trips() {
        let middle = MiddleEntry {
            leaf: BlockHandle { offset: BlockOffset::new(7), len: 9 },
            entry_in_leaf: 3,
        };
        let mut written = Vec::new();
        middle.write(&mut written);
        assert_eq!(written.len(), 16);
        assert_eq!(MiddleEntry::read(&mut Input::new(&written)), Some(middle));
        assert_eq!(MiddleEntry::read(&mut Input::new(&written[..15])), None);
    }

    /// The first leaf of an HBase file with a three-level index.
    fn leaf() -> Bytes {
        let file = include_bytes!("../../testdata/s04-three-index-levels.hfile");
        let at = file.windows(8).position(|magic| magic == b"IDXLEAF2").unwrap();
        let len = u32::from_be_bytes(file[at + 29..at + 33].try_into().unwrap()) as usize;
        Bytes::copy_from_slice(&file[at + 33..at + len])
    }

    #[test]
    fn a_leaf_from_hbase_round_trips() {
        let body = leaf();
        let branch = IndexEntries::new(body.clone()).unwrap();
        let entries: Vec<_> = branch.entries().collect();
        assert!(entries.len() > 1);
        assert_eq!(entries.len(), branch.len());
        assert!(entries.is_sorted_by_key(|entry| cells::KeyRef::parse(entry.key).unwrap()));
        assert!(entries.is_sorted_by_key(|entry| entry.block.offset));
        assert_eq!(branch.entry(entries.len()), None);
        let mut written = Vec::new();
        write_index_entries(&mut written, entries.into_iter());
        assert_eq!(written, body);
    }

    #[test]
    fn inconsistent_leaves_are_rejected() {
        let body = leaf();
        for len in 0..body.len() {
            assert!(IndexEntries::new(body.slice(..len)).is_err(), "{len}");
        }
        for (at, byte) in [(0, 0x80), (0, 0x7f), (4, 1), (7, 1), (8, 0x80), (11, 11), (8, 1)] {
            let mut bad = body.to_vec();
            bad[at] = byte;
            assert!(IndexEntries::new(bad.into()).is_err(), "byte {at} is {byte}");
        }
        assert!(
            IndexEntries::new(Bytes::from_static(&[0; 8])).is_err(),
            "an index without entries"
        );
    }
}
