//! An open file: what it says about itself, and the way from a key to its cells.
//!
//! ```text
//! row ─range→ outside: not here
//!     ─filter→ "no": not here, and no other block was touched
//!     ─index→ data block ─row index→ first cell of the row, or not here
//! ```

use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;

use crate::block::body::Buffers;
use crate::block::data::DataBlock;
use crate::block::header::Header;
use crate::block::index::{BlockPlace, MiddleEntry};
use crate::block::loaded::Block;
use crate::block::meta::MetaBlock;
use crate::block::searchable::Searchable;
use crate::encoding::What;
use crate::{
    BlockOffset, BlockType, Comparator, Compression, Damage, DataBlockEncoding, Error, FileInfo,
    FileName, FileSource, KeyRef, ReadAt, ReadTrace, Result, RowProbe, Scanner, SequenceId,
    TimeRange, Trailer,
};

mod blocks;
mod filters;
mod index;
mod open;
mod options;
mod row_filter;
mod salvage;
mod verify;

use blocks::{Blocks, Wanted};
use filters::FileFilters;
pub use filters::{BloomSummary, FilterAnswer, FilterSummary, KeptFilter};
use index::{DataIndex, check_data_keys};
pub use options::{Caching, FilterUse, ReaderOptions};
pub use salvage::{Lost, salvage};
pub use verify::{PROBLEMS_MAX, Verification, verify};

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
/// assert!(reader.seek_row(&absent, &mut trace)?.is_none());
/// assert_eq!(trace.data_blocks(), 0);
/// # Ok::<(), sstable::Error>(())
/// ```
#[derive(Clone)]
pub struct Reader(Arc<Inner>);

/// Names of META blocks in their order, and where the blocks are.
type MetaIndex = Vec<(Bytes, BlockPlace)>;

/// The first and the last row of a file.
struct Rows {
    first: Box<[u8]>,
    last: Box<[u8]>,
}

struct Inner {
    blocks: Blocks,
    trailer: Trailer,
    file_info: FileInfo,
    /// `None` in a file without cells.
    index: Option<DataIndex>,
    middle: Option<MiddleEntry>,
    metas: MetaIndex,
    /// `None` in a file without cells.
    rows: Option<Rows>,
    filters: FileFilters,
    filter_use: FilterUse,
}

impl Reader {
    /// Opens a file. Reads its trailer and what the trailer says to load, and nothing else; errors
    /// call the file `name`.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if what was read contradicts the format, [`Error::Unsupported`] if it
    /// needs something this build does not have, [`Error::Io`] if it cannot be read.
    pub fn open(source: Arc<dyn ReadAt>, name: FileName, options: ReaderOptions) -> Result<Self> {
        open::open(source, name, options).map(Arc::new).map(Self)
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
        let source = File::open(path).and_then(FileSource::new).map_err(failed)?;
        Self::open(Arc::new(source), name, options)
    }

    /// What errors call the file.
    pub fn name(&self) -> &FileName {
        &self.0.blocks.name
    }

    /// Where everything is.
    pub fn trailer(&self) -> &Trailer {
        &self.0.trailer
    }

    /// What the file says about itself.
    pub fn file_info(&self) -> &FileInfo {
        &self.0.file_info
    }

    /// How many cells it holds.
    pub fn cell_count(&self) -> u64 {
        self.0.trailer.entry_count
    }

    /// Bytes of the file.
    pub fn len(&self) -> u64 {
        self.0.blocks.source.len()
    }

    /// Whether it holds no cells.
    pub fn is_empty(&self) -> bool {
        self.cell_count() == 0
    }

    /// The first row, unless there are no cells.
    pub fn first_row(&self) -> Option<&[u8]> {
        self.0.rows.as_ref().map(|rows| &*rows.first)
    }

    /// The last row, unless there are no cells.
    pub fn last_row(&self) -> Option<&[u8]> {
        self.0.rows.as_ref().map(|rows| &*rows.last)
    }

    /// The flat key of the first cell, as the index has it, unless there are no cells.
    pub fn first_key(&self) -> Option<&[u8]> {
        self.0.index.as_ref()?.root.entry(0).map(|entry| entry.key)
    }

    /// The flat key of the last cell, as the file info has it, unless there are no cells.
    pub fn last_key(&self) -> Option<&[u8]> {
        self.0.rows.as_ref()?;
        self.0.file_info.value(FileInfo::LAST_KEY)
    }

