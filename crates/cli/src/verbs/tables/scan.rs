//! `hfile snapshot scan` and `hfile table scan`: print the cells of a range of rows.

use std::io::{self, IsTerminal, Write};

use anyhow::Context;
use hbase_files::{Region, Table, TableCells};
use sstable::{BlockKind, BlockSource};
use transfer::{CellsOutput, UnseenColumns};

use super::place::Place;
use crate::arguments::cell_options::CellOptions;
use crate::arguments::format_options::FormatOptions;
use crate::arguments::row_options::RowOptions;
use crate::failure::Answer;
use crate::text::output::{STDOUT, Stdout, stdout};
use crate::text::progress::Progress;
use crate::text::size_text::show_count;
use crate::text::warnings::{
    print_log_warnings, print_missing, print_old_log_cells, print_torn_logs, print_unseen_columns,
};

// The doc comments and the examples stand with the nouns, in `snapshot.rs` and `table.rs`.
#[derive(clap::Args)]
pub(crate) struct Scan<P: Place> {
    #[command(flatten)]
    place: P,
    #[command(flatten)]
    rows: RowOptions,
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
        let open = self.place.open()?;
        self.rows.check(open.table.row_order())?;
        let mut scan = open.scan(&self.cells)?;
        let table = open.table;
        self.rows.limit(&mut scan);
        let mut cells = table.scan(&scan).map_err(transfer::Error::Table)?;
        // Printed cells and a bar on the same terminal would be mixed.
        let is_shown = self.count || !io::stdout().is_terminal();
        let progress = is_shown.then(|| ReadProgress::new(&table));
        let mut unseen = UnseenColumns::new(&scan);
        let done = if self.count {
            Self::print_count(&mut cells, &mut unseen, progress)
        } else {
            self.print(&mut cells, &mut unseen, progress)
        };
        if done.is_ok() && self.limit.is_none() {
            print_unseen_columns(&unseen.names());
        }
        let missing = cells.missing();
        print_missing(&missing);
        print_old_log_cells(cells.old_log_cells());
        print_torn_logs(cells.torn_logs());
        print_log_warnings(&table, cells.warnings());
        self.cells.explain(cells.trace());
        done.map(|()| Answer::from_bool(missing.is_empty()))
    }

    fn print(
        &self,
        cells: &mut TableCells,
        unseen: &mut UnseenColumns,
        progress: Option<ReadProgress>,
    ) -> anyhow::Result<()> {
        let mut output = CellsOutput::new(stdout(), self.format.get()).context(STDOUT)?;
        let limit = self.limit.unwrap_or(u64::MAX);
        let printed = print_cells(cells, &mut output, limit, unseen, progress);
        // Cells before damage are printed.
        output.flush().context(STDOUT)?;
        printed?;
        Ok(())
    }

    fn print_count(
        cells: &mut TableCells,
        unseen: &mut UnseenColumns,
        mut progress: Option<ReadProgress>,
    ) -> anyhow::Result<()> {
        let (mut rows, mut count) = (0_u64, 0_u64);
        let mut row: Option<Vec<u8>> = None;
        while let Some(cell) = cells.next_ref().map_err(transfer::Error::Table)? {
            count += 1;
            unseen.see(&cell);
            if row.as_deref() != Some(cell.row) {
                rows += 1;
                cell.row.clone_into(row.get_or_insert_default());
            }
            if let Some(progress) = &mut progress {
                progress.show(cells);
            }
        }
        drop(progress);
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
    unseen: &mut UnseenColumns,
    mut progress: Option<ReadProgress>,
) -> anyhow::Result<u64> {
    for printed in 0..limit {
        let cell = cells.next_ref().map_err(transfer::Error::Table)?;
        let Some(cell) = cell else { return Ok(printed) };
        unseen.see(&cell);
        output.write(&cell).context(STDOUT)?;
        if let Some(progress) = &mut progress {
            progress.show(cells);
        }
    }
    Ok(limit)
}

/// The progress of a scan in bytes of the table's store files.
pub(super) struct ReadProgress {
    progress: Progress,
    cells: u64,
}

impl ReadProgress {
    /// Cells between two looks at the counters of the reads.
    const INTERVAL: u64 = 4096;

    fn new(table: &Table) -> Self {
        let files = table.regions.iter().flat_map(Region::files);
        let bytes = files.filter_map(|file| file.hfile_len(&**table.tree())).sum();
        Self { progress: Progress::bytes("reading", bytes), cells: 0 }
    }

    fn show(&mut self, cells: &mut TableCells) {
        self.cells += 1;
        if self.cells.is_multiple_of(Self::INTERVAL) {
            self.progress.set(cells.trace().bytes(BlockKind::Data, BlockSource::File));
        }
    }
}
