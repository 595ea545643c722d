//! `hfile snapshot export` and `hfile table export`: write the cells of a table to files, by region.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use hbase_files::{
    ItemKind, MissingCells, OldLogCells, Region, RegionInfo, Table, TableCells, TableScan,
    TableSchema, UnflushedCells,
};
use serde_json::{Value, json};
use sstable::{CellRef, ReadTrace, SequenceId, WriterOptions};

use super::contents::file_len;
use super::place::{OpenTable, Place};
use crate::cell_options::{
    CellOptions, print_missing, print_old_log_cells, print_torn_logs, print_warnings,
};
use crate::export::{
    self, ExportOptions, ExportSource, Part, PartCells, Source, SourceFile, SourceState,
};
use crate::failure::{Answer, DamagedTable};
use crate::output::ReportFormat;
use crate::row_options::RowOptions;

// The doc comments and the examples are those of the nouns, `snapshot.rs` and `table.rs`.
#[derive(clap::Args)]
pub(super) struct Export<P: Place> {
    #[command(flatten)]
    place: P,
    #[command(flatten)]
    export: ExportOptions,
    #[command(flatten)]
    rows: RowOptions,
    #[command(flatten)]
    cells: CellOptions,
    #[command(flatten)]
    report_format: ReportFormat,
}

impl<P: Place> Export<P> {
    /// Writes the files. The answer is negative if cells are missing.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let open = self.place.open()?;
        self.rows.check(open.table.row_order())?;
        let mut scan = open.scan(&self.cells)?;
        let OpenTable { table, snapshot, .. } = open;
        self.rows.limit(&mut scan);
        let form = self.export.form.form(&mut scan)?;
        let exported = export::Export {
            source: &TableSource::new(&table),
            described: describe(&table, snapshot, scan.with_logs),
            scan,
            form,
            output: &self.export.output,
        };
        let exported = exported.run()?;
        print_missing(&exported.missing);
        print_old_log_cells(&exported.old_log_cells);
        self.cells.explain(&exported.trace);
        self.report_format.print(&exported.report)?;
        Ok(Answer::from_bool(exported.is_whole))
    }
}

/// Describes a table by its schema, its regions, and the lengths of all files that are read.
fn describe(table: &Table, snapshot: Option<String>, with_logs: bool) -> Source {
    let (mut sources, mut regions) = (Vec::new(), Vec::new());
    let log = |path: &Path| SourceFile {
        file: path.strip_prefix(table.root()).unwrap_or(path).display().to_string(),
        bytes: match table.tree().find(path) {
            Ok(Some(ItemKind::File { len })) => Some(len),
            _ => None,
        },
        modified: None,
    };
    for region in &table.regions {
        let RegionInfo { encoded_name, start_key, end_key, .. } = &region.info;
        let last_opened = region.last_opened.filter(|_| with_logs).map(SequenceId::get);
        regions.push(json!([encoded_name.to_string(), start_key, end_key, last_opened]));
        sources.extend(region.files().map(|file| SourceFile {
            file: file.short_path(),
            bytes: file_len(table, file),
            modified: None,
        }));
        if with_logs {
            sources.extend(region.recovered_edits.iter().map(|path| log(path)));
            sources.extend(region.recovered_hfiles().map(|file| SourceFile {
                file: file.short_path(),
                bytes: file_len(table, file),
                modified: None,
            }));
        }
    }
    if with_logs {
        sources.extend(table.logs.iter().map(|path| log(path)));
    }
    Source::Table {
        root: table.root().display().to_string(),
        snapshot,
        table: table.name.to_string(),
        regions: table.regions.len() as u64,
        state: SourceState::new(sources, &json!([schema(&table.schema), regions])),
    }
}

/// Returns all settings of a table and its families.
fn schema(schema: &TableSchema) -> Value {
    let pairs = |attributes: &BTreeMap<Vec<u8>, Vec<u8>>| json!(Vec::from_iter(attributes));
    let TableSchema { attributes, families, configuration, .. } = schema;
    let families: Value = families
        .iter()
        .map(|family| json!([family.name, pairs(&family.attributes), family.configuration]))
        .collect();
    json!([pairs(attributes), configuration, families])
}

/// The regions of a table.
struct TableSource<'t> {
    table: &'t Table,
    /// The unflushed cells of all regions, once they are read.
    logs: Mutex<Option<UnflushedCells>>,
    parts: Vec<Part>,
}

impl<'t> TableSource<'t> {
    fn new(table: &'t Table) -> Self {
        let part = |region: &Region| {
            let name = region.name().to_string();
            Part {
                file_stem: name.clone(),
                name,
                start_row: region.info.start_key.clone(),
                end_row: region.info.end_key.clone(),
                bytes: region.files().filter_map(|file| file_len(table, file)).sum(),
            }
        };
        Self { table, logs: Mutex::default(), parts: table.regions.iter().map(part).collect() }
    }
}

impl TableSource<'_> {
    /// Adds the unflushed cells of all regions to a scan, if it needs them. Reads them once.
    fn with_logs(&self, scan: &TableScan) -> anyhow::Result<TableScan> {
        if !scan.with_logs {
            return Ok(scan.clone());
        }
        let mut logs = self.logs.lock().unwrap_or_else(PoisonError::into_inner);
        if logs.is_none() {
            let cells = self.table.read_logs(scan).map_err(DamagedTable::from_error)?;
            print_torn_logs(cells.torn_logs());
            print_warnings(cells.warnings());
            *logs = Some(cells);
        }
        let cells = logs.clone().expect("read above");
        Ok(scan.clone().unflushed(cells))
    }
}

impl ExportSource for TableSource<'_> {
    fn parts(&self) -> &[Part] {
        &self.parts
    }

    fn check(&self, scan: &TableScan) -> anyhow::Result<Vec<MissingCells>> {
        // Opens no file. The export reads the logs when it reads the first region.
        let cells = self.table.scan(&scan.clone().with_logs(false));
        Ok(cells.map_err(DamagedTable::from_error)?.missing())
    }

    fn open(&self, part: usize, scan: &TableScan) -> anyhow::Result<Box<dyn PartCells + '_>> {
        let region = &self.table.regions[part];
        let scan = self.with_logs(scan)?;
        let cells = self.table.scan_region(region, &scan).map_err(DamagedTable::from_error)?;
        Ok(Box::new(cells))
    }

    fn writer_options(&self, _part: usize, family: &[u8]) -> WriterOptions {
        let schema = self.table.schema.family(family);
        let options = schema.map(hbase_files::FamilySchema::options).unwrap_or_default();
        WriterOptions::default()
            .block_size(options.block_size)
            .data_block_encoding(options.data_block_encoding)
            .compression(options.compression)
            .bloom_type(options.bloom_type)
    }
}

impl PartCells for TableCells {
    fn next_cell(&mut self) -> anyhow::Result<Option<CellRef<'_>>> {
        self.next_ref().map_err(DamagedTable::from_error)
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
