//! `hfile verify`: checks whole files.

use std::fmt;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use hbase_files::{Error, Location, SkipReason};
use serde::Serialize;
use sstable::{BlockOffset, BlockType, Damage, FileSource, Verification};

use crate::arguments::reading_options::limits;
use crate::failure::Answer;
use crate::inputs::{Input, Inputs, Outcomes, Target, in_parallel};
use crate::text::lost_rows::{LostRowsReport, NO_ROWS};
use crate::text::output::{Report, ReportFormat};
use crate::text::progress::Progress;
use crate::text::size_text::{show_count, show_number};
use crate::text::stderr::print_message;

/// Check whole HFiles: checksums, block chains, key order, index, totals, and that filters have all keys.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile verify 4f1c.hfile
  hfile verify data/default/users
  hfile verify --json data/default | jq -r 'select(.ok | not) | .file'

Checks files on all cores and reports them in the order given. If there are more than 20 files, prints only the
damaged ones. A line on stderr counts the files. Continues with the other files if one cannot be read.
For a damaged data block, reports which rows may be lost: the rows from the last row before the block to the first
row after it. hfile salvage saves all other rows. Damage to what reads do not need, such as a filter, costs no rows.
Exit status: 0 all sound, 1 some damaged, 2 wrong usage, 3 could not read.")]
pub(crate) struct Verify {
    /// HFiles, or directories of them, to check
    #[arg(required = true, value_name = "PATH")]
    files: Vec<PathBuf>,
    /// Print a line for each sound file, even if there are more than 20 files
    #[arg(long)]
    verbose: bool,
    #[command(flatten)]
    report_format: ReportFormat,
}

impl Verify {
    /// Checks and reports file by file.
    pub(crate) fn run(self) -> anyhow::Result<Answer> {
        let (files, problems) = Inputs::expand_all(&self.files).into_parts()?;
        let mut outcomes = Outcomes::default();
        let mut summary = Summary { unread: problems.len() as u64, ..Summary::default() };
        for problem in problems {
            outcomes.record(Err(problem.error))?;
        }
        let is_long =
            files.len() > SOUND_LINES_MAX && !self.verbose && !self.report_format.is_json();
        // A file that cannot be read counts as empty; its error is reported when it is opened.
        let bytes = files
            .iter()
            .map(|file| file.path().metadata().map_or(0, |metadata| metadata.len()))
            .sum();
        let progress = Progress::bytes("checking", bytes);
        in_parallel(
            &files,
            |file| check(file, &progress),
            |_, outcome| {
                summary.count(&outcome);
                let answer = outcome.and_then(|report| {
                    if !(is_long && report.ok) {
                        self.report_format.print(&report)?;
                    }
                    Ok(Answer::from_bool(report.ok))
                });
                outcomes.record(answer)
            },
        )?;
        drop(progress);
        if summary.files() > 1 {
            print_message(summary);
        }
        outcomes.conclude(usize::try_from(summary.files()).unwrap_or(usize::MAX), "file")
    }
}

/// The most files for which the text report has a line per sound file.
const SOUND_LINES_MAX: usize = 20;

/// The number of files by outcome.
#[derive(Clone, Copy, Default)]
struct Summary {
    sound: u64,
    damaged: u64,
    unread: u64,
}

impl Summary {
    fn count(&mut self, outcome: &anyhow::Result<VerifiedFile>) {
        match outcome {
            Ok(report) if report.ok => self.sound += 1,
            Ok(_) => self.damaged += 1,
            Err(_) => self.unread += 1,
        }
    }

    const fn files(&self) -> u64 {
        self.sound + self.damaged + self.unread
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files = show_number(self.files(), "file");
        write!(
            f,
            "hfile: {files}: {} sound, {} damaged",
            show_count(self.sound),
            show_count(self.damaged)
        )?;
        if self.unread > 0 {
            write!(f, ", {} not read", show_count(self.unread))?;
        }
        Ok(())
    }
}

