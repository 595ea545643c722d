//! Where the data of all engines are while they are compared: one directory, which is gone at the
//! end, also after Ctrl-C.

use std::path::{Path, PathBuf};
use std::{fs, io};

use tempfile::TempDir;

/// The directory; it goes when this is dropped.
pub(crate) struct Place {
    directory: TempDir,
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
        let stop = move || {
            // Engines still write while this runs, so what they make anew is removed again.
            for _ in 0..10 {
                if fs::remove_dir_all(&path).is_ok() || !path.exists() {
                    break;
                }
            }
            std::process::exit(130);
        };
        ctrlc::set_handler(stop).map_err(io::Error::other)?;
        Ok(Self { directory })
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }
}

/// Copies a store that nobody has open.
pub(crate) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &to)?;
        } else {
            fs::copy(entry.path(), to)?;
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
