//! A reader for the cells of a store file: a whole HFile, or the half that a reference stands for.

use sstable::{
    Caching, CellRef, FileName, HalfReader, HalfScanner, KeyRef, ReadTrace, Reader, ReaderOptions,
    RowProbe, Scanner,
};

use crate::{Error, FileTree, Location, Result};

/// A reader for the cells of a store file.
#[derive(Clone, Debug)]
pub enum StoreFileReader {
    /// All cells of an HFile.
    Whole(Reader),
    /// The cells of one half.
    Half(HalfReader),
}

impl StoreFileReader {
    /// Opens the HFile at a location. Errors name the file `name`.
    ///
    /// # Errors
    ///
    /// [`Error::File`] if the file cannot be opened, or as [`Reader::open`]; [`Error::Damaged`] for a
    /// symbolic link out of the root.
    pub fn open(
        tree: &dyn FileTree,
        location: &Location,
        name: FileName,
        options: ReaderOptions,
    ) -> Result<Self> {
        let failed = |source| match Error::io(&location.path, "open it")(source) {
            Error::Io { source, action, .. } => {
                let (file, action) = (name.clone(), action.into());
                Error::File(sstable::Error::Io { file, action, source })
            }
            error => error,
        };
        let source = tree.open(&location.path).map_err(failed)?;
        let reader = Reader::open(source, name, options)?;
        Ok(match &location.half {
            None => Self::Whole(reader),
            Some(reference) => Self::Half(HalfReader::new(reader, reference.clone())),
        })
    }

    /// Returns the reader of the whole HFile.
    pub const fn whole(&self) -> &Reader {
        match self {
            Self::Whole(reader) => reader,
            Self::Half(half) => half.whole(),
        }
    }

    /// Returns whether the file may have a row: whether the row is in the half and in the key range
    /// of the HFile.
    pub fn spans_row(&self, row: &[u8]) -> bool {
        let is_in_half = match self {
            Self::Whole(_) => true,
            Self::Half(half) => half.reference().holds(&KeyRef::before_row(row)),
        };
        is_in_half && self.whole().spans_row(row)
    }

    /// Looks up a row, as [`Reader::get_row`].
    ///
    /// # Errors
    ///
    /// If a block cannot be read.
    pub fn get_row(
        &self,
        probe: &RowProbe<'_>,
        trace: &mut ReadTrace,
    ) -> sstable::Result<Option<CellScanner>> {
        match self {
            Self::Whole(reader) => Ok(reader.get_row(probe, trace)?.map(CellScanner::Whole)),
            Self::Half(half) => Ok(half.get_row(probe, trace)?.map(CellScanner::Half)),
        }
    }

    /// Returns a scanner without a position.
    pub fn scanner(&self, caching: Caching) -> CellScanner {
        match self {
            Self::Whole(reader) => CellScanner::Whole(reader.scanner(caching)),
            Self::Half(half) => CellScanner::Half(half.scanner(caching)),
        }
    }

    /// Returns a scanner without a position for long scans, as [`Reader::bulk_scanner`].
    pub fn bulk_scanner(&self) -> CellScanner {
        match self {
            Self::Whole(reader) => CellScanner::Whole(reader.bulk_scanner()),
            Self::Half(half) => CellScanner::Half(half.bulk_scanner()),
        }
    }
}

/// A cursor over the cells of a store file, as [`Scanner`].
#[derive(Debug)]
pub enum CellScanner {
    /// Over a whole HFile.
    Whole(Scanner),
    /// Over one half.
    Half(HalfScanner),
}

/// Calls a method of the scanner of either variant.
macro_rules! either {
    ($self:expr, $scanner:ident => $call:expr) => {
        match $self {
            CellScanner::Whole($scanner) => $call,
            CellScanner::Half($scanner) => $call,
        }
    };
}

impl CellScanner {
    /// Returns the current cell; `None` without a position.
    #[inline]
    pub fn cell(&self) -> Option<CellRef<'_>> {
        either!(self, scanner => scanner.cell())
    }

    /// Moves to the first cell.
    ///
    /// # Errors
    ///
    /// If a block cannot be read.
    pub fn seek_to_first(&mut self) -> sstable::Result<()> {
        either!(self, scanner => scanner.seek_to_first())
    }

    /// Moves to the last cell.
    ///
    /// # Errors
    ///
    /// If a block cannot be read.
    pub fn seek_to_last(&mut self) -> sstable::Result<()> {
        either!(self, scanner => scanner.seek_to_last())
    }

    /// Moves to the first cell whose key is at least `key`.
    ///
    /// # Errors
    ///
    /// If a block cannot be read.
    pub fn seek(&mut self, key: KeyRef<'_>) -> sstable::Result<()> {
        either!(self, scanner => scanner.seek(key))
    }

    /// Moves to the last cell whose key is less than `key`.
    ///
    /// # Errors
    ///
    /// If a block cannot be read.
    pub fn seek_before(&mut self, key: KeyRef<'_>) -> sstable::Result<()> {
        either!(self, scanner => scanner.seek_before(key))
    }

    /// Moves to the next cell.
    ///
    /// # Errors
    ///
    /// If a block cannot be read.
    #[inline]
    pub fn advance(&mut self) -> sstable::Result<()> {
        either!(self, scanner => scanner.advance())
    }

    /// Moves to the previous cell.
    ///
    /// # Errors
    ///
    /// If a block cannot be read.
    pub fn retreat(&mut self) -> sstable::Result<()> {
        either!(self, scanner => scanner.retreat())
    }

    /// Checks the rest of the current block, as [`Scanner::check_place`].
    ///
    /// # Errors
    ///
    /// If the block is damaged.
    pub fn check_place(&mut self) -> sstable::Result<()> {
        either!(self, scanner => scanner.check_place())
    }

    /// Returns the counters of the reads, and resets them.
    pub fn take_trace(&mut self) -> ReadTrace {
        either!(self, scanner => scanner.take_trace())
    }
}
