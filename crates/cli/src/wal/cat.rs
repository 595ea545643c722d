//! `hfile wal cat`: prints the entries or the cells of logs.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use directories::wal::{End, Entry, is_marker};
use serde::Serialize;
use sstable::ndjson;

use super::files::{for_each_log, open};
use crate::cells_output::{CellsOutput, Format};
use crate::failure::Answer;
use crate::output::{STDOUT, Stdout, stdout};
use crate::size_text::{show_count, show_number};
use crate::stderr::print_message;
use crate::times::date;

/// Print the entries or cells of write-ahead logs, log by log.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile wal cat WALs
  hfile wal cat --table users --format csv oldWALs > users.csv
  hfile wal cat --format entries oldWALs | jq -r '[.table, .region, .sequence, (.cells | length)] | @tsv'

The format text has a line for each entry before its cells. The formats cells and csv have the cells that are
data, with the sequence id of their entry; --markers adds the cells of the family METAFAMILY, which HBase
writes for itself. A log may have cells that were flushed long ago, and cells of regions that are gone.

Prints a damaged log up to the damage, and continues with the next one. A line on stderr tells of a torn end.
Exit status: 0 all printed, 1 a log is damaged, 2 wrong usage, 3 could not read.")]
pub(super) struct Cat {
    /// Write-ahead logs, or directories of them, such as WALs and oldWALs
    #[arg(required = true, value_name = "PATH")]
    files: Vec<PathBuf>,
    /// Choose the output format
    #[arg(long, value_enum, ignore_case = true, default_value_t, conflicts_with = "json")]
    format: LogFormat,
    /// Print one JSON object per entry, as --format entries does
    #[arg(long)]
    json: bool,
    /// Print the entries of this table only, named TABLE or NAMESPACE:TABLE
    #[arg(long, value_name = "TABLE")]
    table: Option<String>,
    /// Print the entries of this region only, named by its 32 hex digits
    #[arg(long, value_name = "REGION")]
    region: Option<String>,
    /// Also print markers in the formats cells and csv
    #[arg(long)]
    markers: bool,
}

/// An output format of a log.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, clap::ValueEnum)]
enum LogFormat {
    /// A line for each entry, and readable lines for its cells, as hfile cat prints them.
    #[default]
    Text,
    /// One JSON object per entry, byte strings in hex.
    Entries,
    /// One JSON object per cell, byte strings in hex.
    Cells,
    /// Comma-separated values with a header line, without tags.
    Csv,
}

impl Cat {
    /// Prints the logs.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let mut printer = Printer::new(&self).context(STDOUT)?;
        let answer = for_each_log(&self.files, |path| {
            let done = self.print(path, &mut printer);
            // Buffered entries must be printed before an error message about this log.
            printer.flush().context(STDOUT)?;
            done.map(|()| Answer::Positive)
        });
        printer.flush().context(STDOUT)?;
        answer
    }

    fn print(&self, path: &Path, printer: &mut Printer) -> anyhow::Result<()> {
        let mut reader = open(path)?;
        for entry in &mut reader {
            let entry = entry?;
            let is_wanted = |filter: &Option<String>, name: &str| {
                filter.as_ref().is_none_or(|filter| filter == name)
            };
            if is_wanted(&self.table, &entry.table) && is_wanted(&self.region, &entry.region) {
                printer.write(&entry).context(STDOUT)?;
            }
        }
        if let Some(End::Torn { offset, bytes, part }) = reader.end() {
            let (offset, bytes) = (show_count(*offset), show_number(*bytes, "byte"));
            print_message(format_args!(
                "hfile: {}: torn: {part} at offset {offset} is not finished; {bytes} not read",
                path.display()
            ));
        }
        Ok(())
    }
}

/// Prints entries in one format.
enum Printer {
    Text(Stdout),
    Entries(Stdout),
    Cells { output: CellsOutput<Stdout>, markers: bool },
}

/// An entry as JSON, without its cells.
#[derive(Serialize)]
struct EntryHead<'a> {
    region: &'a str,
    table: &'a str,
    sequence: u64,
    write_time: u64,
}

impl Printer {
    fn new(verb: &Cat) -> io::Result<Self> {
        let format = match if verb.json { LogFormat::Entries } else { verb.format } {
            LogFormat::Text => return Ok(Self::Text(stdout())),
            LogFormat::Entries => return Ok(Self::Entries(stdout())),
            LogFormat::Cells => Format::Cells,
            LogFormat::Csv => Format::Csv,
        };
        let output = CellsOutput::new(stdout(), format)?;
        Ok(Self::Cells { output, markers: verb.markers })
    }

    fn write(&mut self, entry: &Entry) -> io::Result<()> {
        match self {
            Self::Text(out) => write_text(out, entry),
            Self::Entries(out) => write_object(out, entry),
            Self::Cells { output, markers } => {
                let mut cells = entry.cells.iter().filter(|cell| *markers || !is_marker(cell));
                cells.try_for_each(|cell| output.write(&cell.as_ref()))
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Text(out) | Self::Entries(out) => out.flush(),
            Self::Cells { output, .. } => output.flush(),
        }
    }
}

/// Writes one line for the entry, then one line for each of its cells.
fn write_text(out: &mut Stdout, entry: &Entry) -> io::Result<()> {
    let time = i64::try_from(entry.write_time).map_or_else(|_| "no date".to_owned(), date);
    writeln!(
        out,
        "{} {} sequence {} written {time}: {}",
        entry.table,
        entry.region,
        entry.sequence,
        show_number(entry.cells.len() as u64, "cell")
    )?;
    let mut cells = CellsOutput::new(out, Format::Text)?;
    entry.cells.iter().try_for_each(|cell| cells.write(&cell.as_ref()))
}

/// Writes the entry as one JSON object. Its cells have no `seq`: all have the sequence id of the entry.
fn write_object(out: &mut Stdout, entry: &Entry) -> io::Result<()> {
    let Entry { region, table, sequence, write_time, .. } = entry;
    let (sequence, write_time) = (*sequence, *write_time);
    let head = serde_json::to_string(&EntryHead { region, table, sequence, write_time })?;
    write!(out, "{},\"cells\":[", head.trim_end_matches('}'))?;
    for (index, cell) in entry.cells.iter().enumerate() {
        out.write_all(if index == 0 { b"" } else { b"," })?;
        ndjson::write_cell_without_seq(out, &cell.as_ref())?;
    }
    out.write_all(b"]}\n")
}
