//! Where the data of all engines are while they are compared: one directory, which is gone at the
//! end, also after Ctrl-C (SIGINT) and SIGTERM. What was measured until then stays.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{fs, panic, process, thread};

use tempfile::TempDir;

/// The directory; it goes when this is dropped.
pub(crate) struct Place {
    directory: TempDir,
    /// Locked for good by whoever ends the process.
    under_way: Arc<Mutex<Option<Child>>>,
}

impl Place {
    /// Makes the directory in `parent`, or where the system has temporary files.
    ///
    /// # Errors
    ///
    /// What the operating system says.
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
            // Whatever fails from now on does so because its files are being removed.
            panic::set_hook(Box::new(|_| ()));
            let mut child = lock(&to_end);
            if let Some(child) = &mut *child {
                let _ = child.kill();
                let _ = child.wait();
            }
            remove(&path);
            // 128 + SIGINT, as shells have it.
            process::exit(130);
        };
        ctrlc::set_handler(stop).map_err(io::Error::other)?;
        Ok(Self { directory, under_way })
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Puts a file in its place, whole or not at all: nothing ends the process halfway.
    ///
    /// # Errors
    ///
    /// What the operating system says; then what was there before still is.
    pub(crate) fn put(&self, path: &Path, contents: &[u8]) -> io::Result<()> {
        let _not_now = lock(&self.under_way);
        let directory = path.parent().filter(|it| !it.as_os_str().is_empty());
        let mut builder = tempfile::Builder::new();
        // Unlike most temporary files, for whom the umask lets: it will be the output.
        builder.prefix(".compare-").permissions(fs::Permissions::from_mode(0o666));
        let temporary = builder.tempfile_in(directory.unwrap_or(Path::new(".")))?;
        fs::write(temporary.path(), contents)?;
        temporary.persist(path)?;
        Ok(())
    }

    /// Runs a program, which does not outlive this one; returns what it says.
    ///
    /// # Errors
    ///
    /// If it cannot be started.
    pub(crate) fn ask(&self, program: &mut Command) -> io::Result<Vec<u8>> {
        let mut stdout = {
            let mut child = lock(&self.under_way);
            child.insert(program.stdout(Stdio::piped()).spawn()?).stdout.take()
        };
        let mut said = Vec::new();
        if let Some(stdout) = &mut stdout {
            stdout.read_to_end(&mut said)?;
        }
        if let Some(mut child) = lock(&self.under_way).take() {
            child.wait()?;
        }
        Ok(said)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // Whoever ends the process has this already, and removes the directory by itself.
        drop(lock(&self.under_way));
    }
}

fn lock(under_way: &Mutex<Option<Child>>) -> MutexGuard<'_, Option<Child>> {
    under_way.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes a directory that engines still write to: what they make anew is removed again.
fn remove(directory: &Path) {
    let begun = Instant::now();
    while directory.exists() && begun.elapsed() < Duration::from_secs(10) {
        let _ = fs::remove_dir_all(directory);
        thread::sleep(Duration::from_millis(1));
    }
}

/// Gives the files of a store that nobody has open a second directory. Those that are never written
/// to again (named by their extension) are the same files under another name, the others copies.
pub(crate) fn share(from: &Path, to: &Path, unchanging: &str) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            share(&from, &to, unchanging)?;
        } else if from.extension().is_some_and(|it| it == unchanging) {
            fs::hard_link(from, to)?;
        } else {
            fs::copy(from, to)?;
        }
    }
    Ok(())
}

/// Reads all files of a directory, so that the operating system has them in memory.
pub(crate) fn read_all(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            read_all(&entry.path())?;
        } else {
            let mut file = File::open(entry.path())?;
            let mut buffer = vec![0; 1 << 20];
            while file.read(&mut buffer)? > 0 {}
        }
    }
    Ok(())
}

/// Bytes of all files in a directory but those of the log, which engines keep as long as they like.
pub(crate) fn bytes_on_disk(directory: &Path) -> io::Result<u64> {
    use std::os::unix::fs::MetadataExt;

    const LOGS: [&str; 3] = ["wal", "jnl", "log"];
    let mut bytes = 0;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            bytes += bytes_on_disk(&path)?;
        } else if path.extension().is_none_or(|it| LOGS.iter().all(|log| it != *log)) {
            // What is allocated: a file may be longer than what was written of it.
            bytes += entry.metadata()?.blocks() * 512;
        }
    }
    Ok(bytes)
}