    /// Whether `row` lies between the first row and the last.
    pub fn spans_row(&self, row: &[u8]) -> bool {
        let order = self.comparator();
        self.0.rows.as_ref().is_some_and(|rows| {
            order.compare_rows(&rows.first, row).is_le()
                && order.compare_rows(row, &rows.last).is_le()
        })
    }

    /// The times of its cells, if the file says.
    pub fn time_range(&self) -> Option<TimeRange> {
        self.0.file_info.time_range()
    }

    /// Whether it may hold cells of these times. A file that does not say its times may hold any.
    pub fn spans_times(&self, times: TimeRange) -> bool {
        self.time_range().is_none_or(|own| own.min <= times.max && times.min <= own.max)
    }

    /// The last write that is in it, if the file says.
    pub fn sequence_id_max(&self) -> Option<SequenceId> {
        self.0.file_info.sequence_id_max()
    }

    /// The order of its rows.
    pub fn comparator(&self) -> Comparator {
        self.0.trailer.comparator
    }

    /// How its data blocks are encoded.
    pub fn data_block_encoding(&self) -> DataBlockEncoding {
        self.0.blocks.encoding
    }

    /// How its blocks are compressed.
    pub fn compression(&self) -> Compression {
        self.0.blocks.compression
    }

    /// What guards its blocks.
    pub fn checksum_type(&self) -> crate::ChecksumType {
        self.0.blocks.checksum_type.unwrap_or_default()
    }

    /// How many levels its data index has.
    pub fn index_levels(&self) -> u32 {
        self.0.trailer.num_data_index_levels
    }

    /// Its HBase Bloom filter, unless it has none that can be used.
    pub fn bloom(&self) -> Option<BloomSummary> {
        self.0.filters.bloom.as_ref().map(filters::ChunkedBloom::summary)
    }

    /// Its HBase Bloom filter over rows with family deletes.
    pub fn delete_family_bloom(&self) -> Option<BloomSummary> {
        self.0.filters.delete_family_bloom.as_ref().map(filters::ChunkedBloom::summary)
    }

    /// Why one of its Bloom filters cannot be used, if that is so. Reads then do without it.
    pub fn bloom_problem(&self) -> Option<&Damage> {
        self.0.filters.problem.as_ref()
    }

    /// Our own filter in META blocks, if it has one. Reads its block, or the index of its blocks.
    ///
    /// # Errors
    ///
    /// If the block cannot be read, or is no filter.
    pub fn filter(&self) -> Result<Option<FilterSummary>> {
        let Some(filter) = &self.0.filters.row_filter else { return Ok(None) };
        let summary = filter.summary(&self.0.blocks)?;
        match filter.problem().filter(|_| summary.is_none()) {
            Some(problem) => Err(problem.clone().in_file(self.name())),
            None => Ok(summary),
        }
    }

    /// Why our own filter, or a partition of it, cannot be used, as far as reads have found out.
    /// They do without it.
    pub fn filter_problem(&self) -> Option<&Damage> {
        self.0.filters.row_filter.as_ref().and_then(row_filter::RowFilter::problem)
    }

    /// The names of its META blocks, in their order.
    pub fn meta_block_names(&self) -> impl Iterator<Item = &[u8]> {
        self.0.metas.iter().map(|(name, _)| &name[..])
    }

    /// The bytes of the META block of this name.
    ///
    /// # Errors
    ///
    /// If the block cannot be read.
    pub fn meta_block(&self, name: &[u8], trace: &mut ReadTrace) -> Result<Option<Bytes>> {
        let metas = &self.0.metas;
        let Ok(index) = metas.binary_search_by(|(known, _)| known[..].cmp(name)) else {
            return Ok(None);
        };
        let blocks = &self.0.blocks;
        let block = blocks.load(metas[index].1, Wanted::Meta, Caching::Use, trace, |_| Ok(()))?;
        match &*block {
            Block::Meta(MetaBlock { body, .. }) => Ok(Some(body.clone())),
            _ => Ok(None),
        }
    }

    /// The headers of all blocks one after the other, up to the trailer. Ends after an error.
    pub fn blocks(&self) -> impl Iterator<Item = Result<(BlockOffset, Header)>> {
        let blocks = &self.0.blocks;
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
        let Inner { index: Some(index), middle, blocks, .. } = &*self.0 else { return Ok(None) };
        let Some(middle) = middle else {
            let entry = index.root.entry(index.root.len() / 2);
            return Ok(entry.map(|entry| index.root.keep(entry.key)));
        };
        let number = middle.entry_in_leaf as usize;
        let leaf = blocks.load(middle.leaf, Wanted::LeafIndex, Caching::Use, trace, |_| Ok(()))?;
        let key = match &*leaf {
            Block::Index(leaf) => leaf.entry(number).map(|entry| leaf.keep(entry.key)),
            _ => None,
        };
        let damage = || {
            let what = "the middle of the file is not in it";
            Damage::in_block(BlockType::LeafIndex, middle.leaf.offset, what).in_file(&blocks.name)
        };
        key.ok_or_else(damage).map(Some)
    }

