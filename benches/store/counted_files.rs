//! A file system that counts the bytes read and written. Optionally, a file that is copied into the store
//! becomes a hard link to its original.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sstable::ReadAt;
use store::vfs::{AppendFile, Entry, Lock, Vfs, real_files};

use crate::FAMILY;

/// Bytes read, and bytes written by purpose. Clones share their counts.
#[derive(Clone, Debug, Default)]
pub(crate) struct CountedFiles {
    counts: Arc<Counts>,
    /// The file that all files of families link to.
    original: Option<PathBuf>,
}

#[derive(Debug, Default)]
struct Counts {
    read: AtomicU64,
    log: AtomicU64,
    files: AtomicU64,
}

impl CountedFiles {
    /// Creates a file system in which new files in a family's directory are links to `original`. What is
    /// written to them is discarded.
    pub(crate) fn with_links_to(original: &Path) -> Self {
        Self { original: Some(original.to_owned()), ..Self::default() }
    }

    /// Returns the bytes read.
    pub(crate) fn read_bytes(&self) -> u64 {
        self.counts.read.load(Ordering::Relaxed)
    }

    /// Returns the bytes written to the log.
    pub(crate) fn log_bytes(&self) -> u64 {
        self.counts.log.load(Ordering::Relaxed)
    }

    /// Returns the bytes written to store files and the manifest.
    pub(crate) fn file_bytes(&self) -> u64 {
        self.counts.files.load(Ordering::Relaxed)
    }

    fn counted(&self, path: &Path, file: Box<dyn AppendFile>) -> Box<dyn AppendFile> {
        let is_log = path.extension().is_some_and(|extension| extension == "wal");
        Box::new(CountedAppend { file, counts: Arc::clone(&self.counts), is_log })
    }
}

impl Vfs for CountedFiles {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn ReadAt>> {
        Ok(Arc::new(CountedRead {
            file: real_files().open(path)?,
            counts: Arc::clone(&self.counts),
        }))
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn AppendFile>> {
        if let Some(original) = &self.original
            && path.parent().is_some_and(|directory| directory.ends_with(FAMILY))
        {
            real_files().hard_link(original, path)?;
            return Ok(Box::new(Dropped));
        }
        real_files().create(path).map(|file| self.counted(path, file))
    }

    fn append(&self, path: &Path) -> io::Result<Box<dyn AppendFile>> {
        real_files().append(path).map(|file| self.counted(path, file))
    }

    fn truncate(&self, path: &Path, len: u64) -> io::Result<()> {
        real_files().truncate(path, len)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        real_files().rename(from, to)
    }

    fn hard_link(&self, original: &Path, link: &Path) -> io::Result<()> {
        real_files().hard_link(original, link)
    }

    fn unlink(&self, path: &Path) -> io::Result<()> {
        real_files().unlink(path)
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<Entry>> {
        real_files().list(directory)
    }

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        real_files().create_directory(path)
    }

    fn remove_directory(&self, path: &Path) -> io::Result<()> {
        real_files().remove_directory(path)
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        real_files().sync_directory(path)
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn Lock>>> {
        real_files().lock(path)
    }

    fn len(&self, path: &Path) -> io::Result<u64> {
        real_files().len(path)
    }
}

/// A link to a file that already has the bytes. Discards what is written.
#[derive(Debug)]
struct Dropped;

impl AppendFile for Dropped {
    fn write_all(&mut self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[derive(Debug)]
struct CountedAppend {
    file: Box<dyn AppendFile>,
    counts: Arc<Counts>,
    is_log: bool,
}

impl AppendFile for CountedAppend {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let count = if self.is_log { &self.counts.log } else { &self.counts.files };
        count.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.file.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync()
    }
}

struct CountedRead {
    file: Arc<dyn ReadAt>,
    counts: Arc<Counts>,
}

impl ReadAt for CountedRead {
    fn len(&self) -> u64 {
        self.file.len()
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.counts.read.fetch_add(buffer.len() as u64, Ordering::Relaxed);
        self.file.read_exact_at(buffer, offset)
    }
}