fn check(input: &Input, progress: &Progress) -> anyhow::Result<VerifiedFile> {
    let name = input.name();
    let location = match locate(input)? {
        Ok(location) => location,
        Err(damage) => return Ok(VerifiedFile::of_damage(name, damage)),
    };
    let (target, file) = input.describe(&location);
    let opened = FileSource::open(&location.path);
    let source = Arc::new(opened.with_context(|| format!("{file}: cannot open"))?);
    let mut shown = 0;
    let found = sstable::verify(source, file, limits(), |done| {
        // Other threads advance the same bar. A check may go back to an earlier offset.
        progress.advance(done.saturating_sub(shown));
        shown = shown.max(done);
    })?;
    Ok(VerifiedFile::new(name, target, &found))
}

/// Finds the HFile to check. A damaged reference and an empty file are damage, not failures.
fn locate(input: &Input) -> anyhow::Result<Result<Location, Damage>> {
    match input.locate() {
        Ok(location) => Ok(Ok(location)),
        Err(Error::File(sstable::Error::Corrupt { damage, .. })) => Ok(Err(damage)),
        Err(Error::NotAStoreFile { reason: SkipReason::Empty, .. }) => {
            let what = "the file is empty, and its name is not that of a link".into();
            Ok(Err(Damage { at: BlockOffset::default(), block: None, what }))
        }
        Err(error) => Err(error.into()),
    }
}

#[derive(Serialize)]
struct VerifiedFile {
    schema: u32,
    file: String,
    #[serde(flatten)]
    target: Target,
    ok: bool,
    blocks: u64,
    cells: u64,
    totals_checked: bool,
    /// Why a sound row filter of the file is not used.
    #[serde(skip_serializing_if = "Option::is_none")]
    unused_filter: Option<String>,
    errors: Vec<Finding>,
}

/// A problem of the file.
#[derive(Serialize)]
struct Finding {
    offset: u64,
    block: Option<&'static str>,
    what: String,
    /// For a data block that cannot be read, or has wrong cells, and for a leaf of the index.
    #[serde(flatten)]
    rows: Option<LostRowsReport>,
    /// Set if reads of cells do not need what is damaged.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    no_rows_lost: bool,
}

impl VerifiedFile {
    fn new(file: String, target: Target, found: &Verification) -> Self {
        Self {
            schema: 1,
            file,
            target,
            ok: found.is_sound(),
            blocks: found.blocks,
            cells: found.cells,
            totals_checked: found.totals_checked,
            unused_filter: found.unused_filter.clone(),
            errors: found
                .problems
                .iter()
                .map(|damage| {
                    let lost = found.lost_rows.iter().find(|lost| lost.at == damage.at);
                    Finding {
                        offset: damage.at.get(),
                        block: damage.block.map(BlockType::name),
                        what: damage.what.to_string(),
                        rows: lost.map(|lost| LostRowsReport::from(&lost.rows)),
                        no_rows_lost: found.rows_lost(damage).is_none(),
                    }
                })
                .collect(),
        }
    }
}

impl VerifiedFile {
    /// Returns the report of a file whose cells cannot be found.
    fn of_damage(file: String, damage: Damage) -> Self {
        let found = Verification::default();
        let mut report = Self::new(file, Target::default(), &found);
        let (offset, what) = (damage.at.get(), damage.what.into_owned());
        report.errors.push(Finding { offset, block: None, what, rows: None, no_rows_lost: false });
        Self { ok: false, ..report }
    }
}

impl Report for VerifiedFile {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let verdict = if self.ok { "sound" } else { "DAMAGED" };
        let (blocks, cells) = (show_number(self.blocks, "block"), show_number(self.cells, "cell"));
        let file = self.target.label(&self.file);
        writeln!(out, "{file}: {verdict}, {blocks}, {cells}")?;
        for Finding { offset, block, what, rows, no_rows_lost } in &self.errors {
            let place = block.map(|name| format!("{name} block ")).unwrap_or_default();
            writeln!(out, "  {place}at {offset:#x}: {what}")?;
            if let Some(rows) = rows {
                writeln!(out, "    {}", rows.text())?;
            } else if *no_rows_lost {
                writeln!(out, "    {NO_ROWS}")?;
            }
        }
        if let Some(why) = &self.unused_filter {
            writeln!(out, "  row filter not used: {why}")?;
        }
        if !self.totals_checked {
            let why = "parts of the file cannot be read";
            writeln!(out, "  totals not checked: {why}")?;
        }
        Ok(())
    }
}
