//! The writer of a file. It writes sequentially and never seeks.
//!
//! ```text
//! append ─→ check ─→ Bloom filters ─→ cut? ─→ block ─→ file
//!                                      └ data block, then full leaf index and Bloom chunks
//! finish ─→ last blocks ─→ META blocks ─→ index ─→ file info ─→ Bloom metas ─→ trailer
//! ```
//!
//! The bytes of a file are those that HBase's `StoreFileWriter` writes for the same cells and
//! options. In memory are one data block, one chunk of each Bloom filter, the index and the row filter,
//! whose current partition takes eight bytes per row.

use std::collections::BTreeMap;
use std::io::Write;

use cells::{BlockOffset, CellRef, Comparator, FileName, KeyRef};

use super::block_caching::BlockCaching;
use super::block_writer::BlockWriter;
use super::bloom::BloomWriter;
use super::index_writer::IndexWriter;
use super::option_rules::BLOCK_LEN_MAX;
use super::row_filter::{FilterBlocks, FilterWriter};
use super::short_key::short_key;
use super::statistics::{Statistics, describe_bloom, describe_origin};
use crate::block::filter_index::is_filter_name;
use crate::block::index_entry::{BlockHandle, IndexEntry};
use crate::cache::FileInCache;
use crate::encoding::{BlockEncoder, CellLayout, DataBlockEncoding};
use crate::error::{BlockType, Error, Result};
use crate::file::file_info::FileInfo;
use crate::file::trailer::Trailer;
use crate::write::WriterOptions;

/// Writes a file of sorted cells.
///
/// ```
/// use sstable::{CellRef, CellType, FileName, SequenceId, Timestamp, Writer, WriterOptions};
///
/// let mut writer = Writer::new(Vec::new(), FileName::new("example"), WriterOptions::default())?;
/// writer.append(CellRef {
///     row: b"row1",
///     family: b"f",
///     qualifier: b"greeting",
///     timestamp: Timestamp::new(1_700_000_000_000),
///     cell_type: CellType::Put,
///     value: b"hello",
///     tags: b"",
///     sequence_id: SequenceId::new(1),
/// })?;
/// let (bytes, summary) = writer.finish()?;
/// assert_eq!(summary.cell_count, 1);
/// assert_eq!(summary.len, bytes.len() as u64);
/// # Ok::<(), sstable::Error>(())
/// ```
#[derive(Debug)]
pub struct Writer<W> {
    pub(super) options: WriterOptions,
    pub(super) layout: CellLayout,
    pub(super) blocks: BlockWriter<W>,
    pub(super) block: BlockEncoder,
    /// The index key of the current block: a flat key at most its first cell's.
    pub(super) index_key: Vec<u8>,
    pub(super) first_key: Vec<u8>,
    pub(super) last_key: Vec<u8>,
    pub(super) index: IndexWriter,
    pub(super) general_bloom: Option<BloomWriter>,
    pub(super) delete_family_bloom: Option<BloomWriter>,
    pub(super) filter: Option<FilterWriter>,
    /// The value of [`FileInfo::ROW_FILTER_ID`], once the filter is built.
    pub(super) filter_id: Option<Vec<u8>>,
    /// Why the file gets no filter, if it cannot be built.
    filter_omission: Option<String>,
    pub(super) meta_blocks: BTreeMap<Vec<u8>, Vec<u8>>,
    pub(super) first_data_block: Option<BlockOffset>,
    pub(super) last_data_block: Option<BlockOffset>,
    /// The number of data blocks that are finished.
    pub(super) data_block_count: u64,
    pub(super) statistics: Statistics,
    pub(super) failed: bool,
}

