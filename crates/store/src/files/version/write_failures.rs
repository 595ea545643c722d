//! Failures to write files of a family: the error of the last flush, and the files that were written
//! without a filter since the store was opened.
//!
//! Two failures concern one family only, because its settings or its rows cause them: a flush that
//! cannot write the family's file, and a file that had to be written without its row filter.

use std::sync::Arc;

use cells::error_line;

use crate::error::{Error, Result};
use crate::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use crate::sync::{Mutex, lock};
use crate::telemetry::{report_filter_omission, report_flush_failure};

/// The failures of one family. Altering the family keeps them.
#[derive(Debug)]
pub(crate) struct WriteFailures {
    /// The bytes of the memstores from which on writes are refused; no limit without a failure.
    memstore_bytes_max: AtomicUsize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    flush: Option<Arc<str>>,
    filters_omitted: u64,
    filter_omission: Option<Arc<str>>,
}

impl Default for WriteFailures {
    fn default() -> Self {
        Self { memstore_bytes_max: AtomicUsize::new(usize::MAX), state: Mutex::default() }
    }
}

impl WriteFailures {
    /// Records that a flush failed. The memstores may grow up to `memstore_bytes_max`.
    pub(crate) fn flush_failed(&self, family: &str, error: &Error, memstore_bytes_max: usize) {
        let what = error_line(error);
        report_flush_failure(family, &what);
        lock(&self.state).flush = Some(what.into());
        self.memstore_bytes_max.store(memstore_bytes_max.min(usize::MAX - 1), Relaxed);
    }

    pub(crate) fn flush_succeeded(&self) {
        if self.has_failed_flush() {
            self.memstore_bytes_max.store(usize::MAX, Relaxed);
            lock(&self.state).flush = None;
        }
    }

    /// Returns whether the last flush of the family failed.
    pub(crate) fn has_failed_flush(&self) -> bool {
        self.memstore_bytes_max.load(Relaxed) != usize::MAX
    }

    /// Returns the error of the last flush of the family, if it failed.
    pub(crate) fn flush_failure(&self) -> Option<Arc<str>> {
        lock(&self.state).flush.clone()
    }

    /// Returns the error of the failed flush if the memstores, of `memstore_bytes`, are full.
    pub(super) fn refuse_if_full(&self, family: &str, memstore_bytes: usize) -> Result<()> {
        if memstore_bytes < self.memstore_bytes_max.load(Relaxed) {
            return Ok(());
        }
        self.check_flushed(family)
    }

    /// Returns the error of the last flush of the family.
    pub(super) fn check_flushed(&self, family: &str) -> Result<()> {
        match self.flush_failure() {
            Some(why) => Err(Error::FlushFailed { family: family.to_owned(), why }),
            None => Ok(()),
        }
    }

    /// Records that a file was written without its filter, and logs it.
    pub(crate) fn filter_omitted(&self, family: &str, what: &str) {
        let mut state = lock(&self.state);
        state.filters_omitted = state.filters_omitted.saturating_add(1);
        state.filter_omission = Some(what.into());
        drop(state);
        report_filter_omission(family, what);
    }

    /// Returns the number of files without their filter.
    pub(super) fn filters_omitted(&self) -> u64 {
        lock(&self.state).filters_omitted
    }

    /// Returns why the last of these files has no filter.
    pub(super) fn filter_omission(&self) -> Option<Arc<str>> {
        lock(&self.state).filter_omission.clone()
    }
}
