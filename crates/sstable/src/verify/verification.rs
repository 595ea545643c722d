//! Every check of a file that there is: what its blocks say of themselves, and what the parts of a
//! file say of each other, which no checksum can see.
//!
//! ```text
//! blocks     each verified, decompressed, taken apart; the chain of previous blocks; sections
//! cells      order within and across blocks, one family, what the file info says of them
//! index      every data block in its place, keys between the blocks they part; the middle
//! trailer    counts, sizes, offsets
//! filters    every key passes; keys counted
//! ```

use std::collections::HashMap;
use std::sync::Arc;

use super::cells::CellChecks;
use super::index::DataBlockSeen;
use super::lost_rows::LostRows;
use super::resume::{ListedBlocks, Unread};

use crate::block::decoded::DecodedBlock;
use crate::block::index::BlockHandle;
use crate::block::origin::BlockOrigin;
use crate::block::row_index::RowIndexKind;
use crate::buffers::{Body, Buffers};
use crate::file::open_file::OpenFile;
use crate::file::raw_blocks::RawBlock;
use crate::{
    BlockCache, BlockOffset, BlockType, Damage, Error, FileName, Header, KeyRef, Limits, ReadAt,
    Reader, ReaderOptions, Result, Trailer,
};

/// What the verification of a file found.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Verification {
    /// Blocks that were read, damaged ones among them.
    pub blocks: u64,
    /// Cells in those that are sound.
    pub cells: u64,
    /// Whether what the file says of all its cells and blocks together was held against them:
    /// counts, sizes, averages. Where a block could not be read nobody knows what they should be.
    pub totals_checked: bool,
    /// What is wrong, from the front of the file to its end; the first [`PROBLEMS_MAX`] of it.
    pub problems: Vec<Damage>,
    /// For each damaged data block the rows that it may have held; the first [`PROBLEMS_MAX`] of them.
    pub lost_rows: Vec<LostRows>,
}

/// A file may be wrong in more places than anyone wants to read of.
pub const PROBLEMS_MAX: usize = 1000;

impl Verification {
    /// Whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.problems.is_empty()
    }

    /// Notes what is wrong, once.
    pub(super) fn report(&mut self, damage: Damage) {
        if self.problems.len() < PROBLEMS_MAX && !self.problems.contains(&damage) {
            self.problems.push(damage);
        }
    }
}

/// Checks a file wholly. `progress` is told how many bytes of it are done.
///
/// ```
/// use std::sync::Arc;
///
/// use bytes::Bytes;
/// use sstable::{FileName, Limits, verify};
/// # let file: &'static [u8] = include_bytes!("../../../../tests/data/hfile/s03-one-cell.hfile");
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
/// [`Error::Io`] if the file cannot be read, [`Error::Unsupported`] if it needs something that this
/// build does not have. Damage is no error here but what is looked for.
pub fn verify(
    source: Arc<dyn ReadAt>,
    name: FileName,
    limits: Limits,
    progress: impl FnMut(u64),
) -> Result<Verification> {
    // Only filters and index blocks are looked up, in the order of the file.
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

/// Room for the filters of a large file; a small one has no large filters.
const CACHE_BYTES: u64 = 64 << 20;

/// A verification under way.
pub(super) struct Verifier<'a> {
    pub(super) file: &'a OpenFile,
    pub(super) found: &'a mut Verification,
    /// The last block of each chain; all blocks with cells are one.
    pub(super) last_of_chain: HashMap<BlockType, BlockOffset>,
    /// What could not be read, ascending.
    pub(super) unread: Vec<Unread>,
    /// What the indexes list; read once something could not be read.
    pub(super) listed: Option<ListedBlocks>,
    pub(super) section: Section,
    pub(super) cells: CellChecks,
    pub(super) data_blocks: Vec<DataBlockSeen>,
    /// Data blocks that could not be read.
    pub(super) damaged_data: Vec<BlockOffset>,
    /// Leaf and intermediate blocks of the index, by offset.
    pub(super) index_blocks: HashMap<BlockOffset, u32>,
    pub(super) bloom_bytes: u64,
    pub(super) total_uncompressed_bytes: u64,
    pub(super) uncompressed_data_index_size: u64,
}

