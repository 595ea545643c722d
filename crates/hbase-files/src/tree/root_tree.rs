//! The tree of a root directory: refuses symbolic links that lead out of it.
//!
//! Links within the root are followed. A path that is not below the root is not checked.

use std::collections::HashSet;
use std::error::Error as StdError;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::{fmt, io};

use sstable::ReadAt;

use crate::tree::{FileTree, Item, ItemKind};

/// A tree of files that opens and lists nothing to which a symbolic link leads out of a directory.
#[derive(Debug)]
pub(crate) struct RootTree {
    tree: Arc<dyn FileTree>,
    /// The directory, without symbolic links.
    root: PathBuf,
    /// Directories that were found to be in the root: to resolve each path again takes longer than to open a
    /// small file. At most the directories of the root.
    inside: Mutex<HashSet<PathBuf>>,
}

/// A symbolic link below a root directory that leads out of it.
#[derive(Debug)]
pub(crate) struct LinkOutOfRoot {
    pub(crate) link: PathBuf,
    target: PathBuf,
    root: PathBuf,
}

impl RootTree {
    pub(crate) fn new(tree: Arc<dyn FileTree>, root: PathBuf) -> Self {
        Self { tree, root, inside: Mutex::default() }
    }

    fn check_directory(&self, directory: &Path) -> io::Result<()> {
        if !directory.starts_with(&self.root) {
            return Ok(());
        }
        // Does not wait: in a fork, a thread of the parent can hold the lock for ever.
        if self.inside.try_lock().is_ok_and(|inside| inside.contains(directory)) {
            return Ok(());
        }
        if directory != self.root {
            self.check_entry(directory)?;
        }
        if let Ok(mut inside) = self.inside.try_lock() {
            inside.insert(directory.to_owned());
        }
        Ok(())
    }

    /// Checks an entry of a directory, after the directory itself.
    fn check_entry(&self, path: &Path) -> io::Result<()> {
        self.check_directory(path.parent().unwrap_or(path))?;
        if path.starts_with(&self.root) && self.tree.is_link(path)? {
            check_inside(&*self.tree, &self.root, path)?;
        }
        Ok(())
    }
}

/// Checks that a path below `root` does not lead out of it.
pub(crate) fn check_inside(tree: &dyn FileTree, root: &Path, path: &Path) -> io::Result<()> {
    let Ok(below) = path.strip_prefix(root) else { return Ok(()) };
    if tree.absolute(path)?.starts_with(root) {
        return Ok(());
    }
    let mut link = root.to_owned();
    for name in below {
        link.push(name);
        let target = tree.absolute(&link)?;
        if !target.starts_with(root) {
            let owned = root.to_owned();
            return Err(io::Error::other(LinkOutOfRoot { link, target, root: owned }));
        }
    }
    Ok(()) // The link was replaced meanwhile.
}

impl LinkOutOfRoot {
    /// Returns the link that caused an I/O error; the error itself for any other cause.
    pub(crate) fn cause(error: io::Error) -> Result<Self, io::Error> {
        error.downcast()
    }
}

impl fmt::Display for LinkOutOfRoot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (target, root) = (self.target.display(), self.root.display());
        write!(
            f,
            "the symbolic link leads to {target}, out of the root directory {root}, and is not followed; copy what it leads to into the root"
        )
    }
}

impl StdError for LinkOutOfRoot {}

impl FileTree for RootTree {
    fn list(&self, directory: &Path) -> io::Result<Vec<Item>> {
        self.check_directory(directory)?;
        self.tree.list(directory)
    }

    fn find(&self, path: &Path) -> io::Result<Option<ItemKind>> {
        self.tree.find(path)
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn ReadAt>> {
        self.check_entry(path)?;
        self.tree.open(path)
    }

    fn absolute(&self, path: &Path) -> io::Result<PathBuf> {
        self.tree.absolute(path)
    }

    fn is_link(&self, path: &Path) -> io::Result<bool> {
        self.tree.is_link(path)
    }
}
