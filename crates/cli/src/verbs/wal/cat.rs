//! `hfile wal cat`: prints the entries or the cells of logs.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use cells::{escape, ndjson, time_text};
use hbase_files::wal::{self, End, LogEntry, is_marker};
use hbase_files::{RegionName, TableName};
use serde::Serialize;
use transfer::{CellsOutput, OutputFormat};

use super::files::{for_each_log, open};
use crate::failure::Answer;
use crate::text::output::{STDOUT, Stdout, stdout};
use crate::text::size_text::show_number;
use crate::text::stderr::print_message;
use crate::text::warnings::print_torn;

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

Prints a damaged log up to the damage, and continues with the next one; with --skip-damaged, goes on in the same log
where sound entries follow, which can be found in logs without dictionaries. A line on stderr tells of a torn end.
Exit status: 0 all printed, 1 a log is damaged, or no entry is of the table and region, 2 wrong usage, 3 could not read.")]
pub(crate) struct Cat {
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
    table: Option<TableName>,
    /// Print the entries of this region only, named by its 32 hex digits; 1588230740 is that of hbase:meta
    #[arg(long, value_name = "REGION", value_parser = parse_region)]
    region: Option<RegionName>,
    /// Also print markers in the formats cells and csv
    #[arg(long)]
    markers: bool,
    /// Read on after damage, and print what is left out to stderr
    #[arg(long)]
    skip_damaged: bool,
}

/// The encoded name of the region of `hbase:meta`.
const META_REGION: &str = "1588230740";

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
        let mut count = 0_u64;
        let done = for_each_log(&self.files, |path| {
            let done = self.print(path, &mut printer, &mut count);
            // Buffered entries must be printed before an error message about this log.
            printer.flush().context(STDOUT)?;
            done
        });
        printer.flush().context(STDOUT)?;
        let answer = done?;
        let is_limited = self.table.is_some() || self.region.is_some();
        if count > 0 || !is_limited {
            return Ok(answer);
        }
        let of_table = self.table.as_ref().map(|table| format!(" of table {table}"));
        let of_region = self.region.as_ref().map(|region| format!(" of region {region}"));
        let of = [of_table, of_region].into_iter().flatten().collect::<String>();
        print_message(format_args!("hfile: no entries{of} in these logs"));
        Ok(answer.and(Answer::Negative))
    }

    /// Prints a log; the answer is negative if a part is left out.
    fn print(&self, path: &Path, printer: &mut Printer, count: &mut u64) -> anyhow::Result<Answer> {
        let table = self.table.as_ref().map(ToString::to_string);
        let mut reader = open(path)?;
        let mut answer = Answer::Positive;
        while let Some(read) = reader.next() {
            let entry = match read {
                Err(error @ wal::Error::Damaged { .. }) if self.skip_damaged => {
                    answer = Answer::Negative;
                    // Buffered entries must be printed before the message about the damage after them.
                    printer.flush().context(STDOUT)?;
                    let damage = reader.skip_damage()?;
                    let skipped = damage.map(|damage| format!("; {damage}")).unwrap_or_default();
                    print_message(format_args!("hfile: missing: {error}{skipped}"));
                    continue;
                }
                read => read?,
            };
            if table.as_ref().is_none_or(|table| *table == entry.table)
                && self.region.as_ref().is_none_or(|region| region.as_str() == entry.region)
            {
                printer.write(&entry).context(STDOUT)?;
                *count += 1;
            }
        }
        if let Some(End::Torn { offset, bytes, part }) = reader.end() {
            print_torn(path, *offset, *bytes, *part);
        }
        Ok(answer)
    }
}

/// Parses the encoded name of a region. Only `hbase:meta` has a decimal one.
fn parse_region(text: &str) -> Result<RegionName, String> {
    match text.parse::<RegionName>() {
        Ok(name) if name.as_str().len() == 32 || name.as_str() == META_REGION => Ok(name),
        _ => Err("not the encoded name of a region: 32 lower-case hex digits".to_owned()),
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
            LogFormat::Cells => OutputFormat::Cells,
            LogFormat::Csv => OutputFormat::Csv,
        };
        let output = CellsOutput::new(stdout(), format)?;
        Ok(Self::Cells { output, markers: verb.markers })
    }

    fn write(&mut self, entry: &LogEntry) -> io::Result<()> {
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
fn write_text(out: &mut Stdout, entry: &LogEntry) -> io::Result<()> {
    let time = i64::try_from(entry.write_time).map_or_else(|_| "no date".to_owned(), time_text);
    writeln!(
        out,
        "{} {} sequence {} written {time}: {}",
        escape(entry.table.as_bytes()),
        escape(entry.region.as_bytes()),
        entry.sequence,
        show_number(entry.cells.len() as u64, "cell")
    )?;
    let mut cells = CellsOutput::new(out, OutputFormat::Text)?;
    entry.cells.iter().try_for_each(|cell| cells.write(&cell.as_ref()))
}

/// Writes the entry as one JSON object. Its cells have no `seq`: all have the sequence id of the entry.
fn write_object(out: &mut Stdout, entry: &LogEntry) -> io::Result<()> {
    let LogEntry { ref region, ref table, sequence, write_time, .. } = *entry;
    let head = serde_json::to_string(&EntryHead { region, table, sequence, write_time })?;
    write!(out, "{},\"cells\":[", head.trim_end_matches('}'))?;
    for (index, cell) in entry.cells.iter().enumerate() {
        out.write_all(if index == 0 { b"" } else { b"," })?;
        ndjson::write_cell_without_seq(out, &cell.as_ref())?;
    }
    out.write_all(b"]}\n")
}
