//! `hfile store salvage`: a new store of what is sound in a damaged one.

use std::path::PathBuf;

use super::Directory;
use super::part::Reporter;
use crate::failure::Answer;
use crate::output::Audience;

/// Make a new store of what is sound in a damaged one, which stays as it is, and say what was lost.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile store salvage DIR NEW
  hfile store salvage DIR NEW --families f,g

For each file it says what was lost: where, how many bytes, and why. Records of the log behind a
hole are taken, so the new store may lack writes from the middle of its history.
Exit status: 0 nothing was lost, 1 something was, 2 wrong usage, 3 could not read or write.")]
pub(super) struct Salvage {
    #[command(flatten)]
    directory: Directory,
    /// The new store's directory, empty or not there
    #[arg(value_name = "NEW")]
    out: PathBuf,
    /// All families in the order in which they were made; needed only if the manifest is damaged
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    families: Vec<String>,
    #[command(flatten)]
    audience: Audience,
}

impl Salvage {
    /// Makes it and reports file by file.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let mut reporter = Reporter::new(self.audience);
        let options = self.directory.options();
        let (directory, out) = (&self.directory.directory, &self.out);
        let is_whole =
            store::salvage(directory, out, &options, &self.families, |step| reporter.take(&step))?;
        reporter.finish()?;
        Ok(Answer::from_bool(is_whole))
    }
}
