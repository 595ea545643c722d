//! A file system in memory, for stores that live as long as a test.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use bytes::Bytes;
use sstable::ReadAt;
use store::vfs::{AppendFile, Entry, Lock, Vfs};

/// A file system in memory. Clones are the same file system; a sync costs nothing.
#[derive(Clone, Debug, Default)]
pub struct MemoryFiles(Arc<Mutex<Tree>>);

type Contents = Arc<Mutex<Vec<u8>>>;

#[derive(Debug, Default)]
struct Tree {
    files: BTreeMap<PathBuf, Contents>,
    directories: BTreeSet<PathBuf>,
    locks: BTreeSet<PathBuf>,
}

impl MemoryFiles {
    fn tree(&self) -> MutexGuard<'_, Tree> {
        self.0.lock().expect("no test goes on after a panic")
    }

    fn contents(&self, path: &Path) -> io::Result<Contents> {
        self.tree().files.get(path).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

fn bytes(contents: &Contents) -> MutexGuard<'_, Vec<u8>> {
    contents.lock().expect("no test goes on after a panic")
}

impl Vfs for MemoryFiles {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn ReadAt>> {
        let contents = self.contents(path)?;
        let copy = Bytes::from(bytes(&contents).clone());
        Ok(Arc::new(copy))
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn AppendFile>> {
        let mut tree = self.tree();
        if !path.parent().is_some_and(|parent| tree.directories.contains(parent)) {
            return Err(io::ErrorKind::NotFound.into());
        }
        if tree.files.contains_key(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let contents = Contents::default();
        tree.files.insert(path.to_path_buf(), Arc::clone(&contents));
        Ok(Box::new(MemoryFile(contents)))
    }

    fn append(&self, path: &Path) -> io::Result<Box<dyn AppendFile>> {
        Ok(Box::new(MemoryFile(self.contents(path)?)))
    }

    fn truncate(&self, path: &Path, len: u64) -> io::Result<()> {
        let len = usize::try_from(len).map_err(io::Error::other)?;
        bytes(&self.contents(path)?).resize(len, 0);
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut tree = self.tree();
        let contents = tree.files.remove(from).ok_or(io::ErrorKind::NotFound)?;
        tree.files.insert(to.to_path_buf(), contents);
        Ok(())
    }

    fn hard_link(&self, original: &Path, link: &Path) -> io::Result<()> {
        let contents = self.contents(original)?;
        match self.tree().files.insert(link.to_path_buf(), contents) {
            None => Ok(()),
            Some(_) => Err(io::ErrorKind::AlreadyExists.into()),
        }
    }

    fn unlink(&self, path: &Path) -> io::Result<()> {
        let removed = self.tree().files.remove(path);
        removed.map(drop).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<Entry>> {
        let tree = self.tree();
        if !tree.directories.contains(directory) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let entries = |paths: &mut dyn Iterator<Item = &PathBuf>, is_directory| -> Vec<Entry> {
            let inside = paths.filter(|path| path.parent() == Some(directory));
            let names = inside.filter_map(|path| path.file_name()?.to_str());
            names.map(|name| Entry { name: name.to_owned(), is_directory }).collect()
        };
        let mut found = entries(&mut tree.files.keys(), false);
        found.extend(entries(&mut tree.directories.iter(), true));
        Ok(found)
    }

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        self.tree().directories.extend(path.ancestors().map(Path::to_path_buf));
        Ok(())
    }

    fn sync_directory(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn Lock>>> {
        let is_free = self.tree().locks.insert(path.to_path_buf());
        let lock = || MemoryLock { files: self.clone(), path: path.to_path_buf() };
        Ok(is_free.then(|| Box::new(lock()) as Box<dyn Lock>))
    }

    fn len(&self, path: &Path) -> io::Result<u64> {
        Ok(bytes(&self.contents(path)?).len() as u64)
    }
}

#[derive(Debug)]
struct MemoryFile(Contents);

impl AppendFile for MemoryFile {
    fn write_all(&mut self, written: &[u8]) -> io::Result<()> {
        bytes(&self.0).extend_from_slice(written);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[derive(Debug)]
struct MemoryLock {
    files: MemoryFiles,
    path: PathBuf,
}

impl Lock for MemoryLock {}

impl Drop for MemoryLock {
    fn drop(&mut self) {
        self.files.tree().locks.remove(&self.path);
    }
}