/// A summary of a finished file.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct FileSummary {
    /// The length of the file in bytes.
    pub len: u64,
    /// The number of cells.
    pub cell_count: u64,
    /// The row of the first cell.
    pub first_row: Option<Vec<u8>>,
    /// The row of the last cell.
    pub last_row: Option<Vec<u8>>,
    /// The flat key of the first cell.
    pub first_key: Option<Vec<u8>>,
    /// The flat key of the last cell.
    pub last_key: Option<Vec<u8>>,
    /// Why the row filter was left out, if it could not be built and was
    /// [optional](WriterOptions::filter_is_optional).
    pub filter_omission: Option<String>,
}

impl<W: Write> Writer<W> {
    /// Begins a file. Writes to `sink` in units of 1 MiB, so `sink` needs no buffer.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for a codec that this build does not have, [`Error::Invalid`] for
    /// invalid options.
    pub fn new(sink: W, name: FileName, options: WriterOptions) -> Result<Self> {
        let invalid = |what| Error::Invalid { file: name.clone(), what };
        options.check().map_err(|error| invalid(error.to_string()))?;
        if !options.compression.is_supported() {
            let found = options.compression.refusal();
            return Err(Error::Unsupported { file: name, feature: "compression codec", found });
        }
        let layout = CellLayout {
            tags: options.includes_tags,
            mvcc: options.includes_mvcc,
            compressed_tags: options.compress_tags,
            order: options.comparator,
        };
        Ok(Self {
            layout,
            general_bloom: BloomWriter::general(&options).map_err(invalid)?,
            delete_family_bloom: BloomWriter::delete_family(&options).map_err(invalid)?,
            blocks: BlockWriter::new(sink, name.clone(), &options),
            block: BlockEncoder::new(options.data_block_encoding, layout),
            index: IndexWriter::new(options.index_block_size, options.index_min_entries),
            filter: FilterWriter::new(&options),
            filter_id: None,
            filter_omission: None,
            statistics: Statistics::new(options.hbase_version),
            options,
            index_key: Vec::new(),
            first_key: Vec::new(),
            last_key: Vec::new(),
            meta_blocks: BTreeMap::new(),
            first_data_block: None,
            last_data_block: None,
            data_block_count: 0,
            failed: false,
        })
    }

    /// Puts each block into a block cache once it is written, in the form in which reads keep it.
    ///
    /// [`ReaderOptions::written_to`](crate::ReaderOptions::written_to) opens the file with these blocks.
    #[doc(hidden)]
    #[must_use]
    pub fn cached_in(mut self, place: FileInCache) -> Self {
        self.blocks.cache_in(BlockCaching::new(
            place,
            self.options.data_block_encoding,
            self.layout,
        ));
        self
    }

    /// Appends a cell, whose key must not be less than the previous cell's.
    ///
    /// Cells with the same key must be in the order of descending sequence ids.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if the cell breaks a rule of the format. The cell is then not appended,
    /// and the writer stays usable. [`Error::Invalid`] if the row filter cannot be built and is not
    /// [optional](WriterOptions::filter_is_optional), [`Error::Io`] if the sink fails. The writer is
    /// then unusable.
    pub fn append(&mut self, cell: CellRef<'_>) -> Result<()> {
        if self.failed {
            return Err(self.is_incomplete());
        }
        let last = KeyRef::parse(&self.last_key);
        self.check_cell(&cell, last.as_ref()).map_err(|what| self.invalid_cell(&cell, &what))?;
        let is_new_row = last.is_none_or(|last| last.row != cell.row);
        let is_new_key = last.is_none_or(|last| last != cell.key());

        // As in HBase, the key is added before the block is cut, so a pending chunk can include it.
        if let Some(bloom) = &mut self.general_bloom {
            bloom.insert(&cell);
        }
        if let Some(bloom) = &mut self.delete_family_bloom
            && cell.cell_type.deletes_family()
        {
            bloom.insert(&cell);
        }
        if let Some(filter) = &mut self.filter
            && is_new_row
            && let Err(what) = filter.insert(cell.row)
        {
            self.filter = None;
            self.omit_filter(what)?;
        }
        // Cells of one key stay in one block: the index could not distinguish their blocks.
        if is_new_key && self.block.is_full(self.options.block_size as usize) {
            self.failed = true;
            self.finish_data_block()?;
            self.write_inline_blocks(false)?;
            self.failed = false;
        }
        self.add_to_block(&cell);
        Ok(())
    }

