//! `hfile cat`: the cells of files.

use std::path::PathBuf;

use anyhow::Context;
use sstable::{KeyRef, Reader};

use crate::cells_output::{CellsOutput, Format};
use crate::failure::Answer;
use crate::key_text::KeyText;
use crate::output::{STDOUT, stdout};
use crate::reading_options::reader_options;

/// Print the cells of HFiles, in each file's order.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile cat --limit 10 4f1c.hfile
  hfile cat --start row1 --stop row2 --format csv 4f1c.hfile
  hfile cat --format cells 4f1c.hfile | hfile build --from cells - --output copy.hfile

Exit status: 0 all printed, 1 a file is damaged, 2 wrong usage, 3 could not read.")]
pub(crate) struct Cat {
    /// The files, one after the other
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// How cells are shown
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// The first row to print: text with \xNN, or hex:…
    #[arg(long, value_name = "KEY")]
    start: Option<KeyText>,
    /// The row to stop before
    #[arg(long, value_name = "KEY")]
    stop: Option<KeyText>,
    /// How many cells to print at most
    #[arg(long, value_name = "CELLS")]
    limit: Option<u64>,
}

impl Cat {
    /// Prints the cells.
    pub(crate) fn run(self) -> anyhow::Result<Answer> {
        let mut output = CellsOutput::new(stdout(), self.format).context(STDOUT)?;
        let mut left = self.limit.unwrap_or(u64::MAX);
        for file in &self.files {
            let reader = Reader::open_file(file, reader_options())?;
            let mut scanner = reader.bulk_scanner();
            match &self.start {
                Some(start) => scanner.seek(KeyRef::before_row(start.as_bytes()))?,
                None => scanner.seek_to_first()?,
            }
            while left > 0
                && let Some(cell) = scanner.cell()
                && self.stop.as_ref().is_none_or(|stop| cell.row < stop.as_bytes())
            {
                output.write(&cell).context(STDOUT)?;
                left -= 1;
                scanner.advance()?;
            }
        }
        output.finish().context(STDOUT)?;
        Ok(Answer::Sound)
    }
}
