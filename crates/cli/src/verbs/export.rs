//! The arguments of `hfile export`.

use std::path::PathBuf;

use hbase_files::{MobValues, TableScan};
use transfer::{ExportFile, FilesSource};

use crate::arguments::cell_options::{ColumnOptions, TimeOptions};
use crate::arguments::export::ExportArguments;
use crate::arguments::reading_options::reader_options;
use crate::arguments::row_options::RowOptions;
use crate::failure::Answer;
use crate::inputs::Inputs;
use crate::text::export_report::ExportReport;
use crate::text::help::ADVANCED;
use crate::text::output::ReportFormat;
use crate::text::progress::Shown;

/// Write the cells of HFiles to Parquet, Arrow, CSV, JSON or HFiles, file by file.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile export 4f1c.hfile --to parquet --output out
  hfile export region/cf --to csv --output out --prefix user1. --max-file-size 1GiB
  hfile export 4f1c.hfile --to parquet --output out --pivot --row-type string --type info:age=int64
  hfile export --to cells --output out --threads 2 a.hfile b.hfile

Writes all stored cells of each file to files of its own, in file order: delete markers and old versions too.
The files of a directory are not merged; hfile table export and hfile store export merge the files of a table and
of a store. --pivot writes the newest version of each column that the file itself does not delete.
A file appears when it is complete; manifest.json lists the files of each complete HFile. A second run with the same
options skips these HFiles, also after a crash. Parquet and Arrow need a build with --features parquet.
Exit status: 0 all written, 1 a file is damaged, 2 wrong usage, 3 could not read or write.")]
pub(crate) struct ExportFiles {
    /// HFiles, or directories of them
    #[arg(required = true, value_name = "PATH")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    export: ExportArguments,
    #[command(flatten)]
    rows: RowOptions,
    #[command(flatten)]
    columns: ColumnOptions,
    #[command(flatten)]
    times: TimeOptions,
    /// Export this many files at a time
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=256))]
    #[arg(help_heading = ADVANCED, hide_short_help = true)]
    threads: u16,
    #[command(flatten)]
    report_format: ReportFormat,
}

impl ExportFiles {
    /// Writes the files.
    pub(crate) fn run(self) -> anyhow::Result<Answer> {
        let whole = TableScan::default()
            .mob(MobValues::Resolve)
            .threads(self.threads.into())
            .reader_options(reader_options());
        let mut scan = self.columns.limit(self.times.limit(whole)?);
        self.rows.limit(&mut scan);
        let form = self.export.form.form(&mut scan)?;
        scan.raw = !form.is_pivot();
        let mut inputs = Inputs::expand(&self.files);
        if let Some(problem) = inputs.take_problems().into_iter().next() {
            return Err(problem.error);
        }
        let mut files = Vec::new();
        for input in inputs.files() {
            let (path, location) = (input.path().to_owned(), input.locate()?);
            let (_, name) = input.describe(&location);
            files.push(ExportFile { path, location, name });
        }
        let source = FilesSource::open(&files, &form, &reader_options())?;
        self.rows.check(source.row_order())?;
        let (output, format) = (&self.export.output, form.format);
        let exported = source.export(scan, form, output, &Shown)?;
        self.report_format.print(&ExportReport::new(output, format, &exported))
    }
}