    /// Adds a META block with a name. HBase ignores unknown names.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if the name is taken or reserved for the row filter, or the block is too
    /// large.
    pub fn append_meta(&mut self, name: &str, body: impl Into<Vec<u8>>) -> Result<()> {
        let is_ours = self.filter.is_some() && is_filter_name(name.as_bytes());
        if is_ours || self.meta_blocks.contains_key(name.as_bytes()) {
            return Err(self.invalid(format!("a second META block {name:?}")));
        }
        let body = body.into();
        if body.len() > BLOCK_LEN_MAX {
            return Err(self.invalid(format!("META block {name:?} of {} bytes", body.len())));
        }
        self.meta_blocks.insert(name.as_bytes().to_vec(), body);
        Ok(())
    }

    /// Returns the bytes written so far, without those of pending blocks.
    pub const fn written_len(&self) -> u64 {
        self.blocks.offset().get()
    }

    /// Completes the file, flushes the sink, and returns it with a summary.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the sink fails, [`Error::Invalid`] if an earlier write failed or the row filter
    /// cannot be built.
    pub fn finish(mut self) -> Result<(W, FileSummary)> {
        if self.failed {
            return Err(self.is_incomplete());
        }
        self.finish_data_block()?;
        self.write_inline_blocks(true)?;
        self.add_filter_blocks()?;
        let meta_index = self.write_meta_blocks()?;
        let index = self.index.finish(&mut self.blocks)?;

        let mut body = Vec::new();
        for (block, name) in &meta_index {
            IndexEntry { block: *block, key: name }.write_root(&mut body);
        }
        self.blocks.write(BlockType::RootIndex, &body)?;
        let file_info = self.write_file_info_and_blooms()?;

        let cell_count = self.statistics.cell_count;
        let trailer = Trailer {
            major_version: 3,
            minor_version: 3,
            file_info_offset: file_info.offset,
            load_on_open_data_offset: index.root.offset,
            uncompressed_data_index_size: index.len,
            total_uncompressed_bytes: self.blocks.uncompressed_len() + Trailer::LEN,
            data_index_count: index.root_entries,
            meta_index_count: meta_index.len() as u32,
            entry_count: cell_count,
            num_data_index_levels: index.levels,
            first_data_block_offset: self.first_data_block,
            last_data_block_offset: self.last_data_block,
            comparator: self.options.comparator,
            comparator_class_name: self.options.comparator.class_name().into(),
            compression: self.options.compression,
        };
        body.clear();
        trailer.write(&mut body);
        let summary = FileSummary {
            len: self.blocks.offset().get() + Trailer::LEN,
            cell_count,
            first_row: KeyRef::parse(&self.first_key).map(|first| first.row.to_vec()),
            last_row: KeyRef::parse(&self.last_key).map(|last| last.row.to_vec()),
            first_key: (cell_count > 0).then_some(self.first_key),
            last_key: (cell_count > 0).then_some(self.last_key),
            filter_omission: self.filter_omission,
        };
        Ok((self.blocks.finish(&body)?, summary))
    }

    #[cold]
    fn is_incomplete(&self) -> Error {
        self.invalid("an earlier write failed, so the file is incomplete; write it again".into())
    }

    /// Adds a checked cell to the current block.
    fn add_to_block(&mut self, cell: &CellRef<'_>) {
        if self.block.is_empty() {
            self.index_key.clear();
            let last = KeyRef::parse(&self.last_key);
            if last.is_none() {
                cell.key().write_flat(&mut self.first_key);
            }
            match last {
                Some(last) if self.layout.order == Comparator::Bytes => {
                    self.index_key = short_key(&last, cell);
                }
                // HBase takes the first row of a file from its first index key, so that key is not
                // shortened. HBase does not shorten keys of hbase:meta either.
                _ => cell.key().write_flat(&mut self.index_key),
            }
        }
        self.block.append(cell);
        self.statistics.add(cell);
        self.last_key.clear();
        cell.key().write_flat(&mut self.last_key);
    }

