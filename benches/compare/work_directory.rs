//! The directory for the data of all engines.
//!
//! It is removed at the end, also after SIGINT (Ctrl-C) and SIGTERM. The figures so far remain.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{fs, panic, process, thread};

use tempfile::TempDir;

/// The directory for the data of all engines; removed on drop.
pub(crate) struct WorkDirectory {
    directory: TempDir,
    /// The running child process. The thread that ends this process never releases the lock.
    under_way: Arc<Mutex<Option<Child>>>,
}

impl WorkDirectory {
    /// Creates the directory in `parent`, or in the directory for temporary files.
    ///
    /// # Errors
    ///
    /// If a call of the operating system fails.
    pub(crate) fn new(parent: Option<&Path>) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        let builder = builder.prefix("compare-");
        let directory = match parent {
            Some(parent) => builder.tempdir_in(parent)?,
            None => builder.tempdir()?,
        };
        let path = directory.path().to_owned();
        let under_way = Arc::new(Mutex::new(None::<Child>));
        let to_end = Arc::clone(&under_way);
        let stop = move || {
            // From here on other threads may fail, because their files are being removed.
            panic::set_hook(Box::new(|_| ()));
            let mut child = lock(&to_end);
            if let Some(child) = &mut *child {
                let _ = child.kill();
                let _ = child.wait();
            }
            remove(&path);
            // 128 + SIGINT, as shells do.
            process::exit(130);
        };
        ctrlc::set_handler(stop).map_err(io::Error::other)?;
        Ok(Self { directory, under_way })
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Writes a file atomically; a signal does not end the process halfway.
    ///
    /// # Errors
    ///
    /// If a call of the operating system fails; then the old file remains.
    pub(crate) fn put(&self, path: &Path, contents: &[u8]) -> io::Result<()> {
        let _not_now = lock(&self.under_way);
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let mut builder = tempfile::Builder::new();
        // Temporary files are private; the output gets the permissions of the umask.
        builder.prefix(".compare-").permissions(fs::Permissions::from_mode(0o666));
        let temporary = builder.tempfile_in(directory.unwrap_or(Path::new(".")))?;
        fs::write(temporary.path(), contents)?;
        temporary.persist(path)?;
        Ok(())
    }

    /// Runs a program, which is killed if this process ends; returns its output.
    ///
    /// # Errors
    ///
    /// If it cannot be started.
    pub(crate) fn ask(&self, program: &mut Command) -> io::Result<Vec<u8>> {
        let mut stdout = {
            let mut child = lock(&self.under_way);
            child.insert(program.stdout(Stdio::piped()).spawn()?).stdout.take()
        };
        let mut output = Vec::new();
        if let Some(stdout) = &mut stdout {
            stdout.read_to_end(&mut output)?;
        }
        if let Some(mut child) = lock(&self.under_way).take() {
            child.wait()?;
        }
        Ok(output)
    }
}

impl Drop for WorkDirectory {
    fn drop(&mut self) {
        // A thread that ends the process holds this lock and removes the directory.
        drop(lock(&self.under_way));
    }
}

fn lock(under_way: &Mutex<Option<Child>>) -> MutexGuard<'_, Option<Child>> {
    under_way.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes a directory that engines may still write to, repeatedly until it is gone.
fn remove(directory: &Path) {
    let begun = Instant::now();
    while directory.exists() && begun.elapsed() < Duration::from_secs(10) {
        let _ = fs::remove_dir_all(directory);
        thread::sleep(Duration::from_millis(1));
    }
}

/// Gives a closed store a second directory with the same files: links to tables, and copies of the others.
pub(crate) fn share(from: &Path, to: &Path) -> io::Result<()> {
    for file in files_below(from)? {
        let copy = to.join(file.strip_prefix(from).map_err(io::Error::other)?);
        fs::create_dir_all(copy.parent().unwrap_or(to))?;
        // The extension of RocksDB's tables; only RocksDB has several kinds of cache.
        if file.extension().is_some_and(|extension| extension == "sst") {
            fs::hard_link(file, copy)?;
        } else {
            fs::copy(file, copy)?;
        }
    }
    Ok(())
}

/// Reads all files of a directory into the page cache.
pub(crate) fn read_all(directory: &Path) -> io::Result<()> {
    for file in files_below(directory)? {
        io::copy(&mut File::open(file)?, &mut io::sink())?;
    }
    Ok(())
}

/// Returns the size of all files in a directory without logs, which engines keep arbitrarily long.
pub(crate) fn bytes_on_disk(directory: &Path) -> io::Result<u64> {
    let mut bytes = 0;
    for file in files_below(directory)? {
        let is_log = |log| file.extension().is_some_and(|extension| extension == log);
        if !["wal", "jnl", "log"].into_iter().any(is_log) {
            // The allocated size: a file may be longer than its data.
            bytes += file.metadata()?.blocks() * 512;
        }
    }
    Ok(bytes)
}

fn files_below(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            files.extend(files_below(&entry.path())?);
        } else {
            files.push(entry.path());
        }
    }
    Ok(files)
}
