//! `hfile snapshot scan` and `hfile table scan`: print the cells of a range of rows.

use std::io::Write;

use anyhow::Context;
use directories::TableCells;

use super::cell_options::{CellOptions, print_missing};
use super::place::{OpenTable, Place};
use crate::cells_output::{CellsOutput, FormatOptions};
use crate::failure::{Answer, UsageError};
use crate::key_text::KeyText;
use crate::output::{STDOUT, Stdout, stdout};
use crate::size_text::show_count;

// The doc comments and the examples are those of the nouns, `snapshot.rs` and `table.rs`.
#[derive(clap::Args)]
pub(super) struct Scan<P: Place> {
    #[command(flatten)]
    place: P,
    /// Start at this row, which is printed: text with \xNN, or hex:…
    #[arg(long, value_name = "ROW")]
    start: Option<KeyText>,
    /// Stop before this row, which is not printed
    #[arg(long, value_name = "ROW")]
    stop: Option<KeyText>,
    /// Print only rows that begin with this: text with \xNN, or hex:…
    #[arg(long, value_name = "PREFIX")]
    prefix: Option<KeyText>,
    #[command(flatten)]
    cells: CellOptions,
    /// Print at most this many cells
    #[arg(long, value_name = "CELLS")]
    limit: Option<u64>,
    /// Print only the number of rows and cells
    #[arg(long, conflicts_with_all = ["limit", "format", "json"])]
    count: bool,
    #[command(flatten)]
    format: FormatOptions,
}

impl<P: Place> Scan<P> {
    /// Prints the cells. The answer is negative if cells are missing.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        if let (Some(start), Some(stop)) = (&self.start, &self.stop)
            && start.as_bytes() > stop.as_bytes()
        {
            let what = format!("--start {start} is greater than --stop {stop}");
            return Err(UsageError(what).into());
        }
        let OpenTable { table, creation, with_logs, .. } = self.place.open()?;
        let mut scan = self.cells.scan(creation)?.with_logs(with_logs);
        scan.start = self.start.as_ref().map(|row| row.as_bytes().to_vec());
        scan.stop = self.stop.as_ref().map(|row| row.as_bytes().to_vec());
        if let Some(prefix) = &self.prefix {
            scan = scan.prefix(prefix.as_bytes());
        }
        let mut cells = table.scan(&scan)?;
        let done = if self.count { Self::print_count(&mut cells) } else { self.print(&mut cells) };
        let missing = cells.missing();
        print_missing(&missing);
        self.cells.explain(cells.trace());
        done.map(|()| Answer::from_bool(missing.is_empty()))
    }

    fn print(&self, cells: &mut TableCells) -> anyhow::Result<()> {
        let mut output = CellsOutput::new(stdout(), self.format.get()).context(STDOUT)?;
        let printed = print_cells(cells, &mut output, self.limit.unwrap_or(u64::MAX));
        // Cells before damage are printed.
        output.finish().context(STDOUT)?;
        printed.map(|_| ())
    }

    fn print_count(cells: &mut TableCells) -> anyhow::Result<()> {
        let (mut rows, mut count) = (0_u64, 0_u64);
        let mut row: Option<Vec<u8>> = None;
        while let Some(cell) = cells.next_ref()? {
            count += 1;
            if row.as_deref() != Some(cell.row) {
                rows += 1;
                let row = row.get_or_insert_default();
                row.clear();
                row.extend_from_slice(cell.row);
            }
        }
        let mut out = stdout();
        writeln!(out, "{} rows, {} cells", show_count(rows), show_count(count))
            .and_then(|()| out.flush())
            .context(STDOUT)
    }
}

/// Prints at most `limit` cells, and returns their number.
pub(super) fn print_cells(
    cells: &mut TableCells,
    output: &mut CellsOutput<Stdout>,
    limit: u64,
) -> anyhow::Result<u64> {
    for printed in 0..limit {
        let Some(cell) = cells.next_ref()? else { return Ok(printed) };
        output.write(&cell).context(STDOUT)?;
    }
    Ok(limit)
}
