//! `hfile salvage`: copies the cells of a damaged file's sound blocks to a new file.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use filter::{ErrorRate, Sizing};
use serde::Serialize;
use sstable::tools::writer_options_of_damaged;
use sstable::{
    BlockType, FileName, FilterOptions, LostRange, ReadTrace, Reader, Writer, WriterOptions,
};

use crate::arguments::reading_options::reader_options;
use crate::failure::{Answer, Unsalvageable, UsageError};
use crate::inputs::single_hfile;
use crate::text::destination::Output;
use crate::text::lost_rows::LostRowsReport;
use crate::text::output::{Report, ReportFormat};
use crate::text::printable::as_line;
use crate::text::progress::Progress;
use crate::text::size_text::{show_count, show_number};
use crate::verbs::recompress::check_sound;

/// Copy the cells of a damaged HFile's sound blocks to a new file, and list the lost rows.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile salvage damaged.hfile --output saved.hfile
  hfile salvage --json damaged.hfile --output saved.hfile | jq '.lost[] | [.first_row, .last_row]'

Takes no cells from a damaged block. The lost rows lie between the last row before the block and the first row
after it; these two rows may have lost cells too. Trailer, file info and index root must be sound.
The new file keeps the encoding, codec, HBase Bloom filter, row filter and file info of the damaged file, and
has blocks of HBase's default size. It is checked as hfile verify does before it gets its final name. With --output - it is not checked, and the report
goes to stderr.
Exit status: 0 nothing lost, 1 cells lost, 2 wrong usage, 3 could not read or write.")]
pub(crate) struct Salvage {
    /// Damaged HFile
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// Write the new file to OUT; - is stdout
    #[arg(long, value_name = "OUT")]
    output: PathBuf,
    /// Replace the output if it exists
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    report_format: ReportFormat,
}

impl Salvage {
    /// Writes the new file and reports the lost ranges.
    pub(crate) fn run(self) -> anyhow::Result<Answer> {
        self.check_output()?;
        let input = single_hfile(&self.input, "salvage")?;
        let reader =
            Reader::open_file(&input, reader_options()).map_err(Unsalvageable::from_error)?;
        let mut notes = Vec::new();
        let options = writer_options(&reader, &mut notes)?;
        let sink = Output::create(&self.output, self.force)?;
        let name = FileName::new(self.output.display().to_string());
        let mut writer = Writer::new(sink, name, options)?;
        let progress = Progress::new("copying sound cells", reader.trailer().entry_count);
        let (mut kept, mut refused, mut first_refusal) = (0, 0, None);
        let lost = sstable::salvage(&reader, |cell| {
            progress.advance(1);
            match writer.append(cell) {
                Ok(()) => kept += 1,
                // The block has correct checksums, but the cell is invalid: skip the cell.
                Err(error @ sstable::Error::Invalid { .. }) => {
                    first_refusal.get_or_insert_with(|| error.to_string());
                    refused += 1;
                }
                Err(error) => return Err(error),
            }
            Ok(())
        })?;
        if let Some(error) = first_refusal {
            let cells = show_number(refused, "cell");
            notes.push(format!(
                "left out {cells} that cannot be written to an HFile; the first: {error}"
            ));
        }
        copy_meta_blocks(&reader, &mut writer, &mut notes)?;
        let (output, _) = writer.finish()?;
        drop(progress);
        match output.path() {
            Some(written) => drop(check_sound(written, &self.output)?),
            None => notes.push(
                "the new file went to stdout and was not checked; check it with hfile verify"
                    .to_owned(),
            ),
        }
        output.finish()?;
        let has_all_cells = kept == reader.trailer().entry_count && refused == 0;
        let report = SalvageReport {
            schema: 1,
            file: self.input.display().to_string(),
            output: self.output.display().to_string(),
            cells: kept,
            cells_stated: reader.trailer().entry_count,
            cells_refused: refused,
            lost: lost.iter().map(|lost| LostReport::new(lost, has_all_cells)).collect(),
            notes,
        };
        if self.output == Path::new("-") {
            self.report_format.print_on_stderr(&report)?;
        } else {
            self.report_format.print(&report)?;
        }
        Ok(Answer::from_bool(lost.is_empty() && has_all_cells))
    }

    /// Refuses to overwrite the damaged file.
    fn check_output(&self) -> Result<(), UsageError> {
        let places = [&self.input, &self.output].map(|path| fs::canonicalize(path).ok());
        match places {
            [Some(input), Some(output)] if input == output => Err(UsageError(
                "the output is the damaged file itself; choose another --output".into(),
            )),
            _ => Ok(()),
        }
    }
}

