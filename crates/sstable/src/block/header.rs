//! The 33-byte header of every block.
//!
//! | at | bytes | field                           | encoding and meaning                          |
//! |---:|------:|---------------------------------|-----------------------------------------------|
//! |  0 |     8 | `magic`                         | ASCII; determines the [`BlockType`]           |
//! |  8 |     4 | `on_disk_size_without_header`   | i32 BE; stored data and checksums             |
//! | 12 |     4 | `uncompressed_size`             | i32 BE; data after decompression              |
//! | 16 |     8 | `previous_block`                | i64 BE; previous block of this type, or −1    |
//! | 24 |     1 | `checksum_type`                 | 0 none, 1 CRC-32, 2 CRC-32C                   |
//! | 25 |     4 | `bytes_per_checksum`            | i32 BE; 16,384 unless configured              |
//! | 29 |     4 | `on_disk_data_size_with_header` | i32 BE; header and stored data                |
//!
//! All sizes are in bytes. The header is followed by the stored data, which may be compressed, and
//! by the [checksums](crate::checksum): four bytes for every `bytes_per_checksum` bytes of header
//! and stored data. HBase: `HFileBlock.BlockHeader`.

use std::io::Read;

use byteorder::{BigEndian, ReadBytesExt};
use cells::BlockOffset;

use crate::checksum::ChecksumType;
use crate::error::{BlockType, Damage};

/// The header of a block.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct BlockHeader {
    /// The block's type.
    pub block_type: BlockType,
    /// Bytes after the header: stored data and checksums.
    pub on_disk_size_without_header: u32,
    /// Bytes of the decompressed data.
    pub uncompressed_size: u32,
    /// The offset of the previous block of this type; `Data` and `EncodedData` count as one type.
    pub previous_block: Option<BlockOffset>,
    /// The checksum algorithm.
    pub checksum_type: ChecksumType,
    /// Bytes that one checksum covers; the last checksum may cover fewer.
    pub bytes_per_checksum: u32,
    /// Bytes of the header and the stored data.
    pub on_disk_data_size_with_header: u32,
}

impl BlockHeader {
    /// Bytes of a header in the file.
    pub const LEN: u32 = 33;

    /// Returns the header of a block with `stored_len` bytes of stored data.
    ///
    /// # Panics
    ///
    /// If the block exceeds 2 GiB or `bytes_per_checksum` is 0; the writer checks both.
    pub(crate) fn new(
        block_type: BlockType,
        stored_len: usize,
        uncompressed_len: usize,
        previous_block: Option<BlockOffset>,
        checksum_type: ChecksumType,
        bytes_per_checksum: u32,
    ) -> Self {
        let size = |len: usize| u32::try_from(len).ok().filter(|size| i32::try_from(*size).is_ok());
        let data_size = size(stored_len).and_then(|stored| stored.checked_add(Self::LEN));
        let data_size = data_size.expect("a block is shorter than 2 GiB");
        assert!(bytes_per_checksum > 0, "a checksum covers at least one byte");
        let checksums = data_size.div_ceil(bytes_per_checksum).checked_mul(4);
        let after_header = checksums.and_then(|sums| size(stored_len)?.checked_add(sums));
        Self {
            block_type,
            on_disk_size_without_header: after_header
                .filter(|len| i32::try_from(*len).is_ok())
                .expect("a block and its checksums are shorter than 2 GiB"),
            uncompressed_size: size(uncompressed_len).expect("a block is shorter than 2 GiB"),
            previous_block,
            checksum_type,
            bytes_per_checksum,
            on_disk_data_size_with_header: data_size,
        }
    }

