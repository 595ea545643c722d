//! What a scan left out because of damage.

use std::sync::{Arc, Mutex, PoisonError};

use sstable::RowsBetween;

/// Cells that a scan left out because a file or a part of it is damaged or missing.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MissingCells {
    /// The encoded name of the region; empty for a log.
    pub region: String,
    /// The family; empty for a log.
    pub family: Vec<u8>,
    /// The file that is damaged or missing.
    pub file: String,
    /// What is wrong.
    pub what: String,
    /// The rows that may have lost cells.
    pub rows: RowsBetween,
}

/// The list of missing cells, shared by the cursors of a scan.
///
/// `None` unless the scan continues after damage.
#[derive(Clone, Debug)]
pub(super) struct Losses(Option<Arc<Mutex<Vec<MissingCells>>>>);

impl Losses {
    pub(super) fn new(skip_damaged: bool) -> Self {
        Self(skip_damaged.then(Arc::default))
    }

    /// Returns whether the scan continues after damage.
    pub(super) const fn skips_damaged(&self) -> bool {
        self.0.is_some()
    }

    /// Adds to the list, or returns the error if the scan ends at damage.
    pub(super) fn add_or_fail<E>(
        &self,
        error: E,
        missing: impl FnOnce(&E) -> MissingCells,
    ) -> Result<(), E> {
        if !self.skips_damaged() {
            return Err(error);
        }
        self.add(missing(&error));
        Ok(())
    }

    /// Adds to the list. Parts of a file that several threads found are joined.
    pub(super) fn add(&self, missing: MissingCells) {
        let Some(list) = &self.0 else { return };
        let mut list = list.lock().unwrap_or_else(PoisonError::into_inner);
        let known = list.iter_mut().find(|known| {
            known.file == missing.file
                && known.what == missing.what
                && known.region == missing.region
        });
        match known {
            None => list.push(missing),
            Some(known) => {
                let RowsBetween { first, last } = missing.rows;
                // `None` is the least first row, and the greatest last row.
                known.rows.first = known.rows.first.take().min(first);
                known.rows.last = match (known.rows.last.take(), last) {
                    (Some(one), Some(other)) => Some(one.max(other)),
                    _ => None,
                };
            }
        }
    }

    /// Returns the list.
    pub(super) fn list(&self) -> Vec<MissingCells> {
        let list =
            |list: &Arc<Mutex<Vec<_>>>| list.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.0.as_ref().map(list).unwrap_or_default()
    }
}

/// Formats an error and its sources in one line.
pub(super) fn one_line(error: &dyn std::error::Error) -> String {
    let mut line = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let message = cause.to_string();
        if !line.ends_with(&message) {
            line = format!("{line}: {message}");
        }
        source = cause.source();
    }
    line
}
