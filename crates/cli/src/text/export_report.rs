//! What an export prints at its end.

use std::io::{self, Write};
use std::path::Path;

use hbase_files::Table;
use serde::Serialize;
use transfer::{ExportFormat, Exported};

use crate::text::bulk_load::load_command;
use crate::text::output::Report;
use crate::text::size_text::{show_count, show_number, show_size};

/// The report of an export.
#[derive(Serialize)]
pub(crate) struct ExportReport {
    schema: u32,
    /// The path of the manifest.
    manifest: String,
    regions: u64,
    /// Those that have rows of the export.
    regions_with_rows: u64,
    /// Regions that an earlier run had exported.
    resumed: u64,
    files: u64,
    rows: u64,
    cells: u64,
    bytes: u64,
    /// The statement of HBase's shell that creates a table for HFiles of a table or a snapshot.
    #[serde(skip_serializing_if = "Option::is_none")]
    create: Option<String>,
    /// The command that loads HFiles; omitted for other formats.
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    /// What a region is called in the report that people read.
    #[serde(skip)]
    unit: &'static str,
    #[serde(skip)]
    out: String,
}

impl ExportReport {
    /// Returns the report of an export of a format to the directory `out`.
    pub(crate) fn new(out: &Path, format: ExportFormat, exported: &Exported) -> Self {
        let shown = out.display().to_string();
        let is_hfiles = format == ExportFormat::Hfiles;
        Self {
            schema: 1,
            manifest: exported.manifest.display().to_string(),
            regions: exported.parts,
            regions_with_rows: exported.parts_with_rows,
            resumed: exported.resumed,
            files: exported.files,
            rows: exported.rows,
            cells: exported.cells,
            bytes: exported.bytes,
            create: None,
            command: is_hfiles.then(|| load_command(&shown, exported.table.as_deref())),
            unit: exported.unit,
            out: shown,
        }
    }
}

impl ExportReport {
    /// Adds the statement that creates the table that HFiles are for.
    pub(crate) fn with_table(mut self, table: &Table) -> Self {
        self.create = self.command.is_some().then(|| table.create_statement());
        self
    }
}

impl Report for ExportReport {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.resumed > 0 {
            let parts = show_number(self.resumed, self.unit);
            writeln!(out, "{parts} had been exported before")?;
        }
        let regions = match self.regions_with_rows {
            with_rows if with_rows == self.regions => show_number(self.regions, self.unit),
            with_rows => {
                format!("{} of {}", show_count(with_rows), show_number(self.regions, self.unit))
            }
        };
        writeln!(
            out,
            "{} of {} and {regions} in {} ({}): {}",
            show_number(self.cells, "cell"),
            show_number(self.rows, "row"),
            show_number(self.files, "file"),
            show_size(self.bytes),
            self.out
        )?;
        if let (Some(create), Some(_)) = (&self.create, &self.command) {
            writeln!(
                out,
                "create their table in the shell of HBase, unless it is there, with\n  {create}"
            )?;
        }
        match &self.command {
            Some(command) => writeln!(out, "load them with\n  {command}"),
            None => Ok(()),
        }
    }
}
