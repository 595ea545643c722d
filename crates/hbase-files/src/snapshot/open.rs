//! Opens a snapshot: its description, and the table that it lists.

use std::path::Path;
use std::sync::Arc;

use super::description::SnapshotDescription;
use super::manifest::{FILE, LEN_MAX, ManifestParser, REGION_PREFIX};
use crate::error::{Error, Result};
use crate::message::file::read_file;
use crate::table::logged_compactions::LoggedCompactions;
use crate::table::schema::TableSchema;
use crate::table::{Region, RegionsBy, Table};
use crate::table_reader::found::Found;
use crate::table_reader::region_directory::{DirectoryKind, RegionDirectories};
use crate::table_reader::region_rules::TableRegions;
use crate::tree::{FileTree, ItemKind};
use crate::warning::Warning;

/// A snapshot: its description, and its table as it was.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The description.
    pub description: SnapshotDescription,
    /// The table.
    pub table: Table,
}

impl Snapshot {
    /// Reads the snapshot in a directory of a root directory.
    pub(crate) fn read(tree: &Arc<dyn FileTree>, root: &Path, directory: &Path) -> Result<Self> {
        let description = SnapshotDescription::read(&**tree, directory)?;
        let mut found = Found::default();
        let (path, schema, regions) = match description.version {
            2 => Self::read_manifest(&**tree, root, directory, &mut found)?,
            0 => Self::read_directories(&**tree, root, directory, &mut found)?,
            version => {
                let file = directory.join(super::DESCRIPTION_FILE);
                let what = format!("version {version} of the layout of snapshots");
                return Err(Error::Unsupported { path: file, what });
            }
        };
        let foreign = regions.iter().map(|region| &region.info.table).chain([&schema.table]);
        if let Some(other) = foreign.into_iter().find(|table| **table != description.table) {
            let what = format!(
                "damaged snapshot: it is of table {}, and lists {other}",
                description.table
            );
            return Err(Error::damaged(&path, what));
        }
        let parts = TableRegions::by_marks(&path, &schema, regions, &mut found);
        parts.check_key_ranges(&path, &mut found.problems);
        let name = description.table.clone();
        let compactions = LoggedCompactions::new(tree.clone(), name, Vec::new(), None, Vec::new());
        let table = Table {
            name: description.table.clone(),
            schema,
            regions: parts.regions,
            mob: parts.mob,
            left_out: parts.left_out,
            problems: found.problems.into_iter().map(Arc::new).collect(),
            warnings: found.warnings,
            log_problems: Vec::new(),
            mob_problems: Vec::new(),
            absent: Vec::new(),
            old_logs: None,
            compactions: Arc::new(compactions),
            regions_by: RegionsBy::Snapshot,
            log_warnings: Vec::new(),
            lost_logs: Vec::new(),
            logs: Vec::new(),
            logs_missing: None,
            path,
            root: root.to_owned(),
            tree: tree.clone(),
        };
        Ok(Self { description, table })
    }

    /// Reads layout version 2. Without `data.manifest`, reads the manifests of regions, as HBase
    /// does.
    fn read_manifest(
        tree: &dyn FileTree,
        root: &Path,
        directory: &Path,
        found: &mut Found,
    ) -> Result<(std::path::PathBuf, TableSchema, Vec<Region>)> {
        let path = directory.join(FILE);
        if tree.find(&path).map_err(Error::io(&path, "find it"))?.is_none() {
            let read = Self::read_directories(tree, root, directory, found);
            return read.map_err(|error| match error {
                Error::Missing { .. } => Error::Missing {
                    path: directory.to_owned(),
                    what: "the manifest of the snapshot".to_owned(),
                    searched: vec![path],
                },
                error => error,
            });
        }
        let bytes = read_file(tree, &path, LEN_MAX)?;
        let (schema, regions) = ManifestParser::new(root, path.clone())
            .parse(&bytes)
            .map_err(|what| Error::damaged(&path, format!("damaged manifest: {what}")))?;
        Ok((path, schema, regions))
    }

    /// Reads layout version 0, and the manifests of single regions.
    fn read_directories(
        tree: &dyn FileTree,
        root: &Path,
        directory: &Path,
        found: &mut Found,
    ) -> Result<(std::path::PathBuf, TableSchema, Vec<Region>)> {
        let (schema, _) = TableSchema::read_newest(tree, directory, &mut found.warnings)?;
        let kind = DirectoryKind::Snapshot;
        let directories = RegionDirectories { tree, root, schema: &schema, kind, meta: None };
        let mut regions = directories.read(directory, found)?;
        for item in tree.list(directory).map_err(Error::io(directory, "list it"))? {
            let is_file = matches!(item.kind, ItemKind::File { .. });
            if !is_file || !item.name().is_some_and(|name| name.starts_with(REGION_PREFIX)) {
                continue;
            }
            let bytes = read_file(tree, &item.path, LEN_MAX)?;
            let region = ManifestParser::new(root, item.path.clone()).parse_region(&bytes);
            let what = "is the manifest of a region of an unfinished snapshot, which has no length: if it was cut off between two families, the cells of the others are missing";
            found.warnings.push(Warning::new(&item.path, what));
            regions.push(region.map_err(|what| {
                Error::damaged(&item.path, format!("damaged manifest of a region: {what}"))
            })?);
        }
        Ok((directory.to_owned(), schema, regions))
    }
}
