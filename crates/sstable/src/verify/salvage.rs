//! What can still be read of a damaged file: the cells of all data blocks that are sound.
//!
//! ```text
//! [data][da▒▒][data][▒▒▒▒▒▒▒▒▒▒▒[data]
//!        └ lost: its header says where the next one begins
//!                    └ lost up to the next place where a sound block begins
//! ```
//!
//! The index is not asked, so damage to it costs nothing. What was loaded when the file was opened
//! must be sound: without trailer and file info nobody knows how the blocks are to be read.

use std::borrow::Cow;

use crate::block::index::BlockHandle;
use crate::block::origin::BlockOrigin;
use crate::block::row_index::RowIndexKind;
use crate::buffers::{Body, Buffers};
use crate::encoding::DamageReason;
use crate::file::block_reader::BlockReader;
use crate::file::raw_blocks::RawBlock;
use crate::{
    BlockOffset, BlockType, Cell, CellRef, Damage, Error, Header, Reader, Result, RowsBetween,
};

/// Bytes that a search for the beginning of a block reads at first, and at most at once.
const WINDOW_LENS: (u64, u64) = (1 << 14, 1 << 20);
/// Places behind damage that look like a block and are none, before the rest is given up: each may
/// cost as much as a block, and hostile files could be full of them.
const TRIES_MAX: u32 = 1000;

/// Bytes of a file that hold no block that can be read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Lost {
    /// Where they begin, what block they were, as far as that can be told, and what is wrong.
    pub damage: Damage,
    /// How many there are.
    pub len: u64,
    /// The rows whose cells may have stood there; `None` if it was a block without cells.
    pub rows: Option<RowsBetween>,
}

