//! The operations of a store on whole files: flush, compaction, import, export, checkpoint, check.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Store, StoreInner};
use crate::error::{Error, Result};
use crate::files::store_file::StoreFile;
use crate::maintenance::export::{Export, export};
use crate::maintenance::import::{Age, ImportOptions, import};

impl Store {
    /// Writes all memstores to store files, which are on disk when this returns.
    ///
    /// # Errors
    ///
    /// Errors of the operating system; the store stops then.
    pub fn flush(&self) -> Result<()> {
        self.inner.maintenance.flush(&self.inner.catalog, &self.inner.log)
    }

    /// Compacts files of a family.
    ///
    /// A `major` compaction merges all files, and drops deleted and expired cells and surplus
    /// versions.
    ///
    /// # Errors
    ///
    /// Errors of the operating system, and damaged files; the family is unchanged then.
    pub fn compact(&self, family: &str, major: bool) -> Result<()> {
        self.inner.maintenance.compact(&self.inner.catalog, family, major)
    }

    /// Rebuilds the filters of all files of a family according to its options.
    ///
    /// A budget in bytes is distributed over the files again. Data blocks are copied unchanged.
    ///
    /// # Errors
    ///
    /// Errors of the operating system, and damaged files; a file keeps its filter then.
    pub fn rebuild_filters(&self, family: &str) -> Result<()> {
        self.inner.maintenance.rebuild_filters(&self.inner.catalog, family)
    }

    /// Copies HFiles into a family.
    ///
    /// The files keep their sequence ids. A file without one becomes newer than all existing cells
    /// and than the files before it in `files`. All files are fully verified before the first is
    /// imported.
    ///
    /// # Errors
    ///
    /// If a file is damaged or of another family; no file is imported then.
    pub fn import(&self, family: &str, files: &[PathBuf]) -> Result<()> {
        self.import_with(family, files, &ImportOptions::default())
    }

    /// Copies HFiles into a family as [`import`](Self::import) does, with options.
    ///
    /// # Errors
    ///
    /// As for [`import`](Self::import).
    pub fn import_with(
        &self,
        family: &str,
        files: &[PathBuf],
        options: &ImportOptions,
    ) -> Result<()> {
        import(&self.inner.catalog, &self.inner.log, family, files, Age::Carried, options)
    }

    /// Copies HFiles into a family as HBase's bulk load does.
    ///
    /// The cells of each file become newer than all existing cells and than those of the files
    /// before it in `files`. As in HBase, the memstores are flushed first. All files are fully
    /// verified before the first is loaded.
    ///
    /// # Errors
    ///
    /// If a file is damaged or of another family; no file is loaded then.
    pub fn bulk_load(&self, family: &str, files: &[PathBuf]) -> Result<()> {
        self.bulk_load_with(family, files, &ImportOptions::default())
    }

    /// Copies HFiles into a family as [`bulk_load`](Self::bulk_load) does, with options.
    ///
    /// # Errors
    ///
    /// As for [`bulk_load`](Self::bulk_load).
    pub fn bulk_load_with(
        &self,
        family: &str,
        files: &[PathBuf],
        options: &ImportOptions,
    ) -> Result<()> {
        self.inner.maintenance.flush(&self.inner.catalog, &self.inner.log)?;
        import(&self.inner.catalog, &self.inner.log, family, files, Age::New, options)
    }

    /// Copies the rows `start..stop` of HFiles into a family; else like
    /// [`bulk_load`](Self::bulk_load).
    ///
    /// HBase does this with a file that crosses a region boundary. A file with other rows is
    /// rewritten, and a file without a row in the range is skipped.
    ///
    /// # Errors
    ///
    /// As for [`bulk_load`](Self::bulk_load).
    pub fn bulk_load_rows(
        &self,
        family: &str,
        files: &[PathBuf],
        start: Option<&[u8]>,
        stop: Option<&[u8]>,
    ) -> Result<()> {
        let mut options = ImportOptions::default();
        if let Some(start) = start {
            options = options.start(start);
        }
        if let Some(stop) = stop {
            options = options.stop(stop);
        }
        self.bulk_load_with(family, files, &options)
    }

    /// Writes all families into `out/FAMILY`, as HFiles for HBase's bulk load.
    ///
    /// Each region gets one file; the rows of `splits` are the region boundaries. The files include
    /// delete markers, so that a table with them answers as this store does. The store does not
    /// change.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if `out/FAMILY` has files already or the splits do not ascend; errors of
    /// the operating system; damaged files. Files written before the error stay.
    pub fn export(&self, out: impl AsRef<Path>, splits: &[Vec<u8>]) -> Result<Export> {
        export(&self.inner.catalog, out.as_ref(), splits)
    }

    /// Creates an independent copy of the store in `directory`, which must be empty or missing.
    ///
    /// The memstores are flushed and the store files hard-linked, so no data is copied.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if the directory is not empty; errors of the operating system, also if
    /// the directory is on another file system. The incomplete copy is removed if possible.
    pub fn checkpoint(&self, directory: impl AsRef<Path>) -> Result<()> {
        let StoreInner { catalog, log, maintenance, .. } = &*self.inner;
        maintenance.checkpoint(catalog, log, directory.as_ref())
    }

    /// Reads all files of a family and compares them with their checksums in the manifest.
    ///
    /// Returns each file, with a description of the damage if it is damaged. Compactions check
    /// their input files in the same way.
    ///
    /// # Errors
    ///
    /// If the family does not exist, or a file cannot be read.
    pub fn check_files(&self, family: &str) -> Result<Vec<(PathBuf, Option<String>)>> {
        let version = self.inner.catalog.version();
        let files = version.known_family(family.as_bytes())?.files.by_sequence();
        let check = |file: &Arc<StoreFile>| match file.check_whole(|| true) {
            Ok(_) => Ok((file.path().to_path_buf(), None)),
            Err(Error::Corrupt { what, .. }) => {
                Ok((file.path().to_path_buf(), Some(what.into_owned())))
            }
            Err(error) => Err(error),
        };
        files.map(check).collect()
    }
}
