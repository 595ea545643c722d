//! An open file: what it says about itself, and the way from a key to its cells.
//!
//! ```text
//! row ─range→ outside: not here
//!     ─filter→ "no": not here, and no other block was touched
//!     ─index→ data block ─row index, or a walk→ first cell of the row, or not here
//! ```

use std::borrow::Cow;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;

use crate::block::branch::IndexBlock;
use crate::block::header::Header;
use crate::block::index::BlockPlace;
use crate::block::meta::MetaBlock;
use crate::{
    BlockOffset, BlockType, BloomSummary, Caching, Comparator, Compression, Damage,
    DataBlockEncoding, Error, FileInfo, FileName, FileSource, FilterAnswer, FilterSummary, ReadAt,
    ReadTrace, ReaderOptions, Result, RowProbe, Scanner, SequenceId, TimeRange, Trailer,
};

use crate::file::filters::chunked_bloom::ChunkedBloom;
use crate::file::filters::row_filter::RowFilter;
use crate::file::open;
use crate::file::open_file::OpenFile;
use crate::lookup::{LookupFile, RowLookup};

/// An open file. Cloning it is cheap, and all clones are one file; threads may share it.
///
/// ```
/// use bytes::Bytes;
/// use filter::Seed;
/// use sstable::{Caching, FileName, ReadTrace, Reader, ReaderOptions, RowProbe};
/// # let file: &'static [u8] = include_bytes!("../../../tests/data/hfile/s03-one-cell.hfile");
/// # let name = FileName::new("4f1c.hfile");
///
/// # let source = std::sync::Arc::new(Bytes::from_static(file));
/// let reader = Reader::open(source, name, ReaderOptions::default())?;
/// let mut scanner = reader.scanner(Caching::Use);
/// scanner.seek_to_first()?;
/// while let Some(cell) = scanner.cell() {
///     println!("{cell:?}");
///     scanner.advance()?;
/// }
///
/// let mut trace = ReadTrace::default();
/// let absent = RowProbe::new(b"no such row", Seed::default());
/// assert!(reader.get_row(&absent, &mut trace)?.is_none());
/// assert_eq!(trace.data_blocks(), 0);
/// # Ok::<(), sstable::Error>(())
/// ```
#[derive(Clone)]
pub struct Reader(LookupFile);

impl Reader {
    /// Opens a file. Reads its trailer and what the trailer says to load, and nothing else; errors
    /// call the file `name`.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if what was read contradicts the format, [`Error::Unsupported`] if it
    /// needs something this build does not have, [`Error::Io`] if it cannot be read.
    pub fn open(source: Arc<dyn ReadAt>, name: FileName, options: ReaderOptions) -> Result<Self> {
        open::open(source, name, options).map(Arc::new).map(LookupFile::new).map(Self)
    }