    /// Asks the filter about a row; counts the question and the filter's blocks.
    pub fn ask_filter(&self, probe: &RowProbe<'_>, trace: &mut ReadTrace) -> FilterAnswer {
        if self.is_empty() {
            return FilterAnswer::No;
        }
        self.0.filters.ask(self.0.filter_use, &self.0.blocks, probe, trace)
    }

    /// The filter of ours that [`ask_filter`](Self::ask_filter) would ask, if it is in memory for as
    /// long as the file is open. The processor is asked to load what it will look at, which is worth
    /// it for all files of a read before the first filter is asked.
    pub fn prefetched_filter(&self, probe: &RowProbe<'_>) -> Option<KeptFilter<'_>> {
        self.0.filters.prefetched(self.0.filter_use, probe)
    }

    /// Whether the file may hold a row, as far as its filter knows.
    pub fn may_contain(&self, probe: &RowProbe<'_>, trace: &mut ReadTrace) -> bool {
        self.ask_filter(probe, trace) != FilterAnswer::No
    }

    /// Whether the file can hold a row that begins with `prefix`: HBase's Bloom filter knows if it
    /// is over prefixes as long or shorter, and else it may.
    pub fn may_contain_prefix(&self, prefix: &[u8], trace: &mut ReadTrace) -> bool {
        self.0.filters.ask_prefix(self.0.filter_use, &self.0.blocks, prefix, trace)
            != FilterAnswer::No
    }

    /// Whether the file may hold a delete of the whole family in a row. HBase's Bloom filter over
    /// such rows is asked; it is not counted as one of the filters that spare a file.
    ///
    /// # Errors
    ///
    /// None: a filter that cannot be read does not deny.
    pub fn may_delete_family(&self, probe: &RowProbe<'_>, trace: &mut ReadTrace) -> bool {
        if self.0.file_info.delete_family_count() == Some(0) {
            return false;
        }
        let bloom = self.0.filters.delete_family_bloom.as_ref();
        let answer = bloom.map(|bloom| bloom.ask(&self.0.blocks, probe, trace));
        !matches!(answer, Some(Ok(Some(false))))
    }

    /// Looks a row up: by range, filter, index and block. Returns a scanner on its first cell.
    ///
    /// Counts the file as considered, and why it was passed over if it was.
    ///
    /// # Errors
    ///
    /// If a block cannot be read.
    pub fn seek_row(&self, probe: &RowProbe<'_>, trace: &mut ReadTrace) -> Result<Option<Scanner>> {
        trace.files_considered += 1;
        if !self.spans_row(probe.row()) {
            trace.files_skipped_by_range += 1;
            return Ok(None);
        }
        match self.ask_filter(probe, trace) {
            FilterAnswer::No => Ok(None),
            answer => self.seek_row_after(answer, probe, trace),
        }
    }

    /// Looks a row up whose filter has answered: by index and block. Returns a scanner on its first
    /// cell. Counts a false positive if the filter said "maybe" and the row is not there.
    ///
    /// # Errors
    ///
    /// If a block cannot be read.
    pub fn seek_row_after(
        &self,
        answer: FilterAnswer,
        probe: &RowProbe<'_>,
        trace: &mut ReadTrace,
    ) -> Result<Option<Scanner>> {
        let found = self.find_row(probe.row(), trace)?;
        if found.is_none() && answer == FilterAnswer::Maybe {
            trace.filter_false_positives += 1;
        }
        Ok(found.map(|(block, at)| Scanner::at(self.clone(), block, at)))
    }

    /// Finds the first cell of a row: its block, and where it stands there.
    fn find_row(&self, row: &[u8], trace: &mut ReadTrace) -> Result<Option<(Arc<Block>, usize)>> {
        let Some(index) = &self.0.index else { return Ok(None) };
        let blocks = &self.0.blocks;
        let key = KeyRef::before_row(row);
        let (block, begins_next) =
            index.find(blocks, &key, Caching::Use, trace, |place, trace| {
                let block =
                    self.0.load_data(place, Caching::Use, &mut Buffers::default(), trace)?;
                // The next block's index key may be the row's own first key: then, and only then,
                // can the row begin there.
                let next = place.next_key.and_then(KeyRef::parse);
                Ok((block, next.is_some_and(|next| next.row == row)))
            })?;
        let Block::Data(data) = &*block else { return Ok(None) };
        let searchable = self.check(data)?;
        if let Some(at) = searchable.row_start(row) {
            return Ok(Some((block, at)));
        }
        if !begins_next {
            return Ok(None);
        }
        let (last, buffers) = (searchable.last_key(), &mut Buffers::default());
        let next = self.next_data_block(data, last, Caching::Use, buffers, trace)?;
        let Some(Block::Data(found)) = next.as_deref() else { return Ok(None) };
        let at = self.check(found)?.row_start(row);
        Ok(next.zip(at))
    }

    /// A scanner that stands nowhere yet.
    pub fn scanner(&self, caching: Caching) -> Scanner {
        Scanner::new(self.clone(), caching)
    }
}

/// What a writer asks for that makes the file anew.
impl Reader {
    /// The names of its META blocks in their order, and where the blocks are.
    pub(crate) fn meta_places(&self) -> &[(Bytes, BlockPlace)] {
        &self.0.metas
    }

