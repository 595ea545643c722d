//! `hfile store verify`: reads and checks every byte of a store.

use anyhow::bail;
use store::tools::{VerifyOutcome, verify};

use super::directory::WithStore;
use super::file_report::Reporter;
use crate::failure::Answer;

/// Check the manifest, the log and all files of a store without changing it.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile store verify DIR
  hfile store verify DIR --json | jq -r 'select(.ok | not) | .file'

Checks each store file as hfile verify does and against its entry in the manifest, and lists files that the
manifest does not name. Takes no lock and writes nothing, so it works on a read-only medium and while another
process writes. hfile store salvage makes a new store without the damaged parts.
Exit status: 0 all sound, 1 some damaged, 2 wrong usage, 3 could not read.")]
pub(crate) struct Verify {}

impl WithStore<Verify> {
    /// Reads everything and reports file by file.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let mut reporter = Reporter::new(self.report_format);
        let options = self.directory.options();
        let outcome = verify(&self.directory.directory, &options, |event| reporter.take(&event))?;
        reporter.finish()?;
        match outcome {
            VerifyOutcome::Sound => Ok(Answer::Positive),
            VerifyOutcome::Unread => {
                bail!("not all files could be read, so the store may be sound")
            }
            _ => Ok(Answer::Negative),
        }
    }
}
