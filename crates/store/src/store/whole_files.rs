//! The operations of a store on whole files: flush, compaction, import, export, checkpoint, check.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Store, StoreInner};
use crate::error::{Error, Result};
use crate::files::version::store_file::StoreFile;
use crate::maintenance::compaction::progress::CompactionProgress;
use crate::maintenance::export::{Export, export};
use crate::maintenance::import::{Age, ImportOptions, import};
use crate::process::check_process;

/// Which files a compaction merges, and what it drops.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CompactionKind {
    /// The files that the compaction policy selects, perhaps none.
    Minor,
    /// All files. Deleted and expired cells and surplus versions are dropped.
    Major,
}

/// A store file whose checksum was compared with that in the manifest.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct CheckedFile {
    /// The path of the file.
    pub path: PathBuf,
    /// The damage; `None` if the file is sound.
    pub damage: Option<String>,
}

impl Store {
    /// Writes all memstores to store files and syncs the files to disk.
    ///
    /// # Errors
    ///
    /// Errors of the operating system. The store then accepts no more changes until it is opened
    /// again. [`Error::FlushFailed`] if the files of some families cannot be written; the others are
    /// flushed.
    pub fn flush(&self) -> Result<()> {
        self.inner.maintenance.flush(&self.inner.catalog, &self.inner.log)
    }

    /// Merges store files of a family into one file.
    ///
    /// Cells that are not flushed stay in memory, and what their delete markers hide stays in the files:
    /// [flush](Self::flush) first if deleted data must leave the disk.
    ///
    /// # Errors
    ///
    /// Errors of the operating system, and damaged files. The family is then unchanged.
    pub fn compact(&self, family: &str, kind: CompactionKind) -> Result<()> {
        self.compact_with(family, kind, |_| {})
    }

    /// Compacts as [`compact`](Self::compact) does, and calls `progress` now and then.
    ///
    /// `progress` must not call the store. It is not called if there is nothing to merge.
    ///
    /// # Panics
    ///
    /// If `progress` panics. The family keeps its files, but the store accepts no more changes until it is
    /// opened again ([`Error::Poisoned`]).
    ///
    /// # Errors
    ///
    /// As for [`compact`](Self::compact).
    pub fn compact_with(
        &self,
        family: &str,
        kind: CompactionKind,
        mut progress: impl FnMut(CompactionProgress),
    ) -> Result<()> {
        let is_major = kind == CompactionKind::Major;
        self.inner.maintenance.compact(&self.inner.catalog, family, is_major, &mut progress)
    }

    /// Rebuilds the filters of all files of a family according to its options.
    ///
    /// If the options give one budget in bytes for all filters of the family, the budget is divided
    /// among the current files again. Data blocks are copied unchanged.
    ///
    /// # Errors
    ///
    /// Errors of the operating system, and damaged files. The first error ends the rebuild; files
    /// that are not yet rebuilt keep their filters.
    pub fn rebuild_filters(&self, family: &str) -> Result<()> {
        self.inner.maintenance.rebuild_filters(&self.inner.catalog, family)
    }

    /// Copies HFiles into a family.
    ///
    /// Cells keep the sequence ids of their file. If a file has none, its cells become newer than
    /// all existing cells and than the files before it in `files`. All files are fully verified
    /// before the first is imported.
    ///
    /// # Errors
    ///
    /// If a file is damaged or belongs to another family. No file is then imported.
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
        import(&self.inner.catalog, &self.inner.log, family, files, Age::Carried, options)?;
        self.inner.maintenance.files_changed(&self.inner.catalog);
        Ok(())
    }

    /// Copies HFiles into a family as HBase's bulk load does.
    ///
    /// The cells of each file become newer than all existing cells and than the cells of the files
    /// before it in `files`. As in HBase, the memstores are flushed first. All files are fully
    /// verified before the first is loaded.
    ///
    /// # Errors
    ///
    /// If a file is damaged or belongs to another family. No file is then loaded.
    pub fn bulk_load(&self, family: &str, files: &[PathBuf]) -> Result<()> {
        self.bulk_load_with(family, files, &ImportOptions::default())
    }

    /// Copies HFiles into a family as [`bulk_load`](Self::bulk_load) does, with options.
    ///
    /// With a range of rows it loads files as HBase does that cross a region boundary: a file that also
    /// has other rows is rewritten without these rows, and a file without rows in the range is skipped.
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
        match self.inner.maintenance.flush(&self.inner.catalog, &self.inner.log) {
            // The other families do not matter here.
            Err(Error::FlushFailed { .. }) => {
                let version = self.inner.catalog.version();
                version.known_family(family.as_bytes())?.family.check_flushed()?;
            }
            flushed => flushed?,
        }
        import(&self.inner.catalog, &self.inner.log, family, files, Age::New, options)?;
        self.inner.maintenance.files_changed(&self.inner.catalog);
        Ok(())
    }

    /// Writes each family to `out/FAMILY`, as HFiles for HBase's bulk load.
    ///
    /// A family gets one file for each region that has cells of the family. A region, a
    /// row range of an HBase table, begins at each row of `splits`. The files include delete
    /// markers, which hide older cells that the table may hold. The store does not change.
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
    /// The memstores are flushed, then the store files are hard-linked; no data is copied.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if the directory is not empty; errors of the operating system, also if
    /// the directory is on another file system. The incomplete copy is removed if possible.
    pub fn checkpoint(&self, directory: impl AsRef<Path>) -> Result<()> {
        let StoreInner { catalog, log, maintenance, .. } = &*self.inner;
        maintenance.checkpoint(catalog, log, directory.as_ref())
    }

    /// Reads all files of a family and compares their checksums with those in the manifest.
    ///
    /// Compactions check their input files in the same way.
    ///
    /// # Errors
    ///
    /// If the family does not exist, or a file cannot be read.
    pub fn check_files(&self, family: &str) -> Result<Vec<CheckedFile>> {
        check_process(self.inner.catalog.health().process())?;
        let version = self.inner.catalog.version();
        let files = version.known_family(family.as_bytes())?.files.by_sequence();
        let check = |file: &Arc<StoreFile>| {
            let damage = match file.check_whole(|_| true) {
                Ok(_) => None,
                Err(Error::Corrupt { what, .. }) => Some(what.into_owned()),
                Err(error) => return Err(error),
            };
            Ok(CheckedFile { path: file.path().to_path_buf(), damage })
        };
        files.map(check).collect()
    }
}
