//! `hfile store append`: appends bytes to the value of a column.

use store::Append as Change;

use super::{Column, Directory};
use crate::failure::Answer;
use crate::key_text::KeyText;

/// Append bytes to the value of a column.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile store append DIR f row1 name ' Lovelace'

An absent column counts as empty.
Exit status: 0 written, 1 the store is damaged, 2 wrong usage, 3 could not read or write.")]
pub(super) struct Append {
    #[command(flatten)]
    directory: Directory,
    #[command(flatten)]
    column: Column,
    /// Bytes to append: text with \xNN, or hex:…
    #[arg(value_name = "SUFFIX")]
    suffix: KeyText,
}

impl Append {
    /// Appends.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let Column { family, row, qualifier } = &self.column;
        let (qualifier, suffix) = (qualifier.as_bytes(), self.suffix.as_bytes());
        let change = Change::new(row.as_bytes()).column(family, qualifier, suffix);
        self.directory.open()?.append(&change)?;
        Ok(Answer::Positive)
    }
}
