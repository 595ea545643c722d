//! Blocks as the file has them: read, verified and decompressed, and not yet taken apart.
//!
//! ```text
//! header | data as stored | checksums
//!           └─ verified ─┘ └decompressed, or the body as it stands
//! ```
#![cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]

use std::ops::Range;

use bytes::Bytes;

use super::block_reader::BlockReader;
use crate::block::header::Header;
use crate::block::index::BlockHandle;
use crate::buffers::{Body, Buffers};
use crate::{BlockOffset, Compression, Damage, Error, Result, compression, encoding};

/// A block as the file has it, verified and decompressed.
pub(crate) struct RawBlock {
    pub(crate) header: Header,
    pub(crate) body: Bytes,
}

/// The same of a data block, in buffers that go round.
#[derive(Debug)]
pub(crate) struct RawData {
    pub(crate) place: BlockHandle,
    pub(crate) header: Header,
    pub(crate) body: Body,
}

impl BlockReader {
    /// Reads, verifies and decompresses the block at `place`.
    pub(crate) fn read(&self, place: BlockHandle) -> Result<RawBlock> {
        self.check_place(place)?;
        let bytes = self.read_bytes(place.offset, place.len.into())?;
        self.parse(&bytes, place.offset).map_err(|damage| damage.in_file(&self.name))
    }

    /// Does the same through `buffers`.
    pub(crate) fn read_data(&self, place: BlockHandle, buffers: &mut Buffers) -> Result<RawData> {
        let raw = self.read_data_of_at_most(u32::MAX, place, buffers)?;
        Ok(raw.expect("no block is longer than a u32 can say"))
    }

    /// The same for a block of at most `len_max` decompressed bytes; `None` for a larger one.
    pub(crate) fn read_data_of_at_most(
        &self,
        len_max: u32,
        place: BlockHandle,
        buffers: &mut Buffers,
    ) -> Result<Option<RawData>> {
        self.check_place(place)?;
        let len = usize::try_from(place.len).unwrap_or(usize::MAX);
        let mut buffer = buffers.take(len);
        let bytes = buffer.get_mut(..len).unwrap_or_default();
        self.fill(bytes, place.offset)?;
        let found = self.check_block(bytes, place.offset);
        let (header, stored) = found.map_err(|damage| damage.in_file(&self.name))?;
        if header.uncompressed_size > len_max {
            buffers.recycle(buffer);
            return Ok(None);
        }
        let body = self.inflate(&header, bytes.get(stored.clone()).unwrap_or_default(), buffers);
        let body = body.map_err(|what| self.damaged(place, header.block_type, what))?;
        let body = match body {
            None => Body::new(buffer, stored),
            Some(body) => {
                buffers.recycle(buffer);
                body
            }
        };
        Ok(Some(RawData { place, header, body }))
    }

    /// Whether a block can be at `place`.
    fn check_place(&self, place: BlockHandle) -> Result<()> {
        let damaged = |what| Damage { at: place.offset, block: None, what }.in_file(&self.name);
        let end = place.offset.plus(place.len.into());
        if place.len <= Header::LEN || end.get() > self.blocks_end {
            return Err(damaged("no block can be where the index has one".into()));
        }
        if place.len > self.limits.block_len_max {
            let what = format!("a block of {} bytes is more than the limits allow", place.len);
            return Err(damaged(what.into()));
        }
        Ok(())
    }

    /// Verifies and decompresses the block that `bytes` hold, no more and no less.
    pub(crate) fn parse(&self, bytes: &Bytes, at: BlockOffset) -> Result<RawBlock, Damage> {
        let (header, stored) = self.check_block(bytes, at)?;
        let body = bytes.get(stored).unwrap_or_default();
        let inflated = self.inflate(&header, body, &mut Buffers::default());
        let damaged = |what| Damage { at, block: Some(header.block_type), what };
        let body = inflated.map_err(damaged)?.map_or_else(|| bytes.slice_ref(body), Bytes::from);
        Ok(RawBlock { header, body })
    }

    /// Verifies the block that `bytes` hold; returns its header, and where its data is.
    fn check_block(&self, bytes: &[u8], at: BlockOffset) -> Result<(Header, Range<usize>), Damage> {
        let header = Header::read(bytes, at)?;
        let damaged = |what| Damage { at, block: Some(header.block_type), what };
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
        let len = usize::try_from(header.uncompressed_size).unwrap_or(usize::MAX);
        if len > self.limits.inflated_len_max(self.source.len()) {
            let what = format!("{len} bytes of data are more than the limits allow in such a file");
            return Err(damaged(what.into()));
        }
        let header_len = usize::try_from(Header::LEN).unwrap_or(usize::MAX);
        Ok((header, header_len.min(data_len)..data_len))
    }

    /// The data of a block decompressed; `None` if it is the body as it stands.
    fn inflate(
        &self,
        header: &Header,
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

    /// The header of the block at `at`.
    pub(crate) fn read_header(&self, at: BlockOffset, end: u64) -> Result<Header> {
        let left = end.saturating_sub(at.get());
        let bytes = self.read_bytes(at, left.min(Header::LEN.into()))?;
        let header = Header::read(&bytes, at).map_err(|damage| damage.in_file(&self.name))?;
        if header.len() > left {
            let damage = Damage::in_block(header.block_type, at, "goes past the blocks");
            return Err(damage.in_file(&self.name));
        }
        Ok(header)
    }

    /// Bytes of the file, whose number the caller has checked.
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
