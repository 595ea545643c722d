//! Marks of dropped families: an open finishes each removal that was interrupted.
//!
//! The mark of the family `f` is the file `.f.dropped` beside the manifest. No family has such a
//! name, because names of families do not begin with a dot.
//!
//! ```text
//! mark, sync ─ manifest without the family ─ unlink the files ─ remove the directory ─ remove mark
//! ```
//!
//! If the manifest lists the family, the drop did not reach the manifest, or the family was created
//! again: the next open only removes the mark. Otherwise the next open removes the files, the
//! directory and the mark. Files that the store did not write stay, and with them the directory and
//! the mark.

use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::files::names::check_family_name;
use crate::files::names::identity::is_own_file_name;
use crate::vfs::{Entry, EntryKind, Vfs};

/// Marks a family as dropped. The mark is on disk when the function returns.
pub(crate) fn mark(vfs: &dyn Vfs, store: &Path, family: &str) -> Result<()> {
    let path = mark_path(store, family);
    match vfs.create(&path) {
        Ok(mut file) => {
            let text = b"This family was dropped. The next open removes its files.\n";
            file.write_all(text).map_err(Error::io(&path, "write"))?;
            file.sync().map_err(Error::io(&path, "sync"))?;
        }
        // An earlier drop left the mark, and the family was created again.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(Error::io(&path, "create")(error)),
    }
    vfs.sync_directory(store).map_err(Error::io(store, "sync"))
}

/// Removes the mark of a family that the manifest lists, if there is one.
pub(crate) fn unmark(vfs: &dyn Vfs, store: &Path, family: &str) -> Result<()> {
    let path = mark_path(store, family);
    match vfs.unlink(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Error::io(&path, "unlink")(error))
        }
        _ => Ok(()),
    }
}

/// Removes the directory and the mark of a dropped family once the directory is empty.
pub(crate) fn remove_if_empty(vfs: &dyn Vfs, store: &Path, family: &str) -> Result<()> {
    let directory = store.join(family);
    let entries = vfs.list(&directory).map_err(Error::io(&directory, "list"))?;
    if entries.is_empty() {
        // The removal of the files must be on disk before the mark is removed: after a power cut, no
        // open would remove files without a mark.
        vfs.sync_directory(&directory).map_err(Error::io(&directory, "sync"))?;
        vfs.remove_directory(&directory).map_err(Error::io(&directory, "remove"))?;
        vfs.sync_directory(store).map_err(Error::io(store, "sync"))?;
        unmark(vfs, store, family)?;
    }
    Ok(())
}

/// Finishes the drops that a crash interrupted, or that waited for readers.
///
/// Called when a store is opened, under its lock. `is_listed` says whether the manifest has a
/// family.
pub(crate) fn finish_all(
    vfs: &dyn Vfs,
    store: &Path,
    store_id: u64,
    is_listed: impl Fn(&str) -> bool,
) -> Result<()> {
    let entries = vfs.list(store).map_err(Error::io(store, "list"))?;
    for marked in entries.iter().filter_map(marked_family) {
        // Only a directory is emptied: a symbolic link may lead out of the store.
        let kind = entries.iter().find(|entry| entry.name == marked).map(|entry| entry.kind);
        if is_listed(marked) || kind != Some(EntryKind::Directory) {
            unmark(vfs, store, marked)?;
            continue;
        }
        let directory = store.join(marked);
        for entry in vfs.list(&directory).map_err(Error::io(&directory, "list"))? {
            if is_own_file_name(store_id, &entry.name) && !entry.is_directory() {
                let path = directory.join(&entry.name);
                vfs.unlink(&path).map_err(Error::io(&path, "unlink"))?;
            }
        }
        remove_if_empty(vfs, store, marked)?;
    }
    Ok(())
}

/// Returns the family that an entry of the store's directory marks as dropped.
fn marked_family(entry: &Entry) -> Option<&str> {
    let family = entry.name.strip_prefix('.')?.strip_suffix(SUFFIX)?;
    (entry.kind == EntryKind::File && check_family_name(family).is_ok()).then_some(family)
}

const SUFFIX: &str = ".dropped";

fn mark_path(store: &Path, family: &str) -> PathBuf {
    store.join(format!(".{family}{SUFFIX}"))
}