/// The parts of a file, in their order.
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
    fn new(reader: &'a Reader, found: &'a mut Verification) -> Self {
        Self {
            file: reader.file(),
            found,
            last_of_chain: HashMap::new(),
            unread: Vec::new(),
            listed: None,
            section: Section::Scanned,
            cells: CellChecks::new(reader.file()),
            data_blocks: Vec::new(),
            damaged_data: Vec::new(),
            index_blocks: HashMap::new(),
            bloom_bytes: 0,
            total_uncompressed_bytes: 0,
            uncompressed_data_index_size: 0,
        }
    }

    fn run(mut self, mut progress: impl FnMut(u64)) -> Result<()> {
        let file = self.file;
        self.check_blocks(&mut progress)?;
        self.check_trailer_bytes()?;
        if let Some(damage) = file.filters.problem.clone()
            && !self.is_unread(damage.at)
        {
            self.found.report(damage);
        }
        self.found.totals_checked = self.unread.is_empty();
        self.found.lost_rows = self.lost_rows();
        self.check_row_filter()?;
        self.check_index()?;
        if self.found.totals_checked {
            self.check_trailer();
            for (block, what) in self.cells.finish(file, self.bloom_bytes) {
                let at = match block {
                    BlockType::FileInfo => file.trailer.file_info_offset,
                    _ => file.trailer.load_on_open_data_offset,
                };
                self.found.report(Damage::in_block(block, at, what));
            }
        }
        progress(file.blocks.source.len());
        Ok(())
    }

    /// Whether our own filter can be read, and is one of all rows.
    fn check_row_filter(&mut self) -> Result<()> {
        let Some(filter) = &self.file.filters.row_filter else { return Ok(()) };
        let row_count = self.found.totals_checked.then(|| self.cells.row_count());
        let wrong = filter.check(&self.file.blocks, row_count)?;
        for damage in wrong.into_iter().chain(filter.problem().cloned()) {
            // Damage to the block itself is known; what is wrong in a sound one is not.
            if !self.is_unread(damage.at) {
                self.found.report(damage);
            }
        }
        Ok(())
    }

    /// Reads block by block.
    fn check_blocks(&mut self, progress: &mut impl FnMut(u64)) -> Result<()> {
        let file = self.file;
        let end = file.blocks.source.len().saturating_sub(file.trailer.len());
        let end = BlockOffset::new(end);
        let mut at = BlockOffset::default();
        while at < end {
            progress(at.get());
            at = match file.blocks.read_header(at, end.get()) {
                Ok(header) => self.check_block_of(at, &header, end)?,
                Err(error) => {
                    self.take(error)?;
                    self.pass_unread(at, None, end)?
                }
            };
        }
        Ok(())
    }

    /// Checks the block that the header belongs to. Returns where the next one begins.
    fn check_block_of(
        &mut self,
        at: BlockOffset,
        header: &Header,
        end: BlockOffset,
    ) -> Result<BlockOffset> {
        let blocks = &self.file.blocks;
        self.found.blocks += 1;
        let bytes = blocks.read_bytes(at, header.len())?;
        match blocks.parse(&bytes, at).and_then(|raw| self.check_block(at, &raw)) {
            Ok(()) => {
                self.check_place(at, header);
                Ok(at.plus(header.len()))
            }
            Err(damage) => {
                self.found.report(damage);
                self.pass_unread(at, Some(header), end)
            }
        }
    }

    pub(super) fn add_damaged_data(&mut self, at: BlockOffset) {
        if self.damaged_data.len() < PROBLEMS_MAX {
            self.damaged_data.push(at);
        }
    }

    /// Damage is noted; any other error ends the verification.
    pub(super) fn take(&mut self, error: Error) -> Result<()> {
        match error {
            Error::Corrupt { damage, .. } => {
                self.found.report(damage);
                Ok(())
            }
            error => Err(error),
        }
    }

    /// Whether a block may stand where it does, and follows the one it says it follows.
    fn check_place(&mut self, at: BlockOffset, header: &Header) {
        let block_type = header.block_type;
        let section = Section::of(block_type);
        if section < self.section {
            let what = format!("stands in the section of {:?} blocks", self.section);
            self.found.report(Damage::in_block(block_type, at, what));
        }
        self.section = self.section.max(section);
        let is_loaded = at >= self.file.trailer.load_on_open_data_offset;
        if is_loaded != (section == Section::LoadOnOpen) {
            let what = "is on the wrong side of what is loaded when the file is opened";
            self.found.report(Damage::in_block(block_type, at, what));
        }
        let chain = if block_type == BlockType::EncodedData { BlockType::Data } else { block_type };
        let previous = self.last_of_chain.insert(chain, at);
        let follows_unread = header.previous_block.is_some_and(|it| self.is_unread(it));
        if header.previous_block != previous && !follows_unread {
            let (stated, is) = (shown_place(header.previous_block), shown_place(previous));
            let what = format!("names {stated} as the previous block of its type, which is {is}");
            self.found.report(Damage::in_block(block_type, at, what));
        }
    }

    /// What is in a block whose checksums agree. `Err` if its cells cannot be read all the same.
    fn check_block(&mut self, at: BlockOffset, raw: &RawBlock) -> Result<(), Damage> {
        let block_type = raw.header.block_type;
        let uncompressed = u64::from(raw.header.uncompressed_size);
        let is_data_root = at == self.file.trailer.load_on_open_data_offset;
        let is_index = matches!(block_type, BlockType::LeafIndex | BlockType::IntermediateIndex);
        if is_index || is_data_root {
            self.uncompressed_data_index_size += uncompressed;
        }
        if block_type != BlockType::IntermediateIndex && !is_data_root {
            self.total_uncompressed_bytes += uncompressed + u64::from(Header::LEN);
        }
        if is_index {
            let len = u32::try_from(raw.header.len()).unwrap_or(u32::MAX);
            self.index_blocks.insert(at, len);
        }
        match block_type {
            BlockType::BloomChunk => self.bloom_bytes += uncompressed,
            BlockType::Data | BlockType::EncodedData => return self.check_data_block(at, raw),
            _ => {}
        }
        Ok(())
    }

    fn check_data_block(&mut self, at: BlockOffset, raw: &RawBlock) -> Result<(), Damage> {
        let blocks = &self.file.blocks;
        let block_type = raw.header.block_type;
        let len = u32::try_from(raw.header.len()).unwrap_or(u32::MAX);
        let place = BlockHandle { offset: at, len };
        let (origin, body) = (BlockOrigin::new(place, &raw.header), Body::from(raw.body.to_vec()));
        let decoded = blocks
            .encoded_block(origin, body)
            .and_then(|block| block.decode(RowIndexKind::ByOrder, &mut Buffers::default()))
            .map_err(|what| Damage { at, block: Some(block_type), what })?;
        self.check_cells(&decoded);
        Ok(())
    }

    /// The cells of a block.
    fn check_cells(&mut self, block: &DecodedBlock) {
        let BlockOrigin { handle: place, block_type, .. } = *block.origin();
        self.found.cells += block.cell_count();
        self.data_blocks.push(DataBlockSeen::new(place, block));
        let mut cursor = block.cursor();
        loop {
            let cell = block.cell(&cursor);
            for what in self.cells.check(self.file, &cell) {
                let (at, key) = (cursor.position(), shown(&cell.key()));
                let what = format!("cell at {at} in the block, {key}: {what}");
                self.found.report(Damage::in_block(block_type, place.offset, what));
            }
            if !block.advance(&mut cursor) {
                return;
            }
        }
    }

    /// Whether the trailer is its fields and zeros behind them. One of version 2 is all fields.
    fn check_trailer_bytes(&mut self) -> Result<()> {
        let OpenFile { blocks, trailer, .. } = self.file;
        if trailer.major_version == 2 {
            return Ok(());
        }
        let at = BlockOffset::new(blocks.source.len().saturating_sub(trailer.len()));
        let bytes = blocks.read_bytes(at, trailer.len())?;
        if let Err(what) = Trailer::check_bytes(&bytes) {
            self.found.report(Damage::in_block(BlockType::Trailer, at, what));
        }
        Ok(())
    }

    /// What the trailer says of the whole.
    fn check_trailer(&mut self) {
        let trailer = &self.file.trailer;
        let at = BlockOffset::new(self.file.blocks.source.len().saturating_sub(trailer.len()));
        for (field, stated, is) in [
            ("entry_count", trailer.entry_count, self.found.cells),
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
            if stated != is {
                let what = format!("{field} is {stated} and should be {is}");
                self.found.report(Damage::in_block(BlockType::Trailer, at, what));
            }
        }
        let last = self.data_blocks.last().map(|block| block.at);
        if trailer.last_data_block_offset != last {
            let stated = shown_place(trailer.last_data_block_offset);
            let what =
                format!("last_data_block_offset is {stated} and should be {}", shown_place(last));
            self.found.report(Damage::in_block(BlockType::Trailer, at, what));
        }
    }
}

/// A place in a file, or that there is none.
fn shown_place(at: Option<BlockOffset>) -> String {
    at.map_or_else(|| "none".to_owned(), |at| at.to_string())
}

/// A key as problems show it: hostile ones are as long as their block.
pub(super) fn shown(key: &KeyRef<'_>) -> String {
    const LEN: usize = 200;
    let row = key.row.get(..LEN).unwrap_or(key.row);
    let qualifier = key.qualifier.get(..LEN).unwrap_or(key.qualifier);
    let short = KeyRef { row, qualifier, ..*key };
    if short == *key { short.to_string() } else { format!("{short} (shortened)") }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
