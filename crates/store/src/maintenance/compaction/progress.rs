//! The progress of a compaction, for a caller that waits for it.

/// How far a compaction is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct CompactionProgress {
    /// What the compaction does.
    pub phase: CompactionPhase,
    /// Bytes of the selected files that this phase has read. When merging, an estimate from the
    /// number of cells.
    pub done: u64,
    /// Bytes of all selected files.
    pub total: u64,
}

/// A phase of a compaction.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum CompactionPhase {
    /// Compares the checksums of the selected files with the manifest.
    Check,
    /// Merges the cells of the files into a new file.
    Merge,
}

/// Reports the progress of one compaction.
pub(crate) struct Observer<'a> {
    report: &'a mut dyn FnMut(CompactionProgress),
    bytes: u64,
    cells: u64,
}

impl<'a> Observer<'a> {
    pub(super) fn new(report: &'a mut dyn FnMut(CompactionProgress)) -> Self {
        Self { report, bytes: 0, cells: 0 }
    }

    /// Sets the bytes and cells of all selected files.
    pub(super) const fn set_totals(&mut self, bytes: u64, cells: u64) {
        (self.bytes, self.cells) = (bytes, cells);
    }

    /// Reports that the checksums of `done` bytes are checked.
    pub(super) fn checked(&mut self, done: u64) {
        let total = self.bytes;
        (self.report)(CompactionProgress { phase: CompactionPhase::Check, done, total });
    }

    /// Reports that `cells` of all cells are merged.
    pub(super) fn merged(&mut self, cells: u64) {
        let total = self.bytes;
        let share = cells as f64 / self.cells.max(1) as f64;
        let done = ((total as f64 * share) as u64).min(total);
        (self.report)(CompactionProgress { phase: CompactionPhase::Merge, done, total });
    }
}
