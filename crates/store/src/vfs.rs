//! The file system interface of this crate, so that tests can simulate faults and power cuts.
//!
//! No other module of this crate uses `std::fs`.

use std::fmt::{self, Debug};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sstable::{FileSource, ReadAt};

use crate::process::OwnProcess;

/// The file system operations that a store uses.
///
/// Written data is durable only after [`AppendFile::sync`]. The creation, the renaming and the
/// unlinking of a file are durable only after [`sync_directory`](Self::sync_directory).
pub trait Vfs: Debug + Send + Sync {
    /// Opens a file for reading.
    ///
    /// # Errors
    ///
    /// Errors of the operating system; also if the path does not name a regular file.
    fn open(&self, path: &Path) -> io::Result<Arc<dyn ReadAt>>;

    /// Creates a new file for writing.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::AlreadyExists`] if the file exists.
    fn create(&self, path: &Path) -> io::Result<Box<dyn AppendFile>>;

    /// Opens an existing file for appending.
    ///
    /// # Errors
    ///
    /// Errors of the operating system; also if the path does not name a regular file.
    fn append(&self, path: &Path) -> io::Result<Box<dyn AppendFile>>;

    /// Truncates a file to `len` bytes and syncs it.
    ///
    /// # Errors
    ///
    /// Errors of the operating system; also if the path does not name a regular file.
    fn truncate(&self, path: &Path, len: u64) -> io::Result<()>;

    /// Renames a file. An existing file at `to` is replaced.
    ///
    /// # Errors
    ///
    /// Errors of the operating system.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Creates a hard link; nothing may exist at `link`.
    ///
    /// # Errors
    ///
    /// Errors of the operating system, for example if the paths are on different file systems.
    fn hard_link(&self, original: &Path, link: &Path) -> io::Result<()>;

    /// Unlinks a file.
    ///
    /// # Errors
    ///
    /// Errors of the operating system.
    fn unlink(&self, path: &Path) -> io::Result<()>;

    /// Lists the entries of a directory, in no order.
    ///
    /// Omits entries whose names are not UTF-8: all files of a store have UTF-8 names.
    ///
    /// # Errors
    ///
    /// Errors of the operating system.
    fn list(&self, directory: &Path) -> io::Result<Vec<Entry>>;

    /// Creates a directory and its parents; an existing directory is not an error.
    ///
    /// # Errors
    ///
    /// Errors of the operating system.
    fn create_directory(&self, path: &Path) -> io::Result<()>;

    /// Removes an empty directory.
    ///
    /// # Errors
    ///
    /// Errors of the operating system.
    fn remove_directory(&self, path: &Path) -> io::Result<()>;

    /// Syncs a directory, so that the creation, renaming and unlinking of its files are durable.
    ///
    /// # Errors
    ///
    /// Errors of the operating system.
    fn sync_directory(&self, path: &Path) -> io::Result<()>;

    /// Locks the file at `path`, and creates the file if it is missing.
    ///
    /// Returns `None` if the lock is already held, by this or by another process. The lock must
    /// stay exclusive even if the file is removed and created again. It is released when the
    /// returned [`Lock`] is dropped or the process ends.
    ///
    /// # Errors
    ///
    /// Errors of the operating system; also if the path does not name a regular file.
    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn Lock>>>;

    /// Returns the length of a file in bytes.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::NotFound`] if the file does not exist.
    fn len(&self, path: &Path) -> io::Result<u64>;
}

/// An entry of a directory.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Entry {
    /// The file name, without the directory.
    pub name: String,
    /// The type of the entry.
    pub kind: EntryKind,
}

impl Entry {
    /// Returns whether the entry is a directory.
    pub fn is_directory(&self) -> bool {
        self.kind == EntryKind::Directory
    }
}

/// The type of a directory entry. Symbolic links are not resolved.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A named pipe.
    Pipe,
    /// A socket.
    Socket,
    /// A device.
    Device,
    /// A type that the operating system does not report as any of these.
    Other,
}

