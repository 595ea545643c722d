//! What HBase adds to the store files of a region when it opens it: recovered edits and HFiles.
//!
//! After a server died, HBase splits its logs by region, to logs or to HFiles:
//!
//! ```text
//! WALROOT/NAMESPACE/TABLE/REGION/recovered.edits/N     HBase 2.1; read first
//! ROOT/data/NAMESPACE/TABLE/REGION/recovered.edits/N   a log, N is its last sequence id
//! WALROOT/data/NAMESPACE/TABLE/REGION/recovered.edits/N     if the logs have a root of their own
//!                             /N.temp  a log whose splitting did not finish; the whole log is in WALs
//!                             /N.TIME  a log that HBase moved aside, because it could not replay it
//!                             /N.seqid empty; all writes up to sequence id N are in store files
//! ROOT/data/NAMESPACE/TABLE/REGION/FAMILY/recovered.hfiles/NAME     an HFile of the cells of a log
//! ROOT/data/master/store/REGION/recovered.wals/NAME    a log of an HMaster that died
//! ```
//!
//! HBase deletes files without bytes. The HFiles become store files, whatever sequence ids the family's
//! files have. HBase: `HRegion.replayRecoveredEditsIfAny` and `loadRecoveredHFilesIfAny`,
//! `WALSplitUtil`, `MasterRegion`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sstable::SequenceId;

use crate::error::{Error, Result};
use crate::names::{RegionName, StoreFileName, TableName};
use crate::table::root_paths::{list_if_there, table_in};
use crate::table::store_file::StorePlace;
use crate::table::{Family, Region, StoreFile};
use crate::table_reader::found::Found;
use crate::tree::{FileTree, Item, ItemKind};
use crate::warning::Warning;

/// The name of the directory of recovered edits.
pub(crate) const RECOVERED_EDITS: &str = "recovered.edits";
/// The name of the directory of recovered HFiles in the directory of a family.
const RECOVERED_HFILES: &str = "recovered.hfiles";
/// The name of the directory of logs of masters. Their only region is in the namespace `master`.
const RECOVERED_WALS: &str = "recovered.wals";
/// The ends of the names of files whose names are sequence ids; older versions wrote the second.
const SEQUENCE_SUFFIXES: [&str; 2] = [".seqid", "_seqid"];

/// Finds the recovered edits and HFiles of the regions of a table.
pub(crate) struct RecoveredFiles<'t> {
    tree: &'t dyn FileTree,
    root: &'t Path,
    table: &'t TableName,
    /// The directories of the table that can have recovered edits, in HBase's order of replay.
    tables: Vec<PathBuf>,
}

impl<'t> RecoveredFiles<'t> {
    /// Finds the directories of a table that can have recovered edits.
    pub(crate) fn new(
        tree: &'t dyn FileTree,
        root: &'t Path,
        wal_root: Option<&Path>,
        table: &'t TableName,
        found: &mut Found,
    ) -> Self {
        let of_version_2_1 = wal_root.unwrap_or(root).join(table.namespace()).join(table.name());
        let other = wal_root.map(|wal_root| table_in(wal_root, "data", table));
        let mut tables = vec![of_version_2_1, table_in(root, "data", table)];
        tables.extend(other);
        let mut there = Vec::new();
        for path in tables {
            match tree.find(&path) {
                Ok(Some(_)) if !there.contains(&path) => there.push(path),
                Ok(_) => {}
                Err(error) => found.problems.push(Error::io(&path, "find it")(error)),
            }
        }
        Self { tree, root, table, tables: there }
    }

    /// Adds what HBase adds to a region when it opens it.
    pub(crate) fn add_to(&self, region: &mut Region, found: &mut Found) {
        for table in &self.tables {
            let directory = table.join(region.info.encoded_name.as_str());
            if self.table.namespace() == "master" {
                match list_if_there(self.tree, &directory.join(RECOVERED_WALS)) {
                    Ok(items) => region.recovered_edits.extend(logs_of_masters(items)),
                    Err(error) => found.problems.push(error),
                }
            }
            match list_if_there(self.tree, &directory.join(RECOVERED_EDITS)) {
                Ok(items) => {
                    region.last_opened = region.last_opened.max(last_opened(&items));
                    region.recovered_edits.extend(recovered_edits(items, found));
                }
                Err(error) => found.problems.push(error),
            }
        }
        for family in &mut region.families {
            match self.hfiles(&region.info.encoded_name, family, found) {
                Ok(files) => family.recovered_hfiles = files,
                Err(error) => found.problems.push(error),
            }
        }
    }

