//! Random cells from a seed, of any shape that a file can hold.

use std::path::Path;

use crate::Random;
use sstable::{
    Caching, Cell, CellRef, CellType, FileName, Reader, ReaderOptions, Scanner, SequenceId,
    Timestamp, Writer, WriterOptions,
};

/// A put of the column `f:q`, as in a bulk-load file; tests override fields of it.
pub const PUT: CellRef<'static> = CellRef {
    row: b"",
    family: b"f",
    qualifier: b"q",
    timestamp: Timestamp::new(5),
    cell_type: CellType::Put,
    value: b"",
    tags: b"",
    sequence_id: SequenceId::new(0),
};

/// Returns the bytes of a file that holds these cells, which must be in order.
///
/// # Panics
///
/// If the cells are not in order, or the options are invalid.
pub fn hfile<'a>(
    path: &Path,
    options: WriterOptions,
    cells: impl IntoIterator<Item = CellRef<'a>>,
) -> Vec<u8> {
    let name = FileName::new(path.display().to_string());
    let mut writer = Writer::new(Vec::new(), name, options).expect("valid options");
    for cell in cells {
        writer.append(cell).expect("cells in order");
    }
    writer.finish().expect("in memory").0
}

/// Returns a put of family `f` as a line of the NDJSON cell format.
pub fn put_line(row: &str, qualifier: &str, time: u64, value: &str) -> String {
    let [row, qualifier, value] = [row, qualifier, value].map(|text| crate::hex(text.as_bytes()));
    format!(
        "{{\"row\":\"{row}\",\"family\":\"66\",\"qualifier\":\"{qualifier}\",\"ts\":{time},\
         \"type\":\"Put\",\"value\":\"{value}\",\"seq\":0}}\n"
    )
}

/// Returns all cells of a sound file.
///
/// # Panics
///
/// If it is damaged.
pub fn read_all(reader: &Reader) -> Vec<Cell> {
    scan_all(&mut reader.scanner(Caching::Bypass)).expect("a sound file")
}

/// Returns all cells that a scanner reads, from the first one.
///
/// # Errors
///
/// If the file is damaged.
pub fn scan_all(scanner: &mut Scanner) -> sstable::Result<Vec<Cell>> {
    scanner.seek_to_first()?;
    let mut cells = Vec::new();
    while let Some(cell) = scanner.cell() {
        cells.push(cell.to_cell());
        scanner.advance()?;
    }
    Ok(cells)
}

/// Returns all cells of a file that HBase can load: it gives them an age of its own.
///
/// # Panics
///
/// If the file is damaged, or not for a bulk load.
pub fn bulk_load_cells(path: &Path) -> Vec<Cell> {
    let reader = Reader::open_file(path, ReaderOptions::default()).expect("a sound file");
    assert!(!reader.file_info().includes_mvcc(), "{}", path.display());
    assert!(reader.file_info().value(b"BULKLOAD_TIMESTAMP").is_some(), "{}", path.display());
    read_all(&reader)
}

/// The shape of the cells of a file.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The maximum number of rows; some have only deletes.
    pub rows: usize,
    /// The maximum number of columns of a row.
    pub columns: usize,
    /// The maximum number of versions of a column.
    pub versions: usize,
    /// The maximum length of a value in bytes.
    pub value_len: usize,
    /// The maximum length of a row in bytes; short rows are prefixes of one another more often.
    pub row_len: usize,
    /// The percentage of rows and cells that are deletes.
    pub deletes: usize,
    /// The percentage of cells with tags.
    pub tags: usize,
    /// Whether cells have sequence ids; then some keys occur several times.
    pub sequence_ids: bool,
}

impl Default for Shape {
    fn default() -> Self {
        Self {
            rows: 60,
            columns: 4,
            versions: 3,
            value_len: 40,
            row_len: 12,
            deletes: 0,
            tags: 0,
            sequence_ids: true,
        }
    }
}

/// Returns cells of family `f` in order.
pub fn cells(seed: u64, shape: Shape) -> Vec<Cell> {
    let mut random = Random::new(seed);
    let mut cells = Vec::new();
    for _ in 0..shape.rows {
        let row = row(&mut random, shape.row_len);
        if random.below(100) < shape.deletes {
            let family_deletes = [CellType::DeleteFamily, CellType::DeleteFamilyVersion];
            let cell_type = family_deletes[random.below(2)];
            cells.extend(cell(&mut random, shape, &row, b"", cell_type));
        }
        for column in 0..=random.below(shape.columns) {
            let qualifier = format!("{}{column}", ["", "q", "qualifier"][random.below(3)]);
            for _ in 0..=random.below(shape.versions) {
                let cell_type = if random.below(100) < shape.deletes {
                    [CellType::Delete, CellType::DeleteColumn][random.below(2)]
                } else {
                    CellType::Put
                };
                cells.extend(cell(&mut random, shape, &row, qualifier.as_bytes(), cell_type));
            }
        }
    }
    cells.sort_by(|one, other| one.as_ref().compare(&other.as_ref()));
    // The order of two cells with the same key and sequence id is undefined.
    cells.dedup_by(|one, other| one.as_ref().compare(&other.as_ref()).is_eq());
    cells
}

/// Returns one cell, or two of the same key.
fn cell(
    random: &mut Random,
    shape: Shape,
    row: &[u8],
    qualifier: &[u8],
    cell_type: CellType,
) -> Vec<Cell> {
    let value_len = match cell_type {
        CellType::Put => random.below(shape.value_len + 1),
        _ => 0,
    };
    // Few words, so that values repeat and compress; some arbitrary bytes.
    let value: Vec<u8> = (0..value_len)
        .map(|at| if at % 9 == 8 { random.next_u64() as u8 } else { b"words "[at % 6] })
        .collect();
    let mut tags = Vec::new();
    if random.below(100) < shape.tags {
        for _ in 0..=random.below(3) {
            let data = format!("label-{}", random.below(300));
            tags.extend_from_slice(&(data.len() as u16 + 1).to_be_bytes());
            tags.push(65 + random.below(3) as u8);
            tags.extend_from_slice(data.as_bytes());
        }
    }
    // At the extremes, timestamp deltas overflow or grow by a byte.
    let extremes = [0, 1, 255, 256, i64::from(i32::MAX), i64::MAX - 1];
    let timestamp = match random.below(12) {
        at if at < extremes.len() => extremes[at],
        _ => 1_700_000_000_000 + random.below(1_000_000) as i64,
    };
    let sequence_id = if shape.sequence_ids { 1 + random.below(100_000) as u64 } else { 0 };
    let first = CellRef {
        row,
        family: b"f",
        qualifier,
        timestamp: Timestamp::new(timestamp),
        cell_type,
        value: &value,
        tags: &tags,
        sequence_id: SequenceId::new(sequence_id),
    };
    let mut made = vec![first.to_cell()];
    if shape.sequence_ids && random.below(8) == 0 {
        let later = CellRef { sequence_id: SequenceId::new(sequence_id + 7), tags: b"", ..first };
        made.push(later.to_cell());
    }
    made
}

/// Returns a row: text with a common prefix, or bytes that compare wrongly as signed.
fn row(random: &mut Random, len_max: usize) -> Vec<u8> {
    let len = 1 + random.below(len_max);
    if random.below(3) == 0 {
        (0..len).map(|_| [0, 1, 0x7f, 0x80, 0xff][random.below(5)]).collect()
    } else {
        let mut row = format!("user{:06}", random.below(100_000)).into_bytes();
        row.resize(len.max(6), b'k');
        row
    }
}
