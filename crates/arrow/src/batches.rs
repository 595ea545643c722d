//! The stream of batches from a source of cells.

use std::fmt;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use hbase_files::{MissingCells, TornLog, Warning};
use sstable::ReadTrace;

use crate::batch_builder::BatchBuilder;
use crate::error::{Error, Result};
use crate::source::Source;

/// An iterator over record batches. After an error it ends.
///
/// [`BatchScan`](crate::BatchScan) makes it. For functions that take Arrow's own interface,
/// [`into_reader`](Self::into_reader) returns a [`RecordBatchReader`].
pub struct Batches {
    source: Source,
    builder: BatchBuilder,
    is_done: bool,
}

impl Batches {
    pub(crate) fn new(source: Source, builder: BatchBuilder) -> Self {
        Self { source, builder, is_done: false }
    }

    /// Returns the schema of the batches.
    pub fn schema(&self) -> SchemaRef {
        SchemaRef::clone(self.builder.schema())
    }

    /// Returns the counters of the reads so far: blocks and bytes by kind, files skipped.
    ///
    /// For a store they are zero; [`Store::stats`](store::Store::stats) has them.
    pub fn trace(&mut self) -> ReadTrace {
        self.source.trace()
    }

    /// Returns the number of values so far that are null because they are not of their column's type.
    ///
    /// Zero unless the scan has [`bad_values_as_null`](crate::BatchScan::bad_values_as_null).
    pub const fn bad_values(&self) -> u64 {
        self.builder.bad_values()
    }

    /// Returns what the scan has left out so far, because it is damaged or missing.
    ///
    /// Empty unless the scan of a table [skips](hbase_files::TableScan::skip_damaged) damage.
    pub fn missing(&self) -> Vec<MissingCells> {
        self.source.missing()
    }

    /// Returns what the directories and logs of a table leave in doubt.
    ///
    /// Empty for files and stores.
    pub fn warnings(&self) -> Vec<Warning> {
        self.source.warnings()
    }

    /// Returns the torn write-ahead logs. The scan reads their entries before the unfinished part.
    ///
    /// Empty unless the scan of a table reads [logs](hbase_files::TableScan::with_logs).
    pub fn torn_logs(&self) -> Vec<TornLog> {
        self.source.torn_logs()
    }

    /// Returns the same batches by Arrow's interface, with the errors as [`ArrowError`].
    pub fn into_reader(self) -> impl RecordBatchReader + Send {
        BatchReader(self)
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        while let Some(cell) = self.source.next_cell()? {
            if let Some(batch) = self.builder.append(&cell)? {
                return Ok(Some(batch));
            }
        }
        self.is_done = true;
        self.builder.flush()
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_done {
            return None;
        }
        let next = self.next_batch();
        self.is_done |= next.is_err();
        next.transpose()
    }
}

impl fmt::Debug for Batches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batches").field("schema", self.builder.schema()).finish_non_exhaustive()
    }
}

/// [`Batches`] by Arrow's interface.
struct BatchReader(Batches);

impl Iterator for BatchReader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|batch| batch.map_err(Error::into))
    }
}

impl RecordBatchReader for BatchReader {
    fn schema(&self) -> SchemaRef {
        self.0.schema()
    }
}
