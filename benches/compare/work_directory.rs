//! The directory for the data of all engines.
//!
//! It is removed at the end, also after SIGINT (Ctrl-C) and SIGTERM. The figures so far remain.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{io, panic, process, thread};

use tempfile::TempDir;

/// Held while files that remain are written. The thread that ends this process never releases it.
static UNDER_WAY: Mutex<()> = Mutex::new(());

/// The directory for the data of all engines; removed on drop.
pub(crate) struct WorkDirectory(TempDir);

impl WorkDirectory {
    /// Creates the directory in `parent`, or in the directory for temporary files.
    pub(crate) fn new(parent: Option<&Path>) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        let parent = parent.map_or_else(std::env::temp_dir, Path::to_owned);
        let directory = builder.prefix("compare-").tempdir_in(parent)?;
        let path = directory.path().to_owned();
        let stop = move || {
            // From here on other threads may fail, because their files are being removed.
            panic::set_hook(Box::new(|_| ()));
            let _not_now = lock();
            remove(&path);
            // 128 + SIGINT, as shells do.
            process::exit(130);
        };
        ctrlc::set_handler(stop).map_err(io::Error::other)?;
        Ok(Self(directory))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

/// Writes a file at once; a signal does not end the process halfway, and an error keeps the old file.
pub(crate) fn put(path: &Path, contents: &[u8]) -> io::Result<()> {
    let _not_now = lock();
    let new = path.with_extension("unfinished");
    fs::write(&new, contents)?;
    fs::rename(new, path)
}

impl Drop for WorkDirectory {
    fn drop(&mut self) {
        // A thread that ends the process holds this lock and removes the directory.
        drop(lock());
    }
}

fn lock() -> MutexGuard<'static, ()> {
    UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes a directory that engines may still write to, repeatedly until it is gone.
fn remove(directory: &Path) {
    let begun = Instant::now();
    while directory.exists() && begun.elapsed() < Duration::from_secs(10) {
        let _ = fs::remove_dir_all(directory);
        thread::sleep(Duration::from_millis(1));
    }
}

/// Reads all files of a directory, so that they are in the page cache and no engine waits for the
/// disk. The kernel may have dropped them while other stores were measured.
///
/// Returns their size on disk without logs, which engines keep arbitrarily long.
pub(crate) fn read_all(directory: &Path) -> io::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            bytes += read_all(&path)?;
            continue;
        }
        io::copy(&mut File::open(&path)?, &mut io::sink())?;
        let is_log = |log| path.extension().is_some_and(|extension| extension == log);
        if !["wal", "jnl", "log"].into_iter().any(is_log) {
            // The allocated size: a file may be longer than its data.
            bytes += path.metadata()?.blocks() * 512;
        }
    }
    Ok(bytes)
}
