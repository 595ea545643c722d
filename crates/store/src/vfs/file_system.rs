//! What a store asks of a file system.

use std::any::Any;
use std::fmt::Debug;
use std::io;
use std::path::Path;
use std::sync::Arc;

use sstable::ReadAt;

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

    /// Returns this file system for as long as a lock of it is held: a path into the locked directory leads into
    /// that directory, also if somebody has moved it and put another one in its place.
    ///
    /// `None` if a path is always looked up; never anything else unless implemented. A store then only looks with
    /// [`Lock::check`] before it changes a file.
    fn within(&self, lock: &dyn Lock) -> Option<Arc<dyn Vfs>> {
        let _ = lock;
        None
    }

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
    pub(crate) fn is_directory(&self) -> bool {
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
    /// Returns the type as error messages name it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::File => "a regular file",
            Self::Directory => "a directory",
            Self::Link => "a symbolic link",
            Self::Pipe => "a named pipe",
            Self::Socket => "a socket",
            Self::Device => "a device",
            Self::Other => "a file of an unknown type",
        }
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
pub trait Lock: Any + Debug + Send + Sync {
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
