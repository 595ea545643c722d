//! Reads Parquet files as record batches.

use std::fmt;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatchReader;
use arrow_schema::SchemaRef;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
};
use parquet::arrow::{ProjectionMask, parquet_to_arrow_field_levels};
use parquet::basic::Compression;
use parquet::file::metadata::RowGroupMetaData;
use sstable::FileName;

use crate::error::{Error, Result};
use crate::parquet_chunks::Chunks;
use crate::parquet_times::with_times_of_int96;

/// The maximum number of rows of a batch.
const BATCH_ROWS_MAX: i64 = 4096;
/// The approximate bytes of a batch whose rows are so large that it has fewer than [`BATCH_ROWS_MAX`].
const BATCH_BYTES: i64 = 16 << 20;

/// An open Parquet file, uncompressed or compressed with SNAPPY, GZIP, LZ4 or ZSTD.
///
/// ```
/// use hfile_arrow::{BatchScan, ParquetCompression, ParquetFile, ParquetInput};
/// use sstable::{CellRef, FileName, Timestamp};
///
/// # let directory = tempfile::tempdir().expect("a directory");
/// # let path = directory.path().join("cells.parquet");
/// let mut builder = BatchScan::cells().builder()?;
/// builder.append(&CellRef::put(b"row1", b"f", b"q", Timestamp::new(1), b"v"))?;
/// # let sink = std::fs::File::create(&path).expect("a file");
/// let name = FileName::new("cells.parquet");
/// let mut file = ParquetFile::new(sink, name, builder.schema().clone(), ParquetCompression::Snappy)?;
/// file.write(&builder.flush()?.expect("a cell"))?;
/// file.finish()?;
///
/// let input = ParquetInput::open(&path)?;
/// assert_eq!((input.row_count(), input.schema().fields().len()), (1, 8));
/// for batch in input.batches(|name| name == "row" || name == "value")? {
///     assert_eq!(batch.expect("a sound file").num_columns(), 2);
/// }
/// # Ok::<(), hfile_arrow::Error>(())
/// ```
pub struct ParquetInput {
    name: FileName,
    metadata: ArrowReaderMetadata,
    chunks: Chunks,
}

impl ParquetInput {
    /// Opens a file and reads its schema.
    ///
    /// # Errors
    ///
    /// If it cannot be read, is not a Parquet file, or has a compression that this build cannot read.
    pub fn open(path: &Path) -> Result<Self> {
        let name = FileName::new(path.display().to_string());
        let file = File::open(path).map_err(|source| {
            let action = "open".into();
            sstable::Error::Io { file: name.clone(), action, source }
        })?;
        let damaged = |source| Error::ReadParquet { file: name.clone(), source };
        let as_stored =
            ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).map_err(damaged)?;
        let groups = as_stored.metadata().row_groups();
        let rows = groups.iter().map(RowGroupMetaData::num_rows);
        let stated = as_stored.metadata().file_metadata().num_rows();
        if rows.clone().any(|rows| rows < 0) || rows.sum::<i64>() != stated {
            return Err(Error::Invalid(format!(
                "{name}: damaged: it states {stated} rows, but its row groups have another number"
            )));
        }
        for chunk in groups.iter().flat_map(RowGroupMetaData::columns) {
            check_compression(&name, chunk.compression())?;
        }
        let chunks = Chunks::new(file, Arc::clone(as_stored.metadata()));
        let metadata = with_times_of_int96(as_stored, &chunks).map_err(damaged)?;
        Ok(Self { name, metadata, chunks })
    }

    /// Returns the schema of all columns.
    pub fn schema(&self) -> &SchemaRef {
        self.metadata.schema()
    }

    /// Returns the number of rows.
    pub fn row_count(&self) -> u64 {
        u64::try_from(self.metadata.metadata().file_metadata().num_rows()).unwrap_or(0)
    }

    /// Returns the batches, with the columns whose names are `wanted`.
    ///
    /// # Errors
    ///
    /// If the file contradicts its schema. Reading fails at damaged pages.
    pub fn batches(
        self,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<Box<dyn RecordBatchReader + Send>> {
        let fields = self.schema().fields().iter().enumerate();
        let roots: Vec<_> =
            fields.filter(|(_, field)| wanted(field.name())).map(|(index, _)| index).collect();
        let parquet_schema = self.metadata.parquet_schema();
        let columns = ProjectionMask::roots(parquet_schema, roots);
        let groups = self.metadata.metadata().row_groups().iter();
        let rows = groups.map(|group| batch_rows(group, &columns)).min().unwrap_or(1);
        let all_fields = Some(self.schema().fields());
        let reader =
            parquet_to_arrow_field_levels(parquet_schema, columns, all_fields).and_then(|levels| {
                ParquetRecordBatchReader::try_new_with_row_groups(&levels, &self.chunks, rows, None)
            });
        Ok(Box::new(reader.map_err(|source| Error::ReadParquet { file: self.name, source })?))
    }
}

