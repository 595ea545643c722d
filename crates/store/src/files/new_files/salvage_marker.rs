//! The file `UNFINISHED`, which marks a directory while a salvage writes a store into it.
//!
//! Any part of such a store may be missing without a trace in its files. Opening it is refused.
//!
//! ```text
//! create UNFINISHED, sync ─ files, log, manifest ─ remains of damaged files ─ remove UNFINISHED
//! ```

use std::io;
use std::path::Path;

use crate::error::{Error, Result};
use crate::files::names::UNFINISHED_NAME;
use crate::vfs::Vfs;

/// Marks a directory, and creates it if it does not exist. The mark is then on disk.
pub(crate) fn mark_unfinished(vfs: &dyn Vfs, directory: &Path) -> Result<()> {
    vfs.create_directory(directory).map_err(Error::io(directory, "create"))?;
    let path = directory.join(UNFINISHED_NAME);
    let mut file = vfs.create(&path).map_err(Error::io(&path, "create"))?;
    let text = b"A salvage into this directory has not finished.\n";
    let written = file.write_all(text).map_err(Error::io(&path, "write"));
    let synced = written.and_then(|()| file.sync().map_err(Error::io(&path, "sync")));
    let marked = synced.and_then(|()| sync_with_parent(vfs, directory));
    if marked.is_err() {
        let _ = vfs.unlink(&path);
    }
    marked
}

/// Removes the mark. Everything that was written must be on disk.
pub(crate) fn mark_finished(vfs: &dyn Vfs, directory: &Path) -> Result<()> {
    let path = directory.join(UNFINISHED_NAME);
    vfs.unlink(&path).map_err(Error::io(&path, "unlink"))?;
    sync_with_parent(vfs, directory)
}

/// Returns an error if the directory is marked.
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
