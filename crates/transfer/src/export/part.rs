//! The files of one part: a file for all cells, or for HFiles one for each family.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use hbase_files::{MissingCells, OldLogCells, TableScan};
use sstable::{BlockKind, BlockSource, CellRef, ReadTrace, Timestamp, WriterOptions};

use super::form::{ExportForm, ExportFormat};
use super::manifest::{ExportedFile, ExportedRegion};
use super::names;
use super::sink::{ByteCount, Sink};
use super::source::{ExportSource, Part};
use crate::cells_output::OutputFormat;
use crate::error::{Doing, Error, Result};
use crate::option_problem::OptionProblem;
use crate::progress::{Observer, Phase};
use crate::unseen_columns::UnseenColumns;

/// Cells between two checks of `is_stopped`.
const CELLS_PER_CHECK: u32 = 4096;

/// The maximum number of files of a part, but for HFiles: names have numbers of six digits.
const FILES_MAX: u32 = 1_000_000;

/// What all parts of an export have in common.
pub(super) struct Job<'e> {
    pub(super) source: &'e dyn ExportSource,
    pub(super) scan: TableScan,
    pub(super) form: ExportForm,
    pub(super) out: &'e Path,
    /// Missing from the source as a whole; not repeated for each part.
    pub(super) missing: Vec<MissingCells>,
    /// Set when the export fails elsewhere.
    pub(super) is_stopped: AtomicBool,
    /// Bytes of the source's files.
    pub(super) progress: Box<dyn Phase>,
    pub(super) observer: &'e dyn Observer,
}

/// An exported part.
pub(super) struct ExportedPart {
    pub(super) part: ExportedRegion,
    /// What the names of its files begin with.
    pub(super) prefix: String,
    pub(super) missing: Vec<MissingCells>,
    pub(super) old_log_cells: Vec<OldLogCells>,
    pub(super) trace: ReadTrace,
    /// The columns of the scan that the part does not have.
    pub(super) unseen: UnseenColumns,
}

impl Job<'_> {
    /// Exports a part, the source's `index`th; `None` if another part failed meanwhile.
    pub(super) fn export(&self, index: usize) -> Result<Option<ExportedPart>> {
        let part = &self.source.parts()[index];
        let mut cells = self.source.open(index, &self.scan, self.observer)?;
        let mut files = PartFiles::new(self, index, part);
        let mut unseen = UnseenColumns::new(&self.scan);
        let (mut since_check, mut shown) = (0_u32, 0);
        while let Some(cell) = cells.next_cell()? {
            unseen.see(&cell);
            files.append(&cell)?;
            since_check += 1;
            if since_check == CELLS_PER_CHECK {
                since_check = 0;
                if self.is_stopped.load(Ordering::Relaxed) {
                    return Ok(None);
                }
                // Capped, because blocks that two scans of the part read count twice.
                let read = cells.trace().bytes(BlockKind::Data, BlockSource::File).min(part.bytes);
                self.progress.advance(read.saturating_sub(shown));
                shown = shown.max(read);
            }
        }
        self.progress.advance(part.bytes - shown);
        let (mut missing, old_log_cells) = (cells.missing(), cells.old_log_cells());
        missing.retain(|missing| !self.missing.contains(missing));
        let trace = cells.trace();
        drop(cells);
        let prefix = files.prefix.clone();
        let mut exported = files.finish()?;
        exported.missing = missing.iter().map(Into::into).collect();
        Ok(Some(ExportedPart { part: exported, prefix, missing, old_log_cells, trace, unseen }))
    }
}

/// The files of a part.
struct PartFiles<'j> {
    job: &'j Job<'j>,
    index: usize,
    part: &'j Part,
    /// What the names of the files begin with.
    prefix: String,
    /// The current files: for HFiles by family, otherwise one under an empty name.
    open: BTreeMap<Vec<u8>, OpenFile>,
    /// The number of files that were begun, by the keys of `open`.
    begun: BTreeMap<Vec<u8>, u32>,
    complete: Vec<ExportedFile>,
    rows: u64,
    cells: u64,
    last_row: Option<Vec<u8>>,
}

/// A file that is being written.
struct OpenFile {
    sink: Sink,
    written: ByteCount,
    /// The path in the directory of the export.
    name: String,
    path: PathBuf,
    first_row: Vec<u8>,
    last_row: Vec<u8>,
    rows: u64,
    cells: u64,
}

impl<'j> PartFiles<'j> {
    fn new(job: &'j Job<'j>, index: usize, part: &'j Part) -> Self {
        Self {
            job,
            index,
            part,
            prefix: names::prefix(job.form.format, index, part),
            open: BTreeMap::new(),
            begun: BTreeMap::new(),
            complete: Vec::new(),
            rows: 0,
            cells: 0,
            last_row: None,
        }
    }

