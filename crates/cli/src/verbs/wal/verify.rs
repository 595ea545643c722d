//! `hfile wal verify`: reads whole logs and reports damage.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use hbase_files::wal::{End, LogContinuation};
use hbase_files::{FileTree, LocalTree};
use serde::Serialize;

use super::files::for_each_of_logs;
use super::survey::{Damage, Survey, Torn};
use crate::failure::Answer;
use crate::text::output::{Report, ReportFormat, STDOUT, stdout};
use crate::text::size_text::{show_count, show_number};

/// Check write-ahead logs: every entry, cell and dictionary entry, and how the log ends.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile wal verify WALs oldWALs
  hfile wal verify --all WALs
  hfile wal verify --json oldWALs | jq -r 'select(.ok | not) | .file'

Of a directory, prints the damaged and incomplete logs and a summary. A directory without files has no logs, and is
sound.

A torn end of a log that was not closed is reported, but is no damage: the server died or was still writing that
entry, and HBase ignores it too. It can also be a copy that was cut off: compare the length with the original.
If there is a newer log of the same server, in the same directory or another PATH, the torn log is INCOMPLETE, unless
the newer one has the torn entry again, as after a failed write, which a log with dictionaries cannot show. If a
sound entry follows the torn one, the log is damaged. Logs with dictionaries cannot be searched for such an entry:
there, damage to a length can look like a torn end with many bytes. A log has no checksums, so changed bytes of a
value cannot be found. After damage, a log without dictionaries is read on where sound entries follow.
Exit status: 0 all sound, 1 some damaged or incomplete, 2 wrong usage, 3 could not read.")]
pub(crate) struct Verify {
    /// Write-ahead logs, or directories of them, such as WALs and oldWALs
    #[arg(required = true, value_name = "PATH")]
    files: Vec<PathBuf>,
    /// Print a line for each log, also for sound ones
    #[arg(long, conflicts_with = "json")]
    all: bool,
    #[command(flatten)]
    report_format: ReportFormat,
}

impl Verify {
    /// Checks each log; prints a report for each that is damaged or incomplete, and a summary.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let mut summary = Summary::default();
        let is_one = matches!(&self.files[..], [path] if !path.is_dir());
        let is_listed = self.all || is_one || self.report_format.is_json();
        let answer = for_each_of_logs(&self.files, |path, all| {
            let report = LogReport::read(path, all)?;
            summary.add(&report);
            if is_listed || !report.ok {
                self.report_format.print(&report)
            } else {
                Ok(report.answer())
            }
        });
        if !is_one && !self.report_format.is_json() {
            summary.print()?;
        }
        answer
    }
}

/// The logs that were checked.
#[derive(Default)]
struct Summary {
    logs: u64,
    damaged: u64,
    /// Torn logs, although their server went on in another log.
    incomplete: u64,
    /// The other torn ones.
    torn: u64,
    entries: u64,
    cells: u64,
}

impl Summary {
    fn add(&mut self, report: &LogReport) {
        self.logs += 1;
        self.damaged += u64::from(!report.errors.is_empty());
        self.incomplete += u64::from(report.is_incomplete());
        self.torn += u64::from(report.ok && report.torn.is_some());
        self.entries += report.entries;
        self.cells += report.cells;
    }

