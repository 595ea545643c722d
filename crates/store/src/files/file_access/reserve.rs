//! The file system of an open store: no file is changed in a directory that is not the locked one, calls that lack a
//! descriptor get one, and a failed sync is final.
//!
//! Somebody may move the store's directory and put another store in its place. So all calls go to the file system
//! of the locked directory ([`Vfs::within`]), and each call that changes a file first checks the lock.
//!
//! A call that fails because the process or the system has no descriptor left is repeated: after store
//! files were closed ([`close_some_files`]), and then after one of the spare descriptors
//! that the store keeps was given up. So a flush, which needs two at a time, succeeds although the
//! program uses all others.

use std::fmt::{self, Debug};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, Weak};

use sstable::ReadAt;
use sstable::tools::close_some_files;

use crate::error::{Error, is_full, is_without_descriptor};
use crate::process::OwnProcess;
use crate::vfs::{AppendFile, Entry, Lock, Vfs};

/// The file system of an open store.
#[derive(Debug)]
pub(crate) struct ReservedFiles {
    /// As the options of the store have it.
    vfs: Arc<dyn Vfs>,
    /// The same file system, with paths into the locked directory looked up from its descriptor, if it can do that.
    locked: OnceLock<Arc<dyn Vfs>>,
    spare: Mutex<Spare>,
    process: OwnProcess,
    /// The store's lock, which the store holds; empty while it opens the store, and if it only reads.
    lock: OnceLock<Weak<dyn Lock>>,
}

/// Descriptors for calls that lack one.
#[derive(Default)]
struct Spare {
    /// The file that is opened for each; `None` for no spare descriptors.
    file: Option<PathBuf>,
    held: Vec<Arc<dyn ReadAt>>,
}

impl Spare {
    /// Two for a flush, which reads a new file while it writes the manifest, and two for a compaction.
    const COUNT: usize = 4;
}

impl ReservedFiles {
    /// Maximum repetitions of a call: other threads may take the descriptors that were set free.
    const ATTEMPTS_MAX: usize = 64;

    pub(crate) fn new(vfs: Arc<dyn Vfs>) -> Arc<Self> {
        let (locked, lock) = (OnceLock::new(), OnceLock::new());
        let (spare, process) = (Mutex::default(), OwnProcess::current());
        Arc::new(Self { vfs, locked, spare, process, lock })
    }

    /// Keeps to the locked directory from now on, and checks the lock before each change. Once the lock is dropped, a
    /// change is an error.
    pub(crate) fn keep_to(&self, lock: &Arc<dyn Lock>) {
        let is_first = self.lock.set(Arc::downgrade(lock)).is_ok();
        assert!(is_first, "a store takes its lock once");
        if let Some(locked) = self.vfs.within(&**lock) {
            self.locked.get_or_init(|| locked);
        }
    }

    fn vfs(&self) -> &dyn Vfs {
        &**self.locked.get().unwrap_or(&self.vfs)
    }

    /// Returns an error if this process must not change files of the store, or not any more.
    fn check_lock(&self) -> io::Result<()> {
        if !self.process.is_current() {
            return Err(io::Error::other(Error::Forked));
        }
        match self.lock.get().map(Weak::upgrade) {
            None => Ok(()),
            Some(Some(lock)) => lock.check(),
            // A reader that outlives the store drops a replaced file. The next open removes the file.
            Some(None) => Err(io::Error::other("the store is closed")),
        }
    }

    /// Keeps spare descriptors from now on, of this file.
    pub(crate) fn keep_spare(&self, file: PathBuf) {
        self.spare().file = Some(file);
        self.fill_spare();
    }

    /// Opens the spare descriptors that were given up, as far as there are any.
    fn fill_spare(&self) {
        let mut spare = self.spare();
        while let Some(file) = spare.file.as_ref().filter(|_| spare.held.len() < Spare::COUNT) {
            let Ok(descriptor) = self.vfs().open(file) else { break };
            spare.held.push(descriptor);
        }
    }

    fn spare(&self) -> MutexGuard<'_, Spare> {
        self.spare.lock().expect("no thread panics while it holds this lock")
    }

    /// Calls the file system, again if there is no descriptor and one can be set free.
    fn call<T>(&self, call: impl Fn(&dyn Vfs) -> io::Result<T>) -> io::Result<T> {
        let mut attempts = 1_usize;
        loop {
            let result = call(self.vfs());
            let lacks_one = result.as_ref().is_err_and(is_without_descriptor);
            let may_repeat = lacks_one && attempts < Self::ATTEMPTS_MAX;
            if may_repeat && (close_some_files() || self.spare().held.pop().is_some()) {
                attempts = attempts.saturating_add(1);
                continue;
            }
            if !lacks_one {
                self.fill_spare();
            }
            return result;
        }
    }
}

impl Debug for Spare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spare").field("held", &self.held.len()).finish_non_exhaustive()
    }
}

/// Hides from the caller that a sync or truncation lacked space, so that it is not repeated.
///
/// After a failed sync it is unknown which bytes are on disk, also if the reason was a full disk.
fn as_final(error: io::Error) -> io::Error {
    if is_full(&error) { io::Error::other(error) } else { error }
}

impl Vfs for ReservedFiles {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn ReadAt>> {
        self.call(|vfs| vfs.open(path))
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn AppendFile>> {
        self.check_lock()?;
        self.call(|vfs| vfs.create(path)).map(ReservedFile::boxed)
    }

    fn append(&self, path: &Path) -> io::Result<Box<dyn AppendFile>> {
        self.check_lock()?;
        self.call(|vfs| vfs.append(path)).map(ReservedFile::boxed)
    }

    fn truncate(&self, path: &Path, len: u64) -> io::Result<()> {
        self.check_lock()?;
        self.call(|vfs| vfs.truncate(path, len)).map_err(as_final)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.check_lock()?;
        self.vfs().rename(from, to)
    }

    fn hard_link(&self, original: &Path, link: &Path) -> io::Result<()> {
        self.check_lock()?;
        self.vfs().hard_link(original, link)
    }

    fn unlink(&self, path: &Path) -> io::Result<()> {
        self.check_lock()?;
        self.vfs().unlink(path)
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<Entry>> {
        self.call(|vfs| vfs.list(directory))
    }

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        self.check_lock()?;
        self.vfs().create_directory(path)
    }

    fn remove_directory(&self, path: &Path) -> io::Result<()> {
        self.check_lock()?;
        self.vfs().remove_directory(path)
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        self.call(|vfs| vfs.sync_directory(path)).map_err(as_final)
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn Lock>>> {
        self.call(|vfs| vfs.lock(path))
    }

    fn len(&self, path: &Path) -> io::Result<u64> {
        self.vfs().len(path)
    }
}

/// A file that is open for appending.
#[derive(Debug)]
struct ReservedFile(Box<dyn AppendFile>);

impl ReservedFile {
    fn boxed(file: Box<dyn AppendFile>) -> Box<dyn AppendFile> {
        Box::new(Self(file))
    }
}

impl AppendFile for ReservedFile {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync().map_err(as_final)
    }

    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.0.truncate(len).map_err(as_final)
    }
}
