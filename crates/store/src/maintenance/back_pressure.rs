//! Back pressure: writers wait, for a bounded time, while flushes do not keep up.
//!
//! The flush size is a limit for the memstores of all families together.
//!
//! ```text
//! active memstores   below the flush size     writes proceed
//!                    at the flush size        after its write, a writer requests a flush from the
//!                                             flush thread, or flushes if there is no thread
//! log segments       over 32                  the same; an open flushes if it finds 32
//! all memstores      over 4 × the flush size  with a flush thread, writers wait for a flush;
//!                                             a write fails when its wait exceeds a timeout
//! ```
//!
//! The memstores of a family that cannot be flushed do not count. Writes to that family fail once its
//! own memstores have the flush size.
//!
//! Each family has one active memstore, which accepts writes. "All" includes the flushing ones,
//! which are full and wait until they are written to a file.

use std::time::Instant;

use super::background::Maintenance;
use crate::error::{Error, Result};
use crate::files::catalog::Catalog;
use crate::options::Durability;
use crate::telemetry::{Work, WorkSpan};
use crate::write::log::Log;

/// Writers wait once the memstores exceed the flush size by this factor.
const STALL_FACTOR: usize = 4;

/// Maximum number of log segments without a flush, as in HBase (`hbase.regionserver.maxlogs`).
const LOG_SEGMENTS_MAX: u64 = 32;

impl Maintenance {
    /// Waits while the memstores exceed `STALL_FACTOR` times the flush size.
    ///
    /// Before it waits, `check` can refuse the write. Returns `Error::Busy` if the memstores still
    /// exceed that size after the option `stall_max`.
    pub(crate) fn wait_for_room(
        &self,
        catalog: &Catalog,
        log: &Log,
        check: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let max = self.options.memstore_flush_bytes.saturating_mul(STALL_FACTOR);
        if catalog.version().memstore_bytes() <= max {
            return Ok(());
        }
        check()?;
        if !self.thread_runs() {
            return ignore_failed_family(self.flush(catalog, log)); // Earlier ones lacked space.
        }
        let (_watch, start) = (WorkSpan::begin(Work::Stall), Instant::now());
        let result = loop {
            // The count is read before the size: if a flush ends between the two reads, the wait
            // below returns immediately.
            let before = self.tasks.flushes();
            let bytes = catalog.version().memstore_bytes();
            if bytes <= max {
                break Ok(());
            }
            let Some(left) = self.options.stall_max.checked_sub(start.elapsed()) else {
                let seconds = start.elapsed().as_secs_f64();
                break Err(Error::Busy { bytes, seconds });
            };
            if let Err(error) = self.health.check_writable() {
                break Err(error);
            }
            self.tasks.want_flush();
            self.tasks.wait_for_flush(before, left);
        };
        self.count(|counts| {
            counts.write_stalls += 1;
            counts.write_stall_time += start.elapsed();
        });
        result
    }

    /// Requests the work that a finished write leads to; every write calls this.
    ///
    /// An `Async` write needs a delayed write of the log. Full active
    /// memstores need a flush, which this call runs itself if the store has no threads.
    pub(crate) fn after_write(
        &self,
        catalog: &Catalog,
        log: &Log,
        durability: Durability,
    ) -> Result<()> {
        if durability == Durability::Async {
            self.tasks.want_log();
        }
        let is_full = catalog.version().active_bytes() >= self.options.memstore_flush_bytes;
        if !is_full && !has_long_log(catalog) {
            return Ok(());
        }
        if self.thread_runs() {
            let is_flushing = self.flush_turn.try_lock().is_err();
            self.tasks.want_flush();
            return if is_flushing {
                ignore_repeated(self.rotate_full_memstores(catalog, log))
            } else {
                Ok(())
            };
        }
        ignore_repeated(self.flush_and_compact(catalog, log))
    }

    /// Flushes if an open finds the maximum number of log segments: its first write adds another.
    ///
    /// The open also merges small files: a program that opens, puts and closes in a loop would end
    /// before the background thread begins to.
    pub(crate) fn shorten_log(&self, catalog: &Catalog, log: &Log) -> Result<()> {
        if catalog.log_segments() < LOG_SEGMENTS_MAX {
            return Ok(());
        }
        let flushed = self.flush(catalog, log);
        if flushed.is_ok() && self.options.auto_compaction {
            // A failure is counted, and no reason not to open the store.
            let _ = self.compact_small_files(catalog);
            self.tasks.want_compaction(); // Of larger files.
        }
        ignore_repeated(flushed)
    }

    /// Flushes, or requests a flush, after a family was altered.
    ///
    /// If its last flush failed, the family may refuse writes, and no write would begin the next one.
    pub(crate) fn family_altered(&self, catalog: &Catalog, log: &Log) -> Result<()> {
        if self.thread_runs() {
            self.tasks.want_flush();
        } else if catalog.version().has_failed_flush() {
            return ignore_repeated(self.flush(catalog, log));
        }
        Ok(())
    }

    fn flush_and_compact(&self, catalog: &Catalog, log: &Log) -> Result<()> {
        let flushed = self.flush(catalog, log);
        if flushed.as_ref().is_err_and(|error| !matches!(error, Error::FlushFailed { .. })) {
            return flushed;
        }
        if self.options.auto_compaction {
            self.compact_as_needed(catalog)?;
        }
        flushed
    }

    /// Returns whether the active memstores are full, flushing memstores are not written yet, or
    /// the log has many segments.
    pub(super) fn wants_flush(&self, catalog: &Catalog) -> bool {
        let version = catalog.version();
        has_long_log(catalog)
            || version.active_bytes() >= self.options.memstore_flush_bytes
            || version.families.iter().any(|family| !family.flushing.is_empty())
    }

    const fn thread_runs(&self) -> bool {
        self.options.background
    }
}

/// Returns whether the log exceeds its maximum number of segments, and a flush can shorten it.
///
/// While a family cannot be flushed, no flush can.
fn has_long_log(catalog: &Catalog) -> bool {
    catalog.log_segments() > LOG_SEGMENTS_MAX && !catalog.version().has_failed_flush()
}

/// Drops the error of a flush that will be repeated, because the caller's write or open is done.
///
/// The flush lacked space or descriptors, or failed for one family, which `Stats` names. If the
/// memstores grow too large meanwhile, writes fail.
fn ignore_repeated(result: Result<()>) -> Result<()> {
    ignore_failed_family(result)
        .or_else(|error| if error.is_shortage() { Ok(()) } else { Err(error) })
}

/// Drops the error of one family's flush, which concerns only the writes to that family.
fn ignore_failed_family(result: Result<()>) -> Result<()> {
    if matches!(result, Err(Error::FlushFailed { .. })) { Ok(()) } else { result }
}
