//! `hfile build`: its arguments, and writing one file or a directory for HBase's bulk load.

use std::cmp::Ordering;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use sstable::{Cell, Comparator, FileName, FileSummary, Writer, WriterOptions, escape};
use store::Clock;
use transfer::{ColumnFamily, Input, LineNumber, OutputDirectory};

use super::regions::Regions;
use crate::bulk_load::TableOptions;
use crate::cells_input::{self, InputArguments, check_output, report_bad_lines};
use crate::destination::Output;
use crate::dry_run::{Checks, dry_run};
use crate::failure::{Answer, UsageError, WithNextStep};
use crate::output::{Report, ReportFormat};
use crate::printable::as_line;
use crate::progress::Shown;
use crate::size_text::{show_number, show_size};
use crate::sorted::{SortOptions, Sorted};
use crate::writing_options::WritingOptions;

/// Write an HFile from cells or CSV, or the HFiles of a table for HBase's bulk load.
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
  hfile cat --format cells a.hfile | hfile build --from cells - --output b.hfile --options SPEC.json

CSV: each record becomes one row, with one cell for each column except those of the row key and the timestamp.
  row key      --row COLUMN, or --row A,B --row-separator TEXT
  columns      a header name FAMILY:QUALIFIER needs no option; --column NAME=FAMILY:QUALIFIER maps another
               column, --family puts all others into one family, and --ignore COLUMN leaves a column out;
               --columns lists all columns in order, in the notation of HBase's ImportTsv, for input without
               a header
  timestamps   milliseconds since 1970, or ISO 8601 (2023-11-14T22:13:20.5+01:00; UTC without an offset);
               numbers of 4 or 8 digits are refused, because they could be years or dates
  types        string: the bytes of the field; int16 int32 int64 float32 float64: big-endian, as HBase's
               Bytes.toBytes encodes them; bool: true, false, 1 or 0; binary-hex: bytes as hex digits
  quoting      a field that begins with a quote ends at the next quote that is not doubled; a separator or the
               end of the line must follow. Other quotes are part of the field. A record has at most 1,000
               lines. Empty lines are skipped
If the header has the columns row, family and ts, the input is read as output of hfile cat --format csv: one
cell per record, bytes as \\xNN. With --row, it is read like any other CSV.

With --splits, --table or --bulk-load, or with CSV columns of several families, the output is a directory for
HBase's bulk load. It has one subdirectory per family, with one file per region that has cells of the family.
--splits gives the start rows of all regions except the first; without it there is one region. The directory
appears when all its files are complete, and the command that loads them is printed.

