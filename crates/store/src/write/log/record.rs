//! A log record: one write batch.
//!
//! | at | bytes | field         | encoding and meaning                                          |
//! |---:|------:|---------------|---------------------------------------------------------------|
//! |  0 |     4 | `checksum`    | u32 BE; CRC-32C of the rest of the record                     |
//! |  4 |     4 | `length`      | u32 BE; bits 0 to 30: bytes of the cells, at most 1 GiB;      |
//! |    |       |               | bit 31: the cells [replace](crate::write::replace) older ones |
//! |  8 |     8 | `segment`     | u64 BE; the segment's random id                               |
//! | 16 |     8 | `sequence_id` | u64 BE; of the batch, greater than in the previous record     |
//! | 24 |     8 | `durable`     | u64 BE; the synced length of the segment before this record   |
//! | 32 |       | cells         | concatenated                                                  |
//!
//! A cell:
//!
//! | bytes | field              | encoding and meaning                   |
//! |------:|--------------------|----------------------------------------|
//! |     2 | `family`           | u16 BE; the family's id                |
//! |     1 | `type`             | the type code of a cell's key          |
//! |     8 | `timestamp`        | i64 BE                                 |
//! |     2 | `row length`       | u16 BE                                 |
//! |     2 | `tags length`      | u16 BE                                 |
//! |     4 | `qualifier length` | u32 BE                                 |
//! |     4 | `value length`     | u32 BE                                 |
//! |       | row, qualifier, value, tags | concatenated                  |

use std::io::{self, Read};

use byteorder::{BigEndian, ReadBytesExt};
use sstable::{Cell, CellRef, CellType, SequenceId, Timestamp};

use super::segment::SegmentHeader;
use crate::checksum::crc32c;
use crate::error::{Error, Result};

/// The header of a record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordHeader {
    pub(crate) checksum: u32,
    pub(crate) length: u32,
    /// Whether the cells replaced older versions in the memstore.
    pub(crate) replaces: bool,
    pub(crate) segment: u64,
    pub(crate) sequence_id: SequenceId,
    pub(crate) durable: u64,
}

/// The batch of a record.
#[derive(Debug)]
pub(crate) struct LoggedBatch {
    pub(crate) sequence_id: SequenceId,
    /// Whether the cells replaced older versions in the memstore.
    pub(crate) replaces: bool,
    pub(crate) cells: Vec<Cell>,
}

impl RecordHeader {
    pub(crate) const LEN: usize = 32;
    /// The length of the checksum, the only field that the checksum does not cover.
    pub(crate) const CHECKSUM_LEN: usize = 4;
    /// Maximum length of a record's cells; a greater length is damage.
    pub(crate) const LENGTH_MAX: u32 = 1 << 30;
    /// The bit of the field `length` that stands for `replaces`.
    const REPLACES: u32 = 1 << 31;

    pub(crate) fn read(mut bytes: &[u8]) -> io::Result<Self> {
        let checksum = bytes.read_u32::<BigEndian>()?;
        let length = bytes.read_u32::<BigEndian>()?;
        Ok(Self {
            checksum,
            length: length & !Self::REPLACES,
            replaces: length & Self::REPLACES != 0,
            segment: bytes.read_u64::<BigEndian>()?,
            sequence_id: SequenceId::new(bytes.read_u64::<BigEndian>()?),
            durable: bytes.read_u64::<BigEndian>()?,
        })
    }
}

/// Appends the record of a batch to `out`; each cell comes with its family's id.
///
/// `replaces` says that the cells replaced older versions in the memstore.
///
/// # Errors
///
/// If the batch exceeds the maximum size of a record; `out` is unchanged then.
pub(crate) fn encode_batch<'a>(
    out: &mut Vec<u8>,
    header: &SegmentHeader,
    sequence_id: SequenceId,
    durable: u64,
    replaces: bool,
    cells: impl Iterator<Item = (u16, CellRef<'a>)>,
) -> Result<()> {
    let start = out.len();
    out.extend_from_slice(&[0; 8]); // The checksum and the length are filled in below.
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
        return Err(Error::invalid("the batch exceeds 1 GiB, the maximum of a log record"));
    };
    let length = if replaces { length | RecordHeader::REPLACES } else { length };
    let record = out.split_at_mut(start).1;
    let (checksum, covered) =
        record.split_first_chunk_mut::<4>().expect("the record begins with a header");
    *covered.first_chunk_mut::<4>().expect("the record begins with a header") =
        length.to_be_bytes();
    *checksum = crc32c(covered).to_be_bytes();
    Ok(())
}

fn encode_cell(out: &mut Vec<u8>, family: u16, cell: &CellRef<'_>) {
    let fits = "the write path checks the lengths of cells";
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

/// Decodes the cells of a record whose checksum matches; `family_name` maps an id to its family.
///
/// The error is the reason why the cells are invalid, which no record written by this code causes.
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
    let header = read_cell_header(&mut bytes).map_err(|_| "the record ends within a cell")?;
    let mut take = |len: u32| -> Result<&'b [u8], &'static str> {
        let len = usize::try_from(len).map_err(|_| "a length does not fit into memory")?;
        let (taken, rest) = bytes.split_at_checked(len).ok_or("the record ends within a cell")?;
        bytes = rest;
        Ok(taken)
    };
    let (row, qualifier) = (take(header.row)?, take(header.qualifier)?);
    let (value, tags) = (take(header.value)?, take(header.tags)?);
    let cell = CellRef {
        row,
        family: family_name(header.family).ok_or("a cell's family is not in the manifest")?,
        qualifier,
        timestamp: header.timestamp,
        cell_type: CellType::from_code(header.type_code).ok_or("unknown cell type")?,
        value,
        tags,
        sequence_id,
    };
    Ok((cell.to_cell(), bytes))
}

/// The fixed-length fields of an encoded cell; `row`, `tags`, `qualifier` and `value` are lengths.
struct CellHeader {
    family: u16,
    type_code: u8,
    timestamp: Timestamp,
    row: u32,
    tags: u32,
    qualifier: u32,
    value: u32,
}

fn read_cell_header(bytes: &mut impl Read) -> io::Result<CellHeader> {
    Ok(CellHeader {
        family: bytes.read_u16::<BigEndian>()?,
        type_code: bytes.read_u8()?,
        timestamp: Timestamp::new(bytes.read_i64::<BigEndian>()?),
        row: bytes.read_u16::<BigEndian>()?.into(),
        tags: bytes.read_u16::<BigEndian>()?.into(),
        qualifier: bytes.read_u32::<BigEndian>()?,
        value: bytes.read_u32::<BigEndian>()?,
    })
}
