//! Writes blocks: compresses the body, adds header and checksums, and links to the previous block.

use std::io::Write;

use cells::{BlockOffset, FileName};

use super::block_caching::BlockCaching;
use super::buffered_sink::BufferedSink;
use crate::block::header::BlockHeader;
use crate::block::index_entry::BlockHandle;
use crate::block::origin::BlockIdentity;
use crate::checksum::ChecksumType;
use crate::compression;
use crate::compression::{Compression, ZstdFraming};
use crate::error::{BlockType, Error, Result};
use crate::write::WriterOptions;

pub(super) const HEADER_LEN: usize = BlockHeader::LEN as usize;

/// Writes blocks sequentially.
#[derive(Debug)]
pub(super) struct BlockWriter<W> {
    sink: BufferedSink<W>,
    name: FileName,
    offset: BlockOffset,
    compression: Compression,
    zstd_framing: ZstdFraming,
    checksum: ChecksumType,
    bytes_per_checksum: u32,
    /// The last block of each type.
    previous: Vec<(BlockType, BlockOffset)>,
    /// Uncompressed bytes of headers and bodies, for the trailer.
    uncompressed_len: u64,
    /// The stored form of the current block.
    stored: Vec<u8>,
    /// The cache that gets the blocks.
    caching: Option<BlockCaching>,
}

impl<W: Write> BlockWriter<W> {
    pub(super) fn new(sink: W, name: FileName, options: &WriterOptions) -> Self {
        Self {
            sink: BufferedSink::new(sink),
            name,
            offset: BlockOffset::default(),
            compression: options.compression,
            zstd_framing: options.zstd_framing,
            checksum: options.checksum,
            bytes_per_checksum: options.bytes_per_checksum,
            previous: Vec::new(),
            uncompressed_len: 0,
            stored: Vec::new(),
            caching: None,
        }
    }

    /// Returns a writer that continues a file at `offset`. [`write_raw`] copies the bytes before
    /// it.
    ///
    /// The types of the blocks to be written must not occur before `offset`.
    ///
    /// [`write_raw`]: Self::write_raw
    pub(super) fn resume(
        sink: W,
        name: FileName,
        options: &WriterOptions,
        offset: BlockOffset,
    ) -> Self {
        Self { offset, ..Self::new(sink, name, options) }
    }

    /// Puts the blocks into a cache once they are written.
    pub(super) fn cache_in(&mut self, caching: BlockCaching) {
        self.caching = Some(caching);
    }

    /// Copies bytes before the offset of the first block to be written.
    pub(super) fn write_raw(&mut self, bytes: &[u8]) -> Result<()> {
        self.sink.write(bytes).map_err(|source| Error::Io {
            file: self.name.clone(),
            action: "copy the data blocks".into(),
            source,
        })
    }

    /// Returns the file name for errors.
    pub(super) const fn name(&self) -> &FileName {
        &self.name
    }

    /// Returns the offset of the next block.
    pub(super) const fn offset(&self) -> BlockOffset {
        self.offset
    }

    /// Returns the uncompressed bytes, with headers, that [`write`](Self::write) wrote.
    pub(super) const fn uncompressed_len(&self) -> u64 {
        self.uncompressed_len
    }

    /// Writes a block.
    pub(super) fn write(&mut self, block_type: BlockType, body: &[u8]) -> Result<BlockHandle> {
        let place = self.write_uncounted(block_type, body)?;
        self.uncompressed_len += (HEADER_LEN + body.len()) as u64;
        Ok(place)
    }

    /// Writes a block that does not count in the trailer's `total_uncompressed_bytes`.
    ///
    /// HBase does not count the root and the intermediate blocks of the data index.
    pub(super) fn write_uncounted(
        &mut self,
        block_type: BlockType,
        body: &[u8],
    ) -> Result<BlockHandle> {
        // Leaves room for the header, which needs the compressed size.
        self.stored.clear();
        self.stored.resize(HEADER_LEN, 0);
        compression::compress(self.compression, self.zstd_framing, body, &mut self.stored);
        let header = BlockHeader::new(
            block_type,
            self.stored.len() - HEADER_LEN,
            body.len(),
            self.link_to_previous(block_type),
            self.checksum,
            self.bytes_per_checksum,
        );
        let mut header_bytes = Vec::with_capacity(HEADER_LEN);
        header.write(&mut header_bytes);
        self.stored[..HEADER_LEN].copy_from_slice(&header_bytes);
        let handle =
            self.write_with_checksums(block_type, self.checksum, self.bytes_per_checksum)?;
        if let Some(caching) = &mut self.caching {
            caching.insert(BlockIdentity::new(handle, &header), body).map_err(|what| {
                let (file, at) = (self.name.clone(), handle.offset);
                Error::Internal {
                    file,
                    at,
                    what: format!("the {block_type} block written: {what}"),
                }
            })?;
        }
        Ok(handle)
    }

    /// Copies a stored block of another file, with a new `previous` offset. Does not count it.
    pub(super) fn write_stored(
        &mut self,
        header: &BlockHeader,
        bytes: &[u8],
    ) -> Result<BlockHandle> {
        let header =
            BlockHeader { previous_block: self.link_to_previous(header.block_type), ..*header };
        self.stored.clear();
        header.write(&mut self.stored);
        let data_end = header.on_disk_data_size_with_header as usize;
        self.stored.extend_from_slice(&bytes[HEADER_LEN..data_end]);
        self.write_with_checksums(
            header.block_type,
            header.checksum_type,
            header.bytes_per_checksum,
        )
    }

    /// Appends the checksums to the stored block, and writes it.
    fn write_with_checksums(
        &mut self,
        block_type: BlockType,
        checksum: ChecksumType,
        bytes_per_checksum: u32,
    ) -> Result<BlockHandle> {
        checksum.append(&mut self.stored, 0, bytes_per_checksum);
        let place = BlockHandle { offset: self.offset, len: self.stored.len() as u32 };
        self.sink.write(&self.stored).map_err(|source| Error::Io {
            file: self.name.clone(),
            action: format!("write the {block_type} block at {}", place.offset).into(),
            source,
        })?;
        self.offset = self.offset + u64::from(place.len);
        Ok(place)
    }

    /// Writes the trailer, flushes the sink and returns it.
    pub(super) fn finish(mut self, trailer: &[u8]) -> Result<W> {
        let written = self.sink.write(trailer).and_then(|()| self.sink.finish());
        if written.is_ok()
            && let Some(caching) = self.caching.take()
        {
            caching.keep();
        }
        written.map_err(|source| {
            let action = "write the end of the file".into();
            Error::Io { file: self.name, action, source }
        })
    }

    /// Records the next block as the last of its type. Returns the previous one of the type.
    fn link_to_previous(&mut self, block_type: BlockType) -> Option<BlockOffset> {
        let link = match block_type {
            BlockType::EncodedData => BlockType::Data,
            other => other,
        };
        if let Some((_, last)) = self.previous.iter_mut().find(|(known, _)| *known == link) {
            return Some(std::mem::replace(last, self.offset));
        }
        self.previous.push((link, self.offset));
        None
    }
}
