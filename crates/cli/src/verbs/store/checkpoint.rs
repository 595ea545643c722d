//! `hfile store checkpoint`: a second store with the current contents of the first.

use std::io::{self, Write};
use std::path::PathBuf;

use serde::Serialize;

use super::change_report::Watch;
use super::directory::WithStore;
use crate::failure::Answer;
use crate::text::output::Report;
use crate::text::size_text::{show_number, show_size};

/// Create a second store with the current contents of this one, without copying files.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile store checkpoint DIR BACKUP

BACKUP gets hard links to the files, so it must be on the same file system, and outside of DIR. Afterwards the
two stores are independent. Flushes first, so it needs write permission for DIR.
Exit status: 0 created, 1 the store is damaged, 2 wrong usage, 3 could not read or write.")]
pub(crate) struct Checkpoint {
    /// Directory of the second store, empty or new
    backup: PathBuf,
}

impl WithStore<Checkpoint> {
    /// Creates the checkpoint.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let watch = Watch::start();
        let store = self.directory.open()?;
        store.checkpoint(&self.verb.backup)?;
        let families = store.stats().families;
        self.report_format.print(&CheckpointReport {
            schema: 1,
            checkpoint: self.verb.backup.display().to_string(),
            families: families.len(),
            files: families.iter().map(|family| family.files).sum(),
            file_bytes: families.iter().map(|family| family.file_bytes).sum(),
            seconds: watch.seconds(),
        })
    }
}

#[derive(Serialize)]
struct CheckpointReport {
    schema: u32,
    checkpoint: String,
    families: usize,
    files: u64,
    file_bytes: u64,
    seconds: f64,
}

impl Report for CheckpointReport {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let (files, size) = (show_number(self.files, "file"), show_size(self.file_bytes));
        writeln!(out, "{}: {files}, {size}, shared with the store", self.checkpoint)
    }
}
