//! Verifies a file completely: each block, and blocks and metadata against each other.
//!
//! Checksums cover only the blocks.
//!
//! ```text
//! blocks     checksums, decompression, parsing; `previous` offsets; order of the sections
//! cells      order within and across blocks, one family, file info
//! index      lists every data block, with keys between the neighbour blocks; middle of the file
//! trailer    counts, sizes, offsets
//! filters    accept every key; number of keys
//! ```

use std::collections::HashMap;
use std::sync::Arc;

use cells::{BlockOffset, FileName, RowsBetween};

use super::cells::{CellChecks, WrongStatement, display_key};
use super::checked_block::CheckedBlock;
use super::listed_blocks::{ListedBlocks, UnreadableRange};
use super::lost_rows::{LostRows, lost_rows, row};
use crate::block::BlockHeader;
use crate::block::decoded::DecodedBlock;
use crate::block::filter_index::is_filter_name;
use crate::block::index_entry::BlockHandle;
use crate::block::origin::BlockIdentity;
use crate::block::row_index::RowIndexKind;
use crate::buffers::{Body, Buffers};
use crate::cache::BlockCache;
use crate::error::{BlockType, Damage, DecodeError, Error, Result};
use crate::file::open_file::OpenFile;
use crate::file::options::ReaderOptions;
use crate::file::raw_block::RawBlock;
use crate::file::trailer::Trailer;
use crate::limits::Limits;
use crate::reader::Reader;
use crate::source::ReadAt;

/// The result of the verification of a file.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Verification {
    /// Blocks that were read, including damaged ones.
    pub blocks: u64,
    /// Cells in the sound blocks.
    pub cells: u64,
    /// Whether the counts, sizes and averages that the file states were checked.
    ///
    /// They cannot be checked if a block is unreadable.
    pub totals_checked: bool,
    /// The problems by ascending offset; at most [`PROBLEMS_MAX`].
    pub problems: Vec<Damage>,
    /// Why a sound row filter of the file is not used. This is no problem of the file.
    pub unused_filter: Option<String>,
    /// The rows that each damaged data block may have held, and those to which a damaged leaf of the index leads;
    /// at most [`PROBLEMS_MAX`] blocks.
    pub lost_rows: Vec<LostRows>,
    /// The problems that cost no rows.
    harmless: Vec<Damage>,
}

/// The most problems that a verification reports.
pub const PROBLEMS_MAX: usize = 1000;

impl Verification {
    /// Returns whether the file has no problems.
    pub fn is_sound(&self) -> bool {
        self.problems.is_empty()
    }

    /// Returns the rows that may be lost, or not be found, because of one of the [`problems`](Self::problems);
    /// `None` if reads of cells do not need what is damaged.
    ///
    /// Reads do not need filters that cannot be read, other META blocks, the padding of the trailer, and sizes and
    /// averages that the file states. All rows may be lost if the damaged part concerns the whole file.
    pub fn rows_lost(&self, problem: &Damage) -> Option<RowsBetween> {
        if self.harmless.contains(problem) {
            return None;
        }
        let lost = self.lost_rows.iter().find(|lost| lost.at == problem.at);
        Some(lost.map_or_else(RowsBetween::default, |lost| lost.rows.clone()))
    }

    /// Records a problem that costs no rows, because reads of cells do not need what is damaged.
    pub(super) fn report_harmless(&mut self, damage: Damage) {
        if self.problems.len() < PROBLEMS_MAX && !self.problems.contains(&damage) {
            self.harmless.push(damage.clone());
            self.problems.push(damage);
        }
    }

    /// Notes the rows of a problem at `at`, from the flat keys of the first and the last one.
    fn add_lost_rows(&mut self, at: BlockOffset, first: Option<&[u8]>, last: Option<&[u8]>) {
        if self.lost_rows.len() < PROBLEMS_MAX {
            let rows = RowsBetween { first: first.and_then(row), last: last.and_then(row) };
            self.lost_rows.push(LostRows { at, rows });
        }
    }

    /// Records a problem, unless it is already recorded.
    pub(super) fn report(&mut self, damage: Damage) {
        if self.problems.len() < PROBLEMS_MAX && !self.problems.contains(&damage) {
            self.problems.push(damage);
        }
    }
}

