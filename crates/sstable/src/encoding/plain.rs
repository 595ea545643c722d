//! Cells as they are, as data blocks without an encoding hold them.
//!
//! | bytes | field          | meaning                                                            |
//! |------:|----------------|--------------------------------------------------------------------|
//! |     4 | key length `k` | i32 BE                                                             |
//! |     4 | value length   | i32 BE                                                             |
//! |   `k` | key            | flat, see [`KeyRef`]                                               |
//! |       | value          |                                                                    |
//! |     2 | tags length    | i16 BE; only in files with tags, then also where it is 0           |
//! |       | tags           | each u16 BE length, u8 type, data; the length counts type and data |
//! |  1..9 | sequence id    | hvlong; only in files with sequence ids                            |
//!
//! Every other encoding is decoded into this form, so that there is one way to search.

use super::{CellLayout, DamageReason};
use crate::input::{Input, hvlong_len, write_hvlong};
use crate::{CellRef, CellType, KeyRef, SequenceId};

/// The bytes of the two lengths in front of a cell.
pub(super) const LENGTHS_LEN: usize = 8;

/// The bytes of the length of the tags.
pub(super) const TAGS_LEN_LEN: usize = 2;

/// The bytes of time and type, with which a key ends.
pub(super) const TIME_LEN: usize = 9;

/// The most bytes of tags that a cell can carry: their length is read as an i16.
pub(crate) const TAGS_LEN_MAX: usize = 0x7fff;

/// The bytes that [`write_cell`] appends.
#[expect(clippy::arithmetic_side_effects, reason = "all are lengths of what is in memory")]
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

/// Appends a cell. The writer has checked that its lengths fit.
pub(super) fn write_cell(out: &mut Vec<u8>, cell: &CellRef<'_>, layout: CellLayout) {
    write_lengths(out, cell.key().flat_len(), cell.value.len());
    cell.key().write_flat(out);
    write_behind_key(out, cell, layout);
}

/// Appends a cell whose flat key is there already.
pub(super) fn write_cell_with(
    out: &mut Vec<u8>,
    key: &[u8],
    cell: &CellRef<'_>,
    layout: CellLayout,
) {
    write_lengths(out, key.len(), cell.value.len());
    out.extend_from_slice(key);
    write_behind_key(out, cell, layout);
}

fn write_behind_key(out: &mut Vec<u8>, cell: &CellRef<'_>, layout: CellLayout) {
    out.extend_from_slice(cell.value);
    if layout.tags {
        let len = i16::try_from(cell.tags.len()).expect("lengths of tags are checked");
        out.extend_from_slice(&len.to_be_bytes());
        out.extend_from_slice(cell.tags);
    }
    if layout.mvcc {
        write_hvlong(out, cell.sequence_id.get().cast_signed());
    }
}

/// Appends the two lengths in front of a cell.
fn write_lengths(out: &mut Vec<u8>, key_len: usize, value_len: usize) {
    for len in [key_len, value_len] {
        let len = i32::try_from(len).expect("lengths of cells are checked");
        out.extend_from_slice(&len.to_be_bytes());
    }
}

/// Reads and checks one cell: lengths, type, time, tags.
pub(super) fn read_cell<'a>(
    input: &mut Input<'a>,
    layout: CellLayout,
) -> Result<CellRef<'a>, DamageReason> {
    let key_len = input.len_i32().ok_or("no key length")?;
    let value_len = input.len_i32().ok_or("no value length")?;
    let key = input.take(key_len).ok_or("the key goes past the block")?;
    let value = input.take(value_len).ok_or("the value goes past the block")?;
    let key = KeyRef::parse(key).ok_or("the lengths in the key contradict its length")?;
    let type_code = key.type_code;
    let cell_type = CellType::from_code(type_code).ok_or_else(|| unknown_type(type_code))?;
    if key.timestamp.get() < 0 {
        return Err("negative timestamp".into());
    }
    let (tags, sequence_id) = read_behind_value(input, layout)?;
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

/// Reads and checks what follows the value of a cell: tags and sequence id, if there are any.
pub(super) fn read_behind_value<'a>(
    input: &mut Input<'a>,
    layout: CellLayout,
) -> Result<(&'a [u8], SequenceId), DamageReason> {
    let mut tags = &[][..];
    if layout.tags {
        let len = input.u16().ok_or("no tags length")?.into();
        if len > TAGS_LEN_MAX {
            return Err("negative tags length".into());
        }
        tags = input.take(len).ok_or("the tags go past the block")?;
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

/// Checks that tags lie end to end, each with at least a type.
pub(crate) fn check_tags(tags: &[u8]) -> Result<(), DamageReason> {
    let mut rest = Input::new(tags);
    while !rest.is_empty() {
        let len = rest.u16().ok_or("the tags end in a length")?;
        let tag = rest.take(len.into()).ok_or("a tag goes past the tags")?;
        if tag.is_empty() {
            return Err("a tag without a type".into());
        }
    }
    Ok(())
}
