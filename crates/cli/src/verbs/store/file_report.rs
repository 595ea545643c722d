//! The report of one file of a store, printed by `verify` and `salvage`.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Context;
use serde::Serialize;
use sstable::BlockType;
use store::tools::{FileKind, FileReport, VerifyEvent};

use crate::failure::Answer;
use crate::text::lost_rows::LostRowsReport;
use crate::text::output::{Report, ReportFormat, STDOUT};
use crate::text::printable::as_line;
use crate::text::progress::Progress;
use crate::text::size_text::show_number;

/// Shows the progress within the current file, and prints the report of each completed file.
pub(super) struct Reporter {
    report_format: ReportFormat,
    /// The file that is being read, and its progress.
    progress: Option<(PathBuf, Progress)>,
    /// The first error of printing a report; later reports are not printed.
    failure: anyhow::Result<Answer>,
}

impl Reporter {
    pub(super) const fn new(report_format: ReportFormat) -> Self {
        Self { report_format, progress: None, failure: Ok(Answer::Positive) }
    }

    pub(super) fn take(&mut self, event: &VerifyEvent<'_>) {
        match event {
            VerifyEvent::Reading { path, done, len } => {
                if self.progress.as_ref().is_none_or(|(known, _)| known != path) {
                    let progress = Progress::bytes(path.display().to_string(), *len);
                    self.progress = Some((path.to_path_buf(), progress));
                }
                if let Some((_, progress)) = &self.progress {
                    progress.set(*done);
                }
            }
            VerifyEvent::Done(report) => {
                self.progress = None;
                if self.failure.is_ok() {
                    self.failure = self.report_format.print(&PrintedReport::new(report));
                }
            }
            _ => {}
        }
    }

    /// Returns the first error of printing a report.
    pub(super) fn finish(self) -> anyhow::Result<Answer> {
        self.failure.context(STDOUT)
    }
}

/// The report of one file of the store, as text or JSON.
#[derive(Serialize)]
struct PrintedReport {
    schema: u32,
    file: String,
    part: &'static str,
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    blocks: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    records: Option<u64>,
    cells: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    totals_checked: Option<bool>,
    errors: Vec<Finding>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unread: Vec<String>,
    notes: Vec<String>,
}

/// A problem that was found in the file.
#[derive(Serialize)]
struct Finding {
    offset: u64,
    bytes: Option<u64>,
    block: Option<&'static str>,
    what: String,
    /// For a data block that cannot be read.
    #[serde(flatten)]
    rows: Option<LostRowsReport>,
}

impl PrintedReport {
    fn new(report: &FileReport) -> Self {
        let (mut blocks, mut records, mut totals_checked) = (None, None, None);
        let kind = match report.kind {
            FileKind::Manifest => "manifest",
            FileKind::LogSegment { records: found } => {
                records = Some(found);
                "log-segment"
            }
            FileKind::StoreFile { blocks: found, totals_checked: checked } => {
                (blocks, totals_checked) = (Some(found), Some(checked));
                "store-file"
            }
            _ => "left-over",
        };
        Self {
            schema: 1,
            file: report.path.display().to_string(),
            part: kind,
            ok: report.is_sound(),
            blocks,
            records,
            cells: report.cells,
            totals_checked,
            errors: report
                .problems
                .iter()
                .map(|problem| Finding {
                    offset: problem.at,
                    bytes: problem.len,
                    block: problem.block.map(BlockType::name),
                    what: problem.what.clone(),
                    rows: problem.rows.as_ref().map(LostRowsReport::from),
                })
                .collect(),
            unread: report.unread.clone(),
            notes: report.notes.clone(),
        }
    }
}

impl Report for PrintedReport {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let verdict = match (self.ok, self.part) {
            (false, _) if self.errors.is_empty() => "NOT READ",
            (false, _) => "DAMAGED",
            (true, "left-over") => "left over",
            (true, _) => "sound",
        };
        write!(out, "{}: {verdict}", as_line(&self.file))?;
        for (count, what) in [(self.blocks, "block"), (self.records, "record")] {
            if let Some(count) = count {
                write!(out, ", {}, {}", show_number(count, what), show_number(self.cells, "cell"))?;
            }
        }
        writeln!(out)?;
        for Finding { offset, bytes, block, what, rows } in &self.errors {
            let place = block.map(|name| format!("{name} block ")).unwrap_or_default();
            let size = bytes.map(|len| format!(", {}", show_number(len, "byte")));
            writeln!(out, "  {place}at {offset:#x}{}: {what}", size.unwrap_or_default())?;
            if let Some(rows) = rows {
                writeln!(out, "    {}", rows.text())?;
            }
        }
        for note in self.unread.iter().chain(&self.notes) {
            writeln!(out, "  {note}")?;
        }
        if self.totals_checked == Some(false) {
            let why = "parts of the file cannot be read";
            writeln!(out, "  totals not checked: {why}")?;
        }
        Ok(())
    }
}
