//! Index entries: where blocks are, and with which key each begins.
//!
//! In a root (of the data index, of the meta index, of a Bloom filter) entries stand end to end; how
//! many there are is said elsewhere.
//!
//! | bytes | field                      | meaning                                                 |
//! |------:|----------------------------|---------------------------------------------------------|
//! |     8 | block offset               | i64 BE                                                  |
//! |     4 | on-disk size               | i32 BE; header, data and checksums                      |
//! |  1..9 | key length `k`             | hvlong                                                  |
//! |   `k` | key                        | flat key of a cell, name of a META block, Bloom key     |
//!
//! The root of a data index of several levels ends with where its middle is: leaf offset (i64),
//! leaf's on-disk size (i32), number of the entry in that leaf (i32).
//!
//! Leaf and intermediate blocks can be searched as they are:
//!
//! | bytes     | field                  | meaning                                                 |
//! |----------:|------------------------|---------------------------------------------------------|
//! |         4 | entry count `n`        | i32 BE                                                  |
//! | 4·(n + 1) | entry offsets          | i32 BE each, from the end of this array; the last is    |
//! |           |                        | the bytes of all entries                                |
//! |           | entries                | block offset (i64), on-disk size (i32), key             |

use bytes::Bytes;

use crate::encoding::DamageReason;
use crate::input::{Input, hvlong_len, write_hvlong};
use crate::{BlockOffset, BlockType};

/// Where a block is, and the first key in it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct IndexEntry<'a> {
    pub(crate) block: BlockPlace,
    pub(crate) key: &'a [u8],
}

/// Where a block is, and how many bytes it takes there with header and checksums.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct BlockPlace {
    pub(crate) offset: BlockOffset,
    pub(crate) len: u32,
}

/// Where a block of a known type is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TypedPlace {
    pub(crate) place: BlockPlace,
    pub(crate) block_type: BlockType,
}

impl BlockPlace {
    /// Returns the place of a block that has to be of type `block_type`.
    pub(crate) const fn of_type(self, block_type: BlockType) -> TypedPlace {
        TypedPlace { place: self, block_type }
    }

    /// The bytes a place takes in an entry.
    pub(crate) const LEN: usize = 12;

    /// How many bytes the block takes in the file.
    #[inline]
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
    /// The bytes of an entry of a root whose key is empty.
    pub(crate) const ROOT_LEN_MIN: usize = BlockPlace::LEN + 1;

    /// Reads an entry of a root.
    pub(crate) fn read_root(input: &mut Input<'a>) -> Result<Self, DamageReason> {
        let block = BlockPlace::read(input).ok_or("an index entry without a place")?;
        let len = input.hvlong().and_then(|len| usize::try_from(len).ok());
        let key = len.and_then(|len| input.take(len)).ok_or("an index key goes past the block")?;
        Ok(Self { block, key })
    }

    /// Appends an entry of a root.
    pub(crate) fn write_root(&self, out: &mut Vec<u8>) {
        self.block.write(out);
        write_hvlong(out, i64::try_from(self.key.len()).expect("a key is shorter than 2 GiB"));
        out.extend_from_slice(self.key);
    }

    /// The bytes that [`write_root`](Self::write_root) appends for a key of this length.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "the key is in memory, and no more is added"
    )]
    pub(crate) fn root_len(key_len: usize) -> usize {
        let len = i64::try_from(key_len).expect("a key is shorter than 2 GiB");
        BlockPlace::LEN + hvlong_len(len) + key_len
    }
}

/// The middle of a data index of several levels.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct MiddleEntry {
    pub(crate) leaf: BlockPlace,
    pub(crate) entry_in_leaf: u32,
}

impl MiddleEntry {
    pub(crate) fn read(input: &mut Input<'_>) -> Option<Self> {
        let leaf = BlockPlace::read(input)?;
        Some(Self { leaf, entry_in_leaf: u32::try_from(input.len_i32()?).ok()? })
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        self.leaf.write(out);
        out.extend_from_slice(&self.entry_in_leaf.to_be_bytes());
    }
}

