//! A store: one directory, one log, several families.
//!
//! ```text
//! LOCK            held for as long as the store is open
//! MANIFEST        what belongs to the store
//! wal/…           the log
//! FAMILY/…        the store files of a family: 32 hex digits each
//! UNFINISHED      there while a salvage makes the store, which is refused so long
//! ```

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use filter::Seed;
use sstable::{BlockCache, Cell, ReadTrace};

use crate::background::Background;
use crate::change::{Append, CheckAndMutate, Increment};
use crate::error::{Error, Result};
use crate::explain::Explanation;
use crate::export::Export;
use crate::import::{Age, RowRange};
use crate::keys::Keys;
use crate::manifest::{FileEntry, Manifest};
use crate::mutation::{Delete, Put, WriteBatch};
use crate::options::{Durability, FamilyOptions, StoreOptions};
use crate::query::{Get, Scan};
use crate::read::ReadView;
use crate::scan::Cells;
use crate::snapshot::Snapshot;
use crate::stats::{FamilyStats, Stats};
use crate::store_file::StoreFile;
use crate::sync::{JoinHandle, Mutex, MutexGuard, RwLock, lock, read, write};
use crate::unfinished::check_finished;
use crate::version::{Family, StoreVersion};
use crate::vfs::{Lock, Vfs};
use crate::wal::SegmentWriter;
use crate::watch::{Watch, Work};
use crate::write::{Commit, Stamp, Writer, prepare};

mod open;

use open::reader_options;
pub(crate) use open::take_lock;

/// A store that is open. Cloning it is cheap; all clones are the same store.
#[derive(Clone, Debug)]
pub struct Store {
    inner: Arc<Opened>,
}

/// The store's parts and the threads that work on them behind its users' backs. Whoever drops it
/// was the last user.
#[derive(Debug)]
struct Opened {
    inner: Arc<Inner>,
    threads: Vec<JoinHandle<()>>,
}

/// What the parts of a store share.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) directory: PathBuf,
    /// Of all our filters: one hash of a row serves every file.
    pub(crate) seed: Seed,
    pub(crate) options: StoreOptions,
    pub(crate) vfs: Arc<dyn Vfs>,
    cache: Arc<BlockCache>,
    version: RwLock<Arc<StoreVersion>>,
    pub(crate) commit: Commit,
    /// As it is on disk. Whoever changes what belongs to the store holds it.
    manifest: Mutex<Manifest>,
    /// Held by who flushes, taken before all other locks.
    pub(crate) flush_turn: Mutex<()>,
    /// Held by who compacts, taken before all other locks.
    pub(crate) compaction_turn: Mutex<()>,
    pub(crate) background: Background,
    counts: Mutex<Counts>,
    _lock: Box<dyn Lock>,
}

/// What was done since the store was opened.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) flushes: u64,
    pub(crate) compactions: u64,
    pub(crate) compactions_failed: u64,
    pub(crate) compaction_failure: Option<Arc<str>>,
    pub(crate) write_stalls: u64,
    pub(crate) write_stall_time: Duration,
}

impl Store {
    /// Opens the store in `directory`, or makes one.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`] if there is none and none is to be made, [`Error::Locked`] if it is open
    /// already, [`Error::Unfinished`] if a salvage into the directory has not come to its end,
    /// [`Error::Corrupt`] if the log or the manifest is damaged, and what the operating system or the
    /// store files say.
    pub fn open(directory: impl AsRef<Path>, options: StoreOptions) -> Result<Self> {
        let background = options.background;
        check_finished(&*options.vfs, directory.as_ref())?;
        let inner = Arc::new(Inner::open(directory.as_ref(), options)?);
        let mut opened = Opened { inner, threads: Vec::new() };
        if background {
            Background::start(&opened.inner, &mut opened.threads)?;
        }
        Ok(Self { inner: Arc::new(opened) })
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
        self.inner.write(batch.into(), durability, Stamp::Now)
    }

