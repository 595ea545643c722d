//! Salvage: reads the cells of all sound data blocks of a damaged file.
//!
//! ```text
//! [data][da▒▒][data][▒▒▒▒▒▒▒▒▒▒▒[data]
//!        │           └ damaged header: everything up to the next sound block is lost
//!        └ sound header: only this block is lost, because its header gives its length
//! ```
//!
//! Salvage does not use the index, so a damaged index loses no cells. The load-on-open section and
//! the trailer must be sound, because they give compression and comparator. If the file info and a
//! block disagree about the form of the cells, the block is right; see `stored_form`.

use std::borrow::Cow;

use cells::{BlockOffset, Cell, CellRef, RowsBetween};

use super::stored_form::{FoundBlock, StoredForm};
use crate::block::BlockHeader;
use crate::encoding::DamageReason;
use crate::error::{BlockType, Damage, DecodeError, Error, Result};
use crate::file::load_block::BlockReader;
use crate::file::raw_block::RawBlock;
use crate::reader::Reader;

/// The first and the maximum length in bytes of a read in the search for the next block.
const WINDOW_LENS: (u64, u64) = (1 << 14, 1 << 20);
/// The number of false candidates after which the search for the next block gives up.
///
/// A false candidate is a block magic at which no sound block begins. Each one may cost a block
/// read, and a malicious file can be full of them.
const CANDIDATES_MAX: u32 = 1000;

/// A range of a file that could not be read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LostRange {
    /// The offset of the range, the block type if known, and the damage.
    pub damage: Damage,
    /// The length of the range in bytes.
    pub len: u64,
    /// The rows that may have lost cells; `None` for a block that holds no cells.
    pub rows: Option<RowsBetween>,
}

/// Calls `each` with the cells of all sound data blocks, in file order. Returns the lost ranges.
///
/// If a block is damaged, all its cells are lost, even those before the damage.
///
/// ```
/// use std::sync::Arc;
///
/// use bytes::Bytes;
/// use sstable::{Error, FileName, Reader, ReaderOptions, salvage};
/// # let file: &'static [u8] = include_bytes!("../../testdata/s01-default.hfile");
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
/// If the file cannot be read, or if `each` returns an error.
pub fn salvage<E: From<Error>>(
    reader: &Reader,
    mut each: impl FnMut(CellRef<'_>) -> Result<(), E>,
) -> Result<Vec<LostRange>, E> {
    let blocks = &reader.file().blocks;
    let end = reader.file().trailer.load_on_open_data_offset.get();
    let mut lost: Vec<LostRange> = Vec::new();
    // From this index on, the lost ranges still lack `rows.last`: no sound cell has followed them.
    let mut first_open = 0;
    // The last sound cell.
    let mut before: Option<Cell> = None;
    let mut at = BlockOffset::default();
    while at.get() < end {
        let (header, damage) = match read_block(blocks, at, end)? {
            // The blocks after the data blocks, such as META blocks, hold no cells.
            Ok(raw) if !is_of_data(raw.header.block_type) => break,
            Ok(raw) => match emit_cells(reader, at, &raw, &mut before, &mut each)? {
                Ok(first_row) => {
                    if let Some(row) = first_row {
                        set_last_rows(&mut lost[first_open..], &row);
                        first_open = lost.len();
                    }
                    (Some(raw.header), None)
                }
                Err(damage) => (Some(raw.header), Some(damage)),
            },
            Err((header, damage)) => (header, Some(damage)),
        };
        // Trusts the length in the header of a damaged block only if a sound block follows.
        let next = match (header, &damage) {
            (Some(header), None) => at.plus(header.len()),
            (Some(header), Some(_)) if is_block_boundary(blocks, at.plus(header.len()), end)? => {
                at.plus(header.len())
            }
            _ => find_next_block(blocks, at, end)?,
        };
        if let Some(damage) = damage {
            let is_without_cells = header.is_some_and(|header| !holds_cells(header.block_type));
            let first = before.as_ref().map(|cell| cell.row().to_vec());
            let rows = (!is_without_cells).then_some(RowsBetween { first, last: None });
            lost.push(LostRange { damage, len: next.get().saturating_sub(at.get()), rows });
        }
        at = next;
    }
    Ok(lost)
}

/// Sets `row` as the first sound row after each of the lost ranges.
fn set_last_rows(lost: &mut [LostRange], row: &[u8]) {
    for rows in lost.iter_mut().filter_map(|lost| lost.rows.as_mut()) {
        rows.last = Some(row.to_vec());
    }
}

/// Returns whether HBase writes blocks of this type in the data section: data, index and Bloom.
const fn is_of_data(block_type: BlockType) -> bool {
    use BlockType::{BloomChunk, Data, EncodedData, LeafIndex};
    matches!(block_type, Data | EncodedData | LeafIndex | BloomChunk)
}

/// A sound block; or the damage, with the header if that is readable.
type BlockResult = Result<RawBlock, (Option<BlockHeader>, Damage)>;

/// Reads the block at `at`. The outer error is an I/O error, the inner error is damage.
fn read_block(blocks: &BlockReader, at: BlockOffset, end: u64) -> Result<BlockResult> {
    let header = match blocks.read_header(at, end) {
        Ok(header) => header,
        Err(Error::Corrupt { damage, .. }) => return Ok(Err((None, damage))),
        Err(error) => return Err(error),
    };
    let bytes = blocks.read_bytes(at, header.len())?;
    match blocks.parse(&bytes, at) {
        Ok(raw) => Ok(Ok(raw)),
        Err(DecodeError::Damage(damage)) => Ok(Err((Some(header), damage))),
        Err(error) => Err(error.in_file(&blocks.name)),
    }
}

/// Returns whether a sound block begins at `at`, or `at` is the end of the blocks.
fn is_block_boundary(blocks: &BlockReader, at: BlockOffset, end: u64) -> Result<bool> {
    Ok(at.get() == end || at.get() < end && read_block(blocks, at, end)?.is_ok())
}

/// Returns the offset of the next sound block after `at`, or `end` if there is none.
pub(super) fn find_next_block(
    blocks: &BlockReader,
    at: BlockOffset,
    end: u64,
) -> Result<BlockOffset> {
    let (mut from, mut candidates) = (at.plus(1), 0);
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
            if is_block_boundary(blocks, found, end)? {
                return Ok(found);
            }
            candidates += 1;
            if candidates > CANDIDATES_MAX {
                return Ok(BlockOffset::new(end));
            }
        }
        if len < len_max {
            break;
        }
        len_max = len_max.saturating_mul(4).min(window_len_max);
        // Overlaps by 7 bytes, because a magic of 8 bytes may cross the end of the window.
        from = from.plus(len.saturating_sub(7));
    }
    Ok(BlockOffset::new(end))
}

