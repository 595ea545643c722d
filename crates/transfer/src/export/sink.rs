//! One file of an export: cells in, bytes of a format out.

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sstable::{CellRef, FileName, SequenceId, Writer, WriterOptions};

use super::form::ExportForm;
#[cfg(feature = "parquet")]
use super::form::ExportFormat;
use crate::cells_output::{CellsOutput, OutputFormat};
#[cfg(feature = "parquet")]
use crate::error::Error;
use crate::error::{Doing, Result};
use crate::temporary::OutputFile;

/// The bytes of a file, which appears at its path when it is finished.
type FileSink = Counted<BufWriter<OutputFile>>;

/// A file that is being written.
pub(super) enum Sink {
    /// CSV, or lines of JSON.
    Text(CellsOutput<FileSink>),
    /// An HFile without sequence ids: HBase's bulk load assigns them.
    HFile(Box<Writer<FileSink>>),
    /// Record batches.
    #[cfg(feature = "parquet")]
    Batches(Box<BatchSink>),
}

/// A file of record batches.
#[cfg(feature = "parquet")]
pub(super) struct BatchSink {
    builder: hfile_arrow::BatchBuilder,
    file: BatchFile,
}

#[cfg(feature = "parquet")]
enum BatchFile {
    Parquet(hfile_arrow::ParquetFile<FileSink>),
    Arrow(hfile_arrow::ArrowFile<FileSink>),
}

/// The number of bytes that went to a sink.
#[derive(Clone, Debug, Default)]
pub(super) struct ByteCount(Arc<AtomicU64>);

impl ByteCount {
    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Counts the bytes that go to a sink.
pub(super) struct Counted<W> {
    sink: W,
    count: ByteCount,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = self.sink.write(bytes)?;
        self.count.0.fetch_add(len as u64, Ordering::Relaxed);
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

/// Creates the file at `path`, and returns the counter of its bytes.
fn create(path: &Path) -> Result<(FileSink, ByteCount)> {
    let count = ByteCount::default();
    let sink = BufWriter::with_capacity(256 << 10, OutputFile::create(path, false)?);
    Ok((Counted { sink, count: count.clone() }, count))
}

impl Sink {
    /// Checks that files of this form can be written.
    #[cfg(feature = "parquet")]
    pub(super) fn check(form: &ExportForm) -> Result<()> {
        if form.format.has_batches() {
            batch_scan(form).builder().map_err(usage)?;
        }
        Ok(())
    }

    /// Checks that files of this form can be written: text and HFiles always can.
    #[cfg(not(feature = "parquet"))]
    #[expect(clippy::unnecessary_wraps, reason = "a build with Parquet returns errors")]
    pub(super) fn check(_form: &ExportForm) -> Result<()> {
        Ok(())
    }

    /// Begins a file of text.
    pub(super) fn text(path: &Path, format: OutputFormat) -> Result<(Self, ByteCount)> {
        let (sink, count) = create(path)?;
        let output = CellsOutput::new(sink, format).doing("write", path)?;
        Ok((Self::Text(output), count))
    }

    /// Begins an HFile.
    pub(super) fn hfile(path: &Path, options: WriterOptions) -> Result<(Self, ByteCount)> {
        let (sink, count) = create(path)?;
        let writer = Writer::new(sink, name(path), options)?;
        Ok((Self::HFile(Box::new(writer)), count))
    }

    /// Begins a file of record batches.
    #[cfg(feature = "parquet")]
    pub(super) fn batches(path: &Path, form: &ExportForm) -> Result<(Self, ByteCount)> {
        let (sink, count) = create(path)?;
        let builder = batch_scan(form).builder().map_err(usage)?;
        let file = if form.format == ExportFormat::Arrow {
            let file = hfile_arrow::ArrowFile::new(sink, name(path), builder.schema())?;
            BatchFile::Arrow(file)
        } else {
            let (schema, compression) =
                (Arc::clone(builder.schema()), hfile_arrow::ParquetCompression::Snappy);
            let file = hfile_arrow::ParquetFile::new(sink, name(path), schema, compression)?;
            BatchFile::Parquet(file)
        };
        Ok((Self::Batches(Box::new(BatchSink { builder, file })), count))
    }

    /// Appends a cell.
    pub(super) fn append(&mut self, cell: &CellRef<'_>, path: &Path) -> Result<()> {
        match self {
            Self::Text(output) => output.write(cell).doing("write", path),
            Self::HFile(writer) => {
                Ok(writer.append(CellRef { sequence_id: SequenceId::default(), ..*cell })?)
            }
            #[cfg(feature = "parquet")]
            Self::Batches(batches) => batches.append(cell),
        }
    }

    /// Returns an estimate of the bytes of the file so far; `written` went to the sink.
    pub(super) fn bytes(&self, written: u64) -> u64 {
        match self {
            Self::Text(_) | Self::HFile(_) => written,
            #[cfg(feature = "parquet")]
            Self::Batches(batches) => batches.bytes(),
        }
    }

    /// Completes the file, which then appears at its path.
    pub(super) fn finish(self, path: &Path) -> Result<()> {
        let sink = match self {
            Self::Text(output) => output.into_inner(),
            Self::HFile(writer) => writer.finish()?.0,
            #[cfg(feature = "parquet")]
            Self::Batches(batches) => batches.finish()?,
        };
        let file = sink.sink.into_inner().map_err(io::IntoInnerError::into_error);
        file.doing("write", path)?.finish()
    }
}

#[cfg(feature = "parquet")]
impl BatchSink {
    fn append(&mut self, cell: &CellRef<'_>) -> Result<()> {
        match self.builder.append(cell).map_err(usage)? {
            Some(batch) => self.write(&batch),
            None => Ok(()),
        }
    }

    fn write(&mut self, batch: &hfile_arrow::RecordBatch) -> Result<()> {
        match &mut self.file {
            BatchFile::Parquet(file) => file.write(batch)?,
            BatchFile::Arrow(file) => file.write(batch)?,
        }
        Ok(())
    }

    fn bytes(&self) -> u64 {
        let written = match &self.file {
            BatchFile::Parquet(file) => file.bytes_written(),
            BatchFile::Arrow(file) => file.bytes_written(),
        };
        written + self.builder.pending_bytes() as u64
    }

    fn finish(mut self) -> Result<FileSink> {
        if let Some(batch) = self.builder.flush()? {
            self.write(&batch)?;
        }
        Ok(match self.file {
            BatchFile::Parquet(file) => file.finish()?,
            BatchFile::Arrow(file) => file.finish()?,
        })
    }
}

/// Returns the scan whose batches have the columns of the form.
#[cfg(feature = "parquet")]
fn batch_scan(form: &ExportForm) -> hfile_arrow::BatchScan {
    let scan = match &form.pivot {
        None => hfile_arrow::BatchScan::cells(),
        Some(columns) => {
            let wanted = columns.iter().map(|column| {
                hfile_arrow::PivotColumn::new(&column.family, &column.qualifier)
                    .value_type(column.value_type)
            });
            hfile_arrow::BatchScan::pivot(wanted).times(form.times)
        }
    };
    scan.row_type(form.row_type)
}

/// Returns the failure of a cell that does not fit in the columns: the options must change.
#[cfg(feature = "parquet")]
fn usage(error: hfile_arrow::Error) -> Error {
    match error {
        hfile_arrow::Error::Value { .. } | hfile_arrow::Error::Invalid(_) => {
            Error::other(error.to_string())
        }
        error => error.into(),
    }
}

fn name(path: &Path) -> FileName {
    FileName::new(path.display().to_string())
}