    /// Writes a batch, as safely as the store's options say.
    pub(crate) fn write_stamped(&self, batch: WriteBatch, stamp: Stamp) -> Result<()> {
        self.inner.write(batch, self.inner.options.durability, stamp)
    }

    /// Adds to the numbers in columns of a row, as safely as the store's options say; returns the
    /// new cells. Increments at the same time lose nothing.
    ///
    /// ```
    /// use store::{FamilyOptions, Increment, Store, StoreOptions};
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let directory = directory.path();
    /// let store = Store::open(directory, StoreOptions::default())?;
    /// store.create_family("f", FamilyOptions::default())?;
    /// for _ in 0..2 {
    ///     store.increment(&Increment::new("page").column("f", "visits", 5))?;
    /// }
    /// let now = store.increment(&Increment::new("page").column("f", "visits", 1))?;
    /// assert_eq!(now[0].value(), 11_i64.to_be_bytes());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if a column holds no number of 8 bytes; else as for [`get`](Self::get)
    /// and [`write`](Self::write).
    pub fn increment(&self, increment: &Increment) -> Result<Vec<Cell>> {
        self.inner.increment(increment)
    }

    /// Puts bytes behind the values of columns of a row, as safely as the store's options say;
    /// returns the new cells.
    ///
    /// ```
    /// use store::{Append, FamilyOptions, Store, StoreOptions};
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let directory = directory.path();
    /// let store = Store::open(directory, StoreOptions::default())?;
    /// store.create_family("f", FamilyOptions::default())?;
    /// store.append(&Append::new("row").column("f", "text", "Ada"))?;
    /// let now = store.append(&Append::new("row").column("f", "text", " Lovelace"))?;
    /// assert_eq!(now[0].value(), b"Ada Lovelace");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`get`](Self::get) and [`write`](Self::write).
    pub fn append(&self, append: &Append) -> Result<Vec<Cell>> {
        self.inner.append(append)
    }

    /// Writes to a row if one of its columns is as expected, as safely as the store's options say;
    /// returns whether it was. Nothing is written to the row in between.
    ///
    /// ```
    /// use store::{CheckAndMutate, FamilyOptions, Put, Store, StoreOptions};
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let directory = directory.path();
    /// let store = Store::open(directory, StoreOptions::default())?;
    /// store.create_family("f", FamilyOptions::default())?;
    /// let claim = |name| {
    ///     let put = Put::new("seat").column("f", "taken by", name);
    ///     CheckAndMutate::new("seat").if_not_exists("f", "taken by").put(put)
    /// };
    /// assert!(store.check_and_mutate(&claim("Ada"))?);
    /// assert!(!store.check_and_mutate(&claim("Charles"))?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if it names no condition, nothing to write, or another row; else as for
    /// [`get`](Self::get) and [`write`](Self::write).
    pub fn check_and_mutate(&self, check: &CheckAndMutate) -> Result<bool> {
        self.inner.check_and_mutate(check)
    }

    /// A family as a map from bytes to bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if there is no such family.
    pub fn keys(&self, family: &str) -> Result<Keys> {
        self.inner.view().family(family.as_bytes())?;
        Ok(Keys { store: self.clone(), family: family.into() })
    }

    /// Reads cells of one row, in order.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if a family is asked for that there is not, and what the store files say.
    pub fn get(&self, get: &Get) -> Result<Vec<Cell>> {
        self.inner.view().get(get)
    }

    /// Reads cells of one row, and tells what that took.
    ///
    /// # Errors
    ///
    /// As for [`get`](Self::get).
    pub fn get_traced(&self, get: &Get) -> Result<(Vec<Cell>, ReadTrace)> {
        self.inner.view().get_traced(get)
    }