    /// Opens a local file.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_file(path: impl AsRef<Path>, options: ReaderOptions) -> Result<Self> {
        let path = path.as_ref();
        let name = FileName::new(path.display().to_string());
        let failed =
            |source| Error::Io { file: name.clone(), action: Cow::Borrowed("open it"), source };
        let source = FileSource::open(path).map_err(failed)?;
        Self::open(Arc::new(source), name, options)
    }

    /// The file behind the facade.
    pub(crate) const fn file(&self) -> &Arc<OpenFile> {
        &self.0.file
    }

    /// Returns the file for a list that lookups ask, such as [`Lookup::rows`](crate::Lookup::rows).
    pub fn lookup_file(&self) -> LookupFile {
        self.0.clone()
    }

    /// Looks a row up: by range, filter, index and block. Returns a scanner on its first cell.
    ///
    /// Counts the file as considered, and why it was skipped if it was.
    ///
    /// # Errors
    ///
    /// If a block cannot be read.
    #[inline]
    pub fn get_row(&self, probe: &RowProbe<'_>, trace: &mut ReadTrace) -> Result<Option<Scanner>> {
        let mut lookup = RowLookup::new(std::slice::from_ref(&self.0), probe);
        let found = lookup.next_file(&mut ());
        trace.add(lookup.trace());
        Ok(found?.map(|(_, scanner)| scanner))
    }

    /// Asks the filter about a row; counts the question and the filter's blocks.
    pub fn ask_filter(&self, probe: &RowProbe<'_>, trace: &mut ReadTrace) -> FilterAnswer {
        if self.is_empty() {
            return FilterAnswer::No;
        }
        self.file().filters.ask(&self.file().blocks, probe, trace)
    }

    /// Returns whether the file can hold a row that begins with `prefix`, as far as its range and its filter
    /// know: HBase's Bloom filter can tell if it is over prefixes as long or shorter. Counts the file as
    /// considered, and why it was skipped if it was.
    pub fn may_contain_prefix(&self, prefix: &[u8], trace: &mut ReadTrace) -> bool {
        trace.files_considered += 1;
        let by_bytes = self.comparator() == Comparator::Bytes;
        let spans = self.file().rows.as_ref().is_some_and(|rows| {
            let reaches_prefix = *rows.last >= *prefix;
            let begins_by_prefix = *rows.first <= *prefix || rows.first.starts_with(prefix);
            !by_bytes || (reaches_prefix && begins_by_prefix)
        });
        if !spans {
            trace.files_skipped_by_range += 1;
            return false;
        }
        self.file().filters.ask_prefix(&self.file().blocks, prefix, trace) != FilterAnswer::No
    }

    /// What errors call the file.
    pub fn name(&self) -> &FileName {
        &self.file().blocks.name
    }

    /// Where everything is.
    pub fn trailer(&self) -> &Trailer {
        &self.file().trailer
    }

    /// What the file says about itself.
    pub fn file_info(&self) -> &FileInfo {
        &self.file().file_info
    }

    /// How many cells it holds.
    pub fn cell_count(&self) -> u64 {
        self.file().trailer.entry_count
    }

    /// Bytes of the file.
    pub fn len(&self) -> u64 {
        self.file().blocks.source.len()
    }

    /// Whether it holds no cells.
    pub fn is_empty(&self) -> bool {
        self.cell_count() == 0
    }

    /// The first row, unless there are no cells.
    pub fn first_row(&self) -> Option<&[u8]> {
        self.file().rows.as_ref().map(|rows| &*rows.first)
    }

    /// The last row, unless there are no cells.
    pub fn last_row(&self) -> Option<&[u8]> {
        self.file().rows.as_ref().map(|rows| &*rows.last)
    }

    /// The flat key of the first cell, as the index has it, unless there are no cells.
    pub fn first_key(&self) -> Option<&[u8]> {
        self.file().index.as_ref()?.root.entry(0).map(|entry| entry.key)
    }

    /// The flat key of the last cell, as the file info has it, unless there are no cells.
    pub fn last_key(&self) -> Option<&[u8]> {
        self.file().rows.as_ref()?;
        self.file().file_info.value(FileInfo::LAST_KEY)
    }

    /// Whether `row` lies between the first row and the last.
    #[inline]
    pub fn spans_row(&self, row: &[u8]) -> bool {
        self.file().spans_row(row)
    }

    /// The times of its cells, if the file says.
    pub fn time_range(&self) -> Option<TimeRange> {
        self.file().file_info.time_range()
    }

    /// Whether it may hold cells of these times. A file that does not say its times may hold any.
    pub fn spans_times(&self, times: TimeRange) -> bool {
        self.time_range().is_none_or(|own| own.min <= times.max && times.min <= own.max)
    }

    /// The last write that is in it, if the file says.
    pub fn sequence_id_max(&self) -> Option<SequenceId> {
        self.file().file_info.sequence_id_max()
    }

    /// The order of its rows.
    pub fn comparator(&self) -> Comparator {
        self.file().trailer.comparator
    }

    /// How its data blocks are encoded.
    pub fn data_block_encoding(&self) -> DataBlockEncoding {
        self.file().blocks.encoding
    }

    /// How its blocks are compressed.
    pub fn compression(&self) -> Compression {
        self.file().blocks.compression
    }

    /// What guards its blocks.
    pub fn checksum_type(&self) -> crate::ChecksumType {
        self.file().blocks.checksum_type.unwrap_or_default()
    }

    /// How many levels its data index has.
    pub fn index_levels(&self) -> u32 {
        self.file().trailer.num_data_index_levels
    }

    /// Its HBase Bloom filter, unless it has none that can be used.
    pub fn bloom(&self) -> Option<BloomSummary> {
        self.file().filters.bloom.as_ref().map(ChunkedBloom::summary)
    }

    /// Its HBase Bloom filter over rows with family deletes.
    pub fn delete_family_bloom(&self) -> Option<BloomSummary> {
        self.file().filters.delete_family_bloom.as_ref().map(ChunkedBloom::summary)
    }

    /// Why one of HBase's Bloom filters in the file, or a chunk of it, cannot be used, as far as reads have
    /// found out. They do without it.
    pub fn bloom_problem(&self) -> Option<&Damage> {
        let filters = &self.file().filters;
        let blooms = [&filters.bloom, &filters.delete_family_bloom];
        let in_chunk = || blooms.into_iter().flatten().find_map(ChunkedBloom::problem);
        filters.problem.as_ref().or_else(in_chunk)
    }

    /// Our own filter in META blocks, if it has one. Reads its block, or the index of its blocks.
    ///
    /// # Errors
    ///
    /// If the block cannot be read, or is no filter.
    pub fn filter(&self) -> Result<Option<FilterSummary>> {
        let Some(filter) = &self.file().filters.row_filter else { return Ok(None) };
        let summary = filter.summary(&self.file().blocks)?;
        match filter.problem().filter(|_| summary.is_none()) {
            Some(problem) => Err(problem.clone().in_file(self.name())),
            None => Ok(summary),
        }
    }

    /// Why our own filter, or a partition of it, cannot be used, as far as reads have found out.
    /// They do without it.
    pub fn filter_problem(&self) -> Option<&Damage> {
        self.file().filters.row_filter.as_ref().and_then(RowFilter::problem)
    }

    /// The names of its META blocks, in their order.
    pub fn meta_block_names(&self) -> impl Iterator<Item = &[u8]> {
        self.file().metas.iter().map(|(name, _)| &name[..])
    }

    /// The bytes of the META block of this name.
    ///
    /// # Errors
    ///
    /// If the block cannot be read.
    pub fn meta_block(&self, name: &[u8], trace: &mut ReadTrace) -> Result<Option<Bytes>> {
        let metas = &self.file().metas;
        let Ok(index) = metas.binary_search_by(|(known, _)| known[..].cmp(name)) else {
            return Ok(None);
        };
        let blocks = &self.file().blocks;
        let (place, block_type) = (metas[index].1, BlockType::Meta);
        let block =
            blocks.load::<MetaBlock>(place, block_type, Caching::Use, trace, |_, _| Ok(()))?;
        Ok(Some(block.body().clone()))
    }

    /// The headers of all blocks one after the other, up to the trailer. Ends after an error.
    pub fn blocks(&self) -> impl Iterator<Item = Result<(BlockOffset, Header)>> {
        let blocks = &self.file().blocks;
        let end = self.blocks_end();
        let mut next = Some(BlockOffset::default());
        std::iter::from_fn(move || {
            let at = next.take().filter(|at| at.get() < end)?;
            let header = blocks.read_header(at, end);
            next = header.as_ref().ok().map(|header| at + header.len());
            Some(header.map(|header| (at, header)))
        })
    }

    /// A key near the middle of the file, at which it can be split in halves of about the same size;
    /// `None` if there are no cells.
    ///
    /// # Errors
    ///
    /// If the index block that holds it cannot be read.
    pub fn middle_key(&self, trace: &mut ReadTrace) -> Result<Option<Bytes>> {
        let OpenFile { index: Some(index), middle, blocks, .. } = &**self.file() else {
            return Ok(None);
        };
        let Some(middle) = middle else {
            let entry = index.root.entry(index.root.len() / 2);
            return Ok(entry.map(|entry| index.root.keep(entry.key)));
        };
        let number = middle.entry_in_leaf as usize;
        // Not into the cache: no entry led here by which the leaf could be checked.
        let (block_type, caching) = (BlockType::LeafIndex, Caching::Bypass);
        let leaf: Arc<IndexBlock> =
            blocks.load(middle.leaf, block_type, caching, trace, |_, _| Ok(()))?;
        let key = leaf.entry(number).map(|entry| leaf.keep(entry.key));
        let damage = || {
            let what = "the middle of the file is not in it";
            Damage::in_block(BlockType::LeafIndex, middle.leaf.offset, what).in_file(&blocks.name)
        };
        key.ok_or_else(damage).map(Some)
    }

    /// A scanner that stands nowhere yet.
    pub fn scanner(&self, caching: Caching) -> Scanner {
        Scanner::new(Arc::clone(self.file()), caching)
    }

    /// A scanner that reads ahead, for long scans: while it walks through a block, a thread of its own
    /// reads, verifies and decompresses those behind it. It stands nowhere yet.
    ///
    /// It is as one past the cache ([`Caching::Bypass`]) in all but time: it gives the same cells, and
    /// the same error at the same cell. The thread starts when the scan has crossed two block edges, so
    /// that a short one does without. It ends with the file or the scanner, at a seek, and at a step
    /// back; dropping the scanner waits until it has ended, no longer than for one block. At most 16
    /// blocks are read ahead, and none of more than 512 KiB. Each counts in the scan's trace when the
    /// scan comes to it; those that were read in vain, when it goes elsewhere. If there is no thread to
    /// be had, the scan reads by itself.
    ///
    /// For scans that are many at once, as those of a merge, there are only so many processors.
    pub fn bulk_scanner(&self) -> Scanner {
        Scanner::reading_ahead(Arc::clone(self.file()))
    }
}

