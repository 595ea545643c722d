//! Limits how many of the files that are read have an open descriptor.
//!
//! ```text
//! read ─┬ the file is open       read lock of the file, one positioned read
//!       └ it is closed           open it, compare its fingerprint, count it; close the least recently used
//!                                files if there are too many; read
//! ```
//!
//! Two limits apply. The process has one for all its files: half of its soft limit of descriptors
//! (`RLIMIT_NOFILE`). The other half is a reserve for logs, new files, and the program. A store can have a
//! lower limit of its own ([`OpenFilesLimit`]).
//!
//! A file in use is not closed: its reader holds its lock, which closing only tries to take. So concurrent
//! reads of more files than the limit exceed it, by at most one file per reader.
//!
//! The locks are `std`'s even where loom models the threads of a store: no modelled operation runs under one.

use std::collections::BTreeMap;
use std::fmt::{self, Debug};
use std::io;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, RwLock, Weak};

use super::descriptors::descriptors_max;
use super::file_source::ReadAt;
use crate::own_process::OwnProcess;

/// The open files of the first process, and of its forks.
static OPEN: OnceLock<Box<ProcessFiles>> = OnceLock::new();
/// A counter that each open advances: the clock for "least recently used", and unique numbers for
/// groups and files.
static OPENS: AtomicU64 = AtomicU64::new(1);

/// Opens a file, again if the file was closed.
type Opener = dyn Fn() -> io::Result<Arc<dyn ReadAt>> + Send + Sync;

type OpenFiles = BTreeMap<FileNumber, Weak<PooledFile>>;

/// The open files of a process. A fork has its own: a thread that is not in the fork can hold the parent's lock.
struct ProcessFiles {
    process: OwnProcess,
    open: Mutex<OpenFiles>,
    fork: OnceLock<Box<Self>>,
}

/// The number of a file, unique in the process. The files of a group follow each other.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct FileNumber {
    group: u64,
    file: u64,
}

const POISONED: &str = "no thread panics while it holds a lock of the open files";

/// The limit of a group of files, such as the files of a store, and the number of its open files.
#[derive(Debug)]
pub struct OpenFilesLimit {
    /// The number of the group, unique in the process.
    group: u64,
    max: usize,
    /// Changed only while [`OPEN`] is locked.
    open: AtomicUsize,
}

impl OpenFilesLimit {
    /// Creates a group of files with at most `max` open ones, or as many as the process allows for `None`.
    pub fn new(max: Option<usize>) -> Arc<Self> {
        let (group, max) = (OPENS.fetch_add(1, Ordering::Relaxed), max.unwrap_or(usize::MAX));
        Arc::new(Self { group, max: max.max(1), open: AtomicUsize::new(0) })
    }
}

/// A file for reading whose descriptor is closed while other files need it more.
pub struct PooledFile {
    opener: Box<Opener>,
    len: u64,
    number: FileNumber,
    limit: Arc<OpenFilesLimit>,
    this: Weak<Self>,
    /// `None` while the file is closed.
    source: RwLock<Option<Arc<dyn ReadAt>>>,
    /// [`OPENS`] at the last read.
    used: AtomicU64,
    fingerprint: OnceLock<Fingerprint>,
}

/// A checksum of the parts of a file that differ between any two store files.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Fingerprint {
    /// The offset of the first part.
    at: u64,
    checksum: u32,
}

impl PooledFile {
    /// Opens a file with `opener`, as one of the open files of a group.
    ///
    /// # Errors
    ///
    /// Errors of `opener`.
    pub fn open(
        opener: impl Fn() -> io::Result<Arc<dyn ReadAt>> + Send + Sync + 'static,
        limit: &Arc<OpenFilesLimit>,
    ) -> io::Result<Arc<Self>> {
        let source = opener()?;
        let file = OPENS.fetch_add(1, Ordering::Relaxed);
        let number = FileNumber { group: limit.group, file };
        let file = Arc::new_cyclic(|this| Self {
            opener: Box::new(opener),
            len: source.len(),
            number,
            limit: Arc::clone(limit),
            this: Weak::clone(this),
            source: RwLock::new(Some(source)),
            used: AtomicU64::new(file),
            fingerprint: OnceLock::new(),
        });
        file.count();
        Ok(file)
    }

    /// Notes what distinguishes the file from all others: the bytes from `at` on, and its end.
    ///
    /// Until this is noted, only the length of a file that is opened again is compared.
    ///
    /// # Errors
    ///
    /// I/O errors.
    ///
    /// # Panics
    ///
    /// If the fingerprint is already noted.
    pub fn note_fingerprint(&self, at: u64) -> io::Result<()> {
        let fingerprint = Fingerprint::of(self, at, self.len)?;
        self.fingerprint.set(fingerprint).expect("noted once, after the file was opened");
        Ok(())
    }

