//! The operating system's files, with every change below one directory refused, as on a read-only
//! file system or a full disk.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use sstable::ReadAt;
use store::vfs::{AppendFile, Entry, Lock, Vfs, real_files};

/// Called before each read call, with the number of the call.
type ReadHook = Box<dyn FnMut(u64) + Send>;

/// Refuses and counts each call that would change something below a directory.
pub struct ReadOnlyFiles {
    place: PathBuf,
    refusal: io::ErrorKind,
    refused: AtomicU64,
    reads: AtomicU64,
    hook: Mutex<Option<ReadHook>>,
}

impl std::fmt::Debug for ReadOnlyFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReadOnlyFiles").field("place", &self.place).finish_non_exhaustive()
    }
}

impl ReadOnlyFiles {
    /// Refuses changes below `place` with an error of this kind.
    pub fn new(place: &Path, refusal: io::ErrorKind) -> Arc<Self> {
        Arc::new(Self {
            place: place.to_path_buf(),
            refusal,
            refused: AtomicU64::new(0),
            reads: AtomicU64::new(0),
            hook: Mutex::new(None),
        })
    }

    /// Sets a hook that runs before each read call; calls are counted from 1 again.
    ///
    /// # Panics
    ///
    /// If an earlier hook has panicked.
    pub fn set_read_hook(&self, hook: impl FnMut(u64) + Send + 'static) {
        self.reads.store(0, Ordering::Relaxed);
        *self.hook.lock().expect("no hook panics") = Some(Box::new(hook));
    }

    /// Returns the number of calls that were refused.
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Returns the number of read calls.
    pub fn reads(&self) -> u64 {
        self.reads.load(Ordering::Relaxed)
    }

    fn read(&self) {
        let number = self.reads.fetch_add(1, Ordering::Relaxed) + 1;
        // Taken out of the lock, because the hook may read too.
        let hook = self.hook.lock().expect("no hook panics").take();
        if let Some(mut hook) = hook {
            hook(number);
            *self.hook.lock().expect("no hook panics") = Some(hook);
        }
    }

    fn change(&self, path: &Path) -> io::Result<()> {
        if path.starts_with(&self.place) {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return Err(self.refusal.into());
        }
        Ok(())
    }
}

impl Vfs for ReadOnlyFiles {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn ReadAt>> {
        self.read();
        real_files().open(path)
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn AppendFile>> {
        self.change(path)?;
        real_files().create(path)
    }

    fn append(&self, path: &Path) -> io::Result<Box<dyn AppendFile>> {
        self.change(path)?;
        real_files().append(path)
    }

    fn truncate(&self, path: &Path, len: u64) -> io::Result<()> {
        self.change(path)?;
        real_files().truncate(path, len)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.change(from)?;
        self.change(to)?;
        real_files().rename(from, to)
    }

    fn hard_link(&self, original: &Path, link: &Path) -> io::Result<()> {
        self.change(link)?;
        real_files().hard_link(original, link)
    }

    fn unlink(&self, path: &Path) -> io::Result<()> {
        self.change(path)?;
        real_files().unlink(path)
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<Entry>> {
        self.read();
        real_files().list(directory)
    }

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        self.change(path)?;
        real_files().create_directory(path)
    }

    fn remove_directory(&self, path: &Path) -> io::Result<()> {
        self.change(path)?;
        real_files().remove_directory(path)
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        self.change(path)?;
        real_files().sync_directory(path)
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn Lock>>> {
        self.change(path)?;
        real_files().lock(path)
    }

    fn len(&self, path: &Path) -> io::Result<u64> {
        self.read();
        real_files().len(path)
    }
}
