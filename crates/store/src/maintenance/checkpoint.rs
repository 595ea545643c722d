//! A second store that shares the files of the first: as it is now, at the price of some links.

use std::io;
use std::path::Path;

use super::background::Maintenance;
use crate::error::{Error, Result};
use crate::files::catalog::Catalog;
use crate::files::identity::random_number;
use crate::files::manifest::Manifest;
use crate::files::names::WAL_DIRECTORY;
use crate::vfs::{Entry, Vfs};
use crate::write::log::Log;

impl Maintenance {
    /// Makes a store in `directory` of what this one holds now.
    ///
    /// Memstores are flushed, and the files that the manifest then names are linked, while nothing
    /// else can change what it names. The manifest comes last: before, there is no store. If anything
    /// fails, `directory` is as it was.
    pub(crate) fn checkpoint(&self, catalog: &Catalog, log: &Log, directory: &Path) -> Result<()> {
        self.health.check_writable()?;
        let vfs = &**catalog.opener.vfs();
        let entries = match vfs.list(directory) {
            Ok(entries) => Some(entries),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(Error::io(directory, "list")(error)),
        };
        if entries.as_ref().is_some_and(|entries| !entries.is_empty()) {
            let shown = directory.display();
            return Err(Error::invalid(format!(
                "{shown}: is not empty; a checkpoint needs its own"
            )));
        }
        self.flush(catalog, log)?;
        let made = link_all(catalog, directory);
        if made.is_err() {
            // The first error says more than any that comes now.
            let _ = remove_inside(vfs, directory);
            if entries.is_none() {
                let _ = vfs.remove_directory(directory);
            }
        }
        made
    }
}

/// Links all files into `directory`, and makes a store of them.
fn link_all(catalog: &Catalog, directory: &Path) -> Result<()> {
    let (vfs, store) = (&**catalog.opener.vfs(), catalog.opener.directory());
    let manifest = catalog.manifest();
    let wal = directory.join(WAL_DIRECTORY);
    vfs.create_directory(&wal).map_err(Error::io(&wal, "create"))?;
    for family in &manifest.families {
        let (from, to) = (store.join(&family.name), directory.join(&family.name));
        vfs.create_directory(&to).map_err(Error::io(&to, "create"))?;
        for file in &family.files {
            let link = to.join(&file.name);
            let linked = vfs.hard_link(&from.join(&file.name), &link);
            linked.map_err(Error::io(&link, "link"))?;
        }
        vfs.sync_directory(&to).map_err(Error::io(&to, "sync"))?;
    }
    // Another store from here on: neither takes the other's log for its own.
    let mut manifest = Manifest { store: random_number()?, ..manifest.clone() };
    // What was written since the flush is in this store's log only.
    manifest.log_end = manifest.first_segment;
    manifest.store(vfs, directory)?;
    if let Some(parent) = directory.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        vfs.sync_directory(parent).map_err(Error::io(parent, "sync"))?;
    }
    Ok(())
}

/// Removes all that stands in a directory: the manifest first of all, without which there is no store.
fn remove_inside(vfs: &dyn Vfs, directory: &Path) -> io::Result<()> {
    let mut entries = vfs.list(directory)?;
    entries.sort_by_key(Entry::is_directory);
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
