//! A table of a root directory or a snapshot: its schema, its regions and their store files.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sstable::{Comparator, SequenceId};

use crate::error::{Error, Result};
use crate::names::{MobFileName, RegionName, TableName};
use crate::table::location::find_first;
use crate::table::logged_compactions::LoggedCompactions;
use crate::table::lost_logs::LostLogs;
use crate::table::root_paths::in_all_data;
use crate::table::{RegionInfo, StoreFile, TableSchema};
use crate::tree::FileTree;
use crate::warning::Warning;

/// A table of a root directory or a snapshot.
#[derive(Clone, Debug)]
pub struct Table {
    /// The name.
    pub name: TableName,
    /// The schema.
    pub schema: TableSchema,
    /// The regions that count, by ascending start key.
    pub regions: Vec<Region>,
    /// The region that lists the MOB files: of a snapshot with MOB files, and of each table with a
    /// MOB family.
    pub mob: Option<Region>,
    /// The regions that do not count, and why.
    pub left_out: Vec<LeftOut>,
    /// The errors of parts that cannot be read and that each scan needs. A scan fails because of them, unless it
    /// skips damage.
    pub problems: Vec<Arc<Error>>,
    /// The errors of logs, recovered edits and recovered HFiles that cannot be read. A scan with logs fails because of
    /// them, unless it skips damage.
    pub log_problems: Vec<Arc<Error>>,
    /// The errors of the directories of MOB files. Only a [check](Self::check) lists these files.
    pub mob_problems: Vec<Arc<Error>>,
    /// What each read of the table reports beside its cells: parts that disagree, and a rule of HBase
    /// that decided between them, or that may be incomplete.
    pub warnings: Vec<Warning>,
    /// What each read with logs reports too: logs without bytes, and logs that HBase ignores.
    pub log_warnings: Vec<Warning>,
    /// What decided which regions count.
    pub regions_by: RegionsBy,
    /// The write-ahead logs that may have cells of the table that are in no store file.
    pub logs: Vec<PathBuf>,
    /// The directory `WALs` where logs would be, if it is not there. A read with logs fails then.
    pub logs_missing: Option<PathBuf>,
    /// The path of what describes the table: the manifest or the directory of a snapshot, or the
    /// directory of a table.
    pub path: PathBuf,
    /// The logs that are gone by what `hbase:meta` says of regions that are open.
    pub(crate) lost_logs: Vec<LostLogs>,
    /// The regions that count by `hbase:meta`, and could not be read.
    pub(crate) absent: Vec<RegionInfo>,
    /// The directory of the logs whose cells have all been flushed or split; `None` for a snapshot.
    pub(crate) old_logs: Option<PathBuf>,
    /// The compactions that the logs name.
    pub(crate) compactions: Arc<LoggedCompactions>,
    pub(crate) root: PathBuf,
    pub(crate) tree: Arc<dyn FileTree>,
}

/// A region: its description and its families.
#[derive(Clone, Debug)]
pub struct Region {
    /// The description.
    pub info: RegionInfo,
    /// The families of the table's schema, by ascending name, those without files as well.
    pub families: Vec<Family>,
    /// Write-ahead logs in `recovered.edits`, which HBase replays when it opens the region, in this
    /// order.
    pub recovered_edits: Vec<PathBuf>,
    /// The sequence id up to which all writes were in store files when HBase last opened or closed
    /// the region; `None` if that is not known.
    ///
    /// The number of the file `recovered.edits/N.seqid`. HBase: `WALSplitUtil.getMaxRegionSequenceId`.
    pub last_opened: Option<SequenceId>,
}

/// A family of a region, and its store files.
#[derive(Clone, Debug)]
pub struct Family {
    /// The name.
    pub name: Vec<u8>,
    /// The store files that count.
    pub files: Vec<StoreFile>,
    /// The HFiles in `recovered.hfiles`: cells of logs, which HBase adds to the store files when it
    /// opens the region.
    pub recovered_hfiles: Vec<StoreFile>,
}

/// A region that does not count, and why.
#[derive(Clone, Debug)]
pub struct LeftOut {
    /// The region.
    pub region: Region,
    /// The reason.
    pub reason: LeftOutReason,
}

/// Why a region does not count.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum LeftOutReason {
    /// The region was split; its daughters have references to its files.
    SplitParent,
    /// Newer regions have its key range, and references to its files: it was split or merged.
    Replaced,
    /// `hbase:meta` does not have the region: it was merged, or never finished.
    NotInMeta,
    /// A replica, which has no files of its own.
    Replica,
}

/// What decided which regions of a table count.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum RegionsBy {
    /// A snapshot lists them.
    Snapshot,
    /// `hbase:meta` of the same root directory lists them.
    Meta,
    /// The key ranges: newer regions replace an older one whose key range they cover.
    KeyRanges,
}

impl Table {
    /// Returns the tree of files, which refuses symbolic links out of the root.
    pub fn tree(&self) -> &Arc<dyn FileTree> {
        &self.tree
    }

    /// Returns the order of the rows; the order of `hbase:meta` differs from the order of bytes.
    pub fn row_order(&self) -> Comparator {
        if self.name.is_meta() { Comparator::Meta } else { Comparator::Bytes }
    }

    /// Iterates over the errors of all parts that cannot be read, those that only some reads need as well.
    pub fn all_problems(&self) -> impl Iterator<Item = &Arc<Error>> {
        self.problems.iter().chain(&self.log_problems).chain(&self.mob_problems)
    }

    /// Returns the path of the root directory.
    pub fn root(&self) -> &Path {
        &self.root
    }
}

impl Region {
    /// Returns a family.
    pub fn family(&self, name: &[u8]) -> Option<&Family> {
        self.families.iter().find(|family| family.name == name)
    }

    /// Iterates over the recovered HFiles of all families.
    pub fn recovered_hfiles(&self) -> impl Iterator<Item = &StoreFile> {
        self.families.iter().flat_map(|family| &family.recovered_hfiles)
    }

    /// Iterates over the store files of all families.
    pub fn files(&self) -> impl Iterator<Item = &StoreFile> {
        self.families.iter().flat_map(|family| &family.files)
    }

    /// Returns the encoded name.
    pub const fn name(&self) -> &RegionName {
        &self.info.encoded_name
    }
}

impl LeftOutReason {
    /// Returns the reason as text for people.
    pub const fn description(self) -> &'static str {
        match self {
            Self::SplitParent => "split parent, its daughters have its cells",
            Self::Replaced => "newer regions cover its key range",
            Self::NotInMeta => "not in hbase:meta",
            Self::Replica => "replica, has no files of its own",
        }
    }
}

impl fmt::Display for LeftOutReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.description())
    }
}

/// Finds a MOB file below a root directory, as [`Table::locate_mob`] does for a table at `path`.
pub(crate) fn locate_mob(
    tree: &dyn FileTree,
    root: &Path,
    path: &Path,
    table: &TableName,
    family: &[u8],
    name: &MobFileName,
) -> Result<PathBuf> {
    let region = RegionInfo::mob_region_name(table);
    let family_name = String::from_utf8_lossy(family);
    let what = format!("the MOB file {name} of family {family_name}, table {table},");
    let candidates = in_all_data(root, table, &region, &family_name, name.as_str());
    find_first(tree, path, what, candidates)
}
