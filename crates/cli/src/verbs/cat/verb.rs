//! The arguments of `hfile cat`, and the printing of cells.

use std::cmp::Ordering;
use std::path::PathBuf;

use anyhow::Context;
use sstable::{Caching, CellRef, Comparator, KeyRef};
use transfer::CellsOutput;

use crate::arguments::format_options::FormatOptions;
use crate::arguments::key_text::KeyText;
use crate::failure::{Answer, UsageError};
use crate::inputs::{Input, Inputs};
use crate::text::output::{STDOUT, Stdout, stdout};

/// Print the cells of HFiles, file by file.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile cat --limit 10 4f1c.hfile
  hfile cat --start row1 --stop row2 --format csv 4f1c.hfile
  hfile cat --reverse --start row9 --limit 10 4f1c.hfile
  hfile cat --format cells 4f1c.hfile | hfile build --from cells - --output copy.hfile

--reverse prints rows in the order of HBase's reversed scan: rows descending, and the cells of a row in
file order (columns ascending, newest version first). --start is then the greatest row to print, and
--stop a smaller row.

Prints the cells of a damaged file up to the damage, and continues with the next file. For a reference, prints
the cells of its half. The files of a directory are printed one after the other, not merged.
Exit status: 0 all printed, 1 a file is damaged, 2 wrong usage, 3 could not read.")]
pub(crate) struct Cat {
    /// HFiles, or directories of them, to print, one file after the other
    #[arg(required = true, value_name = "PATH")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    format: FormatOptions,
    /// Start at this row, which is printed: text with \xNN, or hex:…
    #[arg(long, value_name = "ROW")]
    start: Option<KeyText>,
    /// Stop before this row, which is not printed
    #[arg(long, value_name = "ROW")]
    stop: Option<KeyText>,
    /// Print rows in descending order, from the greatest row or --start
    #[arg(long)]
    reverse: bool,
    /// Print at most this many cells
    #[arg(long, value_name = "CELLS")]
    limit: Option<u64>,
}

impl Cat {
    /// Prints the cells.
    pub(crate) fn run(self) -> anyhow::Result<Answer> {
        let output = CellsOutput::new(stdout(), self.format.get()).context(STDOUT)?;
        let mut printer = Printer { output, left: self.limit.unwrap_or(u64::MAX) };
        let answer = Inputs::expand(&self.files).for_each(|file| {
            let done = if self.reverse {
                self.print_reverse(file, &mut printer)
            } else {
                self.print_forward(file, &mut printer)
            };
            // Buffered cells must be printed before an error message about this file.
            printer.output.flush().context(STDOUT)?;
            done.map(|()| Answer::Positive)
        });
        printer.output.flush().context(STDOUT)?;
        answer
    }

    /// Refuses a range that cannot contain a row.
    fn check_range(&self, order: Comparator) -> Result<(), UsageError> {
        let (Some(start), Some(stop)) = (&self.start, &self.stop) else { return Ok(()) };
        let relation = order.compare_rows(start.as_bytes(), stop.as_bytes());
        match (relation, self.reverse) {
            (Ordering::Greater, false) => Err(UsageError(format!(
                "--start {start} is greater than --stop {stop}; --reverse prints descending rows"
            ))),
            (Ordering::Less, true) => Err(UsageError(format!(
                "--start {start} is less than --stop {stop}; with --reverse it is the greatest row"
            ))),
            _ => Ok(()),
        }
    }

    /// Returns whether a reversed scan prints a row: whether the row is greater than `--stop`.
    fn is_in_reverse(&self, row: &[u8], order: Comparator) -> bool {
        self.stop.as_ref().is_none_or(|stop| order.compare_rows(row, stop.as_bytes()).is_gt())
    }

    fn print_forward(&self, file: &Input, printer: &mut Printer) -> anyhow::Result<()> {
        let reader = file.open()?.reader;
        let order = reader.whole().trailer().comparator;
        self.check_range(order)?;
        let mut scanner = reader.bulk_scanner().limit(printer.left);
        if let Some(stop) = &self.stop {
            scanner = scanner.until(KeyRef::before_row(stop.as_bytes()));
        }
        match &self.start {
            Some(start) => scanner.seek(KeyRef::before_row(start.as_bytes()))?,
            None => scanner.seek_to_first()?,
        }
        while let Some(cell) = scanner.cell() {
            printer.print(&cell)?;
            scanner.advance()?;
        }
        Ok(())
    }

    fn print_reverse(&self, file: &Input, printer: &mut Printer) -> anyhow::Result<()> {
        let reader = file.open()?.reader;
        let order = reader.whole().trailer().comparator;
        self.check_range(order)?;
        let mut scanner = reader.scanner(Caching::Bypass);
        match &self.start {
            None => scanner.seek_to_last()?,
            Some(start) => scanner.seek_before(KeyRef::after_row(start.as_bytes()))?,
        }
        scanner.seek_to_row_start()?;
        let mut row = Vec::new();
        while printer.left > 0
            && let Some(cell) = scanner.cell()
            && self.is_in_reverse(cell.row, order)
        {
            row.clear();
            row.extend_from_slice(cell.row);
            while let Some(cell) = scanner.cell().filter(|cell| printer.left > 0 && cell.row == row)
            {
                printer.print(&cell)?;
                scanner.advance()?;
            }
            scanner.seek_row_before(Some(&row))?;
        }
        Ok(())
    }
}

/// Prints cells up to the limit.
struct Printer {
    output: CellsOutput<Stdout>,
    left: u64,
}

impl Printer {
    fn print(&mut self, cell: &CellRef<'_>) -> anyhow::Result<()> {
        self.left -= 1;
        self.output.write(cell).context(STDOUT)
    }
}
