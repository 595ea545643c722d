//! `hfile store append`: appends bytes to the value of a column.

use store::Append as Change;

use super::column::Column;
use super::directory::{WithStore, check_family};
use crate::arguments::key_text::KeyText;
use crate::failure::Answer;

/// Append bytes to the value of a column.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile store append DIR f row1 name ' Lovelace'

An absent column counts as empty.
Exit status: 0 written, 1 the store is damaged, 2 wrong usage, 3 could not read or write.")]
pub(crate) struct Append {
    #[command(flatten)]
    column: Column,
    /// Bytes to append: text with \xNN, or hex:…
    suffix: KeyText,
}

impl WithStore<Append> {
    /// Appends.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let Column { family, row, qualifier } = &self.verb.column;
        let suffix = self.verb.suffix.as_bytes();
        let change = Change::new(row.as_bytes()).column(family, qualifier.as_bytes(), suffix);
        self.write(|store| {
            check_family(store, family)?;
            Ok(store.append(&change)?.len() as u64)
        })
    }
}