    /// Reads the header of the block at `at`, and checks that its fields are consistent.
    ///
    /// # Errors
    ///
    /// [`Damage`] if the bytes are shorter than a header, or if a field is invalid or contradicts
    /// another.
    pub(crate) fn read(mut bytes: &[u8], at: BlockOffset) -> Result<Self, Damage> {
        let damage = |what| Damage { at, block: None, what };
        let truncated = |_| damage("ends in a block header".into());

        let mut magic = [0; 8];
        bytes.read_exact(&mut magic).map_err(truncated)?;
        let block_type = BlockType::from_magic(magic)
            .filter(|found| *found != BlockType::Trailer)
            .ok_or_else(|| damage(format!("no block: {}", cells::escape(&magic)).into()))?;
        let damage = |what| Damage::in_block(block_type, at, what);
        let truncated = |_| damage("ends in its header");
        let stored = bytes.read_i32::<BigEndian>().map_err(truncated)?;
        let uncompressed = bytes.read_i32::<BigEndian>().map_err(truncated)?;
        let previous = bytes.read_i64::<BigEndian>().map_err(truncated)?;
        let checksum_type = bytes.read_u8().map_err(truncated)?;
        let bytes_per_checksum = bytes.read_i32::<BigEndian>().map_err(truncated)?;
        let data_size = bytes.read_i32::<BigEndian>().map_err(truncated)?;

        let size = |number: i32| u32::try_from(number).map_err(|_| damage("negative size"));
        let header = Self {
            block_type,
            on_disk_size_without_header: size(stored)?,
            uncompressed_size: size(uncompressed)?,
            previous_block: match previous {
                -1 => None,
                _ => Some(
                    u64::try_from(previous)
                        .ok()
                        .map(BlockOffset::new)
                        .filter(|previous| *previous <= at)
                        .ok_or_else(|| damage("the previous block is not before it"))?,
                ),
            },
            checksum_type: ChecksumType::from_code(checksum_type)
                .ok_or_else(|| damage("unknown checksum type"))?,
            bytes_per_checksum: size(bytes_per_checksum)?,
            on_disk_data_size_with_header: size(data_size)?,
        };
        // A block of Hudi without checksums may state 0.
        if header.bytes_per_checksum == 0 && header.checksum_type != ChecksumType::Null {
            return Err(damage("a checksum for every 0 bytes"));
        }
        if header.on_disk_data_size_with_header < Self::LEN
            || Some(header.len()) != header.data_len().checked_add(header.checksums_len())
        {
            return Err(damage("its sizes contradict each other"));
        }
        Ok(header)
    }

    /// Whether the block states its own offset as the offset of the block before it, as Hudi 1.1 does.
    pub(crate) fn states_own_offset(&self, at: BlockOffset) -> bool {
        self.previous_block == Some(at)
    }

