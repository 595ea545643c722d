//! The meta block of the ribbon filter that HBase's trunk can write instead of a Bloom filter.
//!
//! A chunk of a ribbon is an array of slots, in blocks of 64. All slots of a block have the same
//! number of bits, its columns. From some block on, the blocks of a chunk have one column more than
//! those before it.
//!
//! | bytes  | field            | meaning                                                          |
//! |-------:|------------------|------------------------------------------------------------------|
//! |      4 | version          | i32 BE; 101                                                      |
//! |      8 | total byte size  | i64 BE; of all chunks                                            |
//! |      4 | bandwidth        | i32 BE; 64, the number of adjacent slots that a key can use      |
//! |      4 | hash type        | i32 BE; as in a [Bloom meta block](super::meta)                 |
//! |      8 | overhead         | f64 BE; extra slots as a fraction of the keys                    |
//! |      8 | key count        | i64 BE                                                           |
//! |      8 | slot count       | i64 BE; of all chunks                                            |
//! |      4 | chunk count `n`  | i32 BE                                                           |
//! |  1 + … | comparator       | as in a Bloom meta block                                         |
//! |  4 · n | slots            | i32 BE for each chunk                                            |
//! |  8 · n | columns          | two i32 BE for each chunk: the most columns of a block, and the  |
//! |        |                  | first block with as many                                         |
//! |        | chunks           | as in a Bloom meta block                                         |
//!
//! Not tested against files from HBase: no release writes this filter.

use bytes::Bytes;
use filter::engine::RibbonChunk;

use super::meta::{BloomMeta, read_chunks, read_comparator, read_count};
use crate::encoding::DamageReason;
use crate::input::Input;

/// The version, by which a reader tells this meta block from that of a Bloom filter.
pub(super) const VERSION: i32 = 101;

/// Reads the fields after the version.
///
/// `body` is the whole block, of which `input` is the rest. More than `chunks_max` chunks, the most
/// that the file can hold, are damage.
pub(super) fn read(
    input: &mut Input<'_>,
    body: &Bytes,
    chunks_max: usize,
) -> Result<BloomMeta, DamageReason> {
    let truncated = "ends in the filter parameters";
    let total_byte_size = read_count(input)?;
    let bandwidth = input.array().map(i32::from_be_bytes).ok_or(truncated)?;
    if bandwidth != 64 {
        return Err(format!("unsupported ribbon bandwidth {bandwidth}, not 64").into());
    }
    let hash_type = input.array().map(i32::from_be_bytes).ok_or(truncated)?;
    let _overhead: [u8; 8] = input.array().ok_or(truncated)?;
    let (key_count, slot_count) = (read_count(input)?, read_count(input)?);
    let count = input.len_i32().ok_or("no count of chunks")?;
    let comparator = read_comparator(input)?;
    if count > input.len() / SHAPE_LEN {
        return Err(format!("{count} chunks in {} bytes", input.len()).into());
    }
    let mut slots = Vec::with_capacity(count);
    for _ in 0..count {
        slots.push(read_u32(input).ok_or(truncated)?);
    }
    let mut ribbon = Vec::with_capacity(count);
    for slots in slots {
        let (columns, start) =
            (read_u32(input).ok_or(truncated)?, read_u32(input).ok_or(truncated)?);
        let chunk = RibbonChunk::new(slots, columns, start);
        ribbon.push(chunk.ok_or("inconsistent ribbon shape")?);
    }
    let chunks = read_chunks(input, body, count, chunks_max)?;
    Ok(BloomMeta {
        total_byte_size,
        hash_count: 0,
        hash_type,
        key_count,
        max_keys: slot_count,
        comparator,
        chunks,
        ribbon,
    })
}

/// Bytes of the shape of a chunk: its slots, and the two numbers on its columns.
const SHAPE_LEN: usize = 12;

fn read_u32(input: &mut Input<'_>) -> Option<u32> {
    u32::try_from(input.len_i32()?).ok()
}

#[cfg(test)]
pub(crate) mod tests {
    use cells::BlockOffset;

    use super::*;
    use crate::block::bloom::BloomChunk;
    use crate::block::index_entry::{BlockHandle, IndexEntry};

    /// Returns the body of a meta block as HBase's trunk writes it.
    pub(crate) fn write(meta: &BloomMeta) -> Vec<u8> {
        let mut out = VERSION.to_be_bytes().to_vec();
        out.extend_from_slice(&meta.total_byte_size.to_be_bytes());
        out.extend_from_slice(&64_i32.to_be_bytes());
        out.extend_from_slice(&meta.hash_type.to_be_bytes());
        out.extend_from_slice(&0.1_f64.to_be_bytes());
        out.extend_from_slice(&meta.key_count.to_be_bytes());
        out.extend_from_slice(&meta.max_keys.to_be_bytes());
        out.extend_from_slice(&(meta.ribbon.len() as i32).to_be_bytes());
        out.push(meta.comparator.len() as u8);
        out.extend_from_slice(&meta.comparator);
        for chunk in &meta.ribbon {
            out.extend_from_slice(&chunk.slots().to_be_bytes());
        }
        for chunk in &meta.ribbon {
            out.extend_from_slice(&chunk.upper_columns().to_be_bytes());
            out.extend_from_slice(&chunk.upper_start_block().to_be_bytes());
        }
        for chunk in &meta.chunks {
            IndexEntry { block: chunk.block, key: &chunk.first_key }.write_root(&mut out);
        }
        out
    }

    #[test]
    fn a_meta_block_is_read_and_damage_is_detected() {
        let block = BlockHandle { offset: BlockOffset::new(7), len: 99 };
        let chunk = BloomChunk { block, first_key: "row".into() };
        let meta = BloomMeta {
            total_byte_size: 104,
            hash_count: 0,
            hash_type: 1,
            key_count: 90,
            max_keys: 128,
            comparator: Vec::new(),
            chunks: vec![chunk],
            ribbon: vec![RibbonChunk::new(128, 7, 1).unwrap()],
        };
        let body = Bytes::from(write(&meta));
        assert_eq!(BloomMeta::read(&body, 9), Ok(meta.clone()));
        assert!(BloomMeta::read(&body, 0).is_err(), "more chunks than blocks");
        for len in 0..body.len() {
            assert!(BloomMeta::read(&body.slice(..len), 9).is_err(), "{len}");
        }
        // The changed bytes are in the bandwidth, the slots, the columns and the first block.
        for (at, byte) in [(15, 128), (49, 0x80), (52, 129), (56, 0), (53, 0x80), (60, 3)] {
            let mut other = body.to_vec();
            other[at] = byte;
            assert!(BloomMeta::read(&other.into(), 9).is_err(), "byte {at} is {byte}");
        }
    }
}
