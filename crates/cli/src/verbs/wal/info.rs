//! `hfile wal info`: shows a summary of each log and a table of its regions.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use cells::{escape, time_text};
use hbase_files::wal::{End, ValueCompression};
use serde::Serialize;

use super::files::for_each_log;
use super::survey::{Counts, Damage, Survey, Torn, compression_text};
use crate::failure::Answer;
use crate::text::output::{Report, ReportFormat, write_table};
use crate::text::size_text::{show_count, show_number};
use crate::text::times::millis_and_date;

/// Show the compression, entries, regions and times of write-ahead logs, and whether they were closed.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile wal info WALs
  hfile wal info --json oldWALs | jq 'select(.closed | not) | .file'

Reads the whole log. Markers are the cells of the family METAFAMILY, which HBase writes for itself. An open
log has no trailer: its server still writes it, or died. If the server did not finish the last entry, the log
is torn there; the entries before are whole.
Exit status: 0 all read, 1 a log is damaged, 2 wrong usage, 3 could not read.")]
pub(crate) struct Info {
    /// Write-ahead logs, or directories of them, such as WALs and oldWALs
    #[arg(required = true, value_name = "PATH")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    report_format: ReportFormat,
}

impl Info {
    /// Prints a report for each log.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let mut is_first = true;
        for_each_log(&self.files, |path| {
            self.report_format.print_next(&LogReport::read(path)?, &mut is_first)
        })
    }
}

#[derive(Serialize)]
struct LogReport {
    schema: u32,
    file: String,
    size: u64,
    writer: Option<String>,
    cell_codec: Option<String>,
    dictionaries: bool,
    tag_dictionary: bool,
    value_compression: Option<&'static str>,
    #[serde(flatten)]
    counts: Counts,
    closed: bool,
    torn: Option<Torn>,
    damage: Option<Damage>,
    regions: Vec<RegionReport>,
    /// The compression as text, for the report that people read.
    #[serde(skip)]
    compression: String,
}

#[derive(Serialize)]
struct RegionReport {
    table: String,
    region: String,
    #[serde(flatten)]
    counts: Counts,
}

impl LogReport {
    fn read(path: &Path) -> anyhow::Result<Self> {
        let file = path.display().to_string();
        let survey = Survey::read(path)?;
        let metadata = path.metadata().with_context(|| format!("{file}: cannot open"))?;
        let header = survey.header.as_ref();
        let values = header.and_then(|header| header.value_compression);
        let regions = survey.regions.iter().map(|((table, region), counts)| RegionReport {
            table: table.clone(),
            region: region.clone(),
            counts: *counts,
        });
        Ok(Self {
            schema: 1,
            file,
            size: metadata.len(),
            writer: header.and_then(|header| header.writer.clone()),
            cell_codec: header.and_then(|header| header.cell_codec.clone()),
            dictionaries: header.is_some_and(|header| header.dictionaries),
            tag_dictionary: header.is_some_and(|header| header.tag_dictionary),
            value_compression: values.map(ValueCompression::name),
            counts: survey.all,
            closed: matches!(survey.end, Some(End::Closed)),
            torn: Torn::of(survey.end.as_ref()),
            regions: regions.collect(),
            compression: header.map_or_else(|| "unknown".to_owned(), compression_text),
            damage: survey.damages.into_iter().next(),
        })
    }

    /// Returns a text that says how the log ends.
    fn end_text(&self) -> String {
        match (&self.damage, &self.torn) {
            (Some(Damage { offset, what, .. }), _) => {
                format!("DAMAGED at offset {}: {what}", show_count(*offset))
            }
            (_, Some(torn)) => format!(
                "torn: {} at offset {} is not finished; {} not read",
                torn.part,
                show_count(torn.offset),
                show_number(torn.bytes, "byte")
            ),
            (None, None) if self.closed => "closed".to_owned(),
            (None, None) if self.counts.entries == 0 => {
                "open: no trailer and no entries".to_owned()
            }
            (None, None) => "open: no trailer; the last entry is whole".to_owned(),
        }
    }
}

impl Report for LogReport {
    fn answer(&self) -> Answer {
        Answer::from_bool(self.damage.is_none())
    }

    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let counts = &self.counts;
        writeln!(out, "{}, {} bytes", self.file, show_count(self.size))?;
        writeln!(out, "compression   {}", self.compression)?;
        let cells = show_number(counts.cells, "cell");
        let markers = show_number(counts.markers, "marker");
        writeln!(out, "entries       {} with {cells} and {markers}", show_count(counts.entries))?;
        if let (Some(first), Some(last)) = (counts.first_sequence, counts.last_sequence) {
            writeln!(out, "sequence ids  {first} to {last}")?;
        }
        if let (Some(first), Some(last)) = (counts.first_write_time, counts.last_write_time) {
            let [from, to] = [first, last]
                .map(|time| i64::try_from(time).map_or_else(|_| time.to_string(), millis_and_date));
            writeln!(out, "written       {from} to {to}")?;
        }
        writeln!(out, "end           {}", self.end_text())?;
        if self.regions.is_empty() {
            return Ok(());
        }
        writeln!(out)?;
        let heading =
            ["table", "region", "entries", "cells", "markers", "sequence ids", "last written"];
        write_table(out, &heading, self.regions.iter().map(RegionReport::row))
    }
}

impl RegionReport {
    fn row(&self) -> Vec<String> {
        let counts = &self.counts;
        let (first, last) = (counts.first_sequence, counts.last_sequence);
        let time = counts.last_write_time.and_then(|time| i64::try_from(time).ok());
        vec![
            escape(self.table.as_bytes()).to_string(),
            escape(self.region.as_bytes()).to_string(),
            show_count(counts.entries),
            show_count(counts.cells),
            show_count(counts.markers),
            format!("{} to {}", first.unwrap_or_default(), last.unwrap_or_default()),
            time.map(time_text).unwrap_or_default(),
        ]
    }
}