    fn finish_data_block(&mut self) -> Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        let block_type = match self.options.data_block_encoding {
            DataBlockEncoding::None => BlockType::Data,
            _ => BlockType::EncodedData,
        };
        let block = self.blocks.write(block_type, self.block.finish())?;
        self.block.clear();
        self.index.push(block, std::mem::take(&mut self.index_key));
        self.first_data_block.get_or_insert(block.offset);
        self.last_data_block = Some(block.offset);
        self.data_block_count += 1;
        Ok(())
    }

    /// Writes the full leaf index and Bloom chunks; if `closing`, all of them.
    fn write_inline_blocks(&mut self, closing: bool) -> Result<()> {
        self.index.write_leaf(&mut self.blocks, closing)?;
        for bloom in [&mut self.general_bloom, &mut self.delete_family_bloom].into_iter().flatten()
        {
            bloom.write_chunks(&mut self.blocks, closing)?;
        }
        Ok(())
    }

    /// Adds the META blocks of the row filter.
    fn add_filter_blocks(&mut self) -> Result<()> {
        if let Some(filter) = self.filter.take() {
            let FilterBlocks { metas, id } = match filter.finish() {
                Ok(blocks) => blocks,
                Err(what) => return self.omit_filter(what),
            };
            self.meta_blocks.extend(metas.into_iter().map(|(name, body)| (name.into(), body)));
            self.filter_id = Some(id);
        }
        Ok(())
    }

    /// Continues without the filter, which cannot be built; an error if it is not optional.
    fn omit_filter(&mut self, what: String) -> Result<()> {
        if !self.options.filter_is_optional {
            self.failed = true;
            return Err(self.invalid(what));
        }
        self.filter_omission = Some(what);
        Ok(())
    }

    /// Writes the META blocks and returns their index.
    fn write_meta_blocks(&mut self) -> Result<Vec<(BlockHandle, Vec<u8>)>> {
        std::mem::take(&mut self.meta_blocks)
            .into_iter()
            .map(|(name, body)| Ok((self.blocks.write(BlockType::Meta, &body)?, name)))
            .collect()
    }

    /// Writes the file info and the Bloom metas. Returns the location of the file info.
    fn write_file_info_and_blooms(&mut self) -> Result<BlockHandle> {
        let general = self.general_bloom.take().and_then(BloomWriter::finish);
        let delete_family = self.delete_family_bloom.take().and_then(BloomWriter::finish);

        let mut file_info = FileInfo::default();
        describe_origin(&self.options, &mut file_info);
        for (key, value) in std::mem::take(&mut self.options.file_info) {
            file_info.insert(&key, value);
        }
        self.statistics.describe(&self.options, &self.last_key, &mut file_info);
        if let Some(id) = self.filter_id.take() {
            file_info.insert(FileInfo::ROW_FILTER_ID, id);
        }
        if let Some((_, last_key)) = &general {
            describe_bloom(self.options.bloom_type, last_key, &mut file_info);
        }
        let file_info = self.blocks.write(BlockType::FileInfo, &file_info.encode())?;

        let mut body = Vec::new();
        for (block_type, bloom) in [
            (BlockType::GeneralBloomMeta, general),
            (BlockType::DeleteFamilyBloomMeta, delete_family),
        ] {
            if let Some((meta, _)) = bloom {
                body.clear();
                meta.write(&mut body);
                self.blocks.write(block_type, &body)?;
            }
        }
        Ok(file_info)
    }

    fn invalid(&self, what: String) -> Error {
        Error::Invalid { file: self.blocks.name().clone(), what }
    }

    fn invalid_cell(&self, cell: &CellRef<'_>, what: &str) -> Error {
        self.invalid(format!("cell {}: {what}", cell.key()))
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
