//! The interface to a file system or an object store.

use std::path::{self, Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::{fmt, fs, io};

use sstable::tools::{OpenFilesLimit, PooledFile};
use sstable::{FileSource, ReadAt};

/// A tree of directories and files.
///
/// [`LocalTree`] is the local file system.
pub trait FileTree: fmt::Debug + Send + Sync {
    /// Lists a directory, in any order.
    ///
    /// # Errors
    ///
    /// I/O errors; an item whose kind cannot be read is [`ItemKind::Other`].
    fn list(&self, directory: &Path) -> io::Result<Vec<Item>>;

    /// Returns what is at a path; `None` if nothing is. Follows symbolic links.
    ///
    /// # Errors
    ///
    /// I/O errors other than that the path does not exist.
    fn find(&self, path: &Path) -> io::Result<Option<ItemKind>>;

    /// Opens a file.
    ///
    /// # Errors
    ///
    /// I/O errors.
    fn open(&self, path: &Path) -> io::Result<Arc<dyn ReadAt>>;

    /// Returns the path from the top of the tree, without `..` and symbolic links.
    ///
    /// # Errors
    ///
    /// I/O errors.
    fn absolute(&self, path: &Path) -> io::Result<PathBuf>;

    /// Returns whether a path is a symbolic link itself, if no directory above it is one.
    ///
    /// The default compares the path with [`absolute`](Self::absolute), and so also calls a path below a
    /// link a link.
    ///
    /// # Errors
    ///
    /// I/O errors, also if nothing is at the path.
    fn is_link(&self, path: &Path) -> io::Result<bool> {
        Ok(self.absolute(path)? != path)
    }
}

/// An entry of a directory.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Item {
    /// The path: the path of the directory, and the name.
    pub path: PathBuf,
    /// The kind of the entry.
    pub kind: ItemKind,
}

impl Item {
    /// Returns the name; `None` if it is not UTF-8. All names that HBase gives are UTF-8.
    pub fn name(&self) -> Option<&str> {
        self.path.file_name()?.to_str()
    }
}

/// The kind of a directory entry.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ItemKind {
    /// A file, or a symbolic link to a file.
    File {
        /// The length in bytes.
        len: u64,
    },
    /// A directory.
    Directory,
    /// A symbolic link to a directory.
    DirectoryLink,
    /// Anything else: a pipe, a device, a symbolic link that leads nowhere.
    Other,
}

/// The local file system.
///
/// If many files are open, the least recently read files are closed, and opened again by their next read. The open
/// files take at most half of the descriptors that the process may have.
#[derive(Clone, Copy, Debug, Default)]
pub struct LocalTree;

impl FileTree for LocalTree {
    fn list(&self, directory: &Path) -> io::Result<Vec<Item>> {
        let mut items = Vec::new();
        for listed in fs::read_dir(directory)? {
            let entry = listed?;
            let path = entry.path();
            let is_link = entry.file_type()?.is_symlink();
            let kind = match fs::metadata(&path) {
                Ok(metadata) if is_link && metadata.is_dir() => ItemKind::DirectoryLink,
                Ok(metadata) => kind_of(&metadata),
                Err(_) => ItemKind::Other,
            };
            items.push(Item { path, kind });
        }
        Ok(items)
    }

    fn find(&self, path: &Path) -> io::Result<Option<ItemKind>> {
        match fs::metadata(path) {
            Ok(metadata) => Ok(Some(kind_of(&metadata))),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn ReadAt>> {
        let absolute = path::absolute(path)?;
        let file =
            PooledFile::open(move || Ok(Arc::new(FileSource::open(&absolute)?)), &OPEN_FILES)?;
        file.note_fingerprint(file.len().saturating_sub(FINGERPRINT_LEN))?;
        Ok(file)
    }

    fn absolute(&self, path: &Path) -> io::Result<PathBuf> {
        fs::canonicalize(path)
    }

    fn is_link(&self, path: &Path) -> io::Result<bool> {
        Ok(fs::symlink_metadata(path)?.is_symlink())
    }
}

/// The files of all trees of the process share its descriptors.
static OPEN_FILES: LazyLock<Arc<OpenFilesLimit>> = LazyLock::new(|| OpenFilesLimit::new(None));

/// How much of the end of a file is compared when the file is opened again: the trailer of an HFile, and usually its
/// file info.
const FINGERPRINT_LEN: u64 = 16 << 10;

fn kind_of(metadata: &fs::Metadata) -> ItemKind {
    if metadata.is_dir() {
        ItemKind::Directory
    } else if metadata.is_file() {
        ItemKind::File { len: metadata.len() }
    } else {
        ItemKind::Other
    }
}
