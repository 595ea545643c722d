//! HBase's compound Bloom filter as it stands in a file: many chunks, and a meta block about them.
//!
//! A chunk is a block of bits and nothing else; bit `p` is `1 << (p & 7)` of byte `p >> 3`. The meta
//! block of the general and of the delete-family filter:
//!
//! | bytes  | field           | meaning                                                           |
//! |-------:|-----------------|-------------------------------------------------------------------|
//! |      4 | version         | i32 BE; 3                                                         |
//! |      8 | total byte size | i64 BE; of all chunks                                             |
//! |      4 | hash count      | i32 BE; bits a key sets                                           |
//! |      4 | hash type       | i32 BE; 0 Jenkins, 1 Murmur, 2 Murmur3                            |
//! |      8 | key count       | i64 BE                                                            |
//! |      8 | max keys        | i64 BE; what the chunks were sized for                            |
//! |      4 | chunk count     | i32 BE                                                            |
//! | 1 + n  | comparator      | hvlong and class name; empty unless keys are flat keys (`ROWCOL`) |
//! |        | chunks          | [root index entries](super::index) with the first key of each     |
//!
//! HBase's trunk has another filter with a meta block of [its own](super::ribbon) in the same place.
//!
//! HBase: `CompoundBloomFilter`.
#![cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]

use std::fmt;

use bytes::Bytes;
use filter::bloom::hbase_ribbon::RibbonChunk;

use super::index::{BlockPlace, IndexEntry};
use super::ribbon;
use crate::encoding::What;
use crate::input::{Input, write_hvlong};

/// What HBase's Bloom filter of a file is asked about.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum BloomType {
    /// Nothing: the file has no general Bloom filter.
    None,
    /// Rows. HBase's default.
    #[default]
    Row,
    /// Columns of rows: row and qualifier together.
    RowCol,
    /// The first bytes of rows, this many; a shorter row stands for itself.
    RowPrefixFixedLength(u16),
}

impl BloomType {
    /// HBase's name for it, as in `ROWPREFIX_FIXED_LENGTH`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "NONE",
            Self::Row => "ROW",
            Self::RowCol => "ROWCOL",
            Self::RowPrefixFixedLength(_) => "ROWPREFIX_FIXED_LENGTH",
        }
    }

    /// The type of this name; `prefix_len` is for the one type that has such a length.
    pub fn from_name(name: &str, prefix_len: u16) -> Option<Self> {
        [Self::None, Self::Row, Self::RowCol, Self::RowPrefixFixedLength(prefix_len)]
            .into_iter()
            .find(|known| known.name() == name)
    }
}

impl fmt::Display for BloomType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a Bloom meta block says.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct BloomMeta {
    pub(crate) total_byte_size: u64,
    pub(crate) hash_count: u32,
    /// The code of the hash; the filter crate knows what it stands for.
    pub(crate) hash_type: i32,
    pub(crate) key_count: u64,
    pub(crate) max_keys: u64,
    /// Class name; empty if keys are compared as bytes.
    pub(crate) comparator: Vec<u8>,
    pub(crate) chunks: Vec<BloomChunk>,
    /// The shapes of the chunks, where they are ribbons and no Bloom filters.
    pub(crate) ribbon: Vec<RibbonChunk>,
}

/// One chunk, as the meta block lists it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct BloomChunk {
    pub(crate) block: BlockPlace,
    pub(crate) first_key: Bytes,
}

impl BloomMeta {
    const VERSION: i32 = 3;
    /// The class that orders the keys of `ROWCOL` filters.
    pub(crate) const CELL_COMPARATOR: &'static [u8] = b"org.apache.hadoop.hbase.CellComparatorImpl";
    /// More bits a key than any error rate that a float can hold asks for.
    const HASH_COUNT_MAX: u32 = 256;
    /// The bits of a chunk are counted in an i32.
    const CHUNK_LEN_MAX: u64 = 256 << 20;

    /// Appends the body of the block.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&Self::VERSION.to_be_bytes());
        out.extend_from_slice(&self.total_byte_size.to_be_bytes());
        out.extend_from_slice(&self.hash_count.to_be_bytes());
        out.extend_from_slice(&self.hash_type.to_be_bytes());
        out.extend_from_slice(&self.key_count.to_be_bytes());
        out.extend_from_slice(&self.max_keys.to_be_bytes());
        let count = u32::try_from(self.chunks.len()).expect("fewer chunks than bytes");
        out.extend_from_slice(&count.to_be_bytes());
        write_hvlong(out, i64::try_from(self.comparator.len()).unwrap_or(i64::MAX));
        out.extend_from_slice(&self.comparator);
        for chunk in &self.chunks {
            IndexEntry { block: chunk.block, key: &chunk.first_key }.write_root(out);
        }
    }

    /// Reads the body of the block, in a file that has room for `chunks_max` chunks.
    pub(crate) fn read(body: &Bytes, chunks_max: usize) -> Result<Self, What> {
        let mut input = Input::new(body);
        let ends = "ends in the numbers about the filter";
        let version = input.array().map(i32::from_be_bytes).ok_or(ends)?;
        match version {
            Self::VERSION => {}
            ribbon::VERSION => return ribbon::read(&mut input, body, chunks_max),
            _ => return Err(format!("Bloom filter of version {version}").into()),
        }
        let total_byte_size = number(&mut input)?;
        let hash_count = input.len_i32().and_then(|count| u32::try_from(count).ok());
        let hash_count = hash_count.filter(|count| (1..=Self::HASH_COUNT_MAX).contains(count));
        let hash_count = hash_count.ok_or("an impossible number of hashes")?;
        let hash_type = input.array().map(i32::from_be_bytes).ok_or(ends)?;
        let (key_count, max_keys) = (number(&mut input)?, number(&mut input)?);
        let count = input.len_i32().ok_or("no count of chunks")?;
        let comparator = read_comparator(&mut input)?;
        let chunks = read_chunks(&mut input, body, count, chunks_max)?;
        let ribbon = Vec::new();
        Ok(Self {
            total_byte_size,
            hash_count,
            hash_type,
            key_count,
            max_keys,
            comparator,
            chunks,
            ribbon,
        })
    }
}

