//! `hfile store flush`: writes memstores to store files.

use super::directory::WithStore;
use crate::failure::Answer;

/// Write the cells that are only in the log to store files.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile store flush DIR

Exit status: 0 written, 1 the store is damaged, 2 wrong usage, 3 could not read or write.")]
pub(crate) struct Flush {}

impl WithStore<Flush> {
    /// Flushes.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        self.change("nothing to flush", |store| Ok(store.flush()?))
    }
}
