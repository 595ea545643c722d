//! `hfile store checkpoint`: a second store with the current contents of the first.

use std::path::PathBuf;

use super::Directory;
use crate::failure::Answer;

/// Create a second store with the current contents of this one, without copying files.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile store checkpoint DIR BACKUP

BACKUP gets hard links to the files, so it must be on the same file system. Afterwards the two stores are
independent. Flushes first, so it needs write permission for DIR.
Exit status: 0 created, 1 the store is damaged, 2 wrong usage, 3 could not read or write.")]
pub(super) struct Checkpoint {
    #[command(flatten)]
    directory: Directory,
    /// Directory of the second store, empty or new
    #[arg(value_name = "BACKUP")]
    backup: PathBuf,
}

impl Checkpoint {
    /// Creates the checkpoint.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        self.directory.open()?.checkpoint(&self.backup)?;
        Ok(Answer::Positive)
    }
}
