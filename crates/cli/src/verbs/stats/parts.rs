//! The bytes of a file by the kind of block they are in.

use serde::Serialize;
use sstable::{BlockHeader, BlockType, Reader, Result, Trailer};

/// The parts of a file, in file order. Data blocks of both types are one part.
const PARTS: [(&str, &[BlockType]); 10] = [
    ("data", &[BlockType::Data, BlockType::EncodedData]),
    ("leaf-index", &[BlockType::LeafIndex]),
    ("bloom-chunks", &[BlockType::BloomChunk]),
    ("meta", &[BlockType::Meta]),
    ("intermediate-index", &[BlockType::IntermediateIndex]),
    ("root-index", &[BlockType::RootIndex]),
    ("file-info", &[BlockType::FileInfo]),
    ("bloom-meta", &[BlockType::GeneralBloomMeta]),
    ("delete-family-bloom-meta", &[BlockType::DeleteFamilyBloomMeta]),
    ("trailer", &[BlockType::Trailer]),
];

/// The blocks and bytes of a part.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Part {
    pub(super) part: &'static str,
    pub(super) blocks: u64,
    /// Bytes on disk: headers, stored data and checksums.
    pub(super) bytes: u64,
    /// Bytes of headers and decompressed data. Data blocks are still encoded.
    pub(super) uncompressed_bytes: u64,
}

/// All parts of one file or of several.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub(super) struct Parts(pub(super) Vec<Part>);

impl Default for Parts {
    fn default() -> Self {
        let parts = PARTS.iter();
        let empty =
            parts.map(|&(part, _)| Part { part, blocks: 0, bytes: 0, uncompressed_bytes: 0 });
        Self(empty.collect())
    }
}

impl Parts {
    /// Reads the headers of all blocks of a file.
    ///
    /// # Errors
    ///
    /// If a header cannot be read. `self` then has the blocks before it.
    pub(super) fn read(&mut self, reader: &Reader) -> Result<()> {
        // The length of a trailer depends on the version: 4,096 bytes, or 212 in version 2.
        let mut end = 0;
        for block in reader.blocks().headers() {
            let (at, header) = block?;
            end = at.get() + header.len();
            let uncompressed = u64::from(header.uncompressed_size) + u64::from(BlockHeader::LEN);
            self.add(header.block_type, header.len(), uncompressed);
        }
        let trailer = reader.len().saturating_sub(end).min(Trailer::LEN);
        self.add(BlockType::Trailer, trailer, trailer);
        Ok(())
    }

    fn add(&mut self, block_type: BlockType, bytes: u64, uncompressed_bytes: u64) {
        let of_type = PARTS.iter().position(|(_, types)| types.contains(&block_type));
        if let Some(part) = of_type.and_then(|index| self.0.get_mut(index)) {
            part.blocks += 1;
            part.bytes += bytes;
            part.uncompressed_bytes += uncompressed_bytes;
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (own, others) in self.0.iter_mut().zip(&other.0) {
            own.blocks += others.blocks;
            own.bytes += others.bytes;
            own.uncompressed_bytes += others.uncompressed_bytes;
        }
    }
}
