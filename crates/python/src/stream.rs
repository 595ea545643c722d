//! The batches of a scan by Arrow's C stream interface, and what is known of a stream from outside.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use hbase_files::{MissingCells, TornLog, Warning};
use hfile_arrow::Batches;
use sstable::ReadTrace;

use crate::detached::guarded;
use crate::failure::Failure;

/// What a stream has read so far. The interface itself only has a text for an error.
#[derive(Clone, Debug, Default)]
pub(crate) struct Progress {
    /// Why the stream ended early.
    pub(crate) failure: Option<Failure>,
    /// What was left out.
    pub(crate) missing: Vec<MissingCells>,
    /// What the directories and logs leave in doubt.
    pub(crate) warnings: Vec<Warning>,
    /// The torn write-ahead logs.
    pub(crate) torn_logs: Vec<TornLog>,
    /// The blocks that were read.
    pub(crate) trace: ReadTrace,
    /// The values that are null because they are not of their type.
    pub(crate) bad_values: u64,
}

/// The progress of a stream that another library may be reading.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedProgress(Arc<Mutex<Progress>>);

impl SharedProgress {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Progress> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A reader of batches for the interface.
pub(crate) struct Stream {
    schema: SchemaRef,
    /// `None` after an error.
    batches: Option<Batches>,
    progress: SharedProgress,
}

impl Stream {
    pub(crate) fn new(batches: Batches, progress: SharedProgress) -> Self {
        let mut known = progress.lock();
        (known.torn_logs, known.warnings) = (batches.torn_logs(), batches.warnings());
        known.missing = batches.missing();
        drop(known);
        Self { schema: batches.schema(), batches: Some(batches), progress }
    }

    /// Returns the next batch.
    ///
    /// # Errors
    ///
    /// If it cannot be read; the stream has ended then.
    pub(crate) fn next_batch(&mut self) -> Result<Option<RecordBatch>, Failure> {
        let Some(mut batches) = self.batches.take() else { return Ok(None) };
        // After a panic the batches are gone, and not used again.
        let read = guarded(|| {
            let batch = batches.next().transpose()?;
            let mut progress = self.progress.lock();
            progress.missing = batches.missing();
            progress.trace = batches.trace();
            progress.bad_values = batches.bad_values();
            drop(progress);
            Ok::<_, hfile_arrow::Error>((batch, batches))
        });
        match read {
            Ok((batch, batches)) => {
                self.batches = Some(batches);
                Ok(batch)
            }
            Err(failure) => {
                self.progress.lock().failure = Some(failure.clone());
                Err(failure)
            }
        }
    }
}

impl Iterator for Stream {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        // Of Arrow's errors, this is the one that pyarrow raises as an `OSError`.
        let error = |failure: Failure| {
            let source = io::Error::other(failure.message.clone());
            ArrowError::IoError(failure.message, source)
        };
        self.next_batch().map_err(error).transpose()
    }
}

impl RecordBatchReader for Stream {
    fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }
}
