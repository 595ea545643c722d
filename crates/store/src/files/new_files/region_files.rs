//! The HFiles of one family for HBase's bulk load: one for each region that has cells.
//!
//! ```text
//! OUT/FAMILY/…    HFiles named by 32 hex digits, each with the rows of one region
//! ```
//!
//! A file has a temporary name until it is complete and on disk.
//!
//! A region begins at each split row of the table. HBase also accepts a file that spans regions, but has
//! to split it first.

use std::fmt;
use std::io;
use std::iter::Peekable;
use std::path::{Path, PathBuf};
use std::slice;
use std::sync::Arc;

use sstable::{CellRef, FileName, FileSummary, Writer, WriterOptions, check_family_name, escape};

use crate::error::{Error, Result};
use crate::files::names::identity::random_name;
use crate::files::new_files::new_file::{PendingFile, Sink};
use crate::vfs::{RealFiles, Vfs};

/// The files of one family for HBase's bulk load, one for each region that has cells.
///
/// The options should include [`WriterOptions::bulk_load`].
#[derive(Debug)]
pub struct RegionFiles<'s> {
    vfs: Arc<dyn Vfs>,
    family: String,
    directory: PathBuf,
    /// The split rows that no cell has reached.
    splits: Peekable<slice::Iter<'s, Vec<u8>>>,
    options: WriterOptions,
    cancellation: Cancellation<'s>,
    part: Option<OpenRegionFile<'s>>,
    files: Vec<RegionFile>,
}

/// A complete file for HBase's bulk load, with the rows of one region.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct RegionFile {
    /// The family of its cells.
    pub family: String,
    /// Its path.
    pub path: PathBuf,
    /// Its length, its cells and its range of rows.
    pub summary: FileSummary,
}

/// The file of the current region, which has a temporary name.
#[derive(Debug)]
struct OpenRegionFile<'s> {
    place: PendingFile,
    writer: Writer<CancellableSink<'s>>,
}

/// Asked whether the files are still wanted.
#[derive(Clone, Copy)]
struct Cancellation<'s>(&'s dyn Fn() -> bool);

/// A sink that fails once the file is not wanted any more.
#[derive(Debug)]
struct CancellableSink<'s> {
    sink: Sink,
    cancellation: Cancellation<'s>,
}

impl<'s> RegionFiles<'s> {
    /// Begins the files of `family` in `out/FAMILY`. A new file begins at each row of `splits`.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if no family can have the name, if the splits do not ascend, or if the directory
    /// already has files; [`Error::Io`] if the directory cannot be created.
    pub fn create(
        out: &Path,
        family: &[u8],
        splits: &'s [Vec<u8>],
        options: WriterOptions,
    ) -> Result<Self> {
        check_family_name(family).map_err(|error| Error::invalid(error.to_string()))?;
        let family = str::from_utf8(family).map_err(|_| {
            let shown = escape(family);
            Error::invalid(format!("family \"{shown}\" cannot be a directory: it is not UTF-8"))
        })?;
        Self::create_in(Arc::new(RealFiles::default()), out, family, splits, options)
    }

    /// Does the same for a family whose name was checked.
    pub(crate) fn create_in(
        vfs: Arc<dyn Vfs>,
        out: &Path,
        family: &str,
        splits: &'s [Vec<u8>],
        options: WriterOptions,
    ) -> Result<Self> {
        if !splits.is_sorted_by(|left, right| left < right) {
            return Err(Error::invalid("split rows must ascend, without duplicates"));
        }
        let directory = out.join(family);
        vfs.create_directory(&directory).map_err(Error::io(&directory, "create"))?;
        if !vfs.list(&directory).map_err(Error::io(&directory, "list"))?.is_empty() {
            let shown = directory.display();
            return Err(Error::invalid(format!("{shown}: has files already; export elsewhere")));
        }
        let (family, splits) = (family.to_owned(), splits.iter().peekable());
        let cancellation = Cancellation(&|| false);
        let (part, files) = (None, Vec::new());
        Ok(Self { vfs, family, directory, splits, options, cancellation, part, files })
    }

    /// Asks `is_cancelled` before each write of about 1 MiB, and fails once it returns `true`.
    ///
    /// The end of a file is also written so: a caller that asks between cells does not cover its filters and index,
    /// which can take seconds.
    #[must_use]
    pub fn cancelled_if(self, is_cancelled: &'s dyn Fn() -> bool) -> Self {
        Self { cancellation: Cancellation(is_cancelled), ..self }
    }

    /// Appends a cell. Cells must be in ascending order.
    ///
    /// # Errors
    ///
    /// [`Error::StoreFile`] if the cell breaks a rule of the format or cannot be written,
    /// [`Error::Io`] if a file cannot be created or synced.
    pub fn append(&mut self, cell: CellRef<'_>) -> Result<()> {
        let mut begins_region = false;
        while self.splits.next_if(|split| &split[..] <= cell.row).is_some() {
            begins_region = true;
        }
        if begins_region {
            self.finish_part()?;
        }
        let part = match &mut self.part {
            Some(part) => part,
            none => {
                let (place, sink) =
                    PendingFile::create_in(Arc::clone(&self.vfs), &self.directory, random_name()?)?;
                let shown = FileName::new(format!("{}/{}", self.family, place.name()));
                let sink = CancellableSink { sink, cancellation: self.cancellation };
                let writer = Writer::new(sink, shown, self.options.clone())?;
                none.insert(OpenRegionFile { place, writer })
            }
        };
        Ok(part.writer.append(cell)?)
    }

    /// Completes the files, which are then on disk. Returns them in the order of their rows.
    ///
    /// # Errors
    ///
    /// As for [`append`](Self::append).
    pub fn finish(mut self) -> Result<Vec<RegionFile>> {
        self.finish_part()?;
        Ok(self.files)
    }

    fn finish_part(&mut self) -> Result<()> {
        let Some(OpenRegionFile { place, writer }) = self.part.take() else { return Ok(()) };
        let (CancellableSink { sink, .. }, summary) = writer.finish()?;
        let (name, _) = place.finish(sink)?;
        let (family, path) = (self.family.clone(), self.directory.join(name));
        self.files.push(RegionFile { family, path, summary });
        Ok(())
    }
}

impl fmt::Debug for Cancellation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cancellation")
    }
}

impl io::Write for CancellableSink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if (self.cancellation.0)() {
            return Err(io::Error::other("cancelled"));
        }
        self.sink.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}
