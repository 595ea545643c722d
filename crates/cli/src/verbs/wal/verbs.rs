//! The verbs of `hfile wal`.

use clap::Subcommand;

use super::{cat, info, verify};
use crate::failure::Answer;

/// Read HBase's write-ahead logs, without HBase.
#[derive(clap::Args)]
#[command(disable_help_subcommand = true)]
#[command(after_help = "\
Examples:
  hfile wal info WALs
  hfile wal cat --table users --format entries oldWALs
  hfile wal verify WALs/host,16020,1700000000000")]
pub(crate) struct WalVerbs {
    #[command(subcommand)]
    verb: WalVerb,
}

#[derive(Subcommand)]
enum WalVerb {
    Info(info::Info),
    Cat(cat::Cat),
    Verify(verify::Verify),
}

impl WalVerbs {
    /// Runs the verb.
    pub(crate) fn run(self) -> anyhow::Result<Answer> {
        match self.verb {
            WalVerb::Info(verb) => verb.run(),
            WalVerb::Cat(verb) => verb.run(),
            WalVerb::Verify(verb) => verb.run(),
        }
    }
}
