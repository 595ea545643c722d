//! A path that is looked up anew in each call: this system has no calls from an open directory on.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;

use super::Access;
use crate::vfs::file_system::{Entry, EntryKind};

/// A path.
#[derive(Debug)]
pub(in crate::vfs) struct Place<'a>(&'a Path);

impl<'a> Place<'a> {
    pub(in crate::vfs) fn of(path: &'a Path) -> Self {
        Self(path)
    }

    pub(in crate::vfs) fn open(&self, access: Access) -> io::Result<File> {
        let mut options = OpenOptions::new();
        match access {
            Access::Read | Access::Directory => options.read(true),
            Access::Create => options.write(true).create_new(true),
            Access::Append => options.append(true),
            Access::Write => options.write(true),
        };
        options.open(self.0)
    }

    pub(in crate::vfs) fn kind(&self) -> io::Result<EntryKind> {
        Ok(kind_of(fs::symlink_metadata(self.0)?.file_type()))
    }

    pub(in crate::vfs) fn len(&self) -> io::Result<u64> {
        Ok(fs::metadata(self.0)?.len())
    }

    pub(in crate::vfs) fn rename(&self, to: &Place<'_>) -> io::Result<()> {
        fs::rename(self.0, to.0)
    }

    pub(in crate::vfs) fn hard_link(&self, link: &Place<'_>) -> io::Result<()> {
        fs::hard_link(self.0, link.0)
    }

    pub(in crate::vfs) fn unlink(&self) -> io::Result<()> {
        fs::remove_file(self.0)
    }

    pub(in crate::vfs) fn remove_directory(&self) -> io::Result<()> {
        fs::remove_dir(self.0)
    }

    pub(in crate::vfs) fn create_directory(&self) -> io::Result<()> {
        fs::create_dir_all(self.0)
    }

    pub(in crate::vfs) fn list(&self) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(self.0)? {
            let entry = entry?;
            if let Ok(name) = entry.file_name().into_string() {
                entries.push(Entry { name, kind: kind_of(entry.file_type()?) });
            }
        }
        Ok(entries)
    }
}

fn kind_of(file_type: fs::FileType) -> EntryKind {
    if file_type.is_file() {
        EntryKind::File
    } else if file_type.is_dir() {
        EntryKind::Directory
    } else if file_type.is_symlink() {
        EntryKind::Link
    } else {
        EntryKind::Other
    }
}
