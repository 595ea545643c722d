//! Blocks on their way into the file: compressed, headed, guarded, chained, counted.

use std::io::Write;

use super::pieces::Pieces;
use crate::block::header::Header;
use crate::block::index::BlockHandle;
use crate::{BlockOffset, BlockType, ChecksumType, Compression, Error, FileName, Result};
use crate::{WriterOptions, ZstdFraming, compression};

pub(super) const HEADER_LEN: usize = Header::LEN as usize;

/// Writes blocks one behind the other.
#[derive(Debug)]
pub(super) struct BlockWriter<W> {
    sink: Pieces<W>,
    name: FileName,
    offset: BlockOffset,
    compression: Compression,
    zstd_framing: ZstdFraming,
    checksum: ChecksumType,
    bytes_per_checksum: u32,
    /// The last block of each type.
    previous: Vec<(BlockType, BlockOffset)>,
    /// Headers and bodies, as the trailer sums them up.
    uncompressed_len: u64,
    /// A block as it is stored.
    stored: Vec<u8>,
}

impl<W: Write> BlockWriter<W> {
    pub(super) fn new(sink: W, name: FileName, options: &WriterOptions) -> Self {
        Self {
            sink: Pieces::new(sink),
            name,
            offset: BlockOffset::default(),
            compression: options.compression,
            zstd_framing: options.zstd_framing,
            checksum: options.checksum,
            bytes_per_checksum: options.bytes_per_checksum,
            previous: Vec::new(),
            uncompressed_len: 0,
            stored: Vec::new(),
        }
    }

    /// Goes on behind what another writer wrote: after `offset` bytes, which [`write_raw`] copies, and
    /// with no block of the types that follow before it.
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

    /// Copies bytes before the offset at which the writer goes on.
    pub(super) fn write_raw(&mut self, bytes: &[u8]) -> Result<()> {
        self.sink.write(bytes).map_err(|source| Error::Io {
            file: self.name.clone(),
            action: "copy the data blocks".into(),
            source,
        })
    }

    /// The name that errors carry.
    pub(super) const fn name(&self) -> &FileName {
        &self.name
    }

    /// Where the next block will stand.
    pub(super) const fn offset(&self) -> BlockOffset {
        self.offset
    }

    /// Headers and bodies of the blocks that [`write`](Self::write) wrote.
    pub(super) const fn uncompressed_len(&self) -> u64 {
        self.uncompressed_len
    }

    /// Writes a block.
    pub(super) fn write(&mut self, block_type: BlockType, body: &[u8]) -> Result<BlockHandle> {
        let place = self.write_uncounted(block_type, body)?;
        self.uncompressed_len += (HEADER_LEN + body.len()) as u64;
        Ok(place)
    }

    /// Writes a block that HBase leaves out of the total of the trailer, as it does the root and
    /// the intermediate blocks of the data index.
    pub(super) fn write_uncounted(
        &mut self,
        block_type: BlockType,
        body: &[u8],
    ) -> Result<BlockHandle> {
        // The header comes first in the file and last to be known.
        self.stored.clear();
        self.stored.resize(HEADER_LEN, 0);
        compression::compress(self.compression, self.zstd_framing, body, &mut self.stored);
        let mut header = Vec::with_capacity(HEADER_LEN);
        Header::new(
            block_type,
            self.stored.len() - HEADER_LEN,
            body.len(),
            self.chain(block_type),
            self.checksum,
            self.bytes_per_checksum,
        )
        .write(&mut header);
        self.stored[..HEADER_LEN].copy_from_slice(&header);
        self.write_sealed(block_type, self.checksum, self.bytes_per_checksum)
    }

    /// Writes a block of another file as it is stored there, but for the block before it that it
    /// names. It is not counted.
    pub(super) fn write_stored(&mut self, header: &Header, bytes: &[u8]) -> Result<BlockHandle> {
        let header = Header { previous_block: self.chain(header.block_type), ..*header };
        self.stored.clear();
        header.write(&mut self.stored);
        let data_end = header.on_disk_data_size_with_header as usize;
        self.stored.extend_from_slice(&bytes[HEADER_LEN..data_end]);
        self.write_sealed(header.block_type, header.checksum_type, header.bytes_per_checksum)
    }

    /// Puts the checksums behind what is stored, and writes it.
    fn write_sealed(
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

    /// Writes the end of the file, which is no block, and gives the sink back.
    pub(super) fn finish(mut self, trailer: &[u8]) -> Result<W> {
        let written = self.sink.write(trailer).and_then(|()| self.sink.finish());
        written.map_err(|source| {
            let action = "write the end of the file".into();
            Error::Io { file: self.name, action, source }
        })
    }

    /// Notes a block about to be written; returns the one before it of the same type.
    fn chain(&mut self, block_type: BlockType) -> Option<BlockOffset> {
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