    /// The header of the block at `at`.
    pub(crate) fn read_header(&self, at: BlockOffset) -> Result<Header> {
        self.0.blocks.read_header(at, self.blocks_end())
    }

    /// A block as it is stored, checked, and its body.
    pub(crate) fn raw_block(&self, at: BlockOffset, header: &Header) -> Result<(Bytes, Bytes)> {
        let blocks = &self.0.blocks;
        let bytes = blocks.read_bytes(at, header.len())?;
        let raw = blocks.parse(&bytes, at).map_err(|damage| damage.in_file(self.name()))?;
        Ok((bytes, raw.body))
    }

    /// Bytes of the file.
    pub(crate) fn read_bytes(&self, at: BlockOffset, len: u64) -> Result<Bytes> {
        self.0.blocks.read_bytes(at, len)
    }

    /// Where the trailer stands.
    fn blocks_end(&self) -> u64 {
        self.len().saturating_sub(self.0.trailer.len())
    }
}

/// What scanners ask for.
impl Reader {
    /// The first data block.
    pub(crate) fn first_data_block(
        &self,
        caching: Caching,
        buffers: &mut Buffers,
        trace: &mut ReadTrace,
    ) -> Result<Option<Arc<Block>>> {
        let before_all = KeyRef::before_row(b"");
        self.data_block_for(&before_all, None, caching, buffers, trace)
    }

    /// The block in which the first cell stands that is not less than `key`, unless that is the
    /// first cell of the block behind it. `held` is returned again if it is that block.
    pub(crate) fn data_block_for(
        &self,
        key: &KeyRef<'_>,
        held: Option<&Arc<Block>>,
        caching: Caching,
        buffers: &mut Buffers,
        trace: &mut ReadTrace,
    ) -> Result<Option<Arc<Block>>> {
        let Some(index) = &self.0.index else { return Ok(None) };
        let block = index.find(&self.0.blocks, key, caching, trace, |place, trace| match held {
            Some(block) if is_at(block, place.block.offset) => Ok(Arc::clone(block)),
            _ => self.0.load_data(place, caching, buffers, trace),
        })?;
        Ok(Some(block))
    }

    /// The data block behind `data`, whose last key is `last_key`; blocks of other types between
    /// them are passed over. Unless it comes from the cache or goes there, its cells are still to be
    /// checked.
    pub(crate) fn next_data_block(
        &self,
        data: &DataBlock,
        last_key: Option<KeyRef<'_>>,
        caching: Caching,
        buffers: &mut Buffers,
        trace: &mut ReadTrace,
    ) -> Result<Option<Arc<Block>>> {
        let Inner { blocks, trailer, .. } = &*self.0;
        let place = data.place();
        let Some(last) = trailer.last_data_block_offset.filter(|last| place.offset < *last) else {
            self.0.check_last(last_key).map_err(|what| self.damage_in(data, what.into()))?;
            return Ok(None);
        };
        let mut at = place.offset + u64::from(place.len);
        let mut known = data.next();
        while at <= last {
            let header = match known.take() {
                Some(header) => header,
                None => blocks.read_header(at, blocks.blocks_end)?,
            };
            if matches!(header.block_type, BlockType::Data | BlockType::EncodedData) {
                let damaged =
                    |what| Damage::in_block(header.block_type, at, what).in_file(&blocks.name);
                if header.previous_block != Some(place.offset) {
                    return Err(damaged("does not follow the data block in front of it"));
                }
                let len = u32::try_from(header.len()).map_err(|_| damaged("is too long"))?;
                let place = BlockPlace { offset: at, len };
                let check = |next: &DataBlock| {
                    let first = next.walk()?;
                    let first_key = next.cell(&first).map(|cell| cell.key());
                    if trailer.comparator.in_order(last_key, first_key) {
                        return Ok(());
                    }
                    Err("begins before the data block in front of it ends".into())
                };
                return blocks.load_data(place, caching, buffers, trace, check).map(Some);
            }
            at = at + header.len();
        }
        let damage = Damage { at, block: None, what: "no data block where the last one is".into() };
        Err(damage.in_file(&blocks.name))
    }

