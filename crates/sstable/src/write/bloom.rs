//! The writer of an HBase Bloom filter: chunks among the data blocks, the meta block at the end.
//!
//! Keys are added in order. A full chunk is folded to the size that it needs, and written after the
//! current data block. HBase: `CompoundBloomFilterWriter`.

use std::io::Write;

use cells::{CellRef, KeyRef};
use filter::hbase::{
    ChunkBuilder, ChunkSizing, FoldedChunk, HashPair, HashType, row_column_error_rate,
};

use super::block_writer::BlockWriter;
use crate::block::BloomType;
use crate::block::bloom::{BloomChunk, BloomMeta};
use crate::error::{BlockType, Result};
use crate::write::WriterOptions;

/// The keys of a filter.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum BloomKeys {
    Rows,
    RowPrefixes(usize),
    Columns,
}

impl BloomKeys {
    /// Returns the error rate of a chunk for the error rate of a lookup.
    fn error_rate(self, rate: f64) -> f32 {
        match self {
            Self::Rows | Self::RowPrefixes(_) => rate as f32,
            // A lookup of a column asks for two keys, so each gets half the error rate.
            Self::Columns => row_column_error_rate(rate as f32),
        }
    }
}

/// Returns the least and the greatest error rate for which HBase's formulas give a chunk, to one
/// and two digits.
///
/// `None` if no rate does, because of the chunk's size.
fn rates_allowed(options: &WriterOptions, keys: BloomKeys) -> Option<(f64, f64)> {
    let fits = |rate: &f64| {
        let (size, fold) = (options.bloom_block_size, options.bloom_max_fold);
        ChunkSizing::new(keys.error_rate(*rate), size, fold).is_ok()
    };
    let powers = (1..=45).map(|digits| 10_f64.powi(-digits));
    let least = powers.take_while(fits).last()?;
    let greatest = (1..100).rev().map(|percent| f64::from(percent) / 100.0).find(fits)?;
    Some((least, greatest))
}

/// Writes one of the two Bloom filters of a file.
#[derive(Debug)]
pub(super) struct BloomWriter {
    keys: BloomKeys,
    hash: HashType,
    sizing: ChunkSizing,
    chunk: Option<OpenChunk>,
    /// Full chunks that are written after the current data block.
    pending: Vec<(Vec<u8>, FoldedChunk)>,
    last_key: Vec<u8>,
    key: Vec<u8>,
    meta: BloomMeta,
}

#[derive(Debug)]
struct OpenChunk {
    first_key: Vec<u8>,
    builder: ChunkBuilder,
}

impl BloomWriter {
    /// Returns a writer of the general filter, if the options have one.
    pub(super) fn general(options: &WriterOptions) -> Result<Option<Self>, String> {
        let keys = match options.bloom_type {
            BloomType::None => return Ok(None),
            BloomType::Row => BloomKeys::Rows,
            BloomType::RowCol => BloomKeys::Columns,
            BloomType::RowPrefixFixedLength(len) => BloomKeys::RowPrefixes(len.into()),
        };
        Self::new(options, keys).map(Some)
    }

    /// Returns a writer of the filter over rows with family deletes, if the options have one.
    pub(super) fn delete_family(options: &WriterOptions) -> Result<Option<Self>, String> {
        if options.delete_family_bloom && options.bloom_type != BloomType::RowCol {
            Self::new(options, BloomKeys::Rows).map(Some)
        } else {
            Ok(None)
        }
    }

    fn new(options: &WriterOptions, keys: BloomKeys) -> Result<Self, String> {
        let rate = keys.error_rate(options.bloom_error_rate.get());
        let comparator = match keys {
            BloomKeys::Rows | BloomKeys::RowPrefixes(_) => &b""[..],
            BloomKeys::Columns => BloomMeta::CELL_COMPARATOR,
        };
        let size = |rate| ChunkSizing::new(rate, options.bloom_block_size, options.bloom_max_fold);
        let sizing = size(rate).map_err(|error| match rates_allowed(options, keys) {
            Some((min, max)) => {
                let rate = options.bloom_error_rate.get();
                format!(
                    "an error rate of {rate:?} for HBase's Bloom filter; {min:e} to {max} are allowed"
                )
            }
            None => error.to_string(),
        })?;
        Ok(Self {
            keys,
            hash: options.bloom_hash,
            sizing,
            chunk: None,
            pending: Vec::new(),
            last_key: Vec::new(),
            key: Vec::new(),
            meta: BloomMeta {
                total_byte_size: 0,
                hash_count: sizing.hash_count,
                hash_type: options.bloom_hash.code(),
                key_count: 0,
                max_keys: 0,
                comparator: comparator.to_vec(),
                chunks: Vec::new(),
                ribbon: Vec::new(),
            },
        })
    }

    /// Adds the key of a cell, unless it equals the last added key.
    pub(super) fn insert(&mut self, cell: &CellRef<'_>) {
        self.key.clear();
        match self.keys {
            BloomKeys::Rows => self.key.extend_from_slice(cell.row),
            BloomKeys::RowPrefixes(len) => {
                self.key.extend_from_slice(&cell.row[..len.min(cell.row.len())]);
            }
            // Without the family, which is the same in the whole file.
            BloomKeys::Columns => {
                KeyRef::before_column(cell.row, b"", cell.qualifier).write_flat(&mut self.key);
            }
        }
        if self.key == self.last_key && self.meta.key_count > 0 {
            return;
        }
        if self.is_chunk_full() {
            self.fold_chunk();
        }
        let chunk = self.chunk.get_or_insert_with(|| OpenChunk {
            first_key: self.key.clone(),
            builder: ChunkBuilder::new(self.sizing),
        });
        chunk.builder.insert(HashPair::new(self.hash, &self.key));
        self.meta.key_count += 1;
        self.last_key.clone_from(&self.key);
    }

    /// Writes the full chunks; if `closing`, the last chunk too.
    pub(super) fn write_chunks<W: Write>(
        &mut self,
        blocks: &mut BlockWriter<W>,
        closing: bool,
    ) -> Result<()> {
        if closing || self.is_chunk_full() {
            self.fold_chunk();
        }
        for (first_key, chunk) in self.pending.drain(..) {
            let block = blocks.write(BlockType::BloomChunk, &chunk.bits)?;
            self.meta.total_byte_size += chunk.bits.len() as u64;
            self.meta.max_keys += u64::from(chunk.max_keys);
            self.meta.chunks.push(BloomChunk { block, first_key: first_key.into() });
        }
        Ok(())
    }

    /// Returns the contents of the Bloom meta block and the last key; `None` without keys.
    pub(super) fn finish(self) -> Option<(BloomMeta, Vec<u8>)> {
        (self.meta.key_count > 0).then_some((self.meta, self.last_key))
    }

    fn is_chunk_full(&self) -> bool {
        self.chunk.as_ref().is_some_and(|chunk| chunk.builder.is_full())
    }

    /// Ends the open chunk, if there is one.
    fn fold_chunk(&mut self) {
        if let Some(OpenChunk { first_key, builder }) = self.chunk.take() {
            self.pending.push((first_key, builder.finish()));
        }
    }
}
