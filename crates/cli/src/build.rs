//! `hfile build`: HFiles from cells or CSV: one, or those of a table for HBase's bulk load.

mod regions;

use std::cmp::Ordering;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use sstable::{Cell, Comparator, FileName, FileSummary, Writer, WriterOptions, escape};
use store::Clock;

use self::regions::Regions;
use crate::bulk_load::TableOptions;
use crate::cells_input::{self, CellsFormat};
use crate::failure::{Advised, Answer, Usage};
use crate::half_made::{Output, OutputDirectory};
use crate::output::{Audience, Report};
use crate::progress::Progress;
use crate::size_text::{show_count, show_size};
use crate::sorted::SortOptions;
use crate::writing_options::WritingOptions;

/// Write an HFile from cells or CSV, or the HFiles of a table for HBase's bulk load.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile build --from cells cells.ndjson.gz --output part-0.hfile --compression LZ4 --bloom-type ROW
  hfile build --from csv users.csv --sort --output users.hfile --filter blocked-bloom
  hfile build --from csv users.csv --sort --output out --splits row4,row8 --table users
  hfile cat --format cells a.hfile | hfile build --from cells - --output b.hfile --options SPEC.json

With --splits, --table or --bulk-load the output is a directory, with one directory for each family
and in it one file for each region that has cells of it; the command that loads them is printed. The
rows at which the table's regions begin are those of --splits; without them there is one region. The
directory appears when all files in it are whole.

Exit status: 0 written, 2 wrong usage, 3 could not read, or not write, or cells out of order.")]
pub(crate) struct Build {
    /// What the input is made of
    #[arg(long, value_enum)]
    from: CellsFormat,
    /// The input; - is stdin
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// The file to write; - is stdout. For bulk load a directory, which must be empty or not there
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    sort: SortOptions,
    /// Replace the output if it exists
    #[arg(long, conflicts_with_all = ["bulk_load", "splits", "table"])]
    force: bool,
    /// Lay files out for HBase's bulk load, also those of a table with a single region
    #[arg(long)]
    bulk_load: bool,
    #[command(flatten)]
    table: TableOptions,
    /// Settings from a JSON file; flags given as well win over it
    #[arg(long, value_name = "FILE")]
    options: Option<PathBuf>,
    #[command(flatten)]
    audience: Audience,
    #[command(flatten)]
    writing: WritingOptions,
}

impl Build {
    /// Writes the files and says what became of them.
    pub(crate) fn run(self) -> anyhow::Result<Answer> {
        if self.bulk_load || self.table.are_given() {
            self.write_regions()
        } else {
            self.write_file()
        }
    }

    fn write_file(&self) -> anyhow::Result<Answer> {
        let (options, order) = self.writer_options(WriterOptions::default())?;
        let cells = cells_input::cells(&self.input, self.from)?;
        let output = Output::create(&self.output, self.force)?;
        let name = FileName::new(self.output.display().to_string());
        let mut writer = Writer::new(output, name.clone(), options)?;
        let cells = self.sort.sorted(cells, order, &name)?;
        let progress = Progress::unbounded("cells written");
        let mut last: Option<Cell> = None;
        for cell in cells {
            let cell = cell?;
            writer.append(cell.as_ref()).map_err(|error| advise(error, last.as_ref(), &cell))?;
            progress.advance(1);
            last = Some(cell);
        }
        let (output, summary) = writer.finish()?;
        drop(progress);
        output.finish()?;
        if self.output != Path::new("-") {
            self.audience.print(&BuildReport::new(&self.output, &summary))?;
        }
        Ok(Answer::Sound)
    }

    fn write_regions(&self) -> anyhow::Result<Answer> {
        if self.output == Path::new("-") {
            return Err(Usage("stdout is no directory that a table's files fit in".into()).into());
        }
        let splits = self.table.splits()?;
        let (options, order) =
            self.writer_options(WriterOptions::default().bulk_load(Clock::system().now()))?;
        if order != Comparator::Bytes {
            return Err(Usage("hbase:meta takes no bulk loads".to_owned()).into());
        }
        let cells = cells_input::cells(&self.input, self.from)?;
        let output = OutputDirectory::create(&self.output)?;
        let name = FileName::new(self.output.display().to_string());
        let cells = self.sort.sorted(cells, order, &name)?;
        let progress = Progress::unbounded("cells written");
        let mut regions = Regions::new(output.path(), &splits, options);
        for cell in cells {
            regions.append(cell?)?;
            progress.advance(1);
        }
        let (files, cell_count) = regions.finish()?;
        drop(progress);
        let files: Vec<_> = files.iter().map(|file| output.final_place(file)).collect();
        output.finish()?;
        self.audience.print(&self.table.report(&self.output, &files, cell_count))?;
        Ok(Answer::Sound)
    }

    /// How files are written, and the order of their rows; `options` are changed where the command
    /// line says so.
    fn writer_options(
        &self,
        mut options: WriterOptions,
    ) -> anyhow::Result<(WriterOptions, Comparator)> {
        let mut order = Comparator::default();
        if let Some(path) = &self.options {
            let settings = WritingOptions::read(path)?;
            order = settings.comparator()?.unwrap_or(order);
            options = settings.apply(options)?;
        }
        order = self.writing.comparator()?.unwrap_or(order);
        Ok((self.writing.apply(options)?, order))
    }
}

/// Says what to do about the two mistakes that everybody makes once.
fn advise(error: sstable::Error, last: Option<&Cell>, cell: &Cell) -> anyhow::Error {
    let is_out_of_order =
        last.is_some_and(|last| last.as_ref().compare(&cell.as_ref()) == Ordering::Greater);
    let next = match error {
        sstable::Error::Invalid { .. } if is_out_of_order => {
            "--sort brings cells into HBase's order: row, family, qualifier, newest first"
        }
        sstable::Error::Invalid { .. } if cell.as_ref().tags().next().is_some() => {
            "--includes-tags true keeps tags"
        }
        _ => return error.into(),
    };
    Advised { error, next }.into()
}

/// What was written.
#[derive(Serialize)]
struct BuildReport {
    schema: u32,
    file: String,
    size: u64,
    cells: u64,
    first_row: Option<String>,
    last_row: Option<String>,
}

impl BuildReport {
    fn new(file: &Path, summary: &FileSummary) -> Self {
        let row = |row: &Option<Vec<u8>>| row.as_deref().map(|row| escape(row).to_string());
        Self {
            schema: 1,
            file: file.display().to_string(),
            size: summary.len,
            cells: summary.cell_count,
            first_row: row(&summary.first_row),
            last_row: row(&summary.last_row),
        }
    }
}

impl Report for BuildReport {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let (cells, size) = (show_count(self.cells), show_size(self.size));
        writeln!(out, "{}: {cells} cells, {size}", self.file)
    }
}