Exit status: 0 written, 1 a dry run found problems, 2 wrong usage, 3 could not read or write, or cells out of
order.")]
pub(crate) struct Build {
    #[command(flatten)]
    input: InputArguments,
    /// Store CSV columns without a family name in this family
    #[arg(long, value_name = "FAMILY", help_heading = "CSV")]
    family: Option<String>,
    /// Write to OUT; - is stdout. For bulk load, OUT is an empty or new directory
    #[arg(long, value_name = "OUT")]
    output: PathBuf,
    /// Replace the output if it exists
    #[arg(long, conflicts_with_all = ["bulk_load", "splits", "table"])]
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
    sort: SortOptions,
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
        let writing = WriterOptions::default();
        let writing = if is_for_regions { writing.bulk_load(now) } else { writing };
        let (writing, order) = self.writer_options(writing)?;
        if options.is_dry_run {
            let order = (!self.sort.is_enabled()).then_some(order);
            let checks = Checks { order, family: None, is_single_file: !is_for_regions };
            return dry_run(&options, input, checks, self.report_format);
        }
        if is_for_regions {
            if self.force {
                let what = format!(
                    "--force cannot replace a directory, and {family_count} families need one"
                );
                return Err(UsageError(what).into());
            }
            self.write_regions(input, writing, order)
        } else {
            self.write_file(input, writing, order)
        }
    }

    fn write_file(
        &self,
        mut input: Input,
        options: WriterOptions,
        order: Comparator,
    ) -> anyhow::Result<Answer> {
        let position = self.position(&input);
        let output = Output::create(&self.output, self.force)?;
        let name = FileName::new(self.output.display().to_string());
        let mut writer = Writer::new(output, name, options)?;
        let reading = input.show_progress("reading", &Shown);
        let Sorted { cells, reading, writing } =
            self.sort.sort(&mut input, order, &self.input.options().name(), reading)?;
        let mut last: Option<Cell> = None;
        for cell in cells {
            let cell = cell?;
            writer
                .append(cell.as_ref())
                .map_err(|error| position.describe(error, last.as_ref(), &cell))?;
            if let Some(writing) = &writing {
                writing.advance(1);
            }
            last = Some(cell);
        }
        let (output, summary) = writer.finish()?;
        drop((reading, writing));
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
        mut input: Input,
        options: WriterOptions,
        order: Comparator,
    ) -> anyhow::Result<Answer> {
        if self.output == Path::new("-") {
            return Err(UsageError(
                "--output - cannot take the files of a table; name a directory".into(),
            )
            .into());
        }
        if order != Comparator::Bytes {
            return Err(UsageError("hbase:meta does not support bulk loads".to_owned()).into());
        }
        let splits = self.table.splits()?;
        let position = self.position(&input);
        let output = OutputDirectory::create(&self.output)?;
        let reading = input.show_progress("reading", &Shown);
        let Sorted { cells, reading, writing } =
            self.sort.sort(&mut input, order, &self.input.options().name(), reading)?;
        let mut regions = Regions::new(output.path(), &splits, options, position);
        for cell in cells {
            regions.append(cell?)?;
            if let Some(writing) = &writing {
                writing.advance(1);
            }
        }
        let (files, cell_count) = regions.finish()?;
        drop((reading, writing));
        let files: Vec<_> = files.iter().map(|file| output.final_path(file)).collect();
        output.finish()?;
        input.keep_bad_lines();
        report_bad_lines(&input);
        self.report_format.print(&self.table.report(&self.output, &files, cell_count))?;
        Ok(Answer::Positive)
    }

    /// Returns the position in the input for error messages.
    ///
    /// It has no line if `--sort` is given, because the line of a sorted cell is unknown.
    fn position(&self, input: &Input) -> InputPosition {
        let line = (!self.sort.is_enabled()).then(|| input.line_number());
        InputPosition { name: self.input.options().name(), line }
    }

    /// Returns the settings of the output and the order of rows.
    ///
    /// The command line overrides the settings file, which overrides `options`.
    fn writer_options(
        &self,
        mut options: WriterOptions,
    ) -> anyhow::Result<(WriterOptions, Comparator)> {
        let mut order = Comparator::default();
        if let Some(path) = &self.options {
            let settings = WritingOptions::read(path)?;
            order = settings.comparator().unwrap_or(order);
            options = settings.apply(options)?;
        }
        order = self.writing.comparator().unwrap_or(order);
        let options = self.writing.apply(options)?;
        options.check().map_err(|error| UsageError(error.to_string()))?;
        Ok((options, order))
    }
}

/// A position in the input: its name, and the line of the current cell if known.
pub(super) struct InputPosition {
    name: FileName,
    line: Option<LineNumber>,
}

impl InputPosition {
    /// Adds the name of the input, the line and the next step to an error about `cell`.
    ///
    /// `last` is the cell before `cell`. Only common mistakes have a next step.
    pub(super) fn describe(
        &self,
        error: sstable::Error,
        last: Option<&Cell>,
        cell: &Cell,
    ) -> anyhow::Error {
        let sstable::Error::Invalid { what, .. } = error else { return error.into() };
        let what = match &self.line {
            Some(line) => format!("line {}: {what}", line.get()),
            None => what,
        };
        let error = sstable::Error::Invalid { file: self.name.clone(), what };
        let is_of_family = last.is_none_or(|last| last.family() == cell.family());
        let is_out_of_order =
            last.is_some_and(|last| last.as_ref().compare(&cell.as_ref()) == Ordering::Greater);
        let next = if !is_of_family {
            "use --bulk-load to write a directory with a file for each family"
        } else if is_out_of_order {
            "use --sort to sort cells in HBase's order: row, family, qualifier, newest first"
        } else if cell.as_ref().tags().next().is_some() {
            "use --includes-tags true to write tags"
        } else {
            return error.into();
        };
        WithNextStep { error, next }.into()
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
        let row = |row: &Option<Vec<u8>>| row.as_deref().map(|row| escape(row).to_string());
        Self {
            schema: 1,
            file: file.display().to_string(),
            size: summary.len,
            cells: summary.cell_count,
            first_row: row(&summary.first_row),
            last_row: row(&summary.last_row),
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