    /// Counts this file, which is open, and closes others if there are too many.
    fn count(&self) {
        let mut open = lock_open();
        open.insert(self.number, Weak::clone(&self.this));
        let of_group = self.limit.open.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        let mut seen = Vec::new();
        if of_group > self.limit.max {
            let count = count_to_close(of_group, self.limit.max);
            seen.push(close_oldest(&mut open, Some(self.limit.group), count));
        }
        // Half of the descriptors, as they are limited now: a program may raise its limit.
        let max = (descriptors_max() / 2).max(1);
        if open.len() > max {
            let count = count_to_close(open.len(), max);
            seen.push(close_oldest(&mut open, None, count));
        }
        // Dropped after unlocking: the last reference to a file locks the open files.
        drop(open);
        drop(seen);
    }

    /// Reads from the file, which was closed; another reader may have opened it meanwhile.
    fn open_and_read(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let mut place = self.source.write().expect(POISONED);
        if let Some(source) = &*place {
            return source.read_exact_at(buffer, offset);
        }
        let source = (self.opener)().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => io::Error::new(error.kind(), REMOVED),
            _ => error,
        })?;
        // A log may have grown.
        let is_same = match self.fingerprint.get() {
            Some(known) if source.len() >= self.len => {
                Fingerprint::of(&*source, known.at, self.len)? == *known
            }
            Some(_) => false,
            None => source.len() == self.len,
        };
        if !is_same {
            return Err(io::Error::new(io::ErrorKind::InvalidData, REPLACED));
        }
        OPENS.fetch_add(1, Ordering::Relaxed);
        let source = place.insert(source);
        self.count();
        source.read_exact_at(buffer, offset)
    }
}

impl ReadAt for PooledFile {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        // Files that are read between two opens are equally recent, so a read rarely writes here.
        let now = OPENS.load(Ordering::Relaxed);
        if self.used.load(Ordering::Relaxed) != now {
            self.used.store(now, Ordering::Relaxed);
        }
        if let Some(source) = &*self.source.read().expect(POISONED) {
            return source.read_exact_at(buffer, offset);
        }
        self.open_and_read(buffer, offset)
    }
}

impl Debug for PooledFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PooledFile").field("number", &self.number).finish_non_exhaustive()
    }
}

