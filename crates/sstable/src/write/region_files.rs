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

use std::iter::Peekable;
use std::path::{Path, PathBuf};
use std::{fmt, io, slice};

use cells::{CellRef, FileName, check_family_name, escape};

use super::new_files::{LocalFiles, NewFiles, PendingFile, io_error, random_name};
use super::options::WriterOptions;
use super::writer::{FileSummary, Writer};
use crate::error::{Error, Result};

/// The files of one family for HBase's bulk load, one for each region that has cells.
///
/// The options should include [`WriterOptions::bulk_load`].
#[derive(Debug)]
pub struct RegionFiles<'s, F: NewFiles = LocalFiles> {
    file_system: F,
    family: String,
    directory: PathBuf,
    /// The split rows that no cell has reached.
    splits: Peekable<slice::Iter<'s, Vec<u8>>>,
    options: WriterOptions,
    cancellation: Cancellation<'s>,
    part: Option<OpenRegionFile<'s, F>>,
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
struct OpenRegionFile<'s, F: NewFiles> {
    pending: PendingFile<F>,
    writer: Writer<CancellableSink<'s, F::File>>,
}

/// Asked whether the files are still wanted.
#[derive(Clone, Copy)]
struct Cancellation<'s>(&'s dyn Fn() -> bool);

/// A sink that fails once the file is not wanted any more.
#[derive(Debug)]
struct CancellableSink<'s, W> {
    sink: W,
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
        Self::create_in(LocalFiles, out, family, splits, options)
    }
}

impl<'s, F: NewFiles> RegionFiles<'s, F> {
    /// Does the same as [`create`](RegionFiles::create) in another file system.
    ///
    /// # Errors
    ///
    /// As for [`create`](RegionFiles::create).
    #[doc(hidden)]
    pub fn create_in(
        file_system: F,
        out: &Path,
        family: &[u8],
        splits: &'s [Vec<u8>],
        options: WriterOptions,
    ) -> Result<Self> {
        let invalid = |path: &Path, what| Error::Invalid {
            file: FileName::new(path.display().to_string()),
            what,
        };
        check_family_name(family).map_err(|error| invalid(out, error.to_string()))?;
        let family = str::from_utf8(family).map_err(|_| {
            let shown = escape(family);
            invalid(out, format!("family \"{shown}\" cannot be a directory: it is not UTF-8"))
        })?;
        if !splits.is_sorted_by(|left, right| left < right) {
            return Err(invalid(out, "split rows must ascend, without duplicates".to_owned()));
        }
        let directory = out.join(family);
        file_system.create_directory(&directory).map_err(io_error(&directory, "create"))?;
        if !file_system.is_empty(&directory).map_err(io_error(&directory, "list"))? {
            return Err(invalid(&directory, "has files already; export elsewhere".to_owned()));
        }
        let (family, splits) = (family.to_owned(), splits.iter().peekable());
        let cancellation = Cancellation(&|| false);
        let (part, files) = (None, Vec::new());
        Ok(Self { file_system, family, directory, splits, options, cancellation, part, files })
    }

    /// Asks `is_cancelled` before each write of about 1 MiB, and fails once it returns `true`.
    ///
    /// This also covers the filters and the index at the end of a file, which can take seconds, and which a check between
    /// cells does not reach.
    #[doc(hidden)]
    #[must_use]
    pub fn cancelled_if(self, is_cancelled: &'s dyn Fn() -> bool) -> Self {
        Self { cancellation: Cancellation(is_cancelled), ..self }
    }

    /// Appends a cell. Cells must be in ascending order.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if the cell breaks a rule of the format, [`Error::Io`] if a file cannot be created,
    /// written or synced.
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
                let (pending, sink) =
                    PendingFile::create(self.file_system.clone(), &self.directory, random_name()?)?;
                let shown = FileName::new(format!("{}/{}", self.family, pending.name()));
                let sink = CancellableSink { sink, cancellation: self.cancellation };
                let writer = Writer::new(sink, shown, self.options.clone())?;
                none.insert(OpenRegionFile { pending, writer })
            }
        };
        part.writer.append(cell)
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
        let Some(OpenRegionFile { pending, writer }) = self.part.take() else { return Ok(()) };
        let (CancellableSink { sink, .. }, summary) = writer.finish()?;
        let (name, _) = pending.finish(sink)?;
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

