//! The cells of one family as HBase's bulk load takes them: an HFile for each region that has some.
//!
//! ```text
//! OUT/FAMILY/…    HFiles, each with the rows of one region; 32 hex digits each
//! ```
//!
//! A region begins at each row that the table is split at. HBase takes a file that reaches over such
//! a row too, but has to cut it first.

use std::iter::Peekable;
use std::path::{Path, PathBuf};
use std::slice;
use std::sync::Arc;

use sstable::{CellRef, FileName, Writer, WriterOptions};

use crate::checksum::Crc32c;
use crate::error::{Error, Result};
use crate::files::identity::random_name;
use crate::files::names::check_hbase_family;
use crate::files::new_file::Sink;
use crate::vfs::{RealFiles, Vfs};

/// The files of one family for HBase's bulk load, one for each region that has cells.
///
/// What [`WriterOptions::bulk_load`] says belongs in the options.
#[derive(Debug)]
pub struct RegionFiles<'s> {
    vfs: Arc<dyn Vfs>,
    family: String,
    directory: PathBuf,
    /// Those that no cell has reached yet.
    splits: Peekable<slice::Iter<'s, Vec<u8>>>,
    options: WriterOptions,
    part: Option<Part>,
    files: Vec<PathBuf>,
}

/// The file of a region that is being written.
#[derive(Debug)]
struct Part {
    path: PathBuf,
    writer: Writer<Sink>,
}

impl<'s> RegionFiles<'s> {
    /// Begins the files of `family` in `out/FAMILY`, cut before each row of `splits`.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if the name is none that a family can have, if the splits do not ascend, or
    /// if there are files in the directory already; [`Error::Io`] if it cannot be made.
    pub fn create(
        out: &Path,
        family: &[u8],
        splits: &'s [Vec<u8>],
        options: WriterOptions,
    ) -> Result<Self> {
        let family = String::from_utf8_lossy(family);
        check_hbase_family(&family)?;
        Self::create_in(Arc::new(RealFiles), out, &family, splits, options)
    }

    /// As [`create`](Self::create), of a family whose name is known to be one.
    pub(crate) fn create_in(
        vfs: Arc<dyn Vfs>,
        out: &Path,
        family: &str,
        splits: &'s [Vec<u8>],
        options: WriterOptions,
    ) -> Result<Self> {
        if !splits.is_sorted_by(|left, right| left < right) {
            return Err(Error::invalid("rows to split at ascend, and each is given once"));
        }
        let directory = out.join(family);
        vfs.create_directory(&directory).map_err(Error::io(&directory, "create"))?;
        if !vfs.list(&directory).map_err(Error::io(&directory, "list"))?.is_empty() {
            let shown = directory.display();
            return Err(Error::invalid(format!("{shown}: has files already; export elsewhere")));
        }
        let (family, splits) = (family.to_owned(), splits.iter().peekable());
        Ok(Self { vfs, family, directory, splits, options, part: None, files: Vec::new() })
    }

    /// Appends a cell, which must not stand before the cell appended last.
    ///
    /// # Errors
    ///
    /// [`Error::StoreFile`] if the cell breaks a rule of the format or cannot be written,
    /// [`Error::Io`] if a file cannot be made or synced.
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
                let name = random_name()?;
                let path = self.directory.join(&name);
                let file = self.vfs.create(&path).map_err(Error::io(&path, "create"))?;
                let shown = FileName::new(format!("{}/{name}", self.family));
                let sink = Sink { file, checksum: Crc32c::new() };
                let writer = Writer::new(sink, shown, self.options.clone())?;
                none.insert(Part { path, writer })
            }
        };
        Ok(part.writer.append(cell)?)
    }

    /// Completes the files, and returns where they are, in the order of their rows. When this returns
    /// they are on disk.
    ///
    /// # Errors
    ///
    /// As for [`append`](Self::append).
    pub fn finish(mut self) -> Result<Vec<PathBuf>> {
        self.finish_part()?;
        let directory = &self.directory;
        self.vfs.sync_directory(directory).map_err(Error::io(directory, "sync"))?;
        Ok(self.files)
    }

    fn finish_part(&mut self) -> Result<()> {
        let Some(Part { path, writer }) = self.part.take() else { return Ok(()) };
        let (mut sink, _) = writer.finish()?;
        sink.file.sync().map_err(Error::io(&path, "sync"))?;
        self.files.push(path);
        Ok(())
    }
}
