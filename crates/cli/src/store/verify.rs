//! `hfile store verify`: every byte that belongs to a store is read once.

use super::Directory;
use super::part::Reporter;
use crate::failure::Answer;
use crate::output::Audience;

/// Check a store without changing it: the manifest, the log, every store file wholly as `hfile verify`
/// does and against what the manifest has of it, and which files are nobody's.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile store verify DIR
  hfile store verify DIR --json | jq -r 'select(.ok | not) | .file'

It takes no lock and writes nothing, so it works on a read-only medium and beside a writer. What is
damaged, `hfile store salvage` leaves behind.
Exit status: 0 sound, 1 something is damaged, 2 wrong usage, 3 could not read.")]
pub(super) struct Verify {
    #[command(flatten)]
    directory: Directory,
    #[command(flatten)]
    audience: Audience,
}

impl Verify {
    /// Reads everything and reports file by file.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let mut reporter = Reporter::new(self.audience);
        let options = self.directory.options();
        let is_sound =
            store::verify(&self.directory.directory, &options, |step| reporter.take(&step))?;
        reporter.finish()?;
        Ok(Answer::from_bool(is_sound))
    }
}
