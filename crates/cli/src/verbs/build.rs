//! `hfile build`: its arguments, and writing one file or a directory for HBase's bulk load.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use cells::escape;
use serde::Serialize;
use sstable::{Comparator, FileName, FileSummary, WriterOptions};
use store::{Clock, FamilyOptions};
use transfer::{ColumnFamily, Input, Sorting};

use crate::arguments::cells_input::{self, InputArguments, check_output, report_bad_lines};
use crate::arguments::sort::SortArguments;
use crate::arguments::table_options::TableOptions;
use crate::arguments::writing_options::WritingOptions;
use crate::failure::{Answer, UsageError, refuse};
use crate::text::bulk_load::BulkLoadReport;
use crate::text::destination::Output;
use crate::text::output::{Report, ReportFormat};
use crate::text::printable::as_line;
use crate::text::progress::Shown;
use crate::text::size_text::{show_number, show_size};
use crate::verbs::dry_run::{Checks, dry_run};

/// Write an HFile from cells, CSV or Parquet, or the HFiles of a table for HBase's bulk load.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile build --from cells cells.ndjson.gz --output part-0.hfile --compression LZ4 --bloom-type ROW
  hfile build --from csv users.csv --row id --family f --sort --output users.hfile

hfile build --help explains CSV, bulk load and all options.")]
#[command(after_long_help = "\
Examples:
  hfile build --from cells cells.ndjson.gz --output part-0.hfile --compression LZ4 --bloom-type ROW
  hfile build --from csv users.csv --row id --family f --sort --output users.hfile
  hfile build --from csv users.csv --row id --column name=info:name --column age=info:age \\
      --type info:age=int32 --timestamp updated --null '' --sort --output users.hfile --dry-run
  hfile build --from csv users.tsv.gz --columns HBASE_ROW_KEY,f:name,HBASE_TS_KEY --separator '\\t' \\
      --quote none --sort --output out --splits row4,row8 --table users
  hfile build --from parquet users-*.parquet --row id --column name=info:name --column age=info:age \\
      --sort --output out --splits row4,row8 --table users
  hfile cat --format cells a.hfile | hfile build --from cells - --output b.hfile --options SPEC.json

CSV: each record becomes one row, with one cell for each column except the columns of the row key and the timestamp.
  row key      --row COLUMN, or --row A,B --row-separator TEXT
  columns      a header name FAMILY:QUALIFIER needs no option; --column NAME=FAMILY:QUALIFIER maps another
               column, --family puts all others into one family, and --ignore COLUMN leaves a column out;
               --columns lists all columns in order, in the notation of HBase's ImportTsv, for input without
               a header
  timestamps   milliseconds since 1970, or ISO 8601 (2023-11-14T22:13:20.5+01:00; UTC without an offset);
               numbers of 4 or 8 digits are refused, because they could be years or dates
  types        string: the bytes of the field; int8 int16 int32 int64 float32 float64: big-endian, as HBase's
               Bytes.toBytes encodes them; decimal, or decimal(10,2): as a BigDecimal; bool: true, false, 1 or 0;
               timestamp: int64 milliseconds since 1970, or ISO 8601; date: int32 days, or 2023-11-14;
               binary-hex: bytes as hex digits
  quoting      a field that begins with a quote ends at the next quote that is not doubled; a separator or the
               end of the line must follow. Other quotes are part of the field. A record has at most 1,000
               lines. Empty lines are skipped
If the header has the columns row, family and ts, the input is read as output of hfile cat --format csv: one
cell per record, bytes as \\xNN. With --row, it is read like any other CSV.

Parquet (a build with the feature parquet): the options of columns are the same as for CSV, and null makes no cell. A column
without --type has the type of its values: bool, int8, int16, int32, int64, float32, float64, decimal, date, text or
bytes; timestamps and unsigned integers need a --type (timestamp: milliseconds since 1970; string: text). Row keys that are
numbers need --row-type. Several files must have the same columns and types. With the columns row, family and timestamp, as
hfile table export writes them, each row is a cell.

With --splits, --table or --bulk-load, or with columns of several families, the output is a directory for
HBase's bulk load. It has one subdirectory per family, with one file per region that has cells of the family.
--splits gives the start rows of all regions except the first; without it there is one region. The directory
appears when all its files are complete, and the commands that create its table and load them are printed.

Exit status: 0 written, 1 a dry run found problems, 2 wrong usage, 3 could not read or write, or cells out of
order.")]
pub(crate) struct Build {
    #[command(flatten)]
    input: InputArguments,
    /// Store columns without a family name in this family
    #[arg(long, value_name = "FAMILY", help_heading = "CSV")]
    family: Option<String>,
    /// Write to OUT; - is stdout. For bulk load, OUT is an empty or new directory
    #[arg(long, value_name = "OUT")]
    output: PathBuf,
    /// Replace the output if it exists; of directories, only one that has HFiles by family and nothing else
    #[arg(long)]
    force: bool,
    /// Write a directory for HBase's bulk load, even for a single region and family
    #[arg(long)]
    bulk_load: bool,
    #[command(flatten)]
    table: TableOptions,
    /// Read settings from a JSON file; options on the command line override them
    #[arg(long, value_name = "FILE")]
    options: Option<PathBuf>,
    #[command(flatten)]
    report_format: ReportFormat,
    #[command(flatten)]
    writing: WritingOptions,
    // After the settings of the file, so that its advanced options do not come before them in the help.
    #[command(flatten)]
    sort: SortArguments,
}

