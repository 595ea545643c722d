//! `hfile store checkpoint`: the store as it is now, under another name.

use std::path::PathBuf;

use super::Directory;
use crate::failure::Answer;

/// Make a second store of what this one holds now, without copying its files.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile store checkpoint DIR BACKUP

The files get a second name (hard links), so BACKUP is on the same file system. From then on the two
stores know nothing of each other. What is only in the log is flushed first, so this store is written to.")]
pub(super) struct Checkpoint {
    #[command(flatten)]
    directory: Directory,
    /// The new store's directory, empty or not there
    #[arg(value_name = "BACKUP")]
    backup: PathBuf,
}

impl Checkpoint {
    /// Makes it.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        self.directory.open()?.checkpoint(&self.backup)?;
        Ok(Answer::Sound)
    }
}
