//! `hfile snapshot`: reads the snapshots of a root directory.

use clap::Subcommand;

use super::get::Get;
use super::place::SnapshotPlace;
use super::scan::Scan;
use crate::failure::Answer;
use crate::reading_options::WithReadingOptions;

/// Read snapshots of a root directory of HBase, without HBase.
#[derive(clap::Args)]
#[command(disable_help_subcommand = true)]
#[command(after_help = "\
Examples:
  hfile snapshot scan --root hbase users-monday --limit 10
  hfile snapshot get --root hbase users-monday user1

The root directory is a copy on this machine: hdfs dfs -get /hbase DIR. What ExportSnapshot writes will do.")]
pub(crate) struct SnapshotVerbs {
    #[command(subcommand)]
    verb: SnapshotVerb,
}

#[derive(Subcommand)]
enum SnapshotVerb {
    /// Print the cells of a snapshot in the order of their rows, as HBase shows them
    #[command(after_help = "\
Examples:
  hfile snapshot scan --root hbase users-monday --prefix user1. --columns f:name,f:mail
  hfile snapshot scan --root hbase users-monday --format cells --now creation > cells.ndjson
  hfile snapshot scan --root hbase users-monday --raw --start row1 --stop row2
  hfile snapshot scan --root hbase users-monday --count --threads 4

Shows all versions that the families keep, without deleted and expired cells. Values of MOB cells are read from
their files. With --skip-damaged, deleted cells and old versions can reappear where cells are missing.
Exit status: 0 all printed, 1 a file is damaged, or cells are missing, 2 wrong usage, 3 could not read.")]
    Scan(WithReadingOptions<Scan<SnapshotPlace>>),
    /// Print the cells of one or more rows of a snapshot
    #[command(after_help = "\
Examples:
  hfile snapshot get --root hbase users-monday user1
  hfile snapshot get --root hbase users-monday 'user\\x00' --columns f:name --explain

Reads only files whose key range, filter and time range allow the row. Rows without a cell are named on stderr.
Exit status: 0 all rows found, 1 a row is absent, or a file is damaged, 2 wrong usage, 3 could not read.")]
    Get(WithReadingOptions<Get<SnapshotPlace>>),
}

impl SnapshotVerbs {
    /// Runs the verb.
    pub(crate) fn run(self) -> anyhow::Result<Answer> {
        match self.verb {
            SnapshotVerb::Scan(verb) => verb.applied().run(),
            SnapshotVerb::Get(verb) => verb.applied().run(),
        }
    }
}
