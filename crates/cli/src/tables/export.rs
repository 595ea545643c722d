//! `hfile snapshot export` and `hfile table export`: write the cells of a table to files, by region.

use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

use directories::{
    Family, MissingCells, OldLogCells, Region, Table, TableCells, TableScan, UnflushedCells,
};
use sstable::{CellRef, ReadTrace, WriterOptions};

use super::contents::file_len;
use super::get::read_logs;
use super::place::{OpenTable, Place};
use crate::cell_options::{
    CellOptions, print_log_warnings, print_missing, print_old_log_cells, print_torn_logs,
    print_warnings,
};
use crate::export::{self, ExportOptions, ExportSource, Part, PartCells, Source};
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
        let OpenTable { table, snapshot, creation, with_logs } = self.place.open()?;
        self.rows.check(table.row_order())?;
        let mut scan = self.cells.scan(creation)?.with_logs(with_logs);
        self.rows.limit(&mut scan);
        let form = self.export.form.form(&mut scan)?;
        let exported = export::Export {
            source: &TableSource::new(&table),
            described: describe(&table, snapshot),
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

/// Describes a table by the names of all store files and logs.
fn describe(table: &Table, snapshot: Option<String>) -> Source {
    let mut files = String::new();
    for region in &table.regions {
        let _ = writeln!(files, "{}", region.name());
        for Family { name, files: of_family, recovered_hfiles } in &region.families {
            for file in of_family.iter().chain(recovered_hfiles) {
                let family = sstable::escape(name);
                let _ = writeln!(files, "{family} {} {:?}", file.name, file.len);
            }
        }
        for log in &region.recovered_edits {
            let _ = writeln!(files, "{}", log.display());
        }
    }
    for log in &table.logs {
        let _ = writeln!(files, "{}", log.display());
    }
    Source::Table {
        root: table.root().display().to_string(),
        snapshot,
        table: table.name.to_string(),
        regions: table.regions.len() as u64,
        files_hash: export::files_hash(&files),
    }
}

/// The cells of the logs of all regions.
#[derive(Default)]
enum TableLogs {
    #[default]
    NotRead,
    Read(UnflushedCells),
    /// Too many for memory: the scan of each region reads its own.
    TooMany,
}

/// The regions of a table.
struct TableSource<'t> {
    table: &'t Table,
    logs: Mutex<TableLogs>,
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
    /// Reads the logs for all regions, if the scan needs them and they were not read yet.
    fn read_logs(&self, scan: &TableScan) -> anyhow::Result<Option<UnflushedCells>> {
        if !scan.with_logs {
            return Ok(None);
        }
        let mut logs = self.logs.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*logs, TableLogs::NotRead) {
            *logs = match read_logs(self.table, scan)? {
                Some(cells) => {
                    print_torn_logs(cells.torn_logs());
                    print_warnings(cells.warnings());
                    TableLogs::Read(cells)
                }
                None => TableLogs::TooMany,
            };
        }
        Ok(match &*logs {
            TableLogs::Read(cells) => Some(cells.clone()),
            TableLogs::NotRead | TableLogs::TooMany => None,
        })
    }
}

impl ExportSource for TableSource<'_> {
    fn parts(&self) -> &[Part] {
        &self.parts
    }

    fn open(&self, part: usize, scan: &TableScan) -> anyhow::Result<Box<dyn PartCells + '_>> {
        let region = &self.table.regions[part];
        let shared = self.read_logs(scan)?;
        let is_shared = shared.is_some();
        let scan = match shared {
            Some(cells) => scan.clone().unflushed(cells),
            None => scan.clone(),
        };
        let cells = self.table.scan_region(region, &scan).map_err(DamagedTable::from_error)?;
        if !is_shared {
            print_torn_logs(cells.torn_logs());
            print_log_warnings(self.table, cells.warnings());
        }
        Ok(Box::new(cells))
    }

    fn writer_options(&self, _part: usize, family: &[u8]) -> WriterOptions {
        let schema = self.table.schema.family(family);
        let options = schema.map(directories::FamilySchema::options).unwrap_or_default();
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
