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

use sstable::{Cell, CellRef, CellType, KeyRef, SequenceId};

use super::error::Stop;
use super::input::Input;
use super::limits::CELL_LEN_MAX;

/// Reads a cell.
pub(super) fn read_cell(input: &mut Input, sequence_id: SequenceId) -> Result<Cell, Stop> {
    let len = u32::from_be_bytes(input.array()?);
    let len = i32::try_from(len).ok().and_then(|len| usize::try_from(len).ok());
    let len = len.ok_or_else(|| Stop::wrong("the length of a cell is negative"))?;
    parse(input.take_part("a cell", len, CELL_LEN_MAX)?, sequence_id)
        .ok_or_else(|| Stop::wrong("the lengths in a cell contradict each other"))?
}

/// Parses the bytes of a cell; `None` if its lengths are wrong.
fn parse(bytes: &[u8], sequence_id: SequenceId) -> Option<Result<Cell, Stop>> {
    let (key_len, rest) = split_len(bytes)?;
    let (value_len, rest) = split_len(rest)?;
    let (key, rest) = rest.split_at_checked(key_len)?;
    let (value, rest) = rest.split_at_checked(value_len)?;
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
