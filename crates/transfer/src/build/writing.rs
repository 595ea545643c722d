//! Writes the cells of an input to one file, or to a directory for HBase's bulk load.

use std::io::Write;
use std::path::Path;

use sstable::{Cell, Comparator, FileName, FileSummary, Writer, WriterOptions};

use super::position::InputPosition;
use super::regions::{BulkLoadFiles, Regions};
use crate::error::{Error, Result};
use crate::input::Input;
use crate::progress::Observer;
use crate::sorted::{Sorted, Sorting, check_cancelled};
use crate::temporary::OutputDirectory;

/// How the cells of an input become HFiles.
pub struct Build<'b> {
    /// The settings of the files.
    pub options: WriterOptions,
    /// The order of rows; must be the order in `options`.
    pub order: Comparator,
    /// How the cells come into the order of the file.
    pub sorting: &'b Sorting,
    /// Receives progress and warnings.
    pub observer: &'b dyn Observer,
}

impl Build<'_> {
    /// Writes one file to `sink`, and returns the sink. Errors name the file `name`.
    ///
    /// # Errors
    ///
    /// [`Error::Cell`] for cells out of order, of two families or with tags that the file does not
    /// keep; and if the input or the sink fails.
    pub fn write_file<W: Write>(
        &self,
        input: &mut Input,
        sink: W,
        name: FileName,
    ) -> Result<(W, FileSummary)> {
        let position = InputPosition::new(input, self.sorting);
        let mut writer = Writer::new(sink, name, self.options.clone())?;
        let Sorted { cells, reading, writing } =
            self.sorting.sort(input, self.order, self.observer)?;
        let mut last: Option<Cell> = None;
        for read in cells {
            check_cancelled(self.observer)?;
            let cell = read?;
            writer
                .append(cell.as_ref())
                .map_err(|error| position.describe(error, last.as_ref(), &cell))?;
            if let Some(writing) = &writing {
                writing.advance(1);
            }
            last = Some(cell);
        }
        let written = writer.finish()?;
        drop((reading, writing));
        Ok(written)
    }

    /// Writes a directory for HBase's bulk load, which appears when it is complete.
    ///
    /// With `force` it replaces a directory of an earlier build. It has a subdirectory for each family, with a file for each region that has cells of the
    /// family. A region begins at each row of `splits`, which ascend.
    ///
    /// # Errors
    ///
    /// [`Error::Cell`] for cells out of order within their family, or with tags that the files do not
    /// keep; if `out` is not new or empty, and with `force` has other things than HFiles by family; for more than
    /// 100 families; if `order` is the order of `hbase:meta`; and if the input or a file fails.
    pub fn write_bulk_load(
        &self,
        input: &mut Input,
        out: &Path,
        splits: &[Vec<u8>],
        force: bool,
    ) -> Result<BulkLoadFiles> {
        if self.order != Comparator::Bytes {
            return Err(Error::other("hbase:meta does not support bulk loads".to_owned()));
        }
        let position = InputPosition::new(input, self.sorting);
        let output = OutputDirectory::create(out, force)?;
        let Sorted { cells, reading, writing } =
            self.sorting.sort(input, self.order, self.observer)?;
        let is_cancelled = || self.observer.is_cancelled();
        // A write that was cancelled fails as one that the disk refuses.
        let cause = |error| if is_cancelled() { Error::Cancelled } else { error };
        let options = self.options.clone();
        let mut regions = Regions::new(output.path(), splits, options, position, &is_cancelled);
        for cell in cells {
            check_cancelled(self.observer)?;
            regions.append(cell?).map_err(cause)?;
            if let Some(writing) = &writing {
                writing.advance(1);
            }
        }
        let mut written = regions.finish().map_err(cause)?;
        drop((reading, writing));
        for file in &mut written.files {
            file.path = output.final_path(&file.path);
        }
        output.finish()?;
        Ok(written)
    }
}