/// Returns the settings of the damaged file for the new one. Notes the settings that are lost.
fn writer_options(reader: &Reader, notes: &mut Vec<String>) -> anyhow::Result<WriterOptions> {
    // The new file is not the file that a store's manifest lists, so it must not have its id.
    let keys_left_out = [store::tools::FILE_ID_KEY];
    let mut options =
        writer_options_of_damaged(reader, &keys_left_out).map_err(Unsalvageable::from_error)?;
    if let Some(problem) = reader.filters().bloom_problem() {
        notes.push(format!(
            "the Bloom filter was rebuilt with HBase's default error rate: {problem}"
        ));
    }
    match reader.filters().row_filter() {
        Ok(None) => {}
        Ok(Some(filter)) => {
            let rate = ErrorRate::new(filter.error_rate).unwrap_or(ErrorRate::HBASE);
            let (kind, sizing) = (filter.kind, Sizing::ErrorRate(rate));
            options = options.filter(FilterOptions::new(kind, sizing));
        }
        Err(error) => notes.push(format!(
            "the row filter cannot be read, so the new file has none; hfile filter rebuild adds one: {error}"
        )),
    }
    Ok(options)
}

/// Copies the META blocks except row filters, which are rebuilt.
fn copy_meta_blocks<W: Write>(
    reader: &Reader,
    writer: &mut Writer<W>,
    notes: &mut Vec<String>,
) -> anyhow::Result<()> {
    for name in reader.blocks().meta_names() {
        let shown = String::from_utf8_lossy(name);
        if shown == "filter.row" || shown.starts_with("filter.row.") {
            continue;
        }
        match (reader.blocks().meta(name, &mut ReadTrace::default()), std::str::from_utf8(name)) {
            (Ok(Some(body)), Ok(name)) => writer.append_meta(name, body)?,
            (Err(error @ sstable::Error::Io { .. }), _) => return Err(error.into()),
            (Err(error), _) => notes.push(format!("META block {shown} is left out: {error}")),
            (Ok(None), _) => notes.push(format!("META block {shown} is left out: not found")),
            (Ok(Some(_)), Err(_)) => {
                notes.push(format!("META block {shown} is left out: its name is not UTF-8"));
            }
        }
    }
    Ok(())
}

/// The counts of copied and refused cells, and the lost ranges.
#[derive(Serialize)]
struct SalvageReport {
    schema: u32,
    file: String,
    output: String,
    cells: u64,
    /// The number of cells according to the trailer of the damaged file.
    cells_stated: u64,
    /// The number of invalid cells in blocks with correct checksums. They were not copied.
    cells_refused: u64,
    lost: Vec<LostReport>,
    notes: Vec<String>,
}

/// A lost range of the damaged file.
#[derive(Serialize)]
struct LostReport {
    offset: u64,
    bytes: u64,
    block: Option<&'static str>,
    what: String,
    #[serde(flatten)]
    rows: Option<LostRowsReport>,
}

impl LostReport {
    /// Creates the report of a lost range.
    ///
    /// `has_all_cells` means that the new file has as many cells as the trailer states. The range
    /// then had no cells, so the report omits the lost rows.
    fn new(lost: &LostRange, has_all_cells: bool) -> Self {
        let rows = if has_all_cells { None } else { lost.rows.as_ref() };
        Self {
            offset: lost.damage.at.get(),
            bytes: lost.len,
            block: lost.damage.block.map(BlockType::name),
            what: lost.damage.what.to_string(),
            rows: rows.map(LostRowsReport::from),
        }
    }
}

impl Report for SalvageReport {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let stated = show_number(self.cells_stated, "cell");
        let kept = if self.cells == self.cells_stated {
            "all".to_owned()
        } else {
            format!("{} of the", show_count(self.cells))
        };
        writeln!(out, "{}: {kept} {stated} of {}", as_line(&self.output), as_line(&self.file))?;
        for LostReport { offset, bytes, block, what, rows } in &self.lost {
            let place = block.map(|name| format!("{name} block ")).unwrap_or_default();
            let size = show_number(*bytes, "byte");
            writeln!(out, "  lost: {place}at {offset:#x}, {size}: {what}")?;
            if let Some(rows) = rows {
                writeln!(out, "    {}", rows.text())?;
            }
        }
        for note in &self.notes {
            writeln!(out, "  {note}")?;
        }
        Ok(())
    }
}