/// Verifies a file completely. Calls `progress` with the number of bytes that are checked.
///
/// ```
/// use std::sync::Arc;
///
/// use bytes::Bytes;
/// use sstable::{FileName, Limits, verify};
/// # let file: &'static [u8] = include_bytes!("../../testdata/s03-one-cell.hfile");
///
/// let source = Arc::new(Bytes::from_static(file));
/// let found = verify(source, FileName::new("4f1c.hfile"), Limits::default(), |_done| {})?;
/// assert!(found.is_sound(), "{:?}", found.problems);
/// assert!(found.totals_checked);
/// assert_eq!(found.cells, 1);
/// # Ok::<(), sstable::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Io`] if the file cannot be read, [`Error::Unsupported`] if it needs a feature that this
/// build does not have, [`Error::TooLarge`] if a block exceeds the limits. Damage is not an error, but part of the result.
pub fn verify(
    source: Arc<dyn ReadAt>,
    name: FileName,
    limits: Limits,
    progress: impl FnMut(u64),
) -> Result<Verification> {
    // Only filter and index blocks use the cache, in file order.
    let cache = Arc::new(BlockCache::new(CACHE_BYTES.min(source.len().saturating_add(8 << 20))));
    let options = ReaderOptions::default().cache(cache).limits(limits);
    let mut found = Verification::default();
    match Reader::open(source, name, options) {
        Ok(reader) => Verifier::new(&reader, &mut found).run(progress)?,
        Err(Error::Corrupt { damage, .. }) => found.report(damage),
        Err(error) => return Err(error),
    }
    found.problems.sort_by_key(|damage| damage.at);
    Ok(found)
}

/// The cache size for the filters of a large file. A smaller file gets a smaller cache.
const CACHE_BYTES: u64 = 64 << 20;

/// The state of a running verification.
pub(super) struct Verifier<'a> {
    pub(super) file: &'a OpenFile,
    pub(super) verification: &'a mut Verification,
    /// The last block of each chain of `previous` offsets. All data blocks form one chain.
    pub(super) last_of_chain: HashMap<BlockType, BlockOffset>,
    /// The unreadable ranges by ascending offset.
    pub(super) unreadable: Vec<UnreadableRange>,
    /// The blocks that the indexes list; read when the first unreadable block is found.
    pub(super) listed_blocks: Option<ListedBlocks>,
    pub(super) section: Section,
    pub(super) cells: CellChecks,
    pub(super) data_blocks: Vec<CheckedBlock>,
    /// Offsets of data blocks that could not be read.
    pub(super) damaged_data_blocks: Vec<BlockOffset>,
    /// The lengths of the leaf and intermediate index blocks, by offset.
    pub(super) index_blocks: HashMap<BlockOffset, u32>,
    pub(super) bloom_bytes: u64,
    pub(super) total_uncompressed_bytes: u64,
    pub(super) uncompressed_data_index_size: u64,
    /// The uncompressed bytes of data blocks, without headers.
    pub(super) data_bytes: u64,
}

/// The sections of a file, in their order.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Section {
    Scanned,
    Meta,
    IntermediateIndex,
    LoadOnOpen,
}

impl Section {
    const fn of(block_type: BlockType) -> Self {
        match block_type {
            BlockType::Data
            | BlockType::EncodedData
            | BlockType::LeafIndex
            | BlockType::BloomChunk => Self::Scanned,
            BlockType::Meta => Self::Meta,
            BlockType::IntermediateIndex => Self::IntermediateIndex,
            _ => Self::LoadOnOpen,
        }
    }
}

impl<'a> Verifier<'a> {
    fn new(reader: &'a Reader, verification: &'a mut Verification) -> Self {
        Self {
            file: reader.file(),
            verification,
            last_of_chain: HashMap::new(),
            unreadable: Vec::new(),
            listed_blocks: None,
            section: Section::Scanned,
            cells: CellChecks::new(reader.file()),
            data_blocks: Vec::new(),
            damaged_data_blocks: Vec::new(),
            index_blocks: HashMap::new(),
            bloom_bytes: 0,
            total_uncompressed_bytes: 0,
            uncompressed_data_index_size: 0,
            data_bytes: 0,
        }
    }

