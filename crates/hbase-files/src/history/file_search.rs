//! Looks for store files of a table that are gone, though nothing lists them.
//!
//! Without a store file tracker, nothing lists the files of a table. Other parts of the root directory name
//! some of them: markers of flushes, bulk loads and, for references and links, of openings of regions in the logs, and the
//! back references of cloned tables. A file that they name, that is in none of the four data directories, and that no
//! problem of the table names already, is lost, unless HBase's normal operation removes such a file:
//!
//! | a file is not reported if                                   | because                                  |
//! |-------------------------------------------------------------|------------------------------------------|
//! | a compaction replaced it, by a log or the file it wrote     | HBase archives and deletes its inputs    |
//! | a compacted file with unknown inputs may have its cells     | the log that named the inputs is deleted |
//! | HBase has since opened the region without it                | `restore_snapshot`, an altered family    |
//! | its region or family does not count any more                | a split, a merge, a truncated table      |
//! | its TTL passed after its log entry, `MIN_VERSIONS` is 0     | HBase deletes files that have expired    |
//! | another file of its family cannot be read                   | that may be the file that replaced it    |
//! | a log cannot be read to its end                             | a later marker in it may explain it      |
//!
//! In the last two cases the damaged file or the log is reported instead: the file by its own check, the log here. A log that ends within
//! an entry is read to its end, as HBase does: its server died. If the server went on in another log, entries may be
//! lost, and the log counts as one that cannot be read to its end.
//!
//! False alarm: after `restore_snapshot`, until the table is enabled, files that the restore removed are reported
//! if the archive no longer has them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use cells::{Clock, RowsBetween, error_line};
use sstable::{FileName, ReaderOptions};

use super::file_history::{EntryTime, FileHistory, FileOrigin};
use super::replaced_files::{FamilyFile, ReplacedFiles};
use crate::error::{Error, Result};
use crate::names::{RegionName, StoreFileName};
use crate::table::log_files::old_logs;
use crate::table::lost_logs::LostLogs;
use crate::table::root_paths::{in_all_data, list_if_there, table_in};
use crate::table::{Family, FamilySchema, Region, StoreFile, StoreFileReader, Table};
use crate::tree::FileTree;
use crate::wal;
use crate::wal::LogEntry;
use crate::wal::marker::{FilesByFamily, Marker};

/// The start of the name of a directory with the back references of a file.
const LINKS: &str = ".links-";
/// The search begins with a history for each family of each region.
const HAS_HISTORY: &str = "each family of a region has a history";

/// The histories of the families of a region, by name.
type RegionHistory = BTreeMap<Vec<u8>, FileHistory>;

/// The evidence about the files of regions of a table.
pub(crate) struct FileSearch<'t> {
    table: &'t Table,
    tree: &'t dyn FileTree,
    regions: Vec<&'t Region>,
    /// By encoded name of the region.
    histories: HashMap<&'t str, RegionHistory>,
    /// The files and directories that problems of the table name as missing or damaged.
    reported: HashSet<&'t Path>,
}

/// A store file or logs of a region that are gone, or an unreadable part of a root directory. Losses may go
/// unnoticed because of it.
#[derive(Debug)]
pub(crate) struct FileLoss {
    /// The region; `None` if the whole table is concerned.
    pub(crate) region: Option<RegionName>,
    /// The family of a store file.
    pub(crate) family: Option<Vec<u8>>,
    /// `REGION/FAMILY/NAME` of a store file, and the path of any other file.
    pub(crate) file: String,
    pub(crate) what: String,
    /// The rows that may have lost cells.
    pub(crate) rows: RowsBetween,
    /// The error if the part could not be read, but is not known to be damaged.
    pub(crate) unread: Option<Error>,
}

