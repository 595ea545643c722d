//! Every file call of this crate, so that faults and power cuts can be simulated.
//!
//! Nothing else in this crate names `std::fs`.

use std::fmt::{self, Debug};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use sstable::{FileSource, ReadAt};

/// A file system, as far as a store needs one.
///
/// What is written is durable only once [`AppendFile::sync`] has returned, and what is made,
/// renamed or unlinked only once [`sync_directory`](Self::sync_directory) has.
pub trait Vfs: Debug + Send + Sync {
    /// Opens a file for reading.
    ///
    /// # Errors
    ///
    /// What the operating system says, as for every call of this trait; also if the path names
    /// anything but a plain file.
    fn open(&self, path: &Path) -> io::Result<Arc<dyn ReadAt>>;

    /// Makes a file, which must not exist, for writing.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::AlreadyExists`] if there is one.
    fn create(&self, path: &Path) -> io::Result<Box<dyn AppendFile>>;

    /// Opens a file to write behind its end.
    ///
    /// # Errors
    ///
    /// What the operating system says.
    fn append(&self, path: &Path) -> io::Result<Box<dyn AppendFile>>;

    /// Cuts a file to `len` bytes, durably.
    ///
    /// # Errors
    ///
    /// What the operating system says.
    fn truncate(&self, path: &Path, len: u64) -> io::Result<()>;

    /// Gives a file another name, replacing what had it.
    ///
    /// # Errors
    ///
    /// What the operating system says.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Gives a file a second name, which must not exist.
    ///
    /// # Errors
    ///
    /// What the operating system says, also if the two names cannot share a file.
    fn hard_link(&self, original: &Path, link: &Path) -> io::Result<()>;

    /// Removes a file's name.
    ///
    /// # Errors
    ///
    /// What the operating system says.
    fn unlink(&self, path: &Path) -> io::Result<()>;

    /// The names in a directory, in no order; those that are not UTF-8 are left out, for no file
    /// of ours has such a name.
    ///
    /// # Errors
    ///
    /// What the operating system says.
    fn list(&self, directory: &Path) -> io::Result<Vec<Entry>>;

    /// Makes a directory and those it stands in; one that exists is no error.
    ///
    /// # Errors
    ///
    /// What the operating system says.
    fn create_directory(&self, path: &Path) -> io::Result<()>;

    /// Removes a directory in which nothing is left.
    ///
    /// # Errors
    ///
    /// What the operating system says.
    fn remove_directory(&self, path: &Path) -> io::Result<()>;

    /// Makes durable what was made, renamed and unlinked in a directory.
    ///
    /// # Errors
    ///
    /// What the operating system says.
    fn sync_directory(&self, path: &Path) -> io::Result<()>;

    /// Takes the lock that the file at `path` stands for, making the file if need be; `None` if
    /// somebody else holds it, also if the file was removed and made anew since. It is held until it
    /// is dropped or the process ends.
    ///
    /// # Errors
    ///
    /// What the operating system says; also if the path names anything but a plain file.
    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn Lock>>>;

    /// The length of a file in bytes.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::NotFound`] if there is none.
    fn len(&self, path: &Path) -> io::Result<u64>;
}

/// A name in a directory.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Entry {
    /// The name, without the directory.
    pub name: String,
    /// What it names.
    pub kind: EntryKind,
}

impl Entry {
    /// Whether it names a directory.
    pub fn is_directory(&self) -> bool {
        self.kind == EntryKind::Directory
    }
}

/// What a name stands for. Links are not followed.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum EntryKind {
    /// A plain file.
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
    /// Something else.
    Other,
}

impl EntryKind {
    fn of(file_type: fs::FileType) -> Self {
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
            Self::File => "a plain file",
            Self::Directory => "a directory",
            Self::Link => "a symbolic link",
            Self::Pipe => "a named pipe",
            Self::Socket => "a socket",
            Self::Device => "a device",
            Self::Other => "a file of an unknown type",
        })
    }
}

/// A file that is written from front to end.
pub trait AppendFile: Debug + Send {
    /// Hands all of `bytes` to the operating system: from then on they survive this process.
    ///
    /// # Errors
    ///
    /// What the operating system says; part of the bytes may then be in the file.
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Waits until all that was written is on disk: from then on it survives a power cut.
    ///
    /// # Errors
    ///
    /// What the operating system says. What was written before is then lost or not, and another
    /// call may claim success all the same: do not try again.
    fn sync(&mut self) -> io::Result<()>;
}

/// A lock that is held.
pub trait Lock: Debug + Send + Sync {}

/// The operating system's own files.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealFiles;

impl Vfs for RealFiles {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn ReadAt>> {
        check_plain(path)?;
        Ok(Arc::new(FileSource::new(File::open(path)?)?))
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn AppendFile>> {
        Ok(Box::new(RealFile(OpenOptions::new().write(true).create_new(true).open(path)?)))
    }

    fn append(&self, path: &Path) -> io::Result<Box<dyn AppendFile>> {
        check_plain(path)?;
        Ok(Box::new(RealFile(OpenOptions::new().append(true).open(path)?)))
    }

    fn truncate(&self, path: &Path, len: u64) -> io::Result<()> {
        check_plain(path)?;
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
                entries.push(Entry { name, kind: EntryKind::of(entry.file_type()?) });
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
        Ok(()) // Directories cannot be opened, and their changes are journalled by the system.
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn Lock>>> {
        match check_plain(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut held = Vec::new();
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
        if !try_lock(file, &mut held)? {
            return Ok(None);
        }
        // The file could be deleted and made anew while it is locked; the directory cannot.
        #[cfg(unix)]
        if let Some(directory) = path.parent()
            && !try_lock(File::open(directory)?, &mut held)?
        {
            return Ok(None);
        }
        if let Some(file) = held.first_mut() {
            // For the message to whoever finds the store locked; a full disk is no reason to refuse it.
            let _ = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
        }
        Ok(Some(Box::new(RealLock { _held: held })))
    }

    fn len(&self, path: &Path) -> io::Result<u64> {
        Ok(fs::metadata(path)?.len())
    }
}

/// Refuses what is no plain file, before it is opened: opening a pipe would wait for its other end,
/// and a link may lead anywhere.
fn check_plain(path: &Path) -> io::Result<()> {
    match EntryKind::of(fs::symlink_metadata(path)?.file_type()) {
        EntryKind::File => Ok(()),
        kind => {
            let what = format!("is {kind}, not a plain file");
            Err(io::Error::new(io::ErrorKind::InvalidInput, what))
        }
    }
}

fn try_lock(file: File, held: &mut Vec<File>) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => {
            held.push(file);
            Ok(true)
        }
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
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
}

/// The locks end when the files are closed.
#[derive(Debug)]
struct RealLock {
    _held: Vec<File>,
}

impl Lock for RealLock {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_held_once_even_if_its_file_is_made_anew() {
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
    fn only_plain_files_are_opened() {
        let directory = tempfile::tempdir().unwrap();
        assert!(RealFiles.open(directory.path()).is_err());
        let (file, link) = (directory.path().join("file"), directory.path().join("link"));
        RealFiles.create(&file).unwrap().write_all(b"cells").unwrap();
        assert_eq!(RealFiles.open(&file).unwrap().len(), 5);
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&file, &link).unwrap();
            assert!(RealFiles.open(&link).is_err());
        }
        let _ = link;
    }
}