    /// Reads cells of many rows, all as they are at this moment: for each get, in its place, what
    /// [`get`](Self::get) would return. The reads share what they wait for, so this is faster than one
    /// get after the other.
    ///
    /// ```
    /// # use store::{FamilyOptions, Get, Put, Store, StoreOptions};
    /// # let directory = tempfile::tempdir()?;
    /// # let store = Store::open(directory.path(), StoreOptions::default())?;
    /// # store.create_family("f", FamilyOptions::default())?;
    /// # store.put(Put::new("row1").column("f", "name", "Ada"))?;
    /// let found = store.multi_get(&[Get::row("row2"), Get::row("row1")])?;
    /// assert!(found[0].is_empty());
    /// assert_eq!(found[1][0].value(), b"Ada");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`get`](Self::get); nothing is returned then.
    pub fn multi_get(&self, gets: &[Get]) -> Result<Vec<Vec<Cell>>> {
        let answers = self.multi_get_traced(gets)?;
        Ok(answers.into_iter().map(|(cells, _)| cells).collect())
    }

    /// Reads cells of many rows, and tells what each get took.
    ///
    /// # Errors
    ///
    /// As for [`multi_get`](Self::multi_get).
    pub fn multi_get_traced(&self, gets: &[Get]) -> Result<Vec<(Vec<Cell>, ReadTrace)>> {
        self.inner.view().multi_get(gets)
    }

    /// Reads cells of one row, and tells the way file by file: which were passed over and why, and
    /// what was read of the others.
    ///
    /// ```
    /// use store::{FamilyOptions, FileFate, Get, Put, Store, StoreOptions};
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let directory = directory.path();
    /// let store = Store::open(directory, StoreOptions::default())?;
    /// store.create_family("f", FamilyOptions::default())?;
    /// store.put(Put::new("a").column("f", "q", "1"))?;
    /// store.flush()?;
    /// let way = store.explain(&Get::row("b"))?;
    /// assert_eq!(way.families[0].files[0].fate, FileFate::OutOfRange);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`get`](Self::get).
    pub fn explain(&self, get: &Get) -> Result<Explanation> {
        self.inner.view().explain(get)
    }

    /// The store as it is at this moment, for as many reads as are wanted.
    pub fn snapshot(&self) -> Snapshot {
        let view = self.inner.view();
        let _ = view.now(); // A snapshot's time is that of its making.
        Snapshot { view }
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
        self.inner.flush()
    }

    /// Merges files of a family: if `major`, all of them, and what is deleted, expired or one
    /// version too many goes.
    ///
    /// # Errors
    ///
    /// What the operating system or the files say; the files then stay as they are.
    pub fn compact(&self, family: &str, major: bool) -> Result<()> {
        self.inner.compact(family, major)
    }

    /// Gives all files of a family the filter that its options say, as it would be if all were written
    /// now. A budget in bytes is shared out anew; data blocks are copied as they are.
    ///
    /// # Errors
    ///
    /// What the operating system or the files say; a file keeps its filter then.
    pub fn rebuild_filters(&self, family: &str) -> Result<()> {
        self.inner.rebuild_filters(family)
    }

    /// Takes HFiles in as files of a family, by copy. They keep the sequence ids they carry; one
    /// without is newer than all that is there and than those before it in `files`.
    ///
    /// # Errors
    ///
    /// If one of them is damaged or of another family; none is taken in then.
    pub fn import(&self, family: &str, files: &[PathBuf]) -> Result<()> {
        self.inner.import(family, files, Age::Carried, RowRange::ALL)
    }

    /// Takes HFiles in as files of a family, by copy, as HBase's bulk load does: their cells are
    /// newer than all that is there, and than those of the files before them in `files`. As in
    /// HBase, the memstores are flushed first.
    ///
    /// # Errors
    ///
    /// If one of them is damaged or of another family; none is taken in then.
    pub fn bulk_load(&self, family: &str, files: &[PathBuf]) -> Result<()> {
        self.inner.flush()?;
        self.inner.import(family, files, Age::New, RowRange::ALL)
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
        self.inner.flush()?;
        self.inner.import(family, files, Age::New, RowRange { start, stop })
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
        self.inner.export(out.as_ref(), splits)
    }

