//! `hfile store export`: writes the cells of a store to HFiles for HBase's bulk load, or to other formats.

use std::path::PathBuf;

use hbase_files::TableScan;
use sstable::{Comparator, Timestamp};
use transfer::{ExportFormat, StoreSource, write_store};

use super::directory::{Directory, WithStore, warn_about_filters};
use crate::arguments::cell_options::ChoiceOptions;
use crate::arguments::export::FormArguments;
use crate::arguments::row_options::RowOptions;
use crate::arguments::table_options::TableOptions;
use crate::failure::{Answer, refuse};
use crate::text::bulk_load::BulkLoadReport;
use crate::text::export_report::ExportReport;
use crate::text::progress::{Progress, Shown};

/// Write all families as HFiles for HBase's bulk load, or visible cells as Parquet, Arrow, CSV or JSON.
#[derive(clap::Args)]
#[command(mut_arg("format", |format| format.required(false).default_value("hfiles")))]
#[command(after_help = "\
Examples:
  hfile store export DIR OUT
  hfile store export DIR OUT --splits row4,row8 --table users
  hfile store export DIR OUT --to parquet --pivot --row-type string --type f:name=string
  hfile store export DIR OUT --to csv --prefix user1. --versions 1

HFiles: writes a subdirectory of OUT per family, with one file per region that has rows of the family. --splits
gives the start rows of all regions except the first; without it there is one region. Prints the commands that create
their table and load them. The files have no deleted
and expired cells, but they have the delete markers, which hide older cells of the table that they are loaded
into. The subdirectories appear when all files are complete; other entries of OUT are not changed.

Other formats: writes what a scan shows, the families of a row one after the other, at least one file for each
region of --splits. manifest.json lists the files; a second run with the same options skips the regions in it,
and is refused if the store has changed. Parquet and Arrow need a build with --features parquet.
Exit status: 0 written, 1 the store is damaged, 2 wrong usage, 3 could not read or write.")]
pub(crate) struct Export {
    /// Output directory; for HFiles, the subdirectories of the families must be empty or new
    out: PathBuf,
    #[command(flatten)]
    table: TableOptions,
    #[command(flatten)]
    form: FormArguments,
    #[command(flatten)]
    rows: RowOptions,
    #[command(flatten)]
    cells: ChoiceOptions,
    /// Write all stored cells: delete markers, deleted cells and expired cells too; not for --to hfiles
    #[arg(long)]
    raw: bool,
}

impl WithStore<Export> {
    /// Writes the files.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        self.verb.rows.check(Comparator::Bytes)?;
        let mut scan = self.verb.cells.limit(TableScan::default().raw(self.verb.raw))?;
        self.verb.rows.limit(&mut scan);
        scan.now = self.directory.now.map(Timestamp::new);
        let form = self.verb.form.form(&mut scan)?;
        let splits = self.verb.table.splits()?;
        if form.format == ExportFormat::Hfiles {
            if !is_everything(&scan) || form.max_file_size.is_some() {
                refuse!(
                    "HFiles get all cells of the store; the options that choose cells, --raw, \
                            and --max-file-size, are for --to parquet, arrow, csv and cells"
                );
            }
            return self.write_hfiles(&splits);
        }
        if self.verb.table.has_table() {
            refuse!(
                "--table names a table in the command that loads HFiles: it is for --to hfiles"
            );
        }
        let Directory { directory, .. } = &self.directory;
        let source = StoreSource::open(directory, self.directory.options(), splits)?;
        let format = form.format;
        let exported = source.export(scan, form, &self.verb.out, &Shown)?;
        self.report_format.print(&ExportReport::new(&self.verb.out, format, &exported))
    }

    fn write_hfiles(&self, splits: &[Vec<u8>]) -> anyhow::Result<Answer> {
        let store = self.directory.open_read_only()?;
        let exporting = Progress::waiting("writing files");
        let written = write_store(&store, &self.verb.out, splits)?;
        drop(exporting);
        warn_about_filters(&store);
        let table = self.verb.table.table(store.families(), splits);
        self.report_format.print(&BulkLoadReport::new(
            &self.verb.out,
            &table,
            &written.files,
            written.cells,
        ))
    }
}

/// Whether a scan is of what HFiles get: all rows, columns and versions, and no more than them.
fn is_everything(scan: &TableScan) -> bool {
    let TableScan { start, stop, prefix, families, min_ts, max_ts, versions, raw, .. } = scan;
    let whole = TableScan::default();
    start.is_none()
        && stop.is_none()
        && prefix.is_empty()
        && families.is_empty()
        && !raw
        && (*min_ts, *max_ts, *versions) == (whole.min_ts, whole.max_ts, whole.versions)
}