impl<'t> FileSearch<'t> {
    /// Begins without evidence.
    pub(crate) fn new(table: &'t Table, searched: impl IntoIterator<Item = &'t Region>) -> Self {
        let regions: Vec<&Region> = searched.into_iter().collect();
        let histories = regions.iter().map(|region| {
            let named = region.families.iter();
            let families = named.map(|family| (family.name.clone(), FileHistory::default()));
            (region.name().as_str(), families.collect())
        });
        let (tree, reported) = (&**table.tree(), reported(table));
        Self { table, tree, histories: histories.collect(), regions, reported }
    }

    /// Adds an entry of a log of the table.
    pub(crate) fn add_entry(&mut self, entry: &LogEntry, log: &Path) {
        let Some(history) = self.histories.get_mut(&*entry.region) else { return };
        let at = EntryTime { time: entry.write_time, sequence: entry.sequence };
        for marker in entry.cells.iter().filter_map(Marker::parse) {
            add_marker(history, marker, at, log);
        }
    }

    /// Reads the logs that HBase would replay, and those that it would not. Returns the logs that cannot be read
    /// to their end.
    pub(crate) fn read_all_logs(&mut self) -> Vec<FileLoss> {
        let recovered = self.regions.iter().flat_map(|region| &region.recovered_edits);
        let logs: Vec<&Path> = self.table.logs.iter().chain(recovered).map(|log| &**log).collect();
        let mut unread: Vec<FileLoss> =
            logs.into_iter().filter_map(|log| self.read_or_report(log)).collect();
        // Listed last: HBase may have moved logs there in the meantime.
        unread.extend(self.read_old_logs());
        unread
    }

    /// Reads the logs that HBase would not replay. Returns the logs that cannot be read to their end.
    pub(crate) fn read_old_logs(&mut self) -> Vec<FileLoss> {
        let Some(directory) = &self.table.old_logs else { return Vec::new() };
        match old_logs(self.tree, directory, self.table.name.is_meta()) {
            Ok(logs) => logs.iter().filter_map(|log| self.read_or_report(log)).collect(),
            Err(error) => self.unread(directory, error).into_iter().collect(),
        }
    }

    /// Returns the store files of the families that are gone.
    pub(crate) fn losses(&mut self, is_wanted: impl Fn(&[u8]) -> bool) -> Vec<FileLoss> {
        let mut losses = Vec::new();
        for region in self.regions.clone() {
            for family in region.families.iter().filter(|family| is_wanted(&family.name)) {
                let links = links_of(self.table, region, family);
                if let Err(error) = self.read_links(&links, region, family) {
                    losses.extend(self.unread(&links, error));
                }
                losses.extend(self.lost_files(region, family));
            }
        }
        losses
    }

    fn read_or_report(&mut self, log: &Path) -> Option<FileLoss> {
        self.read_log(log).err().and_then(|error| self.unread(log, error))
    }

    /// Reports a part that cannot be read, unless HBase has removed the part in the meantime.
    fn unread(&self, path: &Path, error: Error) -> Option<FileLoss> {
        let is_damage = error.is_damage();
        let is_there = !is_damage || !matches!(self.tree.find(path), Ok(None));
        is_there.then(|| FileLoss {
            region: None,
            family: None,
            file: path.display().to_string(),
            what: format!("store files may be lost unnoticed: {}", error_line(&error)),
            rows: RowsBetween::default(),
            unread: (!is_damage).then_some(error),
        })
    }

    fn read_log(&mut self, path: &Path) -> Result<()> {
        let source = self.tree.open(path).map_err(Error::io(path, "open it"))?;
        let mut reader = wal::Reader::open(source, FileName::new(path.display().to_string()))?;
        let name = self.table.name.to_string();
        for read in &mut reader {
            let entry = read?;
            if entry.table == name {
                self.add_entry(&entry, path);
            }
        }
        let Some(warning) = self.table.warning_of_continuation(path, reader.end())? else {
            return Ok(());
        };
        let what = match reader.end() {
            Some(wal::End::Torn { offset, part, .. }) => {
                format!("{part} at offset {offset} is not finished; {}", warning.what)
            }
            _ => warning.what,
        };
        Err(Error::damaged(path, what))
    }

