//! The mark of a directory in which a store is only being made: a salvage under way, or one that was
//! interrupted. Such a store may lack anything, and nobody can tell by its files; it is refused.
//!
//! ```text
//! UNFINISHED made, on disk ─ files, log, manifest ─ the rests of damaged files ─ UNFINISHED gone
//! ```

use std::io;
use std::path::Path;

use crate::error::{Error, Result};
use crate::files::names::UNFINISHED_NAME;
use crate::vfs::Vfs;

/// Marks a directory, which is made if need be. When this returns, the mark is on disk.
pub(crate) fn mark_unfinished(vfs: &dyn Vfs, directory: &Path) -> Result<()> {
    vfs.create_directory(directory).map_err(Error::io(directory, "create"))?;
    let path = directory.join(UNFINISHED_NAME);
    let mut file = vfs.create(&path).map_err(Error::io(&path, "create"))?;
    let text = b"A salvage into this directory has not come to its end.\n";
    file.write_all(text).map_err(Error::io(&path, "write"))?;
    file.sync().map_err(Error::io(&path, "sync"))?;
    sync_with_parent(vfs, directory)
}

/// Takes the mark off, once all that was made is on disk.
pub(crate) fn mark_finished(vfs: &dyn Vfs, directory: &Path) -> Result<()> {
    let path = directory.join(UNFINISHED_NAME);
    vfs.unlink(&path).map_err(Error::io(&path, "unlink"))?;
    sync_with_parent(vfs, directory)
}

/// Refuses a directory that is marked.
pub(crate) fn check_finished(vfs: &dyn Vfs, directory: &Path) -> Result<()> {
    let path = directory.join(UNFINISHED_NAME);
    match vfs.len(&path) {
        Ok(_) => Err(Error::Unfinished { path: directory.to_path_buf() }),
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            Ok(())
        }
        Err(error) => Err(Error::io(&path, "look for")(error)),
    }
}

fn sync_with_parent(vfs: &dyn Vfs, directory: &Path) -> Result<()> {
    vfs.sync_directory(directory).map_err(Error::io(directory, "sync"))?;
    match directory.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        Some(parent) => vfs.sync_directory(parent).map_err(Error::io(parent, "sync")),
        None => Ok(()),
    }
}