    fn run(mut self, mut progress: impl FnMut(u64)) -> Result<()> {
        let file = self.file;
        self.check_blocks(&mut progress)?;
        self.check_trailer_bytes()?;
        if let Some(damage) = file.filters().problem.clone()
            && !self.is_unreadable(damage.at)
        {
            // A filter that cannot be read skips no file.
            self.verification.report_harmless(damage);
        }
        self.verification.totals_checked = self.unreadable.is_empty();
        let lost = lost_rows(&self.data_blocks, &self.damaged_data_blocks);
        self.verification.lost_rows.extend(lost);
        self.check_row_filter()?;
        self.check_index()?;
        if self.verification.totals_checked {
            self.check_trailer();
            for WrongStatement { block, what, costs_rows } in
                self.cells.finish(file, self.bloom_bytes)
            {
                let at = match block {
                    BlockType::FileInfo => file.trailer.file_info_offset,
                    _ => file.trailer.load_on_open_data_offset,
                };
                let damage = Damage::in_block(block, at, what);
                if costs_rows {
                    self.verification.report(damage);
                } else {
                    self.verification.report_harmless(damage);
                }
            }
        }
        progress(file.blocks.source.len());
        Ok(())
    }

    /// Checks that the row filter can be read and has as many keys as the file has rows.
    fn check_row_filter(&mut self) -> Result<()> {
        let filters = self.file.filters();
        let Some(filter) = &filters.row_filter else {
            self.verification.unused_filter = unused_filter_of_hudi(self.file)
                .or_else(|| filter_without_id(self.file))
                .or_else(|| unknown_bloom(self.file));
            return Ok(());
        };
        let row_count = self.verification.totals_checked.then(|| self.cells.row_count());
        let problems = filter.check(&self.file.blocks, row_count)?;
        for damage in problems.into_iter().chain(filter.problem().cloned()) {
            // Damage to an unreadable block was already reported. A filter that denies a row is reported with the cell.
            if !self.is_unreadable(damage.at) {
                self.verification.report_harmless(damage);
            }
        }
        Ok(())
    }

    /// Reads and checks all blocks.
    fn check_blocks(&mut self, progress: &mut impl FnMut(u64)) -> Result<()> {
        let file = self.file;
        let end = file.blocks.source.len().saturating_sub(file.trailer.len());
        let end = BlockOffset::new(end);
        let mut at = BlockOffset::default();
        while at < end {
            progress(at.get());
            at = match file.blocks.read_header(at, end.get()) {
                Ok(header) => self.check_block_of(at, &header, end)?,
                Err(Error::Corrupt { damage, .. }) => {
                    let next = self.skip_unreadable(at, None, end)?;
                    self.report_unreadable(damage, None);
                    next
                }
                Err(error) => return Err(error),
            };
        }
        Ok(())
    }

    /// Checks the block of a header. Returns the offset of the next block.
    fn check_block_of(
        &mut self,
        at: BlockOffset,
        header: &BlockHeader,
        end: BlockOffset,
    ) -> Result<BlockOffset> {
        let blocks = &self.file.blocks;
        self.verification.blocks += 1;
        let bytes = blocks.read_bytes(at, header.len())?;
        let parsed = match blocks.parse(&bytes, at) {
            Ok(raw) => self.check_block(at, &raw),
            Err(DecodeError::Damage(damage)) => Err(damage),
            Err(error) => return Err(error.in_file(&blocks.name)),
        };
        match parsed {
            Ok(()) => {
                self.check_position(at, header);
                Ok(at.plus(header.len()))
            }
            Err(damage) => {
                let next = self.skip_unreadable(at, Some(header), end)?;
                self.report_unreadable(damage, Some(header));
                Ok(next)
            }
        }
    }

    /// Reports the block that was found unreadable last. `header` is its header, if that is readable.
    fn report_unreadable(&mut self, damage: Damage, header: Option<&BlockHeader>) {
        let at = damage.at;
        let block_type = header.map(|header| header.block_type);
        let is_of_filter = matches!(
            block_type,
            Some(
                BlockType::BloomChunk
                    | BlockType::GeneralBloomMeta
                    | BlockType::DeleteFamilyBloomMeta
                    | BlockType::Meta
            )
        );
        let has_cells = self.unreadable.last().is_some_and(|unreadable| unreadable.has_cells);
        // The type in a damaged header may be another one: the indexes decide, for the blocks that they list.
        let is_needed = match self.listed_blocks().get(at) {
            _ if has_cells => true,
            Some(block) => block.is_needed,
            None => !is_of_filter,
        };
        if !is_needed {
            return self.verification.report_harmless(damage);
        }
        self.verification.report(damage);
        if block_type == Some(BlockType::LeafIndex) {
            self.add_rows_of_leaf(at);
        }
    }

