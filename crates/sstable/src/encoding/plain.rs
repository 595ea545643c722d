//! Plain cells, the format of data blocks without an encoding.
//!
//! | bytes | field          | meaning                                                            |
//! |------:|----------------|--------------------------------------------------------------------|
//! |     4 | key length `k` | i32 BE                                                             |
//! |     4 | value length   | i32 BE                                                             |
//! |   `k` | key            | flat, see [`KeyRef`]                                               |
//! |       | value          |                                                                    |
//! |     2 | tags length    | i16 BE; only in files with tags, where it may be 0                 |
//! |       | tags           | each u16 BE length, u8 type, data; the length counts type and data |
//! |  1..9 | sequence id    | hvlong; only in files with sequence ids                            |
//!
//! Every other encoding is decoded into this form, so that one search serves all encodings.

use cells::{CellRef, CellType, KeyRef, SequenceId, Timestamp};

use super::{CellLayout, DamageReason};
use crate::input::{Input, hvlong_len, write_hvlong};

/// Bytes of key length and value length.
pub(super) const LENGTHS_LEN: usize = 8;

/// Bytes of the tags length.
pub(super) const TAGS_LEN_LEN: usize = 2;

/// Bytes of timestamp and type, at the end of a key.
pub(super) const TIME_LEN: usize = 9;

/// The maximum length of a cell's tags, which is stored as an i16.
pub(crate) const TAGS_LEN_MAX: usize = 0x7fff;

/// Bytes that [`write_cell`] appends.
#[expect(clippy::arithmetic_side_effects, reason = "all are lengths of slices in memory")]
pub(crate) fn cell_len(cell: &CellRef<'_>, layout: CellLayout) -> usize {
    let mut len = LENGTHS_LEN + cell.key().flat_len() + cell.value.len();
    if layout.tags {
        len += TAGS_LEN_LEN + cell.tags.len();
    }
    if layout.mvcc {
        len += hvlong_len(cell.sequence_id.get().cast_signed());
    }
    len
}

/// Appends a cell, whose lengths the writer has checked.
pub(super) fn write_cell(out: &mut Vec<u8>, cell: &CellRef<'_>, layout: CellLayout) {
    write_lengths(out, cell.key().flat_len(), cell.value.len());
    cell.key().write_flat(out);
    write_after_key(out, cell, layout);
}

/// Appends a cell whose flat key is given.
pub(super) fn write_cell_with(
    out: &mut Vec<u8>,
    key: &[u8],
    cell: &CellRef<'_>,
    layout: CellLayout,
) {
    write_lengths(out, key.len(), cell.value.len());
    out.extend_from_slice(key);
    write_after_key(out, cell, layout);
}

fn write_after_key(out: &mut Vec<u8>, cell: &CellRef<'_>, layout: CellLayout) {
    out.extend_from_slice(cell.value);
    if layout.tags {
        let len = i16::try_from(cell.tags.len()).expect("the writer has checked the tags length");
        out.extend_from_slice(&len.to_be_bytes());
        out.extend_from_slice(cell.tags);
    }
    if layout.mvcc {
        write_hvlong(out, cell.sequence_id.get().cast_signed());
    }
}

/// Appends key length and value length.
fn write_lengths(out: &mut Vec<u8>, key_len: usize, value_len: usize) {
    for len in [key_len, value_len] {
        let len = i32::try_from(len).expect("the writer has checked the lengths");
        out.extend_from_slice(&len.to_be_bytes());
    }
}

