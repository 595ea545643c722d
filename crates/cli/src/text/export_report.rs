//! What an export prints at its end.

use std::io::{self, Write};
use std::path::Path;

use hbase_files::Table;
use serde::Serialize;
use transfer::{ExportFormat, Exported};

use crate::text::bulk_load::{load_command, write_load};
use crate::text::output::Report;
use crate::text::size_text::{show_count, show_number, show_size};

/// The report of an export.
#[derive(Serialize)]
pub(crate) struct ExportReport {
    schema: u32,
    /// The path of the manifest.
    manifest: String,
    regions: u64,
    /// Regions with at least one exported row.
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
    /// The attributes of the table that are `false`.
    #[serde(skip)]
    switched_off: Vec<&'static str>,
    /// The command that loads HFiles; omitted for other formats.
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    /// `region`, `store` or `file`.
    #[serde(skip)]
    unit: &'static str,
    #[serde(skip)]
    out: String,
}

/// The attributes of a table that are true by default.
const SWITCHES: [&str; 3] = ["COMPACTION_ENABLED", "SPLIT_ENABLED", "MERGE_ENABLED"];

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
            switched_off: Vec::new(),
            command: is_hfiles.then(|| load_command(&shown, exported.table.as_deref())),
            unit: exported.unit,
            out: shown,
        }
    }
}

impl ExportReport {
    /// Adds the statement that creates the table that HFiles are for.
    pub(crate) fn with_table(mut self, table: &Table) -> Self {
        if self.command.is_some() {
            self.create = Some(table.create_statement());
            let attributes = &table.schema.attributes;
            for name in SWITCHES {
                let value = attributes.get(name.as_bytes());
                if value.is_some_and(|value| value.eq_ignore_ascii_case(b"false")) {
                    self.switched_off.push(name);
                }
            }
        }
        self
    }
}

impl Report for ExportReport {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.resumed > 0 {
            let parts = show_number(self.resumed, self.unit);
            writeln!(out, "{parts} had been exported before")?;
        }
        let all = show_number(self.regions, self.unit);
        let regions = if self.regions_with_rows == self.regions {
            all
        } else {
            format!("{} of {all}", show_count(self.regions_with_rows))
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
        for name in &self.switched_off {
            writeln!(
                out,
                "the table has {name} => 'false'; the statement below sets it for the new table too"
            )?;
        }
        match &self.command {
            Some(command) => write_load(out, self.create.as_deref(), command),
            None => Ok(()),
        }
    }
}
