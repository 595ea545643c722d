//! `hfile store flush`: writes memstores to store files.

use super::Directory;
use crate::failure::Answer;

/// Write the cells that are only in the log to store files.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile store flush DIR

Exit status: 0 written, 1 the store is damaged, 2 wrong usage, 3 could not read or write.")]
pub(super) struct Flush {
    #[command(flatten)]
    directory: Directory,
}

impl Flush {
    /// Flushes.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        self.directory.open()?.flush()?;
        Ok(Answer::Positive)
    }
}