/// Hands over the cells of all sound data blocks, in the order of the file; returns what is lost
/// besides. Of a damaged block no cell is used.
///
/// ```
/// use std::sync::Arc;
///
/// use bytes::Bytes;
/// use sstable::{Error, FileName, Reader, ReaderOptions, salvage};
/// # let file: &'static [u8] = include_bytes!("../../../../tests/data/hfile/s01-default.hfile");
///
/// let mut damaged = file.to_vec();
/// damaged[40] ^= 1; // In the first data block.
/// let source = Arc::new(Bytes::from(damaged));
/// let reader = Reader::open(source, FileName::new("4f1c.hfile"), ReaderOptions::default())?;
/// let mut cells = 0;
/// let lost = salvage(&reader, |_cell| {
///     cells += 1;
///     Ok::<(), Error>(())
/// })?;
/// assert_eq!((lost.len(), lost[0].damage.at.get()), (1, 0));
/// assert!(cells < reader.trailer().entry_count);
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
///
/// If the file cannot be read at all, and what `each` returns.
pub fn salvage<E: From<Error>>(
    reader: &Reader,
    mut each: impl FnMut(CellRef<'_>) -> Result<(), E>,
) -> Result<Vec<Lost>, E> {
    let blocks = &reader.file().blocks;
    let end = reader.file().trailer.load_on_open_data_offset.get();
    let mut lost: Vec<Lost> = Vec::new();
    // Those behind which no cell was sound yet.
    let mut is_open = 0;
    let mut before: Option<Cell> = None;
    let mut at = BlockOffset::default();
    while at.get() < end {
        let (header, damage) = match read_block(blocks, at, end)? {
            Ok(raw) if !is_of_data(raw.header.block_type) => break,
            Ok(raw) => match hand_over(reader, at, &raw, &mut before, &mut each)? {
                Ok(first_row) => {
                    if let Some(row) = first_row {
                        close(&mut lost[is_open..], &row);
                        is_open = lost.len();
                    }
                    (Some(raw.header), None)
                }
                Err(damage) => (Some(raw.header), Some(damage)),
            },
            Err((header, damage)) => (header, Some(damage)),
        };
        let next = match (header, &damage) {
            (Some(header), None) => at.plus(header.len()),
            (Some(header), Some(_)) if begins_block(blocks, at.plus(header.len()), end)? => {
                at.plus(header.len())
            }
            _ => next_block(blocks, at, end)?,
        };
        if let Some(damage) = damage {
            let is_without_cells = header.is_some_and(|header| {
                !matches!(header.block_type, BlockType::Data | BlockType::EncodedData)
            });
            let first = before.as_ref().map(|cell| cell.row().to_vec());
            let rows = (!is_without_cells).then_some(RowsBetween { first, last: None });
            lost.push(Lost { damage, len: next.get().saturating_sub(at.get()), rows });
        }
        at = next;
    }
    Ok(lost)
}

/// Notes the first sound row behind what was lost.
fn close(lost: &mut [Lost], row: &[u8]) {
    for rows in lost.iter_mut().filter_map(|lost| lost.rows.as_mut()) {
        rows.last = Some(row.to_vec());
    }
}

/// Whether a block stands between the first data block and the last.
const fn is_of_data(block_type: BlockType) -> bool {
    use BlockType::{BloomChunk, Data, EncodedData, LeafIndex};
    matches!(block_type, Data | EncodedData | LeafIndex | BloomChunk)
}

/// A sound block, or what is wrong with it, and its header if that can be read.
type Read = Result<RawBlock, (Option<Header>, Damage)>;

/// The block at a place. Damage is no error here.
fn read_block(blocks: &BlockReader, at: BlockOffset, end: u64) -> Result<Read> {
    let header = match blocks.read_header(at, end) {
        Ok(header) => header,
        Err(Error::Corrupt { damage, .. }) => return Ok(Err((None, damage))),
        Err(error) => return Err(error),
    };
    let bytes = blocks.read_bytes(at, header.len())?;
    Ok(blocks.parse(&bytes, at).map_err(|damage| (Some(header), damage)))
}

/// Whether the blocks end at a place, or a sound one begins.
fn begins_block(blocks: &BlockReader, at: BlockOffset, end: u64) -> Result<bool> {
    Ok(at.get() == end || at.get() < end && read_block(blocks, at, end)?.is_ok())
}

/// The first place behind `at` where a sound block begins; else where the blocks end.
pub(super) fn next_block(blocks: &BlockReader, at: BlockOffset, end: u64) -> Result<BlockOffset> {
    let (mut from, mut tries) = (at.plus(1), 0);
    let (mut len_max, window_len_max) = WINDOW_LENS;
    while from.get() < end {
        let len = len_max.min(end.saturating_sub(from.get()));
        let window = blocks.read_bytes(from, len)?;
        for (place, magic) in (0_u64..).zip(window.windows(8)) {
            let magic = <[u8; 8]>::try_from(magic).ok().and_then(BlockType::from_magic);
            if magic.is_none() {
                continue;
            }
            let found = from.plus(place);
            if begins_block(blocks, found, end)? {
                return Ok(found);
            }
            tries += 1;
            if tries > TRIES_MAX {
                return Ok(BlockOffset::new(end));
            }
        }
        if len < len_max {
            break;
        }
        len_max = len_max.saturating_mul(4).min(window_len_max);
        // A magic may lie across the end of the window.
        from = from.plus(len.saturating_sub(7));
    }
    Ok(BlockOffset::new(end))
}

/// Hands the cells of a data block over, once all of them are known to be sound, and returns the row of
/// the first; what is wrong with them otherwise.
fn hand_over<E: From<Error>>(
    reader: &Reader,
    at: BlockOffset,
    raw: &RawBlock,
    last: &mut Option<Cell>,
    each: &mut impl FnMut(CellRef<'_>) -> Result<(), E>,
) -> Result<Result<Option<Vec<u8>>, Damage>, E> {
    let block_type = raw.header.block_type;
    if !matches!(block_type, BlockType::Data | BlockType::EncodedData) {
        return Ok(Ok(None));
    }
    let damaged = |what: DamageReason| Ok(Err(Damage { at, block: Some(block_type), what }));
    let cells = match cells_of(reader, at, raw) {
        Ok(cells) => cells,
        Err(what) => return damaged(what),
    };
    let order = reader.trailer().comparator;
    let in_order = |before: &Cell, behind: &Cell| {
        before.family() == behind.family()
            && order.compare(&before.as_ref().key(), &behind.as_ref().key()).is_le()
    };
    let follows = last.as_ref().zip(cells.first());
    if !cells.is_sorted_by(in_order) || follows.is_some_and(|(last, first)| !in_order(last, first))
    {
        return damaged(Cow::Borrowed("its cells are out of order"));
    }
    for cell in &cells {
        each(cell.as_ref())?;
    }
    let first_row = cells.first().map(|cell| cell.row().to_vec());
    *last = cells.into_iter().next_back().or(last.take());
    Ok(Ok(first_row))
}

/// The cells of a data block, all of them checked.
fn cells_of(reader: &Reader, at: BlockOffset, raw: &RawBlock) -> Result<Vec<Cell>, DamageReason> {
    let blocks = &reader.file().blocks;
    let len = u32::try_from(raw.header.len()).unwrap_or(u32::MAX);
    let place = BlockHandle { offset: at, len };
    let origin = BlockOrigin::new(place, &raw.header);
    let block = blocks.encoded_block(origin, Body::from(raw.body.to_vec()))?;
    let block = block.decode(RowIndexKind::ByOrder, &mut Buffers::default())?;
    let (mut cursor, mut cells) = (block.cursor(), Vec::new());
    loop {
        cells.push(block.cell(&cursor).to_cell());
        if !block.advance(&mut cursor) {
            return Ok(cells);
        }
    }
}
