//! The files of one region: a file for all cells, or for HFiles one for each family.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use directories::{MissingCells, Region, Table, TableScan};
use sstable::{CellRef, ReadTrace, Timestamp, WriterOptions};

use super::form::{ExportFormat, Form};
use super::manifest::{ExportedFile, ExportedRegion};
use super::sink::{ByteCount, Sink};
use crate::cells_output::Format;

/// What all regions of an export have in common.
pub(super) struct Job<'e> {
    pub(super) table: &'e Table,
    pub(super) scan: TableScan,
    pub(super) form: Form,
    pub(super) out: &'e Path,
    /// Set when the export fails elsewhere.
    pub(super) is_stopped: AtomicBool,
}

/// An exported region.
pub(super) struct Exported {
    pub(super) region: ExportedRegion,
    pub(super) missing: Vec<MissingCells>,
    pub(super) trace: ReadTrace,
}

/// The export was stopped, because another region failed.
#[derive(Debug, thiserror::Error)]
#[error("stopped")]
pub(super) struct Stopped;

impl Job<'_> {
    /// Exports a region, the table's `index`th.
    pub(super) fn export(&self, index: usize) -> anyhow::Result<Exported> {
        let region = &self.table.regions[index];
        let mut cells = self.table.scan_region(region, &self.scan)?;
        let mut files = RegionFiles::new(self, index, region);
        let mut until_check = 0_u32;
        while let Some(cell) = cells.next_ref()? {
            files.append(&cell)?;
            until_check += 1;
            if until_check == 4096 {
                until_check = 0;
                if self.is_stopped.load(Ordering::Relaxed) {
                    return Err(Stopped.into());
                }
            }
        }
        let missing = cells.missing();
        let mut exported = files.finish()?;
        exported.missing = missing.iter().map(Into::into).collect();
        Ok(Exported { region: exported, missing, trace: *cells.trace() })
    }
}

/// The files of a region.
struct RegionFiles<'j> {
    job: &'j Job<'j>,
    index: usize,
    region: &'j Region,
    /// The current files: for HFiles by family, otherwise one under an empty name.
    open: BTreeMap<Vec<u8>, OpenFile>,
    /// The number of files that were begun, by the same names.
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

impl<'j> RegionFiles<'j> {
    fn new(job: &'j Job<'j>, index: usize, region: &'j Region) -> Self {
        Self {
            job,
            index,
            region,
            open: BTreeMap::new(),
            begun: BTreeMap::new(),
            complete: Vec::new(),
            rows: 0,
            cells: 0,
            last_row: None,
        }
    }

    fn append(&mut self, cell: &CellRef<'_>) -> anyhow::Result<()> {
        let begins_row = self.last_row.as_deref() != Some(cell.row);
        if begins_row {
            self.rows += 1;
            copy(cell.row, self.last_row.get_or_insert_default());
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
    fn create(&mut self, family: &[u8]) -> anyhow::Result<OpenFile> {
        let begun = self.begun.entry(family.to_vec()).or_default();
        let part = *begun;
        *begun += 1;
        let (job, region) = (self.job, self.region.name().to_string());
        let format = job.form.format;
        let name = match format {
            // Named as HBase names its files: by 32 hex digits.
            ExportFormat::Hfiles => {
                let directory = String::from_utf8_lossy(family);
                let directory = check_directory(&directory)?;
                format!("{directory}/{region:0>24.24}{part:08x}")
            }
            _ => format!("{:05}-{region}-{part:03}.{}", self.index, format.extension()),
        };
        let path = job.out.join(&name);
        let (sink, written) = match format {
            ExportFormat::Csv => Sink::text(&path, Format::Csv)?,
            ExportFormat::Cells => Sink::text(&path, Format::Cells)?,
            ExportFormat::Hfiles => {
                let directory = path.parent().unwrap_or(job.out);
                fs::create_dir_all(directory)
                    .with_context(|| format!("{}: cannot create", directory.display()))?;
                Sink::hfile(&path, self.writer_options(family))?
            }
            #[cfg(feature = "parquet")]
            ExportFormat::Parquet | ExportFormat::Arrow => Sink::batches(&path, &job.form)?,
            #[cfg(not(feature = "parquet"))]
            ExportFormat::Parquet | ExportFormat::Arrow => {
                anyhow::bail!("this hfile was built without Parquet and Arrow")
            }
        };
        let (first_row, last_row) = (Vec::new(), Vec::new());
        Ok(OpenFile { sink, written, name, path, first_row, last_row, rows: 0, cells: 0 })
    }

    /// Returns the options of HBase's files of the family, for a bulk load.
    fn writer_options(&self, family: &[u8]) -> WriterOptions {
        let schema = self.job.table.schema.family(family);
        let options = schema.map(directories::FamilySchema::options).unwrap_or_default();
        WriterOptions::default()
            .block_size(options.block_size)
            .data_block_encoding(options.data_block_encoding)
            .compression(options.compression)
            .bloom_type(options.bloom_type)
            .includes_tags(true)
            .bulk_load(self.job.scan.now.unwrap_or_else(|| Timestamp::new(0)))
    }

    fn finish(mut self) -> anyhow::Result<ExportedRegion> {
        let is_hfile = self.job.form.format == ExportFormat::Hfiles;
        for (family, file) in std::mem::take(&mut self.open) {
            self.complete.push(file.finish(is_hfile.then_some(&family[..]))?);
        }
        self.complete.sort_by(|one, other| one.file.cmp(&other.file));
        let info = &self.region.info;
        Ok(ExportedRegion {
            region: self.region.name().to_string(),
            start_row: sstable::escape(&info.start_key).to_string(),
            end_row: sstable::escape(&info.end_key).to_string(),
            rows: self.rows,
            cells: self.cells,
            files: self.complete,
            missing: Vec::new(),
        })
    }
}

impl OpenFile {
    fn append(&mut self, cell: &CellRef<'_>) -> anyhow::Result<()> {
        self.sink.append(cell, &self.path)?;
        if self.cells == 0 {
            copy(cell.row, &mut self.first_row);
        }
        if self.cells == 0 || self.last_row != cell.row {
            copy(cell.row, &mut self.last_row);
            self.rows += 1;
        }
        self.cells += 1;
        Ok(())
    }

    fn bytes(&self) -> u64 {
        self.sink.bytes(self.written.get())
    }

    fn finish(self, family: Option<&[u8]>) -> anyhow::Result<ExportedFile> {
        let Self { sink, name, path, first_row, last_row, rows, cells, .. } = self;
        sink.finish(&path)?;
        let found =
            fs::metadata(&path).with_context(|| format!("{}: cannot read", path.display()))?;
        Ok(ExportedFile {
            file: name,
            family: family.map(|family| sstable::escape(family).to_string()),
            first_row: sstable::escape(&first_row).to_string(),
            last_row: sstable::escape(&last_row).to_string(),
            rows,
            cells,
            bytes: found.len(),
        })
    }
}

/// Refuses a family whose name is no name of a directory.
fn check_directory(family: &str) -> anyhow::Result<&str> {
    let is_directory =
        !family.is_empty() && !family.starts_with('.') && !family.contains(['/', '\\', '\u{fffd}']);
    anyhow::ensure!(is_directory, "family {family:?} cannot be the name of a directory");
    Ok(family)
}

fn copy(from: &[u8], to: &mut Vec<u8>) {
    to.clear();
    to.extend_from_slice(from);
}
