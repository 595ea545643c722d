//! `hfile store compact`: fewer files.

use super::Directory;
use crate::failure::Answer;

/// Flush, then merge store files where it pays, or with --major all of each family.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile store compact DIR
  hfile store compact DIR f --major

Only a major compaction drops delete markers and what they hide.")]
pub(super) struct Compact {
    #[command(flatten)]
    directory: Directory,
    /// The column family [default: all]
    #[arg(value_name = "FAMILY")]
    family: Option<String>,
    /// Merge all files of a family into one
    #[arg(long)]
    major: bool,
}

impl Compact {
    /// Compacts.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let store = self.directory.open()?;
        let families = Directory::families(&store, self.family.as_deref())?;
        // What is still in the log counts too: it may be deleted, or delete.
        store.flush()?;
        for family in &families {
            store.compact(family, self.major)?;
        }
        Ok(Answer::Sound)
    }
}