    fn append(&mut self, cell: &CellRef<'_>) -> Result<()> {
        let begins_row = self.last_row.as_deref() != Some(cell.row);
        if begins_row {
            self.rows += 1;
            cell.row.clone_into(self.last_row.get_or_insert_default());
        }
        self.cells += 1;
        let is_hfile = self.job.form.format == ExportFormat::Hfiles;
        let key: &[u8] = if is_hfile { cell.family } else { b"" };
        if let Some(file) = self.open.get_mut(key)
            && file.last_row != cell.row
            && self.job.form.max_file_size.is_some_and(|max| file.bytes() >= max)
            && let Some(file) = self.open.remove(key)
        {
            self.complete.push(file.finish(is_hfile.then_some(key))?);
        }
        let file = if let Some(file) = self.open.get_mut(key) {
            file
        } else {
            let file = self.create(key)?;
            self.open.entry(key.to_vec()).or_insert(file)
        };
        file.append(cell)
    }

    /// Begins the next file of a family, or of the region.
    fn create(&mut self, family: &[u8]) -> Result<OpenFile> {
        let begun = self.begun.entry(family.to_vec()).or_default();
        let number = *begun;
        *begun += 1;
        let job = self.job;
        let format = job.form.format;
        let directory = String::from_utf8_lossy(family);
        if format == ExportFormat::Hfiles {
            check_directory(&directory)?;
        } else {
            check_number(number)?;
        }
        let name = names::path(format, &directory, &self.prefix, number);
        let path = job.out.join(&name);
        let (sink, written) = match format {
            ExportFormat::Csv => Sink::text(&path, OutputFormat::Csv)?,
            ExportFormat::Cells => Sink::text(&path, OutputFormat::Cells)?,
            ExportFormat::Hfiles => {
                let parent = path.parent().unwrap_or(job.out);
                fs::create_dir_all(parent).doing("create", parent)?;
                Sink::hfile(&path, self.writer_options(family))?
            }
            #[cfg(feature = "parquet")]
            ExportFormat::Parquet | ExportFormat::Arrow => Sink::batches(&path, &job.form)?,
            #[cfg(not(feature = "parquet"))]
            ExportFormat::Parquet | ExportFormat::Arrow => {
                let what = "this build does not write Parquet and Arrow";
                return Err(Error::Refused(what.to_owned()));
            }
        };
        let (first_row, last_row) = (Vec::new(), Vec::new());
        Ok(OpenFile { sink, written, name, path, first_row, last_row, rows: 0, cells: 0 })
    }

    /// Returns the options of a file for a bulk load.
    fn writer_options(&self, family: &[u8]) -> WriterOptions {
        self.job
            .source
            .writer_options(self.index, family)
            .includes_tags(true)
            .bulk_load(self.job.scan.now.unwrap_or_else(|| Timestamp::new(0)))
    }

    fn finish(mut self) -> Result<ExportedRegion> {
        let is_hfile = self.job.form.format == ExportFormat::Hfiles;
        for (family, file) in std::mem::take(&mut self.open) {
            self.complete.push(file.finish(is_hfile.then_some(&family[..]))?);
        }
        self.complete.sort_by(|one, other| one.file.cmp(&other.file));
        Ok(ExportedRegion {
            region: self.part.name.clone(),
            start_row: cells::escape(&self.part.start_row).to_string(),
            end_row: cells::escape(&self.part.end_row).to_string(),
            rows: self.rows,
            cells: self.cells,
            files: self.complete,
            missing: Vec::new(),
        })
    }
}

impl OpenFile {
    fn append(&mut self, cell: &CellRef<'_>) -> Result<()> {
        self.sink.append(cell, &self.path)?;
        if self.cells == 0 {
            cell.row.clone_into(&mut self.first_row);
        }
        if self.cells == 0 || self.last_row != cell.row {
            cell.row.clone_into(&mut self.last_row);
            self.rows += 1;
        }
        self.cells += 1;
        Ok(())
    }

    fn bytes(&self) -> u64 {
        self.sink.bytes(self.written.get())
    }

    fn finish(self, family: Option<&[u8]>) -> Result<ExportedFile> {
        let Self { sink, name, path, first_row, last_row, rows, cells, .. } = self;
        sink.finish(&path)?;
        let found = fs::metadata(&path).doing("read", &path)?;
        Ok(ExportedFile {
            file: name,
            family: family.map(|family| cells::escape(family).to_string()),
            first_row: cells::escape(&first_row).to_string(),
            last_row: cells::escape(&last_row).to_string(),
            rows,
            cells,
            bytes: found.len(),
        })
    }
}

/// Refuses a number with more than six digits, whose name would sort before the others.
fn check_number(number: u32) -> Result<()> {
    if number < FILES_MAX {
        return Ok(());
    }
    Err(OptionProblem::TooManyFiles.into())
}

/// Refuses a family whose name is no name of a directory.
fn check_directory(family: &str) -> Result<()> {
    let is_directory =
        !family.is_empty() && !family.starts_with('.') && !family.contains(['/', '\\', '\u{fffd}']);
    if is_directory {
        return Ok(());
    }
    Err(Error::Refused(format!("family {family:?} cannot be the name of a directory")))
}