impl EntryKind {
    fn from_file_type(file_type: fs::FileType) -> Self {
        if file_type.is_file() {
            return Self::File;
        }
        if file_type.is_dir() {
            return Self::Directory;
        }
        if file_type.is_symlink() {
            return Self::Link;
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::FileTypeExt;
            if file_type.is_fifo() {
                return Self::Pipe;
            }
            if file_type.is_socket() {
                return Self::Socket;
            }
            if file_type.is_block_device() || file_type.is_char_device() {
                return Self::Device;
            }
        }
        Self::Other
    }
}

impl fmt::Display for EntryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::File => "a regular file",
            Self::Directory => "a directory",
            Self::Link => "a symbolic link",
            Self::Pipe => "a named pipe",
            Self::Socket => "a socket",
            Self::Device => "a device",
            Self::Other => "a file of an unknown type",
        })
    }
}

/// A file open for appending.
pub trait AppendFile: Debug + Send {
    /// Writes all of `bytes` to the operating system, so that they survive a killed process.
    ///
    /// # Errors
    ///
    /// Errors of the operating system. After an error the file may contain part of the bytes.
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Syncs all written bytes to disk, so that they survive a power cut.
    ///
    /// # Errors
    ///
    /// Errors of the operating system. Do not retry: a second call can succeed although unsynced
    /// bytes are lost.
    fn sync(&mut self) -> io::Result<()>;

