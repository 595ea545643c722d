//! What the parts of an open store share: its version, its log, its manifest, and who waits for whom.
//!
//! ```text
//! turn (flush, compaction) → writer → manifest → version     no lock is taken after one to its right
//! ```

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use filter::Seed;
use sstable::BlockCache;

use super::open::reader_options;
use crate::error::{Error, Result};
use crate::files::manifest::{FileEntry, Manifest};
use crate::files::store_file::StoreFile;
use crate::files::version::{Family, StoreVersion};
use crate::maintenance::background::Background;
use crate::options::{Durability, StoreOptions};
use crate::read::get::ReadView;
use crate::stats::{FamilyStats, Stats};
use crate::sync::{Mutex, MutexGuard, RwLock, lock, read, write};
use crate::vfs::{Lock, Vfs};
use crate::watch::{Watch, Work};
use crate::write::commit::{Commit, Stamp, Writer, prepare};
use crate::write::mutation::WriteBatch;

pub(crate) const WAL_DIRECTORY: &str = "wal";
pub(crate) const LOCK_NAME: &str = "LOCK";
/// Writers wait once the memstores take this many times what they are flushed at.
const STALL_FACTOR: usize = 4;

/// What the parts of a store share.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) directory: PathBuf,
    /// Of all our filters: one hash of a row serves every file.
    pub(crate) seed: Seed,
    pub(crate) options: StoreOptions,
    pub(crate) vfs: Arc<dyn Vfs>,
    pub(super) cache: Arc<BlockCache>,
    pub(super) version: RwLock<Arc<StoreVersion>>,
    pub(crate) commit: Commit,
    /// As it is on disk. Whoever changes what belongs to the store holds it.
    pub(super) manifest: Mutex<Manifest>,
    /// Held by who flushes, taken before all other locks.
    pub(crate) flush_turn: Mutex<()>,
    /// Held by who compacts, taken before all other locks.
    pub(crate) compaction_turn: Mutex<()>,
    pub(crate) background: Background,
    pub(super) counts: Mutex<Counts>,
    /// `None` in a store that is only read.
    pub(super) _lock: Option<Box<dyn Lock>>,
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

    /// Begins a log segment, unless one is being written.
    pub(crate) fn begin_segment(&self, writer: &mut Writer) -> Result<()> {
        if writer.log.segment().is_some() {
            return Ok(());
        }
        writer.log.begin(&*self.vfs, &self.wal_directory())?;
        // A missing segment is noticed only if the manifest knew of it before it held anything.
        let end = writer.log.next();
        let mut manifest = self.manifest();
        self.change(&mut manifest, |manifest| manifest.log_end = manifest.log_end.max(end))
    }

    pub(super) fn write(
        &self,
        batch: WriteBatch,
        durability: Durability,
        stamp: Stamp,
    ) -> Result<()> {
        self.commit.check()?;
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

    pub(super) fn stats(&self) -> Stats {
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
        let filter_problems = version.families.iter().flat_map(|family| {
            let files = family.files.by_sequence();
            files.filter_map(|it| it.filter_problem(&family.family.name)).collect::<Vec<_>>()
        });
        let counts = lock(&self.counts).clone();
        Stats {
            filter_problems: filter_problems.collect(),
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
