//! The local file system, without the permission to read one file or directory.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hbase_files::{FileTree, Item, ItemKind, LocalTree};
use sstable::ReadAt;

/// The local file system, which refuses to open or list paths that end in this one.
#[derive(Debug)]
pub(crate) struct Refusing(pub(crate) PathBuf);

impl Refusing {
    fn check(&self, path: &Path) -> io::Result<()> {
        if path.ends_with(&self.0) { Err(io::ErrorKind::PermissionDenied.into()) } else { Ok(()) }
    }
}

impl FileTree for Refusing {
    fn list(&self, directory: &Path) -> io::Result<Vec<Item>> {
        self.check(directory)?;
        LocalTree.list(directory)
    }

    fn find(&self, path: &Path) -> io::Result<Option<ItemKind>> {
        LocalTree.find(path)
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn ReadAt>> {
        self.check(path)?;
        LocalTree.open(path)
    }

    fn absolute(&self, path: &Path) -> io::Result<PathBuf> {
        LocalTree.absolute(path)
    }
}
