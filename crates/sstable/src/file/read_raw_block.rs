//! Reads, verifies and decompresses blocks, without parsing their bodies.
//!
//! ```text
//! header | data as stored | checksums        the checksums cover the header and the data
//!               └─ decompressed, or unchanged without a codec ──→ body
//! ```

use std::ops::Range;

use bytes::Bytes;
use cells::BlockOffset;

use super::load_block::BlockReader;
use super::raw_block::{RawBlock, RawDataBlock};
use crate::block::header::BlockHeader;
use crate::block::index_entry::BlockHandle;
use crate::buffers::{Body, Buffers};
use crate::compression::{Compression, check_can_hold};
use crate::error::{Damage, DecodeError, Error, Result};
use crate::limits::Limits;
use crate::{compression, encoding};

impl BlockReader {
    /// Reads, verifies and decompresses the block at `handle`.
    pub(crate) fn read(&self, handle: BlockHandle) -> Result<RawBlock> {
        self.check_block_range(handle)?;
        let bytes = self.read_bytes(handle.offset, handle.len.into())?;
        self.parse(&bytes, handle.offset).map_err(|damage| damage.in_file(&self.name))
    }

    /// Reads, verifies and decompresses the data block at `handle`, into one of `buffers`.
    pub(crate) fn read_data_block(
        &self,
        handle: BlockHandle,
        buffers: &mut Buffers,
    ) -> Result<RawDataBlock> {
        let raw = self.read_data_block_up_to(u32::MAX, handle, buffers)?;
        Ok(raw.expect("the length of a block is a u32"))
    }

    /// Reads a data block like `read_data_block`, if it has at most `len_max` decompressed bytes.
    ///
    /// Returns `None` for a larger block, which is read and verified, but not decompressed.
    pub(crate) fn read_data_block_up_to(
        &self,
        len_max: u32,
        handle: BlockHandle,
        buffers: &mut Buffers,
    ) -> Result<Option<RawDataBlock>> {
        self.check_block_range(handle)?;
        let len = usize::try_from(handle.len).unwrap_or(usize::MAX);
        let mut buffer = buffers.take(len);
        let bytes = buffer.get_mut(..len).unwrap_or_default();
        self.fill(bytes, handle.offset)?;
        let found = self.check_block(bytes, handle.offset);
        let (header, stored) = found.map_err(|damage| damage.in_file(&self.name))?;
        if header.uncompressed_size > len_max {
            buffers.recycle(buffer);
            return Ok(None);
        }
        let body = self.inflate(&header, bytes.get(stored.clone()).unwrap_or_default(), buffers);
        let body = body.map_err(|what| self.damaged(handle, header.block_type, what))?;
        let body = match body {
            None => Body::new(buffer, stored),
            Some(body) => {
                buffers.recycle(buffer);
                body
            }
        };
        Ok(Some(RawDataBlock { handle, header, body }))
    }

    /// Checks that a block is among the blocks of the file and is not longer than the limits allow.
    fn check_block_range(&self, handle: BlockHandle) -> Result<()> {
        let damaged = |what| Damage { at: handle.offset, block: None, what }.in_file(&self.name);
        let end = handle.offset.plus(handle.len.into());
        if handle.len <= BlockHeader::LEN || end.get() > self.blocks_end {
            return Err(damaged("the index has a block outside the blocks of the file".into()));
        }
        if handle.len > self.limits.block_len_max {
            let what = format!("a block of {} bytes is more than the limits allow", handle.len);
            return Err(damaged(what.into()));
        }
        Ok(())
    }

    /// Verifies and decompresses the block in `bytes`, which must be exactly one block.
    pub(crate) fn parse(&self, bytes: &Bytes, at: BlockOffset) -> Result<RawBlock, DecodeError> {
        let (header, stored) = self.check_block(bytes, at)?;
        let body = bytes.get(stored).unwrap_or_default();
        let inflated = self.inflate(&header, body, &mut Buffers::default());
        let damaged = |what| Damage { at, block: Some(header.block_type), what };
        let body = inflated.map_err(damaged)?.map_or_else(|| bytes.slice_ref(body), Bytes::from);
        Ok(RawBlock { header, body })
    }

    /// Parses the header of the block at `at`.
    fn parse_header(&self, bytes: &[u8], at: BlockOffset) -> Result<BlockHeader, Damage> {
        let header = BlockHeader::read(bytes, at)?;
        if header.states_own_offset(at) && !self.has_hudi_comparator {
            let what = "the previous block is not before it";
            return Err(Damage::in_block(header.block_type, at, what));
        }
        Ok(header)
    }