    /// Makes a store in `directory`, which must be empty or not there, of what this one holds now.
    /// The memstores are flushed, and the files get a second name: nothing is copied, and from then
    /// on the two stores know nothing of each other.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if the directory is not empty, and what the operating system says, also
    /// if it is on another file system.
    pub fn checkpoint(&self, directory: impl AsRef<Path>) -> Result<()> {
        self.inner.checkpoint(directory.as_ref())
    }

    /// Reads the files of a family wholly and holds each against the checksum in the manifest;
    /// returns what is wrong, file by file. Compactions do the same with what they merge.
    ///
    /// # Errors
    ///
    /// If there is no such family, or a file cannot be read.
    pub fn check_files(&self, family: &str) -> Result<Vec<(PathBuf, Option<String>)>> {
        let view = self.inner.view();
        let files = view.family(family.as_bytes())?.files.by_sequence();
        let check = |file: &Arc<StoreFile>| match file.check_whole(|| true) {
            Ok(_) => Ok((file.path().to_path_buf(), None)),
            Err(Error::Corrupt { what, .. }) => {
                Ok((file.path().to_path_buf(), Some(what.into_owned())))
            }
            Err(error) => Err(error),
        };
        files.map(check).collect()
    }

    /// What the store holds and what its reads did.
    pub fn stats(&self) -> Stats {
        self.inner.stats()
    }
}

