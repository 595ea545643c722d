//! `hfile snapshot`: reads the snapshots of a root directory.

use super::describe::Describe;
use super::export::Export;
use super::get::Get;
use super::info::Info;
use super::list::ListSnapshots;
use super::place::{SnapshotPlace, SnapshotPlaces};
use super::scan::Scan;
use super::verify::Verify;
use crate::arguments::reading_options::WithReadingOptions;
use crate::verbs::group::verbs;

verbs! {
    /// Read snapshots of a root directory of HBase, without HBase.
    #[command(disable_help_subcommand = true)]
    #[command(after_help = "\
Examples:
  hfile snapshot ls --root hbase
  hfile snapshot verify --root hbase users-monday
  hfile snapshot scan --root hbase users-monday --limit 10
  hfile snapshot get --root hbase users-monday user1

The root directory is a copy on this machine: hdfs dfs -get /hbase DIR. A directory that
ExportSnapshot wrote works too.")]
    pub(crate) enum SnapshotVerbs {
        /// List the snapshots of a root directory
        #[command(after_help = "\
Examples:
  hfile snapshot ls --root hbase
  hfile snapshot ls --root hbase --json | jq -r 'select(.expired) | .snapshot'

Exit status: 0 all listed, 1 a description is damaged, 2 wrong usage, 3 could not read.")]
        Ls(ListSnapshots).run(),
        /// Show the description, schema, regions and files of snapshots
        #[command(after_help = "\
Examples:
  hfile snapshot info --root hbase users-monday
  hfile snapshot info --root hbase
  hfile snapshot info --root hbase users-monday --json | jq -r '.regions[].families[].files[].name'

Sizes are lengths of the HFiles; a file counts once, also if several regions have a half of it. For more than one
snapshot, prints one line per snapshot.
Exit status: 0 read, 1 the snapshot is damaged, 2 wrong usage, 3 could not read.")]
        Info(Info<SnapshotPlaces>).run(),
        /// Print the statement of HBase's shell that creates such a table: settings and splits
        #[command(after_help = "\
Examples:
  hfile snapshot describe --root hbase users-monday
  hfile snapshot describe --root hbase > create.txt

The splits are the start keys of the regions, so that files of hfile snapshot export --to hfiles fit the regions.
Exit status: 0 printed, 1 the snapshot is damaged, and splits may be missing, 2 wrong usage, 3 could not read.")]
        Describe(Describe<SnapshotPlaces>).run(),
        /// Check that all files of snapshots are present, complete and sound, and that no rows are left out
        #[command(after_help = "\
Examples:
  hfile snapshot verify --root hbase
  hfile snapshot verify --root hbase users-monday
  hfile snapshot verify --root hbase users-monday --json | jq -r '.errors[] | [.file, .first_row, .last_row] | @tsv'

Checks each HFile as hfile verify does, its recorded length, that its rows are in its region, and that the
regions have neither gaps nor overlaps. Names each damaged or missing file, and the rows that may be lost
with it: if only data blocks are damaged, their rows; otherwise all rows of the file in the region. For more
than one snapshot, prints one line per snapshot.
Exit status: 0 all sound, 1 damaged, 2 wrong usage, 3 could not read.")]
        Verify(WithReadingOptions<Verify<SnapshotPlaces>>).applied().run(),
        /// Print the cells of a snapshot in the order of their rows, without deleted and expired ones
        #[command(after_help = "\
Examples:
  hfile snapshot scan --root hbase users-monday --prefix user1. --columns f:name,f:mail
  hfile snapshot scan --root hbase users-monday --format cells --now creation > cells.ndjson
  hfile snapshot scan --root hbase users-monday --raw --start row1 --stop row2
  hfile snapshot scan --root hbase users-monday --count --threads 4

Shows all versions that the families keep, without deleted and expired cells. Values of MOB cells are read from
their files. With --skip-damaged, deleted cells and old versions can reappear where cells are missing.
Exit status: 0 all printed, 1 a file is damaged, or --skip-damaged left cells out, 2 wrong usage, 3 a file is
missing or could not be read.")]
        Scan(WithReadingOptions<Scan<SnapshotPlace>>).applied().run(),
        /// Print the cells of one or more rows of a snapshot
        #[command(after_help = "\
Examples:
  hfile snapshot get --root hbase users-monday user1
  hfile snapshot get --root hbase users-monday 'user\\x00' --columns f:name --explain

Opens the files of the row's region, and reads data blocks only of files whose key range, filter and time range
allow the row. Rows without a cell are named on stderr.
Exit status: 0 all rows found, 1 a row is absent, or a file is damaged, 2 wrong usage, 3 a file is missing or
could not be read.")]
        Get(WithReadingOptions<Get<SnapshotPlace>>).applied().run(),
        /// Write the cells of snapshots to Parquet, Arrow, CSV, JSON or HFiles, region by region
        #[command(after_help = "\
Examples:
  hfile snapshot export --root hbase users-monday --to parquet --output out
  hfile snapshot export --root hbase users-monday --to parquet --output out --pivot --row-type string \\
      --type info:name=string --type info:age=int64
  hfile snapshot export --root hbase users-monday --to csv --output out --prefix user1. --max-file-size 1GiB
  hfile snapshot export --root hbase users-monday --to hfiles --output out --threads 4
  hfile snapshot export --root hbase --to csv --output out

Writes at least one file for each region that has cells. A file appears when it is complete; manifest.json lists
the files of each complete region, with their rows. A second run with the same options skips these regions, also
after a crash. Parquet and Arrow need a build with --features parquet. HFiles have no sequence ids and, without
--raw, no delete markers: HBase's bulk load puts them above the cells that the table has.

Several snapshots, or all without a name, go to a directory each: OUTPUT/NAME.
Exit status: 0 all written, 1 a file is damaged, or --skip-damaged left cells out, 2 wrong usage, 3 a file is
missing, or could not be read or written.")]
        Export(Box<WithReadingOptions<Export<SnapshotPlaces>>>).applied().run(),
    }
}