    /// Reads the back references of a family, which cloned tables have made.
    fn read_links(&mut self, links: &Path, region: &Region, family: &Family) -> Result<()> {
        for item in list_if_there(self.tree, links)? {
            let Some(name) = item.name().and_then(|name| name.strip_prefix(LINKS)) else {
                continue;
            };
            // Most are listed, so that their back references need not be read.
            if family.files.iter().any(|file| file.name.to_string() == name) {
                continue;
            }
            // HBase removes the directory after the last of its links.
            if list_if_there(self.tree, &item.path)?.is_empty() {
                continue;
            }
            let how = "a cloned table has a link to it";
            let origin = FileOrigin { how, source: item.path.clone(), at: None };
            let of_region = self.histories.get_mut(region.name().as_str());
            let of_family = of_region.and_then(|histories| histories.get_mut(&family.name));
            let history = of_family.expect(HAS_HISTORY);
            history.written.entry(name.to_owned()).or_insert(origin);
        }
        Ok(())
    }

    /// Returns the files of a family that are gone.
    fn lost_files(&self, region: &Region, family: &Family) -> Vec<FileLoss> {
        let of_region = self.histories.get(region.name().as_str());
        let of_family = of_region.and_then(|histories| histories.get(&family.name));
        let history = of_family.expect(HAS_HISTORY);
        let gone: Vec<_> = history
            .written
            .iter()
            .filter(|(name, origin)| {
                !history.explains(name, origin)
                    && !self.has_expired(family, origin)
                    && self.is_absent(region, family, name)
            })
            .collect();
        if gone.is_empty() {
            return Vec::new();
        }
        let mut current = Vec::new();
        for file in &family.files {
            match self.current_file(file) {
                Ok(read) => current.extend(read),
                // The check of the file reports it.
                Err(_) => return Vec::new(),
            }
        }
        let replaced = ReplacedFiles::by_files(&current);
        gone.into_iter()
            .filter(|(name, origin)| {
                !replaced.has(name)
                    && !current.iter().any(|file| history.may_have_cells_of(file, origin))
            })
            .map(|(name, origin)| lost(region, family, name, origin))
            .collect()
    }

    /// Returns whether a file is absent: neither in the list of its family, nor in a place where HBase looks for
    /// it, nor reported as a problem of the table. A file with another name than a store file's is never absent.
    fn is_absent(&self, region: &Region, family: &Family, name: &str) -> bool {
        let Ok(StoreFileName::HFile(_) | StoreFileName::Link(_) | StoreFileName::Reference(_)) =
            name.parse()
        else {
            return false;
        };
        let Table { root, name: table, .. } = self.table;
        let directory = String::from_utf8_lossy(&family.name);
        let places = in_all_data(root, table, region.name(), &directory, name);
        let is_listed = family.files.iter().any(|file| file.name.to_string() == name);
        let is_reported = places
            .first()
            .is_some_and(|path| path.ancestors().take(2).any(|path| self.reported.contains(path)));
        // A place that cannot be read may have it.
        !is_listed
            && !is_reported
            && places.iter().all(|path| matches!(self.tree.find(path), Ok(None)))
    }

    /// Returns whether all cells of a file can have expired, so that HBase deletes it without a trace.
    fn has_expired(&self, family: &Family, origin: &FileOrigin) -> bool {
        let options = self.table.schema.family(&family.name).map(FamilySchema::retention);
        let ttl =
            options.filter(|options| options.min_versions == 0).and_then(|options| options.ttl);
        let millis = ttl.and_then(|ttl| u64::try_from(ttl.as_millis()).ok());
        let now = u64::try_from(Clock::system().now().get()).unwrap_or_default();
        millis.zip(origin.at).is_some_and(|(millis, at)| at.time.saturating_add(millis) < now)
    }