    /// The data block in front of `data`, as its header has it.
    pub(crate) fn previous_data_block(
        &self,
        data: &DataBlock,
        caching: Caching,
        buffers: &mut Buffers,
        trace: &mut ReadTrace,
    ) -> Result<Option<Arc<Block>>> {
        let blocks = &self.0.blocks;
        let at = data.place().offset;
        let damaged =
            |what| Damage { at, block: None, what: Cow::Borrowed(what) }.in_file(&blocks.name);
        let Some(previous) = data.previous() else {
            let is_first = at == BlockOffset::default();
            return if is_first {
                Ok(None)
            } else {
                Err(damaged("has no data block in front of it"))
            };
        };
        let len = blocks.block_len(previous, caching)?;
        let place = BlockPlace { offset: previous, len };
        let check = |previous: &DataBlock| {
            let first_key = data.check()?.first_key();
            if self.comparator().in_order(previous.check()?.last_key(), first_key) {
                return Ok(());
            }
            Err("ends behind the data block that follows it begins".into())
        };
        blocks.load_data(place, caching, buffers, trace, check).map(Some)
    }

    /// The last data block.
    pub(crate) fn last_data_block(
        &self,
        caching: Caching,
        buffers: &mut Buffers,
        trace: &mut ReadTrace,
    ) -> Result<Option<Arc<Block>>> {
        let Some(index) = &self.0.index else { return Ok(None) };
        let visit = |place: index::DataPlace<'_>, trace: &mut _| {
            self.0.load_data(place, caching, buffers, trace)
        };
        index.find_last(&self.0.blocks, caching, trace, visit).map(Some)
    }

    /// Checks all cells of a block, unless that was done before; then it can be searched.
    pub(crate) fn check<'b>(&self, data: &'b DataBlock) -> Result<Searchable<'b>> {
        data.check().map_err(|what| self.damage_in(data, what))
    }

    /// What is wrong with the cells of a block, as an error.
    #[cold]
    pub(crate) fn damage_in(&self, data: &DataBlock, what: What) -> Error {
        let at = data.place().offset;
        Damage { at, block: Some(data.block_type()), what }.in_file(self.name())
    }

    /// The error for a file whose cells are not as many as it says.
    pub(crate) fn check_cell_count(&self, found: u64) -> Result<()> {
        let stated = self.cell_count();
        if found == stated {
            return Ok(());
        }
        let at = BlockOffset::new(self.len());
        let what = format!("{found} cells, not {stated} as the trailer says");
        Err(Damage { at, block: Some(BlockType::Trailer), what: what.into() }.in_file(self.name()))
    }
}

impl Inner {
    /// The data block that the index has at `place`, with all its cells checked.
    fn load_data(
        &self,
        place: index::DataPlace<'_>,
        caching: Caching,
        buffers: &mut Buffers,
        trace: &mut ReadTrace,
    ) -> Result<Arc<Block>> {
        self.blocks.load_data(place.block, caching, buffers, trace, |data| {
            check_data_keys(data, place.key, place.next_key, self.trailer.comparator)?;
            if place.next_key.is_none() {
                self.check_last(data.check()?.last_key())?;
            }
            Ok(())
        })
    }

    /// Holds the last data block against the file info, by which rows are passed over.
    fn check_last(&self, found: Option<KeyRef<'_>>) -> Result<(), &'static str> {
        if found == self.file_info.value(FileInfo::LAST_KEY).and_then(KeyRef::parse) {
            Ok(())
        } else {
            Err("its last key is not the last key of the file info")
        }
    }
}

fn is_at(block: &Block, offset: BlockOffset) -> bool {
    matches!(block, Block::Data(data) if data.place().offset == offset)
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("name", self.name()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