impl fmt::Debug for ParquetInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParquetInput").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Returns how many rows of a row group have about the bytes of a batch, on average.
fn batch_rows(group: &RowGroupMetaData, columns: &ProjectionMask) -> usize {
    let mut bytes = 0_i64;
    for (index, chunk) in group.columns().iter().enumerate() {
        if columns.leaf_included(index) {
            // A dictionary has each value once. Only newer writers state the size of all values.
            let values = chunk.unencoded_byte_array_data_bytes().unwrap_or(0);
            bytes = bytes.saturating_add(chunk.uncompressed_size().max(values));
        }
    }
    let width = (bytes / group.num_rows().max(1)).max(1);
    let rows = (BATCH_BYTES / width).clamp(1, BATCH_ROWS_MAX);
    usize::try_from(rows).expect("at most BATCH_ROWS_MAX")
}

fn check_compression(file: &FileName, found: Compression) -> Result<()> {
    let is_known = matches!(
        found,
        Compression::UNCOMPRESSED
            | Compression::SNAPPY
            | Compression::GZIP(_)
            | Compression::LZ4
            | Compression::LZ4_RAW
            | Compression::ZSTD(_)
    );
    if is_known {
        return Ok(());
    }
    let with_level = format!("{found:?}");
    let name = with_level.split('(').next().unwrap_or_default();
    Err(Error::Invalid(format!(
        "{file}: compressed with {name}, which this build cannot read; write the file with SNAPPY or ZSTD"
    )))
}

#[cfg(test)]
mod tests {
    use sstable::{CellRef, Timestamp};

    use super::*;
    use crate::batch_scan::BatchScan;
    use crate::parquet_file::{ParquetCompression, ParquetFile};

    /// Else a batch would have 4,096 values of any size, in memory and in an array of at most 2 GiB.
    #[test]
    fn batches_of_wide_rows_have_fewer_rows() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("cells.parquet");
        let mut builder = BatchScan::cells().bytes_max(1 << 30).builder().unwrap();
        for row in 0..100_u8 {
            let value = vec![row; 1 << 20];
            builder.append(&CellRef::put(&[row], b"f", b"q", Timestamp::new(1), &value)).unwrap();
        }
        let (sink, name) = (File::create(&path).unwrap(), FileName::new("cells"));
        let schema = builder.schema().clone();
        let mut file = ParquetFile::new(sink, name, schema, ParquetCompression::Snappy).unwrap();
        file.write(&builder.flush().unwrap().unwrap()).unwrap();
        file.finish().unwrap();
        let rows_of = |wanted: &'static str| {
            let batches = ParquetInput::open(&path).unwrap().batches(|name| name == wanted);
            let rows = batches.unwrap().map(|batch| batch.unwrap().num_rows());
            rows.collect::<Vec<_>>()
        };
        let rows = rows_of("value");
        assert!(rows.iter().all(|rows| (1..=16).contains(rows)), "{rows:?}");
        assert_eq!((rows.iter().sum::<usize>(), rows_of("row")), (100, vec![100]));
    }

    /// Else a file whose footer states no rows would be read as an empty one.
    #[test]
    fn a_file_that_states_fewer_rows_than_it_has_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("cells.parquet");
        let mut builder = BatchScan::cells().builder().unwrap();
        for row in [b"row1", b"row2", b"row3"] {
            builder.append(&CellRef::put(row, b"f", b"q", Timestamp::new(1), b"v")).unwrap();
        }
        let (sink, name) = (File::create(&path).unwrap(), FileName::new("cells"));
        let schema = builder.schema().clone();
        let mut file = ParquetFile::new(sink, name, schema, ParquetCompression::Snappy).unwrap();
        file.write(&builder.flush().unwrap().unwrap()).unwrap();
        file.finish().unwrap();
        assert_eq!(ParquetInput::open(&path).unwrap().row_count(), 3);

        let mut bytes = std::fs::read(&path).unwrap();
        let len: [u8; 4] = bytes[bytes.len() - 8..][..4].try_into().unwrap();
        let footer = bytes.len() - 8 - u32::from_le_bytes(len) as usize;
        // The field of the number of rows: type i64 and the next id, then 3 as a zigzag number.
        let found = bytes[footer..].windows(2).position(|pair| pair == [0x16, 6]).unwrap();
        bytes[footer + found + 1] = 0;
        std::fs::write(&path, bytes).unwrap();
        let error = ParquetInput::open(&path).unwrap_err().to_string();
        assert!(error.contains("states 0 rows"), "{error}");
    }
}