    /// Returns what a file says about its origin; `None` for a reference, whose cells are of another region.
    fn current_file(&self, file: &StoreFile) -> Result<Option<FamilyFile>> {
        if matches!(file.name, StoreFileName::Reference(_)) {
            return Ok(None);
        }
        let location = file.locate(self.tree)?;
        let name = FileName::new(location.path.display().to_string());
        let reader = StoreFileReader::open(self.tree, &location, name, ReaderOptions::default())?;
        Ok(Some(FamilyFile::of(&file.name.to_string(), &reader)))
    }
}

impl From<&LostLogs> for FileLoss {
    fn from(lost: &LostLogs) -> Self {
        Self {
            region: Some(lost.region.clone()),
            family: None,
            file: lost.directory.display().to_string(),
            what: lost.what(),
            rows: lost.rows.clone(),
            unread: None,
        }
    }
}

/// Returns the files and directories that problems of a table name.
fn reported(table: &Table) -> HashSet<&Path> {
    let mut paths = HashSet::new();
    for problem in table.all_problems() {
        match &**problem {
            Error::Missing { searched, .. } => paths.extend(searched.iter().map(PathBuf::as_path)),
            Error::Damaged { path, .. } | Error::Io { path, .. } => {
                paths.insert(path.as_path());
            }
            _ => {}
        }
    }
    paths
}

fn add_marker(history: &mut RegionHistory, marker: Marker, at: EntryTime, path: &Path) {
    match marker {
        Marker::Flush(files) => {
            let (how, source) = ("a flush wrote it", path.to_owned());
            add_written(history, files, &FileOrigin { how, source, at: Some(at) });
        }
        Marker::BulkLoad(files) => {
            let (how, source) = ("a bulk load added it", path.to_owned());
            add_written(history, files, &FileOrigin { how, source, at: Some(at) });
        }
        Marker::Compaction { family, inputs, outputs, .. } => {
            if let Some(history) = history.get_mut(&family) {
                history.add_compaction(inputs, outputs);
            }
        }
        Marker::Open(mut files) => {
            for (family, history) in history {
                let names = files.remove(family).unwrap_or_default();
                for name in &names {
                    // A flush or a bulk load writes no reference and no link.
                    let Ok(StoreFileName::Reference(_) | StoreFileName::Link(_)) = name.parse()
                    else {
                        continue;
                    };
                    // The file can have writes from long before the opening.
                    let before = Some(EntryTime { sequence: 0, ..at });
                    let how = "the region was opened with it";
                    let origin = FileOrigin { how, source: path.to_owned(), at: before };
                    history.written.entry(name.clone()).or_insert(origin);
                }
                history.add_opening(at, names);
            }
        }
    }
}

fn add_written(history: &mut RegionHistory, files: FilesByFamily, origin: &FileOrigin) {
    for (family, names) in files {
        if let Some(of_family) = history.get_mut(&family) {
            of_family.written.extend(names.into_iter().map(|name| (name, origin.clone())));
        }
    }
}

fn lost(region: &Region, family: &Family, name: &str, origin: &FileOrigin) -> FileLoss {
    let directory = String::from_utf8_lossy(&family.name);
    FileLoss {
        region: Some(region.name().clone()),
        family: Some(family.name.clone()),
        file: format!("{}/{directory}/{name}", region.name()),
        what: format!(
            "the store file is missing: {}, as {} says; it is neither in the family nor in the archive, and no compaction replaced it",
            origin.how,
            origin.source.display()
        ),
        rows: region.info.rows(),
        unread: None,
    }
}

/// Returns the directory that has the back references of a family.
fn links_of(table: &Table, region: &Region, family: &Family) -> PathBuf {
    let archive = table_in(&table.root, "archive/data", &table.name);
    archive.join(region.name().as_str()).join(&*String::from_utf8_lossy(&family.name))
}
