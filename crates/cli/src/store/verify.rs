//! `hfile store verify`: every byte that belongs to a store is read once.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use filter::Seed;
use serde::Serialize;
use sstable::{Caching, Damage, ReadTrace, Reader, ReaderOptions, RowProbe};

use super::Directory;
use crate::failure::Answer;
use crate::output::{Audience, Report};
use crate::progress::Progress;
use crate::size_text::show_count;

/// Read the log and every store file, with all checksums, and ask each file's filter for its rows.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile store verify DIR
  hfile store verify DIR --json

Exit status: 0 sound, 1 something is damaged, 2 wrong usage, 3 could not read.")]
pub(super) struct Verify {
    #[command(flatten)]
    directory: Directory,
    #[command(flatten)]
    audience: Audience,
}

impl Verify {
    /// Reads everything and reports file by file.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        // Opening reads the manifest and the log. While the store is open no file can go.
        let (_store, families) = self.directory.open_families(None)?;
        let mut files = Vec::new();
        for family in &families {
            files.extend(list(&self.directory.directory.join(family))?);
        }
        let progress = Progress::new("files", files.len() as u64);
        let mut sound = true;
        for file in &files {
            let report = check(file)?;
            sound &= report.ok;
            self.audience.print(&report)?;
            progress.advance(1);
        }
        Ok(Answer::from_bool(sound))
    }
}

/// The files of a family, in the order of their names.
fn list(family: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let list = || -> io::Result<Vec<PathBuf>> {
        fs::read_dir(family)?.map(|entry| Ok(entry?.path())).collect()
    };
    let mut files = list().with_context(|| format!("{}: cannot list", family.display()))?;
    files.sort();
    Ok(files)
}

/// Reads a whole file. Damage is part of the report; only what cannot be read at all is an error.
fn check(file: &Path) -> anyhow::Result<FileReport> {
    let mut report = FileReport::new(file);
    match read_all(file, &mut report) {
        Ok(()) => {}
        Err(sstable::Error::Corrupt { damage, .. }) => {
            report.errors.push(Finding::of_damage(damage));
        }
        Err(error) => return Err(error.into()),
    }
    report.ok = report.errors.is_empty();
    Ok(report)
}

fn read_all(file: &Path, report: &mut FileReport) -> sstable::Result<()> {
    let reader = Reader::open_file(file, ReaderOptions::default())?;
    for block in reader.blocks() {
        block?;
        report.blocks += 1;
    }
    if let Some(damage) = reader.bloom_problem() {
        report.errors.push(Finding::of_damage(damage.clone()));
    }
    let mut scanner = reader.scanner(Caching::Bypass);
    scanner.seek_to_first()?;
    let mut last: Option<Vec<u8>> = None;
    while let Some(cell) = scanner.cell() {
        report.cells += 1;
        if last.as_deref() != Some(cell.row) {
            let probe = RowProbe::new(cell.row, Seed::new(0));
            let mut trace = ReadTrace::default();
            if !reader.may_contain(&probe, &mut trace) {
                report.errors.push(Finding::of_filter(cell.row, "denies a row that is there"));
            } else if trace.filters_unreadable > 0 {
                report.errors.push(Finding::of_filter(cell.row, "cannot be read"));
            }
            last = Some(cell.row.to_owned());
        }
        scanner.advance()?;
    }
    if report.cells != reader.cell_count() {
        let what = format!("the trailer counts {} cells", show_count(reader.cell_count()));
        report.errors.push(Finding { offset: 0, block: Some("TRAILER"), what });
    }
    Ok(())
}

#[derive(Serialize)]
struct FileReport {
    schema: u32,
    file: String,
    ok: bool,
    blocks: u64,
    cells: u64,
    errors: Vec<Finding>,
}

/// One thing that is wrong.
#[derive(Serialize)]
struct Finding {
    offset: u64,
    block: Option<&'static str>,
    what: String,
}

impl Finding {
    fn of_damage(damage: Damage) -> Self {
        Self {
            offset: damage.at.get(),
            block: damage.block.map(sstable::BlockType::name),
            what: damage.what.into_owned(),
        }
    }

    fn of_filter(row: &[u8], what: &str) -> Self {
        let row = sstable::escape(row);
        Self { offset: 0, block: None, what: format!("row {row}: the filter {what}") }
    }
}

impl FileReport {
    fn new(file: &Path) -> Self {
        let file = file.display().to_string();
        Self { schema: 1, file, ok: false, blocks: 0, cells: 0, errors: Vec::new() }
    }
}

impl Report for FileReport {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let verdict = if self.ok { "sound" } else { "DAMAGED" };
        let (blocks, cells) = (show_count(self.blocks), show_count(self.cells));
        writeln!(out, "{}: {verdict}, {blocks} blocks, {cells} cells", self.file)?;
        for Finding { offset, block, what } in &self.errors {
            writeln!(out, "  {} at {offset:#x}: {what}", block.unwrap_or("file"))?;
        }
        Ok(())
    }
}
