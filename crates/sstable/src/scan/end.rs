//! Bounded scans: they end before a key, or after a number of cells.
//!
//! A scan that bypasses the cache compares the first key of a block with the index when the scan enters the
//! block, and the last key when the scan leaves the block. A bounded scan ends inside a block, so it compares the
//! key at which it ends. If a block held a cell of a later block, the scan would otherwise end at that cell,
//! and miss the cells of the blocks between without an error.

use std::sync::Arc;

use cells::KeyRef;

use super::position::ScanPosition;
use super::scanner::Scanner;
use super::stop::{ScanEnd, StopKey};
use crate::error::Result;

impl Scanner {
    /// Ends the scan before the key `stop`. Call it before the first seek.
    ///
    /// The scanner then has no cell at or after `stop`: seeks and steps in both directions stay before it. The
    /// last cells before `stop` are checked, too: see [`Caching::Bypass`](crate::Caching::Bypass). After a
    /// second call, the smaller key applies. Clears the position.
    ///
    /// ```
    /// use sstable::{Caching, KeyRef, Reader, ReaderOptions};
    ///
    /// # let path = "testdata/s01-default.hfile";
    /// let reader = Reader::open_file(path, ReaderOptions::default())?;
    /// let mut scanner = reader.scanner(Caching::Bypass).until(KeyRef::before_row(b"row9"));
    /// scanner.seek(KeyRef::before_row(b"row1"))?;
    /// while let Some(cell) = scanner.cell() {
    ///     assert!(cell.row < b"row9".as_slice());
    ///     scanner.advance()?;
    /// }
    /// # Ok::<(), sstable::Error>(())
    /// ```
    #[must_use]
    pub fn until(mut self, stop: KeyRef<'_>) -> Self {
        self.clear_position_state();
        (self.position, self.row_found) = (None, None);
        let order = self.file.blocks.layout.order;
        if self.stop().is_none_or(|known| order.compare(&stop, &known.key()).is_lt()) {
            self.end_mut().stop = Some(Arc::new(StopKey::new(stop)));
        }
        self
    }

    /// Ends the scan after `count` cells. Call it before the first seek.
    ///
    /// Counts the current cell, and each step of [`advance`](Self::advance). The cells up to the last one are checked
    /// as in [`until`](Self::until). Clears the position.
    #[must_use]
    pub fn limit(mut self, count: u64) -> Self {
        self.clear_position_state();
        (self.position, self.row_found) = (None, None);
        self.end_mut().cells_left = count;
        self
    }

    fn end_mut(&mut self) -> &mut ScanEnd {
        self.end.get_or_insert_with(|| Box::new(ScanEnd { stop: None, cells_left: u64::MAX }))
    }

    /// Returns the key at which the scan ends.
    pub(super) fn stop(&self) -> Option<Arc<StopKey>> {
        self.end.as_ref()?.stop.clone()
    }

    /// Returns whether the scan ends at or before `key`.
    pub(super) fn ends_by(&self, key: &KeyRef<'_>) -> bool {
        let stop = self.end.as_ref().and_then(|end| end.stop.as_ref());
        stop.is_some_and(|stop| self.file.blocks.layout.order.compare(&stop.key(), key).is_le())
    }

    /// Moves to the next cell, unless the scan ends before it.
    pub(super) fn advance_to_end(&mut self) -> Result<()> {
        if let (Some(end), Some(_)) = (&mut self.end, &self.position) {
            end.cells_left = end.cells_left.saturating_sub(1);
            if end.cells_left == 0 {
                return self.end_scan();
            }
        }
        self.advance_in_file()?;
        self.end_at_stop()
    }

    /// Ends the scan if the current cell is not before its end.
    pub(super) fn end_at_stop(&mut self) -> Result<()> {
        let (Some(end), Some(position)) = (&self.end, &self.position) else { return Ok(()) };
        let order = self.file.blocks.layout.order;
        let is_before_stop = end.stop.as_ref().is_none_or(|stop| stop.is_after(position, order));
        if is_before_stop && end.cells_left > 0 { Ok(()) } else { self.end_scan() }
    }

    /// Clears the position, and checks that the key of the current cell does not exceed the next index key.
    ///
    /// The cells before the current one have smaller keys, so the check covers them.
    ///
    /// # Errors
    ///
    /// If the key is greater than the index allows, or if the index cannot be read.
    pub(crate) fn end_scan(&mut self) -> Result<()> {
        let Some(position) = self.position.take() else { return Ok(()) };
        self.forget_steps();
        // A decoded block that came by way of the cache was checked when it was loaded.
        let has_cache = self.file.blocks.cache_for(self.caching).is_some();
        if has_cache && matches!(position, ScanPosition::Decoded { .. }) {
            return Ok(());
        }
        let block = position.block();
        let cursor = self.take_index_cursor(block)?;
        self.file.check_upper_bound(block.origin(), &position.cell().key(), &cursor)
    }
}
