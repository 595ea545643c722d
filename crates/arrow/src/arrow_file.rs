//! Writes batches as a file in Arrow's IPC format ("Feather V2").

use std::io::Write;

use arrow_array::RecordBatch;
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, Schema};
use sstable::FileName;

use crate::counting_sink::CountingSink;
use crate::error::{Error, Result};

/// A file of record batches in Arrow's IPC format, uncompressed.
///
/// ```
/// use hfile_arrow::{ArrowFile, BatchScan};
/// use sstable::{FileName, Reader, ReaderOptions};
///
/// # let path = "testdata/s01-default.hfile";
/// let batches = BatchScan::cells().hfile(&Reader::open_file(path, ReaderOptions::default())?)?;
/// let mut file = ArrowFile::new(Vec::new(), FileName::new("cells.arrow"), &batches.schema())?;
/// for batch in batches {
///     file.write(&batch?)?;
/// }
/// let bytes = file.finish()?;
/// assert!(bytes.starts_with(b"ARROW1"));
/// # Ok::<(), hfile_arrow::Error>(())
/// ```
pub struct ArrowFile<W: Write> {
    name: FileName,
    writer: FileWriter<CountingSink<W>>,
}

impl<W: Write> ArrowFile<W> {
    /// Begins a file. Errors call it `name`.
    ///
    /// # Errors
    ///
    /// If the sink fails.
    pub fn new(sink: W, name: FileName, schema: &Schema) -> Result<Self> {
        match FileWriter::try_new(CountingSink::new(sink), schema) {
            Ok(writer) => Ok(Self { name, writer }),
            Err(source) => Err(Error::Arrow { file: name, source }),
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

    /// Returns the bytes that were written.
    pub fn bytes_written(&self) -> u64 {
        self.writer.get_ref().written()
    }

    /// Writes the end of the file, and returns the sink. The sink is not flushed.
    ///
    /// # Errors
    ///
    /// If the sink fails.
    pub fn finish(mut self) -> Result<W> {
        self.writer.finish().map_err(|source| self.failed(source))?;
        match self.writer.into_inner() {
            Ok(sink) => Ok(sink.into_inner()),
            Err(source) => Err(Error::Arrow { file: self.name, source }),
        }
    }

    fn failed(&self, source: ArrowError) -> Error {
        Error::Arrow { file: self.name.clone(), source }
    }
}
