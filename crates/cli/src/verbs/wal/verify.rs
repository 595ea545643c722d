//! `hfile wal verify`: reads whole logs and reports damage.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use hbase_files::wal::End;
use serde::Serialize;

use super::files::for_each_log;
use super::survey::{Damage, Survey, Torn};
use crate::failure::Answer;
use crate::text::output::{Report, ReportFormat};
use crate::text::size_text::{show_count, show_number};

/// Check write-ahead logs: every entry, cell and dictionary entry, and how the log ends.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile wal verify WALs
  hfile wal verify --json oldWALs | jq -r 'select(.ok | not) | .file'

A torn end of a log that was not closed is reported, but is no damage: the server died or was still writing that
entry, and HBase ignores it too. It can also be a copy that was cut off: compare the length with the original.
If a sound entry follows the torn one, the log is damaged. Logs with dictionaries cannot be searched for such an
entry: there, damage to a length can look like a torn end with many bytes. A log has no checksums, so changed
bytes of a value cannot be found.
Exit status: 0 all sound, 1 some damaged, 2 wrong usage, 3 could not read.")]
pub(crate) struct Verify {
    /// Write-ahead logs, or directories of them, such as WALs and oldWALs
    #[arg(required = true, value_name = "PATH")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    report_format: ReportFormat,
}

impl Verify {
    /// Checks each log, and prints a report for each.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        for_each_log(&self.files, |path| self.report_format.print(&LogReport::read(path)?))
    }
}

#[derive(Serialize)]
struct LogReport {
    schema: u32,
    file: String,
    ok: bool,
    entries: u64,
    cells: u64,
    markers: u64,
    closed: bool,
    torn: Option<Torn>,
    errors: Vec<Damage>,
}

impl LogReport {
    fn read(path: &Path) -> anyhow::Result<Self> {
        let Survey { all, end, .. } = Survey::read(path)?;
        Ok(Self {
            schema: 1,
            file: path.display().to_string(),
            ok: end.is_ok(),
            entries: all.entries,
            cells: all.cells,
            markers: all.markers,
            closed: matches!(end, Ok(End::Closed)),
            torn: Torn::of(&end),
            errors: end.err().into_iter().collect(),
        })
    }
}

impl Report for LogReport {
    fn answer(&self) -> Answer {
        Answer::from_bool(self.ok)
    }

    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let verdict = match (self.ok, self.closed, &self.torn) {
            (false, ..) => "DAMAGED",
            (_, true, _) => "sound, closed",
            (_, _, Some(_)) => "sound, torn at its end",
            _ => "sound, open",
        };
        let (entries, cells) =
            (show_number(self.entries, "entry"), show_number(self.cells, "cell"));
        let markers = show_number(self.markers, "marker");
        writeln!(out, "{}: {verdict}, {entries}, {cells}, {markers}", self.file)?;
        for Damage { offset, what } in &self.errors {
            writeln!(out, "  at offset {}: {what}", show_count(*offset))?;
        }
        if let Some(Torn { offset, bytes, part }) = &self.torn {
            let bytes = show_number(*bytes, "byte");
            let offset = show_count(*offset);
            writeln!(out, "  at offset {offset}: {part} is not finished; {bytes} not read")?;
        }
        Ok(())
    }
}
