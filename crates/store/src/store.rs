//! A store: one directory, one log, several families.
//!
//! ```text
//! LOCK            held for as long as the store is open
//! MANIFEST        what belongs to the store
//! wal/…           the log
//! FAMILY/…        the store files of a family: 32 hex digits each
//! ```

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, RwLock};

use sstable::{Cell, ReadTrace};

use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::manifest::{FamilyEntry, Manifest, check_family_name};
use crate::memstore::Memstore;
use crate::mutation::{Delete, Put, WriteBatch};
use crate::options::{Durability, FamilyOptions, StoreOptions};
use crate::query::{Get, Scan};
use crate::read::ReadView;
use crate::scan::Cells;
use crate::stats::{FamilyStats, Stats};
use crate::sync::{lock, read, write};
use crate::version::{Family, FamilyVersion, StoreVersion};
use crate::vfs::{Lock, Vfs};
use crate::wal::{self, SegmentWriter};
use crate::write::{Commit, Writer, prepare};

/// A store that is open. Cloning it is cheap; all clones are the same store.
#[derive(Clone, Debug)]
pub struct Store {
    inner: Arc<Inner>,
}

/// What the parts of a store share.
#[derive(Debug)]
pub(crate) struct Inner {
    directory: PathBuf,
    pub(crate) options: StoreOptions,
    pub(crate) vfs: Arc<dyn Vfs>,
    pub(crate) clock: Clock,
    version: RwLock<Arc<StoreVersion>>,
    commit: Commit,
    /// As it is on disk. Whoever changes what belongs to the store holds it.
    manifest: Mutex<Manifest>,
    _lock: Box<dyn Lock>,
}

impl Store {
    /// Opens the store in `directory`, or makes one.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`] if there is none and none is to be made, [`Error::Locked`] if it is open
    /// already, [`Error::Corrupt`] if the log or the manifest is damaged, and what the operating
    /// system or the store files say.
    pub fn open(directory: impl AsRef<Path>, options: StoreOptions) -> Result<Self> {
        Ok(Self { inner: Arc::new(Inner::open(directory.as_ref(), options)?) })
    }

    /// Adds a family.
    ///
    /// # Errors
    ///
    /// If there is one of this name, if no family can have it, or if the manifest cannot be
    /// written.
    pub fn create_family(&self, name: &str, options: FamilyOptions) -> Result<()> {
        self.inner.create_family(name, options)
    }

    /// The families with their options, by name.
    pub fn families(&self) -> Vec<(String, FamilyOptions)> {
        let families = &self.inner.version().families;
        families
            .iter()
            .map(|version| (version.family.name.clone(), version.family.options.clone()))
            .collect()
    }

    /// Writes a put, as safely as the store's options say.
    ///
    /// # Errors
    ///
    /// As for [`write`](Self::write).
    pub fn put(&self, put: Put) -> Result<()> {
        self.write(put, self.inner.options.durability)
    }

    /// Writes a delete, as safely as the store's options say.
    ///
    /// # Errors
    ///
    /// As for [`write`](Self::write).
    pub fn delete(&self, delete: Delete) -> Result<()> {
        self.write(delete, self.inner.options.durability)
    }

    /// Writes a batch: all of it or nothing. When it returns, the batch can be read and is as safe
    /// as `durability` says.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if a cell cannot be stored, and nothing is written then. If the log
    /// cannot be written, the store stops: [`Error::Poisoned`] from then on.
    pub fn write(&self, batch: impl Into<WriteBatch>, durability: Durability) -> Result<()> {
        let cells = prepare(&self.inner.version(), batch.into().cells)?;
        if cells.is_empty() {
            return Ok(());
        }
        self.inner.commit.write(&self.inner, cells, durability)
    }

    /// Reads cells of one row, in order.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if a family is asked for that there is not, and what the store files say.
    pub fn get(&self, get: &Get) -> Result<Vec<Cell>> {
        self.get_traced(get).map(|(cells, _)| cells)
    }

