//! What a store does with whole files: it makes, merges and checks its own, and takes in and gives out
//! those of others.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Store, StoreInner};
use crate::error::{Error, Result};
use crate::files::store_file::StoreFile;
use crate::maintenance::export::{Export, export};
use crate::maintenance::import::{Age, ImportOptions, import};

impl Store {
    /// Writes all memstores to files. When it returns, they are on disk.
    ///
    /// # Errors
    ///
    /// What the operating system says; the store stops then.
    pub fn flush(&self) -> Result<()> {
        self.inner.maintenance.flush(&self.inner.catalog, &self.inner.log)
    }

    /// Merges files of a family: if `major`, all of them, and what is deleted, expired or one
    /// version too many goes.
    ///
    /// # Errors
    ///
    /// What the operating system or the files say; the files then stay as they are.
    pub fn compact(&self, family: &str, major: bool) -> Result<()> {
        self.inner.maintenance.compact(&self.inner.catalog, family, major)
    }

    /// Gives all files of a family the filter that its options say, as it would be if all were written
    /// now. A budget in bytes is shared out anew; data blocks are copied as they are.
    ///
    /// # Errors
    ///
    /// What the operating system or the files say; a file keeps its filter then.
    pub fn rebuild_filters(&self, family: &str) -> Result<()> {
        self.inner.maintenance.rebuild_filters(&self.inner.catalog, family)
    }

    /// Takes HFiles in as files of a family, by copy. They keep the sequence ids they carry; one
    /// without is newer than all that is there and than those before it in `files`. Each file is
    /// verified wholly before the first is taken in.
    ///
    /// # Errors
    ///
    /// If one of them is damaged or of another family; none is taken in then.
    pub fn import(&self, family: &str, files: &[PathBuf]) -> Result<()> {
        self.import_with(family, files, &ImportOptions::default())
    }

    /// As [`import`](Self::import), as the options say.
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

    /// Takes HFiles in as files of a family, by copy, as HBase's bulk load does: their cells are
    /// newer than all that is there, and than those of the files before them in `files`. As in
    /// HBase, the memstores are flushed first. Each file is verified wholly before the first is
    /// taken in.
    ///
    /// # Errors
    ///
    /// If one of them is damaged or of another family; none is taken in then.
    pub fn bulk_load(&self, family: &str, files: &[PathBuf]) -> Result<()> {
        self.bulk_load_with(family, files, &ImportOptions::default())
    }

    /// As [`bulk_load`](Self::bulk_load), as the options say.
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

    /// As [`bulk_load`](Self::bulk_load), but of each file only the rows from `start` on and before
    /// `stop`: what HBase does with a file that reaches over the end of a region. Such files are
    /// written anew, and those that have no such row are left out.
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

    /// Writes all families as HFiles for HBase's bulk load into `out/FAMILY`: one file for each
    /// region, cut before each row of `splits`. The files have what a table needs to answer as this
    /// store does, delete markers too; the store does not change.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if there are files in `out/FAMILY` already or the splits do not ascend,
    /// and what the operating system or the files say. What was written till then stays.
    pub fn export(&self, out: impl AsRef<Path>, splits: &[Vec<u8>]) -> Result<Export> {
        export(&self.inner.catalog, out.as_ref(), splits)
    }

    /// Makes a store in `directory`, which must be empty or not there, of what this one holds now.
    /// The memstores are flushed, and the files get a second name: nothing is copied, and from then
    /// on the two stores know nothing of each other.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if the directory is not empty, and what the operating system says, also
    /// if it is on another file system. What was made till then is removed again, as far as that can
    /// be done.
    pub fn checkpoint(&self, directory: impl AsRef<Path>) -> Result<()> {
        let StoreInner { catalog, log, maintenance, .. } = &*self.inner;
        maintenance.checkpoint(catalog, log, directory.as_ref())
    }

    /// Reads the files of a family wholly and holds each against the checksum in the manifest;
    /// returns what is wrong, file by file. Compactions do the same with what they merge.
    ///
    /// # Errors
    ///
    /// If there is no such family, or a file cannot be read.
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
