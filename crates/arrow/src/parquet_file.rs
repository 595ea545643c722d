//! Writes batches as a Parquet file.

use std::io::Write;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;
use sstable::FileName;

use crate::columns::CellColumn;
use crate::error::{Error, Result};

/// The compression of a Parquet file's pages.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum ParquetCompression {
    /// None.
    None,
    /// Snappy, which every reader has.
    #[default]
    Snappy,
}

/// A Parquet file of record batches.
///
/// Families, qualifiers and types are stored by dictionary, row keys by the difference to the row
/// before, values plain. A row group has at most 64 MiB, which bounds the memory.
///
/// ```
/// use hfile_arrow::{BatchScan, ParquetCompression, ParquetFile};
/// use sstable::{FileName, Reader, ReaderOptions};
///
/// # let path = "testdata/s01-default.hfile";
/// let batches = BatchScan::cells().hfile(&Reader::open_file(path, ReaderOptions::default())?)?;
/// let (name, compression) = (FileName::new("cells.parquet"), ParquetCompression::Snappy);
/// let mut file = ParquetFile::new(Vec::new(), name, batches.schema(), compression)?;
/// for batch in batches {
///     file.write(&batch?)?;
/// }
/// let bytes = file.finish()?;
/// assert!(bytes.starts_with(b"PAR1"));
/// # Ok::<(), hfile_arrow::Error>(())
/// ```
pub struct ParquetFile<W: Write + Send> {
    name: FileName,
    writer: ArrowWriter<W>,
}

impl<W: Write + Send> ParquetFile<W> {
    /// Begins a file. Errors call it `name`.
    ///
    /// # Errors
    ///
    /// If the sink fails.
    pub fn new(
        sink: W,
        name: FileName,
        schema: SchemaRef,
        compression: ParquetCompression,
    ) -> Result<Self> {
        let properties = properties(&schema, compression);
        match ArrowWriter::try_new(sink, schema, Some(properties)) {
            Ok(writer) => Ok(Self { name, writer }),
            Err(source) => Err(Error::Parquet { file: name, source }),
        }
    }

    /// Writes a batch.
    ///
    /// # Errors
    ///
    /// If the sink fails, or the batch has another schema.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.writer.write(batch).map_err(|source| self.failed(source))
    }

    /// Returns the bytes that were written, and an estimate for the row group that was begun.
    pub fn bytes_written(&self) -> u64 {
        (self.writer.bytes_written() + self.writer.in_progress_size()) as u64
    }

    /// Writes the end of the file, and returns the sink. The sink is not flushed.
    ///
    /// # Errors
    ///
    /// If the sink fails.
    pub fn finish(self) -> Result<W> {
        let name = self.name;
        self.writer.into_inner().map_err(|source| Error::Parquet { file: name, source })
    }

    fn failed(&self, source: ParquetError) -> Error {
        Error::Parquet { file: self.name.clone(), source }
    }
}

fn properties(schema: &Schema, compression: ParquetCompression) -> WriterProperties {
    let mut properties = WriterProperties::builder()
        .set_compression(match compression {
            ParquetCompression::None => Compression::UNCOMPRESSED,
            ParquetCompression::Snappy => Compression::SNAPPY,
        })
        .set_created_by(concat!("hfile ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_max_row_group_bytes(Some(64 << 20));
    let is_cells =
        schema.fields().iter().all(|field| CellColumn::from_name(field.name()).is_some());
    for field in schema.fields() {
        let column = ColumnPath::from(vec![field.name().clone()]);
        let part = CellColumn::from_name(field.name()).filter(|_| is_cells);
        match (part, field.data_type()) {
            (Some(CellColumn::Value), _) => {
                properties = properties.set_column_dictionary_enabled(column, false);
            }
            // Rows ascend, so that neighbours share a prefix.
            (Some(CellColumn::Row), DataType::Binary | DataType::Utf8) => {
                properties = properties
                    .set_column_dictionary_enabled(column.clone(), false)
                    .set_column_encoding(column, Encoding::DELTA_BYTE_ARRAY);
            }
            (Some(CellColumn::Timestamp | CellColumn::SequenceId), _) => {
                properties = properties
                    .set_column_dictionary_enabled(column.clone(), false)
                    .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED);
            }
            _ => {}
        }
    }
    properties.build()
}
