//! `hfile store append`: puts bytes behind the value of a column.

use store::Append as Change;

use super::Directory;
use crate::failure::Answer;
use crate::key_text::KeyText;

/// Put bytes behind the value of a column.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile store append DIR f row1 name ' Lovelace'

A column that is not there counts as empty.")]
pub(super) struct Append {
    #[command(flatten)]
    directory: Directory,
    /// The column family
    #[arg(value_name = "FAMILY")]
    family: String,
    /// The row: text with \xNN, or hex:…
    #[arg(value_name = "ROW")]
    row: KeyText,
    /// The column
    #[arg(value_name = "QUALIFIER")]
    qualifier: KeyText,
    /// The bytes: text with \xNN, or hex:…
    #[arg(value_name = "SUFFIX")]
    suffix: KeyText,
}

impl Append {
    /// Appends.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let (qualifier, suffix) = (self.qualifier.as_bytes(), self.suffix.as_bytes());
        let change = Change::new(self.row.as_bytes()).column(&self.family, qualifier, suffix);
        self.directory.open()?.append(&change)?;
        Ok(Answer::Sound)
    }
}