/// Appends the body of a leaf or intermediate block.
pub(crate) fn write_branch<'a>(
    out: &mut Vec<u8>,
    entries: impl Iterator<Item = IndexEntry<'a>> + Clone,
) {
    let count = u32::try_from(entries.clone().count()).expect("fewer entries than bytes");
    out.extend_from_slice(&count.to_be_bytes());
    let mut offset = 0_u32;
    out.extend_from_slice(&offset.to_be_bytes());
    for entry in entries.clone() {
        let end = entry.key.len().checked_add(BlockPlace::LEN);
        let end = end.and_then(|len| u32::try_from(len).ok()?.checked_add(offset));
        offset = end.expect("an index block is shorter than 2 GiB");
        out.extend_from_slice(&offset.to_be_bytes());
    }
    for entry in entries {
        entry.block.write(out);
        out.extend_from_slice(entry.key);
    }
}

/// Where the first offset of an entry stands, behind the count.
const FIRST_OFFSET_AT: usize = 4;

/// A leaf or intermediate block, checked when it is made and searched as it stands.
#[derive(Clone, Debug)]
pub(crate) struct Branch {
    body: Bytes,
    count: usize,
    entries_at: usize,
}

impl Branch {
    /// Takes the body of a block, whose offsets and places it checks.
    pub(crate) fn new(body: Bytes) -> Result<Self, DamageReason> {
        let mut input = Input::new(&body);
        let count = input.len_i32().ok_or("no count of index entries")?;
        let offsets_len = count.checked_add(1).and_then(|offsets| offsets.checked_mul(4));
        let offsets = offsets_len.and_then(|len| input.take(len));
        let (offsets, _) = offsets.ok_or("the index entries go past the block")?.as_chunks::<4>();
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
                    let entry = entry.first_chunk::<{ BlockPlace::LEN }>().ok_or(overlap)?;
                    let place = BlockPlace::read(&mut Input::new(entry));
                    place.ok_or("an index entry without a place")?;
                }
            }
            start = Some(end);
        }
        if start != Some(entries.len()) {
            return Err("bytes behind the index entries".into());
        }
        let entries_at = FIRST_OFFSET_AT.checked_add(offsets.as_flattened().len());
        let entries_at = entries_at.expect("both are in memory");
        Ok(Self { body, count, entries_at })
    }

    /// The entries; at least one.
    pub(crate) const fn len(&self) -> usize {
        self.count
    }

    /// The bytes of the block.
    pub(crate) const fn body(&self) -> &Bytes {
        &self.body
    }

    /// The entry of this number, counted from 0; `None` past the last.
    #[inline]
    pub(crate) fn entry(&self, index: usize) -> Option<IndexEntry<'_>> {
        (index < self.count).then(|| self.entry_within(index))
    }

    #[inline]
    #[expect(
        clippy::arithmetic_side_effects,
        clippy::indexing_slicing,
        reason = "the offsets were checked when the block was made"
    )]
    fn entry_within(&self, index: usize) -> IndexEntry<'_> {
        let at = FIRST_OFFSET_AT + 4 * index;
        let (offsets, _) = self.body[at..at + 8].as_chunks::<4>();
        let [start, end] = [offsets[0], offsets[1]].map(|offset| {
            let offset = u32::from_be_bytes(offset);
            self.entries_at + usize::try_from(offset).expect("a usize has 32 bits or more")
        });
        let mut input = Input::new(&self.body[start..end]);
        let block = BlockPlace::read(&mut input).expect("places are checked");
        IndexEntry { block, key: input.rest() }
    }

    /// Every entry, in the order of the keys.
    pub(crate) fn entries(&self) -> impl Iterator<Item = IndexEntry<'_>> {
        (0..self.count).map(|index| self.entry_within(index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(offset: u64, len: u32, key: &[u8]) -> IndexEntry<'_> {
        IndexEntry { block: BlockPlace { offset: BlockOffset::new(offset), len }, key }
    }

    /// The one root entry of the file in appendix A of the format description.
    const ROOT: &[u8] = b"\0\0\0\0\0\0\0\0\0\0\0\xb7\x12\0\x04row1\x01fa\0\0\0\0\0\0\x03\xe8\x04";

    #[test]
    fn a_root_entry_of_hbase_is_read_and_written_again() {
        let mut input = Input::new(ROOT);
        let read = IndexEntry::read_root(&mut input).unwrap();
        assert!(input.is_empty());
        assert_eq!(read, entry(0, 183, &ROOT[13..]));
        let mut written = Vec::new();
        read.write_root(&mut written);
        assert_eq!(written, ROOT);
        assert_eq!(IndexEntry::root_len(18), ROOT.len());
        for len in 0..ROOT.len() {
            assert!(IndexEntry::read_root(&mut Input::new(&ROOT[..len])).is_err());
        }
    }

    #[test]
    fn places_before_the_file_are_refused() {
        let mut bad = ROOT.to_vec();
        bad[0] = 0x80;
        assert!(IndexEntry::read_root(&mut Input::new(&bad)).is_err());
        let mut bad = ROOT.to_vec();
        bad[12] = 0xff; // A key of −1 bytes.
        assert!(IndexEntry::read_root(&mut Input::new(&bad)).is_err());
    }

    #[test]
    fn the_middle_reads_back() {
        let middle = MiddleEntry {
            leaf: BlockPlace { offset: BlockOffset::new(7), len: 9 },
            entry_in_leaf: 3,
        };
        let mut written = Vec::new();
        middle.write(&mut written);
        assert_eq!(written.len(), 16);
        assert_eq!(MiddleEntry::read(&mut Input::new(&written)), Some(middle));
        assert_eq!(MiddleEntry::read(&mut Input::new(&written[..15])), None);
    }

    /// The first leaf of a file that HBase wrote with an index of three levels.
    fn leaf() -> Bytes {
        let file = include_bytes!("../../../../tests/data/hfile/s04-three-index-levels.hfile");
        let at = file.windows(8).position(|magic| magic == b"IDXLEAF2").unwrap();
        let len = u32::from_be_bytes(file[at + 29..at + 33].try_into().unwrap()) as usize;
        Bytes::copy_from_slice(&file[at + 33..at + len])
    }

    #[test]
    fn a_leaf_of_hbase_is_read_and_written_again() {
        let body = leaf();
        let branch = Branch::new(body.clone()).unwrap();
        let entries: Vec<_> = branch.entries().collect();
        assert!(entries.len() > 1);
        assert_eq!(entries.len(), branch.len());
        assert!(entries.is_sorted_by_key(|entry| crate::KeyRef::parse(entry.key).unwrap()));
        assert!(entries.is_sorted_by_key(|entry| entry.block.offset));
        assert_eq!(branch.entry(entries.len()), None);
        let mut written = Vec::new();
        write_branch(&mut written, entries.into_iter());
        assert_eq!(written, body);
    }

    #[test]
    fn leaves_that_contradict_themselves_are_refused() {
        let body = leaf();
        for len in 0..body.len() {
            assert!(Branch::new(body.slice(..len)).is_err(), "{len}");
        }
        for (at, byte) in [(0, 0x80), (0, 0x7f), (4, 1), (7, 1), (8, 0x80), (11, 11), (8, 1)] {
            let mut bad = body.to_vec();
            bad[at] = byte;
            assert!(Branch::new(bad.into()).is_err(), "byte {at} is {byte}");
        }
        assert!(Branch::new(Bytes::from_static(&[0; 8])).is_err(), "an index of nothing");
    }
}