impl Drop for PooledFile {
    fn drop(&mut self) {
        if self.source.get_mut().is_ok_and(|source| source.is_some()) {
            // A fork does not count the files that its parent opened.
            if lock_open().remove(&self.number).is_some() {
                self.limit.open.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }
}

const REMOVED: &str = "the file was removed after it was opened, and its descriptor was closed because \
                       many files are open; open the store or table again, or allow more open files";
const REPLACED: &str =
    "the file is another one than when it was opened first; open the store or table again";

impl Fingerprint {
    /// Length of each of the two parts; a trailer has 4,096 bytes.
    const PART: u64 = 4096;

    /// Reads the parts of the first `len` bytes.
    fn of(source: &dyn ReadAt, at: u64, len: u64) -> io::Result<Self> {
        let (at, end) = (at.min(len), len.saturating_sub(Self::PART));
        // In most files, little is between the file info and the trailer: one read has both parts.
        let between = end.saturating_sub(at);
        let first_len = if between <= 4 * Self::PART { len.saturating_sub(at) } else { Self::PART };
        let mut parts = vec![0; usize::try_from(first_len).expect("20 KiB at most")];
        source.read_exact_at(&mut parts, at)?;
        if between > 4 * Self::PART {
            let mut last = vec![0; parts.len()];
            source.read_exact_at(&mut last, end)?;
            parts.extend_from_slice(&last);
        }
        Ok(Self { at, checksum: crc_fast::crc32_iscsi(&parts) })
    }
}

/// Closes some of the least recently used files of the process; returns whether there were any.
///
/// For a system call that lacks a descriptor.
pub fn close_some_files() -> bool {
    let mut open = lock_open();
    let before = open.len();
    let seen = close_oldest(&mut open, None, before.div_ceil(4));
    let has_closed = open.len() < before;
    drop(open);
    drop(seen);
    has_closed
}

/// Closes the `count` least recently used files, of one group or of all, except those in use.
///
/// Returns all files among which it chose: they must be dropped after `open` is unlocked.
#[must_use]
fn close_oldest(open: &mut OpenFiles, group: Option<u64>, count: usize) -> Vec<Arc<PooledFile>> {
    let first = FileNumber { group: group.unwrap_or(0), file: 0 };
    let last = FileNumber { group: group.unwrap_or(u64::MAX), file: u64::MAX };
    let mut files: Vec<_> =
        open.range(first..=last).filter_map(|(_, file)| file.upgrade()).collect();
    files.sort_by_cached_key(|file| file.used.load(Ordering::Relaxed));
    let mut left = count;
    for file in &files {
        if left == 0 {
            break;
        }
        // A file whose lock is not free is in use, or is being opened.
        if let Ok(mut source) = file.source.try_write()
            && source.take().is_some()
        {
            open.remove(&file.number).expect("open files are counted");
            file.limit.open.fetch_sub(1, Ordering::Relaxed);
            left = left.saturating_sub(1);
        }
    }
    files
}

/// Returns how many files to close when `open` files exceed `max`.
///
/// A sixteenth of `max` more than needed, because each call sorts all open files.
const fn count_to_close(open: usize, max: usize) -> usize {
    open.saturating_sub(max).saturating_add(max / 16)
}

fn lock_open() -> MutexGuard<'static, OpenFiles> {
    let mut place = &OPEN;
    loop {
        let files = place.get_or_init(|| {
            let (process, open, fork) = (OwnProcess::current(), Mutex::default(), OnceLock::new());
            Box::new(ProcessFiles { process, open, fork })
        });
        if files.process.is_current() {
            return files.open.lock().expect(POISONED);
        }
        place = &files.fork;
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::source::FileSource;

    fn three_files(directory: &Path, max: usize) -> Vec<Arc<PooledFile>> {
        let limit = OpenFilesLimit::new(Some(max));
        let files = (0..3).map(|number| {
            let path = directory.join(number.to_string());
            fs::write(&path, [number; 9000]).unwrap();
            let opener = move || Ok(Arc::new(FileSource::open(&path)?) as Arc<dyn ReadAt>);
            let file = PooledFile::open(opener, &limit).unwrap();
            file.note_fingerprint(100).unwrap();
            file
        });
        files.collect()
    }

    fn open(files: &[Arc<PooledFile>]) -> Vec<bool> {
        files.iter().map(|file| file.source.read().unwrap().is_some()).collect()
    }

    fn read(file: &PooledFile) -> io::Result<u8> {
        let mut byte = [9];
        file.read_exact_at(&mut byte, 5000).map(|()| byte[0])
    }

    #[test]
    fn the_least_recently_used_file_is_closed_and_opened_by_its_next_read() {
        let directory = tempfile::tempdir().unwrap();
        let files = three_files(directory.path(), 2);
        assert_eq!(open(&files), [false, true, true]);
        assert_eq!(read(&files[0]).unwrap(), 0);
        assert_eq!(open(&files), [true, false, true]);
        assert_eq!(read(&files[2]).unwrap(), 2);
        assert_eq!(read(&files[1]).unwrap(), 1);
        assert_eq!(open(&files), [false, true, true]);
        assert_eq!(files[0].limit.open.load(Ordering::Relaxed), 2);
        let limit = Arc::clone(&files[0].limit);
        drop(files);
        assert_eq!(limit.open.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_file_in_use_is_not_closed() {
        let directory = tempfile::tempdir().unwrap();
        let files = three_files(directory.path(), 2);
        let in_use = files[1].source.read().unwrap();
        assert_eq!(read(&files[0]).unwrap(), 0);
        assert!(in_use.is_some());
        drop(in_use);
        assert_eq!(open(&files), [true, true, false]);
    }

    #[test]
    fn another_file_under_the_same_name_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let files = three_files(directory.path(), 2);
        let path = directory.path().join("0");
        // Only bytes of the first part differ: those that a file info may have.
        let mut other = vec![0; 9000];
        other[200] = 1;
        fs::write(&path, &other).unwrap();
        assert_eq!(read(&files[0]).unwrap_err().kind(), io::ErrorKind::InvalidData);
        // A file that grew is the same one, but not if its first bytes are others.
        fs::write(&path, [0; 9001]).unwrap();
        assert_eq!(read(&files[0]).unwrap(), 0);
        assert_eq!([read(&files[1]).unwrap(), read(&files[2]).unwrap()], [1, 2]);
        other.resize(9001, 0);
        fs::write(&path, &other).unwrap();
        assert_eq!(read(&files[0]).unwrap_err().kind(), io::ErrorKind::InvalidData);
        fs::write(&path, [0; 8999]).unwrap();
        assert_eq!(read(&files[0]).unwrap_err().kind(), io::ErrorKind::InvalidData);
        fs::remove_file(&path).unwrap();
        assert_eq!(read(&files[0]).unwrap_err().kind(), io::ErrorKind::NotFound);
        fs::write(&path, [0; 9000]).unwrap();
        assert_eq!(read(&files[0]).unwrap(), 0);
    }
}
