//! Rows that divide the cells of store files into equal parts, by the indexes of the files.

use sstable::{Comparator, ReadTrace};

use super::store_file_reader::StoreFileReader;
use crate::error::Result;

/// The samples of a file for each part: the more, the more equal are the parts.
const SAMPLES_PER_PART: u64 = 32;

/// Returns at most `parts` − 1 rows that divide the cells of files into parts of about the same size.
///
/// The rows ascend; each begins a part. Candidates are the first rows of data blocks and the last rows of files, so
/// that there may be fewer. Reads the indexes of the files, and no data block.
///
/// ```
/// use std::sync::Arc;
///
/// use bytes::Bytes;
/// use hbase_files::{StoreFileReader, split_rows};
/// use sstable::{CellRef, FileName, Reader, ReaderOptions, Timestamp, Writer, WriterOptions};
///
/// let options = WriterOptions::default().block_size(1024);
/// let mut writer = Writer::new(Vec::new(), FileName::new("f"), options)?;
/// for row in 0..10_000 {
///     let row = format!("row{row:04}");
///     writer.append(CellRef::put(row.as_bytes(), b"f", b"q", Timestamp::new(1), b"value"))?;
/// }
/// let (bytes, _) = writer.finish()?;
/// let source = Arc::new(Bytes::from(bytes));
/// let reader = Reader::open(source, FileName::new("f"), ReaderOptions::default())?;
///
/// let rows = split_rows([Ok(StoreFileReader::new(reader, None))], 4)?;
/// let rows: Vec<_> = rows.iter().map(|row| String::from_utf8_lossy(row)).collect();
/// assert!(rows[1].starts_with("row5") || rows[1].starts_with("row49"), "{rows:?}");
/// assert_eq!(rows.len(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If an index cannot be read.
pub fn split_rows(
    files: impl IntoIterator<Item = Result<StoreFileReader>>,
    parts: usize,
) -> Result<Vec<Vec<u8>>> {
    let count = u64::try_from(parts.max(1)).unwrap_or(u64::MAX);
    let samples_of_file = count.saturating_mul(SAMPLES_PER_PART);
    let mut samples: Vec<Sample> = Vec::new();
    for opened in files {
        let file = opened?;
        let whole = file.whole();
        let len = whole.len().checked_div(samples_of_file).unwrap_or(0).max(1);
        let mut rows = whole.index().cuts(len, &mut ReadTrace::default())?;
        rows.extend(whole.last_row().map(<[u8]>::to_vec));
        let row_count = u64::try_from(rows.len()).unwrap_or(u64::MAX);
        let bytes = whole.len().checked_div(row_count).unwrap_or(0);
        samples.extend(
            rows.into_iter().filter(|row| file.holds_row(row)).map(|row| Sample { row, bytes }),
        );
    }
    samples.sort_by(|one, other| Comparator::Bytes.compare_rows(&one.row, &other.row));
    let total: u128 = samples.iter().map(|sample| u128::from(sample.bytes)).sum();
    let share = total.checked_div(u128::from(count)).unwrap_or(0);
    let mut rows: Vec<Vec<u8>> = Vec::new();
    let (mut before, mut due) = (0_u128, share);
    for Sample { row, bytes } in samples {
        before = before.saturating_add(u128::from(bytes));
        let is_wanted = rows.len() < parts.saturating_sub(1) && rows.last() != Some(&row);
        if before >= due && is_wanted {
            rows.push(row);
            due = due.saturating_add(share);
        }
    }
    Ok(rows)
}

/// A row, and the bytes of a file between the sample before and the row.
struct Sample {
    row: Vec<u8>,
    bytes: u64,
}
