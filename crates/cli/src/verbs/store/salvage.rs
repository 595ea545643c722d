//! `hfile store salvage`: a new store from the sound parts of a damaged one.

use std::path::PathBuf;

use store::tools::{SalvageOutcome, salvage};

use super::directory::WithStore;
use super::file_report::Reporter;
use crate::failure::Answer;

/// Create a new store from the sound parts of a damaged one, and list what was lost.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile store salvage DIR NEW
  hfile store salvage DIR NEW --families f,g

Reports the offset, size and cause of every loss, file by file. DIR is not changed. Includes log records after
a damaged one, so the new store may lack writes from the middle of its history.
Exit status: 0 nothing lost, 1 data lost, 2 wrong usage, 3 could not read or write.")]
pub(crate) struct Salvage {
    /// Directory of the new store, empty or new
    #[arg(value_name = "NEW")]
    out: PathBuf,
    /// Name all families, in the order of their creation, with - for a dropped one; needed only if the
    /// manifest is unusable
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    families: Vec<String>,
}

impl WithStore<Salvage> {
    /// Creates the new store and reports file by file.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let mut reporter = Reporter::new(self.report_format);
        let options = self.directory.options();
        let (directory, out) = (&self.directory.directory, &self.verb.out);
        let outcome = salvage(directory, out, &options, &self.verb.families, |event| {
            reporter.take(&event);
        })?;
        reporter.finish()?;
        Ok(Answer::from_bool(outcome == SalvageOutcome::Whole))
    }
}
