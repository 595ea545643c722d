//! Cells in the order of the output, and the progress phase that is still open.

use std::rc::Rc;

use sstable::Cell;

use crate::error::Result;
use crate::progress::{Extent, Observer, Phase};

/// The cells in the order of the output, and the progress of the last phase.
pub(crate) struct Sorted<'c> {
    pub(crate) cells: Box<dyn Iterator<Item = Result<Cell>> + 'c>,
    /// The progress of reading the input, if it is read while the cells are written.
    pub(crate) reading: Option<Rc<dyn Phase>>,
    /// The progress of writing sorted cells; the caller advances it.
    pub(crate) writing: Option<Box<dyn Phase>>,
}

impl<'c> Sorted<'c> {
    /// All cells were read and sorted.
    pub(super) fn all(
        cells: impl Iterator<Item = Result<Cell>> + 'c,
        count: u64,
        observer: &dyn Observer,
    ) -> Self {
        let writing = Some(observer.begin("writing", Extent::Steps(count)));
        Self { cells: Box::new(cells), reading: None, writing }
    }

    /// The cells come while the input is read.
    pub(super) fn while_read(
        cells: impl Iterator<Item = Result<Cell>> + 'c,
        reading: Rc<dyn Phase>,
    ) -> Self {
        Self { cells: Box::new(cells), reading: Some(reading), writing: None }
    }
}