    /// Verifies the block in `bytes`: sizes, checksum type and checksums.
    ///
    /// Returns the header, and the range of the data as stored.
    fn check_block(
        &self,
        bytes: &[u8],
        at: BlockOffset,
    ) -> Result<(BlockHeader, Range<usize>), DecodeError> {
        let header = self.parse_header(bytes, at)?;
        let damaged =
            |what| DecodeError::Damage(Damage { at, block: Some(header.block_type), what });
        if header.len() != u64::try_from(bytes.len()).unwrap_or(u64::MAX) {
            let what =
                format!("of {} bytes, not {} as stated elsewhere", header.len(), bytes.len());
            return Err(damaged(what.into()));
        }
        if self.checksum_type.is_some_and(|known| known != header.checksum_type) {
            let what = format!("checksum {}, unlike the rest of the file", header.checksum_type);
            return Err(damaged(what.into()));
        }
        let data_len = usize::try_from(header.on_disk_data_size_with_header).unwrap_or(usize::MAX);
        let (data, sums) = bytes
            .split_at_checked(data_len)
            .ok_or_else(|| damaged("its sizes contradict each other".into()))?;
        header.checksum_type.verify(data, sums, header.bytes_per_checksum).map_err(|index| {
            damaged(format!("{} number {index} does not agree", header.checksum_type).into())
        })?;
        let header_len = usize::try_from(BlockHeader::LEN).unwrap_or(usize::MAX);
        let stored = header_len.min(data_len)..data_len;
        self.check_inflated_len(&header, at, stored.len())?;
        Ok((header, stored))
    }

    /// Checks the decompressed size of a block of `stored_len` bytes against the limits.
    fn check_inflated_len(
        &self,
        header: &BlockHeader,
        at: BlockOffset,
        stored_len: usize,
    ) -> Result<(), DecodeError> {
        let (len, block) = (header.uncompressed_size, header.block_type);
        let len_usize = usize::try_from(len).unwrap_or(usize::MAX);
        let limit = self.limits.inflated_len_max(self.source.len());
        if len_usize <= limit {
            return Ok(());
        }
        check_can_hold(self.compression, stored_len, len_usize)
            .map_err(|what| Damage::in_block(block, at, what))?;
        let ratio = Limits::ratio_for(len.into(), self.source.len());
        let limit = u64::try_from(limit).unwrap_or(u64::MAX);
        Err(DecodeError::TooLarge { at, block, len: len.into(), limit, ratio })
    }

    /// Returns the decompressed data of a block; `None` if the data is stored uncompressed.
    fn inflate(
        &self,
        header: &BlockHeader,
        stored: &[u8],
        buffers: &mut Buffers,
    ) -> Result<Option<Body>, encoding::DamageReason> {
        let len = usize::try_from(header.uncompressed_size).unwrap_or(usize::MAX);
        if self.compression == Compression::None && stored.len() == len {
            return Ok(None);
        }
        let buffer = buffers.take_empty(0);
        let body = compression::decompress(self.compression, stored, len, buffer)?;
        Ok(Some(Body::from(body)))
    }

    /// Reads the header of the block at `at`. The block must end at or before `end`.
    pub(crate) fn read_header(&self, at: BlockOffset, end: u64) -> Result<BlockHeader> {
        let left = end.saturating_sub(at.get());
        let bytes = self.read_bytes(at, left.min(BlockHeader::LEN.into()))?;
        let header = self.parse_header(&bytes, at).map_err(|damage| damage.in_file(&self.name))?;
        if header.len() > left {
            let damage = Damage::in_block(header.block_type, at, "extends past the last block");
            return Err(damage.in_file(&self.name));
        }
        Ok(header)
    }

    /// Reads `len` bytes of the file from offset `at` on.
    ///
    /// The caller must have checked `len`, because as many bytes are allocated before the read.
    pub(crate) fn read_bytes(&self, at: BlockOffset, len: u64) -> Result<Bytes> {
        let action = || format!("read {len} bytes at {at}").into();
        let failed = |source| Error::Io { file: self.name.clone(), action: action(), source };
        let len =
            usize::try_from(len).map_err(|_| failed(std::io::ErrorKind::OutOfMemory.into()))?;
        let mut bytes = vec![0; len];
        self.fill(&mut bytes, at)?;
        Ok(bytes.into())
    }

    fn fill(&self, bytes: &mut [u8], at: BlockOffset) -> Result<()> {
        self.source.read_exact_at(bytes, at.get()).map_err(|source| {
            let action = format!("read {} bytes at {at}", bytes.len()).into();
            Error::Io { file: self.name.clone(), action, source }
        })
    }
}