impl Build {
    /// Writes and reports the files; with `--dry-run`, only checks the input.
    pub(crate) fn run(self) -> anyhow::Result<Answer> {
        let now = Clock::system().now();
        let options = self.input.options();
        check_output(&options, &self.output)?;
        let family = self.family.as_deref().map_or(ColumnFamily::Unknown, ColumnFamily::Option);
        let input = cells_input::open(&options, family, now, 1)?;
        let family_count = input.families().map_or(0, |families| families.len());
        let is_for_regions = self.bulk_load || self.table.are_given() || family_count > 1;
        // Read once: it may be a pipe.
        let read = self.options.as_deref().map(WritingOptions::read).transpose()?;
        let settings = read.as_ref();
        let mut defaults = WriterOptions::default();
        if is_for_regions {
            // The given options apply after these, and may keep sequence ids.
            let of_settings = settings.and_then(WritingOptions::create_time);
            let time = self.writing.create_time().or(of_settings).unwrap_or(now);
            defaults = defaults.bulk_load(time);
        }
        let (writing, order) = self.writer_options(settings, defaults)?;
        if options.is_dry_run {
            let checked_order = matches!(self.sort.sorting(), Sorting::None).then_some(order);
            let checks =
                Checks { order: checked_order, family: None, is_single_file: !is_for_regions };
            return dry_run(&options, input, checks, self.report_format);
        }
        let sorting = self.sort.sorting();
        let build =
            transfer::Build { options: writing, order, sorting: &sorting, observer: &Shown };
        if is_for_regions {
            self.write_regions(&build, settings, input)
        } else {
            self.write_file(&build, input)
        }
    }

    fn write_file(&self, build: &transfer::Build<'_>, mut input: Input) -> anyhow::Result<Answer> {
        let sink = Output::create(&self.output, self.force)?;
        let name = FileName::new(self.output.display().to_string());
        let (output, summary) = build.write_file(&mut input, sink, name)?;
        output.finish()?;
        input.keep_bad_lines();
        report_bad_lines(&input);
        if self.output != Path::new("-") {
            let bad_lines = input.bad_line_count();
            self.report_format.print(&BuildReport::new(&self.output, &summary, bad_lines))?;
        }
        Ok(Answer::Positive)
    }

    fn write_regions(
        &self,
        build: &transfer::Build<'_>,
        settings: Option<&WritingOptions>,
        mut input: Input,
    ) -> anyhow::Result<Answer> {
        if self.output == Path::new("-") {
            refuse!("--output - cannot take the files of a table; name a directory");
        }
        let splits = self.table.splits()?;
        let written = build.write_bulk_load(&mut input, &self.output, &splits, self.force)?;
        input.keep_bad_lines();
        report_bad_lines(&input);
        let families: BTreeSet<&String> = written.files.iter().map(|file| &file.family).collect();
        let mut family = FamilyOptions::default();
        if let Some(settings) = settings {
            family = settings.apply_to_family(family)?;
        }
        let options = self.writing.apply_to_family(family)?;
        let with_options = families.into_iter().map(|name| (name.clone(), options.clone()));
        let table = self.table.table(with_options.collect(), &splits);
        let files: Vec<_> = written.files.iter().map(|file| file.path.clone()).collect();
        let report = BulkLoadReport::new(&self.output, &table, &files, written.cells);
        self.report_format.print(&report)
    }

    /// Returns the settings of the output and the order of rows.
    ///
    /// The command line overrides the settings file, which overrides `options`.
    fn writer_options(
        &self,
        settings: Option<&WritingOptions>,
        mut options: WriterOptions,
    ) -> anyhow::Result<(WriterOptions, Comparator)> {
        let mut order = Comparator::default();
        if let Some(settings) = settings {
            order = settings.comparator().unwrap_or(order);
            options = settings.apply(options)?;
        }
        order = self.writing.comparator().unwrap_or(order);
        let with_own = self.writing.apply(options)?;
        with_own.check().map_err(|error| UsageError(error.to_string()))?;
        Ok((with_own, order))
    }
}

/// The report on the written file.
#[derive(Serialize)]
struct BuildReport {
    schema: u32,
    file: String,
    size: u64,
    cells: u64,
    first_row: Option<String>,
    last_row: Option<String>,
    bad_lines: u64,
}

impl BuildReport {
    fn new(file: &Path, summary: &FileSummary, bad_lines: u64) -> Self {
        Self {
            schema: 1,
            file: file.display().to_string(),
            size: summary.len,
            cells: summary.cell_count,
            first_row: summary.first_row.as_deref().map(|row| escape(row).to_string()),
            last_row: summary.last_row.as_deref().map(|row| escape(row).to_string()),
            bad_lines,
        }
    }
}

impl Report for BuildReport {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let (cells, size) = (show_number(self.cells, "cell"), show_size(self.size));
        writeln!(out, "{}: {cells}, {size}", as_line(&self.file))
    }
}
