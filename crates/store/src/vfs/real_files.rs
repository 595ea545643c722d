//! The file system of the operating system.

use std::any::Any;
use std::fs::{self, File, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sstable::{FileSource, ReadAt};

use super::file_system::{AppendFile, Entry, EntryKind, Lock, Vfs};
use super::place::{Access, Place};
use crate::process::OwnProcess;

/// The file system of the operating system.
#[derive(Clone, Debug, Default)]
pub(crate) struct RealFiles {
    locked: Option<OpenDirectory>,
}

/// A directory, by the path that it was opened with and by its descriptor.
#[derive(Clone, Debug)]
struct OpenDirectory {
    path: PathBuf,
    file: Arc<File>,
}

impl RealFiles {
    /// Returns where a path leads: into the locked directory, if it begins with the path of that.
    fn place<'a>(&'a self, path: &'a Path) -> Place<'a> {
        #[cfg(unix)]
        if let Some(locked) = &self.locked
            && let Ok(inside) = path.strip_prefix(&locked.path)
        {
            return Place::within(&locked.file, inside);
        }
        Place::of(path)
    }

    /// Opens a regular file that is there.
    fn open_regular(&self, path: &Path, access: Access) -> io::Result<File> {
        let place = self.place(path);
        check_regular_file(&place)?;
        place.open(access)
    }
}

impl Vfs for RealFiles {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn ReadAt>> {
        Ok(Arc::new(FileSource::new(self.open_regular(path, Access::Read)?)?))
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn AppendFile>> {
        Ok(Box::new(RealFile(self.place(path).open(Access::Create)?)))
    }

    fn append(&self, path: &Path) -> io::Result<Box<dyn AppendFile>> {
        Ok(Box::new(RealFile(self.open_regular(path, Access::Append)?)))
    }

    fn truncate(&self, path: &Path, len: u64) -> io::Result<()> {
        let file = self.open_regular(path, Access::Write)?;
        file.set_len(len)?;
        file.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.place(from).rename(&self.place(to))
    }

    fn hard_link(&self, original: &Path, link: &Path) -> io::Result<()> {
        self.place(original).hard_link(&self.place(link))
    }

    fn unlink(&self, path: &Path) -> io::Result<()> {
        self.place(path).unlink()
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<Entry>> {
        self.place(directory).list()
    }

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        self.place(path).create_directory()
    }

    fn remove_directory(&self, path: &Path) -> io::Result<()> {
        self.place(path).remove_directory()
    }

    #[cfg(unix)]
    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        self.place(path).open(Access::Directory)?.sync_all()
    }

    #[cfg(not(unix))]
    fn sync_directory(&self, _path: &Path) -> io::Result<()> {
        // This system cannot open directories, and it journals changes to them.
        Ok(())
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn Lock>>> {
        let path = &std::path::absolute(path)?;
        let mut lock = RealLock::new();
        let mut files = Self::default();
        // First the directory: the lock file may be deleted and created again.
        #[cfg(unix)]
        if let Some(directory) = path.parent() {
            let file = Arc::new(File::open(directory)?);
            if !lock.try_add(Arc::clone(&file))? {
                return Ok(None);
            }
            lock.directory = Some(OpenDirectory { path: directory.to_path_buf(), file });
            files.locked.clone_from(&lock.directory);
        }
        let access = match check_regular_file(&files.place(path)) {
            Ok(()) => Access::Write,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Access::Create,
            Err(error) => return Err(error),
        };
        let file = match files.place(path).open(access) {
            // Another process has just created it, and may hold the lock.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                files.place(path).open(Access::Write)
            }
            file => file,
        };
        let file = Arc::new(file?);
        if !lock.try_add(Arc::clone(&file))? {
            return Ok(None);
        }
        // The process id only serves the error message of the next process that tries to lock,
        // so a failure (a full disk) is ignored.
        let _ = file.set_len(0).and_then(|()| writeln!(&*file, "{}", std::process::id()));
        Ok(Some(Box::new(lock)))
    }

    fn within(&self, lock: &dyn Lock) -> Option<Arc<dyn Vfs>> {
        let lock: &RealLock = (lock as &dyn Any).downcast_ref()?;
        Some(Arc::new(Self { locked: Some(lock.directory.clone()?) }))
    }

    fn len(&self, path: &Path) -> io::Result<u64> {
        self.place(path).len()
    }
}

/// Returns an error unless a regular file is at the place. Call this before opening it.
///
/// Opening a pipe would wait for its other end, and a symbolic link may lead out of the store.
fn check_regular_file(place: &Place<'_>) -> io::Result<()> {
    match place.kind()? {
        EntryKind::File => Ok(()),
        kind => {
            let what = format!("is {}, not a regular file", kind.name());
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
    held: Vec<Arc<File>>,
    /// The directory of the lock file, if it is locked, too.
    directory: Option<OpenDirectory>,
    process: OwnProcess,
}

impl RealLock {
    /// Creates a lock that holds no file yet.
    fn new() -> Self {
        Self { held: Vec::new(), directory: None, process: OwnProcess::current() }
    }

    /// Locks a file and keeps it. Returns `false` if the file is already locked.
    fn try_add(&mut self, file: Arc<File>) -> io::Result<bool> {
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
        if let Some(directory) = &self.directory {
            use std::os::unix::fs::MetadataExt;
            let identity = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
            let now = fs::metadata(&directory.path).map(identity);
            if now.ok() != Some(directory.file.metadata().map(identity)?) {
                let what = format!(
                    "the store's directory {} was moved or replaced while the store was open",
                    directory.path.display()
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
        let held = RealFiles::default().lock(&path).unwrap().expect("free");
        assert!(RealFiles::default().lock(&path).unwrap().is_none());
        fs::remove_file(&path).unwrap();
        #[cfg(unix)]
        assert!(RealFiles::default().lock(&path).unwrap().is_none());
        drop(held);
        assert!(RealFiles::default().lock(&path).unwrap().is_some());
    }

    #[test]
    fn a_lock_is_released_although_another_process_shares_its_files() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("LOCK");
        let mut lock = RealLock::new();
        assert!(lock.try_add(Arc::new(File::create(&path).unwrap())).unwrap());
        let shared = lock.held[0].try_clone().unwrap();
        drop(lock);
        assert!(RealFiles::default().lock(&path).unwrap().is_some());
        drop(shared);
    }

    /// The directory is replaced after the lock was checked.
    #[cfg(unix)]
    #[test]
    fn a_path_into_the_locked_directory_leads_nowhere_else() {
        let root = tempfile::tempdir().unwrap();
        let place = root.path().join("place");
        let [mine, other] = ["mine", "other"].map(|name| root.path().join(name));
        for directory in [&place, &other] {
            fs::create_dir_all(directory.join("f")).unwrap();
            fs::write(directory.join("f/old"), "1").unwrap();
        }
        let lock = RealFiles::default().lock(&place.join("LOCK")).unwrap().expect("free");
        let files = RealFiles::default().within(&*lock).expect("it has a descriptor");
        fs::rename(&place, &mine).unwrap();
        fs::rename(&other, &place).unwrap();
        let names_in = |directory: &Path| {
            let mut names: Vec<_> = fs::read_dir(directory.join("f")).unwrap().collect();
            names.sort_by_key(|entry| entry.as_ref().unwrap().file_name());
            names
                .into_iter()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect()
        };
        let of_other: Vec<String> = names_in(&place);
        let [old, new, linked, renamed] =
            ["old", "new", "linked", "renamed"].map(|name| place.join("f").join(name));
        files.create(&new).unwrap().write_all(b"cells").unwrap();
        files.append(&new).unwrap().write_all(b"more").unwrap();
        assert_eq!(files.len(&new).unwrap(), 9);
        files.truncate(&new, 5).unwrap();
        assert_eq!(files.open(&new).unwrap().len(), 5);
        files.hard_link(&new, &linked).unwrap();
        files.rename(&new, &renamed).unwrap();
        files.unlink(&old).unwrap();
        files.create_directory(&place.join("g")).unwrap();
        files.create_directory(&place.join("wal")).unwrap();
        files.create_directory(&place.join("wal/a/b")).unwrap();
        files.remove_directory(&place.join("wal/a/b")).unwrap();
        files.remove_directory(&place.join("g")).unwrap();
        files.sync_directory(&place).unwrap();
        let mut in_root = files.list(&place).unwrap();
        in_root.sort();
        assert_eq!(
            in_root.iter().map(|entry| &*entry.name).collect::<Vec<_>>(),
            ["LOCK", "f", "wal"]
        );
        assert_eq!(in_root[1].kind, EntryKind::Directory);
        assert_eq!(names_in(&mine), ["linked", "renamed"]);
        assert_eq!((names_in(&place), names_in(&place).len()), (of_other, 1));
        assert!(!place.join("wal").exists() && lock.check().is_err());
        // A path outside is looked up.
        assert_eq!(files.len(&root.path().join("mine/f/linked")).unwrap(), 5);
    }

    #[test]
    fn only_regular_files_are_opened() {
        let directory = tempfile::tempdir().unwrap();
        assert!(RealFiles::default().open(directory.path()).is_err());
        let file = directory.path().join("file");
        RealFiles::default().create(&file).unwrap().write_all(b"cells").unwrap();
        assert_eq!(RealFiles::default().open(&file).unwrap().len(), 5);
        #[cfg(unix)]
        {
            let link = directory.path().join("link");
            std::os::unix::fs::symlink(&file, &link).unwrap();
            assert!(RealFiles::default().open(&link).is_err());
        }
    }
}
