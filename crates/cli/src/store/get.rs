//! `hfile store get`: the visible cells of a row.

use anyhow::Context;

use super::{Directory, Versions};
use crate::cells_output::{CellsOutput, Format};
use crate::failure::Answer;
use crate::key_text::KeyText;
use crate::output::{STDOUT, stdout};

/// Print the visible cells of a row.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile store get DIR row1
  hfile store get DIR 'row\\x00' --versions 3 --format cells

Exit status: 0 found, 1 there is no such row, 2 wrong usage, 3 could not read.")]
pub(super) struct Get {
    #[command(flatten)]
    directory: Directory,
    /// The row: text with \xNN, or hex:…
    #[arg(value_name = "ROW")]
    row: KeyText,
    #[command(flatten)]
    versions: Versions,
    /// How cells are shown
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

impl Get {
    /// Prints the row.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let store = self.directory.open()?;
        let get = self.versions.get(&self.row);
        let cells = store.get(&get)?;
        let mut output = CellsOutput::new(stdout(), self.format).context(STDOUT)?;
        for cell in &cells {
            output.write(&cell.as_ref()).context(STDOUT)?;
        }
        output.finish().context(STDOUT)?;
        Ok(Answer::from_bool(!cells.is_empty()))
    }
}
