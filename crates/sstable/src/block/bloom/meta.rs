//! The meta block of HBase's compound Bloom filter: its parameters and the list of its chunks.
//!
//! A chunk is a block with the bits of one Bloom filter. Bit `p` is bit `p & 7` of byte `p >> 3`.
//!
//! The general filter and the delete-family filter have the same layout of the meta block. An
//! hvlong is Hadoop's variable-length integer, a flat key is the key of a cell as one byte string.
//!
//! | bytes  | field           | meaning                                                           |
//! |-------:|-----------------|-------------------------------------------------------------------|
//! |      4 | version         | i32 BE; 3                                                         |
//! |      8 | total byte size | i64 BE; bits of all chunks, in bytes                              |
//! |      4 | hash count      | i32 BE; bits set per key                                          |
//! |      4 | hash type       | i32 BE; 0 Jenkins, 1 Murmur, 2 Murmur3                            |
//! |      8 | key count       | i64 BE                                                            |
//! |      8 | max keys        | i64 BE; keys for which the chunks were sized                      |
//! |      4 | chunk count     | i32 BE                                                            |
//! | 1 + n  | comparator      | hvlong and class name; empty unless keys are flat keys (`ROWCOL`) |
//! |        | chunks          | a [root entry] per chunk: its block and its first key             |
//!
//! HBase: `CompoundBloomFilter`. HBase's unreleased trunk can write a [ribbon](super::ribbon)
//! filter instead.
//!
//! [root entry]: crate::block::index

use bytes::Bytes;
use filter::engine::RibbonChunk;

use crate::block::index_entry::{BlockHandle, IndexEntry, LengthForm};
use crate::encoding::DamageReason;
use crate::input::{Input, write_hvlong};

/// The contents of the meta block of a Bloom filter or of a ribbon.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct BloomMeta {
    pub(crate) total_byte_size: u64,
    /// 0 for a ribbon.
    pub(crate) hash_count: u32,
    /// The code of the hash function. The filter crate knows the codes.
    pub(crate) hash_type: i32,
    pub(crate) key_count: u64,
    /// For a ribbon, the number of slots.
    pub(crate) max_keys: u64,
    /// The class name of the comparator of keys; empty if they are compared bytewise.
    pub(crate) comparator: Vec<u8>,
    pub(crate) chunks: Vec<BloomChunk>,
    /// The shape of each chunk of a ribbon; empty for a Bloom filter.
    pub(crate) ribbon: Vec<RibbonChunk>,
}

/// The entry of a chunk in the meta block.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct BloomChunk {
    pub(crate) block: BlockHandle,
    pub(crate) first_key: Bytes,
}

impl BloomMeta {
    pub(super) const VERSION: i32 = 3;
    /// The class that orders the keys of `ROWCOL` filters.
    pub(crate) const CELL_COMPARATOR: &'static [u8] = b"org.apache.hadoop.hbase.CellComparatorImpl";
    /// More than any filter needs: HBase's error rate is an f32. Its least value, 2^−149, takes 149
    /// hashes.
    pub(super) const HASH_COUNT_MAX: u32 = 256;
    /// 2^31 bits: HBase counts the bits of a chunk in an i32.
    const CHUNK_LEN_MAX: u64 = 256 << 20;

    /// Appends the body of the meta block of a Bloom filter.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&Self::VERSION.to_be_bytes());
        out.extend_from_slice(&self.total_byte_size.to_be_bytes());
        out.extend_from_slice(&self.hash_count.to_be_bytes());
        out.extend_from_slice(&self.hash_type.to_be_bytes());
        out.extend_from_slice(&self.key_count.to_be_bytes());
        out.extend_from_slice(&self.max_keys.to_be_bytes());
        let count = u32::try_from(self.chunks.len()).expect("a file has fewer than 2^32 chunks");
        out.extend_from_slice(&count.to_be_bytes());
        write_hvlong(out, i64::try_from(self.comparator.len()).expect("a class name is short"));
        out.extend_from_slice(&self.comparator);
        for chunk in &self.chunks {
            IndexEntry { block: chunk.block, key: &chunk.first_key }.write_root(out);
        }
    }
}

/// Reads the class name of the comparator, which may be empty.
pub(super) fn read_comparator(input: &mut Input<'_>) -> Result<Vec<u8>, DamageReason> {
    let len = input.hvlong().and_then(|len| usize::try_from(len).ok());
    let comparator = len.and_then(|len| input.take(len));
    Ok(comparator.ok_or("the comparator exceeds the block")?.to_vec())
}

/// Reads the entries of `count` chunks, which must end at the end of the block.
///
/// `body` is the whole block, of which `input` is the rest. The first keys share its memory. More
/// than `chunks_max` chunks are damage.
pub(super) fn read_chunks(
    input: &mut Input<'_>,
    body: &Bytes,
    count: usize,
    chunks_max: usize,
) -> Result<Vec<BloomChunk>, DamageReason> {
    if count > input.len() / IndexEntry::ROOT_LEN_MIN {
        return Err(format!("{count} chunks in {} bytes", input.len()).into());
    }
    if count > chunks_max {
        return Err(format!("{count} chunks in a file that can hold {chunks_max}").into());
    }
    let mut chunks = Vec::with_capacity(count);
    for _ in 0..count {
        let entry = IndexEntry::read_root(input, LengthForm::Hvlong)?;
        if u64::from(entry.block.len) > BloomMeta::CHUNK_LEN_MAX {
            return Err("a chunk exceeds 256 MiB".into());
        }
        chunks.push(BloomChunk { block: entry.block, first_key: body.slice_ref(entry.key) });
    }
    if !input.is_empty() {
        return Err("trailing bytes after the chunks".into());
    }
    Ok(chunks)
}

/// Reads an i64, which must not be negative.
pub(super) fn read_count(input: &mut Input<'_>) -> Result<u64, DamageReason> {
    let number = input.array().ok_or("ends in the filter parameters")?;
    u64::try_from(i64::from_be_bytes(number)).map_err(|_| "negative number".into())
}
