//! One write batch in the log.
//!
//! | at | bytes | field         | encoding and meaning                                          |
//! |---:|------:|---------------|---------------------------------------------------------------|
//! |  0 |     4 | `checksum`    | u32 BE; CRC-32C of all bytes of the record behind this field  |
//! |  4 |     4 | `length`      | u32 BE; bytes of the cells, at most 1 GiB                     |
//! |  8 |     8 | `segment`     | u64 BE; the segment's random id                               |
//! | 16 |     8 | `sequence_id` | u64 BE; of the batch, greater than that of the record before  |
//! | 24 |     8 | `durable`     | u64 BE; up to here the segment was on disk when this was made |
//! | 32 |       | cells         | one behind the other                                          |
//!
//! A cell:
//!
//! | bytes | field              | encoding and meaning                   |
//! |------:|--------------------|----------------------------------------|
//! |     2 | `family`           | u16 BE; the family's id                |
//! |     1 | `type`             | as in a cell's key                     |
//! |     8 | `timestamp`        | i64 BE                                 |
//! |     2 | `row length`       | u16 BE                                 |
//! |     2 | `tags length`      | u16 BE                                 |
//! |     4 | `qualifier length` | u32 BE                                 |
//! |     4 | `value length`     | u32 BE                                 |
//! |       | row, qualifier, value, tags | one behind the other          |

#![warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)]

use std::io::{self, Read};

use byteorder::{BigEndian, ReadBytesExt};
use sstable::{Cell, CellRef, CellType, SequenceId, Timestamp};

use super::segment::SegmentHeader;
use crate::error::{Error, Result};

/// The fields in front of a record's cells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordHeader {
    pub(crate) checksum: u32,
    pub(crate) length: u32,
    pub(crate) segment: u64,
    pub(crate) sequence_id: SequenceId,
    pub(crate) durable: u64,
}

impl RecordHeader {
    pub(crate) const LEN: usize = 32;
    /// The bytes that the checksum does not cover: itself.
    pub(crate) const CHECKSUM_LEN: usize = 4;
    /// More than this no batch is allowed, and no length is believed.
    pub(crate) const LENGTH_MAX: u32 = 1 << 30;

    pub(crate) fn read(mut bytes: &[u8]) -> io::Result<Self> {
        Ok(Self {
            checksum: bytes.read_u32::<BigEndian>()?,
            length: bytes.read_u32::<BigEndian>()?,
            segment: bytes.read_u64::<BigEndian>()?,
            sequence_id: SequenceId::new(bytes.read_u64::<BigEndian>()?),
            durable: bytes.read_u64::<BigEndian>()?,
        })
    }
}

/// Appends to `out` the record of a batch, each cell with its family's id.
///
/// # Errors
///
/// If the batch is larger than a record can be; `out` is then as it was.
pub(crate) fn encode_batch<'a>(
    out: &mut Vec<u8>,
    header: &SegmentHeader,
    sequence_id: SequenceId,
    durable: u64,
    cells: impl Iterator<Item = (u16, CellRef<'a>)>,
) -> Result<()> {
    let start = out.len();
    out.extend_from_slice(&[0; 8]); // Checksum and length, once they are known.
    out.extend_from_slice(&header.segment.to_be_bytes());
    out.extend_from_slice(&sequence_id.get().to_be_bytes());
    out.extend_from_slice(&durable.to_be_bytes());
    let body = out.len();
    for (family, cell) in cells {
        encode_cell(out, family, &cell);
    }
    let length = out.len().checked_sub(body).expect("cells are appended");
    let length = u32::try_from(length).ok().filter(|length| *length <= RecordHeader::LENGTH_MAX);
    let Some(length) = length else {
        out.truncate(start);
        return Err(Error::invalid("a batch of more than 1 GiB cannot be logged"));
    };
    let record = out.split_at_mut(start).1;
    let (checksum, covered) = record.split_first_chunk_mut::<4>().expect("a header is in front");
    *covered.first_chunk_mut::<4>().expect("a header is in front") = length.to_be_bytes();
    *checksum = crc32c::crc32c(covered).to_be_bytes();
    Ok(())
}

fn encode_cell(out: &mut Vec<u8>, family: u16, cell: &CellRef<'_>) {
    let fits = "the write path has checked the lengths of cells";
    out.extend_from_slice(&family.to_be_bytes());
    out.push(cell.cell_type.code());
    out.extend_from_slice(&cell.timestamp.get().to_be_bytes());
    out.extend_from_slice(&u16::try_from(cell.row.len()).expect(fits).to_be_bytes());
    out.extend_from_slice(&u16::try_from(cell.tags.len()).expect(fits).to_be_bytes());
    out.extend_from_slice(&u32::try_from(cell.qualifier.len()).expect(fits).to_be_bytes());
    out.extend_from_slice(&u32::try_from(cell.value.len()).expect(fits).to_be_bytes());
    out.extend_from_slice(cell.row);
    out.extend_from_slice(cell.qualifier);
    out.extend_from_slice(cell.value);
    out.extend_from_slice(cell.tags);
}

/// Reads the cells of a record whose checksum was right. `family_name` knows a family by its id.
///
/// An error says what is wrong: such a record was not written by this code.
pub(crate) fn decode_cells<'f>(
    mut body: &[u8],
    sequence_id: SequenceId,
    family_name: impl Fn(u16) -> Option<&'f [u8]>,
) -> Result<Vec<Cell>, &'static str> {
    let mut cells = Vec::new();
    while !body.is_empty() {
        let (cell, rest) = decode_cell(body, sequence_id, &family_name)?;
        cells.push(cell);
        body = rest;
    }
    Ok(cells)
}

fn decode_cell<'b, 'f>(
    mut bytes: &'b [u8],
    sequence_id: SequenceId,
    family_name: impl Fn(u16) -> Option<&'f [u8]>,
) -> Result<(Cell, &'b [u8]), &'static str> {
    let fixed = read_fixed(&mut bytes).map_err(|_| "ends in a cell")?;
    let mut take = |len: u32| -> Result<&'b [u8], &'static str> {
        let len = usize::try_from(len).map_err(|_| "a length that does not fit")?;
        let (taken, rest) = bytes.split_at_checked(len).ok_or("ends in a cell")?;
        bytes = rest;
        Ok(taken)
    };
    let (row, qualifier) = (take(fixed.row)?, take(fixed.qualifier)?);
    let (value, tags) = (take(fixed.value)?, take(fixed.tags)?);
    let cell = CellRef {
        row,
        family: family_name(fixed.family).ok_or("a family that the manifest does not know")?,
        qualifier,
        timestamp: fixed.timestamp,
        cell_type: CellType::from_code(fixed.type_code).ok_or("an unknown cell type")?,
        value,
        tags,
        sequence_id,
    };
    Ok((cell.to_cell(), bytes))
}

/// What stands in front of a cell's bytes.
struct Fixed {
    family: u16,
    type_code: u8,
    timestamp: Timestamp,
    row: u32,
    tags: u32,
    qualifier: u32,
    value: u32,
}

fn read_fixed(bytes: &mut impl Read) -> io::Result<Fixed> {
    Ok(Fixed {
        family: bytes.read_u16::<BigEndian>()?,
        type_code: bytes.read_u8()?,
        timestamp: Timestamp::new(bytes.read_i64::<BigEndian>()?),
        row: bytes.read_u16::<BigEndian>()?.into(),
        tags: bytes.read_u16::<BigEndian>()?.into(),
        qualifier: bytes.read_u32::<BigEndian>()?,
        value: bytes.read_u32::<BigEndian>()?,
    })
}
