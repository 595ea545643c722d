//! A row that a lookup found in a file.

use std::sync::Arc;

use crate::file::open_file::OpenFile;
use crate::scan::scanner::ScanPosition;
use crate::{CellRef, Scanner};

/// A row in a file, at its first cell.
///
/// Refers to the cell in its block, without a copy. Only a caller that needs more of the row's cells
/// makes it a [`Scanner`], which is larger.
#[derive(Debug)]
pub struct RowInFile<'a> {
    index: usize,
    file: &'a Arc<OpenFile>,
    position: ScanPosition,
}

impl<'a> RowInFile<'a> {
    #[inline]
    pub(super) const fn new(index: usize, file: &'a Arc<OpenFile>, position: ScanPosition) -> Self {
        Self { index, file, position }
    }

    /// Returns the index of the file in the list of the lookup.
    #[inline]
    pub const fn file(&self) -> usize {
        self.index
    }

    /// Returns the first cell of the row.
    #[inline]
    pub fn cell(&self) -> CellRef<'_> {
        self.position.cell()
    }

    /// Returns a scanner at the first cell of the row.
    #[inline]
    pub fn into_scanner(self) -> Scanner {
        Scanner::at(Arc::clone(self.file), self.position)
    }
}