/// Calls `each` with the cells of a block, if all of them are sound and follow `last`.
///
/// Sets `last` to the last of them. Returns the row of the first cell; `None` if the block is no
/// data block. The outer error is the error of `each`, the inner error is damage.
fn emit_cells<E: From<Error>>(
    reader: &Reader,
    at: BlockOffset,
    raw: &RawBlock,
    last: &mut Option<Cell>,
    each: &mut impl FnMut(CellRef<'_>) -> Result<(), E>,
) -> Result<Result<Option<Vec<u8>>, Damage>, E> {
    let block_type = raw.header.block_type;
    if !holds_cells(block_type) {
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

/// Returns the form of the first sound data block; `None` if there is none.
pub(crate) fn stored_form(reader: &Reader) -> Result<Option<StoredForm>> {
    let blocks = &reader.file().blocks;
    let end = reader.file().trailer.load_on_open_data_offset.get();
    let mut at = BlockOffset::default();
    while at.get() < end {
        at = match read_block(blocks, at, end)? {
            Ok(raw) if !is_of_data(raw.header.block_type) => return Ok(None),
            Ok(raw) => {
                if holds_cells(raw.header.block_type)
                    && let Ok(found) = FoundBlock::decode(blocks, at, &raw)
                {
                    return Ok(Some(found.form));
                }
                at.plus(raw.header.len())
            }
            Err(_) => find_next_block(blocks, at, end)?,
        };
    }
    Ok(None)
}

/// Returns whether blocks of this type contain cells.
pub(super) const fn holds_cells(block_type: BlockType) -> bool {
    matches!(block_type, BlockType::Data | BlockType::EncodedData)
}

/// Decodes and checks all cells of a data block.
fn cells_of(reader: &Reader, at: BlockOffset, raw: &RawBlock) -> Result<Vec<Cell>, DamageReason> {
    let FoundBlock { block, .. } = FoundBlock::decode(&reader.file().blocks, at, raw)?;
    let (mut cursor, mut cells) = (block.cursor(), Vec::new());
    loop {
        cells.push(block.cell(&cursor).to_cell());
        if !block.advance(&mut cursor) {
            return Ok(cells);
        }
    }
}

#[cfg(test)]
#[path = "salvage_tests.rs"]
mod tests;
