//! `hfile store`: reads and writes a store directory. One module per verb.
//!
//! ```text
//! directory, column, versions, family_settings   arguments of several verbs
//! change_report, file_report                                   reports of several verbs
//! put_file                                                     put of the cells of a file
//! ```

mod alter;
mod append;
mod change_report;
mod checkpoint;
mod column;
mod compact;
mod create;
mod delete;
mod describe;
mod directory;
mod drop_family;
mod explain;
mod export;
mod family_settings;
mod file_report;
mod flush;
mod get;
mod import;
mod increment;
mod put;
mod put_file;
mod salvage;
mod scan;
mod stats;
mod verify;
mod versions;

use clap::Subcommand;

use crate::failure::Answer;

/// Read, write and maintain a store: a directory of HFiles with a write-ahead log and memstores.
#[derive(clap::Args)]
#[command(disable_help_subcommand = true)]
#[command(after_help = "\
Examples:
  hfile store create DIR f --versions 3 --filter blocked-bloom
  hfile store put DIR row1 f:name=Ada f:born=1815
  hfile store put DIR f --from cells cells.ndjson
  hfile store get DIR row1
  hfile store explain DIR row1

One process at a time can write to a store. describe, get, scan, stats, explain, verify and export only read:
they need no write permission, and can run while another process writes. checkpoint flushes first, so it
writes.")]
pub(crate) struct StoreVerbs {
    #[command(subcommand)]
    verb: StoreVerb,
}

#[derive(Subcommand)]
enum StoreVerb {
    Create(create::Create),
    Describe(describe::Describe),
    Alter(alter::Alter),
    DropFamily(drop_family::DropFamily),
    Put(put::Put),
    Get(get::Get),
    Increment(increment::Increment),
    Append(append::Append),
    Delete(delete::Delete),
    Scan(scan::Scan),
    Flush(flush::Flush),
    Compact(compact::Compact),
    Stats(stats::Stats),
    Explain(explain::Explain),
    Import(import::Import),
    Export(export::Export),
    Checkpoint(checkpoint::Checkpoint),
    Verify(verify::Verify),
    Salvage(salvage::Salvage),
}

impl StoreVerbs {
    /// Runs the verb.
    pub(crate) fn run(self) -> anyhow::Result<Answer> {
        match self.verb {
            StoreVerb::Create(verb) => verb.run(),
            StoreVerb::Describe(verb) => verb.run(),
            StoreVerb::Alter(verb) => verb.run(),
            StoreVerb::DropFamily(verb) => verb.run(),
            StoreVerb::Put(verb) => verb.run(),
            StoreVerb::Get(verb) => verb.run(),
            StoreVerb::Increment(verb) => verb.run(),
            StoreVerb::Append(verb) => verb.run(),
            StoreVerb::Delete(verb) => verb.run(),
            StoreVerb::Scan(verb) => verb.run(),
            StoreVerb::Flush(verb) => verb.run(),
            StoreVerb::Compact(verb) => verb.run(),
            StoreVerb::Stats(verb) => verb.run(),
            StoreVerb::Explain(verb) => verb.run(),
            StoreVerb::Import(verb) => verb.run(),
            StoreVerb::Export(verb) => verb.run(),
            StoreVerb::Checkpoint(verb) => verb.run(),
            StoreVerb::Verify(verb) => verb.run(),
            StoreVerb::Salvage(verb) => verb.run(),
        }
    }
}
