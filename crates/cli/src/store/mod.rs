//! `hfile store`: reads and writes a store directory. One module per verb.

mod append;
mod checkpoint;
mod compact;
mod create;
mod delete;
mod explain;
mod export;
mod file_report;
mod flush;
mod get;
mod import;
mod increment;
mod put;
mod salvage;
mod scan;
mod stats;
mod verify;

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Subcommand;
use sstable::Timestamp;
use store::{Clock, Store, StoreOptions};

use crate::failure::{Answer, UsageError};
use crate::help::ADVANCED;
use crate::key_text::KeyText;
use crate::times::time_range;

/// Read, write and maintain a store: a directory of HFiles with a write-ahead log and memstores.
#[derive(clap::Args)]
#[command(disable_help_subcommand = true)]
#[command(after_help = "\
Examples:
  hfile store create DIR f --versions 3 --filter blocked-bloom
  hfile store put DIR f --from cells cells.ndjson
  hfile store get DIR row1
  hfile store explain DIR row1

One process at a time can write to a store. get, scan, stats, explain, verify and export only read: they
need no write permission, and can run while another process writes. checkpoint flushes first, so it writes.")]
pub(crate) struct StoreVerbs {
    #[command(subcommand)]
    verb: StoreVerb,
}

#[derive(Subcommand)]
enum StoreVerb {
    Create(create::Create),
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

/// The arguments that all verbs share: the store directory and the clock.
#[derive(clap::Args)]
struct Directory {
    /// Store directory
    #[arg(value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    directory: PathBuf,
    /// Use this time for TTL and new cells, in milliseconds since 1970 [default: the system clock]
    #[arg(long, value_name = "MILLIS", help_heading = ADVANCED, hide_short_help = true)]
    now: Option<i64>,
}

/// Prints to stderr which filters could not be used.
///
/// The results are correct without them: the read searched more files.
fn warn_about_filters(store: &Store) {
    for store::FilterProblem { family, file, what, .. } in store.stats().filter_problems {
        let _ = writeln!(
            io::stderr(),
            "hfile: warning: {family}/{file}: a filter cannot be used and is ignored: \
             {what}\nnext: hfile store compact DIR {family} --major rewrites the family"
        );
    }
}

/// A column of a row.
#[derive(clap::Args)]
struct Column {
    /// Column family
    #[arg(value_name = "FAMILY")]
    family: String,
    /// Row key: text with \xNN, or hex:…
    #[arg(value_name = "ROW")]
    row: KeyText,
    /// Column qualifier: text with \xNN, or hex:…
    #[arg(value_name = "QUALIFIER")]
    qualifier: KeyText,
}

impl Directory {
    /// Opens an existing store without automatic compaction.
    ///
    /// A command ends before a compaction would pay off.
    fn open(&self) -> store::Result<Store> {
        Store::open(&self.directory, self.options().create(false))
    }

    fn open_read_only(&self) -> store::Result<Store> {
        Store::open_read_only(&self.directory, self.options())
    }

    /// Returns the names of the families to read: `wanted`, which must exist, or all.
    fn families(store: &Store, wanted: Option<&str>) -> anyhow::Result<Vec<String>> {
        let mut families: Vec<String> =
            store.families().into_iter().map(|(family, _)| family).collect();
        if let Some(wanted) = wanted {
            families.retain(|family| family == wanted);
            if families.is_empty() {
                return Err(UsageError(format!("the store has no family {wanted}")).into());
            }
        }
        Ok(families)
    }

    fn options(&self) -> StoreOptions {
        let options = StoreOptions::default().auto_compaction(false);
        match self.now {
            Some(millis) => options.clock(Clock::fixed(Timestamp::new(millis))),
            None => options,
        }
    }
}

/// The options that select the versions that a read returns.
#[derive(clap::Args)]
struct Versions {
    /// Show at most this many versions of each column
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    versions: u32,
    /// Show versions from this time on, in milliseconds since 1970
    #[arg(long, value_name = "MILLIS")]
    min_ts: Option<i64>,
    /// Show versions before this time, in milliseconds since 1970
    #[arg(long, value_name = "MILLIS")]
    max_ts: Option<i64>,
}

impl Versions {
    /// Returns a get of a row with these options.
    fn get(&self, row: &KeyText) -> Result<store::Get, UsageError> {
        let (min, max) = self.time_range()?;
        Ok(store::Get::row(row.as_bytes()).versions(self.versions).time_range(min, max))
    }

    /// Returns the start (inclusive) and end (exclusive) of the time range.
    fn time_range(&self) -> Result<(Timestamp, Timestamp), UsageError> {
        time_range(self.min_ts, self.max_ts)
    }
}
