//! A table or a snapshot as one line: of `ls`, and of `info` for several.

use std::io::Write;

use anyhow::Context;
use cells::escape;
use hbase_files::{FormerTable, Region, Table, TableScan};
use serde::Serialize;

use super::contents::{FileCounts, regions_by_text};
use super::place::NamedTable;
use crate::text::output::{STDOUT, stdout, write_table};
use crate::text::size_text::{show_count, show_number, show_size};
use crate::text::warnings::PrintedWarnings;

/// A table of the list.
#[derive(Serialize)]
pub(super) struct TableLine {
    schema: u32,
    pub(super) table: String,
    /// `archive` or `mobdir`, if the table has files only there.
    #[serde(skip_serializing_if = "Option::is_none")]
    only_in: Option<&'static str>,
    families: Vec<String>,
    regions: usize,
    left_out: usize,
    regions_by: Option<&'static str>,
    #[serde(flatten)]
    files: FileCounts,
    logs: usize,
    /// The cells that are only in logs; `null` if the logs were not read.
    unflushed_cells: Option<u64>,
    problems: usize,
}

impl TableLine {
    pub(super) fn new(table: &Table) -> Self {
        let families = table.schema.families.iter();
        let recovered = table.regions.iter().map(|region| region.recovered_edits.len());
        Self {
            schema: 1,
            table: table.name.to_string(),
            only_in: None,
            families: families.map(|family| escape(&family.name).to_string()).collect(),
            regions: table.regions.len(),
            left_out: table.left_out.len(),
            regions_by: Some(regions_by_text(table.regions_by)),
            files: FileCounts::of_table(table),
            logs: table.logs.len() + recovered.sum::<usize>(),
            unflushed_cells: None,
            problems: table.all_problems().count(),
        }
    }

    /// Returns the line of a table that is gone.
    pub(super) fn former(table: &FormerTable) -> Self {
        let is_of_logs = table.place == FormerTable::RECOVERED_EDITS;
        let (hfiles, logs) = if is_of_logs { (0, table.files) } else { (table.files, 0) };
        let files = FileCounts { hfiles, bytes: table.bytes, ..FileCounts::default() };
        Self {
            schema: 1,
            table: table.name.to_string(),
            only_in: Some(table.place),
            families: Vec::new(),
            regions: 0,
            left_out: 0,
            regions_by: None,
            files,
            logs: usize::try_from(logs).unwrap_or(usize::MAX),
            unflushed_cells: None,
            problems: 0,
        }
    }

    /// Counts the cells that are only in logs. Reads the logs, and skips damaged parts of them.
    ///
    /// Returns whether the logs were read completely.
    pub(super) fn count_unflushed(
        &mut self,
        table: &Table,
        printed: &mut PrintedWarnings,
    ) -> Result<bool, transfer::Error> {
        let read = table.read_logs(&TableScan::default().skip_damaged(true));
        let cells = read.map_err(transfer::Error::Table)?;
        printed.warn(&table.log_warnings);
        self.unflushed_cells = Some(cells.cell_count().map_err(transfer::Error::Table)?);
        self.problems += cells.missing().len();
        printed.warn_of_torn(cells.torn_logs());
        printed.warn(cells.warnings());
        Ok(cells.missing().is_empty())
    }

    /// Returns whether the unflushed cells were counted.
    pub(super) const fn has_unflushed_count(&self) -> bool {
        self.unflushed_cells.is_some()
    }

    /// Returns the cells of the line.
    pub(super) fn row(&self, with_unflushed: bool) -> Vec<String> {
        let mut row = vec![
            self.table.clone(),
            self.families.join(","),
            show_count(self.regions as u64),
            show_count(self.files.all()),
            show_size(self.files.bytes),
        ];
        if with_unflushed {
            row.push(self.unflushed_cells.map_or_else(|| "-".to_owned(), show_count));
        }
        row.push(self.note());
        row
    }

    /// Returns what a reader of the numbers must know.
    fn note(&self) -> String {
        let is_only_in_logs =
            self.only_in.is_none() && self.files.all() == 0 && self.unflushed_cells != Some(0);
        let notes = [
            self.only_in.map(|place| format!("only in {place}")),
            (self.problems > 0).then(|| "incomplete".to_owned()),
            (is_only_in_logs && self.logs > 0).then(|| {
                if self.unflushed_cells.is_some() {
                    return "only in logs".to_owned();
                }
                let logs = show_number(self.logs as u64, "write-ahead log");
                format!("no files; may be in {logs}")
            }),
        ];
        notes.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// A table or a snapshot of `info` for several.
pub(super) struct NamedLine {
    /// The name of the snapshot, if it is one.
    snapshot: Option<String>,
    line: TableLine,
    recovered_hfiles: usize,
}

impl NamedLine {
    pub(super) fn new(NamedTable { table, snapshot }: &NamedTable) -> Self {
        Self {
            snapshot: snapshot.as_ref().map(|snapshot| snapshot.name.clone()),
            line: TableLine::new(table),
            recovered_hfiles: table.regions.iter().flat_map(Region::recovered_hfiles).count(),
        }
    }

    fn row(&self) -> Vec<String> {
        let mut row = self.line.row(false);
        if let Some(snapshot) = &self.snapshot {
            row.insert(0, snapshot.clone());
        }
        if self.recovered_hfiles > 0 {
            let recovered = show_number(self.recovered_hfiles as u64, "recovered HFile");
            row.push(recovered);
        }
        row
    }
}

/// Prints the lines of `info` for several; nothing if there are none.
pub(super) fn write_lines(lines: &[NamedLine], unit: &str) -> anyhow::Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    let titles = ["snapshot", "table", "families", "regions", "files", "size", ""];
    let heading = if unit == "snapshot" { &titles[..] } else { &titles[1..] };
    let mut out = stdout();
    write_table(&mut out, heading, lines.iter().map(NamedLine::row)).context(STDOUT)?;
    out.flush().context(STDOUT)
}