    /// Reads cells of one row, and tells what that took.
    ///
    /// # Errors
    ///
    /// As for [`get`](Self::get).
    pub fn get_traced(&self, get: &Get) -> Result<(Vec<Cell>, ReadTrace)> {
        self.inner.view().get(get)
    }

    /// Reads rows in order, as they are at this moment.
    ///
    /// # Errors
    ///
    /// As for [`get`](Self::get).
    pub fn scan(&self, scan: Scan) -> Result<Cells> {
        Cells::new(&self.inner.view(), scan)
    }

    /// Writes all memstores to files. When it returns, they are on disk.
    ///
    /// # Errors
    ///
    /// What the operating system says; the store stops then.
    pub fn flush(&self) -> Result<()> {
        self.inner.commit.check()
    }

    /// Merges files of a family: if `major`, all of them, and what is deleted, expired or one
    /// version too many goes.
    ///
    /// # Errors
    ///
    /// What the operating system or the files say; the files then stay as they are.
    pub fn compact(&self, family: &str, major: bool) -> Result<()> {
        let _ = major;
        self.inner.view().family(family.as_bytes()).map(|_| ())
    }

    /// Takes HFiles in as files of a family, by copy. They keep the sequence ids they carry; one
    /// without is newer than all that is there and than those before it in `files`.
    ///
    /// # Errors
    ///
    /// If one of them is damaged or of another family; none is taken in then.
    pub fn import(&self, family: &str, files: &[PathBuf]) -> Result<()> {
        let _ = files;
        self.inner.view().family(family.as_bytes()).map(|_| ())
    }

    /// What the store holds and what its reads did.
    pub fn stats(&self) -> Stats {
        self.inner.stats()
    }
}

impl Inner {
    fn open(directory: &Path, options: StoreOptions) -> Result<Self> {
        let vfs = Arc::clone(&options.vfs);
        let manifest = Manifest::load(&*vfs, directory);
        if !options.create && matches!(manifest, Ok(None)) {
            return Err(Error::Missing { path: directory.to_path_buf() });
        }
        let wal_directory = directory.join(WAL_DIRECTORY);
        vfs.create_directory(&wal_directory).map_err(Error::io(&wal_directory, "create"))?;
        let lock = vfs
            .lock(&directory.join("LOCK"))
            .map_err(Error::io(directory, "lock"))?
            .ok_or_else(|| Error::Locked { path: directory.to_path_buf() })?;
        // Only now nobody else changes it.
        let manifest = match Manifest::load(&*vfs, directory)? {
            Some(manifest) => manifest,
            None => create(&*vfs, directory)?,
        };
        let family_name = |id| {
            manifest.families.iter().find(|family| family.id == id).map(|it| it.name.as_bytes())
        };
        let (store, first) = (manifest.store, manifest.first_segment);
        let recovered = wal::recover(&*vfs, &wal_directory, store, first, family_name)?;
        let version =
            StoreVersion { families: manifest.families.iter().map(open_family).collect() };
        for cells in recovered.batches {
            crate::write::apply(&version, cells);
        }
        let newest = recovered.newest.max(manifest.flushed);
        let number = recovered.segments.last().map_or(first, |last| last.next());
        let segment = SegmentWriter::create(&*vfs, &wal_directory, store, number)?;
        Ok(Self {
            directory: directory.to_path_buf(),
            clock: options.clock.clone(),
            options,
            vfs,
            version: RwLock::new(Arc::new(version)),
            commit: Commit::new(segment, newest),
            manifest: Mutex::new(manifest),
            _lock: lock,
        })
    }

    fn create_family(&self, name: &str, options: FamilyOptions) -> Result<()> {
        self.commit.check()?;
        check_family_name(name)?;
        let mut manifest = self.manifest();
        if manifest.families.iter().any(|family| family.name == name) {
            return Err(Error::invalid(format!("there is a family \"{name}\" already")));
        }
        let id = manifest.families.iter().map(|family| family.id + 1).max().unwrap_or(0);
        let directory = self.directory.join(name);
        self.vfs.create_directory(&directory).map_err(Error::io(&directory, "create"))?;
        self.vfs.sync_directory(&self.directory).map_err(Error::io(&self.directory, "sync"))?;
        let entry = FamilyEntry { id, name: name.to_owned(), options, files: Vec::new() };
        let family = open_family(&entry);
        self.change(&mut manifest, |manifest| manifest.families.push(entry))?;
        self.replace_version(|version| {
            let mut families = version.families.clone();
            families.push(family);
            families.sort_by(|left, right| left.family.name.cmp(&right.family.name));
            StoreVersion { families }
        });
        Ok(())
    }