/// What a writer asks for that makes the file anew.
impl Reader {
    /// The names of its META blocks in their order, and where the blocks are.
    pub(crate) fn meta_places(&self) -> &[(Bytes, BlockPlace)] {
        &self.file().metas
    }

    /// The header of the block at `at`.
    pub(crate) fn read_header(&self, at: BlockOffset) -> Result<Header> {
        self.file().blocks.read_header(at, self.blocks_end())
    }

    /// A block as it is stored, checked, and its body.
    pub(crate) fn raw_block(&self, at: BlockOffset, header: &Header) -> Result<(Bytes, Bytes)> {
        let blocks = &self.file().blocks;
        let bytes = blocks.read_bytes(at, header.len())?;
        let raw = blocks.parse(&bytes, at).map_err(|damage| damage.in_file(self.name()))?;
        Ok((bytes, raw.body))
    }

    /// Bytes of the file.
    pub(crate) fn read_bytes(&self, at: BlockOffset, len: u64) -> Result<Bytes> {
        self.file().blocks.read_bytes(at, len)
    }

    /// Where the trailer stands.
    fn blocks_end(&self) -> u64 {
        self.len().saturating_sub(self.file().trailer.len())
    }
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("name", self.name()).finish_non_exhaustive()
    }
}

#[cfg(test)]
pub(crate) mod tests;