    /// Appends the header's bytes.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let previous = self.previous_block.map_or(-1, |at| at.get().cast_signed());
        out.extend_from_slice(&self.block_type.magic());
        out.extend_from_slice(&self.on_disk_size_without_header.to_be_bytes());
        out.extend_from_slice(&self.uncompressed_size.to_be_bytes());
        out.extend_from_slice(&previous.to_be_bytes());
        out.push(self.checksum_type.code());
        out.extend_from_slice(&self.bytes_per_checksum.to_be_bytes());
        out.extend_from_slice(&self.on_disk_data_size_with_header.to_be_bytes());
    }

    /// Bytes of the whole block in the file: header, stored data, checksums.
    #[expect(clippy::arithmetic_side_effects, reason = "two numbers of 32 bits")]
    pub fn len(&self) -> u64 {
        u64::from(self.on_disk_size_without_header) + u64::from(Self::LEN)
    }

    /// Whether the block has no data, like the root index of a file without cells.
    pub fn is_empty(&self) -> bool {
        self.on_disk_data_size_with_header == Self::LEN
    }

    /// Bytes that the checksums cover: header and stored data.
    fn data_len(&self) -> u64 {
        self.on_disk_data_size_with_header.into()
    }

    /// Bytes of the checksums; in a block that states 0 bytes per checksum, all bytes after the data.
    #[expect(clippy::arithmetic_side_effects, reason = "four times a number of 32 bits")]
    pub fn checksums_len(&self) -> u64 {
        match self.bytes_per_checksum {
            0 => self.len().saturating_sub(self.data_len()),
            bytes => self.data_len().div_ceil(bytes.into()) * 4,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first block header of a small HFile that HBase wrote.
    const REAL: &[u8] =
        b"DATABLK*\0\0\0\x96\0\0\0\x92\xff\xff\xff\xff\xff\xff\xff\xff\x02\0\0\x40\0\0\0\0\xb3";

    fn changed(at: usize, bytes: &[u8]) -> Result<BlockHeader, Damage> {
        let mut header = REAL.to_vec();
        header[at..at + bytes.len()].copy_from_slice(bytes);
        BlockHeader::read(&header, BlockOffset::new(64))
    }

    #[test]
    fn a_header_from_hbase_round_trips() {
        let header = BlockHeader::read(REAL, BlockOffset::new(0)).unwrap();
        assert_eq!(
            header,
            BlockHeader::new(BlockType::Data, 146, 146, None, ChecksumType::Crc32c, 16_384)
        );
        assert_eq!((header.len(), header.checksums_len()), (0xb7, 4));
        let mut written = Vec::new();
        header.write(&mut written);
        assert_eq!(written, REAL);
    }

    #[test]
    fn a_truncated_header_is_damage() {
        for len in 0..REAL.len() {
            assert!(BlockHeader::read(&REAL[..len], BlockOffset::new(0)).is_err());
        }
    }

    #[test]
    fn inconsistent_headers_are_damage() {
        assert!(changed(0, b"DATABLK?").is_err(), "magic");
        assert!(changed(0, b"TRABLK\"$").is_err(), "the trailer is no block");
        assert!(changed(8, &[0xff]).is_err(), "negative size");
        assert!(changed(11, &[0x97]).is_err(), "one byte too long");
        assert!(changed(12, &[0x80]).is_err(), "negative uncompressed size");
        assert!(changed(16, &65_i64.to_be_bytes()).is_err(), "a predecessor after it");
        assert!(changed(16, &(-2_i64).to_be_bytes()).is_err(), "a negative predecessor");
        assert!(changed(16, &63_i64.to_be_bytes()).is_ok(), "a predecessor");
        assert!(changed(24, &[3]).is_err(), "checksum type");
        assert!(changed(25, &[0, 0, 0, 0]).is_err(), "bytes per checksum");
        assert!(changed(24, &[3, 0, 0, 0, 0]).is_err(), "checksum type, bytes per checksum");
        assert!(changed(25, &[0, 0, 0, 33]).is_err(), "more checksums than fit");
        assert!(changed(29, &[0, 0, 0, 32]).is_err(), "shorter than a header");
    }

    #[test]
    fn a_block_may_state_its_own_offset_which_readers_check() {
        let own = changed(16, &64_i64.to_be_bytes()).expect("as Hudi 1.1");
        assert!(own.states_own_offset(BlockOffset::new(64)));
        assert!(
            !changed(16, &63_i64.to_be_bytes()).unwrap().states_own_offset(BlockOffset::new(64))
        );
    }

    #[test]
    fn a_block_without_checksums_may_state_zero_bytes_per_checksum() {
        let header = changed(24, &[0, 0, 0, 0, 0]).expect("the type is NULL");
        assert_eq!((header.len(), header.checksums_len()), (0xb7, 4));
        // No bytes after the data.
        let mut short = REAL.to_vec();
        short[11] -= 4;
        short[24..29].fill(0);
        let header = BlockHeader::read(&short, BlockOffset::new(0)).expect("sound");
        assert_eq!((header.len(), header.checksums_len()), (0xb3, 0));
        short[11] -= 1;
        assert!(BlockHeader::read(&short, BlockOffset::new(0)).is_err(), "shorter than its data");
    }

    #[test]
    fn checksums_len_follows_bytes_per_checksum() {
        for bytes_per_checksum in [33, 64, 179, 178, 180] {
            let new = |kind| {
                BlockHeader::new(kind, 146, 500, None, ChecksumType::Null, bytes_per_checksum)
            };
            let header = new(BlockType::EncodedData);
            let mut written = Vec::new();
            header.write(&mut written);
            assert_eq!(BlockHeader::read(&written, BlockOffset::new(0)), Ok(header));
            let count = 179_u32.div_ceil(bytes_per_checksum);
            assert_eq!(header.checksums_len(), u64::from(count * 4));
        }
    }
}
