//! Tables and snapshots as the source of an export: each region is a part.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use hbase_files::{
    FamilySchema, ItemKind, MissingCells, OldLogCells, RegionInfo, StoreFile, Table, TableCells,
    TableScan, TableSchema, UnflushedCells,
};
use serde_json::{Value, json};
use sstable::{CellRef, ReadTrace, SequenceId, WriterOptions};

use super::form::ExportForm;
use super::manifest::Source;
use super::run::{Export, Exported};
use super::source::{ExportSource, Part, PartCells};
use super::source_state::{SourceFile, SourceState};
use crate::error::{Error, Result};
use crate::progress::{Observer, Warning};

/// A table or a snapshot to export; each region is a part.
///
/// ```no_run
/// use std::path::Path;
/// use std::sync::Arc;
///
/// use hbase_files::{LocalTree, RootDirectory, TableScan};
/// use transfer::{ExportFormat, FormOptions, TableSource};
///
/// let root = RootDirectory::open(Arc::new(LocalTree), Path::new("hbase"))?;
/// let snapshot = root.snapshot("users-monday")?;
/// let mut scan = TableScan::default();
/// let form = FormOptions::new(ExportFormat::Csv).form(&mut scan)?;
/// let source = TableSource::new(&snapshot.table, Some("users-monday".to_owned()));
/// let exported = source.export(scan, form, Path::new("out"), &())?;
/// println!("{} cells in {} files", exported.cells, exported.files);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TableSource<'t> {
    table: &'t Table,
    /// The name of the snapshot, if it is one.
    snapshot: Option<String>,
    /// The unflushed cells of all regions, once they are read.
    logs: Mutex<Option<UnflushedCells>>,
    parts: Vec<Part>,
}

impl<'t> TableSource<'t> {
    /// Takes the regions of a table; `snapshot` is the name of the snapshot, if it is one.
    pub fn new(table: &'t Table, snapshot: Option<String>) -> Self {
        let mut parts = Vec::with_capacity(table.regions.len());
        for region in &table.regions {
            let name = region.name().to_string();
            parts.push(Part {
                file_stem: name.clone(),
                name,
                start_row: region.info.start_key.clone(),
                end_row: region.info.end_key.clone(),
                bytes: region.files().filter_map(|file| file.hfile_len(&**table.tree())).sum(),
            });
        }
        Self { table, snapshot, logs: Mutex::default(), parts }
    }

    /// Writes the cells that a scan selects to files in the directory `output`.
    ///
    /// If an earlier run with the same options was stopped, the export goes on after its last part.
    ///
    /// # Errors
    ///
    /// If a file cannot be read and damage is not to be skipped, or a cell cannot be written;
    /// [`Error::Options`] if `output` is not the directory of this export.
    pub fn export(
        &self,
        scan: TableScan,
        form: ExportForm,
        output: &Path,
        observer: &dyn Observer,
    ) -> Result<Exported> {
        Export { source: self, scan, form, output, observer }.run()
    }

    /// Adds the unflushed cells of all regions to a scan, if it needs them. Reads them once.
    fn with_logs(&self, scan: &TableScan, observer: &dyn Observer) -> Result<TableScan> {
        if !scan.with_logs {
            return Ok(scan.clone());
        }
        let mut logs = self.logs.lock().unwrap_or_else(PoisonError::into_inner);
        if logs.is_none() {
            let cells = self.table.read_logs(scan).map_err(Error::Table)?;
            observer.warn(Warning::TornLogs(cells.torn_logs()));
            observer.warn(Warning::Logs(cells.warnings()));
            *logs = Some(cells);
        }
        let cells = logs.clone().expect("read above");
        Ok(scan.clone().unflushed(cells))
    }
}

impl ExportSource for TableSource<'_> {
    fn describe(&self, with_logs: bool) -> Source {
        describe(self.table, self.snapshot.clone(), with_logs)
    }

    fn parts(&self) -> &[Part] {
        &self.parts
    }

    fn check(&self, scan: &TableScan) -> Result<Vec<MissingCells>> {
        // Opens no file. The export reads the logs when it reads the first region.
        let cells = self.table.scan(&scan.clone().with_logs(false));
        Ok(cells.map_err(Error::Table)?.missing())
    }

    fn open(
        &self,
        part: usize,
        scan: &TableScan,
        observer: &dyn Observer,
    ) -> Result<Box<dyn PartCells + '_>> {
        let region = &self.table.regions[part];
        let with_logs = self.with_logs(scan, observer)?;
        let cells = self.table.scan_region(region, &with_logs).map_err(Error::Table)?;
        Ok(Box::new(cells))
    }

    fn writer_options(&self, _part: usize, family: &[u8]) -> WriterOptions {
        let schema = self.table.schema.family(family);
        schema.map(FamilySchema::writer_options).unwrap_or_default()
    }
}

/// Describes a table by its schema, its regions, and the lengths of all files that are read.
fn describe(table: &Table, snapshot: Option<String>, with_logs: bool) -> Source {
    let (mut sources, mut regions) = (Vec::new(), Vec::new());
    for region in &table.regions {
        let RegionInfo { encoded_name, start_key, end_key, .. } = &region.info;
        let last_opened = if with_logs { region.last_opened.map(SequenceId::get) } else { None };
        regions.push(json!([encoded_name.to_string(), start_key, end_key, last_opened]));
        sources.extend(region.files().map(|file| store_file_source(table, file)));
        if with_logs {
            sources.extend(region.recovered_edits.iter().map(|path| log_source(table, path)));
            sources.extend(region.recovered_hfiles().map(|file| store_file_source(table, file)));
        }
    }
    if with_logs {
        sources.extend(table.logs.iter().map(|path| log_source(table, path)));
    }
    Source::Table {
        root: table.root().display().to_string(),
        snapshot,
        table: table.name.to_string(),
        regions: table.regions.len() as u64,
        state: SourceState::new(sources, &json!([schema(&table.schema), regions])),
    }
}

fn store_file_source(table: &Table, file: &StoreFile) -> SourceFile {
    let bytes = file.hfile_len(&**table.tree());
    SourceFile { file: file.short_path(), bytes, modified: None }
}

fn log_source(table: &Table, path: &Path) -> SourceFile {
    let bytes = match table.tree().find(path) {
        Ok(Some(ItemKind::File { len })) => Some(len),
        _ => None,
    };
    let file = path.strip_prefix(table.root()).unwrap_or(path).display().to_string();
    SourceFile { file, bytes, modified: None }
}

/// Returns all settings of a table and its families.
fn schema(schema: &TableSchema) -> Value {
    let mut families = Vec::new();
    for FamilySchema { name, attributes, configuration, .. } in &schema.families {
        families.push(json!([name, Vec::from_iter(attributes), configuration]));
    }
    json!([Vec::from_iter(&schema.attributes), schema.configuration, families])
}

impl PartCells for TableCells {
    fn next_cell(&mut self) -> Result<Option<CellRef<'_>>> {
        self.next_ref().map_err(Error::Table)
    }

    fn trace(&mut self) -> ReadTrace {
        *Self::trace(self)
    }

    fn missing(&self) -> Vec<MissingCells> {
        Self::missing(self)
    }

    fn old_log_cells(&self) -> Vec<OldLogCells> {
        Self::old_log_cells(self).to_vec()
    }
}
