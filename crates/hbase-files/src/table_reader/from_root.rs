//! Reads a table of a root directory, in the order of the page `docs/src/reference/root-directory.md`: schema,
//! regions, store files, unflushed cells.

use std::collections::BTreeSet;
use std::mem::take;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cells::error_line;

use crate::error::{Error, Result};
use crate::names::{RegionName, TableName};
use crate::table::log_files::LogFiles;
use crate::table::logged_compactions::LoggedCompactions;
use crate::table::root_paths::table_in;
use crate::table::schema::{FamilySchema, TableSchema};
use crate::table::{Region, RegionInfo, RegionsBy, Table};
use crate::table_reader::family_directories::check_family_directories;
use crate::table_reader::found::Found;
use crate::table_reader::last_opening::lost_logs;
use crate::table_reader::meta::MetaRegions;
use crate::table_reader::recovered::RecoveredFiles;
use crate::table_reader::region_directory::{DirectoryKind, RegionDirectories};
use crate::table_reader::region_rules::TableRegions;
use crate::tree::FileTree;
use crate::warning::Warning;

/// The end of warnings about `hbase:meta`.
const BY_KEY_RANGES: &str = "the key ranges of the directories decide which regions count";

/// Reads tables of a root directory.
pub(crate) struct TableReader<'r> {
    pub(crate) tree: &'r Arc<dyn FileTree>,
    /// The root directory.
    pub(crate) root: &'r Path,
    /// The root of the write-ahead logs, if it is another one.
    pub(crate) wal_root: Option<&'r Path>,
}

/// Which regions of a table count.
struct Decision {
    regions_by: RegionsBy,
    /// The regions that count by `hbase:meta`, and could not be read.
    absent: Vec<RegionInfo>,
}

