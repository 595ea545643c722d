//! The cell codec of a log without dictionaries.
//!
//! | bytes | field        | meaning                                                        |
//! |------:|--------------|----------------------------------------------------------------|
//! |     4 | length       | i32 BE, of the following fields together                       |
//! |     4 | key length   | i32 BE                                                         |
//! |     4 | value length | i32 BE                                                         |
//! |       | key          | as in an HFile: row, family, qualifier, timestamp, type        |
//! |       | value        |                                                                |
//! |     2 | tags length  | u16 BE; a cell without tags may end before this field          |
//! |       | tags         |                                                                |
//!
//! Phoenix's codec writes the same, and −1 in place of the length before a cell of its own form. Its
//! classes: `IndexedWALEditCodec`, `KeyValueCodec`.

use sstable::{Cell, CellRef, CellType, KeyRef, SequenceId};

use super::error::Stop;
use super::input::Input;
use super::limits::CELL_LEN_MAX;

/// The length that Phoenix writes before a cell of an index. Its class: `IndexedKeyValue`.
const PHOENIX_INDEX_CELL: i32 = -1;

/// Reads a cell.
pub(super) fn read_cell(input: &mut Input, sequence_id: SequenceId) -> Result<Cell, Stop> {
    let len = i32::from_be_bytes(input.array()?);
    read_cell_of(input, len, sequence_id)
}

/// Reads a cell of a log that Phoenix's codec wrote.
pub(super) fn read_phoenix_cell(input: &mut Input, sequence_id: SequenceId) -> Result<Cell, Stop> {
    match i32::from_be_bytes(input.array()?) {
        PHOENIX_INDEX_CELL => {
            Err(Stop::Unsupported("a cell of an index that Phoenix encodes (length -1)".to_owned()))
        }
        len => read_cell_of(input, len, sequence_id),
    }
}

fn read_cell_of(input: &mut Input, len: i32, sequence_id: SequenceId) -> Result<Cell, Stop> {
    let cell_len =
        usize::try_from(len).map_err(|_| Stop::wrong("the length of a cell is negative"))?;
    parse(input.take_part("a cell", cell_len, CELL_LEN_MAX)?, sequence_id)
        .ok_or_else(|| Stop::wrong("the lengths in a cell contradict each other"))?
}

/// Parses the bytes of a cell; `None` if its lengths are wrong.
fn parse(bytes: &[u8], sequence_id: SequenceId) -> Option<Result<Cell, Stop>> {
    let (key_len, after_key_len) = split_len(bytes)?;
    let (value_len, after_lens) = split_len(after_key_len)?;
    let (key, after_key) = after_lens.split_at_checked(key_len)?;
    let (value, rest) = after_key.split_at_checked(value_len)?;
    let tags = if rest.is_empty() {
        rest
    } else {
        let (len, tags) = rest.split_first_chunk::<2>()?;
        (tags.len() == usize::from(u16::from_be_bytes(*len))).then_some(tags)?
    };
    Some(cell(KeyRef::parse(key)?, value, tags, sequence_id))
}

fn split_len(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (len, rest) = bytes.split_first_chunk::<4>()?;
    Some((usize::try_from(i32::from_be_bytes(*len)).ok()?, rest))
}

/// Puts a cell together; checks its type and its tags.
pub(super) fn cell(
    key: KeyRef<'_>,
    value: &[u8],
    tags: &[u8],
    sequence_id: SequenceId,
) -> Result<Cell, Stop> {
    let code = key.type_code;
    let cell_type = CellType::from_code(code)
        .ok_or_else(|| Stop::wrong(format!("a cell has the unknown type {code}")))?;
    let cell = CellRef {
        row: key.row,
        family: key.family,
        qualifier: key.qualifier,
        timestamp: key.timestamp,
        cell_type,
        value,
        tags,
        sequence_id,
    };
    // Each tag has 2 bytes of length and a byte of type. The iterator stops at the first malformed
    // tag, so the sum is then less than the length of all tags.
    let tags_len = cell
        .tags()
        .fold(0, |sum: usize, (_, data)| sum.saturating_add(data.len()).saturating_add(3));
    if tags_len != tags.len() {
        return Err(Stop::wrong("the tags of a cell are malformed"));
    }
    Ok(cell.to_cell())
}