    /// Truncates the file to `len` bytes and syncs it. The next write appends there.
    ///
    /// A store cuts off what a write to its log left that failed for lack of space. Without an
    /// implementation, the store stops at such a write.
    ///
    /// # Errors
    ///
    /// Errors of the operating system; [`io::ErrorKind::Unsupported`] unless implemented.
    fn truncate(&mut self, len: u64) -> io::Result<()> {
        let _ = len;
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// A held lock; dropping it releases the lock.
pub trait Lock: Debug + Send + Sync {
    /// Returns an error if the directory of the lock's path is not the locked one any more, because the directory
    /// was moved or replaced.
    ///
    /// A store calls this before it changes a file.
    ///
    /// # Errors
    ///
    /// The reason; never unless implemented.
    fn check(&self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the file system of the operating system.
pub fn real_files() -> Arc<dyn Vfs> {
    Arc::new(RealFiles)
}

/// The file system of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RealFiles;

impl Vfs for RealFiles {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn ReadAt>> {
        check_regular_file(path)?;
        Ok(Arc::new(FileSource::new(File::open(path)?)?))
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn AppendFile>> {
        Ok(Box::new(RealFile(OpenOptions::new().write(true).create_new(true).open(path)?)))
    }

    fn append(&self, path: &Path) -> io::Result<Box<dyn AppendFile>> {
        check_regular_file(path)?;
        Ok(Box::new(RealFile(OpenOptions::new().append(true).open(path)?)))
    }

    fn truncate(&self, path: &Path, len: u64) -> io::Result<()> {
        check_regular_file(path)?;
        let file = OpenOptions::new().write(true).open(path)?;
        file.set_len(len)?;
        file.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn hard_link(&self, original: &Path, link: &Path) -> io::Result<()> {
        fs::hard_link(original, link)
    }

    fn unlink(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            if let Ok(name) = entry.file_name().into_string() {
                entries.push(Entry { name, kind: EntryKind::from_file_type(entry.file_type()?) });
            }
        }
        Ok(entries)
    }

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        fs::create_dir_all(path)
    }

    fn remove_directory(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }

    #[cfg(unix)]
    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }

    #[cfg(not(unix))]
    fn sync_directory(&self, _path: &Path) -> io::Result<()> {
        // This system cannot open directories, and it journals changes to them.
        Ok(())
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn Lock>>> {
        match check_regular_file(path) {
            // A missing file is created below.
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut lock = RealLock::of(path);
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
        if !lock.try_add(file)? {
            return Ok(None);
        }
        // Also locks the directory: if the lock file is deleted and created again, the new file is
        // not locked.
        #[cfg(unix)]
        if let Some(directory) = path.parent()
            && !lock.try_add(File::open(directory)?)?
        {
            return Ok(None);
        }
        if let Some(file) = lock.held.first_mut() {
            // The process id only serves the error message of the next process that tries to lock,
            // so a failure (a full disk) is ignored.
            let _ = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
        }
        Ok(Some(Box::new(lock)))
    }

    fn len(&self, path: &Path) -> io::Result<u64> {
        Ok(fs::metadata(path)?.len())
    }
}

/// Returns an error if `path` does not name a regular file. Call this before opening a path.
///
/// Opening a pipe would wait for its other end, and a symbolic link may lead out of the store.
fn check_regular_file(path: &Path) -> io::Result<()> {
    match EntryKind::from_file_type(fs::symlink_metadata(path)?.file_type()) {
        EntryKind::File => Ok(()),
        kind => {
            let what = format!("is {kind}, not a regular file");
            Err(io::Error::new(io::ErrorKind::InvalidInput, what))
        }
    }
}

#[derive(Debug)]
struct RealFile(File);

impl AppendFile for RealFile {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.0.set_len(len)?;
        self.0.seek(SeekFrom::Start(len))?;
        self.0.sync_all()
    }
}

/// The locked files.
#[derive(Debug)]
struct RealLock {
    held: Vec<File>,
    /// The directory of the lock file, which is locked, too.
    directory: PathBuf,
    process: OwnProcess,
}

impl RealLock {
    /// Creates the lock of a path, which holds no file yet.
    fn of(path: &Path) -> Self {
        let directory = path.parent().unwrap_or(Path::new("")).to_path_buf();
        Self { held: Vec::new(), directory, process: OwnProcess::current() }
    }

    /// Locks a file and keeps it. Returns `false` if the file is already locked.
    fn try_add(&mut self, file: File) -> io::Result<bool> {
        match file.try_lock() {
            Ok(()) => {
                self.held.push(file);
                Ok(true)
            }
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

impl Lock for RealLock {
    fn check(&self) -> io::Result<()> {
        #[cfg(unix)]
        if let Some(held) = self.held.get(1) {
            use std::os::unix::fs::MetadataExt;
            let identity = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
            let now = fs::metadata(&self.directory).map(identity);
            if now.ok() != Some(held.metadata().map(identity)?) {
                let what = format!(
                    "the store's directory {} was moved or replaced while the store was open",
                    self.directory.display()
                );
                return Err(io::Error::other(what));
            }
        }
        Ok(())
    }
}

/// Unlocks the files. Closing them is not enough: a process that another thread starts shares them
/// between its fork and its exec.
impl Drop for RealLock {
    fn drop(&mut self) {
        if !self.process.is_current() {
            return; // A fork shares the files with the process that still holds the lock.
        }
        for file in &self.held {
            // A lock that cannot be released here is released when its last copy is closed.
            let _ = file.unlock();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_exclusive_even_if_its_file_is_created_again() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("LOCK");
        let held = RealFiles.lock(&path).unwrap().expect("free");
        assert!(RealFiles.lock(&path).unwrap().is_none());
        fs::remove_file(&path).unwrap();
        #[cfg(unix)]
        assert!(RealFiles.lock(&path).unwrap().is_none());
        drop(held);
        assert!(RealFiles.lock(&path).unwrap().is_some());
    }

    #[test]
    fn a_lock_is_released_although_another_process_shares_its_files() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("LOCK");
        let mut lock = RealLock::of(&path);
        assert!(lock.try_add(File::create(&path).unwrap()).unwrap());
        let shared = lock.held[0].try_clone().unwrap();
        drop(lock);
        assert!(RealFiles.lock(&path).unwrap().is_some());
        drop(shared);
    }

    #[test]
    fn only_regular_files_are_opened() {
        let directory = tempfile::tempdir().unwrap();
        assert!(RealFiles.open(directory.path()).is_err());
        let file = directory.path().join("file");
        RealFiles.create(&file).unwrap().write_all(b"cells").unwrap();
        assert_eq!(RealFiles.open(&file).unwrap().len(), 5);
        #[cfg(unix)]
        {
            let link = directory.path().join("link");
            std::os::unix::fs::symlink(&file, &link).unwrap();
            assert!(RealFiles.open(&link).is_err());
        }
    }
}