    pub(crate) fn version(&self) -> Arc<StoreVersion> {
        Arc::clone(&read(&self.version))
    }

    pub(crate) fn replace_version(&self, change: impl FnOnce(&StoreVersion) -> StoreVersion) {
        let mut version = write(&self.version);
        *version = Arc::new(change(&version));
    }

    pub(crate) fn manifest(&self) -> MutexGuard<'_, Manifest> {
        lock(&self.manifest)
    }

    /// Changes the manifest, on disk and then in memory. If that fails nobody knows which of the
    /// two is on disk, and the store stops.
    pub(crate) fn change(
        &self,
        manifest: &mut Manifest,
        change: impl FnOnce(&mut Manifest),
    ) -> Result<()> {
        let mut changed = manifest.clone();
        change(&mut changed);
        let stored = changed.store(&*self.vfs, &self.directory);
        stored.map_err(|error| self.commit.poison(error))?;
        *manifest = changed;
        Ok(())
    }

    /// Closes the log segment and begins another.
    pub(crate) fn roll_segment(&self, writer: &mut Writer) -> Result<()> {
        writer.write_pending()?;
        // A segment is whole on disk before the next begins: recovery takes a gap for damage.
        writer.segment.sync()?;
        let identity = *writer.segment.identity();
        let directory = self.directory.join(WAL_DIRECTORY);
        let number = identity.number.next();
        writer.segment = SegmentWriter::create(&*self.vfs, &directory, identity.store, number)?;
        Ok(())
    }

    pub(crate) fn view(&self) -> ReadView {
        // In this order: a version has all that was visible before it, never less.
        let version = self.version();
        ReadView { version, visible: self.commit.visible(), now: self.clock.now() }
    }

    fn stats(&self) -> Stats {
        let version = self.version();
        let families = version.families.iter().map(|family| FamilyStats {
            name: family.family.name.clone(),
            memstore_bytes: family.memstores().map(|it| it.bytes() as u64).sum(),
            memstore_cells: family.memstores().map(|it| it.len() as u64).sum(),
            reads: family.family.reads.snapshot(),
            ..FamilyStats::default()
        });
        Stats {
            families: families.collect(),
            sequence_id: self.commit.visible().get(),
            ..Stats::default()
        }
    }
}

impl Drop for Inner {
    /// Hands over what was written without haste. What fails here was not promised.
    fn drop(&mut self) {
        let _ = self.commit.writer().write_pending();
    }
}

const WAL_DIRECTORY: &str = "wal";

/// Makes the manifest of a new store.
fn create(vfs: &dyn Vfs, directory: &Path) -> Result<Manifest> {
    let wal = directory.join(WAL_DIRECTORY);
    if !vfs.list(&wal).map_err(Error::io(&wal, "list"))?.is_empty() {
        let path = directory.join(Manifest::NAME);
        return Err(Error::corrupt(&path, 0, "missing, although there is a log"));
    }
    let manifest = Manifest::new()?;
    manifest.store(vfs, directory)?;
    if let Some(parent) = directory.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        vfs.sync_directory(parent).map_err(Error::io(parent, "sync"))?;
    }
    Ok(manifest)
}

fn open_family(entry: &FamilyEntry) -> Arc<FamilyVersion> {
    let family = Family {
        id: entry.id,
        name: entry.name.clone(),
        options: entry.options.clone(),
        reads: sstable::ReadCounters::default(),
    };
    Arc::new(FamilyVersion {
        family: Arc::new(family),
        active: Arc::new(Memstore::new()),
        flushing: Vec::new(),
    })
}

#[cfg(test)]
mod tests;
