//! Checkpoints: a second store that shares the files of the first by hard links.

use std::io;
use std::path::Path;

use super::background::Maintenance;
use crate::error::{Error, Result};
use crate::files::catalog::Catalog;
use crate::files::file_access::path_checks::absolute;
use crate::files::manifest::Manifest;
use crate::files::names::WAL_DIRECTORY;
use crate::files::names::identity::{name_in_store, random_number};
use crate::files::new_files::failed_store::remove_failed_store;
use crate::write::log::Log;

impl Maintenance {
    /// Creates a store in `directory` with the current contents of this one.
    ///
    /// Flushes the memstores and links the files that the manifest then lists; the manifest is locked
    /// meanwhile. No family is cleared or dropped between the two: the copy would lack earlier writes.
    /// The new manifest is written last: before that, there is no store. On failure, `directory` is as it was.
    pub(crate) fn checkpoint(&self, catalog: &Catalog, log: &Log, directory: &Path) -> Result<()> {
        self.health.check_writable()?;
        let vfs = &**catalog.opener.vfs();
        let directory = &absolute(directory)?;
        if directory.starts_with(catalog.opener.directory()) {
            let shown = directory.display();
            return Err(Error::invalid(format!(
                "{shown}: is in the store itself; a checkpoint needs a directory outside of it"
            )));
        }
        let entries = match vfs.list(directory) {
            Ok(entries) => Some(entries),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(Error::io(directory, "list")(error)),
        };
        if entries.as_ref().is_some_and(|entries| !entries.is_empty()) {
            let shown = directory.display();
            return Err(Error::invalid(format!(
                "{shown}: is not empty; a checkpoint needs an empty directory"
            )));
        }
        let no_other_flush = self.take_flush_turn()?;
        let made = self.flush_in_turn(catalog, log).and_then(|()| {
            catalog.version().check_flushed()?;
            let made = link_all(catalog, directory);
            if made.is_err() {
                remove_failed_store(vfs, directory, entries.is_some());
            }
            made
        });
        self.tasks.flush_ended();
        drop(no_other_flush);
        self.files_changed(catalog);
        made
    }
}

/// Links all files into `directory` and writes its manifest.
fn link_all(catalog: &Catalog, directory: &Path) -> Result<()> {
    let (vfs, store) = (&**catalog.opener.vfs(), catalog.opener.directory());
    let original = catalog.lock_manifest();
    // A new id, so that neither store accepts the other's log or removes the other's files.
    let mut manifest = Manifest { store: random_number()?, ..original.clone() };
    let wal = directory.join(WAL_DIRECTORY);
    vfs.create_directory(&wal).map_err(Error::io(&wal, "create"))?;
    for family in &mut manifest.families {
        let (from, to) = (store.join(&family.name), directory.join(&family.name));
        vfs.create_directory(&to).map_err(Error::io(&to, "create"))?;
        for file in &mut family.files {
            let name = name_in_store(manifest.store, &file.name);
            let link = to.join(&name);
            let linked = vfs.hard_link(&from.join(&file.name), &link);
            linked.map_err(Error::io(&link, "link"))?;
            file.name = name;
        }
        vfs.sync_directory(&to).map_err(Error::io(&to, "sync"))?;
    }
    // Writes since the flush are only in the log of the original.
    manifest.log_end = manifest.first_segment;
    manifest.store(vfs, directory)?;
    if let Some(parent) = directory.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        vfs.sync_directory(parent).map_err(Error::io(parent, "sync"))?;
    }
    Ok(())
}
