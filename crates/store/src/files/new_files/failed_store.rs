//! What a failed checkpoint or salvage has written is removed, so that the next attempt finds the directory as it was.

use std::io;
use std::path::Path;

use crate::files::names::UNFINISHED_NAME;
use crate::vfs::{Entry, Vfs};

/// Removes what was written into a directory that was empty, or missing unless `existed`.
///
/// The first error is the cause; errors while cleaning up are not reported.
pub(crate) fn remove_failed_store(vfs: &dyn Vfs, directory: &Path, existed: bool) {
    if remove_inside(vfs, directory).is_ok() && !existed {
        let _ = vfs.remove_directory(directory);
    }
}

/// Removes the contents of a directory. The manifest goes first: without it there is no store. The mark of a salvage
/// goes last.
fn remove_inside(vfs: &dyn Vfs, directory: &Path) -> io::Result<()> {
    let mut entries = vfs.list(directory)?;
    entries.sort_by_key(|entry| (entry.name == UNFINISHED_NAME, Entry::is_directory(entry)));
    for entry in entries {
        let path = directory.join(&entry.name);
        if entry.is_directory() {
            remove_inside(vfs, &path)?;
            vfs.remove_directory(&path)?;
        } else {
            vfs.unlink(&path)?;
        }
    }
    Ok(())
}
