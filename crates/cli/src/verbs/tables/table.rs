//! `hfile table`: reads the tables of a root directory.

use super::describe::Describe;
use super::export::Export;
use super::filelist::FileList;
use super::get::Get;
use super::info::Info;
use super::list::ListTables;
use super::place::{ReadTablePlaces, TablePlace, TablePlaces};
use super::scan::Scan;
use super::verify::Verify;
use crate::arguments::reading_options::WithReadingOptions;
use crate::verbs::group::verbs;

verbs! {
    /// Read tables of a live or abandoned root directory of HBase, without HBase.
    #[command(disable_help_subcommand = true)]
    #[command(after_help = "\
Examples:
  hfile table ls --root hbase
  hfile table verify --root hbase users
  hfile table scan --root hbase users --limit 10
  hfile table scan --root hbase users --with-wal
  hfile table get --root hbase ns1:users user1

The root directory is a copy on this machine: hdfs dfs -get /hbase DIR. The files of a running cluster change
while they are copied; a snapshot does not.")]
    pub(crate) enum TableVerbs {
        /// List the tables of a root directory
        #[command(after_help = "\
Examples:
  hfile table ls --root hbase
  hfile table ls --root hbase --with-wal
  hfile table ls --root hbase --json | jq -r .table

Files are store files: HFiles, links and references, as info and verify count them. Lists also tables that are
gone, if files of them are left: in archive, mobdir or recovered.edits. Continues after a table that cannot be read.

Unflushed cells are only in logs: versions and delete markers. They are counted if that reads at
most 64 MiB, of the logs of all tables together, and with --with-wal always.
Exit status: 0 all listed, 1 a table or one of its logs is damaged, 2 wrong usage, 3 could not read.")]
        Ls(ListTables).run(),
        /// Show the schema, regions and files of tables
        #[command(after_help = "\
Examples:
  hfile table info --root hbase users
  hfile table info --root hbase
  hfile table info --root hbase ns1:users --json | jq -r '.left_out[] | [.region, .reason] | @tsv'

Which regions count is read from hbase:meta of the same root directory. Without it, or if it does not fit the
directories, newer regions replace older ones whose key range they cover. For more than one table, prints one line
per table.
Exit status: 0 read, 1 the table is damaged, 2 wrong usage, 3 could not read.")]
        Info(Info<TablePlaces>).run(),
        /// Print the statement of HBase's shell that creates such a table: settings and splits
        #[command(after_help = "\
Examples:
  hfile table describe --root hbase users
  hfile table describe --root hbase > create.txt

The splits are the start keys of the regions, so that files of hfile table export --to hfiles fit the regions.
Exit status: 0 printed, 1 the table is damaged, and splits may be missing, 2 wrong usage, 3 could not read.")]
        Describe(Describe<TablePlaces>).run(),
        /// Check that all files of tables are present, complete and sound, and that the regions have all rows
        #[command(after_help = "\
Examples:
  hfile table verify --root hbase
  hfile table verify --root hbase users
  hfile table verify --root hbase users --json | jq -r '.errors[] | [.file, .first_row, .last_row] | @tsv'

Checks each HFile as hfile verify does, that its rows are in its region, and that the regions have neither gaps
nor overlaps. Names each damaged or missing file, and the rows that may be lost with it: if only data blocks are
damaged, their rows; otherwise all rows of the file in the region. Without a store file tracker, reports a removed
file if a log, a link, a reference or a cell names it: the cells of a MOB family name the MOB files that have
their values. Does not check the logs themselves: see hfile wal verify. For more than one table, prints one
line per table.
Exit status: 0 all sound, 1 damaged, 2 wrong usage, 3 could not read.")]
        Verify(WithReadingOptions<Verify<TablePlaces>>).applied().run(),
        /// Print the cells of a table in the order of their rows, without deleted and expired ones
        #[command(after_help = "\
Examples:
  hfile table scan --root hbase users --prefix user1. --columns f:name,f:mail
  hfile table scan --root hbase users --with-wal --format cells > cells.ndjson
  hfile table scan --root hbase ns1:users --raw --skip-damaged

Shows all versions that the families keep, without deleted and expired cells. Values of MOB cells are read from
their files. With --skip-damaged, deleted cells and old versions can reappear where cells are missing.

--with-wal replays the logs of servers that did not stop cleanly: for each region and family, the entries whose
sequence ids are greater than the sequence ids of all its files. Entries that a restored snapshot took back are left out
with a warning, although HBase would replay them. A log that was cut off within an entry is read up to that
entry, as by HBase, and named on stderr. With --skip-damaged, a log without dictionaries is also read after
damage, from the next sound entries on.
Exit status: 0 all printed, 1 a file is damaged, or --skip-damaged left cells out, 2 wrong usage, 3 a file is
missing or could not be read.")]
        Scan(WithReadingOptions<Scan<TablePlace>>).applied().run(),
        /// Print the cells of one or more rows of a table
        #[command(after_help = "\
Examples:
  hfile table get --root hbase users user1
  hfile table get --root hbase users 'user\\x00' --columns f:name --with-wal --explain

Opens the files of the row's region, and reads data blocks only of files whose key range, filter and time range
allow the row. Rows without a cell are named on stderr.
Exit status: 0 all rows found, 1 a row is absent, or a file is damaged, 2 wrong usage, 3 a file is missing or
could not be read.")]
        Get(WithReadingOptions<Get<TablePlace>>).applied().run(),
        /// Write the cells of tables to Parquet, Arrow, CSV, JSON or HFiles, region by region
        #[command(after_help = "\
Examples:
  hfile table export --root hbase users --to parquet --output out
  hfile table export --root hbase users --to parquet --output out --pivot --row-type string \\
      --type info:name=string --type info:age=int64
  hfile table export --root hbase users --to csv --output out --prefix user1. --max-file-size 1GiB
  hfile table export --root hbase users --to hfiles --output out --threads 4
  hfile table export --root hbase --to csv --output out

Writes at least one file for each region that has cells. A file appears when it is complete; manifest.json lists
the files of each complete region, with their rows. A second run with the same options skips these regions, also
after a crash. Parquet and Arrow need a build with --features parquet. HFiles have no sequence ids and, without
--raw, no delete markers: a bulk load gives their cells a sequence id above the cells that the table
has. hfile table scan --help says which cells --with-wal adds.

Several tables go to a directory each, OUTPUT/TABLE or OUTPUT/NAMESPACE=TABLE. Without a name, exports all but
the tables of the namespace hbase.
Exit status: 0 all written, 1 a file is damaged, or --skip-damaged left cells out, 2 wrong usage, 3 a file is
missing, or could not be read or written.")]
        Export(Box<WithReadingOptions<Export<ReadTablePlaces>>>).applied().run(),
        /// Make new lists of live files for a table with the file-based store file tracker
        #[command(after_help = "\
Examples:
  hfile table filelist --root hbase users
  hfile table filelist --root hbase users --rebuild --output lists
  hfile table filelist --root hbase users --rebuild --output lists --leave-out REGION/FAMILY/FILE

For a table whose lists in FAMILY/.filelist are lost or damaged, so that HBase does not open its regions. Lists
HFiles whose trailer and file info can be read, and references and links whose file exists. Leaves out files with
other names, files that a compaction replaced, and copies that a bulk load left. Without --rebuild, only prints.

Writes OUTPUT/REGION/FAMILY/.filelist/f1 or, if the old lists have times in their names, f1.TIME; with several
tables, below OUTPUT/TABLE or OUTPUT/NAMESPACE=TABLE. Nothing in the root directory changes: disable the table or
stop HBase, move each old .filelist away, and copy the new one into its place. Writes nothing while a file is
UNDECIDED: it is damaged or empty, it is in the newest readable list but not in the directory or the other way round,
its length differs from the list, it has no sequence id, or two compactions had some of the same inputs.
Exit status: 0 all files decided, 1 some undecided, or the table is damaged, 2 wrong usage, 3 could not read or
write.")]
        Filelist(FileList).run(),
    }
}
