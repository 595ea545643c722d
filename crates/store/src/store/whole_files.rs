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

/// # Upkeep: files
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
        compact(self, family, kind, |_| {})
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
    /// [`Age`] says whether the cells become newer than the cells of the store. All files are fully
    /// verified before the first is imported, unless the options say otherwise.
    ///
    /// ```
    /// use store::{Age, FamilyOptions, ImportOptions, Put, Store, StoreOptions};
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let [here, there, out] = ["a", "b", "c"].map(|name| directory.path().join(name));
    /// let store = Store::open(here, StoreOptions::default())?;
    /// store.create_family("f", FamilyOptions::default())?;
    /// store.put(Put::new("row1").column("f", "name", "Ada"))?;
    /// let files = store.export(out, &[])?.files;
    ///
    /// let other = Store::open(there, StoreOptions::default())?;
    /// other.create_family("f", FamilyOptions::default())?;
    /// other.import("f", &files, Age::Newest)?;
    /// other.import("f", &files, ImportOptions::new(Age::Newest).start("row5"))?; // Adds nothing.
    /// assert_eq!(other.stats().family("f").map(|family| family.files), Some(1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If a file is damaged or belongs to another family. No file is then imported.
    pub fn import(
        &self,
        family: &str,
        files: &[PathBuf],
        options: impl Into<ImportOptions>,
    ) -> Result<()> {
        let options = options.into();
        if options.age == Age::Newest {
            self.flush_for_import(family)?;
        }
        import(&self.inner.catalog, &self.inner.log, family, files, &options)?;
        self.inner.maintenance.files_changed(&self.inner.catalog);
        Ok(())
    }

    /// Flushes the memstores. That another family cannot be flushed is no error.
    fn flush_for_import(&self, family: &str) -> Result<()> {
        match self.flush() {
            Err(Error::FlushFailed { .. }) => {
                let version = self.inner.catalog.version();
                version.known_family(family.as_bytes())?.family.check_flushed()
            }
            flushed => flushed,
        }
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

/// Compacts as [`Store::compact`] does, and calls `progress` now and then; not if there is nothing to merge.
///
/// `progress` must not call the store.
///
/// # Panics
///
/// If `progress` panics. The family keeps its files, but the store accepts no more changes until it is
/// opened again ([`Error::Poisoned`]).
///
/// # Errors
///
/// As for [`Store::compact`].
pub fn compact(
    store: &Store,
    family: &str,
    kind: CompactionKind,
    mut progress: impl FnMut(CompactionProgress),
) -> Result<()> {
    let StoreInner { catalog, maintenance, .. } = &*store.inner;
    maintenance.compact(catalog, family, kind == CompactionKind::Major, &mut progress)
}
