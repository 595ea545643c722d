//! Syncs of outputs and their directories.

use std::fs::File;
use std::io;
use std::path::Path;

pub(super) fn sync_directory(directory: &Path) -> io::Result<()> {
    sync(&File::open(directory)?)
}

/// Syncs a file or a directory. Tests look at the disk before each sync, and let it fail.
pub(super) fn sync(file: &File) -> io::Result<()> {
    #[cfg(test)]
    watched::before_sync(file)?;
    file.sync_all()
}

#[cfg(test)]
pub(super) mod watched {
    use std::cell::RefCell;
    use std::path::PathBuf;

    use super::{File, io};

    /// The syncs of a thread.
    #[derive(Default)]
    pub(in super::super) struct Syncs {
        /// The file that is looked for before each sync.
        pub(in super::super) destination: PathBuf,
        /// The sync that fails, counted from 1; 0 for none.
        pub(in super::super) failing: usize,
        /// For each sync: whether a directory is synced, and whether the file is at its destination.
        pub(in super::super) seen: Vec<(bool, bool)>,
    }

    thread_local!(pub(in super::super) static SYNCS: RefCell<Syncs> = RefCell::default());

    /// Records a sync, and returns the error of the sync that is to fail.
    pub(super) fn before_sync(file: &File) -> io::Result<()> {
        let is_directory = file.metadata()?.is_dir();
        SYNCS.with_borrow_mut(|syncs| {
            syncs.seen.push((is_directory, syncs.destination.exists()));
            if syncs.seen.len() == syncs.failing {
                return Err(io::ErrorKind::StorageFull.into());
            }
            Ok(())
        })
    }
}