/// The name of a class, or nothing.
pub(super) fn read_comparator(input: &mut Input<'_>) -> Result<Vec<u8>, What> {
    let len = input.hvlong().and_then(|len| usize::try_from(len).ok());
    let comparator = len.and_then(|len| input.take(len));
    Ok(comparator.ok_or("the comparator goes past the block")?.to_vec())
}

/// Where the chunks are, to the end of the block.
pub(super) fn read_chunks(
    input: &mut Input<'_>,
    body: &Bytes,
    count: usize,
    chunks_max: usize,
) -> Result<Vec<BloomChunk>, What> {
    if count > input.len().checked_div(IndexEntry::root_len(0)).unwrap_or(0) {
        return Err(format!("{count} chunks in {} bytes", input.len()).into());
    }
    if count > chunks_max {
        return Err(format!("{count} chunks where {chunks_max} blocks have room").into());
    }
    let mut chunks = Vec::with_capacity(count);
    for _ in 0..count {
        let entry = IndexEntry::read_root(input)?;
        if u64::from(entry.block.len) > BloomMeta::CHUNK_LEN_MAX {
            return Err("a chunk of more than 256 MiB".into());
        }
        chunks.push(BloomChunk { block: entry.block, first_key: body.slice_ref(entry.key) });
    }
    if !input.is_empty() {
        return Err("bytes behind the chunks".into());
    }
    Ok(chunks)
}

/// A number of eight bytes that is not negative.
pub(super) fn number(input: &mut Input<'_>) -> Result<u64, What> {
    let number = input.array().ok_or("ends in the numbers about the filter")?;
    u64::try_from(i64::from_be_bytes(number)).map_err(|_| "a negative number".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The body of the Bloom meta block of a file that HBase wrote.
    fn real(file: &[u8]) -> Bytes {
        let at = file.windows(8).position(|magic| magic == b"BLMFMET2").unwrap();
        let len = u32::from_be_bytes(file[at + 29..at + 33].try_into().unwrap()) as usize;
        Bytes::copy_from_slice(&file[at + 33..at + len])
    }

    fn rows() -> Bytes {
        real(include_bytes!("../../../../tests/data/hfile/s06-many-bloom-chunks.hfile"))
    }

    #[test]
    fn metas_of_hbase_are_read_and_written_again() {
        let columns =
            real(include_bytes!("../../../../tests/data/hfile/p13-fastdiff-none-rowcol.hfile"));
        for (body, comparator) in [(rows(), &b""[..]), (columns, BloomMeta::CELL_COMPARATOR)] {
            let meta = BloomMeta::read(&body, 1000).unwrap();
            assert!(!meta.chunks.is_empty());
            assert_eq!(meta.comparator, comparator);
            assert!(meta.chunks.is_sorted_by_key(|chunk| chunk.block.offset));
            let mut written = Vec::new();
            meta.write(&mut written);
            assert_eq!(written, body);
        }
    }

    #[test]
    fn a_cut_anywhere_is_damage() {
        let body = rows();
        for len in 0..body.len() {
            assert!(BloomMeta::read(&body.slice(..len), 1000).is_err(), "{len}");
        }
    }

    #[test]
    fn more_chunks_than_the_file_has_room_for_are_damage() {
        let count = BloomMeta::read(&rows(), 1000).unwrap().chunks.len();
        assert!(BloomMeta::read(&rows(), count).is_ok());
        assert!(BloomMeta::read(&rows(), count - 1).is_err());
    }

    #[test]
    fn impossible_numbers_are_damage() {
        for (at, bytes) in [
            (0, &[0, 0, 0, 4][..]),
            (4, &[0x80]),
            (12, &[0, 0, 0, 0]),
            (12, &[0, 0, 1, 1]),
            (20, &[0x80]),
            (28, &[0x80]),
            (36, &[0x7f]),
            (36, &[0, 0, 0, 1]),
            (40, &[0xff]),
        ] {
            let mut bad = rows().to_vec();
            bad[at..at + bytes.len()].copy_from_slice(bytes);
            assert!(BloomMeta::read(&bad.into(), 1000).is_err(), "bytes at {at}");
        }
    }
}