    /// Notes the rows to which an unreadable leaf of the index leads: the rows of the data blocks since the leaf
    /// before.
    fn add_rows_of_leaf(&mut self, at: BlockOffset) {
        let leaf_before = self.last_of_chain.get(&BlockType::LeafIndex);
        let start = self.data_blocks.partition_point(|block| Some(&block.at) < leaf_before);
        let blocks = &self.data_blocks[start..];
        let first = blocks.iter().find_map(CheckedBlock::first_key);
        let last = blocks.iter().rev().find_map(CheckedBlock::last_key);
        self.verification.add_lost_rows(at, first, last);
    }

    pub(super) fn add_damaged_data_block(&mut self, at: BlockOffset) {
        if self.damaged_data_blocks.len() < PROBLEMS_MAX {
            self.damaged_data_blocks.push(at);
        }
    }

    /// Records damage, and returns any other error.
    pub(super) fn take(&mut self, error: Error) -> Result<()> {
        match error {
            Error::Corrupt { damage, .. } => {
                self.verification.report(damage);
                Ok(())
            }
            error => Err(error),
        }
    }

    /// Checks the section of a block, and its `previous` offset.
    fn check_position(&mut self, at: BlockOffset, header: &BlockHeader) {
        let block_type = header.block_type;
        let section = Section::of(block_type);
        if section < self.section {
            let what = format!("is in the section of {:?} blocks", self.section);
            self.verification.report(Damage::in_block(block_type, at, what));
        }
        self.section = self.section.max(section);
        let is_loaded = at >= self.file.trailer.load_on_open_data_offset;
        if is_loaded != (section == Section::LoadOnOpen) {
            let what = "is on the wrong side of the start of the load-on-open section";
            self.verification.report(Damage::in_block(block_type, at, what));
        }
        let chain = if block_type == BlockType::EncodedData { BlockType::Data } else { block_type };
        let previous = self.last_of_chain.insert(chain, at);
        let follows_unreadable =
            header.previous_block.is_some_and(|previous| self.is_unreadable(previous));
        // Hudi states no offset for blocks without cells, and Hudi 1.1 the block's own for the others.
        let is_unstated = self.file.trailer.has_hudi_comparator()
            && match block_type {
                BlockType::Data => header.states_own_offset(at),
                _ => header.previous_block.is_none(),
            };
        if header.previous_block != previous && !follows_unreadable && !is_unstated {
            let (stated, is) = (display_offset(header.previous_block), display_offset(previous));
            let what = format!("states {stated} as the previous block of its type, which is {is}");
            self.verification.report(Damage::in_block(block_type, at, what));
        }
    }

    /// Checks the contents of a block with correct checksums. The error is unreadable contents.
    fn check_block(&mut self, at: BlockOffset, raw: &RawBlock) -> Result<(), Damage> {
        let block_type = raw.header.block_type;
        let uncompressed = u64::from(raw.header.uncompressed_size);
        let is_data_root = at == self.file.trailer.load_on_open_data_offset;
        let is_index = matches!(block_type, BlockType::LeafIndex | BlockType::IntermediateIndex);
        if is_index || is_data_root {
            self.uncompressed_data_index_size += uncompressed;
        }
        if block_type != BlockType::IntermediateIndex && !is_data_root {
            self.total_uncompressed_bytes += uncompressed + u64::from(BlockHeader::LEN);
        }
        if is_index {
            let len = u32::try_from(raw.header.len()).unwrap_or(u32::MAX);
            self.index_blocks.insert(at, len);
        }
        match block_type {
            BlockType::BloomChunk => self.bloom_bytes += uncompressed,
            BlockType::Data | BlockType::EncodedData => {
                self.data_bytes += uncompressed;
                return self.check_data_block(at, raw);
            }
            _ => {}
        }
        Ok(())
    }

    fn check_data_block(&mut self, at: BlockOffset, raw: &RawBlock) -> Result<(), Damage> {
        let blocks = &self.file.blocks;
        let block_type = raw.header.block_type;
        let len = u32::try_from(raw.header.len()).unwrap_or(u32::MAX);
        let place = BlockHandle { offset: at, len };
        let (origin, body) =
            (BlockIdentity::new(place, &raw.header), Body::from(raw.body.to_vec()));
        let decoded = blocks
            .encoded_block(origin, body)
            .and_then(|block| block.decode(RowIndexKind::ByOrder, &mut Buffers::default()))
            .map_err(|what| Damage { at, block: Some(block_type), what })?;
        self.check_cells(&decoded);
        Ok(())
    }