impl TableReader<'_> {
    /// Reads the table in a directory.
    pub(crate) fn read(&self, name: &TableName, directory: PathBuf) -> Result<Table> {
        let mut found = Found::default();
        let (schema, number) =
            TableSchema::read_newest(&**self.tree, &directory, &mut found.warnings)?;
        if schema.table != *name {
            let what = format!("damaged description of a table: it is of table {}", schema.table);
            return Err(Error::damaged(&directory.join(crate::table::schema::DIRECTORY), what));
        }
        let meta = self.meta_regions(name, &mut found);
        let mut regions = self.regions(&schema, &directory, meta.as_ref(), &mut found)?;
        let decision = self.decide(&directory, meta.as_ref(), &mut regions, &mut found);
        regions.drop_problems_of_left_out(&directory, &mut found.problems);
        let mut logs = LogFiles::find(&**self.tree, self.root, self.wal_root, name.is_meta());
        let of_logs = self.recover(name, &mut regions, &mut logs, &mut found);
        // A directory that cannot be read may have the logs.
        let are_logs_known = of_logs.problems.is_empty() && logs.missing.is_none();
        let openings = regions.regions.iter().filter(|_| are_logs_known).filter_map(|region| {
            meta.as_ref()?.opening(region.name()).map(|opening| (region, opening))
        });
        let lost_logs = lost_logs(&**self.tree, &logs, openings);
        let is_altered = number > 1;
        check_family_directories(
            &**self.tree,
            self.root,
            &directory,
            is_altered,
            &regions.regions,
            &mut found,
        );
        let files = regions.regions.iter().flat_map(Region::files);
        found.warnings.extend(files.filter_map(|file| file.archived_parent(&**self.tree)));
        regions.check_key_ranges(&directory, &mut found.problems);
        let mut of_mob = Found::default();
        regions.mob = self.mob_region(&schema, &mut of_mob);
        found.warnings.append(&mut of_mob.warnings);
        let log_problems: Vec<_> = of_logs.problems.into_iter().map(Arc::new).collect();
        let compactions = LoggedCompactions::new(
            Arc::clone(self.tree),
            name.clone(),
            logs.logs.clone(),
            Some(logs.old.clone()),
            log_problems.clone(),
        );
        Ok(Table {
            name: name.clone(),
            schema,
            regions: regions.regions,
            mob: regions.mob,
            left_out: regions.left_out,
            problems: found.problems.into_iter().map(Arc::new).collect(),
            warnings: found.warnings,
            log_problems,
            mob_problems: of_mob.problems.into_iter().map(Arc::new).collect(),
            log_warnings: of_logs.warnings,
            lost_logs,
            absent: decision.absent,
            old_logs: Some(logs.old),
            compactions: Arc::new(compactions),
            regions_by: decision.regions_by,
            logs: logs.logs,
            logs_missing: logs.missing,
            path: directory,
            root: self.root.to_owned(),
            tree: Arc::clone(self.tree),
        })
    }

    /// Reads the directories of regions.
    fn regions(
        &self,
        schema: &TableSchema,
        directory: &Path,
        meta: Option<&MetaRegions>,
        found: &mut Found,
    ) -> Result<TableRegions> {
        let (tree, root, kind) = (&**self.tree, self.root, DirectoryKind::Table);
        let directories = RegionDirectories { tree, root, schema, kind, meta };
        let regions = directories.read(directory, found)?;
        Ok(TableRegions::by_marks(directory, schema, regions, found))
    }

    /// Adds the recovered edits and HFiles to the regions that count. Returns what is wrong or in doubt with logs and
    /// recovered files: reads without logs need neither.
    fn recover(
        &self,
        name: &TableName,
        regions: &mut TableRegions,
        logs: &mut LogFiles,
        found: &mut Found,
    ) -> Found {
        let (problems, warnings) = (take(&mut logs.problems), take(&mut logs.warnings));
        let mut of_logs = Found { problems, warnings };
        let (tree, root, wal_root) = (&**self.tree, self.root, self.wal_root);
        let recovered = RecoveredFiles::new(tree, root, wal_root, name, &mut of_logs);
        for region in &mut regions.regions {
            recovered.add_to(region, &mut of_logs);
        }
        for problem in &of_logs.problems {
            found.warn_of(problem, "it may have cells that are in no store file");
        }
        // `meta_regions` has added the warnings that do not depend on the table.
        of_logs.warnings.retain(|warning| !found.warnings.contains(warning));
        of_logs
    }

    /// Returns the region that stands for the MOB files of a table, if it has any.
    fn mob_region(&self, schema: &TableSchema, found: &mut Found) -> Option<Region> {
        if !schema.families.iter().any(FamilySchema::is_mob) {
            return None;
        }
        let info = RegionInfo::of_mob_files(&schema.table);
        let of_table = table_in(self.root, "mobdir/data", &schema.table);
        let directory = of_table.join(info.encoded_name.as_str());
        let kind = DirectoryKind::MobFiles;
        let (tree, root) = (&**self.tree, self.root);
        let directories = RegionDirectories { tree, root, schema, kind, meta: None };
        Some(directories.read_families(&directory, info, found))
    }

    /// Reads what `hbase:meta` has of a table; `None` if it cannot be read.
    fn meta_regions(&self, table: &TableName, found: &mut Found) -> Option<MetaRegions> {
        if table.is_meta() {
            return None;
        }
        let meta = TableName::new(Some("hbase"), "meta").expect("a valid name");
        let directory = table_in(self.root, "data", &meta);
        let doubt = match self.tree.find(&directory) {
            Ok(None) => "is missing".to_owned(),
            _ => match self
                .read(&meta, directory.clone())
                .and_then(|meta| MetaRegions::read(meta, table))
            {
                Ok(mut regions) => {
                    found.warnings.append(&mut regions.warnings);
                    return Some(regions);
                }
                Err(error) => format!("cannot be read: {}", error_line(&error)),
            },
        };
        found.warnings.push(Warning::new(directory, format!("{doubt}; {BY_KEY_RANGES}")));
        None
    }

    /// Decides which regions of a table count: by `hbase:meta`, or by their key ranges.
    fn decide(
        &self,
        directory: &Path,
        meta: Option<&MetaRegions>,
        regions: &mut TableRegions,
        found: &mut Found,
    ) -> Decision {
        let decides = meta.filter(|meta| regions.apply_meta(meta));
        if let Some(meta) = meta {
            let doubt = match (meta.has_log, decides.is_some()) {
                (true, true) => None,
                (true, false) => Some(format!("has no region of the table; {BY_KEY_RANGES}")),
                (false, true) => Some("may be old, because the root directory has no log of it; it fits the directories of the regions, and decides which of them count".to_owned()),
                (false, false) => Some(format!("is old, and the root directory has no log of it; {BY_KEY_RANGES}")),
            };
            let path = self.root.join("data/hbase/meta");
            found.warnings.extend(doubt.map(|what| Warning::new(path, what)));
        }
        let Some(meta) = decides else {
            regions.leave_out_covered();
            return Decision { regions_by: RegionsBy::KeyRanges, absent: Vec::new() };
        };
        found.warnings.extend(regions.unexplained(meta).map(|region| {
            let what = "hbase:meta does not have the region, which was left out";
            Warning::new(directory.join(region.name().as_str()), what)
        }));
        let there: BTreeSet<&RegionName> = regions.regions.iter().map(Region::name).collect();
        let unlisted = meta.live().filter(|info| !there.contains(&info.encoded_name));
        let absent: Vec<RegionInfo> = unlisted.cloned().collect();
        for info in &absent {
            let region = &info.encoded_name;
            found.problems.push(Error::Missing {
                path: directory.to_owned(),
                what: format!("the region {region} of hbase:meta, {},", info.rows()),
                searched: vec![directory.join(region.as_str())],
            });
        }
        Decision { regions_by: RegionsBy::Meta, absent }
    }
}