    fn print(&self) -> anyhow::Result<()> {
        let sound = show_count(self.logs - self.damaged - self.incomplete);
        let incomplete = match self.incomplete {
            0 => String::new(),
            incomplete => format!(", {} incomplete", show_count(incomplete)),
        };
        let torn = match self.torn {
            0 => String::new(),
            torn => format!(" ({} torn at their end)", show_count(torn)),
        };
        let (logs, damaged) = (show_number(self.logs, "log"), show_count(self.damaged));
        let (entries, cells) =
            (show_number(self.entries, "entry"), show_number(self.cells, "cell"));
        let mut out = stdout();
        writeln!(
            out,
            "{logs}: {sound} sound{torn}, {damaged} damaged{incomplete}; {entries}, {cells}"
        )
        .and_then(|()| out.flush())
        .context(STDOUT)
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
    /// The next log of the server, if this one was not closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    continued: Option<ContinuedReport>,
    errors: Vec<Damage>,
}

/// Where the server of a torn log went on, and what is lost.
#[derive(Serialize)]
struct ContinuedReport {
    log: String,
    /// Whether the log has the torn entry again, so that none is lost.
    repeated: bool,
    /// The sequence ids that neither log has.
    missing_sequences: Vec<GapReport>,
    #[serde(skip)]
    shown: String,
}

/// Sequence ids that no entry of a region has.
#[derive(Serialize)]
struct GapReport {
    table: String,
    region: String,
    first: u64,
    last: u64,
}

impl ContinuedReport {
    /// Looks for a newer log of the same server, beside a torn one and among `all`.
    fn of(torn: &Path, all: &[PathBuf]) -> anyhow::Result<Option<Self>> {
        let listed = match torn.parent() {
            None => Ok(Vec::new()),
            Some(here) if here.as_os_str().is_empty() => LocalTree.list(Path::new(".")),
            Some(directory) => LocalTree.list(directory),
        };
        let beside =
            listed.with_context(|| format!("{}: cannot list its directory", torn.display()))?;
        let others = all.iter().map(PathBuf::as_path).chain(beside.iter().map(|item| &*item.path));
        let Some(found) = LogContinuation::find(&LocalTree, torn, others)? else { return Ok(None) };
        Ok(Some(Self {
            log: found.log.display().to_string(),
            repeated: found.is_repeated,
            missing_sequences: found
                .gaps
                .iter()
                .map(|gap| GapReport {
                    table: gap.table.clone(),
                    region: gap.region.clone(),
                    first: gap.first,
                    last: gap.last,
                })
                .collect(),
            shown: found.to_string(),
        }))
    }
}

impl LogReport {
    fn read(path: &Path, logs: &[PathBuf]) -> anyhow::Result<Self> {
        let Survey { all, damages, end, .. } = Survey::read(path)?;
        let torn = Torn::of(end.as_ref());
        let is_unclosed = matches!(end, Some(End::Torn { .. } | End::Open));
        let continued = if is_unclosed { ContinuedReport::of(path, logs)? } else { None };
        Ok(Self {
            schema: 1,
            file: path.display().to_string(),
            ok: damages.is_empty() && continued.as_ref().is_none_or(|continued| continued.repeated),
            entries: all.entries,
            cells: all.cells,
            markers: all.markers,
            closed: matches!(end, Some(End::Closed)),
            torn,
            continued,
            errors: damages,
        })
    }

    /// Returns whether entries after the torn one may be lost.
    const fn is_incomplete(&self) -> bool {
        !self.ok && self.errors.is_empty()
    }
}

impl Report for LogReport {
    fn answer(&self) -> Answer {
        Answer::from_bool(self.ok)
    }

    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let verdict = if self.is_incomplete() {
            "INCOMPLETE"
        } else if !self.ok {
            "DAMAGED"
        } else if self.closed {
            "sound, closed"
        } else if self.torn.is_some() {
            "sound, torn at its end"
        } else {
            "sound, open"
        };
        let (entries, cells) =
            (show_number(self.entries, "entry"), show_number(self.cells, "cell"));
        let markers = show_number(self.markers, "marker");
        writeln!(out, "{}: {verdict}, {entries}, {cells}, {markers}", self.file)?;
        for Damage { offset, what, skipped, .. } in &self.errors {
            writeln!(out, "  at offset {}: {what}", show_count(*offset))?;
            if let Some(skipped) = skipped {
                writeln!(out, "    {skipped}")?;
            }
        }
        if let Some(Torn { offset, bytes, part }) = &self.torn {
            let (at, size) = (show_count(*offset), show_number(*bytes, "byte"));
            writeln!(out, "  at offset {at}: {part} is not finished; {size} not read")?;
        }
        if let Some(ContinuedReport { shown, .. }) = &self.continued {
            writeln!(out, "    {shown}")?;
        }
        Ok(())
    }
}