impl Inner {
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
        let (identity, previous) = (*writer.segment.identity(), writer.segment.as_previous());
        let (directory, number) = (self.wal_directory(), identity.number.next());
        let (vfs, store) = (&*self.vfs, identity.store);
        writer.segment = SegmentWriter::create(vfs, &directory, store, number, previous)?;
        Ok(())
    }

    fn write(&self, batch: WriteBatch, durability: Durability, stamp: Stamp) -> Result<()> {
        let cells = prepare(&self.version(), batch.cells)?;
        if cells.is_empty() {
            return Ok(());
        }
        self.wait_for_room()?;
        self.commit.write(self, cells, durability, stamp)?;
        self.make_room()
    }

    pub(crate) fn view(&self) -> ReadView {
        // In this order: a version has all that was visible before it, never less.
        let version = self.version();
        let visible = self.commit.visible();
        ReadView { version, visible, seed: self.seed, now: OnceLock::new() }
    }

    pub(crate) fn family_directory(&self, family: &Family) -> PathBuf {
        self.directory.join(&family.name)
    }

    pub(crate) fn wal_directory(&self) -> PathBuf {
        self.directory.join(WAL_DIRECTORY)
    }

    pub(crate) fn open_file(&self, family: &Family, entry: &FileEntry) -> Result<Arc<StoreFile>> {
        let options = reader_options(&self.options, &self.cache);
        let options = options.in_memory(family.options.in_memory);
        StoreFile::open(&self.vfs, &self.family_directory(family), &family.name, entry, options)
    }

    /// Hands the operating system what was logged without haste.
    pub(crate) fn write_log(&self) -> Result<()> {
        let written = self.commit.writer().write_pending();
        written.map_err(|error| self.commit.poison(error))
    }

    /// Takes the place of the one thread that flushes, or of the one that compacts; refuses if the
    /// store has stopped, also by a panic of who was there before.
    pub(crate) fn take_turn<'a>(&self, turn: &'a Mutex<()>) -> Result<MutexGuard<'a, ()>> {
        self.commit.check()?;
        let panicked = |_| Error::Poisoned { why: "a thread of the store panicked".into() };
        let turn = turn.lock().map_err(panicked)?;
        self.commit.check()?;
        Ok(turn)
    }

    /// Waits while the memstores take far more memory than they should: flushes do not keep up.
    pub(crate) fn wait_for_room(&self) -> Result<()> {
        let max = self.options.memstore_flush_bytes.saturating_mul(STALL_FACTOR);
        if !self.thread_runs() || self.version().memstore_bytes() <= max {
            return Ok(());
        }
        let (_watch, start) = (Watch::begin(Work::Stall), Instant::now());
        let result = loop {
            // Counted before the memory is looked at: a flush that ends in between is not missed.
            let before = self.background.flushes();
            let bytes = self.version().memstore_bytes();
            if bytes <= max {
                break Ok(());
            }
            let Some(left) = self.options.stall_max.checked_sub(start.elapsed()) else {
                let seconds = start.elapsed().as_secs_f64();
                break Err(Error::Busy { bytes, seconds });
            };
            if let Err(error) = self.commit.check() {
                break Err(error);
            }
            self.background.want_flush();
            self.background.wait_for_flush(before, left);
        };
        self.count(|counts| {
            counts.write_stalls += 1;
            counts.write_stall_time += start.elapsed();
        });
        result
    }

    /// Has the memstores flushed if they are full.
    pub(crate) fn make_room(&self) -> Result<()> {
        if !self.memstores_are_full() {
            return Ok(());
        }
        if self.thread_runs() {
            let is_flushing = self.flush_turn.try_lock().is_err();
            if is_flushing {
                self.set_full_memstores_aside()?;
            }
            self.background.want_flush();
            return Ok(());
        }
        self.flush()?;
        if self.options.auto_compaction { self.compact_as_needed() } else { Ok(()) }
    }

    pub(crate) fn memstores_are_full(&self) -> bool {
        self.version().active_bytes() >= self.options.memstore_flush_bytes
    }

    /// Whether memstores were set aside for a flush.
    pub(crate) fn memstores_wait(&self) -> bool {
        self.version().families.iter().any(|family| !family.flushing.is_empty())
    }

    const fn thread_runs(&self) -> bool {
        self.options.background
    }

    pub(crate) fn count(&self, change: impl FnOnce(&mut Counts)) {
        change(&mut lock(&self.counts));
    }

    fn stats(&self) -> Stats {
        let version = self.version();
        let families = version.families.iter().map(|family| FamilyStats {
            name: family.family.name.clone(),
            memstore_bytes: family.memstores().map(|it| it.bytes() as u64).sum(),
            memstore_cells: family.memstores().map(|it| it.len() as u64).sum(),
            files: family.files.by_time().len() as u64,
            file_bytes: family.files.by_time().iter().map(|it| it.file.entry.length).sum(),
            file_cells: family.files.by_time().iter().map(|it| it.file.entry.cells).sum(),
            reads: family.family.reads.snapshot(),
        });
        let counts = lock(&self.counts).clone();
        Stats {
            families: families.collect(),
            sequence_id: self.commit.visible().get(),
            flushes: counts.flushes,
            compactions: counts.compactions,
            compactions_failed: counts.compactions_failed,
            compaction_failure: counts.compaction_failure,
            write_stalls: counts.write_stalls,
            write_stall_time: counts.write_stall_time,
            cache: self.cache.stats(),
        }
    }
}

impl Deref for Opened {
    type Target = Arc<Inner>;

    fn deref(&self) -> &Self::Target {
        &self.inner
    }
}

impl Drop for Opened {
    /// Ends the background work and brings to safety what was written without haste. What fails
    /// here was not promised.
    fn drop(&mut self) {
        self.inner.background.stop();
        for thread in self.threads.drain(..) {
            let _ = thread.join(); // If it panicked, the store has stopped and says so.
        }
        if self.inner.commit.check().is_ok() {
            let _ = self.inner.write_log();
            let has_unlogged = self.inner.commit.writer().has_unlogged;
            if has_unlogged {
                let _ = self.inner.flush();
            }
        }
    }
}

pub(crate) const WAL_DIRECTORY: &str = "wal";
pub(crate) const LOCK_NAME: &str = "LOCK";
/// Writers wait once the memstores take this many times what they are flushed at.
const STALL_FACTOR: usize = 4;

#[cfg(test)]
mod tests;
