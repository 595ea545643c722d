//! `hfile table`: reads the tables of a root directory.

use clap::Subcommand;

use super::get::Get;
use super::place::TablePlace;
use super::scan::Scan;
use crate::failure::Answer;
use crate::reading_options::WithReadingOptions;

/// Read tables of a live or abandoned root directory of HBase, without HBase.
#[derive(clap::Args)]
#[command(disable_help_subcommand = true)]
#[command(after_help = "\
Examples:
  hfile table scan --root hbase users --limit 10
  hfile table scan --root hbase users --with-wal
  hfile table get --root hbase ns1:users user1

The root directory is a copy on this machine: hdfs dfs -get /hbase DIR. The files of a running cluster change
while they are copied; a snapshot does not.")]
pub(crate) struct TableVerbs {
    #[command(subcommand)]
    verb: TableVerb,
}

#[derive(Subcommand)]
enum TableVerb {
    /// Print the cells of a table in the order of their rows, as HBase shows them
    #[command(after_help = "\
Examples:
  hfile table scan --root hbase users --prefix user1. --columns f:name,f:mail
  hfile table scan --root hbase users --with-wal --format cells > cells.ndjson
  hfile table scan --root hbase ns1:users --raw --skip-damaged

Shows all versions that the families keep, without deleted and expired cells. Values of MOB cells are read from
their files. --with-wal replays the logs of servers that did not stop cleanly: of each store, the entries that
are newer than its files. With --skip-damaged, deleted cells and old versions can reappear where cells are
missing.
Exit status: 0 all printed, 1 a file is damaged, or cells are missing, 2 wrong usage, 3 could not read.")]
    Scan(WithReadingOptions<Scan<TablePlace>>),
    /// Print the cells of one or more rows of a table
    #[command(after_help = "\
Examples:
  hfile table get --root hbase users user1
  hfile table get --root hbase users 'user\\x00' --columns f:name --with-wal --explain

Reads only files whose key range, filter and time range allow the row. Rows without a cell are named on stderr.
Exit status: 0 all rows found, 1 a row is absent, or a file is damaged, 2 wrong usage, 3 could not read.")]
    Get(WithReadingOptions<Get<TablePlace>>),
}

impl TableVerbs {
    /// Runs the verb.
    pub(crate) fn run(self) -> anyhow::Result<Answer> {
        match self.verb {
            TableVerb::Scan(verb) => verb.applied().run(),
            TableVerb::Get(verb) => verb.applied().run(),
        }
    }
}
