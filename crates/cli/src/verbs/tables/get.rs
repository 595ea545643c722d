//! `hfile snapshot get` and `hfile table get`: print the cells of rows.

use anyhow::Context;
use hbase_files::{MobValues, Table, TableScan, UnflushedCells};
use transfer::{CellsOutput, UnseenColumns};

use super::place::Place;
use super::scan::print_cells;
use crate::arguments::cell_options::CellOptions;
use crate::arguments::format_options::FormatOptions;
use crate::arguments::key_text::KeyText;
use crate::failure::Answer;
use crate::text::output::{STDOUT, stdout};
use crate::text::row_not_found::{print_row_is_hidden, print_row_not_found};
use crate::text::warnings::{print_missing, print_old_log_cells, print_torn_logs, print_warnings};

// The doc comments and the examples stand with the nouns, in `snapshot.rs` and `table.rs`.
#[derive(clap::Args)]
pub(crate) struct Get<P: Place> {
    #[command(flatten)]
    place: P,
    /// Row keys: text with \xNN, or hex:…
    #[arg(value_name = "ROW", required = true)]
    rows: Vec<KeyText>,
    #[command(flatten)]
    cells: CellOptions,
    #[command(flatten)]
    format: FormatOptions,
}

impl<P: Place> Get<P> {
    /// Prints the cells. The answer is negative if a row was not found, or if cells are missing.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let open = self.place.open()?;
        let mut scan = open.scan(&self.cells)?;
        let table = open.table;
        if scan.with_logs {
            let cells = self.read_logs(&table, &scan)?;
            print_torn_logs(cells.torn_logs());
            print_warnings(cells.warnings());
            scan = scan.unflushed(cells);
        }
        let mut output = CellsOutput::new(stdout(), self.format.get()).context(STDOUT)?;
        let mut answer = Answer::Positive;
        for row in &self.rows {
            let opened = table.scan(&scan.clone().row(row.as_bytes()));
            let mut cells = opened.map_err(transfer::Error::Table)?;
            // A row need not have all columns.
            let unseen = &mut UnseenColumns::default();
            let printed = print_cells(&mut cells, &mut output, u64::MAX, unseen, None);
            // Cells must be printed before a message about the row.
            output.flush().context(STDOUT)?;
            let found = printed?;
            let missing = cells.missing();
            print_missing(&missing);
            print_old_log_cells(cells.old_log_cells());
            self.cells.explain(cells.trace());
            if found == 0 && !scan.raw && is_hidden(&table, &scan, row)? {
                print_row_is_hidden(row, missing.is_empty());
            } else if found == 0 {
                print_row_not_found(row, missing.is_empty());
            }
            answer = answer.and(Answer::from_bool(found > 0 && missing.is_empty()));
        }
        output.flush().context(STDOUT)?;
        Ok(answer)
    }

    /// Reads the logs once for all rows.
    fn read_logs(&self, table: &Table, scan: &TableScan) -> anyhow::Result<UnflushedCells> {
        let mut of_rows = scan.clone();
        // In the order of hbase:meta, the least and the greatest row are others.
        if !table.name.is_meta() {
            let rows = self.rows.iter().map(KeyText::as_bytes);
            let first = rows.clone().min().unwrap_or_default();
            let last = rows.max().unwrap_or_default();
            of_rows = of_rows.start(first).stop([last, b"\0"].concat());
        }
        Ok(table.read_logs(&of_rows).map_err(transfer::Error::Table)?)
    }
}

/// Whether a row without shown cells has cells or delete markers.
fn is_hidden(table: &Table, scan: &TableScan, row: &KeyText) -> anyhow::Result<bool> {
    let opened = table.scan(&scan.clone().row(row.as_bytes()).raw(true).mob(MobValues::Reference));
    let mut cells = opened.map_err(transfer::Error::Table)?;
    Ok(cells.next_ref().map_err(transfer::Error::Table)?.is_some())
}