/// Returns the cell at `at` of checked cells; `None` if no cell starts there.
///
/// The fast path of a get, which reads one cell of a block. Does not repeat the checks of
/// [`read_cell`]; a scan parses its cells as [`CellBounds`](super::CellBounds).
pub(crate) fn cell_at(cells: &[u8], at: usize, layout: CellLayout) -> Option<CellRef<'_>> {
    let (lengths, rest) = cells.get(at..)?.split_first_chunk::<LENGTHS_LEN>()?;
    let key_len = u32::from_be_bytes(*lengths.first_chunk()?);
    let value_len = u32::from_be_bytes(*lengths.last_chunk()?);
    let (key, rest) = rest.split_at_checked(usize::try_from(key_len).ok()?)?;
    let (value, rest) = rest.split_at_checked(usize::try_from(value_len).ok()?)?;
    let (row_len, column) = key.split_first_chunk()?;
    let (row, column) = column.split_at_checked(u16::from_be_bytes(*row_len).into())?;
    let (family_len, column) = column.split_first()?;
    let (family, column) = column.split_at_checked((*family_len).into())?;
    let (qualifier, time_and_type) = column.split_last_chunk::<TIME_LEN>()?;
    let [time @ .., type_code] = *time_and_type;
    let (mut tags, mut rest) = (&[][..], rest);
    if layout.tags {
        let (tags_len, after_len) = rest.split_first_chunk()?;
        (tags, rest) = after_len.split_at_checked(u16::from_be_bytes(*tags_len).into())?;
    }
    let mut sequence_id = 0;
    if layout.mvcc {
        sequence_id = match rest {
            // In most files all sequence ids are 0, which takes one byte.
            [short @ ..0x80, ..] => (*short).into(),
            _ => u64::try_from(Input::new(rest).hvlong()?).ok()?,
        };
    }
    Some(CellRef {
        row,
        family,
        qualifier,
        timestamp: Timestamp::new(i64::from_be_bytes(time)),
        cell_type: CellType::from_code(type_code)?,
        value,
        tags,
        sequence_id: SequenceId::new(sequence_id),
    })
}

/// Returns the row of the cell at `at`, without parsing the rest of the cell.
///
/// # Panics
///
/// If no cell starts at `at`.
pub(crate) fn row_at(cells: &[u8], at: usize) -> &[u8] {
    let row = cells.get(at..).and_then(|cell| {
        let (len, rest) = cell.get(LENGTHS_LEN..)?.split_first_chunk()?;
        rest.get(..u16::from_be_bytes(*len).into())
    });
    match row {
        Some(row) => row,
        None => no_cell(at, cells.len()),
    }
}

#[cold]
fn no_cell(at: usize, len: usize) -> ! {
    panic!("no cell starts at offset {at} of a block with {len} bytes of cells")
}

/// Reads and checks one cell: lengths, type, time, tags.
pub(super) fn read_cell<'a>(
    input: &mut Input<'a>,
    layout: CellLayout,
) -> Result<CellRef<'a>, DamageReason> {
    let key_len = input.len_i32().ok_or("no key length")?;
    let value_len = input.len_i32().ok_or("no value length")?;
    let key = input.take(key_len).ok_or("the key exceeds the block")?;
    let value = input.take(value_len).ok_or("the value exceeds the block")?;
    let key = KeyRef::parse(key).ok_or("the lengths in the key contradict its length")?;
    let type_code = key.type_code;
    let cell_type = CellType::from_code(type_code).ok_or_else(|| unknown_type(type_code))?;
    if key.timestamp.get() < 0 {
        return Err("negative timestamp".into());
    }
    let (tags, sequence_id) = read_after_value(input, layout)?;
    Ok(CellRef {
        row: key.row,
        family: key.family,
        qualifier: key.qualifier,
        timestamp: key.timestamp,
        cell_type,
        value,
        tags,
        sequence_id,
    })
}

/// Reads and checks the fields after the value: tags and sequence id, if the file has them.
pub(super) fn read_after_value<'a>(
    input: &mut Input<'a>,
    layout: CellLayout,
) -> Result<(&'a [u8], SequenceId), DamageReason> {
    let mut tags = &[][..];
    if layout.tags {
        let len = input.u16().ok_or("no tags length")?.into();
        if len > TAGS_LEN_MAX {
            return Err("negative tags length".into());
        }
        tags = input.take(len).ok_or("the tags exceed the block")?;
        check_tags(tags)?;
    }
    let mut sequence_id = SequenceId::default();
    if layout.mvcc {
        let number = input.hvlong().ok_or("no sequence id")?;
        sequence_id =
            u64::try_from(number).map(SequenceId::new).map_err(|_| "negative sequence id")?;
    }
    Ok((tags, sequence_id))
}

#[cold]
pub(super) fn unknown_type(type_code: u8) -> DamageReason {
    format!("unknown cell type {type_code}").into()
}

/// Checks that the bytes are a sequence of tags, each with a type.
pub(crate) fn check_tags(tags: &[u8]) -> Result<(), DamageReason> {
    let mut rest = Input::new(tags);
    while !rest.is_empty() {
        let len = rest.u16().ok_or("the tags end in a length")?;
        let tag = rest.take(len.into()).ok_or("a tag exceeds the tags")?;
        if tag.is_empty() {
            return Err("a tag without a type".into());
        }
    }
    Ok(())
}
