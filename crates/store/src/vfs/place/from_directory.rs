//! A path that is looked up from an open directory on, wherever that was moved (`openat` and its kin).

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};

use super::Access;
use crate::vfs::file_system::{Entry, EntryKind};

/// A path, and the directory that a relative one begins at.
#[derive(Debug)]
pub(in crate::vfs) struct Place<'a> {
    /// `None`: the working directory.
    directory: Option<&'a File>,
    path: &'a Path,
}

impl<'a> Place<'a> {
    pub(in crate::vfs) fn of(path: &'a Path) -> Self {
        Self { directory: None, path }
    }

    /// Returns the place of a relative path in an open directory; an empty one names the directory itself.
    pub(in crate::vfs) fn within(directory: &'a File, path: &'a Path) -> Self {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        Self { directory: Some(directory), path }
    }

    fn directory(&self) -> BorrowedFd<'_> {
        self.directory.map_or(CWD, AsFd::as_fd)
    }

    /// Opens a file or a directory. The last name of a file must not be a link.
    pub(in crate::vfs) fn open(&self, access: Access) -> io::Result<File> {
        let flags = match access {
            Access::Read => OFlags::RDONLY | OFlags::NOFOLLOW,
            Access::Create => OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL,
            Access::Append => OFlags::WRONLY | OFlags::APPEND | OFlags::NOFOLLOW,
            Access::Write => OFlags::WRONLY | OFlags::NOFOLLOW,
            Access::Directory => OFlags::RDONLY | OFlags::DIRECTORY,
        } | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(0o666);
        let open = || rustix::fs::openat(self.directory(), self.path, flags, mode);
        Ok(File::from(retry_on_intr(open)?))
    }

    /// Returns what is at the place. A link is not followed.
    pub(in crate::vfs) fn kind(&self) -> io::Result<EntryKind> {
        kind_at(self.directory(), self.path, AtFlags::SYMLINK_NOFOLLOW)
    }

    pub(in crate::vfs) fn len(&self) -> io::Result<u64> {
        let metadata = rustix::fs::statat(self.directory(), self.path, AtFlags::empty())?;
        u64::try_from(metadata.st_size).map_err(io::Error::other)
    }

    pub(in crate::vfs) fn rename(&self, to: &Place<'_>) -> io::Result<()> {
        Ok(rustix::fs::renameat(self.directory(), self.path, to.directory(), to.path)?)
    }

    pub(in crate::vfs) fn hard_link(&self, link: &Place<'_>) -> io::Result<()> {
        let (from, to) = (self.directory(), link.directory());
        Ok(rustix::fs::linkat(from, self.path, to, link.path, AtFlags::empty())?)
    }

    pub(in crate::vfs) fn unlink(&self) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(self.directory(), self.path, AtFlags::empty())?)
    }

    pub(in crate::vfs) fn remove_directory(&self) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(self.directory(), self.path, AtFlags::REMOVEDIR)?)
    }

    /// Creates a directory and its parents; one that is there, or a link to one, is not an error.
    pub(in crate::vfs) fn create_directory(&self) -> io::Result<()> {
        let Some(directory) = self.directory else { return fs::create_dir_all(self.path) };
        let mut parents: Vec<&Path> = self.path.ancestors().collect();
        parents.pop(); // The open directory.
        for path in parents.into_iter().rev() {
            match rustix::fs::mkdirat(directory, path, Mode::from_raw_mode(0o777)) {
                Err(Errno::EXIST)
                    if kind_at(directory.as_fd(), path, AtFlags::empty())?
                        == EntryKind::Directory => {}
                made => made?,
            }
        }
        Ok(())
    }

    /// Returns the entries of the directory whose names are UTF-8.
    pub(in crate::vfs) fn list(&self) -> io::Result<Vec<Entry>> {
        let directory = self.open(Access::Directory)?;
        let mut entries = Vec::new();
        for entry in Dir::read_from(&directory)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().to_str() else { continue };
            if matches!(name, "." | "..") {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => {
                    kind_at(directory.as_fd(), Path::new(name), AtFlags::SYMLINK_NOFOLLOW)?
                }
                known => kind_of(known),
            };
            entries.push(Entry { name: name.to_owned(), kind });
        }
        Ok(entries)
    }
}

/// Returns what is at a path; `flags` say whether a link is followed.
fn kind_at(directory: BorrowedFd<'_>, path: &Path, flags: AtFlags) -> io::Result<EntryKind> {
    let metadata = rustix::fs::statat(directory, path, flags)?;
    Ok(kind_of(FileType::from_raw_mode(metadata.st_mode)))
}

fn kind_of(file_type: FileType) -> EntryKind {
    match file_type {
        FileType::RegularFile => EntryKind::File,
        FileType::Directory => EntryKind::Directory,
        FileType::Symlink => EntryKind::Link,
        FileType::Fifo => EntryKind::Pipe,
        FileType::Socket => EntryKind::Socket,
        FileType::CharacterDevice | FileType::BlockDevice => EntryKind::Device,
        FileType::Unknown => EntryKind::Other,
    }
}
