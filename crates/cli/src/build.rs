//! `hfile build`: an HFile from cells or CSV.

use std::cmp::Ordering;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use sstable::{Cell, Comparator, FileName, FileSummary, Writer, WriterOptions, escape};

use crate::cells_input::{self, CellsFormat};
use crate::failure::{Advised, Answer};
use crate::half_made::Output;
use crate::output::{Audience, Report};
use crate::progress::Progress;
use crate::size_text::{SizeText, show_count, show_size};
use crate::sorted::sorted;
use crate::writing_options::WritingOptions;

/// Write an HFile from cells or CSV.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile build --from cells cells.ndjson.gz --output part-0.hfile --compression LZ4 --bloom-type ROW
  hfile build --from csv users.csv --sort --output users.hfile --filter blocked-bloom
  hfile cat --format cells a.hfile | hfile build --from cells - --output b.hfile --options SPEC.json

Exit status: 0 written, 2 wrong usage, 3 could not read, or not write, or cells out of order.")]
pub(crate) struct Build {
    /// What the input is made of
    #[arg(long, value_enum)]
    from: CellsFormat,
    /// The input; - is stdin
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// The file to write; - is stdout
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
    /// Sort the cells first, in temporary files where memory does not do
    #[arg(long)]
    sort: bool,
    /// Bytes of cells that are sorted in memory at a time
    #[arg(long, value_name = "SIZE", default_value = "256MiB", requires = "sort")]
    sort_memory: SizeText,
    /// Replace the output if it exists
    #[arg(long)]
    force: bool,
    /// Settings from a JSON file; flags given as well win over it
    #[arg(long, value_name = "FILE")]
    options: Option<PathBuf>,
    #[command(flatten)]
    audience: Audience,
    #[command(flatten)]
    writing: WritingOptions,
}

impl Build {
    /// Writes the file and says what became of it.
    pub(crate) fn run(self) -> anyhow::Result<Answer> {
        let mut options = WriterOptions::default();
        let mut order = Comparator::default();
        if let Some(path) = &self.options {
            let settings = WritingOptions::read(path)?;
            order = settings.comparator()?.unwrap_or(order);
            options = settings.apply(options)?;
        }
        order = self.writing.comparator()?.unwrap_or(order);
        let options = self.writing.apply(options)?;

        let cells = cells_input::cells(&self.input, self.from)?;
        let output = Output::create(&self.output, self.force)?;
        let name = FileName::new(self.output.display().to_string());
        let mut writer = Writer::new(output, name.clone(), options)?;
        let progress = Progress::unbounded("cells");
        let mut last: Option<Cell> = None;
        let cells =
            if self.sort { sorted(cells, order, self.sort_memory.bytes(), &name)? } else { cells };
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
