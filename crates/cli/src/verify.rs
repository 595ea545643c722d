//! `hfile verify`: checks whole files.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

use anyhow::Context;
use serde::Serialize;
use sstable::{BlockType, Damage, FileName, FileSource, Verification};

use crate::each_file::Outcomes;
use crate::failure::Answer;
use crate::lost_rows::LostRowsReport;
use crate::output::{Report, ReportFormat};
use crate::progress::Progress;
use crate::reading_options::limits;
use crate::size_text::show_number;

/// Check whole HFiles: checksums, block chains, key order, index, totals, and that filters deny no key.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile verify 4f1c.hfile
  hfile verify --json backup/*/cf/* | jq -r 'select(.ok | not) | .file'

Checks files on all cores and reports them in the order given. Continues with the other files if one cannot
be read. For a damaged data block, reports which rows may be lost: those between the last row before the block
and the first row after it. hfile salvage saves all other rows.
Exit status: 0 all sound, 1 some damaged, 2 wrong usage, 3 could not read.")]
pub(crate) struct Verify {
    /// HFiles to check
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    report_format: ReportFormat,
}

impl Verify {
    /// Checks and reports file by file.
    pub(crate) fn run(self) -> anyhow::Result<Answer> {
        check_all(&self.files, self.report_format)
    }
}

/// Checks files on all cores and reports them in the given order; prints read errors to stderr.
fn check_all(files: &[PathBuf], report_format: ReportFormat) -> anyhow::Result<Answer> {
    let mut outcomes = Outcomes::default();
    in_parallel(files, |outcome| {
        let answer = outcome.and_then(|report| {
            report_format.print(&report)?;
            Ok(Answer::from_bool(report.ok))
        });
        outcomes.record(answer)
    })?;
    outcomes.conclude(files.len())
}

/// Checks files in parallel, and calls `take` with each report in the given order as soon as it is ready.
///
/// The first error of `take` ends the work.
fn in_parallel(
    files: &[PathBuf],
    mut take: impl FnMut(anyhow::Result<FileReport>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let thread_count =
        thread::available_parallelism().map_or(1, NonZeroUsize::get).min(files.len());
    // A file that cannot be read counts as empty; its error is reported when it is opened.
    let len = |file: &PathBuf| file.metadata().map_or(0, |metadata| metadata.len());
    let progress = Progress::bytes("checking", files.iter().map(len).sum());
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        // The channel closes when the last worker drops its sender.
        let (sender, receiver) = mpsc::channel();
        for _ in 0..thread_count {
            let (sender, next, progress) = (sender.clone(), &next, &progress);
            scope.spawn(move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(file) = files.get(index) else { break };
                    // The receiver is gone if a report could not be printed.
                    if sender.send((index, check(file, progress))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut waiting = BTreeMap::new();
        let mut next_index = 0;
        for (index, outcome) in receiver {
            waiting.insert(index, outcome);
            while let Some(outcome) = waiting.remove(&next_index) {
                take(outcome)?;
                next_index += 1;
            }
        }
        Ok(())
    })
}

fn check(path: &Path, progress: &Progress) -> anyhow::Result<FileReport> {
    let name = path.display().to_string();
    let source = FileSource::open(path);
    let source = Arc::new(source.with_context(|| format!("{name}: cannot open"))?);
    let mut shown = 0;
    let found = sstable::verify(source, FileName::new(name.as_str()), limits(), |done| {
        // Other threads advance the same bar. A check may go back to an earlier offset.
        progress.advance(done.saturating_sub(shown));
        shown = shown.max(done);
    })?;
    Ok(FileReport::new(name, &found))
}

#[derive(Serialize)]
struct FileReport {
    schema: u32,
    file: String,
    ok: bool,
    blocks: u64,
    cells: u64,
    totals_checked: bool,
    errors: Vec<Finding>,
}

/// A problem of the file.
#[derive(Serialize)]
struct Finding {
    offset: u64,
    block: Option<&'static str>,
    what: String,
    /// For a data block that cannot be read.
    #[serde(flatten)]
    rows: Option<LostRowsReport>,
}

impl FileReport {
    fn new(file: String, found: &Verification) -> Self {
        let finding = |damage: &Damage| {
            let lost = found.lost_rows.iter().find(|lost| lost.at == damage.at);
            Finding {
                offset: damage.at.get(),
                block: damage.block.map(BlockType::name),
                what: damage.what.to_string(),
                rows: lost.map(|lost| LostRowsReport::from(&lost.rows)),
            }
        };
        Self {
            schema: 1,
            file,
            ok: found.is_sound(),
            blocks: found.blocks,
            cells: found.cells,
            totals_checked: found.totals_checked,
            errors: found.problems.iter().map(finding).collect(),
        }
    }
}

impl Report for FileReport {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let verdict = if self.ok { "sound" } else { "DAMAGED" };
        let (blocks, cells) = (show_number(self.blocks, "block"), show_number(self.cells, "cell"));
        writeln!(out, "{}: {verdict}, {blocks}, {cells}", self.file)?;
        for Finding { offset, block, what, rows } in &self.errors {
            let block = block.map(|name| format!("{name} block ")).unwrap_or_default();
            writeln!(out, "  {block}at {offset:#x}: {what}")?;
            if let Some(rows) = rows {
                writeln!(out, "    {}", rows.text())?;
            }
        }
        if !self.totals_checked {
            let why = "parts of the file cannot be read";
            writeln!(out, "  totals not checked: {why}")?;
        }
        Ok(())
    }
}