    /// Checks the cells of a block.
    fn check_cells(&mut self, block: &DecodedBlock) {
        let BlockIdentity { handle: place, block_type, .. } = *block.origin();
        self.verification.cells += block.cell_count();
        self.data_blocks.push(CheckedBlock::new(place, block));
        let problems = self.verification.problems.len();
        let mut cursor = block.cursor();
        loop {
            let cell = block.cell(&cursor);
            for what in self.cells.check(self.file, &cell) {
                let (at, key) = (cursor.position(), display_key(&cell.key()));
                let what = format!("cell at {at} in the block, {key}: {what}");
                self.verification.report(Damage::in_block(block_type, place.offset, what));
            }
            if !block.advance(&mut cursor) {
                break;
            }
        }
        if self.verification.problems.len() > problems
            && let Some(block) = self.data_blocks.last()
        {
            self.verification.add_lost_rows(place.offset, block.first_key(), block.last_key());
        }
    }

    /// Checks that the trailer has only known fields and zeros. Version 2 has no padding to check.
    fn check_trailer_bytes(&mut self) -> Result<()> {
        let OpenFile { blocks, trailer, .. } = self.file;
        if trailer.major_version == 2 {
            return Ok(());
        }
        let at = BlockOffset::new(blocks.source.len().saturating_sub(trailer.len()));
        let bytes = blocks.read_bytes(at, trailer.len())?;
        if let Err(what) = Trailer::check_bytes(&bytes) {
            self.verification.report(Damage::in_block(BlockType::Trailer, at, what));
        }
        if let Err(what) = Trailer::check_padding(&bytes) {
            self.verification.report_harmless(Damage::in_block(BlockType::Trailer, at, what));
        }
        Ok(())
    }

    /// Checks the counts, sizes and offsets in the trailer.
    fn check_trailer(&mut self) {
        let trailer = &self.file.trailer;
        let at = BlockOffset::new(self.file.blocks.source.len().saturating_sub(trailer.len()));
        for (field, stated, is) in [
            ("entry_count", trailer.entry_count, self.verification.cells),
            (
                "uncompressed_data_index_size",
                trailer.uncompressed_data_index_size,
                self.uncompressed_data_index_size,
            ),
            (
                "total_uncompressed_bytes",
                trailer.total_uncompressed_bytes,
                self.total_uncompressed_bytes + trailer.len(),
            ),
        ] {
            let of_hudi = if field == "uncompressed_data_index_size" { self.data_bytes } else { 0 };
            let fits_hudi =
                trailer.has_hudi_comparator() && field != "entry_count" && stated == of_hudi;
            if stated != is && !fits_hudi {
                let what = format!("{field} is {stated} and should be {is}");
                let damage = Damage::in_block(BlockType::Trailer, at, what);
                // All blocks are readable here: a wrong sum of their sizes alone hides no cell.
                match field {
                    "entry_count" => self.verification.report(damage),
                    _ => self.verification.report_harmless(damage),
                }
            }
        }
        let last = self.data_blocks.last().map(|block| block.at);
        if trailer.last_data_block_offset != last {
            let stated = display_offset(trailer.last_data_block_offset);
            let what = format!(
                "last_data_block_offset is {stated} and should be {}",
                display_offset(last)
            );
            self.verification.report(Damage::in_block(BlockType::Trailer, at, what));
        }
    }
}

/// Returns why Hudi's Bloom filter over the rows is not used, if the file has one.
fn unused_filter_of_hudi(file: &OpenFile) -> Option<String> {
    let has_bloom = file.metas.iter().any(|(name, _)| name == "bloom_filter");
    (file.trailer.has_hudi_comparator() && has_bloom)
        .then(|| "the META block bloom_filter is a Bloom filter of Hudi".to_owned())
}

/// Returns why blocks with the names of a row filter are not used, if the file has some.
fn filter_without_id(file: &OpenFile) -> Option<String> {
    let mut names = file.metas.iter().map(|(name, _)| name.as_ref());
    names.any(is_filter_name).then(|| {
        "the file info has no ROW_FILTER_ID, so the META blocks filter.row are no filter".to_owned()
    })
}

/// Returns why HBase's Bloom filter is not used, if its type is the type of another release.
fn unknown_bloom(file: &OpenFile) -> Option<String> {
    let name = file.file_info.bloom_type().err()?;
    Some(format!("the Bloom filter has the type {name}, which this build does not know"))
}

/// Formats an offset, or "none".
fn display_offset(at: Option<BlockOffset>) -> String {
    at.map_or_else(|| "none".to_owned(), |at| at.to_string())
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
