//! Reads a Bloom meta block, which describes the chunks of a Bloom filter or of a ribbon filter.
//!
//! The version at its start says which of the two it is. See `meta` and `ribbon` for the layouts.

use bytes::Bytes;

use super::meta::{BloomMeta, read_chunks, read_comparator, read_count};
use super::ribbon;
use crate::encoding::DamageReason;
use crate::input::Input;

impl BloomMeta {
    /// Reads the body of the block.
    ///
    /// `chunks_max` is the number of chunks that the file has room for. A greater chunk count is
    /// damage, which is detected before memory is allocated for the chunks.
    pub(crate) fn read(body: &Bytes, chunks_max: usize) -> Result<Self, DamageReason> {
        let mut input = Input::new(body);
        let truncated = "ends in the filter parameters";
        let version = input.array().map(i32::from_be_bytes).ok_or(truncated)?;
        match version {
            Self::VERSION => {}
            ribbon::VERSION => return ribbon::read(&mut input, body, chunks_max),
            _ => return Err(format!("unknown version {version} of the Bloom filter").into()),
        }
        let total_byte_size = read_count(&mut input)?;
        let hash_count = input.len_i32().and_then(|count| u32::try_from(count).ok());
        let hash_count = hash_count.filter(|count| (1..=Self::HASH_COUNT_MAX).contains(count));
        let hash_count = hash_count.ok_or("hash count outside 1..=256")?;
        let hash_type = input.array().map(i32::from_be_bytes).ok_or(truncated)?;
        let (key_count, max_keys) = (read_count(&mut input)?, read_count(&mut input)?);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the body of the first Bloom meta block in an HBase file, after the 33-byte header.
    fn hbase_body(file: &[u8]) -> Bytes {
        let at = file.windows(8).position(|magic| magic == b"BLMFMET2").unwrap();
        let len = u32::from_be_bytes(file[at + 29..at + 33].try_into().unwrap()) as usize;
        Bytes::copy_from_slice(&file[at + 33..at + len])
    }

    fn rows() -> Bytes {
        hbase_body(include_bytes!("../../../testdata/s06-many-bloom-chunks.hfile"))
    }

    #[test]
    fn meta_blocks_from_hbase_round_trip() {
        let columns =
            hbase_body(include_bytes!("../../../testdata/p13-fastdiff-none-rowcol.hfile"));
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
    fn every_truncation_is_damage() {
        let body = rows();
        for len in 0..body.len() {
            assert!(BloomMeta::read(&body.slice(..len), 1000).is_err(), "{len}");
        }
    }

    #[test]
    fn more_chunks_than_the_file_can_hold_are_damage() {
        let count = BloomMeta::read(&rows(), 1000).unwrap().chunks.len();
        assert!(BloomMeta::read(&rows(), count).is_ok());
        assert!(BloomMeta::read(&rows(), count - 1).is_err());
    }

    #[test]
    fn out_of_range_fields_are_damage() {
        // The fields: version, total byte size, hash count (twice), key count, max keys, chunk
        // count (twice) and the length of the comparator.
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
