//! Creates and alters families, and removes the directories of dropped families.
//!
//! Create and alter each replace the manifest once, so a crash leaves the old or the new set of
//! families.

use std::io;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::files::catalog::Catalog;
use crate::files::families::dropped;
use crate::files::file_access::path_checks::{check_is_own, check_is_own_or_missing};
use crate::files::manifest::FamilyEntry;
use crate::files::names::identity::is_own_file_name;
use crate::files::names::{check_family_name, sequence};
use crate::files::version::store_version::{Family, StoreVersion};
use crate::options::FamilyOptions;
use crate::vfs::Entry;

impl Catalog {
    /// Adds a family.
    pub(crate) fn create_family(&self, name: &str, options: FamilyOptions) -> Result<()> {
        self.health().check_writable()?;
        check_family_name(name)?;
        options.check()?;
        let mut manifest = self.lock_manifest();
        if manifest.families.iter().any(|family| family.name == name) {
            return Err(Error::invalid(format!("the family \"{name}\" already exists")));
        }
        let id = self.take_family_id(&manifest)?;
        let (vfs, store) = (&**self.opener.vfs(), self.opener.directory());
        let directory = store.join(name);
        self.check_has_only_own_files(name)?;
        vfs.create_directory(&directory).map_err(Error::io(&directory, "create"))?;
        vfs.sync_directory(store).map_err(Error::io(store, "sync"))?;
        check_is_own(vfs, store, name)?;
        let entry =
            FamilyEntry { id, name: name.to_owned(), options, flushed: None, files: Vec::new() };
        let family = self.opener.open_family(&entry)?;
        self.publish_change_in(
            &mut manifest,
            |manifest| manifest.families.push(entry),
            |version| {
                let mut families = version.families.clone();
                families.push(family);
                StoreVersion::new(families, version.clock.clone())
            },
        )?;
        // The error is ignored: the next open removes the mark, because the manifest lists the
        // family.
        let _ = dropped::unmark(vfs, store, name);
        Ok(())
    }

    /// Refuses a directory with files that this store did not write. Own files are left of a dropped family.
    fn check_has_only_own_files(&self, family: &str) -> Result<()> {
        let (vfs, store) = (&**self.opener.vfs(), self.opener.directory());
        check_is_own_or_missing(vfs, store, family)?;
        let directory = store.join(family);
        let entries = match vfs.list(&directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries.map_err(Error::io(&directory, "list"))?,
        };
        let is_own = |entry: &Entry| is_own_file_name(self.store_id, &entry.name);
        let Some(other) = entries.iter().find(|entry| !is_own(entry)) else { return Ok(()) };
        Err(Error::invalid(format!(
            "{}: has files that this store did not write, such as {}; move the directory away, create the \
             family, and import the files",
            directory.display(),
            other.name
        )))
    }

    /// Replaces the options of a family. The caller holds the lock of the log's writer.
    pub(crate) fn alter_family(&self, name: &str, options: FamilyOptions) -> Result<()> {
        self.health().check_writable()?;
        options.check()?;
        let mut manifest = self.lock_manifest();
        // While the manifest is locked, no family is added or removed.
        let version = Arc::clone(self.version().known_family(name.as_bytes())?);
        let known = &version.family;
        let newest = sequence::as_timestamp(self.visible());
        if options.key_value && !known.options.key_value && version.newest() > Some(newest) {
            return Err(Error::invalid(format!(
                "the family \"{name}\" has cells with timestamps later than {newest}, the last sequence id: they \
                 would hide the values of keys; create another family, or clear this one"
            )));
        }
        let id = known.id;
        let altered = Arc::new(Family {
            id,
            name: known.name.clone(),
            options: options.clone(),
            reads: Arc::clone(&known.reads),
            failures: Arc::clone(&known.failures),
        });
        self.publish_change_in(
            &mut manifest,
            |manifest| manifest.family_mut(id).options = options,
            |version| version.with(known, |changed| changed.family = Arc::clone(&altered)),
        )
    }

    /// Removes the directory of a dropped family, unless readers still use its files.
    ///
    /// Ignores errors: the next open removes the files and the directory that are left.
    pub(crate) fn finish_drop(&self, name: &str) {
        // The lock keeps the family from being created again meanwhile.
        let manifest = self.lock_manifest();
        if manifest.families.iter().all(|family| family.name != name) {
            let (vfs, store) = (&**self.opener.vfs(), self.opener.directory());
            let _ = dropped::remove_if_empty(vfs, store, name);
        }
    }
}