    /// Returns the recovered HFiles of a family.
    fn hfiles(
        &self,
        region: &RegionName,
        family: &Family,
        found: &mut Found,
    ) -> Result<Vec<StoreFile>> {
        let name = String::from_utf8_lossy(&family.name);
        let region_directory = table_in(self.root, "data", self.table).join(region.as_str());
        let directory = region_directory.join(&*name).join(RECOVERED_HFILES);
        let items = list_if_there(self.tree, &directory)?;
        let place = Arc::new(StorePlace {
            root: self.root.to_owned(),
            table: self.table.clone(),
            region: region.clone(),
            directory: format!("{name}/{RECOVERED_HFILES}"),
            family: name.into_owned(),
            listed_in: directory,
            is_table: true,
        });
        let mut files = Vec::new();
        for Item { path, kind } in items {
            let file_name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            // Checksum files of Hadoop's local file system, which HBase does not see.
            if file_name.starts_with('.') {
                continue;
            }
            match (file_name.parse(), kind) {
                (_, ItemKind::File { len: 0 }) => {
                    let what = "the recovered HFile has no bytes; HBase deletes it";
                    found.warnings.push(Warning::new(path, what));
                }
                (Ok(name @ StoreFileName::HFile(_)), ItemKind::File { .. } | ItemKind::Other) => {
                    files.push(StoreFile {
                        name,
                        len: None,
                        half: None,
                        path: Some(path),
                        place: Arc::clone(&place),
                    });
                }
                _ => {
                    let what = "is no HFile by its name; with it among recovered HFiles, HBase does not open the region";
                    found.problems.push(Error::damaged(&path, what));
                }
            }
        }
        files.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(files)
    }
}

/// Returns the logs of masters, whatever their names are.
fn logs_of_masters(items: Vec<Item>) -> Vec<PathBuf> {
    let mut logs: Vec<PathBuf> = items
        .into_iter()
        .filter(|item| matches!(item.kind, ItemKind::File { len: 1.. } | ItemKind::Other))
        .map(|item| item.path)
        .collect();
    logs.sort();
    logs
}

/// Returns the logs among recovered edits: those whose names are numbers, as for HBase.
///
/// HBase: `WALSplitUtil.EDITFILES_NAME_PATTERN`.
fn recovered_edits(items: Vec<Item>, found: &mut Found) -> Vec<PathBuf> {
    let mut logs = Vec::new();
    for item in items {
        let name = item.name().unwrap_or_default();
        let (number, rest) = split_number(name);
        let is_moved_aside = rest.strip_prefix('.').is_some_and(is_digits);
        let warning = match item.kind {
            ItemKind::File { .. } if is_digits(number) && is_moved_aside => {
                "HBase could not replay the log, and moved it aside; its cells are left out"
            }
            ItemKind::File { len: 0 } if is_digits(number) && rest.is_empty() => {
                "the log has no bytes; HBase deletes it"
            }
            // A symbolic link that leads nowhere is kept: opening it fails, and says why.
            ItemKind::File { .. } | ItemKind::Other if is_digits(number) && rest.is_empty() => {
                logs.push(item.path);
                continue;
            }
            _ => continue,
        };
        found.warnings.push(Warning::new(item.path, warning));
    }
    logs.sort();
    logs
}

/// Splits a name after its sequence id, which is negative in logs of old versions.
fn split_number(name: &str) -> (&str, &str) {
    let digits = name.strip_prefix('-').unwrap_or(name);
    let end = digits.bytes().position(|byte| !byte.is_ascii_digit());
    digits.split_at_checked(end.unwrap_or(digits.len())).unwrap_or((digits, ""))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the greatest sequence id that a file among recovered edits has as its name.
fn last_opened(items: &[Item]) -> Option<SequenceId> {
    items
        .iter()
        .filter_map(Item::name)
        .filter_map(|name| {
            let number = SEQUENCE_SUFFIXES.iter().find_map(|suffix| name.strip_suffix(suffix))?;
            number.parse().ok().filter(|number| *number <= SequenceId::MAX.get())
        })
        .max()
        .map(SequenceId::new)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::table::RegionInfo;
    use crate::tree::LocalTree;

    #[test]
    fn logs_of_a_dead_master_are_recovered_edits_of_its_region() {
        let root = tempfile::tempdir().expect("a directory");
        let table: TableName = "master:store".parse().expect("a name");
        let info = RegionInfo {
            table: table.clone(),
            id: 1,
            start_key: Vec::new(),
            end_key: Vec::new(),
            offline: false,
            split: false,
            replica_id: 0,
            encoded_name: "1595e783b53d99cd5eef43b6debb2682".parse().expect("a name"),
        };
        let mut region =
            Region { info, families: Vec::new(), recovered_edits: Vec::new(), last_opened: None };
        let of_table = table_in(root.path(), "data", &table);
        let directory = of_table.join(region.info.encoded_name.as_str()).join("recovered.wals");
        fs::create_dir_all(&directory).expect("disk takes it");
        let log = directory.join("master%2C16000%2C1.2");
        fs::write(&log, b"PWAL").expect("disk takes it");
        let mut found = Found::default();
        let files = RecoveredFiles::new(&LocalTree, root.path(), None, &table, &mut found);
        files.add_to(&mut region, &mut found);
        assert_eq!(region.recovered_edits, [log]);
        assert!(found.problems.is_empty() && found.warnings.is_empty());
    }
}