impl<W: io::Write> io::Write for CancellableSink<'_, W> {
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

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::fs::{self, File};
    use std::rc::Rc;

    use cells::CellType;

    use super::*;

    /// The local files, with the calls that change them. The call with the index `failing` fails.
    #[derive(Clone, Debug)]
    struct Recorded {
        calls: Rc<RefCell<Vec<&'static str>>>,
        failing: usize,
    }

    impl Recorded {
        fn new(failing: usize) -> Self {
            Self { calls: Rc::default(), failing }
        }

        fn call(&self, name: &'static str) -> io::Result<LocalFiles> {
            self.calls.borrow_mut().push(name);
            let fails = self.calls.borrow().len() - 1 == self.failing;
            if fails { Err(io::ErrorKind::StorageFull.into()) } else { Ok(LocalFiles) }
        }
    }

    impl NewFiles for Recorded {
        type File = File;
        type Synced = ();

        fn create_directory(&self, path: &Path) -> io::Result<()> {
            LocalFiles.create_directory(path)
        }

        fn is_empty(&self, directory: &Path) -> io::Result<bool> {
            LocalFiles.is_empty(directory)
        }

        fn create(&self, path: &Path) -> io::Result<File> {
            assert!(path.to_string_lossy().ends_with(".new"), "a temporary name");
            self.call("create")?.create(path)
        }

        fn sync(&self, file: File) -> io::Result<()> {
            self.call("sync")?.sync(file)
        }

        fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
            self.call("rename")?.rename(from, to)
        }

        fn unlink(&self, path: &Path) -> io::Result<()> {
            LocalFiles.unlink(path)
        }

        fn sync_directory(&self, path: &Path) -> io::Result<()> {
            self.call("sync directory")?.sync_directory(path)
        }
    }

    fn write(place: Recorded, out: &Path, splits: &[Vec<u8>]) -> Result<Vec<RegionFile>> {
        let options = WriterOptions::default();
        let mut files = RegionFiles::create_in(place, out, b"f", splits, options)?;
        for row in [b"a", b"b", b"n"] {
            let (row, timestamp) = (row.as_slice(), cells::Timestamp::new(1));
            files.append(CellRef {
                row,
                family: b"f",
                qualifier: b"",
                timestamp,
                cell_type: CellType::Put,
                value: b"v",
                tags: &[],
                sequence_id: cells::SequenceId::default(),
            })?;
        }
        files.finish()
    }

    #[test]
    fn a_file_has_its_name_after_its_sync_and_a_failure_leaves_no_part_of_it() {
        let splits = [b"m".to_vec()];
        let steps = ["create", "sync", "rename", "sync directory"];
        let directory = tempfile::tempdir().unwrap();
        let recorded = Recorded::new(usize::MAX);
        let files = write(recorded.clone(), directory.path(), &splits).unwrap();
        assert_eq!(recorded.calls.take(), [steps, steps].concat(), "a file for each region");
        assert_eq!(files.iter().map(|file| file.summary.cell_count).collect::<Vec<_>>(), [2, 1]);

        for failing in 0..2 * steps.len() {
            let directory = tempfile::tempdir().unwrap();
            let error = write(Recorded::new(failing), directory.path(), &splits).unwrap_err();
            assert!(matches!(error, Error::Io { .. }), "{error}");
            let left = fs::read_dir(directory.path().join("f")).unwrap().count();
            assert_eq!(
                left,
                failing / steps.len(),
                "complete files after the failure of {failing}"
            );
        }
    }

    #[test]
    fn files_that_are_there_stay_as_they_are() {
        let directory = tempfile::tempdir().unwrap();
        write(Recorded::new(usize::MAX), directory.path(), &[]).unwrap();
        let error = write(Recorded::new(usize::MAX), directory.path(), &[]).unwrap_err();
        let family = directory.path().join("f");
        let expected = format!("{}: has files already; export elsewhere", family.display());
        assert_eq!(error.to_string(), expected);

        let pending = family.join("0123.new");
        fs::write(&pending, b"of another writer").unwrap();
        let name = "0123".to_owned();
        let error = PendingFile::create(LocalFiles, &family, name).unwrap_err().to_string();
        assert!(error.contains("0123.new: cannot create"), "{error}");
        assert_eq!(fs::read(&pending).unwrap(), b"of another writer");
    }

    #[test]
    fn a_family_that_is_no_directory_and_splits_that_do_not_ascend_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let refusal = |family: &[u8], splits: &[Vec<u8>]| {
            let options = WriterOptions::default();
            RegionFiles::create(directory.path(), family, splits, options).unwrap_err().to_string()
        };
        for (family, splits, what) in [
            (&b"../f"[..], &[][..], "family"),
            (b"\xff", &[], "it is not UTF-8"),
            (b"f", &[b"b".to_vec(), b"b".to_vec()], "must ascend"),
        ] {
            let error = refusal(family, splits);
            assert!(error.contains(what), "{error}");
        }
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
